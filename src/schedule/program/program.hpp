#pragma once
/// @file The program: what every pipeline role does in one step, as data. The simulator plays it; an executor can run
/// the very same.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/kernel_cost.hpp"
#include "models/layout.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"
#include "schedule/orders/pass_order.hpp"
#include "schedule/orders/stage_places.hpp"
#include "schedule/program/communication.hpp"

namespace auspex::schedule {

/// Operations of one stream run in program order; different streams run beside each other as dependencies allow.
/// kToHost and kFromHost are the two directions of a tile's link to its host: a copy engine each.
enum class Stream : std::uint8_t { kCompute, kTp, kEp, kDp, kPp, kCp, kToHost, kFromHost };
inline constexpr std::size_t kStreamCount = 8;
[[nodiscard]] const char* to_string(Stream stream);
[[nodiscard]] constexpr bool is_host_stream(Stream stream) {
    return stream == Stream::kToHost || stream == Stream::kFromHost;
}

/// kReference: the forward pass of a frozen copy of the model (models::Objective::kDpo).
enum class Phase : std::uint8_t { kForward, kRecompute, kBackwardInput, kBackwardWeight, kOptimizer, kReference };
inline constexpr std::size_t kPhaseCount = 6;
[[nodiscard]] const char* to_string(Phase phase);

/// What an operation is; with its phase and layer it names one thing that an executor binds to a kernel or an MPI call.
/// The five stages of FastSparseMoE are kTokenCommunication (after kRouter, kRouterTopK), kTokenCounting,
/// kIndexGeneration, kExpertComputation, and kOutputReduction, whose communication is kTokenReturn.
enum class OpKind : std::uint8_t {
    kEmbedding,
    kModulation,   ///< of an image: scales, shifts and gates of a layer's norms, from a vector of the sequence
    kWindowShift,  ///< of an image: tokens on their way to the ranks that have the windows of the next layer
    kAttentionNorm,
    kQkvProjection,
    kQueryDown,
    kKeyValueDown,
    kQueryUp,
    kKeyValueUp,
    kQkNormSums,  ///< sums of squares of queries and keys, where tp splits the width that is normalised
    kQkNorm,
    kRotaryEmbedding,
    kKeyValueGather,
    kKeyValueRing,       ///< keys and values (backward with their gradients) to the next rank of a ring
    kTokensToHeads,      ///< all-to-all: of each rank's tokens all heads, to all ranks' tokens of some heads
    kAttentionOfOthers,  ///< attention to what has come round the ring, but the last part
    kAttention,
    kHeadsToTokens,  ///< all-to-all: the way back
    kAttentionOutput,
    kResidualAdd,
    kFeedForwardNorm,
    kGateUpProjection,
    kActivation,
    kDownProjection,
    kRouter,
    kRouterTopK,
    kTokenCommunication,
    kTokenCounting,
    kIndexGeneration,
    kExpertComputation,
    kOutputReduction,
    kTokenReturn,
    kSharedExpert,
    kSharedExpertSum,  ///< of what routed and shared experts have made; backward of their inputs' gradients
    kFinalNorm,
    kLmHead,
    kCrossEntropy,
    kTpAllReduce,
    kTpReduceScatter,
    kTpAllGather,
    kMessageGather,  ///< of a message that came in slices, one to each tp rank
    kReceiveForward,
    kSendForward,
    kReceiveBackward,
    kSendBackward,
    kHostSync,
    kHostIssue,  ///< what issuing a pass takes the host longer than running it takes the device
    kBarrier,
    kGradientCheck,        ///< looks for NaN and infinity in a rank's own gradients, before they are reduced
    kGradientTpAllReduce,  ///< of parameters that every tp rank holds whole and that saw a part of the work
    kGradientEpAllReduce,
    kGradientReduceExperts,
    kGradientReduceDense,
    kTiedEmbeddingAllReduce,
    kMirrorGradientExchange,  ///< of a stage that two ranks have: each gets the other's sums of what it updates
    kGradientNorm,
    kGradientNormAllReduce,
    kOptimizerUpdate,
    kMirrorParameterExchange,  ///< and then sends what it has updated
    kParameterGatherExperts,
    kParameterGatherDense,
    kPredictionInput,  ///< multi-token prediction: norms of state and embedding, and the projection of both to one
    kRouterBiasUpdate,
    kWorldAllReduce,
    kStepHost,
    kActivationsToHost,    ///< what a layer saves, into host memory
    kActivationsFromHost,  ///< and back, for its backward pass
    kHostCopyWait,         ///< for the end of such copies of a layer; forward, its memory on the device is free then
    kCount
};
[[nodiscard]] const char* to_string(OpKind kind);
[[nodiscard]] const char* to_string(models::GroupKind kind);

/// A number for every (kind, phase), below kOperationNames; tables and timelines are indexed by it.
inline constexpr std::size_t kOperationNames = static_cast<std::size_t>(OpKind::kCount) * kPhaseCount;
[[nodiscard]] constexpr std::size_t operation_name_index(OpKind kind, Phase phase) {
    return static_cast<std::size_t>(kind) * kPhaseCount + static_cast<std::size_t>(phase);
}
/// "expert_computation", "expert_computation.recompute": the kind, and the phase unless it is forward or optimizer.
[[nodiscard]] std::string operation_name(std::size_t index);

/// What a communication carries, where its kind does not tell.
enum class Carries : std::uint8_t {
    kRunningValue,  ///< the value that flows through the block; parameters, gradients, messages
    kSavedInput,    ///< the input of a sublayer, kept sliced along the sequence, once more for weight gradients
    kQkNormSums,    ///< sums of squares (backward: of products) that normalise queries and keys, fp32
    kSoftmaxParts,  ///< maximum, sum of exponentials and target's logit of each token, fp32
    kLoss,          ///< the step's loss, in stack.loss_terms parts, fp32
    kHealth  ///< one number of every rank, fp32: 0 while all it had to do with is finite, else where it first was not
};
[[nodiscard]] const char* to_string(Carries carries);

/// One operation of a block. Either kernels, or a communication (comm != kNone).
struct Operation {
    OpKind kind = OpKind::kCount;
    Phase phase = Phase::kForward;
    Stream stream = Stream::kCompute;
    CommKind comm = CommKind::kNone;
    models::GroupKind group = models::GroupKind::kTp;  ///< of a communication
    Carries carries = Carries::kRunningValue;
    std::uint8_t joins = 0;  ///< bit s: every earlier operation of stream s must have ended first
    bool routed = false;     ///< bytes grow with the tokens routed to the busiest rank
    bool second = false;     ///< of a block of two passes: of the backward one
    bool beside = false;     ///< a communication that kernels do not wait for, unless they depend on it
    std::int8_t chunk =
        -1;  ///< of a sum or a gather in the optimizer block: of the parameters of this chunk; -1: of all
    std::int16_t layer = -1;
    std::int16_t unit = -1;     ///< sums of gradients in passes: the last unit of the bucket (gradient_buckets.hpp);
                                ///< gathers of parameters in passes: the unit; a kernel with which the gradients of
                                ///< a bucket begin that is kept as a shard: the bucket's last unit
    std::int32_t message = -1;  ///< send and receive: the boundary, counted in virtual stages, that the message crosses
    std::int32_t repeat = 1;    ///< a communication done this many times in succession, `bytes` each
    double bytes = 0;           ///< of a communication (schedule/program/communication.hpp): of all its buffers
    double host_s = 0;          ///< host time that holds the compute stream
    std::uint32_t kernel_begin = 0, kernel_end = 0;  ///< into Program::kernels; several may share a range
    std::uint32_t buffer_begin = 0, buffer_end = 0;  ///< into Program::buffers, in the order in which they are moved
    std::uint32_t dep_begin = 0,
                  dep_end = 0;  ///< into Program::dependencies: indices within the block, all smaller than its own
};

/// True for what all ranks do at the same time.
[[nodiscard]] constexpr bool is_world(const Operation& op) {
    return op.comm != CommKind::kNone && op.group == models::GroupKind::kWorld;
}

/// A send that is answered by as much, or by the counterpart's part of the same.
[[nodiscard]] constexpr bool is_exchange(const Operation& op) {
    return op.kind == OpKind::kTiedEmbeddingAllReduce || op.kind == OpKind::kMirrorGradientExchange ||
           op.kind == OpKind::kMirrorParameterExchange;
}

/// kBackward: gradients of inputs and weights in one pass. Where they are apart, kBackwardInput leaves what
/// kBackwardWeight reads: gradients of linear layers' weights and of experts; those of norms, router, embedding and LM
/// head are in kBackwardInput.
enum class BlockKind : std::uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight, kOptimizer };
[[nodiscard]] const char* to_string(BlockKind kind);
/// The gradients of an operation's weights are in kBackwardWeight where passes are apart.
[[nodiscard]] constexpr bool weights_can_wait(OpKind kind) {
    return kind != OpKind::kRouter && kind != OpKind::kLmHead && kind != OpKind::kEmbedding;
}
[[nodiscard]] constexpr bool is_backward(BlockKind kind) {
    return kind == BlockKind::kBackward || kind == BlockKind::kBackwardInput || kind == BlockKind::kBackwardWeight;
}

