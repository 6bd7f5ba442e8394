/// @file When kills come: draws, and the clock of what can be killed.
#include "workflows/endure/killer.hpp"

#include <gtest/gtest.h>

#include <array>

namespace auspex::workflows {
namespace {

using Kind = launch::RunEvent::Kind;

TEST(KillDraws, are_exponential_over_even_ranks) {
    constexpr int kDraws = 40'000, kRanks = 4;
    KillDraws draw(3.0, kRanks, Rng(7));
    double sum = 0, squares = 0;
    int late = 0;
    std::array<int, kRanks> by_rank{};
    for (int i = 0; i < kDraws; ++i) {
        const Strike strike = draw();
        ASSERT_GE(strike.after_s, 0);
        sum += strike.after_s, squares += strike.after_s * strike.after_s;
        late += strike.after_s > 3.0 ? 1 : 0;
        ++by_rank.at(static_cast<std::size_t>(strike.rank));
    }
    EXPECT_NEAR(sum / kDraws, 3.0, 0.06);             // mean M
    EXPECT_NEAR(squares / kDraws, 18.0, 0.9);         // 2 M^2
    EXPECT_NEAR(late / double(kDraws), 0.368, 0.01);  // e^-1
    for (const int count : by_rank) {
        EXPECT_NEAR(count, kDraws / kRanks, 400);
    }
}

TEST(KillDraws, are_the_same_for_the_same_seed) {
    KillDraws one(2.0, 2, Rng(5)), other(2.0, 2, Rng(5)), third(2.0, 2, Rng(6));
    const Strike a = one(), b = other(), c = third();
    EXPECT_EQ(a.after_s, b.after_s);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_NE(a.after_s, c.after_s);
}

TEST(KillClock, runs_from_the_first_step_and_stands_still_while_nothing_is_there) {
    KillClock clock;
    clock.take({Kind::kLaunched, 0, 10});
    clock.take({Kind::kStarted, 0, 11});
    EXPECT_FALSE(clock.is_running());  // before the first step nobody is killed
    clock.take({Kind::kStep, 0, 12});
    EXPECT_TRUE(clock.is_running());
    clock.take({Kind::kStep, 1, 13});
    EXPECT_EQ(clock.steps(), 2);
    EXPECT_DOUBLE_EQ(clock.exposed_s(14), 2);
    clock.stop(15);
    EXPECT_DOUBLE_EQ(clock.exposed_s(100), 3);
    clock.take({Kind::kEnded, 0, 16});
    clock.take({Kind::kLaunched, 0, 17});
    EXPECT_FALSE(clock.is_running());
    EXPECT_EQ(clock.steps(), 0);
    clock.take({Kind::kStarted, 0, 18});  // from now on there is something to kill again
    EXPECT_TRUE(clock.is_running());
    EXPECT_DOUBLE_EQ(clock.exposed_s(20), 5);
    clock.take({Kind::kStep, 0, 19});
    EXPECT_DOUBLE_EQ(clock.exposed_s(20), 5);
}

}  // namespace
}  // namespace auspex::workflows
