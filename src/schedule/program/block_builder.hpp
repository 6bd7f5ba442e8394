#pragma once
/// @file Emits the operations of one block with their dependencies; what blocks and what may overlap is decided here,
/// once.
#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Sizes that every operation of a stage is made from. Letters: t tokens of a micro-batch on a rank, a bytes of an
/// activation element.
struct Shapes {
    const models::Workload& workload;
    const models::Plan& plan;
    const models::Stack& stack;
    double t = 0;         ///< micro_batch_size * S / cp
    double t_norm = 0;    ///< tokens of norms and residuals: t / tp with sequence parallelism
    double t_routed = 0;  ///< tokens that a rank routes: t * etp / tp
    double a = 2;         ///< bytes of an activation
    double h = 0;         ///< hidden_size
    double tp = 1;
    double experts_on_rank = 0;
    double gathered = 0;      ///< tokens present on a rank for its experts (gathered_tokens)
    double routed_rows = 0;   ///< (token, expert) pairs a rank computes: t_routed * top_k, at most its capacity
    double token_share = 1;   ///< of them, tokens and not padding
    double expert_size = 0;   ///< of the rank's part of an expert: expert_size / etp
    bool all_to_all = false;  ///< all-to-all over ep > 1: a rank permutes, sends and sums its own t_routed tokens; no
                              ///< rank ever holds the gathered ones
    bool by_node = false;     ///< hierarchical dispatch over ep > 1
    bool masks = false;       ///< rows are formed and summed up by products with one-hot masks
    models::ContextSplit context{};  ///< of the cp ranks
    double kv_copies = 1;            ///< of keys and values among all_to_all ranks (key_value_copies)
    double moved = 0;                ///< of an image with shifted windows: WindowGrid::moved
};
/// Kernels of one of the workload's norms, which are `otherwise` where RMS norms have none of their own.
[[nodiscard]] inline int norm_count(const Shapes& s, int otherwise) {
    const int rms = s.stack.kernels.rms_norm;
    return s.workload.norm == models::NormKind::kRms && rms > 0 ? rms : otherwise;
}
[[nodiscard]] Shapes shapes_of(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack);

/// Index of the operation in its block that produced a value; kNoValue for what was there before the block.
using Value = std::int64_t;
inline constexpr Value kNoValue = -1;

/// What a communication may have beside its kind, group and buffers.
struct CommTraits {
    int repeat = 1;       ///< done this many times in succession, all buffers each
    bool routed = false;  ///< bytes grow with the tokens routed to the busiest rank
    Carries carries = Carries::kRunningValue;
    int unit = -1;
    bool beside = false;  ///< runs beside kernels though its stream does not
    int chunk = -1;       ///< Operation::chunk
};

/// The program runs the stream beside kernels.
[[nodiscard]] bool overlaps(const Program& program, Stream stream);

class BlockBuilder {
 public:
    BlockBuilder(Program& program, const Shapes& shapes);

    void begin(BlockKind kind, int chunk, bool last_micro_batch);
    /// Those emitted so far, to be marked.
    [[nodiscard]] std::span<Operation> operations_of_block() {
        return std::span(program_.operations).subspan(program_.blocks.back().op_begin);
    }
    /// Closes the block and returns its index.
    std::uint32_t end();

