/// @file Constants of links and transport, by costing the program again.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "compare/kineto/explain/robust.hpp"
#include "sim/engine/operation_costs.hpp"

namespace auspex::kineto {
namespace {

/// A collective as measured, and as predicted with the file's constants.
struct Observation {
    std::uint32_t operation = 0;
    double measured_s = 0, predicted_s = 0, bytes = 0;
};

using Cell = std::pair<schedule::CommKind, models::GroupKind>;

/// Members of one group trace the same call: the one that came last waits least, and tells what the call takes.
class Collector {
 public:
    Collector(const std::vector<MatchedRank>& ranks, const schedule::Program& program, const models::Layout& layout)
        : program_(program), layout_(layout) {
        std::for_each(ranks.begin(), ranks.end(), [this](const MatchedRank& rank) { collect(rank); });
    }

    [[nodiscard]] std::map<Cell, std::vector<Observation>> cells() const {
        std::map<Cell, std::vector<Observation>> cells;
        for (const auto& [call, observation] : calls_) {
            const schedule::Operation& op = program_.operations[observation.operation];
            cells[{op.comm, op.group}].push_back(observation);
        }
        for (auto& [cell, observations] : cells) {
            if (cell.first == schedule::CommKind::kSend) {
                keep_shortest(observations);
            }
        }
        return cells;
    }

 private:
    using Call = std::tuple<int, int, std::uint32_t>;  // stage, group, message

    void collect(const MatchedRank& rank) {
        const std::vector<ExpectedMessage>& messages = rank.predicted.messages;
        std::vector<double> seconds(messages.size(), 0);
        for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
            if (rank.match.message[i] != kNone) {
                seconds[rank.match.message[i]] += to_seconds(rank.measured.kernels[i].length());
            }
        }
        std::map<models::GroupKind, int> groups;
        for (std::uint32_t j = 0; j < messages.size(); ++j) {
            const ExpectedMessage& message = messages[j];
            if (seconds[j] <= 0 || message.seconds <= 0 || message.comm == schedule::CommKind::kReceive ||
                message.comm == schedule::CommKind::kBarrier || message.group == models::GroupKind::kWorld) {
                continue;
            }
            const auto [group, is_new] = groups.try_emplace(message.group, 0);
            if (is_new) {
                group->second = group_of(rank.predicted, message.group);
            }
            const Observation seen{message.operation, seconds[j], message.seconds, message.bytes};
            const auto [call, is_first] = calls_.try_emplace({rank.predicted.stage, group->second, j}, seen);
            if (!is_first && seen.measured_s < call->second.measured_s) {
                call->second = seen;
            }
        }
    }

    [[nodiscard]] int group_of(const PredictedRank& rank, models::GroupKind kind) const {
        const auto groups = models::groups_of(layout_, kind, rank.stage);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (std::find(groups[i].begin(), groups[i].end(), rank.rank) != groups[i].end()) {
                return static_cast<int>(i);
            }
        }
        return -1 - rank.rank;
    }

    /// Of messages of one size: the others waited for their receivers.
    static void keep_shortest(std::vector<Observation>& observations) {
        std::map<double, Observation> shortest;
        for (const Observation& one : observations) {
            const auto [place, is_new] = shortest.try_emplace(one.bytes, one);
            if (!is_new && one.measured_s < place->second.measured_s) {
                place->second = one;
            }
        }
        observations.clear();
        for (const auto& [bytes, one] : shortest) {
            observations.push_back(one);
        }
    }

    const schedule::Program& program_;
    const models::Layout& layout_;
    std::map<Call, Observation> calls_;
};

/// Seconds of each operation's communication by itself with changed constants.
class Costs {
 public:
    Costs(const models::Inputs& inputs, const predict::SimulatedStep& step) : inputs_(inputs), step_(step) {
        nominal_ = cost(inputs);
    }

    /// By operation; none where the loaders do not allow the change.
    [[nodiscard]] std::optional<std::vector<double>> with(const std::vector<ChangedConstant>& changes) const {
        try {
            return cost(with_constants(inputs_, changes));
        } catch (const InputError&) {
            return {};
        }
    }
    [[nodiscard]] double nominal_s(std::uint32_t operation) const { return nominal_[operation]; }

 private:
    [[nodiscard]] std::vector<double> cost(const models::Inputs& inputs) const {
        network::Network network(inputs.machine, inputs.stack, step_.layout);
        network.set_routing(step_.load);
        const engine::OperationCosts costs = engine::cost_operations(step_.program, inputs.machine, inputs.stack,
                                                                     step_.layout, network, step_.cost_options);
        std::vector<double> seconds(step_.program.operations.size(), 0);
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            if (costs.transfer[i] != engine::kNone) {
                seconds[i] = to_seconds(costs.transfers[costs.transfer[i]].members.front().solo_time);
            }
        }
        return seconds;
    }

    const models::Inputs& inputs_;
    const predict::SimulatedStep& step_;
    std::vector<double> nominal_;
};

