/// @file What two arguments of diff are taken for.
#include "workflows/difference/operands.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "workflows/difference/difference.hpp"

namespace auspex::workflows {
namespace {

std::string refusal(const std::string& before, const std::string& after, const std::set<std::string>& given) {
    try {
        static_cast<void>(operands_of(before, after, given));
    } catch (const InputError& error) {
        return error.what();
    }
    return "not refused";
}

std::string kind(const std::string& text) { return kind_of(JsonDocument::parse(text, "a.json")); }

TEST(Operands, files_are_known_by_their_content) {
    EXPECT_EQ(operands_of("machines/aurora.json", "frontier", {}).role, "machine");
    EXPECT_EQ(operands_of("stacks/optimus.json", "stacks/torchtitan.json", {}).role, "stack");
    EXPECT_EQ(operands_of("workloads/mula-7b-a1b.json", "workloads/mula-20b-a2b.json", {}).role, "workload");
    EXPECT_EQ(operands_of("plans/mula-7b-a1b.json", "plans/mula-20b-a2b.json", {}).role, "plan");
    EXPECT_EQ(kind(R"({"step_time_s": 1})"), "result");
    EXPECT_EQ(kind(R"({"model_type": "llama"})"), "workload");
    EXPECT_THROW(static_cast<void>(kind("[1]")), InputError);
    EXPECT_THROW(static_cast<void>(kind(R"({"traceEvents": []})")), InputError);
}

// mula-7b-a1b and mula-20b-a2b are names of plans and of workloads.
TEST(Operands, a_name_of_two_kinds_is_what_no_flag_is_given_for) {
    const Operands plans = operands_of("mula-7b-a1b", "mula-20b-a2b", {"machine", "stack", "workload"});
    EXPECT_EQ(plans.role, "plan");
    EXPECT_EQ(plans.remark, "both names are of a plan and a workload: taken as plans, for --workload is given");
    EXPECT_EQ(operands_of("mula-7b-a1b", "mula-20b-a2b", {"plan"}).role, "workload");
    EXPECT_NE(
        refusal("mula-7b-a1b", "mula-20b-a2b", {}).find("expected --plan or --workload, which says what they share"),
        std::string::npos);
    EXPECT_NE(refusal("mula-7b-a1b", "mula-20b-a2b", {"plan", "workload"}).find("expected no flag of what differs"),
              std::string::npos);
    EXPECT_EQ(operands_of("mula-7b-a1b", "plans/mula-20b-a2b.json", {}).role, "plan") << "the file says it";
    EXPECT_NE(refusal("aurora", "machines/frontier.json", {"machine"}).find("found two machines and --machine, too"),
              std::string::npos);
}

TEST(Operands, two_kinds_and_unknown_names_are_refused) {
    EXPECT_NE(refusal("aurora", "optimus", {}).find("aurora is a machine, optimus a stack; expected two of one kind"),
              std::string::npos);
    const std::string unknown = refusal("aurorra", "aurora", {});
    EXPECT_NE(unknown.find("aurorra: found no such file, and no machine, stack, workload or plan of this name"),
              std::string::npos)
        << unknown;
    EXPECT_NE(unknown.find("aurora"), std::string::npos);
    EXPECT_NE(refusal("no-such-file.json", "aurora", {}).find("no-such-file.json"), std::string::npos);
}

TEST(SideOfResult, names_what_a_saved_result_lacks) {
    const JsonDocument document =
        JsonDocument::parse(R"({"machine": "m", "stack": "s", "workload": "w", "plan": "p", "overrides": [],
        "version": "1", "lens": "folded", "step_time_s": 1})",
                            "old.json");
    try {
        static_cast<void>(side_of_result("old.json", document));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("old.json: $: missing key \"tiles\"", 0), 0U) << error.what();
    }
}

}  // namespace
}  // namespace auspex::workflows
