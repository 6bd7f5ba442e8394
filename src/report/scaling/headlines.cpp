/// @file Headlines.
#include "report/scaling/headlines.hpp"

#include <algorithm>

#include "report/parts/text.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {
namespace {

double seconds_of(const predict::Prediction& prediction, std::size_t loss) {
    return to_seconds(prediction.losses[loss]);
}

/// The largest of all but useful compute.
std::size_t largest_loss(const predict::Prediction& prediction) {
    std::size_t largest = 1;
    for (std::size_t loss = 2; loss < schedule::kLossCount; ++loss) {
        largest = prediction.losses[loss] > prediction.losses[largest] ? loss : largest;
    }
    return largest;
}

std::string step_and_mfu(const predict::Prediction& prediction) {
    return duration(prediction.step_time_s) + " a step, " + percent(prediction.mfu) + " MFU";
}

std::string excess_text(const predict::Prediction& prediction) {
    const predict::MemoryReport& memory = prediction.memory;
    return "it does not fit: " + significant(memory.peak_bytes / 1e9) + " GB of the " +
           significant(memory.capacity_bytes / 1e9) + " GB of a tile";
}

}  // namespace

double bubble_share(const predict::Prediction& prediction) {
    return seconds_of(prediction, static_cast<std::size_t>(schedule::Loss::kBubble)) / prediction.step_time_s;
}

std::string largest_loss_clause(const predict::Prediction& prediction) {
    constexpr double kNothing = 0.005;
    const std::size_t loss = largest_loss(prediction);
    const double share = seconds_of(prediction, loss) / prediction.step_time_s;
    return share < kNothing
               ? "useful compute fills the step"
               : share_in_words(share) + " of the step is " + plain_name(static_cast<schedule::Loss>(loss));
}

std::string step_headline(const std::string& workload, const std::string& machine,
                          const predict::Prediction& prediction) {
    const std::string thing = prediction.lens == predict::Lens::kCpu ? "rank" : "tile";
    return workload + " on " + counted(prediction.tiles, thing) + " of " + machine + ": " + step_and_mfu(prediction) +
           "; " + (prediction.memory.fits ? largest_loss_clause(prediction) : excess_text(prediction));
}

std::string scaling_headline(const ScalingReport& report) {
    const predict::Prediction& first = report.points.front().prediction;
    const predict::Prediction& last = report.points.back().prediction;
    if (report.points.size() == 1) {
        return step_headline(report.workload, report.machine, last);
    }
    const auto too_big = std::find_if(report.points.begin(), report.points.end(),
                                      [](const ScalePoint& point) { return !point.prediction.memory.fits; });
    const std::string where =
        " from " + thousands(first.tiles) + " to " + counted(last.tiles, "tile") + " of " + report.machine;
    if (report.mode == "strong") {
        return report.workload + " gets " + significant(first.step_time_s / last.step_time_s) + " times as fast" +
               where + ", with " + significant(static_cast<double>(last.tiles) / first.tiles) + " times the tiles (" +
               step_and_mfu(last) + "); " +
               (too_big == report.points.end() ? largest_loss_clause(last) : excess_text(too_big->prediction));
    }
    std::string out = report.workload + " keeps " + percent(report.points.back().efficiency) + " of its speed a tile" +
                      where + " (" + step_and_mfu(last) + ")";
    if (too_big != report.points.end()) {
        return out + "; " + excess_text(too_big->prediction) + " on " + counted(too_big->prediction.tiles, "tile");
    }
    const std::vector<LossGrowth> growth = loss_growth(report);
    const bool grows = last.step_time_s > first.step_time_s * 1.001 && !growth.empty();
    return grows ? out + "; what is lost is mostly " + plain_name(growth.front().loss) : out;
}

}  // namespace auspex::report
