/// @file auspex compare as people call it.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli_fixture.hpp"
#include "models/cpu_kernel.hpp"

namespace auspex {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class CompareCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] static bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

    /// A computer of two cores with made-up laws: every term of every kernel takes a nanosecond.
    [[nodiscard]] std::string machine() const {
        std::string laws;
        for (std::size_t k = 0; k < kCpuKernels; ++k) {
            const auto kernel = static_cast<CpuKernel>(k);
            laws += (laws.empty() ? "{\"" : ", \"") + std::string(to_string(kernel)) + R"(": {"error": 0.03)";
            for (const std::string_view term : cpu_terms(kernel)) {
                laws += ", \"" + std::string(term) + R"(": "1 ns")";
            }
            laws += "}";
        }
        laws += "}";
        JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/dgx-a100.json");
        const char* path =
            R"({"send": "1 us", "receive": "1 us", "send_byte": "100 ps", "receive_byte": "100 ps",
                "eager": "4 KiB", "rendezvous": "1 us", "latency": "0 s"})";
        document.set("host", R"({"cores": 2, "nodes_per_computer": 1, "core_slice": "3 ms", "switch": "1 us",
            "poll": "1 us", "busy_speed": 1, "last_level_cache": "32 MiB", "cache_bandwidth": "150 GB/s",
            "memory_bandwidth": "40 GB/s", "core_memory_bandwidth": "25 GB/s", "messages": {"near": )" +
                                 std::string(path) + R"(, "far": )" + path + R"(}, "kernels": {"fp32": )" + laws +
                                 R"(, "bf16": )" + laws + "}}");
        return write("host.json", document.dump());
    }
};

TEST_F(CompareCli, wrong_flags_are_refused) {
    EXPECT_EQ(fault_of_refusal("compare", {"--plans", "--layouts"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4", {"toy-dp4", "without --workload"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --steps 2", {"--steps", "at least 3"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --repeat 0", {"--repeat", "\"0\""}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --resume", {"--resume", "--out"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --machine dgx-a100",
                               {"dgx-a100.json", "section host", "auspex calibrate"}),
              "");
}

TEST_F(CompareCli, layouts_files_are_read_strictly) {
    const auto refused = [this](const std::string& text, std::initializer_list<const char*> words) {
        return fault_of_refusal("compare --layouts " + write("list.json", text), words);
    };
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"]})", {"list.json", "layouts"}), "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "plans": {}}]})", {"plans", "allowed"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a/b", "plan": {"dp": 1}}]})",
                      {"layouts[0].name", "a/b", "letters"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "plan": {"dq": 1}}]})",
                      {"list.json, layout a", "dq"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "workload": "b", "plan": {"dp": 1}}]})",
                      {"layouts[0].workload", "workloads"}),
              "");
}

TEST_F(CompareCli, plans_that_do_not_fit_their_workload_are_named) {
    const std::string to = "compare --machine " + machine() + " ";
    EXPECT_EQ(fault_of_refusal(to + "--plans toy-ep2-dp2@toy-dense", {"toy-ep2-dp2", "ep"}), "");
    EXPECT_EQ(fault_of_refusal(to + "--plans toy-dp4@toy-moe plans/toy-dp4.json@toy-moe", {"toy-dp4", "twice"}), "");
}

TEST_F(CompareCli, two_layouts_are_run_and_predicted) {
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
    for (const char* key :
         {"median_abs_error", "p90_abs_error", "max_abs_error", "median_abs_error_all_runs", "p90_abs_error_all_runs",
          "kendall_tau", "tau_pairs_of_repeats", "regret_of_predicted_best", "spread"}) {
        EXPECT_TRUE(json.root().at(key).is_number()) << key;
    }
    for (const char* file : {"index.html", "comparison.json", "cases.csv", "cases.jsonl"}) {
        EXPECT_TRUE(std::filesystem::exists(out + "/" + file)) << file;
    }
    // All runs are there: going on measures nothing again, and a line that was cut off is no obstacle.
    std::ofstream(out + "/cases.jsonl", std::ios::app) << R"({"plan": "o)";
    const Outcome again = run(arguments + " --resume");
    ASSERT_EQ(again.exit_code, 0) << again.error;
    EXPECT_EQ(again.out, outcome.out);
}

}  // namespace
}  // namespace auspex
