/// @file Cases with values of a wrong kind, or without one that is required.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published_cases.hpp"

namespace auspex::evaluate {
namespace {

/// A case of wrong values leaves the others as they are; a file whose cases have no names is refused.
TEST(PublishedRuns, a_case_that_cannot_be_read_is_its_own_fault) {
    JsonDocument wrong = JsonDocument::parse(kGpt, "case.json");
    wrong.set("id", "\"wrong\""), wrong.set("model.layers", "\"many\"");
    const std::vector<PublishedRun> runs = load_published_runs(cases(wrong.dump() + "," + kGpt));
    ASSERT_EQ(runs.size(), 2);
    EXPECT_EQ(runs[0].id, "wrong");
    for (const char* const word : {"[0].model.layers", "many", "integer"}) {
        EXPECT_NE(runs[0].unreadable.find(word), std::string::npos) << runs[0].unreadable;
    }
    EXPECT_EQ(runs[1].unreadable, "");
    EXPECT_EQ(runs[1].id, run_with(kGpt, {}).id);
    EXPECT_THROW(static_cast<void>(load_published_runs(cases("5"))), InputError);
    EXPECT_THROW(run_with(kGpt, {{"id", "null"}}), InputError);
}

/// Attention whose time is no square of the sequence is refused; numbers may be whole in any way of writing.
TEST(PublishedRuns, attention_of_another_kind_is_refused_and_whole_numbers_may_be_real) {
    for (const char* const other : {"\"linear attention\"", "\"Mamba-2\"", "\"sparse (DSA)\""}) {
        const std::string fault = run_with(kGpt, {{"model.attention", other}}).unreadable;
        EXPECT_NE(fault.find("model.attention"), std::string::npos) << other << fault;
    }
    EXPECT_EQ(run_with(kGpt, {{"model.attention", "\"GQA\""}}).unreadable, "");
    EXPECT_EQ(run_with(kGpt, {{"gpus", "64.0"}, {"plan.tp", "2.0"}}).gpus, 64);
    for (const char* const wrong : {"64.5", "\"64\"", "-64.0", "1e30"}) {
        EXPECT_NE(run_with(kGpt, {{"gpus", wrong}}).unreadable, "") << wrong;
    }
}

/// 2 sequences x 12 micro-batches x 8 replicas.
TEST(PublishedRuns, a_batch_follows_from_its_parts) {
    const PublishedRun run =
        run_with(kGpt, {{"plan.global_batch", "null"}, {"plan.micro_batch", "2"}, {"plan.ga", "12"}, {"plan.dp", "8"}});
    EXPECT_EQ(run.plan.global_batch, 192);
    for (const auto& parts : std::vector<std::vector<std::pair<std::string, std::string>>>{
             {{"plan.ga", "null"}}, {{"plan.ga", "99999999"}, {"plan.dp", "60737001"}}}) {
        std::vector<std::pair<std::string, std::string>> values{{"plan.global_batch", "null"}};
        values.insert(values.end(), parts.begin(), parts.end());
        const std::string fault = run_with(kGpt, values).unreadable;
        EXPECT_NE(fault.find("global_batch, or micro_batch, ga and dp"), std::string::npos) << fault;
    }
}

}  // namespace
}  // namespace auspex::evaluate
