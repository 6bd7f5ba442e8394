/// @file Flags of auspex plan: what they are called in errors, and which plans they leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class PlanFlagsCli : public testing::Test, protected testing_cli::Runner {};

const std::string kMini = "plan --machine aurora --stack optimus --workload mini-moe --global-batch 12 ";

TEST_F(PlanFlagsCli, errors_name_the_flag_for_the_tiles_that_was_written) {
    for (const std::string flag : {"--tiles", "--ranks", "-n"}) {
        const auto fault = [&](const std::string& given, const std::string& words) {
            return fault_of_refusal(kMini + flag + " " + given, {(flag + words).c_str()});
        };
        EXPECT_EQ(fault("abc", ": found \"abc\"; expected a whole number"), "");
        EXPECT_EQ(fault("8,4", ": found 4 after 8"), "");
        EXPECT_EQ(fault("8..4", ": found \"8..4\""), "");
        EXPECT_EQ(fault("''", ": found an empty value"), "");
        EXPECT_EQ(fault("7 --where pp=5", " 7 with --global-batch 12: "), "");
    }
    EXPECT_EQ(fault_of_refusal(kMini + "--ranks=abc", {"--ranks: found \"abc\""}), "");
    EXPECT_EQ(fault_of_refusal(kMini + "--ranks 12 --tiles 12", {"--tiles: found beside --ranks"}), "");
}

// Stacks by the library that they have on the machine: with NCCL, and nanotron, of an H100 cluster, on NVIDIA's GPUs;
// with RCCL on AMD's; of CPU cores the trainer's own.
TEST_F(PlanFlagsCli, without_a_stack_those_for_the_machine_are_named) {
    const std::string search = "plan --workload mini-moe --tiles 8 --machine ";
    const char* const nvidia =
        "expected one for GPUs of NVIDIA: deepspeed-moe, megatron-core, megatron-deepspeed, megatron-lm, nanotron, "
        "nccl, pytorch-fsdp, tutel or x-moe (auspex list";
    const char* const amd =
        "expected one for GPUs of AMD: aeris, cray-mpich, deepspeed-moe, megatron-core, megatron-deepspeed, "
        "megatron-lm, pccl, pytorch-fsdp, rccl, rccl-xgmi, tutel or x-moe (auspex list";
    EXPECT_EQ(fault_of_refusal(search + "dgx-h100", {"found no --stack, and machine dgx-h100", nvidia}), "");
    EXPECT_EQ(fault_of_refusal(search + "frontier", {"machine frontier has no default_stack", amd}), "");
    EXPECT_EQ(fault_of_refusal(search + "dgx-h100 --set 'machine.tile.name=\"Own\"'",
                               {"expected one of those that auspex list stacks shows"}),
              "");
    EXPECT_EQ(fault_of_refusal("predict --machine dgx-h100 --workload mini-moe", {"found no --stack; ", nvidia}), "");
    EXPECT_EQ(fault_of_refusal("predict --machine reports/local-calibration/machine.json",
                               {"found no --stack; expected one for CPU cores: auspex (auspex list stacks has all)"}),
              "");
    EXPECT_EQ(fault_of_refusal("predict --workload mini-moe --machine nowhere", {"--machine nowhere"}), "");
    EXPECT_EQ(fault_of_refusal("predict --workload mini-moe", {"found no --machine", "for example: "}), "");
    const Outcome collective = run("collective --machine dgx-h100 --kind all-reduce --bytes 1MiB --ranks 64");
    EXPECT_NE(collective.out.find("--stack takes one for GPUs of NVIDIA: deepspeed-moe"), std::string::npos)
        << collective.out;
}

/// Of all plans that a search ranks; even deals are not written.
std::string deals_of_best(const JsonValue& root) {
    std::string values;
    for (const JsonValue& one : root.at("best").elements()) {
        const auto value = one.at("plan").find("stages");
        values += (!value ? "even" : value->is_array() ? "list" : value->as_string()) + " ";
    }
    return values;
}

