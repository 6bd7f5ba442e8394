#pragma once
/// @file Collectives as rounds of messages: what the trainer's transports run, and what the CPU lens plays.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace auspex::schedule {

/// The part of a collective's data that is all of it.
inline constexpr std::size_t kAllParts = static_cast<std::size_t>(-1);

/// A message between a member of a group and another one, by its group_rank.
struct RoundMessage {
    std::size_t peer = 0;
    std::size_t part = 0;  ///< of the parts that the data is cut into; kAllParts
};

/// What a member begins at once, in this order, and waits for before its next round. Messages without bytes are not
/// sent.
struct Round {
    std::vector<RoundMessage> receives, sends;
    bool copies_own_part = false;  ///< to itself, while messages are under way
    bool adds = false;    ///< what is received are the others' versions of `sum`: added to the member's own in the
                          ///< order of members. Else it is put where it belongs
    std::size_t sum = 0;  ///< a part
};
/// Of one member, at `group_rank` of a group of `members`. None in a group of one.
using Rounds = std::vector<Round>;

/// Each member sends every other its part at once, beginning with the next one, and adds up what it receives.
[[nodiscard]] Rounds reduce_scatter_rounds(std::size_t members, std::size_t group_rank);
/// Up to `gathered_bytes`: each sends all it has to every other, and adds up. Longer: a reduce-scatter, then each sends
/// its sums to every other at once.
[[nodiscard]] Rounds all_reduce_rounds(std::size_t members, std::size_t group_rank, double bytes,
                                       double gathered_bytes);
/// A ring of members - 1 rounds: each sends to the next member what it has received from the previous one.
[[nodiscard]] Rounds all_gather_rounds(std::size_t members, std::size_t group_rank);
/// Each member sends every other its part at once, beginning with the next one, and copies its own part. A group of one
/// copies.
[[nodiscard]] Rounds all_to_all_rounds(std::size_t members, std::size_t group_rank);
/// All to the next member, all from the previous one. None in a group of one.
[[nodiscard]] Rounds shift_rounds(std::size_t members, std::size_t group_rank);
/// As MPI libraries do it, whose barrier the trainer calls; the CPU lens plays it. Dissemination: in rounds k = 0, 1, …
/// < log2(members) an empty message to the member 2^k further on.
[[nodiscard]] Rounds barrier_rounds(std::size_t members, std::size_t group_rank);

/// First elements of the parts of an all-reduce, and the number of elements: of nearly equal size, each of whole items
/// of `elements_per_item` elements.
[[nodiscard]] std::vector<std::size_t> even_parts(std::size_t elements, std::size_t members,
                                                  std::size_t elements_per_item);

}  // namespace auspex::schedule
