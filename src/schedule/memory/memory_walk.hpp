#pragma once
/// @file Tensors made and released by the operations of a block. docs/memory.md is the rule; names are its names.
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "schedule/memory/caching_allocator.hpp"
#include "schedule/memory/memory_label.hpp"
#include "schedule/memory/memory_sizes.hpp"
#include "schedule/memory/sharded_units.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {

/// Differences may be negative.
using BytesByLabel = std::array<std::int64_t, kMemoryLabelCount>;

/// Tensors that are freed at the same time.
struct Tensors {
    BytesByLabel bytes{};
    std::vector<CachingAllocator::Block> blocks{};  ///< where an allocator is played (Playback)
};

/// Who hands out memory while blocks are walked, and who allocates for sharded weights and their gradients, which the
/// walk then does not count.
struct Playback {
    CachingAllocator* allocator = nullptr;
    ShardedUnits* units = nullptr;
};

/// Of attention or a feed-forward: input, norm, what is kept.
struct SublayerMemory {
    Tensors rest;
    Tensors for_weights;  ///< what gradients of weights read, where they have passes of their own
};

/// From a state to a loss.
struct HeadMemory {
    Tensors norm;      ///< input and output of the final norm
    Tensors gathered;  ///< that output gathered over tp
    Tensors logits;
};

/// What a micro-batch leaves in a model chunk between its passes.
struct PassMemory {
    std::vector<SublayerMemory> sublayers;    ///< attention and feed-forward of each layer, in order
    std::vector<HeadMemory> heads;            ///< of the last chunk: the model's own, and each prediction module's
    std::vector<SublayerMemory> predictions;  ///< in front of each module's layer
    std::vector<SublayerMemory> on_host;      ///< as `sublayers`: what of them is in host memory
    Tensors router_logits;
    Tensors last_unit;  ///< weights of the LM head, where they stay gathered
};

/// What one use of a block does to memory, against what was live when it began.
struct BlockMemory {
    BytesByLabel change{};                        ///< when it has ended
    BytesByLabel label_peaks{};                   ///< of each label, the most
    std::int64_t peak = 0;                        ///< of the sum over labels
    BytesByLabel at_peak{};                       ///< by label when the sum has its peak
    std::uint32_t operation = 0;                  ///< of the block, that reaches the peak
    BytesByLabel at_probe{};                      ///< while the operation that was asked for runs
    std::int64_t host_change = 0, host_peak = 0;  ///< of host memory: when it has ended, and the most
};

/// A question beside the peaks: bytes while one operation runs, with `activations` of one kind only.
struct MemoryProbe {
    std::uint32_t operation = std::numeric_limits<std::uint32_t>::max();  ///< of the block; none has this number
    std::optional<KeptKind> only{};                                       ///< all kinds where it is not there
};

/// Counts bytes while operations run: what an operation makes is there when it begins, what it releases goes when it
/// ends.
class MemoryTally {
 public:
    void make(Tensors& tensors, MemoryLabel label, std::uint64_t bytes);
    void release(Tensors& tensors);
    /// Tensors that were made in another chunk.
    static void adopt(Tensors& tensors, MemoryLabel label, std::uint64_t bytes);
    /// `from` go where `to` are.
    static void move(Tensors& from, Tensors& to);
    /// Makes a tensor in place of others: `tensors` are released.
    void replace(Tensors& tensors, MemoryLabel label, std::uint64_t bytes);
    /// Releases all but `bytes` of a label.
    void shrink(Tensors& tensors, MemoryLabel label, std::uint64_t bytes);
    /// Of one operation only.
    void make_for_now(MemoryLabel label, std::uint64_t bytes);
    /// Takes host memory for these tensors, or (`leave`) gives it back.
    void enter_host(const SublayerMemory& tensors);
    void leave_host(const SublayerMemory& tensors);
    void end_operation(std::uint32_t operation);
    /// Tensors are allocated as well, while `allocates` says so.
    void play_on(CachingAllocator* allocator) { allocator_ = allocator; }
    void allocates(bool now) { allocates_ = now; }
    /// From now on `activations` are not made.
    void leave_out_activations(bool leaves_out) { leaves_out_activations_ = leaves_out; }
    /// Keeps what is live now as BlockMemory::at_probe.
    void probe() { result_.at_probe = result_.change; }
    [[nodiscard]] const BlockMemory& result() const { return result_; }

