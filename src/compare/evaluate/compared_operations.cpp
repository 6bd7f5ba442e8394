/// @file Which traced steps are taken, and what they say of each operation.
#include "compare/evaluate/compared_operations.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/statistics/statistics.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kMaxOffMedian = 0.1;

void sort_by_time(std::vector<OperationPair>& operations) {
    std::stable_sort(operations.begin(), operations.end(), [](const OperationPair& a, const OperationPair& b) {
        return a.measured_s != b.measured_s ? a.measured_s > b.measured_s : a.predicted_s > b.predicted_s;
    });
}

}  // namespace

bool trace_is_typical(const ComparedRun& run) {
    return run.is_traced_at_full_speed && std::abs(run.traced_s / run.step_s - 1) <= kMaxOffMedian;
}

std::vector<std::size_t> runs_by_trace(const ComparedCase& one) {
    const std::vector<ComparedRun>& runs = one.runs;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].traced_s > 0) {
            order.push_back(i);
        }
    }
    const double middle_s = runs.empty() ? 0 : median(valid_steps_s(one));
    const auto place_of = [&](std::size_t i) {
        const ComparedRun& run = runs[i];
        return std::tuple(!run.is_valid, !trace_is_typical(run), std::abs(std::log(run.traced_s / middle_s)));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return place_of(a) < place_of(b); });
    return order;
}

void take_operations(ComparedCase& one) {
    const std::vector<std::size_t> order = runs_by_trace(one);
    one.operations_are_typical = !order.empty() && trace_is_typical(one.runs[order.front()]);
    one.operations.clear();
    if (order.empty()) {
        return;
    }
    const ComparedRun& best = one.runs[order.front()];
    std::map<std::string, std::vector<double>> times_s;
    for (const std::size_t i : order) {
        const ComparedRun& run = one.runs[i];
        const bool is_taken =
            one.operations_are_typical ? trace_is_typical(run) && run.is_valid == best.is_valid : &run == &best;
        for (const OperationPair& operation : run.operations) {
            if (is_taken) {
                times_s[operation.name].push_back(operation.measured_s);
            }
        }
    }
    for (const auto& [name, times] : times_s) {
        one.operations.push_back({name, median(times), 0});
    }
    sort_by_time(one.operations);
}

std::vector<OperationPair> operation_times(const schedule::Timeline& timeline) {
    std::set<std::string> roles;
    for (const schedule::Track& track : timeline.tracks) {
        roles.insert(track.role);
    }
    std::vector<Picoseconds> sums(timeline.names.size());
    for (const schedule::Span& span : timeline.spans) {
        sums.at(span.name) += span.end - span.start;
    }
    std::vector<OperationPair> operations;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i] > 0) {
            operations.push_back({timeline.names[i], to_seconds(sums[i]) / static_cast<double>(roles.size()), 0});
        }
    }
    sort_by_time(operations);
    return operations;
}

std::vector<OperationPair> pair_operations(const std::vector<OperationPair>& measured,
                                           const std::vector<OperationPair>& predicted) {
    std::vector<OperationPair> pairs = measured;
    for (const OperationPair& operation : predicted) {
        const auto same = std::find_if(pairs.begin(), pairs.end(),
                                       [&](const OperationPair& pair) { return pair.name == operation.name; });
        if (same == pairs.end()) {
            pairs.push_back({operation.name, 0, operation.measured_s});
        } else {
            same->predicted_s = operation.measured_s;
        }
    }
    sort_by_time(pairs);
    return pairs;
}

std::vector<OperationPair> largest_errors(std::vector<OperationPair> operations, std::size_t count) {
    std::stable_sort(operations.begin(), operations.end(), [](const OperationPair& a, const OperationPair& b) {
        return std::abs(a.predicted_s - a.measured_s) > std::abs(b.predicted_s - b.measured_s);
    });
    operations.resize(std::min(count, operations.size()));
    return operations;
}

std::vector<OperationPair> summed_operations(const std::vector<ComparedCase>& cases) {
    std::map<std::string, OperationPair> sums;
    for (const ComparedCase& one : cases) {
        for (const OperationPair& operation : one.operations) {
            OperationPair& sum = sums[operation.name];
            sum.name = operation.name;
            sum.measured_s += operation.measured_s;
            sum.predicted_s += operation.predicted_s;
        }
    }
    std::vector<OperationPair> operations;
    for (const auto& [name, sum] : sums) {
        operations.push_back(sum);
    }
    sort_by_time(operations);
    return operations;
}

}  // namespace auspex::evaluate
