#pragma once
/// @file When the sources of failure strike next, in time that the job is exposed to them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "campaign/quantities.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

/// The generator of one purpose of one sample: it depends on these three numbers alone.
[[nodiscard]] Rng stream_of(std::uint64_t seed, std::uint64_t sample, std::uint64_t purpose);

/// A clock for each source, with random numbers of its own, so that a change of one source, or of anything else in the
/// campaign, leaves the draws of the others as they were.
class FailureClocks {
 public:
    /// Keeps a reference to `sources`.
    FailureClocks(const std::vector<FailureSource>& sources, std::uint64_t seed, std::uint64_t sample);

    /// Exposure at which the next one strikes, and which it is: the first of those that strike at once.
    [[nodiscard]] Nanoseconds due() const { return due_; }
    [[nodiscard]] std::size_t next() const { return next_; }
    /// The next one strikes: its clock is set again.
    void strike();
    /// From now on the sources that take nodes strike so many times as often as their means say.
    void quicken(Nanoseconds exposed, double factor);
    /// Of the source's own stream: how its failure shows.
    [[nodiscard]] double uniform(std::size_t source) { return clocks_[source].rng.uniform(); }

 private:
    struct Clock {
        Rng rng;
        Nanoseconds due = kNever;
        std::size_t of_trace = 0;
    };
    [[nodiscard]] Nanoseconds draw(std::size_t source);
    void find_next();

    const std::vector<FailureSource>& sources_;
    std::vector<Clock> clocks_;
    double factor_ = 1;
    Nanoseconds due_ = kNever;
    std::size_t next_ = 0;
};

}  // namespace auspex::campaign
