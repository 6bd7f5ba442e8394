#pragma once
/// @file Which steps of a run are done, which are done again, and the one that goes on.
#include <algorithm>
#include <cstdint>

#include "campaign/ledger.hpp"
#include "campaign/quantities.hpp"

namespace auspex::campaign {

class Progress {
 public:
    /// Keeps a reference to `book`. `step`: what a step takes where no node is slow.
    Progress(Nanoseconds step, Ledger& book) : step_(step), pace_(step), book_(book) {}

    [[nodiscard]] std::int64_t done() const { return done_; }
    /// Up to where the last checkpoint was copied, or found.
    [[nodiscard]] std::int64_t saved() const { return saved_; }
    void save() { saved_ = done_; }
    /// How many steps there are of this kind, new ones or such that were done before, of `all`.
    [[nodiscard]] std::int64_t alike(std::int64_t all) const { return (is_new() ? all : furthest_) - done_; }
    /// Time that the step which goes on has had, and still needs at its own pace.
    [[nodiscard]] Nanoseconds partial() const { return partial_; }
    [[nodiscard]] Nanoseconds left_of_step() const { return std::max<Nanoseconds>(step_ - partial_, 0); }

    /// What steps take from now on; the one that goes on keeps the pace that it began with. Returns the pace that
    /// holds.
    Nanoseconds set_pace(Nanoseconds pace) { return pace_ = partial_ > 0 ? pace_ : pace; }
    /// Time goes to steps, at the pace.
    void pass(Nanoseconds length, Ledger::Nodes nodes);
    /// The job stops: what the step that goes on has had is lost.
    void lose_partial();
    /// The job goes on behind this step.
    void restore(std::int64_t step);

 private:
    [[nodiscard]] bool is_new() const { return done_ >= furthest_; }
    [[nodiscard]] Nanoseconds slow_part(Nanoseconds time) const;

    Nanoseconds step_, pace_;
    Ledger& book_;
    std::int64_t done_ = 0, saved_ = 0, furthest_ = 0;
    Nanoseconds partial_ = 0, partial_work_ = 0;  ///< of the step that goes on, and what of it was booked as work
};

}  // namespace auspex::campaign