    void set(Phase phase, int layer) { phase_ = phase, layer_ = static_cast<std::int16_t>(layer); }
    void set_phase(Phase phase) { phase_ = phase; }
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] int layer() const { return layer_; }
    [[nodiscard]] BlockKind block() const { return program_.blocks.back().kind; }
    /// Gradients of weights that can wait are not in the passes of the others.
    [[nodiscard]] bool splits_backward() const {
        return block() == BlockKind::kBackwardInput || block() == BlockKind::kBackwardWeight;
    }
    [[nodiscard]] const Shapes& shapes() const { return shapes_; }
    /// What of the layer set last the backward pass makes again.
    void set_recompute(const models::Recompute& recompute) { recompute_ = recompute; }
    [[nodiscard]] const models::Recompute& recompute() const { return recompute_; }

    // In a block of a backward pass in two parts, kernels and communication of the other part are left out: kNoValue.
    // Reductions of gradients (Stream::kDp) are in the part that asks for them.

    /// Kernels on the compute stream. Waits for `inputs` and for any communication that this software does not overlap.
    Value compute(OpKind kind, std::initializer_list<Value> inputs, std::initializer_list<models::Kernel> kernels);
    /// An operation without kernels of its own, of a fixed host time.
    Value host(OpKind kind, double host_s);
    Value compute(OpKind kind, std::initializer_list<Value> inputs, std::span<const models::Kernel> kernels);
    /// A communication of `size` ranks; returns the first input unchanged when size is 1, or the buffers have no
    /// elements and it is no barrier. Without inputs it waits for all kernels so far. Where its stream may not overlap,
    /// it always does, and the next kernel waits for it.
    Value communicate(OpKind kind, Stream stream, CommKind comm, models::GroupKind group, int size,
                      std::initializer_list<Buffer> buffers, std::initializer_list<Value> inputs,
                      const CommTraits& traits = {});
    /// Buffers between the tile and its host, beside everything else, once the kernels so far have ended; in front of
    /// all kernels of a pass, those of the pass before.
    Value host_copy(CommKind direction, std::initializer_list<Buffer> buffers, bool routed);
    /// The kernels behind wait for the copy.
    void wait_for_host_copy(Value copy);
    /// A message across a virtual-stage boundary.
    Value send(OpKind kind, int boundary, const StageMessage& message, Value input);
    Value receive(OpKind kind, int boundary);
    /// The next kernel also waits for this value (parameters that were gathered for it).
    void require(Value value) { required_ = value; }
    /// The kernel behind the next also waits for this value: the next runs beside it.
    void require_behind_next(Value value) { required_behind_next_ = value; }
    /// The kernel in front of the one emitted last: what runs beside that one waits for it.
    [[nodiscard]] Value before_last_compute() const { return before_last_compute_; }
    /// The next operation emitted waits for everything earlier on these streams.
    void join(std::initializer_list<Stream> streams);

 private:
    void set_kernels(Operation& op, std::span<const models::Kernel> kernels);
    void set_buffers(Operation& op, std::initializer_list<Buffer> buffers);
    Value emit(Operation op, std::initializer_list<Value> inputs);
    Value emit_compute(Operation op, std::initializer_list<Value> inputs);
    [[nodiscard]] bool overlaps(Stream stream) const { return schedule::overlaps(program_, stream); }
    [[nodiscard]] bool is_of_other_part(OpKind kind) const;
    /// Of the other end of a message; `from_before`: this end is in front of the boundary.
    [[nodiscard]] models::GroupKind group_of_message(bool from_before, int boundary) const;
    Program& program_;
    const Shapes& shapes_;
    Phase phase_ = Phase::kForward;
    std::int16_t layer_ = -1;
    models::Recompute recompute_;
    Value last_compute_ = kNoValue, before_last_compute_ = kNoValue;
    Value blocking_ = kNoValue;  ///< communication that the next kernel must wait for
    Value required_ = kNoValue, required_behind_next_ = kNoValue;
    std::uint8_t joins_ = 0;
    struct KernelRange {
        std::uint32_t begin = 0, end = 0;
    };
    std::array<KernelRange, kOperationNames> last_kernels_{};  ///< of the operation of this name emitted last
};

// Layers, forward and backward. Each takes the value it consumes and returns the one it produces.
Value attention_forward(BlockBuilder& builder, Value x);
Value attention_backward(BlockBuilder& builder, Value gradient);
Value feed_forward_forward(BlockBuilder& builder, int layer, Value x);
Value feed_forward_backward(BlockBuilder& builder, int layer, Value gradient);
/// From queries, keys and values of a rank's tokens to the output of attention, over all cp ranks, and back. The core
/// leaves out the ways from tokens to heads, and back.
Value attend(BlockBuilder& builder, Value x);
Value attend_core(BlockBuilder& builder, Value x);
Value attend_backward(BlockBuilder& builder, Value gradient);
/// Of an image with shifted windows, in front of every layer but the model's first (backward behind it): what of a
/// rank's tokens now lies in the windows of another group goes there.
Value shift_windows(BlockBuilder& builder, int layer, Value x);
/// What a prediction module has in front of its layer, from the state to the layer's input, and back to the state's
/// gradient: the embedding of the token further on, two norms, and the projection of both.
Value prediction_forward(BlockBuilder& builder, Value state);
Value prediction_backward(BlockBuilder& builder, Value gradient);
/// A lookup of the table, each tp rank in its own part of the vocabulary; of an image a product with its channels.
Value embed(BlockBuilder& builder);
/// The gradient of the table: rows scattered, and where it is a dense tensor the passes that clear it and add it up.
void embedding_backward(BlockBuilder& builder, Value gradient);
/// Final norm, LM head and cross entropy. Backward `further` is the gradient that a prediction module adds.
Value head_forward(BlockBuilder& builder, Value state);
Value head_backward(BlockBuilder& builder, Value further);
/// The sum over tp of a row-parallel layer's output, or its scatter along the sequence.
Value reduce_over_tp(BlockBuilder& builder, Value x);
/// The sequence gathered over tp where sequence parallelism has split it.
Value gather_over_tp(BlockBuilder& builder, Value x, Carries carries = Carries::kRunningValue);
/// The same in front of a product, and behind the product emitted last. Where the stack has tp run beside its products
/// (Stack::tp_beside_products), pieces are multiplied as they come, and sent as they are ready: product and
/// communication together take the longer of both times. Ignores: the first piece, or the last, when the communication
/// is longer; smaller products of pieces.
Value gather_before_product(BlockBuilder& builder, Value x);
Value reduce_behind_product(BlockBuilder& builder, Value product);
/// Tokens on their way into the experts, and out.
Value enter_experts(BlockBuilder& builder, Value x, Carries carries = Carries::kRunningValue);
Value leave_experts(BlockBuilder& builder, Value x);
/// The mixture-of-experts block between its norm and the residual: router, dispatch, experts, reduction, return, and
/// the shared experts. In Phase::kRecompute without the sums that gradients do not need.
Value experts_forward(BlockBuilder& builder, Value input);
/// Parts of it once more: the activation of routed experts, the shared experts.
void recompute_expert_activation(BlockBuilder& builder);
void recompute_shared_experts(BlockBuilder& builder);
Value experts_backward(BlockBuilder& builder, Value outer);

/// What a layer leaves for its backward pass, by the size of its numbers, on a rank with even routing.
struct SavedActivations {
    double values = 0;                                               ///< of the plan's precision
    double words = 0, numbers = 0;                                   ///< of 4 and 8 bytes
    double routed_values = 0, routed_words = 0, routed_numbers = 0;  ///< more: they grow with the rows of its experts
};
/// Of a layer with these parts made again: the `activations` of docs/memory.md, its input among them. `mixture`: it has
/// experts.
[[nodiscard]] SavedActivations saved_activations(const Shapes& shapes, const models::Recompute& recompute,
                                                 bool mixture);

/// The copies of one pass of plan.offload_layers. What a layer saves goes to the host behind it and has to have left
/// when a layer further on begins, so that the copies of N of L layers are spread evenly over the layers behind the
/// first: that of layer i, from 0, in front of layer max(i + 2, 1 + (i + 1)(L - 1) / N), or at the end of the pass.
/// Backward the copy of layer i begins when that layer has run, or with the pass's layers; that of the last layer with
/// the pass. So of all but one layer two are on the device at a time.
class HostCopies {
 public:
    HostCopies(BlockBuilder& builder, LayerRange range) : b_(builder), range_(range) {}
    void before_forward(int layer);
    void behind_forward(int layer);
    void end_forward();
    void begin_backward();
    void before_backward(int layer);

