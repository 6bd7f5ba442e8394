#pragma once
/// @file One rank of a training run: everything that its operations read and write.
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/state/activations.hpp"
#include "exec/state/arena.hpp"
#include "exec/state/context_place.hpp"
#include "exec/state/parameters.hpp"
#include "exec/state/reduction_buckets.hpp"
#include "exec/state/routing_source.hpp"
#include "exec/state/shapes.hpp"
#include "exec/transport/counting_communicator.hpp"
#include "models/training.hpp"
#include "schedule/program/program.hpp"
#include "schedule/timeline.hpp"

namespace auspex::exec {

/// What a run is about; outlives its ranks.
struct RunInputs {
    models::Workload workload;
    models::Plan plan;  ///< resolved
    models::Stack stack;
    models::Training training;
    models::Layout layout;
    schedule::Program program;
    int last_step = 0;  ///< of the whole run, for the cosine
    std::uint64_t seed = 1;
};

/// Tokens of one micro-batch: sequences * (S + 1) numbers, each sequence with the token that follows it.
using MicroBatchTokens = std::vector<std::int32_t>;

/// Parts of the loss that a rank has seen in this step; they add up over ranks to the step's loss.
struct LossParts {
    double cross_entropy = 0;  ///< mean over the tokens of the global batch
    double auxiliary = 0;      ///< weighted by its coefficient
    double z = 0;              ///< weighted by its coefficient
};

/// Rank::first_not_finite (exec/operations/health.hpp): a position in the step's passes, below kPositionOfCheck; or one
/// of these.
inline constexpr std::int32_t kPositionOfCheck = (1 << 24) - 2;  ///< kGradientCheck: loss and gradients
inline constexpr std::int32_t kAllFinite = std::numeric_limits<std::int32_t>::max();

template <class P>
struct OptimizerState;

template <class P>
struct Rank {
    const RunInputs* run = nullptr;
    Communicator* communicator = nullptr;
    Arena* arena = nullptr;
    std::unique_ptr<Arena> host =
        std::make_unique<Arena>();  ///< what stands for the host's memory, of offloaded layers
    double host_copy_bytes = 0;     ///< of the copy to or from it that ran last
    RankCoordinates coordinates;
    RankShapes shapes;
    ContextPlace context;
    ParameterTable table;
    std::vector<ReductionBucket> buckets;  ///< of gradients; none: all are summed behind the last pass
    Weights<P> weights;
    OptimizerState<P>* optimizer = nullptr;
    RoutingSource* routing = nullptr;

    int step = 0;
    std::vector<MicroBatchTokens> tokens;                  ///< of this step, by micro-batch
    std::map<std::pair<int, int>, PassTensors<P>> passes;  ///< in flight, by (chunk, micro-batch)
    RunningValues<P> running;
    LossParts loss;                              ///< of this rank
    LossParts total_loss;                        ///< after the kLoss all-reduce
    double gradient_norm = 0;                    ///< global, before clipping
    std::int32_t first_not_finite = kAllFinite;  ///< where in the step a number of its own first was not finite
    std::vector<int> unhealthy;          ///< ranks where numbers first were not finite, after the kHealth all-reduce
    std::vector<OperationCount> counts;  ///< by OpKind, of this step
    std::function<void(const schedule::Operation&)> after_operation;  ///< called after each, if set: injected faults

    [[nodiscard]] const models::Workload& workload() const { return run->workload; }
    [[nodiscard]] const models::Plan& plan() const { return run->plan; }
    [[nodiscard]] const models::Training& training() const { return run->training; }
    [[nodiscard]] double tokens_of_batch() const {
        return static_cast<double>(run->layout.global_batch) * static_cast<double>(shapes.sequence);
    }
};
/// The calling rank of a run, with its grid coordinates, sizes and parameters; weights are not allocated yet. The
/// arguments outlive it. Without `routing` it can run no router.
template <class P>
[[nodiscard]] Rank<P> make_rank(const RunInputs& run, Communicator& communicator, Arena& arena,
                                OptimizerState<P>& optimizer, RoutingSource* routing) {
    Rank<P> rank;
    rank.run = &run;
    rank.communicator = &communicator;
    rank.arena = &arena;
    rank.optimizer = &optimizer;
    rank.routing = routing;
    rank.coordinates = rank_coordinates(run.layout, communicator.world_rank());
    rank.shapes = rank_shapes(run.workload, run.plan);
    rank.context = context_place(run.workload, run.plan, rank.shapes, rank.coordinates.cp);
    rank.table = parameter_table(run.workload, run.plan, rank.coordinates);
    rank.buckets = reduction_buckets(run.workload, run.plan, run.stack, run.layout, rank.table, rank.coordinates.stage);
    return rank;
}

/// The operation being executed, with what its block says of it.
struct CurrentOperation {
    const schedule::Operation& op;
    const schedule::Block& block;
    int micro_batch = 0;
    int virtual_stage = 0;        ///< of the block's chunk; -1 in the optimizer block
    schedule::LayerRange layers;  ///< of the virtual stage
    bool has_head = false;        ///< the virtual stage is the last part of the model
    [[nodiscard]] bool forward() const {
        return op.phase == schedule::Phase::kForward || op.phase == schedule::Phase::kRecompute;
    }
    /// Gradients of weights wait for a pass of their own.
    [[nodiscard]] bool puts_off_weights() const { return block.kind == schedule::BlockKind::kBackwardInput; }
    /// This is that pass.
    [[nodiscard]] bool has_waited() const { return block.kind == schedule::BlockKind::kBackwardWeight; }
    [[nodiscard]] std::size_t layer_of_chunk() const { return static_cast<std::size_t>(op.layer - layers.first); }
};

}  // namespace auspex::exec
