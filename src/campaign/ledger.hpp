#pragma once
/// @file The clock of one campaign, and the book of what its time went to.
#include <cstddef>

#include "campaign/spent.hpp"

namespace auspex::campaign {

class Ledger {
 public:
    Ledger(std::size_t sources, bool keeps_periods);

    [[nodiscard]] Nanoseconds now() const { return now_; }
    /// Time in which failures could strike.
    [[nodiscard]] Nanoseconds exposed() const { return out_.exposed; }

    enum class Nodes : std::uint8_t { kNone, kIdle, kExposed };
    /// The clock goes on, with nodes allocated or without; `slow` of it is booked as slow nodes.
    void pass(Nanoseconds length, Spent spent, Nodes nodes, Nanoseconds slow = 0);
    /// Work that was booked and is lost.
    void lose(Nanoseconds work);
    /// From now on what is lost counts to no source.
    void blame_none() { cause_ = out_.lost_to.size(); }
    void strike(std::size_t source);

    /// What is counted beside time.
    [[nodiscard]] Outcome& out() { return out_; }
    [[nodiscard]] const Outcome& out() const { return out_; }

 private:
    void book(Nanoseconds length, Spent spent);

    Outcome out_;
    bool keeps_periods_;
    Nanoseconds now_ = 0;
    std::size_t cause_;
};

}  // namespace auspex::campaign
