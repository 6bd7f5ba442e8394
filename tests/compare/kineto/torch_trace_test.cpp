/// @file A step that PyTorch 1.13 ran on a CPU core (tools/profile_torch.py --layers 1 --hidden 128 --heads 2
/// --kv-heads 1
/// --intermediate 352 --sequence 128 --vocabulary 512 --steps 2): names, shapes and order are real.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../../schedule/plan_fixture.hpp"
#include "compare/kineto/compare_run.hpp"

namespace auspex::kineto {
namespace {

const std::string kFolder = std::string(AUSPEX_SOURCE_DIR) + "/tests/compare/kineto/torch/";

models::Inputs torch_inputs() {
    const auto load = [](const char* name) { return JsonDocument::load(kFolder + name); };
    return models::load_inputs(load("machine.json"), load("stack.json"), load("workload.json"), load("plan.json"));
}

const RunDiff& torch_diff() {
    static const RunDiff kDiff = compare_run(torch_inputs(), {kFolder + "rank0.pt.trace.json.gz", 0, {}, {}});
    return kDiff;
}

TEST(TorchTrace, every_product_of_the_model_is_found_as_often_as_it_runs) {
    // One layer, two micro-batches: each of the operations runs twice forward, and twice for each gradient.
    std::set<std::string> seen;
    for (const OperationRow& row : torch_diff().operations) {
        const bool is_product = row.name.find("projection") != std::string::npos ||
                                row.name.starts_with("attention_output") || row.name.starts_with("lm_head");
        if (is_product) {
            seen.insert(row.name);
            EXPECT_EQ(row.expected, 2) << row.name;
            EXPECT_EQ(row.matched, 2) << row.name;
        }
        // Queries, keys and values are three products of PyTorch's, gate and up two; a weight's gradient is added up
        // too.
        if (row.name == "qkv_projection") {
            EXPECT_EQ(row.kernels, 6);
        }
        if (row.name == "gate_up_projection" || row.name == "gate_up_projection.backward_input") {
            EXPECT_EQ(row.kernels, 4) << row.name;
        }
        if (row.name == "lm_head") {
            EXPECT_EQ(row.kernels, 2);
        }
    }
    EXPECT_EQ(seen.size(), 15U);  // 5 layers x forward, input gradient, weight gradient
}

TEST(TorchTrace, attention_is_found_in_its_parts) {
    const auto row = std::find_if(torch_diff().operations.begin(), torch_diff().operations.end(),
                                  [](const OperationRow& one) { return one.name == "attention"; });
    ASSERT_NE(row, torch_diff().operations.end());
    EXPECT_EQ(row->matched, 2);
    EXPECT_GE(row->kernels, 2 * 3);  // scores, softmax, values
}

TEST(TorchTrace, most_of_the_time_is_matched_and_all_of_it_is_booked) {
    const RunDiff& diff = torch_diff();
    ASSERT_EQ(diff.ranks.size(), 1U);
    EXPECT_GT(diff.ranks.front().coverage(), 0.9);
    double booked = 0;
    for (const double seconds : diff.measured) {
        booked += seconds;
    }
    EXPECT_NEAR(booked, diff.measured_s, 1e-12);
    double listed = 0;
    for (const UnmatchedKernel& kernel : diff.kernels) {
        listed += kernel.seconds;
    }
    EXPECT_NEAR(listed, diff.ranks.front().kernel_s - diff.ranks.front().matched_s, 1e-9);
}

TEST(TorchTrace, says_what_kind_of_trace_it_is) {
    const auto has_note = [](const char* part) {
        return std::any_of(torch_diff().notes.begin(), torch_diff().notes.end(),
                           [part](const std::string& note) { return note.find(part) != std::string::npos; });
    };
    EXPECT_TRUE(has_note("no device"));
    EXPECT_TRUE(has_note("qkv_projection ran as products of its parts"));
}

}  // namespace
}  // namespace auspex::kineto
