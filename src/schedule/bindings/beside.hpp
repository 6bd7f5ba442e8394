#pragma once
/// @file Which communications the trainer runs beside what follows them, and what waits for them.
#include <cstddef>
#include <cstdint>
#include <deque>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Where a plan overlaps dp: sums of gradients and gathers of parameters. They begin at their place in the program and
/// end by themselves. Sums over tp, whose tensors are packed for the operation only, and what all ranks of the world do
/// together are done at once.
[[nodiscard]] bool runs_beside(const Program& program, const Operation& op);

/// The communications of a rank that run beside, first begun, first ended: those of Stream::kDp, which is one queue.
class BesideQueue {
 public:
    /// From now on operations are those of one more use of this block.
    void begin_block(const Block& block) { first_ = block.op_begin, ++use_; }
    void push(const Program& program, const Operation& op) { queue_.push_back({program.index_of(op), use_}); }
    void pop() { queue_.pop_front(); }
    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// How many, from the first, must have ended before this operation begins: up to the last that it depends on; all
    /// of them where it joins their stream, or is of their stream and does not run beside itself.
    [[nodiscard]] std::size_t ahead_of(const Program& program, const Operation& op) const;

 private:
    struct Begun {
        std::size_t operation = 0;  ///< of the program
        std::uint64_t use = 0;
    };
    std::deque<Begun> queue_;
    std::size_t first_ = 0;  ///< operation of the block
    std::uint64_t use_ = 0;
};

}  // namespace auspex::schedule
