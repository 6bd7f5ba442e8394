/// @file The page, section by section.
#include "report/plans/plan_page.hpp"

#include <algorithm>
#include <cmath>

#include "report/campaign/campaign_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/page_assets.hpp"
#include "report/parts/text.hpp"
#include "report/plans/search_words.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/headlines.hpp"
#include "report/scaling/spread_words.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {
namespace {

std::string count(std::uint64_t number) { return thousands(static_cast<double>(number)); }
std::string gigabytes(double bytes) { return significant(bytes / 1e9) + " GB"; }
std::string source_of(const PlanPage& page) { return source_line(page.command, page.inputs); }

bool is_by_finish(const PlanPage& page) { return page.finish && page.finish->is_objective; }

/// Nothing that was left untried can take the first place.
bool is_best_of_all(const PlanPage& page) {
    return is_by_finish(page) ? !page.result.was_cut : page.result.knows_fastest();
}

/// "data-parallel communication (24 %), idle pipeline stages (13 %)".
std::string losses_text(const std::vector<search::LossChange>& losses, double step_s, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(losses.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + std::string(plain_name(losses[i].loss)) + " (" +
                percent(losses[i].seconds / step_s, 0) + ")";
    }
    return text;
}

std::size_t not_told_apart(const PlanPage& page) {
    const auto equal = std::ranges::count_if(
        page.ranked, [](const search::RankedPlan& plan) { return plan.lead.is_within_uncertainty(); });
    return static_cast<std::size_t>(equal) - 1;  // the best itself
}

FirstScreen first_screen(const PlanPage& page) {
    const predict::Prediction& p = page.ranked.front().prediction;
    FirstScreen first;
    first.title = first.kind = page.title;
    first.headline = plan_headline(page);
    first.cards = {
        {duration(p.step_time_s),
         "a step; 90 %: " + interval_text(p.step_time_interval_s) + " s" +
             (p.published_spread ? "; " + interval_text(p.step_time_interval_with_spread_s) + " s with the spread of " +
                                       spread_runs(*p.published_spread)
                                 : "")},
        {percent(p.mfu), "of the peak (MFU)"},
        {percent(bubble_share(p)), "of the step idle in the pipeline (bubble)"},
        {short_count(p.tokens_per_s), "tokens/s; " + significant(p.step_node_hours) + " node-hours a step"},
        {gigabytes(p.memory.peak_bytes), "of the " + gigabytes(page.result.capacity_bytes) + " of a tile"},
        {percent(page.choice.probability_best.front(), 0), "probability of being the fastest of those ranked"}};
    if (page.finish) {
        first.cards.push_back({span_words(page.finish->plans.front().elapsed_s.p50),
                               "until half of the runs of " + short_count(page.finish->tokens) + " tokens are over"});
    }
    first.figure = html_figure(
        picture_of([&](double width) { return pareto_chart(page, width); }, kColumnPicture),
        {"Step time against memory",
         "To the left is faster, down needs less memory. Dots: plans that were simulated. The line is their front: "
         "with so much memory no faster one was found. " +
             decided_words(page.result) +
             "; of slower ones there may be better. Red dashes: what a tile has. Above it, triangles: plans that would "
             "be faster than the best, and do not fit.",
         source_of(page)});
    first.remarks = html_paragraph(answer_sentence(page));
    if (page.room.is_tight()) {
        first.remarks += html_paragraph(room_sentence(page.room), "bad");
    }
    if (page.result.was_cut) {
        first.remarks += html_paragraph(cut_sentence(page.result), "bad");
    }
    if (page.given) {
        first.remarks += html_paragraph(given_sentence(*page.given, page.result.space) +
                                        (page.given_line.empty() ? "" : " It differs in: " + page.given_line + "."));
    }
    return first;
}

/// Seconds of each part, of those that any step has.
std::string loss_table(const std::vector<NamedStep>& steps) {
    TableRows rows{{{"part"}}};
    for (const NamedStep& step : steps) {
        rows.front().push_back(number(step.name));
    }
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        std::vector<Cell> row{{readable(static_cast<schedule::Loss>(loss)), "part", {}, static_cast<int>(loss)}};
        bool is_present = false;
        for (const NamedStep& step : steps) {
            is_present = is_present || step.prediction->losses[loss] != 0;
            row.push_back(number(fixed(to_seconds(step.prediction->losses[loss]), 3)));
        }
        if (is_present) {
            rows.push_back(std::move(row));
        }
    }
    rows.push_back({{"whole step", "whole"}});
    for (const NamedStep& step : steps) {
        rows.back().push_back(number(fixed(step.prediction->step_time_s, 3)));
    }
    return html_table(rows, "Seconds of each part, by plan.");
}

