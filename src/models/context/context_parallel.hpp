#pragma once
/// @file How the ranks that share a sequence (context parallelism) reach its keys and values.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/pipeline/schedule_kind.hpp"

namespace auspex::models {

enum class ContextParallel : std::uint8_t {
    kAllGather,  ///< every rank gathers all keys and values
    kRing,       ///< keys and values go round, each part attended to while the next is on its way (arXiv:2310.01889)
    kAllToAll,   ///< each rank attends with a part of the heads over the whole sequence (Ulysses, arXiv:2309.14509)
    kTwoLevel,   ///< all-to-all among neighbours, a ring over the groups of them
    kWindows  ///< all-to-all among neighbours; each group of them has whole windows of an image, and needs no other's
};
inline constexpr std::array<std::string_view, 5> kContextParallelWords{"all-gather", "ring", "all-to-all", "two-level",
                                                                       "windows"};
[[nodiscard]] const char* to_string(ContextParallel);

/// cp = all_to_all * ring * windows; of an all-gather all are 1.
struct ContextSplit {
    int all_to_all = 1, ring = 1;
    int windows = 1;  ///< groups that have windows of their own
    bool operator==(const ContextSplit&) const = default;
};
/// `all_to_all`: of kTwoLevel and kWindows, as the plan gives it.
[[nodiscard]] ContextSplit context_split(ContextParallel kind, int cp, int all_to_all);

/// Of the heads of one of tp ranks, the times that each key and value is sent where `all_to_all` ranks have different
/// heads of queries: once, or to as many as there are ranks for it.
[[nodiscard]] double key_value_copies(int kv_heads, int all_to_all);

/// Why the split cannot be done: heads and kv_heads are those of one of the tp ranks. Both empty where it can. A ring
/// cuts the sequence in 2 ring parts, of which a rank has one from each end, so that all do the same under a causal
/// mask.
[[nodiscard]] PlanMisfit context_misfit(ContextParallel kind, int cp, int all_to_all, int heads, int kv_heads,
                                        int sequence_length);

}  // namespace auspex::models
