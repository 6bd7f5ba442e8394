/// @file auspex compare with runs: their records, going on, interruptions, failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/json.hpp"
#include "compare_cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Background;
using testing_cli::Outcome;
using testing_cli::text_of;

class CompareCliRuns : public testing::Test, protected testing_cli::CompareRunner {};

/// The line of a run, changed here and there.
std::string changed(const std::string& line, std::initializer_list<std::pair<const char*, std::string>> changes) {
    JsonDocument run = JsonDocument::parse(line, "line");
    for (const auto& [path, value] : changes) {
        run.set(path, value);
    }
    return run.dump();
}

TEST_F(CompareCliRuns, what_mpirun_says_is_shown) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome = run(one_layout() + " --repeat 1 --mpirun=--bogusflag");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.error.find("mpirun ended with exit code 1: "), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("unknown option \"--bogusflag\""), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find("--checkpoint"), std::string::npos) << outcome.error;
}

TEST_F(CompareCliRuns, an_interrupted_comparison_says_how_to_go_on) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string scratch = folder_ + "tmp";
    std::filesystem::create_directories(scratch);
    // So many seconds after it has begun to measure.
    const auto interrupted_after = [&](int milliseconds, const std::string& arguments) {
        Background command("TMPDIR=" + scratch + " '" AUSPEX_BINARY "' " + arguments, folder_ + "error");
        const std::string fault = command.fault_of_wait_for("sh -c 'ls " + scratch + " | grep -q auspex- && test -e " +
                                                            folder_ + "report/cases.jsonl'");
        if (!fault.empty()) {
            return fault;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds});
        EXPECT_EQ(command.end(SIGTERM), 128 + SIGTERM);
        for (const auto& entry : std::filesystem::directory_iterator(scratch)) {
            EXPECT_FALSE(entry.path().filename().string().starts_with("auspex-")) << entry.path();
        }
        return command.said();
    };
    const std::string advice = "auspex: failed: interrupted; runs are in " + folder_ +
                               "report/cases.jsonl, the same command with --resume goes on from there\n";
    EXPECT_EQ(interrupted_after(1000, one_layout() + " --repeat 500"), advice);
    for (const int milliseconds : {300, 500, 1100}) {
        EXPECT_EQ(interrupted_after(milliseconds, one_layout() + " --repeat 500 --resume"), advice);
    }
}

TEST_F(CompareCliRuns, a_machine_of_other_cores_than_may_be_used_is_warned_of) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome = run(one_layout() + " --repeat 1 --set machine.host.cores=3000");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("predicted for the 3,000 cores of machine dgx-a100, measured on "), std::string::npos)
        << outcome.out;
}

TEST_F(CompareCliRuns, two_comparisons_do_not_write_into_one_folder) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string arguments = one_layout() + " --repeat 500", records_file = folder_ + "report/cases.jsonl";
    Background first("TMPDIR='" + folder_ + "' '" AUSPEX_BINARY "' " + arguments, folder_ + "first");
    ASSERT_EQ(first.fault_of_wait_for("test -e " + records_file), "");
    const std::string holder = "process " + std::to_string(first.process()) + " on ";
    for (const char* flag : {"", " --resume"}) {
        EXPECT_EQ(
            fault_of_refusal(arguments + flag, {"--out ", "report: found ", holder.c_str(), "auspex compare --steps",
                                                "expected one command at a time, or another folder"}),
            "");
    }
    EXPECT_EQ(fault_of_refusal("verify --out " + folder_ + "report", {"--out ", "report: found ", holder.c_str()}), "");
    // The lock goes with the process, however it ends.
    EXPECT_EQ(first.end(SIGKILL), 128 + SIGKILL);
    EXPECT_TRUE(std::filesystem::exists(folder_ + "report/.auspex-lock"));
    const Outcome next = run(one_layout() + " --repeat 1 --resume");
    EXPECT_EQ(next.exit_code, 0) << next.error;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "report/.auspex-lock"));
}

TEST_F(CompareCliRuns, absurd_times_of_earlier_runs_are_refused) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string arguments = one_layout() + " --repeat 1";
    ASSERT_EQ(run(arguments).exit_code, 0);
    const std::string line = records().front();
    for (const char* key : {"step_s", "probe_s", "traced_s", "traced_probe_s"}) {
        for (const char* value : {"0", "1e300", "1e-300"}) {
            write_records({line, changed(line, {{key, value}})});
            EXPECT_EQ(fault_of_refusal(arguments + " --resume",
                                       {"cases.jsonl, line 2: $.", key, "found", "expected from 1e-09 to"}),
                      "");
        }
    }
}

