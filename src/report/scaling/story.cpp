/// @file Sentences and rows drawn from the points.
#include "report/scaling/story.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/spread_words.hpp"

namespace auspex::report {

namespace {

double seconds_of(const predict::Prediction& prediction, std::size_t loss) {
    return to_seconds(prediction.losses[loss]);
}

std::string tiles_text(const predict::Prediction& prediction) { return counted(prediction.tiles, "tile"); }

/// "data-parallel communication (0.81 s, 71 % of it), … and …": the largest parts of what was added to the step.
std::string largest_growth(const ScalingReport& report) {
    std::vector<LossGrowth> grown = loss_growth(report);
    std::erase_if(grown, [](const LossGrowth& row) { return row.last_s <= row.first_s; });
    double total = 0;
    for (const LossGrowth& row : grown) {
        total += row.last_s - row.first_s;
    }
    std::string out;
    const std::size_t shown = std::min<std::size_t>(grown.size(), 3);
    for (std::size_t i = 0; i < shown; ++i) {
        const double growth = grown[i].last_s - grown[i].first_s;
        out += i == 0 ? "" : i + 1 == shown ? " and " : ", ";
        out += std::string(plain_name(grown[i].loss)) + " (" + duration(growth) + ", " + percent(growth / total, 0) +
               " of it)";
    }
    return out;
}

std::string efficiency_sentence(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    const std::string steps = "One step takes " + duration(first.step_time_s) + " on " + tiles_text(first) + " and " +
                              duration(last.step_time_s) + " on " + tiles_text(last);
    const std::string efficiency = percent(report.points.back().efficiency);
    if (report.mode == "strong") {
        return steps + ": " + efficiency + " of the speed-up that " +
               fixed(static_cast<double>(last.tiles) / first.tiles, 1) + " times the tiles could give at best.";
    }
    return steps + ", so at the end each tile still does " + efficiency +
           " of the work per second that it did at the start.";
}

/// What is lost beyond the first point (weak: what the step grew by; strong: what fills the step besides useful work).
std::string loss_sentence(const ScalingReport& report) {
    const predict::Prediction& last = report.points.back().prediction;
    if (report.mode != "strong") {
        const std::string growth = largest_growth(report);
        return growth.empty() ? "No part of the step grows with the number of tiles."
                              : "What is added to the step is mostly " + growth + ".";
    }
    std::vector<LossGrowth> rows = loss_growth(report);
    std::erase_if(rows,
                  [](const LossGrowth& row) { return row.loss == schedule::Loss::kUsefulCompute || row.last_s <= 0; });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LossGrowth& a, const LossGrowth& b) { return a.last_s > b.last_s; });
    std::string out = "On " + tiles_text(last) + " useful compute is " +
                      percent(seconds_of(last, 0) / last.step_time_s) + " of the step";
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 3); ++i) {
        out += (i == 0 ? "; the largest losses are " : ", ") + std::string(plain_name(rows[i].loss)) + " (" +
               percent(rows[i].last_share) + ")";
    }
    return out + ".";
}

std::string memory_sentence(const ScalingReport& report) {
    std::string too_big;
    const predict::Prediction* fullest = &report.points.front().prediction;
    for (const ScalePoint& point : report.points) {
        const predict::MemoryReport& memory = point.prediction.memory;
        if (!memory.fits) {
            too_big += (too_big.empty() ? "" : ", ") + tiles_text(point.prediction);
        }
        fullest = memory.peak_bytes > fullest->memory.peak_bytes ? &point.prediction : fullest;
    }
    const predict::MemoryReport& memory = fullest->memory;
    const std::string peak = significant(memory.peak_bytes / 1e9) + " GB of " +
                             significant(memory.capacity_bytes / 1e9) + " GB on " + tiles_text(*fullest) +
                             ", in pipeline stage " + std::to_string(memory.heaviest_stage) + ".";
    return too_big.empty() ? "It fits into a tile's memory everywhere; it needs at most " + peak
                           : "It does NOT fit into a tile's memory on " + too_big + ": it needs up to " + peak;
}

/// What published runs were off by beyond that, where it is known.
std::string spread_sentence(const predict::Prediction& p) {
    return p.published_spread ? " With the unexplained spread of " + spread_runs(*p.published_spread) + " it takes " +
                                    interval_text(p.step_time_interval_with_spread_s) + " s."
                              : "";
}

std::string interval_sentence(const ScalingReport& report) {
    const Interval interval = relative_interval(report.points.back().prediction);
    return "The step time at the last point is uncertain by " + signed_significant(interval.low * 100, 2) + " % to " +
           signed_significant(interval.high * 100, 2) +
           " % (in about 9 of 10 cases, as far as the constants are uncertain; mechanisms that are left out are not in "
           "it); most of that error is common to all points, so the shape of the curve is "
           "surer than its height." +
           spread_sentence(report.points.back().prediction);
}

}  // namespace

