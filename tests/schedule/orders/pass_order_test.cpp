/// @file Orders of passes: complete, causal, and with the warm-up and the number in flight that their schedule is known
/// for.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "order_plan.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using testing_plans::plan_of;

/// Micro-batches whose forward has run and whose backward has not, at most, over all chunks.
int most_in_flight(const std::vector<Pass>& order) {
    int now = 0, most = 0;
    for (const Pass& pass : order) {
        now += pass.is_forward() ? 1 : -1;
        most = std::max(most, now);
    }
    return most;
}

int forwards_before_the_first_backward(const std::vector<Pass>& order) {
    int count = 0;
    while (order[static_cast<std::size_t>(count)].is_forward()) {
        ++count;
    }
    return count;
}

/// Each (chunk, micro-batch) once forward and once, later, backward.
void expect_complete_and_causal(const models::Plan& plan, int stage) {
    std::map<std::pair<int, int>, int> state;  // 1: forward has run; 2: backward too
    for (const Pass& pass : pipeline_order(plan, stage)) {
        int& s = state[{pass.chunk, pass.micro_batch}];
        ASSERT_EQ(s, pass.is_forward() ? 0 : 1)
            << "stage " << stage << " chunk " << pass.chunk << " micro-batch " << pass.micro_batch;
        ++s;
    }
    ASSERT_EQ(state.size(), static_cast<std::size_t>(plan.micro_batches * plan.virtual_stages));
    for (const auto& [pass, s] : state) {
        ASSERT_EQ(s, 2);
        ASSERT_TRUE(pass.first >= 0 && pass.first < plan.virtual_stages && pass.second >= 0 &&
                    pass.second < plan.micro_batches);
    }
}

TEST(PipelineOrder, every_pass_runs_once_and_a_backward_comes_after_its_forward) {
    for (const int pp : {1, 2, 3, 4, 8}) {
        for (const int m : {1, 2, 3, 8, 24}) {
            for (int stage = 0; stage < pp; ++stage) {
                expect_complete_and_causal(plan_of(models::ScheduleKind::kGpipe, pp, m), stage);
                expect_complete_and_causal(plan_of(models::ScheduleKind::k1f1b, pp, m), stage);
                for (const int v : {2, 3, 4}) {
                    if (pp > 1 && m % pp == 0) {
                        expect_complete_and_causal(plan_of(models::ScheduleKind::kInterleaved1f1b, pp, m, v), stage);
                    }
                }
            }
        }
    }
}

TEST(PipelineOrder, gpipe_runs_all_forwards_first_and_holds_all_m) {
    // m = 6 micro-batches.
    const auto order = pipeline_order(plan_of(models::ScheduleKind::kGpipe, 4, 6), 2);
    EXPECT_EQ(forwards_before_the_first_backward(order), 6);
    EXPECT_EQ(most_in_flight(order), 6);
}

TEST(PipelineOrder, one_f_one_b_warms_up_with_pp_minus_1_minus_stage_forwards_and_holds_min_of_pp_minus_stage_and_m) {
    for (const int pp : {1, 2, 4, 8}) {
        for (const int m : {1, 2, 5, 16}) {
            for (int stage = 0; stage < pp; ++stage) {
                const auto order = pipeline_order(plan_of(models::ScheduleKind::k1f1b, pp, m), stage);
                // The steady state begins with one more forward than the warm-up.
                EXPECT_EQ(forwards_before_the_first_backward(order), std::min(pp - stage, m))
                    << pp << " " << m << " " << stage;
                EXPECT_EQ(most_in_flight(order), std::min(pp - stage, m)) << pp << " " << m << " " << stage;
            }
        }
    }
}

TEST(PipelineOrder, interleaved_warms_up_with_2_pp_minus_1_minus_stage_plus_v_minus_1_pp_forwards) {
    for (const int pp : {2, 4}) {
        for (const int v : {2, 3}) {
            const models::Plan plan = plan_of(models::ScheduleKind::kInterleaved1f1b, pp, 4 * pp, v);
            for (int stage = 0; stage < pp; ++stage) {
                const int warm_up = 2 * (pp - 1 - stage) + (v - 1) * pp;
                EXPECT_EQ(forwards_before_the_first_backward(pipeline_order(plan, stage)), warm_up + 1);
                EXPECT_EQ(most_in_flight(pipeline_order(plan, stage)), warm_up + 1);
            }
        }
    }
}

TEST(PipelineOrder, interleaved_walks_pp_micro_batches_chunk_after_chunk_and_back_from_the_last) {
    const auto order = pipeline_order(plan_of(models::ScheduleKind::kInterleaved1f1b, 2, 4, 2), 1);
    std::string text;
    for (const Pass& pass : order) {
        text +=
            (pass.is_forward() ? "F" : "B") + std::to_string(pass.chunk) + "." + std::to_string(pass.micro_batch) + " ";
    }
    EXPECT_EQ(text, "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 B0.3 ");
}

TEST(PipelineOrder, layers_are_dealt_in_order_and_the_first_stages_get_the_rest) {
    models::Workload workload;
    workload.layers = 61;
    const models::Plan plan = plan_of(models::ScheduleKind::k1f1b, 16, 1);
    int next = 0;
    for (int stage = 0; stage < 16; ++stage) {
        const LayerRange range = layers_of(workload, plan, stage);
        EXPECT_EQ(range.first, next);
        EXPECT_EQ(range.last - range.first, stage < 61 % 16 ? 4 : 3);
        next = range.last;
    }
    EXPECT_EQ(next, 61);
}

}  // namespace
}  // namespace auspex::schedule
