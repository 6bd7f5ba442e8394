/// @file The page of a step, and that of an ablation.
#include "report/prediction/prediction_page.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "../parts/markup_fixture.hpp"
#include "../scaling/report_fixture.hpp"
#include "report/prediction/ablation_page.hpp"
#include "report/prediction/waterfall_chart.hpp"

namespace auspex::report {
namespace {

PredictionPage fixture_page() {
    PredictionPage page;
    page.workload = "mula <1>", page.machine = "Aurora", page.stack = "Optimus", page.plan = "p";
    page.command = "auspex predict --machine aurora";
    page.inputs = {{"machine", "machines/aurora.json", "aa"}};
    page.layout_lines = {"pipeline stages pp = 8"};
    page.constants = fixture_report().constants;
    page.prediction = fixture_point(3).prediction;
    predict::Prediction& p = page.prediction;
    p.waterfall = {{"peak", 0.5, 1}, {"shapes", 0.683, 0.4}, {"bubble", 1.94, 0.2}};
    p.operations_by_time = {{"attention.forward", 0.4, 16}, {"send_forward", 0.01, 8}};
    p.link_use = {{"NIC", "node 0: NIC", 0.5, 0.25, 1e12, false}};
    page.timeline = schedule::Timeline{{{"stage 0", "compute"}}, {"attention"}, {{0, 0, 0, 1'000'000'000, 0, 1}}};
    return page;
}

TEST(PredictionPage, has_the_finding_the_cards_and_every_section_and_loads_nothing) {
    const std::string html = render_prediction_html(fixture_page());
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* loader : {"<script src", "<link", "<img", " src=", "url("}) {
        EXPECT_FALSE(contains(html, loader)) << loader;
    }
    EXPECT_TRUE(contains(html, "<h1>mula &lt;1&gt; on 3,072 tiles of Aurora: 5.93\u00a0s a step, "))
        << html.substr(html.find("<h1>"), 200);
    EXPECT_TRUE(contains(html, "<b>32.7 %</b><span>of the step idle in the pipeline (bubble)</span>"))
        << "1.94 of 5.933 s";
    for (const char* id : {"losses", "timeline", "operations", "memory", "links", "notes", "constants", "provenance"}) {
        EXPECT_TRUE(contains(html, "<h2 id=\"" + std::string(id) + "\">")) << id;
    }
    EXPECT_FALSE(contains(html, "<h2 id=\"samples\">")) << "only of the unfolded lens";
    EXPECT_TRUE(contains(html, "Every operation is in it (1 operation), with its times"));
    EXPECT_TRUE(contains(html, "data-v=\"0.025\">25.0 ms</td>")) << "0.4 s over 16 times";
    EXPECT_TRUE(contains(html, ">auspex predict --machine aurora</pre>"));
}

TEST(PredictionPage, has_the_whole_run_where_there_is_one) {
    PredictionPage page = fixture_page();
    EXPECT_FALSE(contains(render_prediction_html(page), "<h2 id=\"run\">"));
    page.run.emplace();
    WholeRun& run = *page.run;
    run.tokens = 4e12;
    run.setting.steps = 100'000;
    run.setting.step_s = 8.64;
    run.setting.nodes.count = 1024;
    run.setting.checkpoints.every_steps = 250;
    run.setting.checkpoints.stall_s = 36;
    run.finish = {11 * 86'400.0, 270'336, 0.909, 27.5, 1, 36'000, {"failures of a <trace>"}};
    run.command = "auspex campaign --tokens 4T --set 'a=b'";
    const std::string html = render_prediction_html(page);
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part : {"<h2 id=\"run\">", "4.00 T tokens are 100,000 steps, 10 d without failures",
                             "over after 11 d in the mean", "<b>270,336</b>", "<b>90.9 %</b>", "<b>36 min</b>",
                             "<b>27.5</b>", "one every 10 h", "auspex campaign --tokens 4T --set &#39;a=b&#39;</pre>",
                             "not in the closed form: failures of a &lt;trace&gt;"}) {
        EXPECT_TRUE(contains(html, part)) << part << " in " << html.substr(html.find("<h2 id=\"run\">"), 2500);
    }
    run.finish.elapsed_s = run.finish.node_hours = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(contains(render_prediction_html(page), "gets nowhere"));
}

TEST(PredictionPage, says_what_would_help_and_what_operations_are_bound_by) {
    PredictionPage page = fixture_page();
    EXPECT_FALSE(contains(render_prediction_html(page), "<h2 id=\"advice\">"));
    page.advice.plans = {{"plan.recompute=[]", 4.0, 0.07, 0.483, 55e9}};
    page.advice.not_to_be_had = {{"plan.dispatch=alltoall", 5.0, 0.06, 0.187, 16e9, "stack s does not offer <it>"}};
    page.advice.constants = {{"machine.tile.gemm_ceiling 0.8 -> 1", 5.5, 0.055, 0.08}};
    page.advice.without_gain = {"tp", "ep"};
    page.advice.tried = 55;
    page.prediction.operations_by_time.front().bound_by = "arithmetic";
    page.prediction.bound_by = {{"arithmetic", 0.4}};
    const std::string html = render_prediction_html(page);
    EXPECT_EQ(first_unbalanced_tag(html), "");
    EXPECT_TRUE(contains(html, "<h2 id=\"advice\">"));
    EXPECT_TRUE(contains(html, "recompute=[]"));
    EXPECT_TRUE(contains(html, "stack s does not offer &lt;it&gt;"));
    EXPECT_TRUE(contains(html, " -&gt; 1"));
    EXPECT_TRUE(contains(html, "Of 55 changes of the plan tried, none gains of: tp, ep."));
    EXPECT_TRUE(contains(html, "What operations are bound by"));
}

TEST(PredictionPage, says_what_the_unfolded_lens_has_in_place_of_a_timeline) {
    PredictionPage page = fixture_page();
    page.timeline.reset();
    predict::UnfoldedReport& u = page.prediction.unfolded.emplace();
    u.samples_s = {5.9, 6.0, 6.2};
    u.min_s = 5.9, u.p50_s = 6.0, u.max_s = 6.2, u.mean_s = 6.03, u.folded_step_time_s = 5.9, u.folded_error = -0.0167;
    u.slowest = {{7, 0, 3, 0.9, 0.2, 0.5}};
    const std::string html = render_prediction_html(page);
    EXPECT_TRUE(contains(html, "3 samples from seed 1: 5.90 s to 6.20 s, median 6.00 s"));
    EXPECT_TRUE(contains(html, "Slowest tiles"));
    EXPECT_TRUE(contains(html, "keeps no timeline"));
    EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(WaterfallChart, a_bar_begins_where_the_one_above_ends) {
    const std::string picture = waterfall_chart(fixture_page().prediction, kPagePicture);
    // Names of 22 characters take 22 x 7.4 + 18 = 180.8 units, texts of 16 behind bars 132.4: 586.8 units for 3.123 s.
    EXPECT_TRUE(contains(picture, "<rect x=\"180.8\" y=\"8.0\" width=\"93.9\"")) << "0.5 s" << picture;
    EXPECT_TRUE(contains(picture, "<rect x=\"274.7\" y=\"34.0\" width=\"128.3\"")) << "0.683 s behind it";
    EXPECT_TRUE(contains(picture, "class=\"l2\"")) << "the colour of the loss";
    EXPECT_TRUE(contains(picture, ">1.94 s · 20.0 %</text>"));
}

AblationPage fixture_ablation() {
    AblationPage page;
    page.workload = "mula", page.machine = "aurora", page.stack = "optimus", page.plan = "mula";
    page.command = "auspex ablate --machine aurora";
    for (const auto& [name, speedup] :
         {std::pair{"baseline", 1.0}, {"fused-experts", 1.25}, {"ep-aware", 1.1}, {"both", 1.5}}) {
        predict::AblationRow row{name, fixture_point(0).prediction, 0.25, 1, 1, 1};
        row.speedup_training = speedup;
        page.rows.push_back(std::move(row));
    }
    page.published = {
        {"a paper", "https://example.org", "aurora", "optimus", "mula", 384, "both", std::nullopt, std::nullopt, 1.44},
        {"a paper", "https://example.org", "aurora", "optimus", "mula", 384, "ep-aware", std::nullopt, 1.36, 1.05}};
    return page;
}

TEST(AblationPage, says_what_both_give_beside_what_is_published) {
    AblationPage page = fixture_ablation();
    EXPECT_EQ(ablation_headline(page),
              "mula on 384 tiles of aurora is 1.50 times as fast with fused experts and the ep-aware optimizer "
              "(published: 1.44); fused "
              "experts alone give 1.25, the ep-aware optimizer alone 1.10");
    const std::string html = render_ablation_html(page);
    EXPECT_EQ(first_unbalanced_tag(html), "");
    EXPECT_TRUE(contains(html, ">1.50</td><td class=\"n\">1.44</td><td class=\"n\">+4.2 %</td>")) << "1.5 / 1.44";
    EXPECT_TRUE(contains(html, "https://example.org"));
    page.published.clear();
    EXPECT_FALSE(contains(ablation_headline(page), "published"));
    EXPECT_TRUE(contains(render_ablation_html(page), "Nothing is known to be published of this job."));
}

TEST(AblationPage, its_table_has_published_columns_that_are_empty_where_nothing_is_known) {
    const std::string csv = render_ablation_csv(fixture_ablation());
    EXPECT_EQ(count(csv, "\n"), 5U);
    EXPECT_TRUE(contains(csv, "\nfused-experts,")) << csv;
    EXPECT_TRUE(contains(csv, ",1.25,1,1,,,\n")) << csv;
    EXPECT_TRUE(contains(csv, ",1.1,1,1,1.05,,1.36\n")) << csv;
}

}  // namespace
}  // namespace auspex::report
