/// @file Steps played without something, beside the step as it is.
#include "sim/predict/what_if_notes.hpp"

#include <cmath>
#include <utility>

#include "base/number_text.hpp"
#include "base/time.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::predict {
namespace {

/// Overlaps that the stack takes, and without which this step is the same.
void note_idle_overlaps(std::vector<std::string>& notes, const models::Inputs& inputs, const PredictOptions& options,
                        Picoseconds step) {
    for (const auto& [word, is_overlapped] : {std::pair("tp", &models::Plan::overlap_tp),
                                              {"ep", &models::Plan::overlap_ep},
                                              {"dp", &models::Plan::overlap_dp},
                                              {"pp", &models::Plan::overlap_pp}}) {
        if (!(inputs.plan.*is_overlapped)) {
            continue;
        }
        models::Inputs without = inputs;
        without.plan.*is_overlapped = false;
        if (simulate_step(without, options, false).step == step) {
            notes.push_back(std::string("the overlap of ") + word +
                            " changes nothing: the step is the same without it");
        }
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
    const models::Plan& plan = inputs.plan;
    if (!plan.overlap_tp && !plan.overlap_ep && !plan.overlap_dp && !plan.overlap_pp &&
        inputs.stack.node_paths.empty()) {
        return notes;
    }
    const Picoseconds step = simulate_step(inputs, options, false).step;
    note_idle_overlaps(notes, inputs, options, step);
    note_node_paths(notes, inputs, options, step);
    return notes;
}

}  // namespace auspex::predict