 private:
    BlockMemory result_;  ///< result_.change is what is live
    std::int64_t sum_ = 0;
    BytesByLabel dying_{};
    bool leaves_out_activations_ = false;
    CachingAllocator* allocator_ = nullptr;
    bool allocates_ = false;
    std::vector<CachingAllocator::Block> dying_blocks_;
};

/// Walks one block in the order of its operations.
class BlockWalk {
 public:
    /// `rows` has those of each layer of the chunk, MoE or not; empty: those of `sizes` for all.
    BlockWalk(const MemorySizes& sizes, const ChunkSizes& chunk, std::span<const LayerRows> rows, PassMemory& pass,
              const Playback& playback = {});
    [[nodiscard]] BlockMemory run(const Program& program, const Block& block, const MemoryProbe& probe = {});

 private:
    static constexpr std::uint64_t kReal = 4;  ///< bytes of a number in fp32
    static constexpr auto kActivations = MemoryLabel::kActivations, kWorkspace = MemoryLabel::kWorkspace;

    void step(const Operation& op);
    /// What it makes and releases, its unit's weights and gradients among it.
    void run_operation(const Operation& op, std::uint32_t number);
    void begin_block();
    void end_block();
    /// Of a pass of weight gradients that had to wait.
    void weight_step(const Operation& op);
    /// What of the sublayer's gradients its weights wait for.
    void put_off_weights();
    /// What activations are of that the operation makes.
    [[nodiscard]] KeptKind kind_of(const Operation& op) const;
    void attention_step(const Operation& op);
    void attention_gradient(const Operation& op);
    void attention_output();
    void attended_gradient();
    [[nodiscard]] std::uint64_t part_of_ring() const;
    void latent_step(const Operation& op);
    void latent_gradient(const Operation& op);
    void dense_step(const Operation& op);
    void dense_gradient(const Operation& op);
    void norm_step();
    void residual_step();
    void begin_sublayer();
    void head_step(const Operation& op);
    void head_gradient(const Operation& op);
    void make_logits();
    void cross_entropy_step();
    void cross_entropy_gradient();
    void tp_step(const Operation& op);
    void gather_step(const Operation& op);
    void prediction_step(const Operation& op);
    void prediction_gradient(const Operation& op);
    /// True of a module's lookup of embeddings, and of what goes over tp for it.
    [[nodiscard]] bool is_lookup_of_prediction(const Operation& op) const;
    void lookup_step(const Operation& op);
    void message_step(const Operation& op);
    void optimizer_step(const Operation& op);
    // memory_offload.cpp
    void host_copy_step(const Operation& op);
    // memory_units.cpp
    void begin_units(const Program& program, const Block& block);
    /// Weights that the operation gathers, gradients that begin with it.
    void make_units(const Operation& op);
    /// Weights that it read last, gradients that it summed last.
    void release_units(std::uint32_t operation);
    /// Shards of sums that stay until the update: no more in all than the chunk's.
    void leave_gradients(std::uint64_t bytes);
    // memory_experts.cpp
    void experts_step(const Operation& op);
    void dispatch_step();
    void compute_step();
    void return_step(const Operation& op);
    void experts_gradient(const Operation& op);
    void rows_gradient();
    void compute_gradient();
    void shared_step();
    void shared_gradient();

