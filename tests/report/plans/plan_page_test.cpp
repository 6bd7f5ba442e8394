/// @file The page of plans, from made-up results.
#include "report/plans/plan_page.hpp"

#include <gtest/gtest.h>

#include <string>

namespace auspex::report {
namespace {

search::RankedPlan ranked_plan(double step_s, double gigabytes) {
    search::RankedPlan plan;
    predict::Prediction& p = plan.prediction;
    p.step = to_picoseconds(step_s);
    p.step_time_s = step_s;
    p.step_time_interval_s = {step_s * 0.9, step_s * 1.1};
    p.tokens_per_s = 3e6 / step_s, p.mfu = 0.1 / step_s;
    p.losses[0] = p.step * 3 / 4, p.losses[2] = p.step - p.step * 3 / 4;
    p.memory.peak_bytes = gigabytes * 1e9;
    plan.evaluated.step = p.step;
    plan.evaluated.memory_peak_bytes = gigabytes * 1e9;
    return plan;
}

/// Two ranked plans, the second told apart from the first or not; one more on the front.
PlanPage made_up_page(double second_low) {
    PlanPage page;
    page.title = "tiny <model> on 8 tiles";
    page.command = "auspex plan --where 'pp<=4'";
    page.subject = "tiny on 8 tiles of a machine";
    page.best_line = "pp 2 dp 4 | 1f1b";
    page.ranked = {ranked_plan(1, 20), ranked_plan(1.25, 12)};
    page.ranked[1].lead.ratio = 1.25;
    page.ranked[1].lead.interval = {second_low, 1.4};
    page.ranked_lines = {"pp 2 dp 4", "pp 1 dp 8"};
    page.choice.probability_best = {0.75, 0.25};
    page.room.free_share = 44.0 / 64;
    page.room.roomier = 0;
    page.result.space = 1000, page.result.capacity_bytes = 64e9;
    page.result.pareto = {page.ranked[0].evaluated, page.ranked[1].evaluated};
    page.result.played = page.result.pareto;
    page.field_names = {"pp", "recompute", "cp"};
    page.rows = {{"1", "", 1, 20e9, 0.75, {"2", "norm+expert", "1"}},
                 {"2", "", 1.25, 12e9, 0.25, {"1", "nothing", "1"}}};
    return page;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PlanPage, answers_in_a_sentence_and_says_whether_the_lead_is_told_apart) {
    const std::string told = answer_sentence(made_up_page(1.1)), not_told = answer_sentence(made_up_page(0.98));
    EXPECT_TRUE(has(told, "pp 2 dp 4 | 1f1b is the fastest: 1.00 s a step (90 %: 0.900")) << told;
    EXPECT_TRUE(has(told, "3.00 M tokens/s")) << told;
    EXPECT_TRUE(has(told, "the second is 25.0 % behind, and the constants tell the best from all of the next 1."))
        << told;
    EXPECT_TRUE(has(not_told, "do not tell the best from 1 of the next 1.")) << not_told;
}

// The best so far takes 1 s. What was left untried takes 0.9 s at the least, or 1 s: then nothing is faster.
TEST(PlanPage, says_that_the_search_was_cut_and_what_it_knows_of_the_plans_that_it_left) {
    PlanPage page = made_up_page(1.1);
    page.result.best = {page.ranked[0].evaluated, page.ranked[1].evaluated};
    page.result.was_cut = true, page.result.untried = 600;
    page.result.least_bound_left_s = page.result.decided_below_s = 0.9;
    EXPECT_TRUE(has(plan_headline(page), "Fastest layout found so far of tiny on 8 tiles")) << plan_headline(page);
    EXPECT_TRUE(has(answer_sentence(page), "1f1b is the fastest of those found so far: 1.00 s"))
        << answer_sentence(page);
    const std::string html = render_plan_html(page);
    EXPECT_TRUE(has(html, "<p class=\"bad\">The search was ended early, with 600 plans left untried"));
    EXPECT_TRUE(has(html, "none that takes less than 900 ms, 10.0 % below the fastest found."));
    EXPECT_TRUE(has(html, "The 2 fastest found so far that fit"));
    EXPECT_FALSE(has(html, "up to its last ranked step"));
    page.result.least_bound_left_s = 1;
    EXPECT_TRUE(has(plan_headline(page), "Fastest layout of tiny on 8 tiles")) << plan_headline(page);
    EXPECT_TRUE(has(render_plan_html(page), "none of them is faster than the fastest found"));
}

TEST(PlanPage, loads_nothing_escapes_what_it_is_given_and_leaves_out_columns_that_say_nothing) {
    const std::string page = render_plan_html(made_up_page(1.1));
    for (const char* loader : {"<script src", "<link", "<img", " src=", "url(", "tiny <model>", "'pp<=4'"}) {
        EXPECT_FALSE(has(page, loader)) << loader;
    }
    EXPECT_TRUE(has(page, "tiny &lt;model&gt; on 8 tiles"));
    EXPECT_TRUE(has(page, "data-name=\"pp\"") && has(page, "data-name=\"recompute\""));
    EXPECT_TRUE(has(page, "<table id=\"plans\" data-sort data-filter=\"pp&lt;=8 recompute=norm fused\"")) << page;
    EXPECT_TRUE(has(page, "<tr class=\"best\"><th scope=\"row\">1</th>"));
    EXPECT_FALSE(has(page, "data-name=\"cp\"")) << "1 in every row";
    EXPECT_TRUE(has(page, "The same in all: cp 1."));
    EXPECT_TRUE(has(page, "<td class=\"n\">25.00</td>")) << "behind";
    EXPECT_TRUE(has(page, "prefers-color-scheme: dark"));
}

// 1.25 s of 1 s: a quarter is idle; the plan of --plan takes half as long again.
TEST(PlanPage, the_headline_is_the_best_plan_and_what_holds_it_up_or_how_far_the_given_one_is_behind) {
    PlanPage page = made_up_page(1.1);
    EXPECT_EQ(
        plan_headline(page),
        "Fastest layout of tiny on 8 tiles of a machine: pp 2 dp 4, 1.00 s a step, 10.0 % MFU; a quarter of the step "
        "is idle pipeline stages");
    page.given.emplace();
    page.given->ranked = ranked_plan(1.5, 30);
    page.given->ranked.lead.ratio = 1.5;
    EXPECT_TRUE(has(plan_headline(page), "10.0 % MFU; the plan of --plan is 50 % behind")) << plan_headline(page);
}

// 64 GB, of which the best leaves 0.32.
TEST(PlanPage, says_in_its_headline_and_beside_it_that_little_memory_stays_free) {
    PlanPage page = made_up_page(1.1);
    EXPECT_FALSE(has(render_plan_html(page), "may not fit"));
    page.room = {0.005, 1, 0.25, 6.4e9};
    EXPECT_TRUE(has(plan_headline(page), "10.0 % MFU; only 0.5 % of the memory stays free: it may not fit; a quarter"))
        << plan_headline(page);
    const std::string html = render_plan_html(page);
    EXPECT_TRUE(has(html, "<p class=\"bad\">The best leaves 0.5 % of the memory"));
    EXPECT_TRUE(has(html, "Plan 2 of those ranked leaves a tenth, with a step that is 25.0 % longer."));
    page.room.roomier.reset();
    EXPECT_TRUE(has(room_sentence(page.room),
                    "None of the plans ranked leaves a tenth; --set "
                    "'machine.tile.reserved=6.4 GB' finds those that do."))
        << room_sentence(page.room);
}

TEST(PlanPage, says_how_many_plans_are_faster_than_a_given_one_and_how_surely) {
    search::GivenPlan given;
    given.ranked = ranked_plan(1.5, 30);
    given.ranked.lead.ratio = 1.5;
    given.ranked.behind = {{schedule::Loss::kBubble, 0.25}};
    given.excess_bytes = -34e9;
    given.faster = {41, 41, 41, {41, 41}, 12, 12};
    EXPECT_TRUE(has(given_sentence(given, 1000), "41 of 1,000 plans fit and are faster: it is number 42."));
    given.faster = {20, 80, 50, {40, 60}, 70, 10};
    const std::string drawn = given_sentence(given, 1000);
    EXPECT_TRUE(
        has(drawn, "About 50 of 1,000 plans fit and are faster (90 %: 40 to 60; certain: 20 to 80): of 70 that"))
        << drawn;
    EXPECT_TRUE(has(drawn, "+50.0 % against the best, most of it idle pipeline stages (+0.25 s)")) << drawn;
    given.excess_bytes = 2e9;
    EXPECT_TRUE(has(given_sentence(given, 1000), "it does not fit, by 2.00 GB."));
    given.why_not = "no plan of the space has its ep beside its other fields";
    EXPECT_TRUE(has(given_sentence(given, 1000), "none of these: no plan of the space has its ep"));
}

}  // namespace
}  // namespace auspex::report