TEST_F(CompareCliRuns, two_layouts_are_run_and_predicted) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string list = write("list.json", R"({"workloads": ["toy-moe"], "layouts": [
        {"name": "one", "plan": {"dp": 1, "micro_batches": 2, "precision": "fp32"}},
        {"name": "two", "workload": "toy-moe", "plan": {"dp": 2, "micro_batches": 1, "precision": "fp32"}}]})");
    const std::string out = folder_ + "report";
    const std::string arguments =
        "compare --repeat 2 --steps 3 --json --out " + out + " --machine " + machine() + " --layouts " + list;
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
    const JsonDocument json = JsonDocument::parse(outcome.out, "out");
    const std::vector<JsonValue> cases = json.root().at("cases").elements();
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[1].at("plan").as_string(), "two");
    EXPECT_EQ(cases[1].at("workload").as_string(), "toy-moe");
    EXPECT_EQ(cases[1].at("ranks").as_integer(1, 16), 2);
    for (const JsonValue& one : cases) {
        const double measured = one.at("measured_step_s").as_number(1e-9, 1e3);
        const double predicted = one.at("predicted_step_s").as_number(1e-9, 1e3);
        EXPECT_NEAR(one.at("error").as_number(-1, 1e6), predicted / measured - 1, 1e-9);
        EXPECT_EQ(one.at("measured_memory_bytes").as_integer(1, 1 << 30),
                  one.at("predicted_memory_bytes").as_integer(1, 1 << 30));
        EXPECT_FALSE(one.at("operations").elements().empty());
    }
    for (const char* key : {"median_abs_error", "p90_abs_error", "max_abs_error", "median_abs_error_all_runs",
                            "p90_abs_error_all_runs", "tau_pairs_of_repeats", "regret_of_predicted_best", "spread"}) {
        EXPECT_TRUE(json.root().at(key).is_number()) << key;
    }
    const bool has_pair = json.root().at("tau_pairs").as_integer(0, 1) == 1;  // unless the runs scatter that much
    EXPECT_EQ(json.root().at("kendall_tau").is_number(), has_pair);
    for (const JsonValue& verdict : json.root().at("verdicts").elements()) {
        if (verdict.at("text").as_string().starts_with("Kendall's tau")) {
            EXPECT_EQ(verdict.at("holds").is_bool(), has_pair) << verdict.at("text").as_string();
        }
    }
    EXPECT_NEAR(json.root().at("spreads").at("toy-moe").as_number(1, 1e6), json.root().at("spread").as_number(1, 1e6),
                1e-12);
    const std::vector<JsonValue> coverage = json.root().at("coverage").elements();
    ASSERT_EQ(coverage.size(), 2U);
    EXPECT_EQ(coverage[1].at("ranks").as_integer(1, 16), 2);
    EXPECT_EQ(coverage[1].at("of").as_integer(1, 16), 1);
    EXPECT_TRUE(json.root().at("failed").elements().empty());
    EXPECT_TRUE(cases[0].at("operations_are_typical").is_bool());
    for (const char* file : {"index.html", "comparison.json", "cases.csv", "cases.jsonl"}) {
        EXPECT_TRUE(std::filesystem::exists(out + "/" + file)) << file;
    }
    // All runs are there: going on measures nothing again, and a line that was cut off is no obstacle.
    std::ofstream(out + "/cases.jsonl", std::ios::app) << R"({"plan": "o)";
    const Outcome again = run(arguments + " --resume");
    ASSERT_EQ(again.exit_code, 0) << again.error;
    EXPECT_EQ(again.out, outcome.out);
    // Without --resume they are not overwritten.
    EXPECT_EQ(fault_of_refusal(arguments, {"cases.jsonl", "--resume", "--out", "removed"}), "");
}

TEST_F(CompareCliRuns, runs_of_another_origin_are_not_taken) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string arguments = one_layout() + " --repeat 1";
    ASSERT_EQ(run(arguments).exit_code, 0);
    const std::string line = records().front();
    const auto warning_of = [&](const std::vector<std::string>& lines) {
        write_records(lines);
        const Outcome outcome = run(arguments + " --resume");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        const JsonDocument json = JsonDocument::parse(outcome.out, "out");
        std::string found;
        for (const JsonValue& warning : json.root().at("warnings").elements()) {
            found += warning.as_string().find("cases.jsonl") != std::string::npos ? warning.as_string() : "";
        }
        return found;
    };
    const std::string whole = changed(line, {{"disturbed", "false"}, {"slowed", "false"}});
    EXPECT_EQ(warning_of({whole}), "");
    // What is behind the last line that is taken tells that no run was measured.
    EXPECT_EQ(records(), std::vector<std::string>{whole});
    std::vector<std::string> others;
    for (const char* part : {"computer", "data", "hostfile", "probe", "steps", "trainer"}) {
        others.push_back(changed(whole, {{(std::string("origin.") + part).c_str(), "other"}}));
    }
    others.push_back(changed(whole, {{"plan", "two"}}));
    others.push_back(whole);
    EXPECT_EQ(warning_of(others), "7 of 8 runs in " + folder_ +
                                      "report/cases.jsonl are not taken, for they are of another computer, data, "
                                      "hostfile, layout, probe, steps, trainer");
    EXPECT_EQ(records(), others) << "they stay";
    // Another constant of the machine changes what is predicted, not what was measured.
    static_cast<void>(machine("4 ms"));
    EXPECT_EQ(warning_of({whole}), "");
    EXPECT_EQ(records(), std::vector<std::string>{whole});
}