void require_points(const ScalingReport& report) {
    if (report.points.empty()) {
        throw InputError("scaling report", "no points; at least one is needed");
    }
    for (const ScalePoint& point : report.points) {
        AUSPEX_CHECK(point.prediction.step > 0 && point.prediction.step_time_s > 0 && point.prediction.tiles > 0,
                     "a point has tiles and a step");
    }
}

std::string mode_in_words(const ScalingReport& report) {
    return report.mode == "strong" ? "strong scaling: the same total work is shared by more and more tiles"
                                   : "weak scaling: more tiles do more work, each the same share at every size";
}

std::vector<std::string> summary_sentences(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    std::vector<std::string> out;
    out.push_back("This page predicts, by simulation and without running anything, how fast the model " +
                  report.workload + " trains on the machine " + report.machine + " with " + report.stack +
                  " when one training step is spread over " +
                  (report.points.size() > 1 ? thousands(first.tiles) + " to " + tiles_text(last) : tiles_text(last)) +
                  " (a tile is one accelerator as a training process sees it).");
    if (report.points.size() == 1) {
        out.push_back("One step takes " + duration(last.step_time_s) + ": " + short_count(last.tokens_per_s) +
                      " tokens/s in all, " + percent(last.mfu) + " of the arithmetic peak.");
        out.push_back(memory_sentence(report));
        return out;
    }
    out.push_back("It is " + mode_in_words(report) + ".");
    out.push_back(efficiency_sentence(report));
    out.push_back(loss_sentence(report));
    out.push_back(interval_sentence(report));
    out.push_back(memory_sentence(report));
    return out;
}

std::vector<LossGrowth> loss_growth(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    std::vector<LossGrowth> rows;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        if (first.losses[loss] == 0 && last.losses[loss] == 0) {
            continue;
        }
        const double first_s = seconds_of(first, loss);
        const double last_s = seconds_of(last, loss);
        rows.push_back({static_cast<schedule::Loss>(loss), first_s, last_s, first_s / first.step_time_s,
                        last_s / last.step_time_s});
    }
    const bool strong = report.mode == "strong";
    const auto growth = [strong](const LossGrowth& row) {
        return strong ? row.last_share - row.first_share : row.last_s - row.first_s;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&growth](const LossGrowth& a, const LossGrowth& b) { return growth(a) > growth(b); });
    return rows;
}

std::array<KindCount, 5> constants_by_kind(const ScalingReport& report) {
    std::array<KindCount, 5> counts{
        {{ConstantKind::kMeasured, 0, "measured on the machine, by its operators or in a paper"},
         {ConstantKind::kSpecified, 0, "a vendor's or site's specification"},
         {ConstantKind::kDerived, 0, "calculated from measured or specified numbers"},
         {ConstantKind::kAssumed, 0, "assumed: plausible, without a source that proves it"},
         {ConstantKind::kFitted, 0, "fitted so that a prediction meets one named measurement"}}};
    for (const Constant& constant : report.constants) {
        for (KindCount& row : counts) {
            row.count += row.kind == constant.kind ? 1 : 0;
        }
    }
    return counts;
}

std::vector<std::string> notes_of(const ScalingReport& report) {
    std::vector<std::pair<std::string, std::vector<int>>> notes;  // text, tiles of the points that carry it
    for (const ScalePoint& point : report.points) {
        for (const std::string& note : point.prediction.notes) {
            const auto found =
                std::find_if(notes.begin(), notes.end(), [&note](const auto& entry) { return entry.first == note; });
            auto& entry = found == notes.end() ? notes.emplace_back(note, std::vector<int>{}) : *found;
            entry.second.push_back(point.prediction.tiles);
        }
    }
    std::vector<std::string> out;
    for (const auto& [text, tiles] : notes) {
        std::string where;
        for (std::size_t i = 0; tiles.size() < report.points.size() && i < tiles.size(); ++i) {
            where += (i == 0 ? "" : "; ") + thousands(tiles[i]);
        }
        out.push_back(where.empty() ? text : text + " (at " + where + " tiles)");
    }
    return out;
}

std::string published_text(const PublishedPoint& point) {
    const auto [low, high] = point.efficiency;
    return low == high ? percent(low) : percent(low, 0) + " to " + percent(high, 0);
}

Interval relative_interval(const predict::Prediction& prediction) {
    return {prediction.step_time_interval_s.low / prediction.step_time_s - 1,
            prediction.step_time_interval_s.high / prediction.step_time_s - 1};
}

std::string interval_text(const Interval& interval) {
    return significant(interval.low) + "–" + significant(interval.high);
}

}  // namespace auspex::report