std::string losses_section(const PlanPage& page) {
    std::vector<NamedStep> steps;
    for (std::size_t i = 0; i < page.ranked.size(); ++i) {
        const std::string name = std::to_string(i + 1);
        steps.push_back({name, "plan " + name, &page.ranked[i].prediction});
    }
    if (page.given && page.given->why_not.empty()) {
        steps.push_back({"given", "the plan of --plan", &page.given->ranked.prediction});
    }
    const std::string title = "Where the time of a step goes, by plan";
    return html_figure(picture_of([&](double width) { return step_loss_chart(steps, "plan", title, width); }),
                       {title,
                        "A bar is one step, as a mean over all tiles; its parts add up to the step. Numbers are places "
                        "in the ranking" +
                            std::string(steps.size() > page.ranked.size() ? "; given: the plan of --plan." : "."),
                        source_of(page)}) +
           loss_table(steps);
}

std::string probability_table(const PlanPage& page) {
    TableRows rows{{{"plan"},
                    number("best of all ranked"),
                    number("faster than plan 1"),
                    number("behind", "90 %, constants drawn together"),
                    {"layout"}}};
    for (std::size_t i = 0; i < page.ranked.size(); ++i) {
        const search::Lead& lead = page.ranked[i].lead;
        rows.push_back(
            {{std::to_string(i + 1)},
             number(percent(page.choice.probability_best[i])),
             number(i == 0 ? "" : percent(lead.probability_faster)),
             number(
                 i == 0 ? "" : signed_percent(lead.ratio - 1),
                 i == 0 ? "" : signed_percent(lead.interval.low - 1) + " to " + signed_percent(lead.interval.high - 1)),
             {page.ranked_lines[i], "line"}});
    }
    return html_table(rows,
                      "What two plans share in errors does not change their order; only what they lean on differently "
                      "counts. Errors of what is not modelled are not in it.");
}

std::string choice_section(const PlanPage& page) {
    constexpr std::size_t kShown = 8;
    std::string out = probability_table(page);
    TableRows rows{{{"constant"},
                    number("value"),
                    number("at which another leads"),
                    number("change", "in its standard deviations"),
                    number("plan that leads then")}};
    for (const search::DecidingConstant& one : page.choice.constants) {
        if (rows.size() <= kShown) {
            rows.push_back({{one.constant.path, "path"},
                            number(format_quantity(one.constant.value, one.constant.dimension)),
                            number(format_quantity(one.constant.value * one.factor, one.constant.dimension)),
                            number(signed_percent(one.factor - 1), significant(one.deviations, 2)),
                            number(std::to_string(one.rival + 1))});
        }
    }
    if (rows.size() == 1) {
        return out + html_paragraph(
                         "No single constant decides: within five of its standard deviations none makes "
                         "another of these plans the faster one.");
    }
    return out + html_table(rows, "The constants that decide, each changed alone, the least unlikely change first.");
}

std::string search_section(const PlanPage& page) {
    const search::SearchResult& r = page.result;
    std::string out = html_paragraph(counted(static_cast<double>(r.space), "plan") +
                                     " for these tiles and this batch: " + counts_clause(r) + ".");
    if (r.rejected.empty()) {
        return out;
    }
    TableRows rows{{{"grids and batches of which nothing comes"}, number("how many")}};
    for (const auto& [reason, times] : r.rejected) {
        rows.push_back({{reason}, number(count(times))});
    }
    return out + html_table(rows, "Grids and batches of which nothing comes.");
}

}  // namespace

std::string answer_sentence(const PlanPage& page) {
    const search::RankedPlan& best = page.ranked.front();
    const predict::Prediction& p = best.prediction;
    std::string out = page.best_line + (is_by_finish(page) ? " is over first" : " is the fastest") +
                      (is_best_of_all(page) ? ": " : " of those found so far: ") + duration(p.step_time_s) +
                      " a step (90 %: " + interval_text(p.step_time_interval_s) + " s), " +
                      short_count(p.tokens_per_s) + " tokens/s; beside useful compute it takes " +
                      losses_text(search::binding_losses(p), p.step_time_s, 3);
    if (page.ranked.size() < 2) {
        return out + ".";
    }
    const std::size_t equal = not_told_apart(page), others = page.ranked.size() - 1;
    out += "; the second is " + percent(page.ranked[1].lead.ratio - 1) + " behind";
    return out + (equal == 0 ? ", and the constants tell the best from all of the next " + std::to_string(others) + "."
                             : ", and the constants do not tell the best from " + std::to_string(equal) +
                                   " of the next " + std::to_string(others) + ".");
}

