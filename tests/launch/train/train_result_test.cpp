/// @file A run's result, written and read back.
#include "launch/train/train_result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::launch {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();

TrainResult read_back(const TrainResult& result) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object();
        write_train_result(json, result);
        json.end_object();
    }
    return read_train_result(JsonDocument::parse(text.str(), "result"));
}

exec::RunReport report_of_two_ranks() {
    exec::RunReport report;
    report.first_step = 3;
    report.steps = {{.step = 3,
                     .loss = 6.25,
                     .cross_entropy = 6,
                     .auxiliary = 0.25,
                     .z = 1e-300,
                     .gradient_norm = 0.1,
                     .learning_rate = 3e-3,
                     .step_time_s = 1.0 / 3,
                     .tokens_per_s = 12345.678,
                     .probe_s = 2e-5},
                    {.step = 4, .loss = kNan, .cross_entropy = -kInfinite, .gradient_norm = kInfinite}};
    report.ranks.resize(2);
    for (int rank = 0; rank < 2; ++rank) {
        exec::RankReport& one = report.ranks[static_cast<std::size_t>(rank)];
        one.rank = rank;
        for (std::size_t label = 0; label < one.peaks.size(); ++label) {
            one.peaks[label] = 1000 * label + static_cast<std::size_t>(rank);
        }
        one.peak_bytes = 77 + static_cast<std::size_t>(rank);
        one.counts.resize(static_cast<std::size_t>(schedule::OpKind::kCount));
        one.counts[static_cast<std::size_t>(schedule::OpKind::kBarrier)] = {.operations = 2, .messages = 5, .bytes = 7};
    }
    report.notes = {"a \"note\"\nof two lines"};
    return report;
}

TEST(TrainResult, is_read_as_it_was_written) {
    TrainResult result = train_result(report_of_two_ranks(), nullptr);
    result.restarts = {{.reason = "rank 1 died", .rank = 1, .slot = -1, .step = 4, .from_step = 2, .slots = {0, 2}}};
    const TrainResult read = read_back(result);
    EXPECT_EQ(read.first_step, 3);
    ASSERT_EQ(read.steps.size(), 2U);
    for (const auto number :
         {&exec::StepReport::loss, &exec::StepReport::cross_entropy, &exec::StepReport::auxiliary, &exec::StepReport::z,
          &exec::StepReport::gradient_norm, &exec::StepReport::learning_rate, &exec::StepReport::step_time_s,
          &exec::StepReport::tokens_per_s, &exec::StepReport::probe_s}) {
        EXPECT_EQ(read.steps.front().*number, result.steps.front().*number);
        const double expected = result.steps.back().*number, found = read.steps.back().*number;
        EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << found << " " << expected;
    }
    EXPECT_EQ(read.steps.back().step, 4);
    ASSERT_EQ(read.ranks.size(), 2U);
    EXPECT_EQ(read.ranks[1].rank, 1);
    EXPECT_EQ(read.ranks[1].peaks, result.ranks[1].peaks);
    EXPECT_EQ(read.ranks[1].peak_bytes, 78U);
    ASSERT_EQ(read.restarts.size(), 1U);
    EXPECT_EQ(read.restarts[0].reason, "rank 1 died");
    EXPECT_EQ(read.restarts[0].slot, -1);
    EXPECT_EQ(read.restarts[0].from_step, 2);
    EXPECT_EQ(read.restarts[0].slots, (std::vector<int>{0, 2}));
    EXPECT_EQ(read.notes, result.notes);
}

TEST(TrainResult, counts_are_sums_over_ranks) {
    const TrainResult read = read_back(train_result(report_of_two_ranks(), nullptr));
    const exec::OperationCount& barriers = read.counts.at(static_cast<std::size_t>(schedule::OpKind::kBarrier));
    EXPECT_EQ(barriers.operations, 4U);
    EXPECT_EQ(barriers.messages, 10U);
    EXPECT_EQ(barriers.bytes, 14);
}

TEST(TrainResult, a_run_without_steps_says_where_it_would_have_begun) {
    exec::RunReport report;
    report.first_step = 20;
    EXPECT_EQ(read_back(train_result(report, nullptr)).first_step, 20);
}

TEST(TrainResult, an_output_that_lacks_something_is_refused) {
    EXPECT_THROW(static_cast<void>(read_train_result(JsonDocument::parse("{\"first_step\": 0}", "result"))),
                 InputError);
}

}  // namespace
}  // namespace auspex::launch
