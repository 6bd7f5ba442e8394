#pragma once
/// @file The units of fully sharded weights as PyTorch's FSDP2 has them in memory: shards, gathers, gradients, states.
#include <map>
#include <optional>
#include <vector>

#include "schedule/memory/caching_allocator.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// One tensor of weights, as tp leaves it to a rank, and its dim-0 shards.
struct WeightTensor {
    OpKind made_by = OpKind::kCount;  ///< whose weight operation makes its gradient; kCount: the unit's last one
    double rows = 0, columns = 0;
    int ranks = 1;  ///< that shard it: each has ceil(rows / ranks) rows, of which the last ones are empty
    [[nodiscard]] double elements() const { return rows * columns; }
    [[nodiscard]] double shard_elements() const;
    /// Of all ranks' shards: what is gathered and summed.
    [[nodiscard]] double padded_elements() const { return shard_elements() * ranks; }
};
/// By unit of a chunk (gradient_buckets.hpp).
using WeightUnits = std::map<int, std::vector<WeightTensor>>;
[[nodiscard]] WeightUnits weight_units(const models::Workload& workload, const models::Plan& plan,
                                       const models::Layout& layout, int virtual_stage);

/// Of a chunk with `layers`: the embedding's tensors in front of the LM head's, in one unit, which is the head's.
[[nodiscard]] WeightUnits with_ends_in_root(WeightUnits units, LayerRange layers);

/// What torch/distributed/fsdp/_fully_shard (_fsdp_param_group.py, _fsdp_collectives.py) allocates and releases around
/// the units of a rank, in the order in which its hooks run on the host:
/// - a pass enters a unit: of weights that are not there the cast shard, for as long as it is copied, and the gathered
///   buffer on the stream of copies, then each tensor on the compute stream. In a forward pass the buffer stays until
///   the next unit's is copied out, so that two are there; in a backward pass it is released at once, and the next
///   unit's is gathered before this one computes;
/// - it leaves one: its weights are released (not those of the last unit forward, where they stay). Backward, the sum's
///   input of the unit before is released, one of all gradients in the type of sums is made, the gradients themselves
///   are released, and their sum's shard is made on the stream of sums: it stays until the update, or is added to the
///   one that is there.
/// The embedding's weights are gathered in a backward pass, too, though no gradient asks for them.
/// With `root_has_ends` (Stack) embedding and LM head are one unit: a forward pass begins with it, it stays there until
/// the end of the backward pass, and then its gradients are summed, all at once; the last layer stays from the forward
/// to the backward pass.
class ShardedUnits {
 public:
    /// Of the library, for what stays gathered.
    struct Keeping {
        bool last_unit = false;      ///< keeps_last_unit
        bool root_has_ends = false;  ///< Stack::root_has_ends
    };
    /// Chunks of one rank. Allocates the shards.
    ShardedUnits(CachingAllocator& allocator, const models::Plan& plan, std::vector<WeightUnits> chunks,
                 const Keeping& keeps);
    void begin_pass(const Block& block, LayerRange layers, bool is_tied);
    /// In front of an operation of the pass, and behind it.
    void before(const Operation& op);
    void behind(const Operation& op);
    void end_pass();
    /// First update: makes the states. Then gradients are released.
    void update();

 private:
    static constexpr int kComputeStream = 0, kCopyStream = 1, kSumStream = 2;
    using Block_ = CachingAllocator::Block;
    struct State {
        std::vector<Block_> gathered, weights, gradients;  ///< gathered: the buffer, if it is there
        std::vector<bool> has_gradient;                    ///< by tensor, in this pass
        std::vector<Block_> sums;                          ///< shards of sums, until the update
    };
    struct Key {
        int chunk = 0, unit = 0;
        auto operator<=>(const Key&) const = default;
    };
    /// Of an operation, the root's for both ends.
    [[nodiscard]] std::optional<int> unit_at(const Operation& op) const;
    /// From a forward pass to the backward pass.
    [[nodiscard]] bool stays(int unit) const;
    [[nodiscard]] bool is_root(int unit) const;
    void enter(Key key);
    void finish(Key key);
    void leave(Key key);
    void gather(Key key);
    void copy_out(Key key);
    void make_gradients(Key key, std::optional<OpKind> made_by);
    void sum(Key key);
    void prefetch(Key key);
    [[nodiscard]] Block_ make(double bytes, int stream) const;
    void release(std::vector<Block_>& blocks);

    CachingAllocator& allocator_;
    double weight_bytes_, shard_bytes_, sum_bytes_, stored_bytes_, state_bytes_;
    Keeping keeps_;
    std::vector<WeightUnits> chunks_;
    std::map<Key, State> states_;
    std::vector<Block_> held_gather_, held_sum_;  ///< of the unit before
    std::map<int, std::vector<int>> order_;       ///< by chunk: units in the order of its last forward pass
    bool has_states_ = false;
    // of the pass
    int chunk_ = 0;
    LayerRange layers_;
    bool is_tied_ = false, forward_ = true;
    std::optional<int> unit_;
};

}  // namespace auspex::schedule