/// Of a block of a pass.
[[nodiscard]] constexpr PassKind pass_of(BlockKind kind) {
    return kind == BlockKind::kForward          ? PassKind::kForward
           : kind == BlockKind::kBackwardInput  ? PassKind::kBackwardInput
           : kind == BlockKind::kBackwardWeight ? PassKind::kBackwardWeight
                                                : PassKind::kBackward;
}

/// A template of operations: a pass of one micro-batch through one model chunk, or the optimizer step.
struct Block {
    BlockKind kind = BlockKind::kForward;
    int chunk = 0;                  ///< virtual stage index on its role
    bool last_micro_batch = false;  ///< gradients are complete after it and may be reduced
    std::uint32_t op_begin = 0, op_end = 0;
};

struct BlockUse {
    std::uint32_t block = 0;
    int micro_batch = -1;
    bool beside_next = false;     ///< a forward pass that runs beside the backward pass behind it
    int second_micro_batch = -1;  ///< of a merged block (merge_pairs): the backward pass's
    /// `second`: of an operation of the merged block's backward pass.
    [[nodiscard]] int micro_batch_of(bool second) const { return second ? second_micro_batch : micro_batch; }
};

/// Ranks that run the same program: one per pipeline stage.
struct Role {
    int stage = 0;
    std::vector<BlockUse> order;
};