TEST_F(PlanFlagsCli, a_deal_of_layers_may_be_asked_for_by_its_word) {
    const std::string search = kMini + "--tiles 12 --json --top 3 ";
    for (const std::string word : {"even", "by-cost", "even-with-both"}) {
        const Outcome found = run(search + "--where pp=2,virtual_stages=1,stages=" + word);
        ASSERT_EQ(found.exit_code, 0) << found.error;
        const auto document = JsonDocument::parse(found.out, "plan");
        EXPECT_EQ(deals_of_best(document.root()), word + " " + word + " " + word + " ");
        const auto set =
            JsonDocument::parse(run(search + "--where pp=2,virtual_stages=1 --set plan.stages=" + word).out, "plan");
        EXPECT_EQ(set.root().at("best").elements().front().at("step_time_s").as_number(0, 100),
                  document.root().at("best").elements().front().at("step_time_s").as_number(0, 100));
        EXPECT_EQ(set.root().at("space").as_integer(1, 1'000'000'000),
                  document.root().at("space").as_integer(1, 1'000'000'000));
    }
    for (const char* wrong : {"stages=odd", "stages<=even", "stages=3"}) {
        EXPECT_EQ(fault_of_refusal(kMini + "--tiles 12 --where '" + wrong + "'",
                                   {"--where: found \"", wrong, "even, by-cost, even-with-embedding"}),
                  "");
    }
    EXPECT_EQ(fault_of_refusal(kMini + "--tiles 12 --where pp=2,stages=even,stages=by-cost",
                               {"times what --where leaves out"}),
              "");
}

TEST_F(PlanFlagsCli, what_is_set_and_what_is_asked_for_must_agree) {
    EXPECT_EQ(fault_of_refusal(kMini + "--tiles 12 --set plan.pp=2 --where pp=3", {"--where: found pp=3", "plan.pp"}),
              "");
    EXPECT_EQ(fault_of_refusal(kMini + "--tiles 12 --set 'plan.stages=[2,2]' --where stages=by-cost",
                               {"--where: found stages=by-cost beside --set plan.stages"}),
              "");
    EXPECT_EQ(run(kMini + "--tiles 12 --set plan.pp=2 --where 'pp<=2' --json").exit_code, 0);
}

TEST_F(PlanFlagsCli, ranges_and_lists_of_tiles_are_quoted_whole) {
    for (const char* wrong : {"12..", "..12", "12,,24"}) {
        EXPECT_EQ(fault_of_refusal(kMini + "--tiles " + wrong, {"--tiles: found \"", wrong}), "");
    }
}

TEST_F(PlanFlagsCli, listed_layers_that_a_word_deals_are_the_word) {
    const auto plan_with = [this](const std::string& stages) {
        return write("plan.json", R"({"source": "a test", "dp": 6, "ep": 1, "tp": 1, "pp": 2, "micro_batch_size": 1,
            "micro_batches": 2, "schedule": "1f1b", "expert_kernels": "fused", "stages": )" +
                                      stages + "}");
    };
    const std::string search = kMini + "--tiles 12 --where 'tp=1,ep=1' --json --top 1 --plan ";
    const auto space = [](const Outcome& found) {
        return JsonDocument::parse(found.out, "plan").root().at("space").as_integer(1, 1'000'000'000);
    };
    const Outcome word = run(search + plan_with("\"even\"")), listed = run(search + plan_with("[2, 2]"));
    ASSERT_EQ(listed.exit_code, 0) << listed.error;
    EXPECT_EQ(space(listed), space(word));
    const auto document = JsonDocument::parse(listed.out, "plan");
    EXPECT_TRUE(document.root().at("given").at("in_space").as_bool()) << listed.out;
    const Outcome uneven = run(search + plan_with("[1, 3]"));
    ASSERT_EQ(uneven.exit_code, 0) << uneven.error;
    EXPECT_LT(space(uneven), space(word));
    const auto kept = JsonDocument::parse(uneven.out, "plan");
    EXPECT_EQ(deals_of_best(kept.root()), "list ");
}

TEST_F(PlanFlagsCli, a_machine_that_was_measured_beside_other_work_is_warned_of) {
    const std::string on_cores = " --machine reports/local-calibration/machine.json --workload small-moe ";
    const std::string loaded = " --set machine.host.background_load=0.31 ";
    const std::string search = "plan" + on_cores + "--ranks 2 --where pp=1 --json ";
    const Outcome calm = run(search), beside = run(search + loaded);
    ASSERT_EQ(beside.exit_code, 0) << beside.error;
    EXPECT_EQ(calm.error, "");
    EXPECT_EQ(std::count(beside.error.begin(), beside.error.end(), '\n'), 1) << beside.error;
    EXPECT_NE(beside.error.find("other work, which had up to 31 %"), std::string::npos) << beside.error;
    const auto plain = JsonDocument::parse(calm.out, "plan"), warned = JsonDocument::parse(beside.out, "plan");
    EXPECT_TRUE(plain.root().at("notes").elements().empty());
    ASSERT_EQ(warned.root().at("notes").elements().size(), 1U);
    const auto step_s = [](const JsonDocument& document) {
        return document.root().at("best").elements().front().at("step_time_s").as_number(0, 100);
    };
    EXPECT_EQ(step_s(plain), step_s(warned)) << "no prediction leans on it";
    const Outcome predicted =
        run("predict" + on_cores +
            "--stack auspex --plan toy-dp4 --set plan.precision=fp32 --set plan.gradient_dtype=fp32 " + loaded);
    EXPECT_NE(predicted.out.find("up to 31 %"), std::string::npos) << predicted.out << predicted.error;
}

}  // namespace
}  // namespace auspex::cli