bool enters_messages(const std::string& path) {
    return path.starts_with("machine.node.") || path.starts_with("machine.fabric.") ||
           path.starts_with("stack.transport.");
}

/// A constant that may explain, with the times that a tenth more or less of it gives.
struct Candidate {
    Constant constant;
    double factor = 1;
    std::vector<double> seconds;
    [[nodiscard]] double elasticity(const Costs& costs, std::uint32_t operation) const {
        const double nominal = costs.nominal_s(operation);
        return nominal > 0 && seconds[operation] > 0 ? std::log(seconds[operation] / nominal) / std::log(factor) : 0;
    }
    [[nodiscard]] bool is_rate() const {
        return constant.dimension == Dimension::kBytesPerSecond || constant.dimension == Dimension::kNone;
    }
};

/// The stack's in front: what software makes of the links is less known than the links.
std::vector<Candidate> candidates_of(const models::Inputs& inputs, const Costs& costs) {
    std::vector<Candidate> candidates;
    for (const auto* constants : {&inputs.stack.constants, &inputs.machine.constants}) {
        for (const Constant& constant : *constants) {
            const bool is_kind = constant.dimension == Dimension::kBytesPerSecond ||
                                 constant.dimension == Dimension::kSeconds || constant.path.ends_with("_efficiency");
            if (!enters_messages(constant.path) || constant.value <= 0 || !is_kind) {
                continue;
            }
            for (const double factor : {0.9, 1.1}) {
                if (auto seconds = costs.with({{constant.path, constant.dimension, constant.value * factor}})) {
                    candidates.push_back({constant, factor, std::move(*seconds)});
                    break;
                }
            }
        }
    }
    return candidates;
}

/// Finds the values for one cell.
class CellFit {
 public:
    CellFit(const Costs& costs, const std::vector<Candidate>& candidates, const std::vector<Observation>& observations)
        : costs_(costs), candidates_(candidates), observations_(observations) {}

    struct Fitted {
        const Candidate* candidate;
        double value;
    };
    struct Result {
        std::vector<Fitted> constants;
        double spread = 0;
    };

    [[nodiscard]] std::optional<Result> fit() const {
        const std::vector<const Candidate*> order = by_elasticity();
        if (order.empty()) {
            return {};
        }
        if (has_sizes()) {
            const auto other = std::find_if(order.begin(), order.end(), [&](const Candidate* one) {
                return one->is_rate() != order.front()->is_rate() && most_elasticity(*one) >= 0.3;
            });
            if (other != order.end()) {
                if (auto result = solve({order.front(), *other})) {
                    return result;
                }
            }
        }
        for (const Candidate* candidate : order) {
            if (auto result = solve({candidate})) {
                return result;
            }
        }
        return {};
    }

 private:
    [[nodiscard]] double mean_elasticity(const Candidate& candidate) const {
        double sum = 0, weights = 0;
        for (const Observation& one : observations_) {
            sum += one.measured_s * std::abs(candidate.elasticity(costs_, one.operation));
            weights += one.measured_s;
        }
        return sum / weights;
    }
    [[nodiscard]] double most_elasticity(const Candidate& candidate) const {
        double most = 0;
        for (const Observation& one : observations_) {
            most = std::max(most, std::abs(candidate.elasticity(costs_, one.operation)));
        }
        return most;
    }

    /// Those that the cell tells anything of, most first; what is within 3 % counts as the same.
    [[nodiscard]] std::vector<const Candidate*> by_elasticity() const {
        constexpr double kLeast = 0.2, kSame = 0.03;
        std::vector<std::pair<double, const Candidate*>> list;
        for (const Candidate& candidate : candidates_) {
            const double elasticity = std::round(mean_elasticity(candidate) / kSame) * kSame;
            if (elasticity >= kLeast) {
                list.push_back({elasticity, &candidate});
            }
        }
        std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        std::vector<const Candidate*> order;
        for (const auto& [elasticity, candidate] : list) {
            order.push_back(candidate);
        }
        return order;
    }

    [[nodiscard]] bool has_sizes() const {
        const auto [least, most] =
            std::minmax_element(observations_.begin(), observations_.end(),
                                [](const Observation& a, const Observation& b) { return a.bytes < b.bytes; });
        return most->bytes >= 4 * least->bytes;
    }

    /// ln(measured / predicted), the prediction as played, changed as the costs change; by size.
    [[nodiscard]] std::vector<WeightedValue> residuals(const std::vector<double>& seconds) const {
        std::vector<WeightedValue> logs;
        for (const Observation& one : observations_) {
            const double nominal = costs_.nominal_s(one.operation);
            const double predicted = one.predicted_s * (nominal > 0 ? seconds[one.operation] / nominal : 1);
            logs.push_back({std::log(one.measured_s / predicted), one.measured_s, static_cast<std::size_t>(one.bytes)});
        }
        return logs;
    }