/// One step. Messages match by (kind, boundary, micro-batch); world operations match by their order in each role.
struct Program {
    std::vector<models::Kernel> kernels;
    std::vector<Buffer> buffers;
    std::vector<Operation> operations;
    std::vector<std::uint32_t> dependencies;
    std::vector<Block> blocks;
    std::vector<Role> roles;
    std::vector<std::uint32_t> role_of_stage;  ///< by virtual stage: the index of the role that has it
    int micro_batches = 1, chunks = 1;
    bool shares_micro_batches = false;  ///< each chunk has its part of them; else each has all
    bool overlap_tp = false, overlap_ep = false, overlap_dp = false, overlap_pp = false;
    bool overlap_cp = false;  ///< keys and values go round a ring beside attention
    bool offloads = false;    ///< activations are copied to the host and back beside everything else

    [[nodiscard]] std::span<const Operation> operations_of(const Block& block) const {
        return {operations.data() + block.op_begin, block.op_end - block.op_begin};
    }
    /// Place of one of `operations`.
    [[nodiscard]] std::size_t index_of(const Operation& op) const {
        return static_cast<std::size_t>(&op - operations.data());
    }
    [[nodiscard]] std::span<const std::uint32_t> dependencies_of(const Operation& op) const {
        return {dependencies.data() + op.dep_begin, op.dep_end - op.dep_begin};
    }
    [[nodiscard]] std::span<const Buffer> buffers_of(const Operation& op) const {
        return {buffers.data() + op.buffer_begin, op.buffer_end - op.buffer_begin};
    }
    [[nodiscard]] std::span<const models::Kernel> kernels_of(const Operation& op) const {
        return {kernels.data() + op.kernel_begin, op.kernel_end - op.kernel_begin};
    }
};

/// Layers [first, last) of each virtual stage: those of plan.stage_layers, or dealt as evenly as they go (layers_dealt,
/// kEven). The last part of the model has the layers of prediction modules behind the model's own.
struct LayerRange {
    int first = 0, last = 0;
    int predictions = 0;  ///< of them, the last ones
    [[nodiscard]] bool predicts(int layer) const { return layer >= last - predictions; }
};
[[nodiscard]] LayerRange layers_of(const models::Workload& workload, const models::Plan& plan, int virtual_stage);

/// Parameters that one rank of a stage holds, by how they are sharded over the stage's ranks.
struct StageParameters {
    double dense = 0;  ///< attention, norms, router, shared experts, dense feed-forward, embedding, LM head; divided by
                       ///< tp, but router, projections down to latents, biases of a sublayer's last linear layer and
                       ///< norms (those of queries and keys apart, which are split with the heads), which every tp rank
                       ///< holds whole
    double experts = 0;          ///< routed experts; divided by ep and etp
    int replicated_tensors = 0;  ///< separately stored tensors of the dense part
    double summed_over_tp = 0;   ///< of dense: held whole, but each tp rank makes only a part of the gradient; 0 with
                                 ///< tp = 1
    StageParameters& operator+=(const StageParameters& more);
};
/// Of one layer.
[[nodiscard]] StageParameters layer_parameters(const models::Workload& workload, const models::Plan& plan, int layer);
/// Of the embedding (first part of the model) and of final norm and LM head (last one); zero elsewhere.
[[nodiscard]] StageParameters embedding_parameters(const models::Workload& workload, const models::Plan& plan,
                                                   int virtual_stage);
