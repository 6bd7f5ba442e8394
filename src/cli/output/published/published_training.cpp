/// @file Published rows that belong to a job.
#include "cli/output/published/published_training.hpp"

#include <algorithm>

#include "launch/input_files.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kRole = "published-training";

bool is_of_job(const evaluate::PublishedScaling& scaling, const models::Inputs& inputs) {
    const auto is_or_open = [](int said, int wanted) { return said == 0 || said == wanted; };
    return scaling.machine == inputs.machine.name && scaling.stack == inputs.stack.name &&
           scaling.workload == inputs.workload.name &&
           (scaling.release.empty() || scaling.release == inputs.stack.release) &&
           is_or_open(scaling.micro_batch_size, inputs.plan.micro_batch_size) &&
           is_or_open(scaling.micro_batches, inputs.plan.micro_batches);
}

/// By rising tiles; of several rows with as many the range.
std::vector<report::PublishedPoint> points_of(const evaluate::PublishedScaling& scaling,
                                              const report::ScalingReport& report) {
    const int first = report.points.front().prediction.tiles, last = report.points.back().prediction.tiles;
    const auto reference = std::ranges::find(scaling.rows, first, &evaluate::PublishedScaling::Row::tiles);
    std::vector<report::PublishedPoint> points;
    if (reference == scaling.rows.end()) {
        return points;
    }
    for (const evaluate::PublishedScaling::Row& row : scaling.rows) {
        if (row.tiles <= first || row.tiles > last) {
            continue;
        }
        const double efficiency = row.speed / reference->speed;
        const auto known = std::ranges::find(points, row.tiles, &report::PublishedPoint::tiles);
        if (known == points.end()) {
            points.push_back({row.tiles, {efficiency, efficiency}});
        } else {
            known->efficiency = {std::min(known->efficiency.low, efficiency),
                                 std::max(known->efficiency.high, efficiency)};
        }
    }
    std::ranges::sort(points, {}, &report::PublishedPoint::tiles);
    return points;
}

}  // namespace

evaluate::PublishedTraining load_published_training() {
    evaluate::PublishedTraining published;
    for (const std::string& name : launch::input_names(kRole)) {
        add_published(JsonDocument::load(launch::find_input(kRole, name)), published);
    }
    return published;
}

void add_published_points(report::ScalingReport& report, const models::Inputs& inputs,
                          const evaluate::PublishedTraining& published) {
    for (const evaluate::PublishedScaling& scaling : published.scaling) {
        if (!is_of_job(scaling, inputs)) {
            continue;
        }
        std::vector<report::PublishedPoint> points = points_of(scaling, report);
        if (points.size() > report.published.size()) {
            report.published = std::move(points);
            report.published_source = scaling.source + " (" + scaling.url + ")";
        }
    }
}

}  // namespace auspex::cli
