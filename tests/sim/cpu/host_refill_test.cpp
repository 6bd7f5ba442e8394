/// @file What ranks of a core take from one another's caches, by equations.
#include "sim/cpu/host_refill.hpp"

#include <gtest/gtest.h>

namespace auspex {
namespace {

constexpr double kReach = 4e6, kByte = 30e-12;

Host host_of_one_core() {
    Host host;
    host.cores = 1;
    host.core_reach_bytes = kReach;
    host.refill_byte_s = kByte;
    return host;
}

HostPlaces two_ranks() {
    HostPlaces places;
    places.of_rank.resize(2);
    places.computers = places.nics = 1;
    return places;
}

/// Rank 0 goes through `bytes` of near operands, rank 1 through `others`, then rank 0 through `bytes` again.
double second_turn_s(const Host& host, bool bound, double bytes, double others) {
    const HostPlaces places = two_ranks();
    HostRefill refill(host, places, bound);
    refill.enter(0);
    EXPECT_EQ(refill.refill_s(0, bytes, bytes), 0) << "nothing was lost yet";
    refill.leave(0);
    refill.enter(1);
    EXPECT_EQ(refill.refill_s(1, others, others), 0);
    refill.leave(1);
    refill.enter(0);
    return refill.refill_s(0, bytes, bytes);
}

TEST(HostRefill, what_others_push_out_is_paid_once_per_fresh_byte) {
    // Of 4 MB half is fresh: 2 MB held. With 6 MB of the other, 8 MB are twice the reach: all of it is gone.
    EXPECT_NEAR(second_turn_s(host_of_one_core(), true, 4e6, 6e6), 2e6 * kByte, 1e-15);
    // With 4 MB of the other, 6 MB are half way from the reach to twice that: half of it is.
    EXPECT_NEAR(second_turn_s(host_of_one_core(), true, 4e6, 4e6), 1e6 * kByte, 1e-15);
    EXPECT_EQ(second_turn_s(host_of_one_core(), true, 4e6, 2e6), 0) << "both fit";
}

TEST(HostRefill, nothing_is_lost_alone_unbound_or_where_it_is_not_known) {
    EXPECT_EQ(second_turn_s(host_of_one_core(), true, 4e6, 0), 0) << "nobody ran in between";
    EXPECT_EQ(second_turn_s(host_of_one_core(), false, 4e6, 6e6), 0) << "not bound to a core";
    Host unknown = host_of_one_core();
    unknown.refill_byte_s = 0;
    EXPECT_EQ(second_turn_s(unknown, true, 4e6, 6e6), 0);
}

TEST(HostRefill, what_is_missing_is_gone_through_once) {
    const Host host = host_of_one_core();
    const HostPlaces places = two_ranks();
    HostRefill refill(host, places, true);
    refill.enter(0);
    static_cast<void>(refill.refill_s(0, 4e6, 4e6));  // holds 2 MB
    refill.leave(0);
    static_cast<void>(refill.refill_s(1, 8e6, 8e6));
    refill.enter(0);
    EXPECT_NEAR(refill.refill_s(0, 3e6, 3e6), 1.5e6 * kByte, 1e-15);
    EXPECT_NEAR(refill.refill_s(0, 3e6, 3e6), 0.5e6 * kByte, 1e-15) << "the rest of 2 MB";
    EXPECT_EQ(refill.refill_s(0, 3e6, 3e6), 0);
}

}  // namespace
}  // namespace auspex
