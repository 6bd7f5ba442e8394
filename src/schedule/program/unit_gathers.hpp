#pragma once
/// @file Gathers of sharded weights ahead of what reads them.
#include <vector>

#include "schedule/program/block_builder.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {

/// What a pass runs one after another, and gathers before it does.
struct GatheredUnit {
    int unit = 0, layer = -1;
    StageParameters parameters;
    StageParameters more{};  ///< of a second unit, which is needed as well
    int second_unit = -1;    ///< none
    bool is_there = false;   ///< it stays gathered from the forward pass (keeps_last_unit), or comes with the first of
                             ///< its bucket
};
/// Embedding, layers, final norm with LM head, which prediction modules behind it use again, and these: as far as the
/// virtual stage has them. Where embedding and head are one table, what the pass gathered for the first is still there
/// for the last.
[[nodiscard]] std::vector<GatheredUnit> forward_units(const models::Workload& workload, const models::Plan& plan,
                                                      int virtual_stage);
/// Head and layers: gradients of an embedding ask for no weights. None where weights gathered for the forward pass stay
/// (reshard_after_forward false). A head with the embedding's table gathers that unit, too.
[[nodiscard]] std::vector<GatheredUnit> backward_units(const models::Workload& workload, const models::Plan& plan,
                                                       const models::Stack& stack, int virtual_stage);

/// Neighbours gathered as one, with the first of them, until they have as many parameters as a bucket of the stack has
/// in fp32, or 1 M for each rank that shares them if that is more (megatron/core/distributed, DistributedDataParallel;
/// from memory).
[[nodiscard]] std::vector<GatheredUnit> in_buckets(const std::vector<GatheredUnit>& units, double bucket_bytes,
                                                   int sharers);

/// Emits the gathers of a pass: before a unit runs those of plan.prefetch units behind it, too.
class UnitGathers {
 public:
    UnitGathers(BlockBuilder& builder, const models::Layout& layout, std::vector<GatheredUnit> units)
        : b_(builder), layout_(layout), units_(std::move(units)), gathered_(units_.size(), kNoValue) {}
    /// All of them begin with the pass, one behind the other.
    void all_at_once();
    /// The next unit runs once `x` is there, and waits for its weights.
    void before_next(Value x);

 private:
    void gather_until(std::size_t end, Value after);
    Value gather(const GatheredUnit& of, Value after);
    Value gather(int unit, const StageParameters& parameters, Value after);

    BlockBuilder& b_;
    const models::Layout& layout_;
    std::vector<GatheredUnit> units_;
    std::vector<Value> gathered_;  ///< what the unit waits for
    std::size_t next_ = 0, ahead_ = 0;
};

}  // namespace auspex::schedule