    /// One constant by Newton's method on the middle of the residuals; of two in turns, each on those that lean on it
    /// most.
    [[nodiscard]] std::optional<Result> solve(const std::vector<const Candidate*>& chosen) const {
        constexpr int kRounds = 40;
        constexpr double kThere = 1e-4, kLongestStep = 1.5;
        std::vector<double> logs(chosen.size(), 0);
        Result result;
        for (int round = 0; round < kRounds; ++round) {
            const auto seconds = costs_.with(changes(chosen, logs));
            if (!seconds) {
                return {};
            }
            const std::vector<WeightedValue> left = residuals(*seconds);
            result.spread = robust_middle(left).spread;
            double largest = 0;
            std::vector<double> steps(chosen.size(), 0);
            for (std::size_t c = 0; c < chosen.size(); ++c) {
                steps[c] = std::clamp(step_of(chosen, c, logs, *seconds, left), -kLongestStep, kLongestStep);
                largest = std::max(largest, std::abs(steps[c]));
            }
            if (largest < kThere) {
                break;
            }
            for (std::size_t c = 0; c < chosen.size(); ++c) {
                logs[c] += chosen.size() == 1 ? steps[c] : 0.7 * steps[c];
            }
        }
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            result.constants.push_back({chosen[c], chosen[c]->constant.value * std::exp(logs[c])});
        }
        return result;
    }

    [[nodiscard]] std::vector<ChangedConstant> changes(const std::vector<const Candidate*>& chosen,
                                                       const std::vector<double>& logs) const {
        std::vector<ChangedConstant> list;
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            const Constant& constant = chosen[c]->constant;
            list.push_back({constant.path, constant.dimension, constant.value * std::exp(logs[c])});
        }
        return list;
    }

    /// What ln(constant) has to change by so that the residuals that lean on it are 0 in the middle.
    [[nodiscard]] double step_of(const std::vector<const Candidate*>& chosen, std::size_t c, std::vector<double> logs,
                                 const std::vector<double>& seconds, const std::vector<WeightedValue>& left) const {
        constexpr double kNudge = 0.02, kLeast = 0.05;
        logs[c] -= kNudge;
        auto nudged = costs_.with(changes(chosen, logs));
        double by = -kNudge;
        if (!nudged) {
            logs[c] += 2 * kNudge;
            by = kNudge;
            nudged = costs_.with(changes(chosen, logs));
        }
        if (!nudged) {
            return 0;
        }
        std::vector<WeightedValue> steps;
        for (std::size_t i = 0; i < observations_.size(); ++i) {
            const std::uint32_t operation = observations_[i].operation;
            const double elasticity = std::log((*nudged)[operation] / seconds[operation]) / by;
            if (std::abs(elasticity) > kLeast) {
                const double weight = left[i].weight * elasticity * elasticity;
                steps.push_back(
                    {left[i].value / elasticity, chosen.size() > 1 ? weight * std::abs(elasticity) : weight});
            }
        }
        return steps.empty() ? 0 : robust_middle(steps).value;
    }

    const Costs& costs_;
    const std::vector<Candidate>& candidates_;
    const std::vector<Observation>& observations_;
};

}  // namespace

void explain_messages(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                      const predict::SimulatedStep& step) {
    const std::map<Cell, std::vector<Observation>> cells = Collector(ranks, step.program, step.layout).cells();
    if (cells.empty()) {
        return;
    }
    const Costs costs(inputs, step);
    const std::vector<Candidate> candidates = candidates_of(inputs, costs);
    for (const auto& [cell, observations] : cells) {
        const auto result = CellFit(costs, candidates, observations).fit();
        if (!result) {
            continue;
        }
        double measured = 0, predicted = 0;
        for (const Observation& one : observations) {
            measured += one.measured_s / static_cast<double>(ranks.size());
            predicted += one.predicted_s / static_cast<double>(ranks.size());
        }
        for (const CellFit::Fitted& fitted : result->constants) {
            ExplainingConstant one;
            one.path = fitted.candidate->constant.path;
            one.dimension = fitted.candidate->constant.dimension;
            one.operations = std::string(schedule::to_string(cell.first)) + " of " + schedule::to_string(cell.second);
            one.value = fitted.candidate->constant.value;
            one.explaining = fitted.value;
            one.count = static_cast<double>(observations.size());
            one.spread = result->spread;
            one.measured_s = measured;
            one.predicted_s = predicted;
            diff.constants.push_back(one);
        }
    }
}

}  // namespace auspex::kineto