TEST_F(CompareCliRuns, a_trace_that_stands_better_than_later_ones_stays) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    ASSERT_EQ(run(one_layout() + " --repeat 1").exit_code, 0);
    const std::string trace = text_of(folder_ + "report/traces/toy-moe-one.json");
    const JsonDocument document = JsonDocument::parse(trace, "trace");
    double end_s = 0;
    for (const JsonValue& event : document.root().at("traceEvents").elements()) {
        if (const auto begin = event.find("ts")) {
            end_s = std::max(end_s, 1e-6 * (begin->as_number(0, 1e12) + event.at("dur").as_number(0, 1e12)));
        }
    }
    // The run that the trace is of, four times, as if its median step had taken just as long: no run to come has a
    // trace nearer to the median.
    std::vector<std::string> lines;
    for (const std::string& line : records()) {
        const JsonDocument one = JsonDocument::parse(line, "line");
        const double traced_s = one.root().at("traced_s").as_number(0, 1e3);
        for (int round = 0; round < 4 && std::abs(traced_s - end_s) < 1e-10; ++round) {
            lines.push_back(changed(line, {{"round", std::to_string(round)},
                                           {"step_s", one.root().at("traced_s").excerpt()},
                                           {"disturbed", "false"},
                                           {"slowed", "false"}}));
        }
    }
    ASSERT_EQ(lines.size(), 4U);
    write_records(lines);
    ASSERT_EQ(run(one_layout() + " --repeat 5 --resume").exit_code, 0);
    EXPECT_GT(records().size(), 4U) << "there was another run";
    EXPECT_EQ(text_of(folder_ + "report/traces/toy-moe-one.json"), trace);
}

TEST_F(CompareCliRuns, a_layout_that_fails_keeps_its_earlier_runs) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    // An mpirun that fails the second time it is to run "two", and always with "three".
    const std::string bin = folder_ + "bin";
    std::filesystem::create_directories(bin);
    ASSERT_EQ(std::system(("ln -s \"$(command -v mpirun)\" " + bin + "/real-mpirun").c_str()), 0);
    static_cast<void>(write("bin/mpirun", "#!/bin/sh\ncase \"$*\" in\n*/three.json*) exit 1;;\n*/two.json*) echo >>" +
                                              folder_ + "calls; [ $(wc -l <" + folder_ +
                                              "calls) -ne 2 ] || exit 1;;\nesac\nexec \"$(readlink " + bin +
                                              "/real-mpirun)\" \"$@\"\n"));
    std::filesystem::permissions(bin + "/mpirun", std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (bin + ":" + path).c_str(), 1);
    const std::string list = write("list.json", R"({"workloads": ["toy-moe"], "layouts": [
        {"name": "one", "plan": {"dp": 1, "micro_batches": 2, "precision": "fp32"}},
        {"name": "two", "plan": {"dp": 1, "micro_batches": 1, "precision": "fp32"}},
        {"name": "three", "plan": {"dp": 1, "micro_batches": 4, "precision": "fp32"}}]})");
    const std::string arguments =
        "compare --repeat 2 --steps 3 --out " + folder_ + "report --machine " + machine() + " --layouts " + list;
    const Outcome outcome = run(arguments + " --json");
    const Outcome again = run(arguments + " --resume");
    setenv("PATH", path.c_str(), 1);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const JsonDocument json = JsonDocument::parse(outcome.out, "out");
    const std::vector<JsonValue> cases = json.root().at("cases").elements(),
                                 failed = json.root().at("failed").elements();
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[1].at("plan").as_string(), "two");
    EXPECT_EQ(cases[1].at("runs").elements().size(), 1U);
    EXPECT_EQ(cases[1].at("noise").excerpt(), "null") << "of a single run";
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].at("plan").as_string(), "three");
    EXPECT_NE(outcome.out.find("two on toy-moe failed at repeat 2 and was not run again (1 run kept)"),
              std::string::npos)
        << outcome.out;
    // Going on, the run that failed is tried again.
    ASSERT_EQ(again.exit_code, 0) << again.error;
    EXPECT_TRUE(again.out.starts_with("FAILED: 1 layout never ran to an end: three on toy-moe\n")) << again.out;
    EXPECT_EQ(again.out.find("failed at repeat"), std::string::npos) << again.out;
}

}  // namespace
}  // namespace auspex::cli
