#pragma once
/// @file What the engine keeps while it plays: events, streams, roles, transfers under way.
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"
#include "sim/engine.hpp"

namespace auspex {

inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();
inline constexpr std::uint32_t kNone = ~0U;

/// The one order of events: time, then the sequence in which they were made.
struct Event {
    Picoseconds time;
    std::uint64_t sequence;
    enum class Type : std::uint8_t { kComputeEnd, kPrivateEnd, kTransferStep, kWorldEnd } type;
    std::uint32_t role = 0;  ///< role, or index of the active transfer for kTransferStep
    std::uint32_t flat = 0;
    std::uint32_t generation = 0;
    friend bool operator<(const Event& a, const Event& b) {  // std heaps keep the largest on top
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
};

/// When a pipeline message left, and when it was there.
struct Message {
    Picoseconds sent = kNever, arrived = kNever;
};

/// Where a stream of a role stands: the next piece to start, and the one in flight.
struct StreamState {
    std::uint32_t use = 0, piece = 0;  ///< next piece: block use, index within the block
    std::uint32_t flat = kNone;        ///< its number among the role's pieces; kNone: no more
    std::uint32_t in_flight = kNone;
    [[nodiscard]] std::uint32_t first_unfinished() const { return in_flight != kNone ? in_flight : flat; }
};

/// Where a role stands in its program and in its accounts.
struct RoleState {
    const Role* role = nullptr;
    std::vector<std::uint32_t> use_offset;
    std::vector<std::uint8_t> done;
    std::vector<Picoseconds> start;
    std::array<StreamState, kStreamCount> streams;
    std::size_t pieces_left = 0;
    Picoseconds accounted = 0;  ///< the role's time is divided into losses up to here
    LossTimes losses{};
    // the compute piece in flight, which a collective beside it slows down
    double work_left = 0;
    Picoseconds work_since = 0;
    std::uint32_t compute_generation = 0;
    int collectives = 0;
    Loss interference = Loss::kExposedDp;
    std::uint32_t worlds = 0;  ///< world pieces reached
};

/// A transfer whose links others may use.
struct Active {
    std::uint32_t role = 0, flat = 0, use = 0, piece = 0, transfer = 0;
    std::size_t phase = 0;
    bool flowing = false;
    double bytes_left = 0, rate = 0;
    Picoseconds since = 0;
    std::uint32_t generation = 0;
    bool alive = false;
};

/// An operation of all roles: it begins when the last has come.
struct World {
    int arrived = 0;
    Picoseconds start = 0, duration = 0;
    std::vector<std::uint32_t> flats, uses, pieces;  ///< by role
};

}  // namespace auspex
