/// @file Gaps of the device by what it waits for.
#include <algorithm>
#include <map>

#include "base/number_text.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "compare/kineto/explain/robust.hpp"
#include "sim/engine/host_issue.hpp"

namespace auspex::kineto {
namespace {

constexpr Picoseconds kLongestLaunch = 50'000'000;  // 50 us

/// Gaps in front of kernels on the compute stream, that of most products.
struct Gap {
    Picoseconds length = 0, host = 0;  ///< of it until the next kernel had been launched
};

/// Those in which nothing else ran; for each kernel that computes the one in front of it.
std::vector<Gap> gaps_of(const MeasuredStep& step) {
    std::vector<Gap> gaps(step.kernels.size());
    Picoseconds reached = 0;
    for (std::size_t i = 0; i < step.kernels.size(); ++i) {
        const MeasuredKernel& kernel = step.kernels[i];
        if (i > 0 && kernel.start > reached) {
            gaps[i].length = kernel.start - reached;
            gaps[i].host = kernel.is_launch_known
                               ? std::clamp<Picoseconds>(kernel.launched - reached, 0, gaps[i].length)
                               : gaps[i].length;
        }
        reached = std::max(reached, kernel.end);
    }
    return gaps;
}

ExplainingConstant constant_of(const models::Inputs& inputs, const std::string& path, const char* operations) {
    ExplainingConstant one;
    const Constant* const known = find_constant(inputs, path);
    one.path = path;
    one.dimension = Dimension::kSeconds;
    one.operations = operations;
    one.value = known == nullptr ? 0 : known->value;
    return one;
}

void add_launch(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs) {
    constexpr std::size_t kLeast = 20;
    std::vector<WeightedValue> lengths;
    for (const MatchedRank& rank : ranks) {
        const std::vector<Gap> gaps = gaps_of(rank.measured);
        for (std::size_t i = 1; i < gaps.size(); ++i) {
            const MeasuredKernel& kernel = rank.measured.kernels[i];
            const MeasuredKernel& before = rank.measured.kernels[i - 1];
            const bool is_queued = kernel.is_launch_known && kernel.launched <= before.end &&
                                   kernel.stream == before.stream && kernel.work != Work::kCommunication &&
                                   kernel.start >= before.end && kernel.start - before.end <= kLongestLaunch;
            if (is_queued) {
                lengths.push_back({to_seconds(kernel.start - before.end), 1});
            }
        }
    }
    const Constant* const known = find_constant(inputs, "machine.tile.kernel_launch");
    if (lengths.size() < kLeast || known == nullptr) {
        return;
    }
    const Middle middle = robust_middle(lengths);
    ExplainingConstant one = constant_of(inputs, known->path, "launches of kernels in a queue");
    one.explaining = std::max(0.0, middle.value - inputs.stack.launch_s);
    one.count = static_cast<double>(lengths.size());
    one.spread = middle.value > 0 ? middle.spread / middle.value : 0;
    one.measured_s = diff.measured[static_cast<std::size_t>(Spent::kLaunch)];
    one.predicted_s = diff.predicted[static_cast<std::size_t>(Spent::kLaunch)];
    if (middle.value < inputs.stack.launch_s) {
        one.note = "stack.kernels.launch alone is longer than the gaps of " + duration(middle.value);
    }
    diff.constants.push_back(one);
}

/// Time of a pass, and of it what the device waited for the host.
struct PassTime {
    Picoseconds begin = -1, end = 0, host = 0;
};

void add_issue(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
               const predict::SimulatedStep& step) {
    constexpr double kLeastShare = 0.2;
    models::Stack of_kernels = inputs.stack;
    of_kernels.collective_issue_s = of_kernels.collective_check_s = 0;
    models::Stack counting = of_kernels, plain = of_kernels;
    counting.issue_s = 1, counting.plain_issue_s = 0;
    plain.issue_s = 0;
    std::vector<WeightedValue> issue;
    double measured = 0, predicted = 0;
    for (const MatchedRank& rank : ranks) {
        const auto& order = step.program.roles[static_cast<std::size_t>(rank.predicted.stage)].order;
        const std::vector<Gap> gaps = gaps_of(rank.measured);
        std::map<std::uint32_t, PassTime> passes;
        for (std::size_t i = 0; i < gaps.size(); ++i) {
            if (rank.match.slot[i] == kNone) {
                continue;
            }
            PassTime& pass = passes[rank.predicted.slots[rank.match.slot[i]].use];
            pass.begin = pass.begin < 0 ? rank.measured.kernels[i].start : pass.begin;
            pass.end = std::max(pass.end, rank.measured.kernels[i].end);
            pass.host += gaps[i].host;
        }
        for (const auto& [use, pass] : passes) {
            const schedule::Block& block = step.program.blocks[order[use].block];
            const double kernels = engine::host_issue_s(step.program, block, counting, step.layout);
            const double length = to_seconds(pass.end - pass.begin);
            const double plain_s = engine::host_issue_s(step.program, block, plain, step.layout);
            if (block.kind == schedule::BlockKind::kOptimizer || kernels <= 0 || length <= 0 ||
                to_seconds(pass.host) < kLeastShare * length) {
                continue;
            }
            issue.push_back({std::max(0.0, length - plain_s) / kernels, length});
            measured += length;
            predicted += engine::host_issue_s(step.program, block, of_kernels, step.layout);
        }
    }
    if (issue.empty()) {
        return;
    }
    const Middle middle = robust_middle(issue);
    ExplainingConstant one =
        constant_of(inputs, "stack.kernels.issue", "passes in which the device waits for the host");
    one.explaining = middle.value;
    one.count = static_cast<double>(issue.size());
    one.spread = middle.spread / middle.value;
    one.measured_s = measured / static_cast<double>(ranks.size());
    one.predicted_s = predicted / static_cast<double>(ranks.size());
    diff.constants.push_back(one);
}

void add_step_host(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs) {
    std::vector<WeightedValue> idle;
    for (const MatchedRank& rank : ranks) {
        Picoseconds last = 0;
        for (const MeasuredKernel& kernel : rank.measured.kernels) {
            last = std::max(last, kernel.end);
        }
        idle.push_back({to_seconds(rank.measured.length - last), 1});
    }
    const Middle middle = robust_middle(idle);
    if (middle.value <= 0) {
        return;
    }
    ExplainingConstant one = constant_of(inputs, "stack.kernels.step_host", "the end of the step");
    one.explaining = middle.value;
    one.count = static_cast<double>(idle.size());
    one.spread = middle.spread / middle.value;
    one.measured_s = middle.value;
    one.predicted_s = one.value;
    diff.constants.push_back(one);
}

}  // namespace

void explain_host(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                  const predict::SimulatedStep& step) {
    if (!ranks.front().measured.has_device) {
        return;
    }
    add_launch(diff, ranks, inputs);
    add_issue(diff, ranks, inputs, step);
    add_step_host(diff, ranks, inputs);
}

}  // namespace auspex::kineto