std::string tight_clause(const search::MemoryRoom& room) {
    return room.is_tight() ? "; only " + percent(room.free_share) + " of the memory stays free: it may not fit" : "";
}

std::string room_sentence(const search::MemoryRoom& room) {
    std::string out = "The best leaves " + percent(room.free_share) +
                      " of the memory, and predicted peaks of published runs are off by about a tenth in the mean "
                      "(docs/validation.md). ";
    if (!room.roomier) {
        return out + "None of the plans ranked leaves a tenth; --set 'machine.tile.reserved=" +
               format_quantity(room.reserved_bytes, Dimension::kBytes) + "' finds those that do.";
    }
    return out + "Plan " + std::to_string(*room.roomier + 1) + " of those ranked leaves a tenth, with a step that is " +
           percent(std::abs(room.behind)) + (room.behind < 0 ? " shorter." : " longer.");
}

std::string given_sentence(const search::GivenPlan& given, std::uint64_t space) {
    if (!given.why_not.empty()) {
        return "The plan of --plan is none of these: " + given.why_not + ".";
    }
    const search::FasterPlans& faster = given.faster;
    const search::RankedPlan& one = given.ranked;
    std::string out = "The plan of --plan takes " + duration(one.prediction.step_time_s) + ", " +
                      signed_percent(one.lead.ratio - 1) + " against the best";
    if (!one.behind.empty()) {
        out += ", most of it " + std::string(plain_name(one.behind.front().loss)) + " (" +
               signed_significant(one.behind.front().seconds, 2) + " s)";
    }
    if (given.excess_bytes > 0) {
        return out + "; it does not fit, by " + gigabytes(given.excess_bytes) + ".";
    }
    const std::string of_all = " of " + counted(static_cast<double>(space), "plan") + " ";
    if (faster.is_exact()) {
        return out + ". " + count(faster.at_least) + of_all + "fit and are faster: it is number " +
               count(faster.at_least + 1) + ".";
    }
    const auto rounded = [](double plans) { return thousands(std::round(plans)); };
    return out + ". About " + rounded(faster.estimate) + of_all +
           "fit and are faster (90 %: " + rounded(faster.interval.low) + " to " + rounded(faster.interval.high) +
           "; certain: " + count(faster.at_least) + " to " + count(faster.at_most) + "): of " +
           count(faster.undecided) + " that may be by their bounds and that the search did not decide, " +
           count(faster.drawn) + " were drawn and simulated.";
}

std::string plan_headline(const PlanPage& page) {
    const predict::Prediction& p = page.ranked.front().prediction;
    const std::string found = is_best_of_all(page) ? "" : " found so far";
    std::string out =
        (is_by_finish(page) ? "Layout" + found + " whose run is over first, of " : "Fastest layout" + found + " of ") +
        page.subject + ": " + page.best_line.substr(0, page.best_line.find(" | ")) + ", " + duration(p.step_time_s) +
        " a step, " + percent(p.mfu) + " MFU" + tight_clause(page.room);
    if (page.given && page.given->why_not.empty()) {
        const double ratio = page.given->ranked.lead.ratio;
        return out + (ratio > 1 ? "; the plan of --plan is " + percent(ratio - 1, 0) + " behind"
                                : "; the plan of --plan is as fast");
    }
    return out + "; " + largest_loss_clause(p);
}

std::string render_plan_html(const PlanPage& page) {
    const std::vector<std::string>& notes = page.ranked.front().prediction.notes;
    return html_page(first_screen(page),
                     {{"plans-section", "The plans", plan_table_section(page)},
                      {"finish", "When it will be finished",
                       page.finish ? finish_section(*page.finish, page.ranked_lines) : std::string()},
                      {"losses", "Where the time goes", losses_section(page)},
                      {"map-section", "The best step over two fields", plan_map_section(page)},
                      {"choice", "How sure the choice is", choice_section(page)},
                      {"notes", "What to know of the best one", notes.empty() ? "" : html_list(notes)},
                      {"search", "What was searched", search_section(page)},
                      {"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)}},
                     {kPlanMapScript});
}

}  // namespace auspex::report