 private:
    [[nodiscard]] bool is_offloaded(int layer) const {
        return layer >= range_.first && layer < range_.last && layer - range_.first < b_.shapes().plan.offload_layers;
    }
    [[nodiscard]] int waited_for_at(int layer) const;
    Value copy(CommKind direction, int layer);
    void wait_for(Phase phase, int layer);

    BlockBuilder& b_;
    LayerRange range_;
    std::map<int, Value> on_their_way_;  ///< by layer: the last copy of it
};

/// Width of the queries, keys and values that one rank makes, and of what it attends with.
struct AttentionWidths {
    double query, key_value, qk, value;
    double
        gathered;  ///< of keys and values as cp gathers them: with latent attention the rotated key is shared by heads
    double rotated;  ///< of queries and keys that rotary embedding rotates
    double normed;   ///< of queries and keys, or the latents, that are normalised
};
[[nodiscard]] AttentionWidths attention_widths(const Shapes& shapes);

/// `groups` products [m, k] x [k, n] in the plan's precision.
[[nodiscard]] models::Kernel plan_gemm(const Shapes& shapes, double m, double n, double k, double groups = 1);
/// Products of `kind` may have operands of 8 bits: all with weights but those of router and LM head.
[[nodiscard]] constexpr bool fp8_may_be(OpKind kind) {
    return kind != OpKind::kRouter && kind != OpKind::kLmHead && kind != OpKind::kIndexGeneration &&
           kind != OpKind::kOutputReduction;
}
/// Bytes of an element in 8 bits, or in 4 with its share of a scale of 8 for each 16; of fp8 kNone 1, which none reads.
[[nodiscard]] constexpr double narrow_bytes(models::Fp8 fp8) { return fp8 == models::Fp8::kNvfp4 ? 9.0 / 16 : 1; }
/// Elements of 16 bits written twice in 8, as they are and transposed; tensorwise read once before for their largest
/// value: three kernels with the one that makes a scale of it (Transformer Engine's current scaling).
[[nodiscard]] models::Kernel cast_to_fp8(const models::Plan& plan, double elements);
/// Parameters of a rank of a stage that are kept a second time as such copies: those of layers, routers and norms among
/// them, which are a thousandth. 0 without fp8.
[[nodiscard]] double parameters_in_fp8(const models::Workload& workload, const models::Plan& plan, int stage);
/// The kernels with products of 8-bit operands and what casts them (plan.fp8): the input, forward and in recompute, and
/// backward the output's gradient. Weights are cast once a step, behind the update. Activations stay as they are in
/// memory. Ignores: history of largest values (delayed scaling).
[[nodiscard]] std::vector<models::Kernel> in_fp8(const Shapes& shapes, Phase phase,
                                                 std::span<const models::Kernel> kernels);
/// A linear layer [m, k] -> [m, n]: forward; its input gradient; its weight gradient with the pass that accumulates it.
/// `copies` ranks do the very same product (a layer that tp does not split): each spends the time, model FLOP are
/// counted once.
[[nodiscard]] models::Kernel linear_forward(const Shapes& shapes, double m, double n, double k, double copies = 1);
[[nodiscard]] models::Kernel linear_input_gradient(const Shapes& shapes, double m, double n, double k,
                                                   double copies = 1);
[[nodiscard]] std::vector<models::Kernel> linear_weight_gradient(const Shapes& shapes, double m, double n, double k,
                                                                 double groups = 1, double copies = 1);

/// Sums gradients for these parameters of a rank: over tp those of which every tp rank has a part, then over replicas
/// (dense and experts apart). `unit` of a bucket, or `chunk`; both -1: all parameters of the stage. Returns the last
/// sum, kNoValue if there is none.
Value emit_gradient_reduction(BlockBuilder& builder, const models::Layout& layout, const StageParameters& parameters,
                              int unit = -1, int chunk = -1);

/// The optimizer block of a stage; `gradients_reduced`: backward has already done that.
std::uint32_t build_optimizer_block(BlockBuilder& builder, const models::Layout& layout, int stage,
                                    bool gradients_reduced);

}  // namespace auspex::schedule
