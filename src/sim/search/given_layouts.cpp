/// @file Each layout by itself, on whichever core is free.
#include "sim/search/given_layouts.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "schedule/memory/memory.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

LayoutEstimate estimate(models::Inputs& inputs, const GivenLayout& layout) {
    LayoutEstimate result;
    inputs.workload = layout.workload;
    inputs.plan = layout.plan;
    try {
        predict::SimulatedStep step = predict::prepare_step(inputs, {.tiles = layout.tiles});
        for (int stage = 0; stage < step.plan.pp; ++stage) {
            const double bytes = stage_memory(inputs.workload, step.plan, inputs.stack, inputs.machine, step.layout,
                                              step.program, stage, step.load)
                                     .peak_bytes;
            if (bytes > result.memory_peak_bytes) {
                result.memory_peak_bytes = bytes;
                result.fullest_stage = stage;
            }
        }
        simulate_prepared(step, inputs, {}, false);
        result.step_time_s = to_seconds(step.step);
    } catch (const InputError& error) {
        result.refused = error.what();
    }
    return result;
}

}  // namespace

std::vector<LayoutEstimate> estimate_layouts(const models::Inputs& inputs, const std::vector<GivenLayout>& layouts) {
    tbb::enumerable_thread_specific<models::Inputs> own(inputs);
    std::vector<LayoutEstimate> estimates(layouts.size());
    tbb::parallel_for(std::size_t{0}, layouts.size(),
                      [&](std::size_t i) { estimates[i] = estimate(own.local(), layouts[i]); });
    return estimates;
}

}  // namespace auspex::search
