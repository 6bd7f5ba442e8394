/// @file Steps played without something, beside the step as it is.
#include "sim/predict/what_if_notes.hpp"

#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/time.hpp"
#include "models/overlap.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::predict {
namespace {

/// Overlaps that the stack takes, and without which this step is the same.
void note_idle_overlaps(std::vector<std::string>& notes, const models::Inputs& inputs, const PredictOptions& options,
                        Picoseconds step) {
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        if (!(inputs.plan.*stream.is_wanted)) {
            continue;
        }
        models::Inputs without = inputs;
        without.plan.*stream.is_wanted = false;
        if (simulate_step(without, options, false).step == step) {
            notes.push_back(std::string("the overlap of ") + stream.word +
                            " changes nothing: the step is the same without it");
        }
    }
}

/// The plan with a field as a file has it that does not name it.
using Reset = void (*)(models::Plan&);
template <auto Field>
void reset(models::Plan& plan) {
    plan.*Field = models::Plan().*Field;
}

/// Settings that are not what a plan has without them, and without which step and memory are the same.
void note_idle_settings(std::vector<std::string>& notes, const models::Inputs& inputs, const PredictOptions& options,
                        const SimulatedStep& step) {
    using models::Plan;
    static constexpr std::pair<const char*, Reset> kSettings[] = {
        {"sequence_parallel", reset<&Plan::sequence_parallel>},
        {"recompute_layers", reset<&Plan::recompute_layers>},
        {"offload_layers", reset<&Plan::offload_layers>},
        {"optimizer", reset<&Plan::optimizer>},
        {"dispatch", reset<&Plan::dispatch>},
        {"expert_kernels", reset<&Plan::expert_kernels>},
        {"schedule",
         [](Plan& plan) {
             reset<&Plan::schedule>(plan);
             reset<&Plan::virtual_stages>(plan);
         }},
        {"stages",
         [](Plan& plan) {
             reset<&Plan::stages>(plan);
             reset<&Plan::stage_layers>(plan);
         }},
        {"routing", reset<&Plan::routing>},
        {"rank_order", reset<&Plan::rank_order>},
        {"placement", [](Plan& plan) {
             reset<&Plan::placement>(plan);
             reset<&Plan::placement_nodes>(plan);
         }}};
    const double memory_bytes = memory_report(inputs, step).peak_bytes;
    const auto note_if_idle = [&](const std::string& name, const models::Inputs& without) {
        if (without.plan == inputs.plan) {
            return;
        }
        try {
            const SimulatedStep other = simulate_step(without, options, false);
            if (other.step == step.step && memory_report(without, other).peak_bytes == memory_bytes) {
                notes.push_back(name + " changes nothing here: step and memory are those of a plan without it");
            }
        } catch (const InputError&) {
            return;  // it cannot be left out: it does something
        }
    };
    for (const auto& [name, as_without] : kSettings) {
        models::Inputs without = inputs;
        as_without(without.plan);
        note_if_idle(name, without);
    }
    for (const auto& [word, part] : models::kRecomputeWords) {
        models::Inputs without = inputs;
        without.plan.recompute.*part = false;
        note_if_idle("recompute \"" + std::string(word) + "\"", without);
    }
}

/// What a stack says of the ways of messages inside a node, where the step would be another without it.
void note_node_paths(std::vector<std::string>& notes, const models::Inputs& inputs, const PredictOptions& options,
                     Picoseconds step) {
    constexpr double kNoticed = 0.01;
    if (inputs.stack.node_paths.empty()) {
        return;
    }
    models::Inputs by_links = inputs;
    by_links.stack.node_paths.clear();
    const double step_s = to_seconds(step), by_links_s = to_seconds(simulate_step(by_links, options, false).step);
    if (std::abs(by_links_s / step_s - 1) > kNoticed) {
        notes.push_back("stack " + inputs.stack.name +
                        " sends some groups of a node through the host (node_paths, whose comments say on what "
                        "grounds): by the node's links the step would be " +
                        duration(by_links_s));
    }
}

}  // namespace

std::vector<std::string> what_if_notes(const models::Inputs& inputs, PredictOptions options) {
    options.timeline = options.trace_details = false;
    std::vector<std::string> notes;
    const SimulatedStep step = simulate_step(inputs, options, false);
    note_idle_overlaps(notes, inputs, options, step.step);
    note_idle_settings(notes, inputs, options, step);
    note_node_paths(notes, inputs, options, step.step);
    return notes;
}

}  // namespace auspex::predict
