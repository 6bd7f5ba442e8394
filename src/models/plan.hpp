#pragma once
/// @file How a workload is laid over tiles: the grid, the schedule, and every choice that is the user's.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_forward.hpp"
#include "models/context/context_parallel.hpp"
#include "models/pipeline/auto_order.hpp"
#include "models/pipeline/schedule_kind.hpp"
#include "models/pipeline/stage_layers.hpp"
#include "models/recompute/recompute.hpp"
#include "models/routing_record.hpp"
#include "models/workload.hpp"

namespace auspex::models {

/// kZero2: states and summed gradients are sharded, weights whole. kFsdp: weights too.
enum class OptimizerSharding { kReplicated, kSharded, kEpAware, kZero2, kFsdp };
enum class Dispatch {
    kAllGatherReduceScatter,
    kAllToAll,
    kHierarchical  ///< a token once to every node that holds some of its experts, there once to every rank that does
};
enum class ExpertKernels { kLoop, kGrouped, kFused };
/// Narrow operands and their scaling. 8 bits: one number a tensor, found by a pass over it, or one a block of 128 (128
/// x 128 of weights) within the pass that casts. 4 bits: one a block of 16, beside one a tensor.
enum class Fp8 { kNone, kTensorwise, kBlockwise, kNvfp4 };
inline constexpr std::array<std::string_view, 4> kFp8Words{"none", "tensorwise", "blockwise", "nvfp4"};
/// Who decides which experts a token visits. Predictions take kLearned as even, like kUniform.
enum class RoutingDistribution {
    kUniform,  ///< a fixed even pattern; training does not ask the router
    kLearned,  ///< the router
    kZipf,
    kDirichlet,
    kTrace
};
enum class PlacementKind {
    kContiguous,  ///< the first nodes
    kScattered,   ///< round-robin over dragonfly groups (leaves, units)
    kRandom,
    kScheduled,  ///< of a busy machine on which each node is free by chance: from the groups with most free nodes first
    kList
};
/// Those that a word names.
inline constexpr std::array kNamedPlacements{PlacementKind::kContiguous, PlacementKind::kScattered,
                                             PlacementKind::kRandom, PlacementKind::kScheduled};
enum class Axis { kDp, kPp, kEp, kTp };

struct Routing {
    RoutingDistribution kind = RoutingDistribution::kUniform;
    double parameter = 0;  ///< s of zipf, a of dirichlet
    std::string trace_file;
    std::vector<double> trace_shares;               ///< kTrace: share of routed tokens by expert, sums to 1
    std::vector<std::vector<double>> layer_shares;  ///< kTrace: the same of each MoE layer, if the file tells
    std::shared_ptr<const RoutingRecord> record;    ///< kTrace: every choice, if the file has them
    bool alike_layers = false;                      ///< the same experts are popular in all layers
    bool operator==(const Routing&) const = default;
};

/// Defaults are those of a file that gives only the grid; docs/formats-workload-plan.md lists them.
struct Plan {
    std::string name, file;
    int dp = 0;  ///< replicas of an expert; 0 in the file: follows from the tiles
    int ep = 1, etp = 1, tp = 1, pp = 1, cp = 1;
    bool etp_given = false;  ///< else etp = tp
    int virtual_stages = 1;
    StageDeal stages = StageDeal::kEven;
    /// Layers of each of stages_of_model, in their order: given with kList; resolve_plan fills in those of other deals
    /// but kEven, which leaves it empty.
    std::vector<int> stage_layers;
    bool sequence_parallel = false;
    ContextParallel context = ContextParallel::kAllGather;
    int context_all_to_all = 1;  ///< kTwoLevel, kWindows: ranks of its all-to-all
    int micro_batch_size = 1;
    int micro_batches = 1;
    ScheduleKind schedule = ScheduleKind::k1f1b;
    AutoOrder auto_order;          ///< of kZbAuto
    bool post_validation = false;  ///< the optimizer's update waits for no other stage (arXiv:2401.10241, section 4)
    Recompute recompute;
    int recompute_layers = 0;  ///< of a virtual stage, the first, `recompute` holds for; 0: for all of them
    /// Of a virtual stage, the first, whose saved activations wait in host memory between the passes; more than it has:
    /// all of them.
    int offload_layers = 0;
    std::string precision = "bf16";
    Fp8 fp8 = Fp8::kNone;           ///< operands of products with weights, but for router and LM head
    double weight_bytes = 2;        ///< of a parameter, by precision
    bool fp8_weights_only = false;  ///< weights that fp8 products read are there in 8 bits alone, "fp8_weights"
    double gradient_bytes = 2;      ///< of a gradient as stored and reduced, by gradient_dtype
    bool bf16_states = false;  ///< no fp32 copy of weights; moments and summed gradients in bf16: "optimizer_states"
    OptimizerSharding optimizer = OptimizerSharding::kSharded;
    int shard_replicas = 1;  ///< groups of data-parallel ranks that shard by themselves and sum over one another
    bool reshard_after_forward = true;  ///< kFsdp: weights are gathered once more for backward
    /// kFsdp: neighbours over which a forward pass leaves the weights it has gathered sharded, and from which the
    /// backward pass gathers them ("reshard_after_forward": N); 0: the ranks that shard them anyway.
    int reshard_ranks = 0;
    int prefetch = 1;  ///< kFsdp: units gathered ahead of the one that runs
    Dispatch dispatch = Dispatch::kAllToAll;
    ExpertKernels expert_kernels = ExpertKernels::kGrouped;
    Routing routing;
    bool overlap_tp = false, overlap_ep = false, overlap_dp = false, overlap_pp = false;
    std::array<Axis, 4> rank_order{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp};  ///< slowest first
    PlacementKind placement = PlacementKind::kContiguous;
    std::vector<int> placement_nodes;
    std::uint64_t placement_seed = 1;  ///< of kRandom and kScheduled
    double placement_free = 0.5;       ///< kScheduled: share of the machine's nodes that are free
    bool operator==(const Plan&) const = default;
};

/// Reads a plan file. Checks what the file alone can tell; `resolve_plan` checks it against workload and tiles.
[[nodiscard]] Plan load_plan(const JsonDocument& document);

/// The plan for this many tiles: dp filled in (or checked), etp defaulted. tiles = 0 means what plan.dp gives.
/// Checks tiles = pp * dp * ep * etp, N = tp * cp * data_parallel whole, experts divisible by ep, heads by tp, layers
/// >= stages_of_model, pp, virtual_stages and micro_batches by misfit_of, cp by context_misfit, sequence divisible
/// by cp (and tp with sequence_parallel), dense models have ep = 1. Fills stage_layers where layers are not dealt
/// evenly; listed ones must be one for each virtual stage and sum to the layers. Throws InputError naming the file, the
/// field, the value and what would do.
[[nodiscard]] Plan resolve_plan(const Plan& plan, const Workload& workload, int tiles);

/// Of a job: above any machine that will be built soon, below what overflows an int in the products of a grid.
inline constexpr std::int64_t kMaxTiles = 16'777'216;
/// pp * ep * etp, the tiles of one replica of the experts; kMaxTiles + 1 where it is more than kMaxTiles. Does not
/// read dp.
[[nodiscard]] std::int64_t tiles_per_replica(const Plan& plan);
/// pp * dp * ep * etp. Requires a resolved plan.
[[nodiscard]] int tiles_of(const Plan& plan);

/// Of a layer, counted from the first of its virtual stage: nothing behind recompute_layers; with `layer` norm,
/// attention and expert, too, and within these no parts.
[[nodiscard]] Recompute recompute_of(const Plan& plan, int layer_of_stage);

/// "contiguous", "scattered", "random", "scheduled"; "list".
[[nodiscard]] const char* to_string(PlacementKind);
/// The placement that a word names; none for an unknown one, and for lists, which have no word.
[[nodiscard]] std::optional<PlacementKind> placement_named(std::string_view word);
/// True if nodes are drawn by chance, from placement_seed.
[[nodiscard]] bool draws_nodes(PlacementKind);

/// True if predictions take tokens to fall unevenly on experts: zipf, dirichlet, trace.
[[nodiscard]] bool is_skewed(RoutingDistribution);

/// Of a parameter of the optimizer's shard: the fp32 copy of a weight, and both moments.
[[nodiscard]] constexpr double master_bytes(const Plan& plan) {
    return plan.weight_bytes < 4 && !plan.bf16_states ? 4 : 0;
}
/// Of a gradient between its sum and the update: bf16_states have it in bf16, whatever it was summed in.
[[nodiscard]] constexpr double stored_gradient_bytes(const Plan& plan) {
    return plan.bf16_states ? plan.weight_bytes : plan.gradient_bytes;
}
[[nodiscard]] constexpr double moment_bytes(const Plan& plan) { return plan.bf16_states ? 2 * 2 : 2 * 4; }

[[nodiscard]] const char* to_string(OptimizerSharding);
/// All replicas of a part are one group that states are sharded over, which shard_replicas cuts.
[[nodiscard]] constexpr bool shards_in_groups(OptimizerSharding kind) {
    return kind != OptimizerSharding::kReplicated && kind != OptimizerSharding::kSharded;
}
/// A micro-batch's gradients are summed in its backward pass, unit by unit, and only the sums' shard is kept.
[[nodiscard]] constexpr bool shards_gradients(OptimizerSharding kind) {
    return kind == OptimizerSharding::kZero2 || kind == OptimizerSharding::kFsdp;
}
[[nodiscard]] const char* to_string(Dispatch);
[[nodiscard]] const char* to_string(ExpertKernels);
/// "none", "tensorwise", "blockwise", "nvfp4".
[[nodiscard]] const char* to_string(Fp8);
/// Of its cp ranks. Requires what context_misfit asks.
[[nodiscard]] ContextSplit context_split(const Plan& plan);

}  // namespace auspex::models
