/// @file A few campaigns a size.
#include "cli/commands/search/size_finishes.hpp"

#include <algorithm>
#include <iostream>

#include "base/number_text.hpp"
#include "campaign/optimum/halving.hpp"
#include "cli/plans/finish_by.hpp"
#include "launch/progress_line.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using report::count_words;
using report::span_words;

/// The layout of the size that is over first takes the place of its best.
report::PlanFinish play_size(FinishPlayer& player, const models::Inputs& inputs, search::SizePoint& point,
                             double run_tokens) {
    std::optional<report::PlanFinish> first;
    for (const search::EvaluatedPlan& evaluated : point.fastest) {
        search::RankedPlan one = ranked_plan(inputs, evaluated, run_tokens);
        models::Inputs own = inputs;
        own.plan = one.plan;
        const report::PlanFinish finish = player.play(own, one.prediction);
        if (!first || ends_before(finish, *first)) {
            first = finish;
            point.best = evaluated;
            point.prediction = std::move(one.prediction);
        }
    }
    return *first;
}

/// Of the sizes with a plan, by a median.
std::size_t least(const SizeFinishes& finishes, const auto& median) {
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < finishes.of_sizes.size(); ++i) {
        if (finishes.of_sizes[i] && (!least || median(*finishes.of_sizes[i]) < median(*finishes.of_sizes[*least]))) {
            least = i;
        }
    }
    return *least;
}

campaign::FinishAndCost medians(const report::PlanFinish& one) { return {one.elapsed_s.p50, one.node_hours.p50}; }

}  // namespace

SizeFinishes play_sizes(const Options& options, const models::Inputs& inputs, std::vector<search::SizePoint>& points) {
    FinishPlayer player(options);
    launch::ProgressLine line("sizes played as whole runs");
    SizeFinishes finishes;
    for (search::SizePoint& point : points) {
        line.show(finishes.of_sizes.size(), points.size());
        finishes.played += point.fastest.size();
        finishes.of_sizes.emplace_back(point.best ? std::optional(play_size(player, inputs, point, options.tokens))
                                                  : std::nullopt);
    }
    judge_sizes(points);
    finishes.first = least(finishes, [](const report::PlanFinish& one) { return one.elapsed_s.p50; });
    finishes.cheapest = least(finishes, [](const report::PlanFinish& one) { return one.node_hours.p50; });
    return finishes;
}

bool is_on_front(const SizeFinishes& finishes, std::size_t i) {
    return std::ranges::none_of(finishes.of_sizes, [&](const std::optional<report::PlanFinish>& other) {
        return other && dominates(medians(*other), medians(*finishes.of_sizes[i]));
    });
}

const char* why_no_plan(const search::SizePoint& point) {
    return point.space == 0 ? "no plan divides tiles and batch" : "no plan fits";
}

void write_size_finishes(JsonWriter& json, const SizeFinishes& finishes, const std::vector<search::SizePoint>& points) {
    json.member("cheapest_tiles", points[finishes.cheapest].tiles).key("front_tiles").begin_array();
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (finishes.of_sizes[i] && is_on_front(finishes, i)) {
            json.value(points[i].tiles);
        }
    }
    json.end_array().member("played", finishes.played);
}

void print_size_finishes(const Options& options, const SizeFinishes& finishes,
                         const std::vector<search::SizePoint>& points) {
    std::cout << "\n"
              << short_count(options.tokens)
              << " tokens as a whole run, with failures, checkpoints and queue; the layout of each size that is over "
                 "first:\n\n";
    std::vector<report::TextRow> rows = {
        {"tiles", "over after", "10 %", "90 %", "node hours", "goodput", "checkpoint every", "spares", ""}};
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!finishes.of_sizes[i]) {
            continue;
        }
        const report::PlanFinish& one = *finishes.of_sizes[i];
        rows.push_back({thousands(points[i].tiles), span_words(one.elapsed_s.p50), span_words(one.elapsed_s.p10),
                        span_words(one.elapsed_s.p90), count_words(one.node_hours.p50), percent(one.goodput, 1),
                        span_words(one.interval_s), one.spares ? thousands(*one.spares) : "at hand",
                        is_on_front(finishes, i) ? "" : "another is sooner and costs less"});
    }
    std::cout << report::text_table(rows, {8}) << "\nPlayed were " << finishes.played << " layouts, "
              << kFinalistsOfSize << " of a size at most, " << thousands(options.campaign.samples)
              << " campaigns each.\nOver first: " << thousands(points[finishes.first].tiles)
              << " tiles. Fewest node-hours: " << thousands(points[finishes.cheapest].tiles) << " tiles.\n";
    for (const std::string& note : finishes.of_sizes[finishes.first]->notes) {
        std::cout << "Note on its run: " << note << "\n";
    }
}

}  // namespace auspex::cli
