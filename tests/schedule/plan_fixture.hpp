#pragma once
/// @file Plans to test with: the shipped ones with their workloads, and seeded random ones over small and large models.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "models/layout.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"

namespace auspex::testing_plans {

inline const std::string kRoot = AUSPEX_SOURCE_DIR;

inline JsonDocument document(const std::string& folder, const std::string& name) {
    return JsonDocument::load(kRoot + "/" + folder + "/" + name + ".json");
}
inline Machine machine(const std::string& name = "aurora") { return load_machine(document("machines", name)); }
inline Stack stack(const std::string& name) { return load_stack(document("stacks", name)); }
inline Workload workload(const std::string& name) { return load_workload(document("workloads", name)); }
inline Plan plan(const std::string& name) { return load_plan(document("plans", name)); }

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
inline Stack overlapping_stack(const std::string& name) {
    Stack all = stack(name);
    all.can_overlap_tp = all.can_overlap_ep = all.can_overlap_dp = all.can_overlap_pp = true;
    return all;
}

struct Case {
    Workload workload;
    Plan plan;  ///< resolved
    Stack stack;
};

namespace detail {

template <typename T>
T one_of(Rng& rng, std::initializer_list<T> choices) {
    return choices.begin()[rng.below(choices.size())];
}
inline bool coin(Rng& rng) { return rng.below(2) == 1; }

inline const std::vector<Workload>& workloads() {
    static const std::vector<Workload> kAll = [] {
        std::vector<Workload> list;
        for (const char* name : {"toy-dense", "toy-moe", "mula-1b", "mula-20b-a2b", "mixtral-8x7b", "gpt3-175b",
                                 "deepseek-v3", "llama3-70b"}) {
            list.push_back(workload(name));
        }
        Workload shared = list[1];  // leading dense layer, shared experts, tied table, logits that travel
        shared.intermediate_size = 128;
        shared.shared_experts = 2;
        shared.first_dense_layers = 1;
        shared.tied_embeddings = shared.global_aux_loss = true;
        list.push_back(shared);
        return list;
    }();
    return kAll;
}

inline Plan draw_plan(Rng& rng, bool overlap) {
    Plan p;
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
    p.schedule = one_of(rng, {ScheduleKind::kGpipe, ScheduleKind::k1f1b, ScheduleKind::kInterleaved1f1b});
    p.virtual_stages = p.schedule == ScheduleKind::kInterleaved1f1b ? one_of(rng, {2, 3}) : 1;
    p.recompute_norm = coin(rng), p.recompute_attention = coin(rng), p.recompute_expert = coin(rng);
    p.optimizer = one_of(rng, {OptimizerSharding::kReplicated, OptimizerSharding::kSharded, OptimizerSharding::kEpAware,
                               OptimizerSharding::kFsdp});
    p.dispatch = one_of(rng, {Dispatch::kAllGatherReduceScatter, Dispatch::kAllToAll});
    p.expert_kernels = one_of(rng, {ExpertKernels::kLoop, ExpertKernels::kGrouped, ExpertKernels::kFused});
    p.rank_order = one_of(rng, {std::array{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp},
                                std::array{Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp}});
    if (overlap) {
        p.overlap_tp = coin(rng), p.overlap_ep = coin(rng), p.overlap_dp = coin(rng), p.overlap_pp = coin(rng);
    }
    return p;
}

}  // namespace detail

/// The seed's case. Draws that no workload could run (resolve_plan refuses them) are drawn again.
inline Case random_case(std::uint64_t seed, bool overlap = true) {
    Rng rng(seed);
    for (;;) {
        const Workload& model = detail::workloads()[rng.below(detail::workloads().size())];
        const Plan drawn = detail::draw_plan(rng, overlap);
        const char* name = rng.below(2) == 0 ? "optimus" : "megatron-deepspeed";
        try {
            const Plan resolved = resolve_plan(drawn, model, 0);
            return {model, resolved, overlap ? overlapping_stack(name) : stack(name)};
        } catch (const InputError&) {
            continue;
        }
    }
}

inline Layout layout_of(const Plan& plan) {
    static const Machine kAurora = machine();
    return make_layout(plan, kAurora, plan.pp * plan.dp * plan.ep * plan.etp);
}

}  // namespace auspex::testing_plans