[[nodiscard]] StageParameters head_parameters(const models::Workload& workload, const models::Plan& plan,
                                              int virtual_stage);
/// Of the embedding's table, on a rank, that the head's stage holds a second time, as its LM head or for prediction
/// modules; 0 unless both ends of the model are on two stages and one of them needs it. The norm of gradients counts
/// the first stage's.
[[nodiscard]] double tied_copy_parameters(const models::Workload& workload, const models::Plan& plan);
/// Each layer of a stage, and per chunk its embedding and its head (zero where they sit elsewhere): what fsdp gathers
/// at a time.
[[nodiscard]] std::vector<StageParameters> stage_units(const models::Workload& workload, const models::Plan& plan,
                                                       int stage);
/// Of all layers of a stage, with embedding, final norm and LM head where they sit.
[[nodiscard]] StageParameters stage_parameters(const models::Workload& workload, const models::Plan& plan, int stage);
/// Of one of its chunks.
[[nodiscard]] StageParameters chunk_parameters(const models::Workload& workload, const models::Plan& plan, int stage,
                                               int chunk);
/// Those that the stage's ranks update, with optimizer states: all, or where stages are there twice those of chunk 0.
/// The mirror stage updates the others, and sends them.
[[nodiscard]] StageParameters updated_parameters(const models::Workload& workload, const models::Plan& plan, int stage);

/// Ranks over which the optimizer states of each part are sharded.
struct OptimizerShards {
    int dense = 1, experts = 1;
};
[[nodiscard]] OptimizerShards optimizer_shards(const models::Plan& plan, const models::Layout& layout);

/// True where a rank sends only its slice of what all tp ranks hold alike: Stack::scatters_messages, with tp > 1 and
/// without sequence parallelism, whose tokens are split already.
[[nodiscard]] bool scatters_messages(const models::Plan& plan, const models::Stack& stack);
/// The message of a rank that crosses a virtual-stage boundary, one direction: activations, and with a stack whose
/// router logits travel those of every MoE layer before the boundary (0 elements where there is none).
struct StageMessage {
    Buffer activations, router_logits;
};
[[nodiscard]] StageMessage stage_message(const models::Workload& workload, const models::Plan& plan,
                                         const models::Stack& stack, int boundary);
/// Of the message.
[[nodiscard]] double message_bytes(const models::Workload& workload, const models::Plan& plan,
                                   const models::Stack& stack, int boundary);

/// Tokens that are present on a rank for its experts, t_routed being those that a rank routes: of all ep ranks; with
/// hierarchical dispatch of them those that have an expert there, as even routing has it (models::mean_parts_reached).
[[nodiscard]] double gathered_tokens(const models::Workload& workload, const models::Plan& plan, double t_routed);

/// True where buckets of gradients are summed as they fill in the last backward passes.
[[nodiscard]] bool reduces_buckets(const models::Plan& plan, const models::Stack& stack);

/// Builds the step's program. Requires a resolved plan. Throws InputError where plan.overlap asks for what the stack
/// cannot do.
[[nodiscard]] Program build_program(const models::Workload& workload, const models::Plan& plan,
                                    const models::Stack& stack, const models::Layout& layout);
/// The blocks of one stage, whose role runs each of them once, micro-batch 0; the other roles are empty. For what asks
/// of passes one by one: backward passes are there whole and, where the schedule splits them, in parts, and so are
/// those of the last micro-batch where they differ.
[[nodiscard]] Program build_stage_blocks(const models::Workload& workload, const models::Plan& plan,
                                         const models::Stack& stack, const models::Layout& layout, int stage);

/// Throws std::logic_error naming the first defect: a dependency cycle, a send without its receive (or two), world
/// operations that differ in kind, bytes or what they carry between roles, a pass that is missing. `build_program`
/// output always passes; the check guards generators to come.
void check_program(const Program& program);

/// Sums over the program of one role: for tests against closed forms.
struct ProgramTotals {
    double useful_flop = 0;  ///< forward and backward
    double recompute_flop = 0;
    std::uint64_t operations = 0;
};
[[nodiscard]] ProgramTotals totals_of(const Program& program, const Role& role);

}  // namespace auspex::schedule
