/// @file Streams beside compute, as cases say them.
#include "compare/evaluate/words/overlap_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace auspex::evaluate {
namespace {

using Streams = std::vector<std::string>;

TEST(OverlapWords, nothing_runs_beside_compute) {
    for (const char* const none : {"none", "none (blocking all-reduce after backward)", "none (no gradient bucketing)",
                                   "no overlap", "overlap off", "false", "without overlap", "off"}) {
        EXPECT_TRUE(overlap_said(none).is_none) << none;
    }
    for (const char* const other : {"", "dp", "FSDP2 prefetch", "no TP overlap", "none (vanilla TP)", "true"}) {
        EXPECT_FALSE(overlap_said(other).is_none) << other;
    }
}

TEST(OverlapWords, a_list_has_these_streams_and_no_others) {
    for (const char* const list : {"dp, pp", "dp only, pp", "DP and PP", "dp + p2p overlap", "DDP overlap; pp"}) {
        EXPECT_TRUE(overlap_said(list).is_list) << list;
        EXPECT_EQ(overlap_said(list).named, (Streams{"dp", "pp"})) << list;
    }
    EXPECT_EQ(overlap_said("tensor comm only").named, Streams{"tp"});
    for (const char* const other :
         {"", "overlap", "FSDP2 prefetch", "dp, pp (no tp)", "async TP", "overlap-grad-reduce, pp"}) {
        EXPECT_FALSE(overlap_said(other).is_list) << other;
    }
}

TEST(OverlapWords, streams_are_named_and_denied_by_their_own_words) {
    const OverlapSaid flags = overlap_said("overlap-grad-reduce, overlap-param-gather, tp-comm-overlap, pp overlap");
    EXPECT_EQ(flags.named, (Streams{"tp", "pp"}));
    EXPECT_TRUE(flags.without.empty() && !flags.is_none);
    EXPECT_EQ(overlap_said("async TP").named, Streams{"tp"});
    for (const char* const text :
         {"no TP overlap", "none (vanilla TP)", "tp overlap off", "TP not overlapped", "without tensor overlap"}) {
        EXPECT_EQ(overlap_said(text).without, Streams{"tp"}) << text;
        EXPECT_TRUE(overlap_said(text).named.empty()) << text;
    }
    const OverlapSaid both = overlap_said("DP overlap on; TP overlap off");
    EXPECT_EQ(both.named, Streams{"dp"});
    EXPECT_EQ(both.without, Streams{"tp"});
    EXPECT_EQ(overlap_said("torch DDP overlaps grad all-reduce; local DDP does not").named, Streams{"dp"});
    EXPECT_TRUE(overlap_said("steps, support, http").named.empty()) << "words of their own alone";
}

}  // namespace
}  // namespace auspex::evaluate
