#pragma once
/// @file Plans to test with: the shipped ones with their workloads, and seeded random ones over small and large models.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "models/layout.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/stack_file/communication.hpp"
#include "models/workload.hpp"
#include "recompute_fixture.hpp"

namespace auspex::testing_plans {

inline const std::string kRoot = AUSPEX_SOURCE_DIR;

inline JsonDocument file(const std::string& folder, const std::string& name) {
    return JsonDocument::load(kRoot + "/" + folder + "/" + name + ".json");
}
/// A stack is in full, as it is where nothing is known of the machine.
inline JsonDocument document(const std::string& folder, const std::string& name) {
    return folder == "stacks" ? models::with_communication(file(folder, name)) : file(folder, name);
}
inline models::Machine machine(const std::string& name = "aurora") {
    return models::load_machine(document("machines", name));
}
inline models::Stack stack(const std::string& name) { return models::load_stack(document("stacks", name)); }
inline models::Workload workload(const std::string& name) { return models::load_workload(document("workloads", name)); }
inline models::Plan plan(const std::string& name) { return models::load_plan(document("plans", name)); }

/// Every shipped plan with the workload that it is for.
inline std::vector<std::pair<std::string, std::string>> shipped() {
    return {{"agpt-70b", "agpt-70b"},           {"deepseek-v3", "deepseek-v3"},
            {"gpt3-175b", "gpt3-175b"},         {"llama3-70b", "llama3-70b"},
            {"mixtral-8x7b", "mixtral-8x7b"},   {"mula-1b", "mula-1b"},
            {"mula-7b-a1b", "mula-7b-a1b"},     {"mula-20b-a2b", "mula-20b-a2b"},
            {"mula-100b-a7b", "mula-100b-a7b"}, {"mula-220b-a10b", "mula-220b-a10b"},
            {"olmoe-1b-7b", "olmoe-1b-7b"},     {"toy-dp4", "toy-dense"},
            {"toy-ep2-dp2", "toy-moe"},         {"toy-interleaved", "toy-dense"},
            {"toy-pp2-dp2", "toy-dense"},       {"toy-pp2-ep2", "toy-moe"},
            {"toy-tp2-dp2", "toy-dense"}};
}

/// A stack that can run every stream beside compute.
inline models::Stack overlapping_stack(const std::string& name) {
    models::Stack all = stack(name);
    all.can_overlap_tp = all.can_overlap_ep = all.can_overlap_dp = all.can_overlap_pp = true;
    return all;
}

struct Case {
    models::Workload workload;
    models::Plan plan;  ///< resolved
    models::Stack stack;
};

namespace detail {

template <typename T>
T one_of(Rng& rng, std::initializer_list<T> choices) {
    return choices.begin()[rng.below(choices.size())];
}
inline bool coin(Rng& rng) { return rng.below(2) == 1; }

inline const std::vector<models::Workload>& workloads() {
    static const std::vector<models::Workload> kAll = [] {
        std::vector<models::Workload> list;
        for (const char* name : {"toy-dense", "toy-moe", "mula-1b", "mula-20b-a2b", "mixtral-8x7b", "gpt3-175b",
                                 "deepseek-v3", "llama3-70b"}) {
            list.push_back(workload(name));
        }
        models::Workload shared = list[1];  // leading dense layer, shared experts, tied table, logits that travel
        shared.intermediate_size = 128;
        shared.shared_experts = 2;
        shared.first_dense_layers = 1;
        shared.tied_embeddings = shared.global_aux_loss = true;
        list.push_back(shared);
        return list;
    }();
    return kAll;
}

/// Prediction modules, capacity and a router's bias.
inline models::Workload with_choices(models::Workload model, Rng& rng) {
    model.mtp_layers = one_of(rng, {0, 0, 0, 1, 2});
    if (model.num_experts > 0) {
        model.router_bias = coin(rng);
        model.capacity_factor = one_of(rng, {0.0, 0.0, 1.0, 1.25});  // with even routing no token is dropped
        model.pad_to_capacity = model.capacity_factor > 0 && coin(rng);
    }
    return model;
}

inline models::Plan draw_plan(Rng& rng, bool overlap) {
    models::Plan p;
    p.file = "random.json";
    p.dp = one_of(rng, {1, 2, 3, 4});
    p.ep = one_of(rng, {1, 1, 2, 4});
    p.tp = one_of(rng, {1, 1, 2, 4});
    p.etp = coin(rng) ? p.tp : one_of(rng, {1, 1, 2, 4});
    p.etp_given = true;
    p.pp = one_of(rng, {1, 2, 2, 3, 4});
    p.cp = one_of(rng, {1, 1, 2});
    p.sequence_parallel = coin(rng);
    p.micro_batch_size = one_of(rng, {1, 2});
    p.micro_batches = one_of(rng, {1, 2, 3, 4, 6, 8});
    p.schedule = one_of(
        rng, {models::ScheduleKind::kGpipe, models::ScheduleKind::k1f1b, models::ScheduleKind::kInterleaved1f1b});
    p.virtual_stages = p.schedule == models::ScheduleKind::kInterleaved1f1b ? one_of(rng, {2, 3}) : 1;
    p.recompute.norm = coin(rng), p.recompute.attention = coin(rng), p.recompute.expert = coin(rng);
    p.optimizer = one_of(rng, {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
                               models::OptimizerSharding::kEpAware, models::OptimizerSharding::kFsdp});
    p.dispatch = one_of(rng, {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll});
    p.expert_kernels =
        one_of(rng, {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused});
    p.rank_order =
        one_of(rng, {std::array{models::Axis::kDp, models::Axis::kPp, models::Axis::kEp, models::Axis::kTp},
                     std::array{models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp}});
    if (overlap) {
        p.overlap_tp = coin(rng), p.overlap_ep = coin(rng), p.overlap_dp = coin(rng), p.overlap_pp = coin(rng);
    }
    Rng others = rng;  // a draw of these leaves what is drawn behind them as it was
    p.context = one_of(others, {models::ContextParallel::kAllGather, models::ContextParallel::kRing,
                                models::ContextParallel::kAllToAll});
    if (p.cp == 2 && others.below(4) == 0) {  // over twice as many ranks a ring of pairs
        p.cp = 4, p.context = models::ContextParallel::kTwoLevel, p.context_all_to_all = 2;
    }
    p.dispatch = others.below(4) == 0 ? models::Dispatch::kHierarchical : p.dispatch;
    if (p.optimizer == models::OptimizerSharding::kFsdp) {
        p.optimizer = others.below(3) == 0 ? models::OptimizerSharding::kZero2 : p.optimizer;
    }
    if (p.optimizer == models::OptimizerSharding::kFsdp) {
        p.reshard_after_forward = others.below(3) > 0;
        p.prefetch = static_cast<int>(others.below(4));
    }
    if (shards_in_groups(p.optimizer) && others.below(3) == 0) {
        p.shard_replicas = p.dp % 3 == 0 ? 3 : p.dp % 2 == 0 ? 2 : 1;
    }
    return p;
}

}  // namespace detail

/// The seed's case. Draws that no workload could run (resolve_plan refuses them) are drawn again.
inline Case random_case(std::uint64_t seed, bool overlap = true) {
    Rng rng(seed);
    for (;;) {
        const models::Workload& shipped_model = detail::workloads()[rng.below(detail::workloads().size())];
        Rng choices = rng;  // leaves what is drawn behind as it was
        const models::Workload model = detail::with_choices(shipped_model, choices);
        models::Plan drawn = detail::draw_plan(rng, overlap);
        if (choices.below(3) == 0) {
            draw_recompute(choices, model, drawn);
        }
        const char* name = rng.below(2) == 0 ? "optimus" : "megatron-deepspeed";
        try {
            const models::Plan resolved = resolve_plan(drawn, model, 0);
            return {model, resolved, overlap ? overlapping_stack(name) : stack(name)};
        } catch (const InputError&) {
            continue;
        }
    }
}

inline models::Layout layout_of(const models::Plan& plan) {
    static const models::Machine kAurora = machine();
    return make_layout(plan, kAurora, plan.pp * plan.dp * plan.ep * plan.etp);
}

}  // namespace auspex::testing_plans
