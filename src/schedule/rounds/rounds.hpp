#pragma once
/// @file Collectives as rounds of messages: what the trainer's transports run, and what the CPU lens plays.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace auspex::schedule {

/// The part of a collective's data that is all of it.
inline constexpr std::size_t kAllParts = static_cast<std::size_t>(-1);

/// A message between a member of a group and another one, by its place.
struct RoundMessage {
    std::size_t peer = 0;
    std::size_t part = 0;  ///< of the parts that the data is cut into; kAllParts
};

/// What a member begins at once, in this order, and waits for before its next round. Messages without bytes are not
/// sent.
struct Round {
    std::vector<RoundMessage> receives, sends;
    bool copies_own_part = false;  ///< to itself, while messages are under way
    bool adds = false;    ///< what is received are the others' versions of `sum`: joined with the member's own in the
                          ///< order of members. Else it is put where it belongs
    std::size_t sum = 0;  ///< a part
};
/// Of one member, at `place` of a group of `members`. None in a group of one.
using Rounds = std::vector<Round>;

/// Each sends every other its part at once, beginning with the next one, and joins what has come.
[[nodiscard]] Rounds reduce_scatter_rounds(std::size_t members, std::size_t place);
/// Up to `gathered_bytes`: each sends all it has to every other, and joins. Longer: a reduce-scatter, then each sends
/// its sums to every other at once.
[[nodiscard]] Rounds all_reduce_rounds(std::size_t members, std::size_t place, double bytes, double gathered_bytes);
/// A ring: members - 1 rounds, each passes on to the next member what has come from the previous one.
[[nodiscard]] Rounds all_gather_rounds(std::size_t members, std::size_t place);
/// Each sends every other its part at once, beginning with the next one, and copies its own. A group of one copies.
[[nodiscard]] Rounds all_to_all_rounds(std::size_t members, std::size_t place);
/// Rounds k = 0, 1, … of a message to the member 2^k places on, until all have heard of all.
[[nodiscard]] Rounds barrier_rounds(std::size_t members, std::size_t place);

/// First elements of the parts of an all-reduce, and the number of elements: alike in size, of whole runs of
/// `together` elements.
[[nodiscard]] std::vector<std::size_t> even_parts(std::size_t elements, std::size_t members, std::size_t together);

}  // namespace auspex::schedule