    /// A tensor of the current sublayer, that it keeps or (`kept` false) does not: made again by a recomputation.
    void keep(bool kept, std::uint64_t bytes) { tally_.make(kept_by(kept).rest, label_of(kept), bytes); }
    /// One that its weights' gradients read.
    void keep_for_weights(bool kept, std::uint64_t bytes) {
        tally_.make(kept_by(kept).for_weights, label_of(kept), bytes);
    }
    [[nodiscard]] SublayerMemory& kept_by(bool kept) { return forward() && !kept ? passing_ : sublayer(); }
    [[nodiscard]] MemoryLabel label_of(bool kept) const;
    /// The last value of a sublayer, before the residual sum.
    void end_sublayer(std::uint64_t elements);
    void work(Tensors& tensors, std::uint64_t bytes) { tally_.make(tensors, MemoryLabel::kWorkspace, bytes); }
    [[nodiscard]] bool forward() const { return phase_ == Phase::kForward; }
    [[nodiscard]] bool recomputes() const { return phase_ == Phase::kRecompute; }
    [[nodiscard]] bool gradient() const { return phase_ == Phase::kBackwardInput || phase_ == Phase::kBackwardWeight; }
    [[nodiscard]] bool weight() const { return phase_ == Phase::kBackwardWeight; }
    [[nodiscard]] bool in_feed_forward() const { return sublayer_ % 2 == 1; }
    /// The current sublayer has a router.
    [[nodiscard]] bool mixture() const { return in_feed_forward() && sublayer_ / 2 >= chunk_.dense_layers; }
    [[nodiscard]] bool in_sublayers() const {
        return sublayer_ >= 0 && sublayer_ < static_cast<int>(pass_.sublayers.size());
    }
    /// A head reads what the sublayer before `sublayer` makes.
    [[nodiscard]] bool is_head_input(int sublayer) const {
        return chunk_.last && sublayer % 2 == 0 && sublayer / 2 >= own_layers();
    }
    [[nodiscard]] int own_layers() const {
        return chunk_.layers.last - chunk_.layers.first - chunk_.layers.predictions;
    }
    [[nodiscard]] HeadMemory& head() { return pass_.heads[static_cast<std::size_t>(head_)]; }
    [[nodiscard]] SublayerMemory& prediction(const Operation& op) {
        const int own_last = chunk_.layers.last - chunk_.layers.predictions;
        return pass_.predictions[static_cast<std::size_t>(op.layer - own_last)];
    }
    [[nodiscard]] bool puts_off() const { return block_ == BlockKind::kBackwardInput; }
    [[nodiscard]] SublayerMemory& sublayer() { return pass_.sublayers[static_cast<std::size_t>(sublayer_)]; }
    [[nodiscard]] std::uint64_t rows() const;
    [[nodiscard]] std::uint64_t sent_rows() const;
    /// What is made again of the current sublayer's layer.
    [[nodiscard]] const models::Recompute& redone() const;
    [[nodiscard]] bool keeps_experts() const { return !redone().expert; }

    const MemorySizes& s_;
    const ChunkSizes& chunk_;
    std::span<const LayerRows> rows_;
    PassMemory& pass_;
    Playback playback_;
    MemoryTally tally_;
    BlockKind block_ = BlockKind::kForward;
    Phase phase_ = Phase::kForward;
    std::uint32_t number_ = 0;  ///< of the operation in its block
    int sublayer_ = 0;  ///< index of the current sublayer in the chunk; behind the last, or -1, when all have run
    int head_ = 0;      ///< index of the one that runs next: backward from the last
    // forward
    SublayerMemory passing_;  ///< what the current sublayer does not keep
    Tensors between_;         ///< input of the feed-forward of a layer that does not keep it
    Tensors ring_;            ///< keys and values that come round, and their gradients
    Tensors x_;               ///< what it has made last; backward: the gradient on its way through it
    Tensors output_;          ///< of the chunk
    // backward
    Tensors g_, gathered_g_, saved_;
    Tensors d_query_, d_key_value_, d_q_latent_, d_kv_latent_, d_inner_, d_gate_up_, d_sums_, delta_;
    Tensors d_projected_, d_embedding_;  ///< of a prediction module
    bool looks_up_ = false;              ///< between its lookup of embeddings and its projection
    bool sums_made_ = false;             ///< of queries and keys, by qk_norm_sums
    // experts
    Tensors mask_, leaving_, arrived_;
    Tensors d_returned_, d_rows_, d_arrived_, d_permuted_, d_weights_, d_logits_;
    Tensors shared_, shared_g_, d_shared_;
    // of units, between operations of a pass
    std::vector<UnitEnds> last_reads_, last_dense_sums_, last_expert_sums_;
    std::map<int, Tensors> gathered_, dense_sums_, expert_sums_;
    std::uint64_t gradients_left_ = 0;  ///< by leave_gradients
    bool sums_shared_ = false;          ///< the next sum over tp is that of the shared experts
};

}  // namespace auspex::schedule
