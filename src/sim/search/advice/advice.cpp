/// @file Every change by itself, on whichever core is free.
#include "sim/search/advice/advice.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "base/time.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/sensitivity.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/bounds/grid_lenses.hpp"

namespace auspex::search {
namespace {

constexpr double kNoticed = 1e-3;
constexpr double kRounding = 1e-9;  // of bounds, which are on no clock
constexpr std::size_t kMostConstants = 12;

/// True if the two may be played on one network.
bool have_one_network(const models::Plan& a, const models::Plan& b) {
    const auto grid = [](const models::Plan& p) {
        return std::tie(p.dp, p.ep, p.etp, p.tp, p.cp, p.pp, p.rank_order, p.placement, p.placement_nodes);
    };
    return grid(a) == grid(b);
}

/// The step as it is, which changes are measured against.
struct Base {
    predict::SimulatedStep step;
    network::Network network;
    double memory_peak_bytes = 0;
    bool fits = false;
};

Base base_of(const models::Inputs& inputs) {
    predict::SimulatedStep step = predict::prepare_step(inputs, {});
    const predict::MemoryReport memory = predict::memory_report(inputs, step);
    network::Network network(inputs.machine, inputs.stack, step.layout);
    network.be_model();
    simulate_prepared(step, inputs, {}, false, &network);
    return {std::move(step), std::move(network), memory.peak_bytes, memory.fits};
}

/// What one thread keeps from change to change.
struct Kept {
    models::Inputs inputs;
    network::Network network;
};

/// What is asked of the changes of a plan: the best of each field, or the best of all that can be had.
enum class Wanted { kOfEachField, kTheBest };

/// Fills step and memory; a step of 0: it takes longer than `most`, is not wanted, or the machine has no room for it.
void play(Kept& kept, const models::Plan& own, HelpfulPlan& change, Wanted wanted, Picoseconds most) {
    kept.inputs.plan = change.plan;
    try {
        predict::SimulatedStep step = predict::prepare_step(kept.inputs, {});
        const auto is_out = [&] {
            const predict::MemoryReport memory = predict::memory_report(kept.inputs, step);
            change.memory_peak_bytes = memory.peak_bytes;
            change.fits = memory.fits;
            return wanted == Wanted::kTheBest && !change.can_be_had();
        };
        // Where an allocator is played memory takes longer than most steps, and is asked of those that are faster.
        const bool is_asked_first = kept.inputs.stack.allocator == models::Allocator::kNone;
        if (is_asked_first && is_out()) {
            return;
        }
        std::optional<network::Network> other;
        if (!have_one_network(step.plan, own)) {
            other.emplace(kept.inputs.machine, kept.inputs.stack, step.layout);
        }
        const bool is_within = simulate_within(step, kept.inputs, other ? *other : kept.network, most);
        if (is_within && (is_asked_first || !is_out())) {
            change.step = step.step;
            change.step_time_s = to_seconds(step.step);
        }
    } catch (const InputError&) {
        change.step = 0;  // no plan of this machine, whatever it would gain
    }
}

/// The less, the nearer to what can be had.
int kind_of(const HelpfulPlan& change) {
    return (change.fits ? 0 : 2) + (change.lacking.empty() && change.refused.empty() ? 0 : 1);
}

/// The best of each field and kind; those that gain no more than one of a better kind are dropped. What can be had and
/// changes results is all kept: of two such choices the faster one need not be the better one.
std::vector<HelpfulPlan> best_of_fields(std::vector<HelpfulPlan> changes) {
    std::ranges::stable_sort(changes, [](const HelpfulPlan& a, const HelpfulPlan& b) {
        return std::pair(kind_of(a), a.step_time_s) < std::pair(kind_of(b), b.step_time_s);
    });
    std::vector<HelpfulPlan> best;
    for (HelpfulPlan& change : changes) {
        const auto is_behind = [&](const HelpfulPlan& other) {
            return other.field == change.field && other.step_time_s <= change.step_time_s;
        };
        const auto is_its_like = [&](const HelpfulPlan& other) {
            return other.field == change.field && kind_of(other) == kind_of(change);
        };
        const bool is_kept = change.changes_results && change.can_be_had();
        if (is_kept || (std::ranges::none_of(best, is_behind) && std::ranges::none_of(best, is_its_like))) {
            best.push_back(std::move(change));
        }
    }
    std::ranges::stable_sort(best, [](const HelpfulPlan& a, const HelpfulPlan& b) {
        return std::pair(!a.can_be_had(), a.step_time_s) < std::pair(!b.can_be_had(), b.step_time_s);
    });
    return best;
}

/// Seconds that a step takes at least, as a search has it: for steps that take long to play. 0: not known.
double bound_s(const models::Inputs& allowing, const HelpfulPlan& change, double most_s) {
    if (!change.candidate) {
        return 0;
    }
    LayerCostTable table(allowing);
    GridLenses lenses(allowing, table, *change.candidate);
    return lenses.raised(lenses.floor.of(*change.candidate), *change.candidate, most_s);
}

/// In the order of their bounds, where steps are long enough for bounds to be worth it.
void bound_and_sort(std::vector<HelpfulPlan>& changes, const models::Inputs& allowing, const Base& base,
                    double most_s) {
    constexpr std::uint64_t kManyEvents = 20'000;
    if (base.step.events < kManyEvents) {
        return;
    }
    tbb::parallel_for(std::size_t{0}, changes.size(), [&](std::size_t i) {
        try {
            changes[i].bound_s = bound_s(allowing, changes[i], most_s);
        } catch (const InputError&) {
            changes[i].bound_s = 0;  // play says so, too
        }
    });
    std::ranges::stable_sort(changes, {}, &HelpfulPlan::bound_s);
}

/// Plays those that can take no longer than `most`, nor, where they leave results as they are, than the best one that
/// can be had so far, of the same field or of all, as it is wanted. Returns the step of the best of all, where that is
/// wanted.
Picoseconds play_all(std::vector<HelpfulPlan>& changes, const models::Inputs& inputs, const Base& base, Wanted wanted,
                     Picoseconds most) {
    models::Inputs allowing = inputs;
    allowing.stack = overlapping(inputs.stack);
    bound_and_sort(changes, allowing, base, to_seconds(most));
    const std::string all;
    std::map<std::string, std::atomic<Picoseconds>> best;
    best[all] = most;
    for (const HelpfulPlan& change : changes) {
        best[change.field] = most;
    }
    tbb::enumerable_thread_specific<Kept> kept([&] {
        return Kept{allowing, network::Network(inputs.machine, inputs.stack, base.step.layout, base.network)};
    });
    const auto play_one = [&](std::size_t i) {
        HelpfulPlan& change = changes[i];
        std::atomic<Picoseconds>& enough = best.find(wanted == Wanted::kTheBest ? all : change.field)->second;
        if (change.bound_s > to_seconds(enough) * (1 + kRounding)) {
            return;
        }
        play(kept.local(), base.step.plan, change, wanted, change.changes_results ? most : enough.load());
        if (change.step > 0 && change.can_be_had()) {
            Picoseconds known = enough;
            while (change.step < known && !enough.compare_exchange_weak(known, change.step)) {
            }
        }
    };
    const std::size_t first = wanted == Wanted::kTheBest ? std::min<std::size_t>(2, changes.size()) : 0;
    for (std::size_t i = 0; i < first; ++i) {  // those with the least bounds, so that they shut out others
        play_one(i);
    }
    tbb::parallel_for(first, changes.size(), play_one);
    return best[all];
}

/// Steps that take more are not changed further: dozens of them would be played.
constexpr std::uint64_t kMostEvents = 200'000;

/// What there is to change about a plan.
struct PlanAdvice {
    std::vector<HelpfulPlan> plans;
    std::vector<std::string> without_gain;
    int tried = 0;
    double step_s = 0;  ///< as it is
};

PlanAdvice look_for_plans(const models::Inputs& inputs, Wanted wanted, const PlanFilter& filter) {
    const Base base = base_of(inputs);
    PlanAdvice advice;
    advice.step_s = to_seconds(base.step.step);
    if (wanted == Wanted::kTheBest && base.step.events > kMostEvents) {
        return advice;
    }
    std::vector<HelpfulPlan> changes;
    for (PlanChange& change : plan_changes(inputs, base.step.layout.tiles, base.step.layout.global_batch, filter)) {
        if (std::ranges::find(advice.without_gain, change.field) == advice.without_gain.end()) {
            advice.without_gain.push_back(change.field);
        }
        if (wanted == Wanted::kOfEachField || !change.changes_results) {
            changes.push_back({std::move(change)});
        }
    }
    advice.tried = static_cast<int>(changes.size());
    const Picoseconds most =
        base.fits ? whole_ticks(static_cast<double>(base.step.step) / (1 + kNoticed)) : kLongestTime;
    const Picoseconds least = play_all(changes, inputs, base, wanted, most);
    if (wanted == Wanted::kTheBest) {  // which of the others were played to their ends is chance
        std::erase_if(changes, [&](const HelpfulPlan& change) { return change.step != least; });
    }
    std::erase_if(changes, [&](const HelpfulPlan& change) {
        const bool is_shorter = change.step_time_s * (1 + kNoticed) <= advice.step_s;
        return change.step == 0 || !(is_shorter || (!base.fits && change.fits));
    });
    advice.plans = best_of_fields(std::move(changes));
    std::erase_if(advice.without_gain, [&](const std::string& field) {
        return std::ranges::find(advice.plans, field, &HelpfulPlan::field) != advice.plans.end();
    });
    return advice;
}

/// The best change that leaves results as they are, and what is best on top of it.
std::vector<HelpfulPlan> one_after_another(models::Inputs inputs, std::vector<HelpfulPlan> found, double step_s,
                                           const PlanFilter& filter) {
    constexpr std::size_t kMost = 6;
    constexpr double kWorthIt = 1e-2;
    std::erase_if(found, [](const HelpfulPlan& change) { return change.changes_results; });
    std::vector<HelpfulPlan> chosen;
    while (chosen.size() < kMost && !found.empty() && found.front().can_be_had() &&
           found.front().step_time_s * (1 + kWorthIt) <= step_s) {
        chosen.push_back(found.front());
        step_s = chosen.back().step_time_s;
        inputs.plan = chosen.back().plan;
        if (chosen.size() < kMost) {
            found = look_for_plans(inputs, Wanted::kTheBest, filter).plans;
        }
    }
    return chosen;
}

/// Factors that make a constant better, the best first: twice as good, all of a share, less than twice. No rate of
/// arithmetic is above the tile's peak.
std::vector<double> better_factors(const Constant& constant, bool larger_is_better, double peak_flop_per_s) {
    constexpr double kTwice = 2;
    if (!larger_is_better) {
        return {1 / kTwice, 0.75, 0.9};
    }
    if (constant.dimension == Dimension::kFlopPerSecond) {
        return {std::min(kTwice, std::max(1.0, peak_flop_per_s / constant.value))};
    }
    std::vector<double> factors{kTwice};
    if (constant.dimension == Dimension::kNone && constant.value < 1) {
        factors.push_back(1 / constant.value);
    }
    factors.insert(factors.end(), {1.5, 1.25, 1.1});
    return factors;
}

HelpfulConstant play_better(const models::Inputs& inputs, const predict::ConstantSensitivity& leaned_on) {
    HelpfulConstant better{leaned_on.constant};
    for (const double factor :
         better_factors(leaned_on.constant, leaned_on.elasticity < 0, inputs.machine.tile.peak_bf16_flop_per_s)) {
        try {
            const models::Inputs changed = predict::with_scaled(inputs, leaned_on.constant, factor);
            better.step_time_s = to_seconds(predict::simulate_step(changed, {}, false).step);
            better.factor = factor;
            return better;
        } catch (const InputError&) {
            continue;  // more than its file may have
        }
    }
    return better;
}

std::string what_batches_rule_out(const models::Plan& plan) {
    const int rest = plan.micro_batches % plan.pp, below = plan.micro_batches - rest;
    if (plan.schedule == models::ScheduleKind::kInterleaved1f1b || rest == 0) {
        return "";
    }
    return "interleaved-1f1b, for " + std::to_string(plan.micro_batches) + " micro-batches are no multiple of pp " +
           std::to_string(plan.pp) + " (" + (below > 0 ? std::to_string(below) + " and " : "") +
           std::to_string(below + plan.pp) + " are)";
}

std::vector<HelpfulConstant> helpful_constants(const models::Inputs& inputs, const predict::Prediction& prediction) {
    std::vector<HelpfulConstant> constants(std::min(kMostConstants, prediction.top_constants.size()));
    tbb::parallel_for(std::size_t{0}, constants.size(),
                      [&](std::size_t i) { constants[i] = play_better(inputs, prediction.top_constants[i]); });
    return constants;
}

}  // namespace

Advice advise(const models::Inputs& inputs, const predict::Prediction& prediction, const PlanFilter& filter) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    models::Inputs own = inputs;
    own.plan.dp = prediction.dp;
    PlanAdvice of_plan = look_for_plans(own, Wanted::kOfEachField, filter);
    const double step_s = of_plan.step_s, at_peak_s = prediction.mfu * prediction.step_time_s;
    Advice advice;
    advice.one_after_another = one_after_another(own, of_plan.plans, step_s, filter);
    advice.plans = std::move(of_plan.plans);
    advice.without_gain = std::move(of_plan.without_gain);
    advice.tried = of_plan.tried;
    advice.not_tried = what_batches_rule_out(own.plan);
    advice.constants = helpful_constants(own, prediction);
    std::erase_if(advice.constants, [](const HelpfulConstant& one) { return one.step_time_s == 0; });
    const auto rate = [&](auto& change) {
        change.mfu = at_peak_s / change.step_time_s;
        change.gain = step_s / change.step_time_s - 1;
    };
    std::ranges::for_each(advice.plans, rate);
    std::ranges::for_each(advice.one_after_another, rate);
    std::ranges::for_each(advice.constants, rate);
    std::erase_if(advice.constants, [](const HelpfulConstant& one) { return one.gain < kNoticed; });
    std::ranges::stable_sort(advice.constants, std::ranges::greater(), &HelpfulConstant::gain);
    advice.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
    return advice;
}

}  // namespace auspex::search
