/// @file The list of layouts: grids, schedules, dispatch and kernels of experts, optimizers, what is recomputed,
/// precisions.
#include "layouts.hpp"

namespace auspex::testing_agreement {
namespace {

using Change = std::function<void(models::Workload&, models::Plan&)>;

/// Four layers, so that stages can be virtual; a vocabulary that makes some all-reduces long.
AgreementCase made(const std::string& name, models::Workload workload, const std::vector<Change>& changes) {
    AgreementCase c{name, std::move(workload), exec_fixture::single_plan()};
    c.workload.layers = 4;
    c.workload.vocab_size = 100;
    c.plan.routing.kind = models::RoutingDistribution::kUniform;
    for (const Change& change : changes) {
        change(c.workload, c.plan);
    }
    return c;
}
AgreementCase dense(const std::string& name, const std::vector<Change>& changes) {
    return made("dense_" + name, exec_fixture::dense_model(), changes);
}
AgreementCase mixture(const std::string& name, const std::vector<Change>& changes) {
    return made("moe_" + name, exec_fixture::mixture_model(), changes);
}

Change tp(int n, bool sliced = false) {
    return [=](models::Workload&, models::Plan& p) { p.tp = p.etp = n, p.sequence_parallel = sliced; };
}
Change dp(int n, models::OptimizerSharding how) {
    return [=](models::Workload&, models::Plan& p) { p.dp = n, p.optimizer = how; };
}
Change ep(int n, models::Dispatch dispatch, models::ExpertKernels kernels) {
    return [=](models::Workload&, models::Plan& p) { p.ep = n, p.dispatch = dispatch, p.expert_kernels = kernels; };
}
Change pp(int n, models::ScheduleKind kind, int virtual_stages = 1) {
    return [=](models::Workload&, models::Plan& p) {
        p.pp = n, p.schedule = kind, p.virtual_stages = virtual_stages, p.micro_batches = 4;
    };
}
Change bf16(double gradient_bytes = 2) {
    return [=](models::Workload&, models::Plan& p) {
        p.precision = "bf16", p.weight_bytes = 2, p.gradient_bytes = gradient_bytes;
    };
}
Change recompute(bool norm, bool attention, bool expert) {
    return [=](models::Workload&, models::Plan& p) {
        p.recompute.norm = norm, p.recompute.attention = attention, p.recompute.expert = expert;
    };
}
Change offload(int layers) {
    return [=](models::Workload&, models::Plan& p) { p.offload_layers = layers; };
}
/// Sequences of which each rank has a part from both ends.
Change cp(int n, models::ContextParallel how, int all_to_all = 1) {
    return [=](models::Workload& w, models::Plan& p) {
        p.cp = n, p.dp = n, p.context = how, p.context_all_to_all = all_to_all;
        w.sequence_length = 4 * n;
    };
}
/// Beside any tp.
Change etp(int n) {
    return [=](models::Workload& w, models::Plan& p) {
        p.etp = n, p.etp_given = true;
        w.sequence_length = 16;
    };
}
/// Within data parallelism, as experts are.
Change more_dp(int times) {
    return
        [=](models::Workload&, models::Plan& p) { p.dp *= times, p.optimizer = models::OptimizerSharding::kSharded; };
}
void one_key_head(models::Workload& w, models::Plan&) { w.kv_heads = 1; }
void qk_norm(models::Workload& w, models::Plan&) { w.qk_norm = true; }
void global_loss(models::Workload& w, models::Plan&) { w.global_aux_loss = true; }
void layer_norm(models::Workload& w, models::Plan&) { w.norm = models::NormKind::kNonParametric; }
void dense_first(models::Workload& w, models::Plan&) { w.first_dense_layers = 1, w.intermediate_size = 12; }
void shared(models::Workload& w, models::Plan&) { w.shared_experts = 2; }
/// Mean widths of queries and values are whole numbers, as recorded sizes are.
void latent_queries(models::Workload& w, models::Plan&) { w = exec_fixture::latent(w, 6), w.value_head_size = 4; }
void latent_keys(models::Workload& w, models::Plan&) { w = exec_fixture::latent(w, 0), w.value_head_size = 2; }
void windows(models::Workload& w, models::Plan&) { w = exec_fixture::windowed(w); }
void tied(models::Workload& w, models::Plan&) { w.tied_embeddings = true; }
void gpt(models::Workload& w, models::Plan&) {
    w.norm = models::NormKind::kLayer, w.feed_forward = models::FeedForward::kGelu;
    w.biases = w.learned_positions = w.tied_embeddings = true;
}
void half_capacity(models::Workload& w, models::Plan&) { w.capacity_factor = 0.5; }
void predictions(models::Workload& w, models::Plan&) { w.mtp_layers = 2; }
void router_bias(models::Workload& w, models::Plan&) { w.router_bias = true; }
void swiglu(models::Workload& w, models::Plan&) { w.feed_forward = models::FeedForward::kSwiGlu; }
void learned(models::Workload&, models::Plan& p) { p.routing.kind = models::RoutingDistribution::kLearned; }

constexpr auto kReplicated = models::OptimizerSharding::kReplicated, kSharded = models::OptimizerSharding::kSharded,
               kEpAware = models::OptimizerSharding::kEpAware, kZero2 = models::OptimizerSharding::kZero2,
               kFsdp = models::OptimizerSharding::kFsdp;
constexpr auto kToAll = models::Dispatch::kAllToAll, kGathered = models::Dispatch::kAllGatherReduceScatter;
constexpr auto kLoop = models::ExpertKernels::kLoop, kGrouped = models::ExpertKernels::kGrouped,
               kFused = models::ExpertKernels::kFused;

std::vector<AgreementCase> dense_cases() {
    return {
        dense("alone", {}),
        dense("alone_bf16", {bf16()}),
        dense("layer_norm", {layer_norm}),
        dense("dp4_sharded", {dp(4, kSharded)}),
        dense("dp3_replicated_bf16", {dp(3, kReplicated), bf16()}),
        dense("dp2_fp32_gradients", {dp(2, kSharded), bf16(4)}),
        dense("tp2", {tp(2), qk_norm}),
        dense("tp2_sliced", {tp(2, true), qk_norm}),
        dense("tp2_sliced_recompute_bf16", {tp(2, true), recompute(true, true, true), bf16(), qk_norm}),
        dense("gpt", {gpt}),
        dense("gpt_tp2_sliced_bf16", {gpt, tp(2, true), bf16()}),
        dense("gpt_tp2_pp2_zb_h1_recompute",
              {gpt, tp(2), pp(2, models::ScheduleKind::kZbH1), recompute(true, true, true), dp(2, kSharded)}),
        dense("tied", {tied}),
        dense("tied_pp2_dp2_bf16", {tied, pp(2, models::ScheduleKind::kZbH1), dp(2, kSharded), bf16()}),
        dense("tied_tp2_pp3", {tied, tp(2), pp(3, models::ScheduleKind::k1f1b)}),
        dense("latent", {latent_keys}),
        dense("latent_tp2_sliced_bf16", {latent_keys, tp(2, true), bf16()}),
        dense("predictions", {predictions}),
        dense("predictions_gpt_tp2_sliced_bf16", {gpt, predictions, tp(2, true), bf16()}),
        dense("predictions_tp2_pp2_zb_h1_recompute",
              {predictions, tp(2), pp(2, models::ScheduleKind::kZbH1), recompute(true, true, true)}),
        dense("predictions_tied_pp2_zbv_dp2",
              {tied, predictions, pp(2, models::ScheduleKind::kZbv, 2), dp(2, kSharded)}),
        dense("pp2_gpipe", {pp(2, models::ScheduleKind::kGpipe)}),
        dense("pp2_virtual", {pp(2, models::ScheduleKind::kInterleaved1f1b, 2)}),
        dense("pp2_zb_h1_recompute", {pp(2, models::ScheduleKind::kZbH1), recompute(true, true, true), bf16()}),
        dense("offload_all_tp2_sliced", {tp(2, true), offload(9)}),
        dense("offload_latent_pp2_zb_h1_bf16", {latent_keys, pp(2, models::ScheduleKind::kZbH1), offload(1), bf16()}),
        dense("pp4_zb_h2_dp2", {pp(4, models::ScheduleKind::kZbH2), dp(2, kSharded)}),
        dense("tp2_sliced_pp2_zbv", {tp(2, true), pp(2, models::ScheduleKind::kZbv, 2), qk_norm}),
        dense("tp2_pp2_dualpipev", {tp(2), pp(2, models::ScheduleKind::kDualPipeV, 2), bf16(4)}),
        dense("pp4_dp2", {pp(4, models::ScheduleKind::k1f1b), dp(2, kEpAware)}),
        dense("tp2_pp2_dp2",
              {tp(2), pp(2, models::ScheduleKind::k1f1b), dp(2, kSharded), recompute(true, false, true)})};
}

/// Every dispatch with every kernel, over one, two and as many ep ranks as there are experts.
std::vector<AgreementCase> dispatch_cases() {
    std::vector<AgreementCase> cases;
    for (const int ranks : {1, 2, 4}) {
        for (const auto& [dispatch, how] : {std::pair{kToAll, "all_to_all"}, std::pair{kGathered, "gathered"}}) {
            for (const auto& [kernels, which] :
                 {std::pair{kLoop, "loop"}, std::pair{kGrouped, "grouped"}, std::pair{kFused, "fused"}}) {
                const std::string name = "ep" + std::to_string(ranks) + "_" + how + "_" + which;
                cases.push_back(mixture(name, {ep(ranks, dispatch, kernels)}));
                cases.push_back(mixture(name + "_bf16", {ep(ranks, dispatch, kernels), bf16()}));
            }
        }
    }
    return cases;
}

std::vector<AgreementCase> mixture_cases() {
    return {mixture("ep2_dp2_sharded", {ep(2, kToAll, kGrouped), dp(2, kSharded)}),
            mixture("ep2_dp2_ep_aware_bf16", {ep(2, kToAll, kFused), dp(2, kEpAware), bf16()}),
            mixture("ep2_dp2_replicated", {ep(2, kGathered, kGrouped), dp(2, kReplicated)}),
            mixture("tp2_ep2", {tp(2), ep(2, kToAll, kGrouped), qk_norm}),
            mixture("tp2_sliced_gathered", {tp(2, true), ep(2, kGathered, kFused), bf16()}),
            mixture("tp2_sliced_one_ep", {tp(2, true), recompute(true, true, true)}),
            mixture("recompute_experts", {ep(2, kToAll, kLoop), recompute(false, false, true)}),
            mixture("recompute_all_gathered", {ep(2, kGathered, kGrouped), recompute(true, true, true), bf16(4)}),
            mixture("offload_ep2_to_all_bf16", {ep(2, kToAll, kGrouped), offload(2), bf16()}),
            mixture("offload_tp2_sliced_gathered_recompute",
                    {tp(2, true), ep(2, kGathered, kLoop), recompute(true, false, false), offload(1)}),
            mixture("offload_shared_tp2_one_ep", {shared, tp(2, true), offload(1)}),
            mixture("global_loss", {global_loss}),
            mixture("global_loss_pp2_tp2", {global_loss, pp(2, models::ScheduleKind::k1f1b), tp(2), bf16()}),
            mixture("global_loss_virtual", {global_loss, pp(2, models::ScheduleKind::kInterleaved1f1b, 2)}),
            mixture("global_loss_tp2_zbv", {global_loss, tp(2, true), pp(2, models::ScheduleKind::kZbv, 2)}),
            mixture("dense_first_pp2_ep2", {dense_first, pp(2, models::ScheduleKind::k1f1b), ep(2, kToAll, kGrouped)}),
            mixture("pp2_zb_h1_ep2", {pp(2, models::ScheduleKind::kZbH1), ep(2, kToAll, kGrouped), bf16()}),
            mixture("tp2_sliced_pp2_zb_h2_gathered",
                    {tp(2, true), pp(2, models::ScheduleKind::kZbH2), ep(2, kGathered, kFused)}),
            mixture("pp2_v_half_ep4", {dense_first, pp(2, models::ScheduleKind::kVHalf, 2), ep(4, kToAll, kLoop)}),
            mixture("tp2_pp2_v_min", {tp(2), pp(2, models::ScheduleKind::kVMin, 2), recompute(true, true, true)}),
            mixture("layer_norm_tp2_pp2_ep2",
                    {layer_norm, tp(2), pp(2, models::ScheduleKind::kGpipe), ep(2, kGathered, kLoop), dp(2, kSharded)}),
            mixture("shared", {shared}),
            mixture("shared_tp2_ep2", {shared, tp(2), ep(2, kToAll, kFused), bf16()}),
            mixture("shared_tp2_sliced_pp2_zb_h1",
                    {shared, tp(2, true), pp(2, models::ScheduleKind::kZbH1), ep(2, kGathered, kGrouped)}),
            mixture("shared_recompute_dense_first",
                    {shared, dense_first, tp(2, true), recompute(true, true, true), ep(2, kToAll, kLoop)}),
            mixture("gpt", {gpt}),
            mixture("gpt_shared_tp2_sliced_ep2_bf16", {gpt, shared, tp(2, true), ep(2, kToAll, kFused), bf16()}),
            mixture("gpt_dense_first_tp2_pp2_zb_h1_loop",
                    {gpt, dense_first, tp(2), pp(2, models::ScheduleKind::kZbH1), ep(2, kGathered, kLoop)}),
            mixture("biases_of_swiglu_recompute",
                    {gpt, swiglu, shared, ep(2, kToAll, kLoop), dp(2, kSharded), recompute(true, true, true)}),
            mixture("latent_shared_tp2_pp2_zb_h1", {latent_queries, shared, tp(2), pp(2, models::ScheduleKind::kZbH1)}),
            mixture("latent_recompute_tp2_sliced",
                    {latent_queries, tp(2, true), recompute(true, true, true), ep(2, kToAll, kFused)}),
            mixture("capacity_ep2_all_to_all_loop", {half_capacity, ep(2, kToAll, kLoop)}),
            mixture("capacity_ep4_all_to_all_fused_bf16", {half_capacity, shared, ep(4, kToAll, kFused), bf16()}),
            mixture("capacity_tp2_ep2_gathered", {half_capacity, tp(2, true), ep(2, kGathered, kGrouped)}),
            mixture("capacity_alone", {half_capacity}),
            mixture("predictions_router_bias_ep2_pp2",
                    {predictions, router_bias, shared, ep(2, kToAll, kGrouped), pp(2, models::ScheduleKind::k1f1b)}),
            mixture("router_bias_tp2_ep2", {router_bias, dense_first, tp(2), ep(2, kToAll, kGrouped)}),
            mixture("router_bias_pp2_virtual_recompute",
                    {router_bias, pp(2, models::ScheduleKind::kInterleaved1f1b, 2), recompute(true, true, true)}),
            mixture("router_bias_learned", {router_bias, learned, dp(2, kSharded), bf16()}),
            mixture("learned", {learned, ep(2, kToAll, kGrouped)}),
            mixture("learned_bf16", {learned, bf16()})};
}

std::vector<AgreementCase> context_cases() {
    using Kind = models::ContextParallel;
    return {dense("cp2_gathered", {cp(2, Kind::kAllGather)}),
            dense("cp2_gathered_tp2_sliced_qk_norm_bf16", {cp(2, Kind::kAllGather), tp(2, true), qk_norm, bf16()}),
            dense("cp2_gathered_latent", {latent_keys, cp(2, Kind::kAllGather)}),
            dense("cp2_gathered_gpt", {gpt, cp(2, Kind::kAllGather), more_dp(2)}),
            dense("cp2_heads", {cp(2, Kind::kAllToAll)}),
            dense("cp4_heads_one_key_head_qk_norm", {one_key_head, cp(4, Kind::kAllToAll), qk_norm}),
            dense("cp2_heads_latent_bf16", {latent_keys, cp(2, Kind::kAllToAll), bf16()}),
            dense("cp2_heads_tp2_pp2_zb_h1_recompute",
                  {cp(2, Kind::kAllToAll), tp(2), one_key_head, [](auto& w, auto&) { w.kv_heads = 2; },
                   pp(2, models::ScheduleKind::kZbH1), recompute(true, true, true)}),
            dense("cp2_ring", {cp(2, Kind::kRing)}),
            dense("cp4_ring_qk_norm_bf16", {cp(4, Kind::kRing), qk_norm, bf16()}),
            dense("cp3_ring_latent_recompute", {latent_keys, cp(3, Kind::kRing), recompute(false, true, false)}),
            dense("cp2_ring_window", {windows, cp(2, Kind::kRing)}),
            dense("tp2_window_recompute", {windows, tp(2, true), recompute(false, true, false)}),
            dense("cp4_two_level", {cp(4, Kind::kTwoLevel, 2)}),
            dense("cp4_two_level_latent", {latent_keys, cp(4, Kind::kTwoLevel, 2)}),
            dense("cp4_two_level_one_key_head_zb_h2",
                  {cp(4, Kind::kTwoLevel, 2), one_key_head, pp(2, models::ScheduleKind::kZbH2)}),
            mixture("cp2_gathered_ep2", {ep(2, kToAll, kGrouped), cp(2, Kind::kAllGather)}),
            mixture("cp2_ring_ep2_tp2_recompute",
                    {ep(2, kGathered, kFused), cp(2, Kind::kRing), tp(2), recompute(true, true, true)}),
            mixture("etp1_tp2", {tp(2), etp(1), ep(2, kToAll, kGrouped)}),
            mixture("etp1_tp2_sliced_shared_zb_h1",
                    {tp(2, true), etp(1), ep(2, kGathered, kFused), shared, pp(2, models::ScheduleKind::kZbH1)}),
            mixture("etp2_tp1", {etp(2), ep(2, kToAll, kLoop), bf16()}),
            mixture("gpt_etp1_tp2_ep2", {gpt, shared, tp(2), etp(1), ep(2, kToAll, kGrouped)}),
            mixture("gpt_etp2_tp1_bf16", {gpt, etp(2), bf16()}),
            mixture("router_bias_etp1_tp2", {router_bias, tp(2), etp(1), ep(2, kToAll, kGrouped)}),
            mixture("etp2_tp1_shared_recompute", {etp(2), shared, recompute(true, true, true)}),
            mixture("etp1_tp2_cp2_ring", {cp(2, Kind::kRing), tp(2), etp(1), ep(2, kToAll, kGrouped)}),
            mixture("cp2_heads_learned", {learned, cp(2, Kind::kAllToAll), shared})};
}

/// Sums of gradients beside backward passes, in buckets of a unit, of a few, and of all.
std::vector<AgreementCase> overlapped_cases() {
    const Change overlap = [](models::Workload&, models::Plan& p) { p.overlap_dp = true; };
    std::vector<AgreementCase> cases;
    for (const double bucket : {1.0, 900.0, 1e6}) {
        const std::string name = "_overlapped_" + std::to_string(static_cast<int>(bucket));
        for (AgreementCase c :
             {dense("dp3_replicated" + name, {overlap, dp(3, kReplicated)}),
              dense("tp2_sliced_pp2_zb_h1_dp2" + name,
                    {overlap, tp(2, true), pp(2, models::ScheduleKind::kZbH1), dp(2, kSharded), bf16(4)}),
              mixture("ep2_dp2_tp2_sliced" + name,
                      {overlap, dense_first, ep(2, kToAll, kGrouped), dp(2, kSharded), tp(2, true)}),
              mixture("zbv_dp2" + name, {overlap, pp(2, models::ScheduleKind::kZbv, 2), dp(2, kEpAware), bf16()})}) {
            c.bucket_bytes = bucket;
            cases.push_back(std::move(c));
        }
    }
    const Change expect = [](models::Workload&, models::Plan& p) { p.overlap_pp = true; };
    cases.push_back(dense("pp2_virtual_expected", {expect, pp(2, models::ScheduleKind::kInterleaved1f1b, 2)}));
    cases.push_back(mixture("global_loss_pp2_tp2_expected",
                            {expect, global_loss, pp(2, models::ScheduleKind::k1f1b), tp(2), bf16()}));
    return cases;
}

/// Gradients and weights in shards: over all ranks, in groups, with gathers ahead, kept from forward.
std::vector<AgreementCase> sharded_cases() {
    const auto replicas = [](int n) { return [=](models::Workload&, models::Plan& p) { p.shard_replicas = n; }; };
    const auto ahead = [](int n) { return [=](models::Workload&, models::Plan& p) { p.prefetch = n; }; };
    const Change kept = [](models::Workload&, models::Plan& p) { p.reshard_after_forward = false; };
    const auto with_buckets = [](AgreementCase c, double bytes) {
        c.bucket_bytes = bytes;
        return c;
    };
    return {dense("fsdp_dp2", {dp(2, kFsdp)}),
            dense("fsdp_dp4_bf16", {dp(4, kFsdp), ahead(0), bf16()}),
            dense("fsdp_kept_dp2", {dp(2, kFsdp), kept, bf16(4)}),
            dense("fsdp_in_groups_tp2_sliced", {dp(4, kFsdp), replicas(2), tp(2, true), qk_norm}),
            dense("fsdp_each_by_itself", {dp(2, kFsdp), replicas(2)}),
            dense("fsdp_gpt_recompute", {gpt, dp(2, kFsdp), recompute(true, true, true), ahead(3)}),
            dense("fsdp_pp2_zb_h1", {dp(2, kFsdp), pp(2, models::ScheduleKind::kZbH1), bf16(4)}),
            dense("fsdp_tp2_alone", {dp(1, kFsdp), tp(2)}),
            with_buckets(dense("zero_2_dp2", {dp(2, kZero2)}), 1),
            with_buckets(dense("zero_2_tp2_pp2_virtual",
                               {dp(2, kZero2), tp(2), pp(2, models::ScheduleKind::kInterleaved1f1b, 2)}),
                         900),
            with_buckets(dense("zero_2_in_groups_pp2_zbv",
                               {dp(4, kZero2), replicas(2), pp(2, models::ScheduleKind::kZbv, 2), bf16()}),
                         900),
            dense("ep_aware_in_groups", {dp(4, kEpAware), replicas(2)}),
            mixture("fsdp_ep2_dp2", {dp(2, kFsdp), ep(2, kToAll, kFused), bf16()}),
            mixture("fsdp_in_groups_ep2_dp2_tp2", {dp(2, kFsdp), replicas(2), ep(2, kGathered, kGrouped), tp(2)}),
            mixture("fsdp_ep2_pp2", {dp(1, kFsdp), ep(2, kToAll, kLoop), pp(2, models::ScheduleKind::k1f1b)}),
            with_buckets(mixture("zero_2_ep2_dp2_zb_h2",
                                 {dp(2, kZero2), ep(2, kToAll, kGrouped), pp(2, models::ScheduleKind::kZbH2)}),
                         1e6),
            mixture("ep_aware_in_groups_ep2", {dp(2, kEpAware), replicas(2), ep(2, kToAll, kGrouped), bf16()})};
}

}  // namespace

std::vector<AgreementCase> agreement_cases() {
    std::vector<AgreementCase> all = dense_cases();
    for (const auto& more : {dispatch_cases(), mixture_cases(), context_cases(), overlapped_cases(), sharded_cases()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace auspex::testing_agreement
