#pragma once
/// @file Plans to write and read back, and in what two plans differ.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/frameworks/emission_text.hpp"
#include "interop/frameworks/frameworks.hpp"
#include "interop/frameworks/job_script.hpp"
#include "models/layout.hpp"
#include "models/pipeline/stage_layers.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::testing_interop {

struct Case {
    models::Workload workload;
    models::Plan plan;  ///< resolved
};

inline JsonDocument input(const std::string& folder, const std::string& name) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + folder + "/" + name + ".json");
}
inline models::Workload workload_named(const std::string& name) {
    return models::load_workload(input("workloads", name));
}

/// A plan file of the repository with fields changed, for a workload of the repository.
inline Case case_of(const std::string& workload, const std::string& plan,
                    const std::vector<std::pair<const char*, const char*>>& changes = {}) {
    JsonDocument document = input("plans", plan);
    for (const auto& [path, value] : changes) {
        document.set(path, value);
    }
    Case one;
    one.workload = workload_named(workload);
    one.plan = resolve_plan(models::load_plan(document), one.workload, 0);
    return one;
}

inline std::vector<int> layers_of(const models::Plan& plan, const models::Workload& workload) {
    return plan.stage_layers.empty() ? layers_dealt(workload, models::StageDeal::kEven, plan.pp * plan.virtual_stages)
                                     : plan.stage_layers;
}

/// The plan's order of those axes that have several ranks.
inline std::string order_of(const models::Plan& plan) {
    std::string text;
    for (const models::Axis axis : plan.rank_order) {
        const int ranks = axis == models::Axis::kDp   ? plan.dp
                          : axis == models::Axis::kPp ? plan.pp
                          : axis == models::Axis::kEp ? plan.ep
                                                      : plan.tp;
        text += ranks > 1 ? std::to_string(static_cast<int>(axis)) : "";
    }
    return text;
}

/// Where ep is 1 there is nothing that tells these two apart.
inline bool are_one_sharding(models::OptimizerSharding a, models::OptimizerSharding b) {
    using models::OptimizerSharding;
    const auto is_either = [](OptimizerSharding one) {
        return one == OptimizerSharding::kSharded || one == OptimizerSharding::kEpAware;
    };
    return is_either(a) && is_either(b);
}

/// Of a layer: "layer" and all of norm, attention and expert are one to frameworks.
inline models::Recompute recomputed_parts(const models::Plan& plan) {
    models::Recompute all = recompute_of(plan, 0);
    all.layer = false;
    return all;
}

/// The first field in which two resolved plans of a workload differ; none. What a model does not have counts nothing:
/// kernels, routing and dispatch of experts.
inline std::string difference(const models::Plan& a, const models::Plan& b, const models::Workload& workload) {
    const bool experts = workload.num_experts > 0;
    const std::pair<const char*, bool> fields[] = {
        {"dp", a.dp == b.dp},
        {"ep", a.ep == b.ep},
        {"etp", a.etp == b.etp},
        {"tp", a.tp == b.tp},
        {"pp", a.pp == b.pp},
        {"cp", a.cp == b.cp},
        {"context_parallel", a.cp == 1 || (a.context == b.context && context_split(a) == context_split(b))},
        {"fp8", a.fp8 == b.fp8 && a.fp8_weights_only == b.fp8_weights_only},
        {"optimizer_states", a.bf16_states == b.bf16_states},
        {"virtual_stages", a.virtual_stages == b.virtual_stages},
        {"stages", layers_of(a, workload) == layers_of(b, workload)},
        {"sequence_parallel", a.sequence_parallel == b.sequence_parallel},
        {"micro_batch_size", a.micro_batch_size == b.micro_batch_size},
        {"micro_batches", a.micro_batches == b.micro_batches},
        {"schedule", a.schedule == b.schedule},
        {"recompute", recomputed_parts(a) == recomputed_parts(b) && a.recompute_layers == b.recompute_layers},
        {"offload_layers", a.offload_layers == b.offload_layers},
        {"precision", a.precision == b.precision && a.weight_bytes == b.weight_bytes},
        {"gradient_dtype", a.gradient_bytes == b.gradient_bytes},
        {"optimizer", a.optimizer == b.optimizer || (a.ep == 1 && are_one_sharding(a.optimizer, b.optimizer))},
        {"overlap", a.overlap_dp == b.overlap_dp && a.overlap_tp == b.overlap_tp && a.overlap_ep == b.overlap_ep &&
                        a.overlap_pp == b.overlap_pp},
        {"reshard_after_forward", a.reshard_ranks == b.reshard_ranks},
        {"rank_order", order_of(a) == order_of(b)},
        {"dispatch", !experts || a.ep == 1 || a.dispatch == b.dispatch},
        {"expert_kernels", !experts || a.expert_kernels == b.expert_kernels},
        {"routing", !experts || a.routing.kind == b.routing.kind}};
    for (const auto& [field, is_same] : fields) {
        if (!is_same) {
            return field;
        }
    }
    return "";
}

inline interop::Emission emission_of(const Case& one, const char* format, int tiles_of_node = 0) {
    return interop::framework_named(format, "--format").emit({one.workload, one.plan, tiles_of_node, 0, "auspex emit"});
}
inline std::string text_of(const Case& one, const char* format) { return emission_text(emission_of(one, format)); }

/// The plan that a text says, for the workload.
inline models::Plan parsed(const std::string& text, const char* format, const models::Workload& workload,
                           int ranks = 0) {
    interop::PlanText from;
    from.text = text, from.name = "job.sh", from.ranks = ranks, from.workload = &workload;
    return resolve_plan(interop::framework_named(format, "--format").import(from).plan, workload, 0);
}

/// What refuses to be written, or "accepted".
inline std::string refusal(const Case& one, const char* format) {
    try {
        static_cast<void>(emission_of(one, format));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

/// What refuses to be read, or "accepted".
inline std::string refusal_of_text(const std::string& text, const char* format, int ranks = 8,
                                   const char* workload = "mixtral-8x7b") {
    try {
        static_cast<void>(parsed(text, format, workload_named(workload), ranks));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

/// A job of a case, on nodes of so many tiles.
inline interop::Job job_of(const Case& one, const char* format, int tiles_of_node) {
    interop::Job job;
    job.name = "job", job.emission = emission_of(one, format, tiles_of_node);
    job.ranks = tiles_of(one.plan), job.ranks_per_node = std::min(job.ranks, tiles_of_node);
    job.nodes = (job.ranks + job.ranks_per_node - 1) / job.ranks_per_node, job.walltime_s = 5000;
    return job;
}

/// Whether the message names a field of a plan or workload.
inline bool names_field(const std::string& error, const char* field) {
    return error.find(std::string("$.") + field + ": found") != std::string::npos;
}
/// Whether the message names an argument of the text.
inline bool names_setting(const std::string& error, const char* setting) {
    return error.find(std::string("job.sh: ") + setting + ": found") != std::string::npos;
}

}  // namespace auspex::testing_interop
