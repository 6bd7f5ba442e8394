/// @file Steps with a known cause, written as traces: the diff has to find that cause and no other.
#include <gtest/gtest.h>

#include <algorithm>

#include "../../sim/cpu/cpu_fixture.hpp"
#include "base/error.hpp"
#include "compare/kineto/account/step_account.hpp"
#include "compare/kineto/compare_run.hpp"
#include "made_up_trace.hpp"

namespace auspex::kineto {
namespace {

using schedule::CommKind;
using testing_traces::Edits;
using testing_traces::inputs_of;
using testing_traces::TraceFolder;

struct Case {
    const char* name;
    std::string machine, stack, workload, plan;
    std::vector<std::pair<std::string, std::string>> changes;
    std::vector<int> ranks;
};

/// pp with tp and recompute; ep with all-to-all over nodes; ep with gathers, pp; interleaved; fsdp.
const std::vector<Case>& cases() {
    static const std::vector<Case> kCases{
        {"tp_pp",
         "dgx-h100",
         "nanotron",
         "llama3-70b",
         "llama3-70b",
         {{"workload.layers", "16"},
          {"plan.dp", "2"},
          {"plan.micro_batches", "8"},
          {"stack.kernels.issue", "0 us"},
          {"stack.transport.entries.before-pp-fix.collective_issue", "0 us"}},
         {0, 12}},
        {"ep_pp",
         "dgx-h100",
         "nanotron",
         "mixtral-8x7b",
         "mixtral-8x7b",
         {{"workload.layers", "8"},
          {"plan.dp", "2"},
          {"stack.kernels.issue", "0 us"},
          {"stack.transport.entries.before-pp-fix.collective_issue", "0 us"}},
         {0, 9}},
        {"gathered_experts", "aurora", "optimus", "mula-20b-a2b", "mula-20b-a2b", {{"plan.dp", "2"}}, {0}},
        {"interleaved",
         "dgx-h100",
         "nanotron",
         "llama3-70b",
         "llama3-70b",
         {{"workload.layers", "16"},
          {"plan.dp", "1"},
          {"plan.micro_batches", "8"},
          {"plan.pp", "4"},
          {"plan.virtual_stages", "2"},
          {"plan.schedule", "interleaved-1f1b"},
          {"stack.kernels.issue", "0 us"},
          {"stack.transport.entries.before-pp-fix.collective_issue", "0 us"}},
         {5}}};
    return kCases;
}

/// What runs has other constants, and other things done to it, than what is predicted.
RunDiff diff_of(const Case& one, const Edits& edits,
                const std::vector<std::pair<std::string, std::string>>& truth = {}) {
    const models::Inputs inputs = inputs_of(one.machine, one.stack, one.workload, one.plan, one.changes);
    auto changes = one.changes;
    changes.insert(changes.end(), truth.begin(), truth.end());
    const models::Inputs true_inputs = inputs_of(one.machine, one.stack, one.workload, one.plan, changes);
    const predict::SimulatedStep step = testing_traces::played(true_inputs);
    const TraceFolder folder;
    for (const int rank : one.ranks) {
        folder.write("rank" + std::to_string(rank) + ".json",
                     testing_traces::trace_text(true_inputs, step, rank, edits));
    }
    return compare_run(inputs, {folder.path(), 0, {}, {}});
}

const OperationRow* row_of(const RunDiff& diff, const std::string& name) {
    const auto found = std::find_if(diff.operations.begin(), diff.operations.end(),
                                    [&name](const OperationRow& row) { return row.name == name; });
    return found == diff.operations.end() ? nullptr : &*found;
}

const ExplainingConstant* constant_of(const RunDiff& diff, const std::string& path) {
    const auto found = std::find_if(diff.constants.begin(), diff.constants.end(),
                                    [&path](const ExplainingConstant& one) { return one.path == path; });
    return found == diff.constants.end() ? nullptr : &*found;
}

double spent(const SpentSeconds& times, Spent what) { return times[static_cast<std::size_t>(what)]; }

bool is_product(const std::string& name) {
    return name.find("projection") != std::string::npos || name.find("attention_output") != std::string::npos ||
           name.starts_with("lm_head");
}

class Recover : public testing::TestWithParam<std::size_t> {
 protected:
    [[nodiscard]] const Case& one() const { return cases()[GetParam()]; }
};

TEST_P(Recover, a_step_as_predicted_has_no_difference) {
    const RunDiff diff = diff_of(one(), {});
    for (const RankRow& rank : diff.ranks) {
        EXPECT_GT(rank.coverage(), 0.999) << rank.rank;
    }
    EXPECT_TRUE(diff.kernels.empty()) << diff.kernels.front().name << " by " << diff.kernels.front().op;
    EXPECT_NEAR(diff.measured_s / diff.predicted_s, 1, 0.01);
    for (const OperationRow& row : diff.operations) {
        if (row.predicted_s > 1e-5 && row.matched > 0) {
            EXPECT_NEAR(row.measured_s / row.predicted_s, 1, 0.03) << row.name;  // whole launches, slower stages
        }
    }
    for (const ExplainingConstant& constant : diff.constants) {
        if (constant.value > 0) {
            EXPECT_NEAR(constant.explaining / constant.value, 1, 0.06) << constant.path << " " << constant.operations;
        }
    }
}

TEST_P(Recover, parts_of_the_step_sum_to_it) {
    const RunDiff diff = diff_of(one(), {.products = 1.3, .host_gaps = 7, .unknown_kernels = 3});
    double measured = 0, predicted = 0;
    for (std::size_t i = 0; i < kSpentCount; ++i) {
        measured += diff.measured[i];
        predicted += diff.predicted[i];
    }
    EXPECT_NEAR(measured, diff.measured_s, 1e-9 * diff.measured_s);
    EXPECT_NEAR(predicted, diff.predicted_s, 1e-9 * diff.predicted_s);
}

TEST_P(Recover, slower_products_are_the_products_constant) {
    const RunDiff diff = diff_of(one(), {.products = 1.3});
    // gemm_efficiency or, behind it, the rate: t ~ 1 / constant, so it is the file's over 1.3.
    const ExplainingConstant* constant = constant_of(diff, "stack.kernels.gemm_efficiency");
    ASSERT_NE(constant, nullptr);
    EXPECT_NEAR(constant->explaining * 1.3 / constant->value, 1, 0.02);
    for (const OperationRow& row : diff.operations) {
        if (is_product(row.name) && row.matched > 0 && row.launches < 1.5 * row.matched) {
            EXPECT_NEAR(row.measured_s / row.predicted_s, 1.3, 0.05) << row.name;
        }
    }
    const ExplainingConstant* memory = constant_of(diff, "machine.tile.memory_efficiency");
    ASSERT_NE(memory, nullptr);
    EXPECT_NEAR(memory->explaining / memory->value, 1, 0.05);
}

TEST_P(Recover, with_the_constants_found_the_prediction_is_the_run) {
    const models::Inputs inputs = inputs_of(one().machine, one().stack, one().workload, one().plan, one().changes);
    const RunDiff diff =
        diff_of(one(), {},
                {{"stack.kernels.gemm_efficiency", std::to_string(inputs.stack.gemm_efficiency / 1.4)},
                 {"machine.tile.memory_efficiency", std::to_string(inputs.machine.tile.memory_efficiency / 1.2)}});
    EXPECT_GT(diff.measured_s, 1.08 * diff.predicted_s);
    ASSERT_TRUE(diff.explained_s);
    EXPECT_NEAR(*diff.explained_s / diff.measured_s, 1, 0.02);
    const ExplainingConstant* constant = constant_of(diff, "stack.kernels.gemm_efficiency");
    ASSERT_NE(constant, nullptr);
    EXPECT_NEAR(constant->explaining * 1.4 / constant->value, 1, 0.01);
}

TEST_P(Recover, host_gaps_are_the_host_s) {
    const RunDiff plain = diff_of(one(), {});
    const RunDiff diff = diff_of(one(), {.host_gaps = 20, .host_gap_s = 200e-6});
    // 20 gaps of 200 us; messages to other stages run beside a few of them.
    EXPECT_NEAR(spent(diff.measured, Spent::kHost) - spent(plain.measured, Spent::kHost), 20 * 200e-6,
                0.15 * 20 * 200e-6);
    EXPECT_NEAR(diff.measured_s - plain.measured_s, 20 * 200e-6, 1e-6);
    EXPECT_NEAR(spent(diff.measured, Spent::kUseful), spent(plain.measured, Spent::kUseful), 1e-6);
}

TEST_P(Recover, kernels_that_nobody_knows_are_listed_with_their_time) {
    const RunDiff diff = diff_of(one(), {.unknown_kernels = 11, .unknown_s = 300e-6});
    ASSERT_EQ(diff.kernels.size(), 1U);
    EXPECT_EQ(diff.kernels.front().name, "void mystery_kernel<float>");
    EXPECT_EQ(diff.kernels.front().op, "my_extension::mystery");
    EXPECT_NEAR(diff.kernels.front().count, 11, 1e-9);
    EXPECT_NEAR(diff.kernels.front().seconds, 11 * 300e-6, 1e-8);
    EXPECT_NEAR(spent(diff.measured, Spent::kOtherKernels), 11 * 300e-6, 0.02 * 11 * 300e-6);
}

TEST_P(Recover, slower_kernels_of_memory_are_memory_s) {
    const RunDiff diff = diff_of(one(), {.memory = 1.5});
    const ExplainingConstant* memory = constant_of(diff, "machine.tile.memory_efficiency");
    ASSERT_NE(memory, nullptr);
    EXPECT_NEAR(memory->explaining * 1.5 / memory->value, 1, 0.04);
    const ExplainingConstant* products = constant_of(diff, "stack.kernels.gemm_efficiency");
    ASSERT_NE(products, nullptr);
    EXPECT_NEAR(products->explaining / products->value, 1, 0.02);
}

TEST_P(Recover, a_trace_of_an_intel_gpu_says_the_same) {
    const RunDiff diff = diff_of(one(), {.products = 1.3, .is_xpu = true});
    EXPECT_EQ(diff.device, "Intel(R) Data Center GPU Max 1550");
    const ExplainingConstant* constant = constant_of(diff, "stack.kernels.gemm_efficiency");
    ASSERT_NE(constant, nullptr);
    EXPECT_NEAR(constant->explaining * 1.3 / constant->value, 1, 0.02);
    for (const RankRow& rank : diff.ranks) {
        EXPECT_GT(rank.coverage(), 0.99) << rank.rank;
    }
}

TEST_P(Recover, without_shapes_and_launches_order_is_enough) {
    const RunDiff diff = diff_of(one(), {.products = 1.3, .has_launches = false, .has_shapes = false});
    const ExplainingConstant* constant = constant_of(diff, "stack.kernels.gemm_efficiency");
    ASSERT_NE(constant, nullptr);
    EXPECT_NEAR(constant->explaining * 1.3 / constant->value, 1, 0.03);
    const auto has_note = [&diff](const char* part) {
        return std::any_of(diff.notes.begin(), diff.notes.end(),
                           [part](const std::string& note) { return note.find(part) != std::string::npos; });
    };
    EXPECT_TRUE(has_note("no shapes"));
    EXPECT_TRUE(has_note("does not say when kernels were launched"));
}

INSTANTIATE_TEST_SUITE_P(Plans, Recover, testing::Range<std::size_t>(0, 4),
                         [](const auto& one) { return cases()[one.param].name; });

TEST(RecoverLinks, gathers_at_half_the_rate_are_the_gathers_alone) {
    const Case& one = cases()[2];  // all-gather and reduce-scatter over ep in a node
    const RunDiff plain = diff_of(one, {});
    const RunDiff diff = diff_of(one, {.collectives = {{CommKind::kAllGather, 2.0}}});
    const auto cell = [](const RunDiff& of, const std::string& operations) {
        const auto found =
            std::find_if(of.constants.begin(), of.constants.end(),
                         [&](const ExplainingConstant& constant) { return constant.operations == operations; });
        return found == of.constants.end() ? nullptr : &*found;
    };
    const ExplainingConstant* gathers = cell(diff, "all_gather of ep");
    ASSERT_NE(gathers, nullptr);
    EXPECT_NEAR(gathers->measured_s / gathers->predicted_s, 2, 0.02);
    // 90 % and more of such a gather is bytes over bandwidth: half the rate, and what of it is start-up makes up for.
    EXPECT_NEAR(gathers->explaining / gathers->value, 0.5, 0.05) << gathers->path;
    const ExplainingConstant* scatters = cell(diff, "reduce_scatter of ep");
    ASSERT_NE(scatters, nullptr);
    EXPECT_NEAR(scatters->explaining / scatters->value, 1, 0.05) << scatters->path;
    EXPECT_NEAR(row_of(diff, "token_communication")->measured_s / row_of(plain, "token_communication")->measured_s, 2,
                0.01);
    EXPECT_NEAR(row_of(diff, "token_return")->measured_s / row_of(plain, "token_return")->measured_s, 1, 0.01);
}

TEST(RecoverLimits, a_plan_of_another_size_is_refused) {
    const Case& one = cases()[1];
    const models::Inputs inputs = inputs_of(one.machine, one.stack, one.workload, one.plan, one.changes);
    const TraceFolder folder;
    folder.write("rank0.json", testing_traces::trace_text(inputs, testing_traces::played(inputs), 0));
    models::Inputs other =
        inputs_of(one.machine, one.stack, one.workload, one.plan, {{"workload.layers", "8"}, {"plan.dp", "4"}});
    try {
        (void)compare_run(other, {folder.path(), 0, {}, {}});
        FAIL() << "64 ranks are taken for 128";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("found a run of 64 ranks"), std::string::npos) << error.what();
    }
}

TEST(RecoverLimits, a_run_of_fewer_micro_batches_is_noted) {
    const Case& one = cases()[1];
    const models::Inputs inputs = inputs_of(one.machine, one.stack, one.workload, one.plan, one.changes);
    const TraceFolder folder;
    folder.write("rank0.json", testing_traces::trace_text(inputs, testing_traces::played(inputs), 0));
    auto changes = one.changes;
    changes.push_back({"plan.micro_batches", "16"});
    const RunDiff diff =
        compare_run(inputs_of(one.machine, one.stack, one.workload, one.plan, changes), {folder.path(), 0, {}, {}});
    EXPECT_TRUE(std::any_of(diff.notes.begin(), diff.notes.end(), [](const std::string& note) {
        return note.find("of the plan's 16 micro-batches; does the run have as many") != std::string::npos;
    })) << diff.notes.front();
}

TEST(RecoverHost, on_cpu_cores_the_trainer_s_times_stand_beside_the_run_and_no_constants) {
    // Ranks as processes on cores: the program, its order and its shapes are the same, the times are of kernel calls.
    const models::Inputs inputs = testing_cpu::toy_inputs("toy-ep2-dp2", "toy-moe", testing_cpu::plausible_machine());
    const predict::SimulatedStep step = testing_traces::played(inputs);
    const TraceFolder folder;
    folder.write("rank1.json", testing_traces::trace_text(inputs, step, 1));
    const RunDiff diff = compare_run(inputs, {folder.path(), 0, {}, {}});
    EXPECT_TRUE(diff.constants.empty());
    EXPECT_TRUE(std::any_of(diff.notes.begin(), diff.notes.end(),
                            [](const std::string& note) { return note.find("host section") != std::string::npos; }));
    double predicted = 0;
    for (const double seconds : diff.predicted) {
        predicted += seconds;
    }
    EXPECT_NEAR(predicted, diff.predicted_s, 1e-9);
    const OperationRow* head = row_of(diff, "lm_head");
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->matched, head->expected);
    EXPECT_NEAR(head->measured_s / head->predicted_s, 1, 0.01);
}

/// What a device waits for its host has one name beside a trace, whatever makes the host late.
TEST(StepAccount, losses_go_by_names_that_a_trace_has) {
    using schedule::Loss;
    EXPECT_EQ(spent_of(Loss::kHostBound), Spent::kHost);
    EXPECT_EQ(spent_of(Loss::kExposedHost), Spent::kExposedHost) << "copies of activations";
    EXPECT_EQ(spent_of(Loss::kJitter), Spent::kWaiting);
    const models::Inputs inputs = inputs_of(
        "dgx-h100", "nanotron", "llama3-70b", "llama3-70b",
        {{"workload.layers", "16"}, {"plan.dp", "2"}, {"plan.micro_batches", "8"}, {"stack.kernels.issue", "10 ms"}});
    predict::PredictOptions options;
    options.sensitivity = false;
    const predict::SimulatedStep step = predict::simulate_step(inputs, options, false);
    PredictedRank rank;
    const SpentTimes times = predicted_times(step, rank);
    const auto host = static_cast<std::size_t>(Spent::kHost);
    EXPECT_GT(times[host], step.step / 2) << "of kernels that take 10 ms each to issue";
}

}  // namespace
}  // namespace auspex::kineto
