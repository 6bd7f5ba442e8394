/// @file Finite differences over constants.
#include "sim/predict/sensitivity.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "models/attention/attention_choice.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::predict {
namespace {

bool enters_a_step(const std::string& path) {
    return !path.starts_with("machine.storage.") && !path.starts_with("machine.reliability.") &&
           !path.starts_with("machine.startup.") && !path.starts_with("stack.processes.");
}

/// Constants that change links or messages; the others leave a network as it is.
bool enters_the_network(const std::string& path) {
    return path.rfind("machine.node.", 0) == 0 || path.rfind("machine.fabric.", 0) == 0 ||
           path.rfind("stack.transport.", 0) == 0;
}

/// Constants that change operations; the others leave plan, layout and program as they are.
bool enters_the_program(const std::string& path) {
    return path.rfind("stack.", 0) == 0 && path.rfind("stack.transport.", 0) != 0;
}

/// Of an attention kernel that the stack does not use.
bool is_of_idle_attention(const models::Inputs& inputs, const std::string& path) {
    std::string own = efficiency_path(attention_kernel(inputs.machine.tile, inputs.stack));
    own.resize(own.rfind('.') + 1);
    return path.starts_with("machine.tile.attention_kernels.") && !path.starts_with(own);
}

/// What one thread keeps from constant to constant.
struct Kept {
    network::Network network;
    SimulatedStep step;
};

double elasticity(const models::Inputs& inputs, const PredictOptions& options, const Constant& constant,
                  Picoseconds step, const network::Network& model, Kept& kept) {
    for (const double factor : {0.9, 1.1}) {
        try {
            const models::Inputs scaled = with_scaled(inputs, constant, factor);
            std::optional<SimulatedStep> own;
            if (enters_the_program(constant.path)) {
                own = prepare_step(scaled, options);
            }
            SimulatedStep& changed = own ? *own : kept.step;
            std::optional<network::Network> network;
            if (enters_the_network(constant.path)) {
                network.emplace(scaled.machine, scaled.stack, changed.layout, model);
            }
            simulate_prepared(changed, scaled, options, false, network ? &*network : &kept.network);
            return std::log(static_cast<double>(changed.step) / static_cast<double>(step)) / std::log(factor);
        } catch (const InputError&) {
            continue;  // outside the constant's range on this side
        }
    }
    return 0;
}

}  // namespace

models::Inputs with_scaled(const models::Inputs& inputs, const Constant& constant, double factor) {
    models::Inputs changed = inputs;
    const std::size_t dot = constant.path.find('.');
    const std::string inside = constant.path.substr(dot + 1);
    if (constant.path.compare(0, dot, "machine") == 0) {
        changed.machine_document.set_quantity(inside, constant.value * factor, constant.dimension);
        changed.machine = models::load_machine(changed.machine_document);
    } else {
        changed.stack_document.set_quantity(inside, constant.value * factor, constant.dimension);
        changed.stack = models::load_stack(changed.stack_document, changed.machine);
    }
    return changed;
}

models::Inputs sensitivity_inputs(const models::Inputs& inputs, int resolved_micro_batches, std::uint64_t events) {
    constexpr std::uint64_t kManyEvents = 200'000;
    models::Inputs shortened = inputs;
    const int enough = 2 * inputs.plan.pp;
    if (events > kManyEvents && resolved_micro_batches > enough) {
        shortened.plan.micro_batches = enough;
    }
    return shortened;
}

std::vector<ConstantSensitivity> constant_sensitivities(const models::Inputs& inputs, const PredictOptions& options) {
    std::vector<ConstantSensitivity> sensitivities;
    for (const auto* constants : {&inputs.machine.constants, &inputs.stack.constants}) {
        for (const Constant& constant : *constants) {
            if (constant.value != 0 && enters_a_step(constant.path) && !is_of_idle_attention(inputs, constant.path)) {
                sensitivities.push_back({constant, 0});
            }
        }
    }
    PredictOptions plain = options;
    plain.timeline = plain.trace_details = false;
    SimulatedStep nominal = prepare_step(inputs, plain);
    network::Network model(inputs.machine, inputs.stack, nominal.layout);
    model.be_model();
    simulate_prepared(nominal, inputs, plain, false, &model);
    tbb::enumerable_thread_specific<Kept> kept([&] {
        return Kept{network::Network(inputs.machine, inputs.stack, nominal.layout, model), nominal};
    });
    tbb::parallel_for(std::size_t{0}, sensitivities.size(), [&](std::size_t i) {
        sensitivities[i].elasticity =
            elasticity(inputs, plain, sensitivities[i].constant, nominal.step, model, kept.local());
    });
    std::stable_sort(sensitivities.begin(), sensitivities.end(),
                     [](const ConstantSensitivity& a, const ConstantSensitivity& b) {
                         return std::fabs(a.elasticity) > std::fabs(b.elasticity);
                     });
    while (!sensitivities.empty() && std::fabs(sensitivities.back().elasticity) < 1e-4) {
        sensitivities.pop_back();
    }
    return sensitivities;
}

Interval step_interval_s(double step_time_s, const std::vector<ConstantSensitivity>& sensitivities) {
    double variance = 0;
    for (const ConstantSensitivity& sensitivity : sensitivities) {
        const double part = sensitivity.elasticity * sensitivity.constant.relative_uncertainty;
        variance += part * part;
    }
    const double spread = std::exp(1.645 * std::sqrt(variance));
    return {step_time_s / spread, step_time_s * spread};
}

}  // namespace auspex::predict
