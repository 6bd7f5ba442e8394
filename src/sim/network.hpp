#pragma once
/// @file Communications unrolled into phases of flows over the fabric; rates shared max-min fairly among all that are
/// active.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/layout.hpp"
#include "schedule/communication.hpp"
#include "sim/fabric.hpp"

namespace auspex {

/// A set of equal flows that start together (say, one ring step of every sibling group of a stage). Equal patterns
/// share an id.
using PatternId = std::uint32_t;

/// One part of a communication: first `latency_s` in which nothing flows, then `bytes` on every flow of `pattern`,
/// until the slowest flow ends. Repeated steps over the same pattern (ring) are one phase: latency and bytes are their
/// sums.
struct TransferPhase {
    double latency_s = 0;
    double bytes = 0;
    PatternId pattern = 0;
};

/// An unrolled communication, as every sibling group of the stage performs it at the same time.
struct Transfer {
    std::vector<TransferPhase> phases;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
    double bytes_sent = 0;  ///< by one rank, the mean over the group: what the closed form of the algorithm says
    int rounds = 0;         ///< rounds in which ranks synchronise; for jitter
    bool leaves_node = false;
};

class Network {
 public:
    Network(const Machine& machine, const Stack& stack, const Layout& layout);
    ~Network();
    Network(Network&&) noexcept;

    /// Unrolls a communication of all groups of `kind` in `stage`; the algorithm is the stack's for this kind, size and
    /// group, kAuto the fastest. `scale` multiplies the bytes of the busiest rank (uneven all-to-all). Groups of one
    /// rank give no phases.
    [[nodiscard]] Transfer unroll(CommKind comm, GroupKind group, int stage, double bytes, double scale = 1);

    /// Rate of every pattern (bytes/s of its slowest flow) while exactly these are active, max-min fair over all links.
    /// Remembered by set. The span returned is valid until the next call. Order of `active` does not matter to the
    /// result; repeats are allowed (counted twice).
    [[nodiscard]] std::span<const double> rates(std::span<const PatternId> active);
    /// Rate when alone.
    [[nodiscard]] double solo_rate(PatternId pattern);
    /// Time of a transfer when nothing else is active: sum of latency + bytes / solo_rate.
    [[nodiscard]] double solo_time_s(const Transfer& transfer);
    /// True if no link of `pattern` is used by any pattern in `others` (apart from itself).
    [[nodiscard]] bool is_disjoint(PatternId pattern, std::span<const PatternId> others) const;

    /// The link that bounds the pattern when alone, and its kind.
    [[nodiscard]] LinkKind bottleneck(PatternId pattern);
    [[nodiscard]] const Fabric& fabric() const;
    [[nodiscard]] std::size_t pattern_count() const;
    [[nodiscard]] std::size_t sets_solved() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex
