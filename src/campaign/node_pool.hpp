#pragma once
/// @file The nodes of a job: lemons among them, spares beside them, failed ones on their way back.
#include <cstdint>
#include <deque>
#include <vector>

#include "base/rng.hpp"
#include "campaign/quantities.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

class NodePool {
 public:
    /// `window`: counts of failed nodes are kept for every so long of exposure; 0: one count.
    NodePool(const Nodes& nodes, Nanoseconds window, Rng rng);

    /// How much more often nodes fail than ordinary ones: 1 + lemons (factor - 1) / nodes.
    [[nodiscard]] double pace() const;
    /// So many fail, of which the first one caused it; others take their places.
    void take(int count, Nanoseconds now, Nanoseconds exposed);
    /// Nodes that the job lacks until spares fill in.
    [[nodiscard]] int missing() const { return missing_; }
    /// Puts spares in the places of missing nodes; false, and nothing is done, where there are too few.
    [[nodiscard]] bool fill(Nanoseconds now);
    /// When enough nodes are back; kNever if they never are.
    [[nodiscard]] Nanoseconds filled_at() const;
    /// A new allocation: all nodes and spares.
    void renew();
    /// Of each window that was over by then; of the one there is, where none was.
    [[nodiscard]] std::vector<std::int64_t> windows(Nanoseconds exposed) const;

 private:
    const Nodes& nodes_;
    Nanoseconds window_;
    Rng rng_;
    int lemons_ = 0;  ///< in the job
    int spares_ = 0, missing_ = 0;
    std::deque<Nanoseconds> returns_;  ///< when each failed node is back, in order
    std::vector<std::int64_t> windows_;
};

}  // namespace auspex::campaign
