/// @file Numbers of ranks, and the share of the budget that each gets.
#include "workflows/calibrate/parts.hpp"

#include <numeric>

#include "exec/system/cores.hpp"
#include "report/parts/text.hpp"

namespace auspex::workflows {
namespace {

/// Shares of the budget: kernels are many, messages between many ranks are slow.
constexpr double kKernelsOfPrecision = 24, kSharing = 4, kMessages = 8;

std::vector<int> rank_counts(int most) {
    std::set<int> counts{1, most};
    if (const int cores = static_cast<int>(exec::allowed_cores().size()); cores < most) {
        counts.insert(cores);
    }
    for (int ranks = 2; ranks < most; ranks *= 2) {
        counts.insert(ranks);
    }
    return {counts.begin(), counts.end()};
}

}  // namespace

std::vector<CalibrationPart> shares_of_budget(const CalibrateRequest& request) {
    std::vector<CalibrationPart> parts;
    for (const int ranks : rank_counts(request.max_ranks)) {
        MeasureTask task{request.measurements, request.stack, ranks == 1, true, ranks > 1, 0, kSharing, 0, 0, {}};
        if (ranks == 1) {
            task.precisions = request.precisions;
            task.kernels_s = kKernelsOfPrecision * static_cast<double>(task.precisions.size());
        } else {
            task.messages_s = kMessages;
        }
        std::string name = counted(ranks, "rank");
        for (const std::string& precision : task.precisions) {
            name += ", " + precision;
        }
        parts.push_back({name, ranks, std::move(task)});
    }
    return parts;
}

double seconds_of(const std::vector<CalibrationPart>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0,
                           [](double all, const CalibrationPart& part) { return all + part.seconds(); });
}

std::vector<CalibrationPart> parts_of(const CalibrateRequest& request) {
    std::vector<CalibrationPart> parts = shares_of_budget(request);
    const double scale = (request.budget_s > 0 ? request.budget_s : kDefaultBudget_s) / seconds_of(parts);
    for (CalibrationPart& part : parts) {
        part.task.kernels_s *= scale;
        part.task.sharing_s *= scale;
        part.task.messages_s *= scale;
    }
    return parts;
}

std::set<std::string> names_of(const std::vector<CalibrationPart>& parts) {
    std::set<std::string> names;
    for (const CalibrationPart& part : parts) {
        names.insert(part.name);
    }
    return names;
}

}  // namespace auspex::workflows
