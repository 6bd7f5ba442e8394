/// @file Orders of passes for torch.distributed.pipelining, beside orders written by hand.
#include "schedule/orders/order_csv.hpp"

#include <gtest/gtest.h>

#include "order_plan.hpp"
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

using testing_plans::plan_of;

/// Two ranks: rank 0 runs one forward pass ahead (pp - 1 - rank), then one of each.
TEST(PipelineCsv, of_1f1b) {
    EXPECT_EQ(order_csv(order_of_plan(plan_of(models::ScheduleKind::k1f1b, 2, 4, 1))),
              "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n"
              "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n");
}

TEST(PipelineCsv, of_gpipe) {
    EXPECT_EQ(order_csv(order_of_plan(plan_of(models::ScheduleKind::kGpipe, 2, 3, 1))),
              "0F0,0F1,0F2,0B0,0B1,0B2\n"
              "1F0,1F1,1F2,1B0,1B1,1B2\n");
}

/// Two ranks with two chunks each, stages 0 and 2, 1 and 3: Megatron's order takes micro-batches in groups of pp, and
/// rank r runs 2 (pp - 1 - r) + (chunks - 1) pp forward passes ahead: 4 and 2.
TEST(PipelineCsv, of_interleaved_1f1b) {
    EXPECT_EQ(order_csv(order_of_plan(plan_of(models::ScheduleKind::kInterleaved1f1b, 2, 4, 2))),
              "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
              "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3\n");
}

}  // namespace
}  // namespace auspex::schedule
