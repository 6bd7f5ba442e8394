#pragma once
/// @file Units whose weights or gradients are whole during a pass only.
#include <vector>

#include "exec/state/rank.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::exec {

/// Of one use of a block: gradients are made where they begin; behind their sum the rank's shard of it is added to its
/// own, and they are released; and so are weights behind the last operation that reads them.
template <class P>
class PassUnits {
 public:
    PassUnits(Rank<P>& rank, const schedule::Block& block);
    void before(const CurrentOperation& current);
    void after(const CurrentOperation& current);

 private:
    [[nodiscard]] UnitTensors<P>& tensors_of(int unit, std::size_t& bucket);
    void end_sum(int unit, bool experts);

    Rank<P>& rank_;
    const schedule::Block& block_;
    bool is_split_ = false;  ///< gradients wait for a pass of their own: they are not released
    std::vector<schedule::UnitEnds> last_reads_, last_dense_sums_, last_expert_sums_;
};

}  // namespace auspex::exec
