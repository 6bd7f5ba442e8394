/// @file auspex plan as people call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Background;
using testing_cli::Outcome;
using testing_cli::text_of;

class PlanCli : public testing::Test, protected testing_cli::Runner {};

const std::string kSmall =
    "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 24 --global-batch 96 --where 'pp<=4,tp<=2' ";

const std::string kCores = "reports/local-calibration/machine.json";
const std::string kOnCores = "plan --machine " + kCores + " --workload small-moe --ranks 4 --where pp=1 ";

const std::string kLonger =
    "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 48 --global-batch 192 ";

/// Processes of one search.
class PlanRanks : public PlanCli {
 protected:
    void SetUp() override {
        if (std::system("command -v mpirun >/dev/null") != 0) {
            GTEST_SKIP() << "no mpirun";
        }
    }
    /// `wrapper`: a command that starts the rank.
    [[nodiscard]] Outcome run_under_mpirun(int ranks, const std::string& arguments, const std::string& flags = "",
                                           const std::string& wrapper = "") const {
        const std::string out = folder_ + "out", error = folder_ + "error";
        const std::string command = std::string("cd '") + AUSPEX_SOURCE_DIR +
                                    "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 200 mpirun "
                                    "--oversubscribe --bind-to none " +
                                    flags + " -n " + std::to_string(ranks) + " " + wrapper + " '" + AUSPEX_BINARY +
                                    "' " + arguments + " >'" + out + "' 2>'" + error + "'";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(error)};
    }
};

TEST_F(PlanCli, the_best_is_written_as_a_plan_that_predict_takes_at_the_very_same_step) {
    const std::string file = folder_ + "best.json";
    const Outcome found = run(kSmall + "--json --out " + file);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue root = document.root();
    const auto count = [&root](const char* key) { return root.at(key).as_integer(0, 1'000'000'000); };
    EXPECT_EQ(count("space"), count("pruned_bound") + count("pruned_memory") + count("evaluated") + count("untried"));
    EXPECT_EQ(count("untried"), 0);
    EXPECT_GT(count("pruned_bound"), count("evaluated"));
    EXPECT_FALSE(root.at("cut").as_bool());
    EXPECT_EQ(root.at("best").elements().size(), 10U);
    const JsonValue best = root.at("best").elements().front();
    EXPECT_EQ(best.at("behind_best").as_number(-1, 1), 0);
    const Outcome predicted =
        run("predict --machine aurora --stack optimus --workload mula-7b-a1b --plan " + file + " --json");
    ASSERT_EQ(predicted.exit_code, 0) << predicted.error;
    const auto prediction = JsonDocument::parse(predicted.out, "predict");
    EXPECT_EQ(prediction.root().at("step_time_s").as_number(0, 100), best.at("step_time_s").as_number(0, 100));
    EXPECT_EQ(prediction.root().at("tiles").as_integer(1, 100), 24);
    EXPECT_EQ(prediction.root().at("global_batch").as_integer(1, 1000), 96);
    EXPECT_NEAR(best.at("memory_headroom_bytes").as_number(0, 1e12),
                64.0 * 1024 * 1024 * 1024 - best.at("memory_peak_bytes").as_number(0, 1e12), 1);
}

TEST_F(PlanCli, on_cpu_cores_the_best_of_all_that_the_trainer_runs_is_what_predict_says_of_it) {
    const std::string file = folder_ + "best.json";
    const Outcome found = run(kOnCores + "--json --out " + file);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("stack").as_string(), "auspex");
    EXPECT_EQ(root.at("global_batch").as_integer(1, 100), 4) << "a sequence a rank";
    const double best_s = root.at("best").elements().front().at("step_time_s").as_number(0, 1);
    const Outcome predicted =
        run("predict --machine " + kCores + " --stack auspex --workload small-moe --json --plan " + file);
    ASSERT_EQ(predicted.exit_code, 0) << predicted.error;
    const auto prediction = JsonDocument::parse(predicted.out, "predict");
    EXPECT_EQ(prediction.root().at("step_time_s").as_number(0, 1), best_s);
    EXPECT_EQ(prediction.root().at("lens").as_string(), "host");
}

TEST_F(PlanCli, faster_plans_that_do_not_fit_are_named_with_what_makes_them_fit) {
    const std::string tight = kSmall + "--set 'machine.tile.hbm_capacity=32 GB' --top 3 ";
    const Outcome text = run(tight);
    ASSERT_EQ(text.exit_code, 0) << text.error;
    for (const char* part : {"What binds it: ", "Faster than the best, but too large", "fits with recompute"}) {
        EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
    }
    const Outcome found = run(tight + "--json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue root = document.root();
    const double best_s = root.at("best").elements().front().at("step_time_s").as_number(0, 100);
    ASSERT_FALSE(root.at("shut_out_by_memory").at("plans").elements().empty());
    for (const JsonValue& one : root.at("shut_out_by_memory").at("plans").elements()) {
        EXPECT_LT(one.at("step_time_s").as_number(0, 100), best_s);
        EXPECT_EQ(one.at("excess_bytes").as_number(1, 1e12), one.at("memory_peak_bytes").as_number(0, 1e12) - 32e9);
    }
    const JsonValue second = root.at("best").elements()[1];
    EXPECT_FALSE(second.at("differs_from_best").keys().empty());
    EXPECT_FALSE(second.at("more_of_s").keys().empty());
    EXPECT_FALSE(root.at("binds_s").keys().empty());
}

TEST_F(PlanCli, a_folder_gets_a_page_and_a_given_plan_is_told_its_place) {
    const std::string folder = folder_ + "plans";
    const Outcome found = run(kSmall + "--plan mula-7b-a1b --out " + folder);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    for (const char* part :
         {"The plan of --plan takes ", "plans fit and are faster", "fastest with a probability of "}) {
        EXPECT_NE(found.out.find(part), std::string::npos) << part << "\n" << found.out;
    }
    const auto document = JsonDocument::parse(text_of(folder + "/plans.json"), "plans");
    const JsonValue root = document.root(), given = root.at("given"), faster = given.at("faster_plans");
    EXPECT_TRUE(given.at("in_space").as_bool());
    EXPECT_TRUE(given.at("fits").as_bool());
    const auto plans = [&faster](const char* key) { return faster.at(key).as_number(0, 1e9); };
    EXPECT_LE(plans("at_least"), plans("estimate"));
    EXPECT_LE(plans("estimate"), plans("at_most"));
    double probability = 0;
    for (const JsonValue& one : root.at("best").elements()) {
        probability += one.at("probability_best").as_number(0, 1);
    }
    EXPECT_NEAR(probability, 1, 1e-6);
    double step_s = 0, bytes = 1e15;
    for (const JsonValue& one : root.at("pareto").elements()) {
        EXPECT_GT(one.at("step_time_s").as_number(0, 100), step_s);
        EXPECT_LT(one.at("memory_peak_bytes").as_number(0, 1e12), bytes);
        step_s = one.at("step_time_s").as_number(0, 100);
        bytes = one.at("memory_peak_bytes").as_number(0, 1e12);
    }
    EXPECT_GT(step_s, 0);
    EXPECT_NE(text_of(folder + "/best.json").find("\"micro_batch_size\""), std::string::npos);
    EXPECT_NE(text_of(folder + "/memory.svg").find("<polyline"), std::string::npos);
    // What predict says of the same plan file.
    const Outcome predicted =
        run("predict --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 24 --set "
            "plan.micro_batches=4 --json");
    const auto prediction = JsonDocument::parse(predicted.out, "predict");
    EXPECT_EQ(prediction.root().at("step_time_s").as_number(0, 100), given.at("step_time_s").as_number(0, 100));
    const Outcome none = run(kSmall + "--plan mula-220b-a10b --top 1 --json");
    EXPECT_NE(none.out.find("\"in_space\": false"), std::string::npos) << none.error;
    EXPECT_EQ(
        fault_of_refusal("plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 12,24 --global-batch "
                         "96 --out " +
                             folder,
                         {"--out", "several --tiles", "NAME.json"}),
        "");
}

TEST_F(PlanCli, fields_that_are_set_stay_and_those_that_are_bounded_are) {
    const Outcome found = run(kSmall + "--set 'plan.recompute=[\"norm\"]' --set plan.pp=2 --top 3 --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    ASSERT_EQ(document.root().at("best").elements().size(), 3U);
    for (const JsonValue& one : document.root().at("best").elements()) {
        EXPECT_EQ(one.at("plan").at("pp").as_integer(1, 100), 2);
        EXPECT_LE(one.at("plan").at("tp").as_integer(1, 100), 2);
        ASSERT_EQ(one.at("plan").at("recompute").elements().size(), 1U);
        EXPECT_EQ(one.at("plan").at("recompute").elements().front().as_string(), "norm");
    }
    for (const char* stages : {"\"by-cost\"", "[5, 6, 5]"}) {
        const Outcome dealt = run(kSmall + "--set plan.pp=3 --set 'plan.stages=" + stages + "' --top 3 --json");
        ASSERT_EQ(dealt.exit_code, 0) << dealt.error;
        const auto answer = JsonDocument::parse(dealt.out, "plan");
        for (const JsonValue& one : answer.root().at("best").elements()) {
            const JsonValue found_stages = one.at("plan").at("stages");
            if (found_stages.is_array()) {
                EXPECT_EQ(one.at("plan").at("pp").as_integer(1, 100), 3);
                EXPECT_EQ(found_stages.elements().size(), 3U);
            } else {
                EXPECT_EQ(found_stages.as_string(), "by-cost");
            }
        }
    }
}

TEST_F(PlanCli, placements_vary_between_searches) {
    const std::string base =
        "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 96 --global-batch 384 "
        "--where 'pp<=4,tp<=2,micro_batch_size<=4' --json ";
    const Outcome found = run(base + "--vary plan.placement=contiguous,scattered");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const auto values = document.root().at("values").elements();
    ASSERT_EQ(values.size(), 2U);
    const double best_s = values[1].at("step_time_s").as_number(0, 100);
    const auto alone = JsonDocument::parse(run(base + "--set plan.placement=scattered --top 1").out, "plan");
    EXPECT_EQ(best_s, alone.root().at("best").elements().front().at("step_time_s").as_number(0, 100));
    EXPECT_EQ(values[1].at("plan").at("placement").as_string(), "scattered");
    // The first winner is laid as the second value says.
    EXPECT_GE(values[1].at("first_plan_step_time_s").as_number(0, 100), best_s);
    EXPECT_NE(best_s, values[0].at("step_time_s").as_number(0, 100));
}

TEST_F(PlanCli, layers_that_are_listed_say_how_many_stages_there_are) {
    const Outcome found =
        run("plan --machine aurora --stack optimus --workload mini-moe --tiles 12 --set 'plan.stages=[1,2,1]' --json "
            "--top 1");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue plan = document.root().at("best").elements().front().at("plan");
    EXPECT_EQ(plan.at("pp").as_integer(1, 100), 3);
    EXPECT_EQ(plan.at("stages").elements().size(), 3U);
    EXPECT_EQ(document.root().at("global_batch").as_integer(1, 100), 12) << "a sequence a tile";
}

TEST_F(PlanCli, several_sizes_are_a_table_and_the_pick_is_written) {
    const std::string sizes =
        "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 12..48 --global-batch 96 --tokens 1B "
        "--where 'pp<=2,tp<=2,micro_batch_size<=2' ";
    const std::string file = folder_ + "pick.json";
    const Outcome found = run(sizes + "--objective tokens-per-node-hour --json --out " + file);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const auto points = document.root().at("sizes").elements();
    ASSERT_EQ(points.size(), 3U);
    double most = 0;
    std::int64_t cheapest = 0;
    for (const JsonValue& point : points) {
        const double rate = point.at("tokens_per_node_hour").as_number(0, 1e15);
        cheapest = rate > most ? point.at("tiles").as_integer(1, 1000) : cheapest;
        most = std::max(most, rate);
        // 1 B tokens at so many tokens a node and hour.
        EXPECT_NEAR(point.at("node_hours").as_number(0, 1e9) * rate, 1e9, 1);
    }
    EXPECT_EQ(document.root().at("picked_tiles").as_integer(1, 1000), cheapest);
    EXPECT_NE(text_of(file).find("\"micro_batch_size\""), std::string::npos);
    const Outcome text = run(sizes);
    for (const char* part : {"marginal", "run time", "node-hours", "The shortest step: 48 tiles", "at least 50 %"}) {
        EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
    }
}

TEST_F(PlanCli, a_deadline_picks_the_smallest_size_and_one_that_nothing_makes_is_refused_with_the_nearest) {
    const std::string base =
        "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 12..96 --global-batch 96 --tokens 10B "
        "--where 'pp<=2,tp<=2,micro_batch_size<=2' ";
    const Outcome found = run(base + "--deadline 20h --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue smallest = document.root().at("smallest");
    EXPECT_LE(smallest.at("run_time_s").as_number(0, 1e9), 20 * 3600.0);
    EXPECT_EQ(fault_of_refusal(base + "--deadline 1min", {"--deadline 60 s", "10.0 G tokens", "96 tiles in"}), "");
    EXPECT_EQ(fault_of_refusal("plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 12..96 "
                               "--global-batch 96 --deadline 1h",
                               {"--deadline", "without --tokens"}),
              "");
    EXPECT_EQ(fault_of_refusal(base + "--deadline 14", {"--deadline", "\"14\"", "unit, such as \"14 d\""}), "");
    EXPECT_EQ(fault_of_refusal(base + "--objective speed", {"--objective", "step-time"}), "");
    EXPECT_EQ(fault_of_refusal(base + "--top 3", {"--top", "several --tiles"}), "");
    EXPECT_EQ(fault_of_refusal(base + "--time-limit 1h", {"--time-limit", "several --tiles", "one search"}), "");
}

TEST_F(PlanCli, a_time_limit_ends_a_search_and_one_that_is_not_reached_changes_nothing) {
    EXPECT_EQ(fault_of_refusal(kSmall + "--time-limit 1us", {"--time-limit", "no plan that fits"}), "");
    const Outcome whole = run(kSmall + "--time-limit 1h --json");
    ASSERT_EQ(whole.exit_code, 0) << whole.error;
    EXPECT_FALSE(JsonDocument::parse(whole.out, "plan").root().at("cut").as_bool());
}

TEST_F(PlanCli, values_of_a_constant_are_searches_of_their_own_and_changes_of_the_winner_are_said) {
    const std::string base =
        "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 24 --global-batch 96 "
        "--where 'pp<=2,tp<=2,micro_batch_size<=4' ";
    const std::string field = "machine.tile.hbm_capacity";
    const std::string vary = base + "--vary '" + field + "=5 GB,24 GB,64 GB,128 GB' ";
    const Outcome found = run(vary + "--json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const auto values = document.root().at("values").elements();
    ASSERT_EQ(values.size(), 4U);
    EXPECT_FALSE(values[0].find("plan")) << "16 bytes a parameter do not fit into 5 GB";
    for (const std::size_t i : {1U, 2U, 3U}) {
        const Outcome alone =
            run(base + "--set '" + field + "=" + values[i].at("value").as_string() + "' --top 1 --json");
        const auto search = JsonDocument::parse(alone.out, "plan");
        EXPECT_EQ(values[i].at("step_time_s").as_number(0, 100),
                  search.root().at("best").elements().front().at("step_time_s").as_number(0, 100));
    }
    // With more memory the first winner, which fits in less, is at best as fast as the new one.
    EXPECT_FALSE(values[2].at("differs_from_last").keys().empty());
    EXPECT_GT(values[2].at("first_plan_step_time_s").as_number(0, 100), values[2].at("step_time_s").as_number(0, 100));
    EXPECT_TRUE(values[3].at("differs_from_last").keys().empty());
    const Outcome text = run(vary);
    for (const char* part : {"no plan fits", "first plan", "the same plan", "changes 1 time."}) {
        EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
    }
    EXPECT_EQ(fault_of_refusal(base + "--vary plan.pp=1,2", {"--vary", "plan.pp=1,2", "machine.PATH"}), "");
    EXPECT_EQ(fault_of_refusal(base + "--vary machine.tile.hbm_capacity=5GB", {"--vary", "expected"}), "");
    EXPECT_EQ(fault_of_refusal(base + "--vary machine.tile.hbm=5GB,6GB", {"hbm", "unknown key"}), "");
}

/// The document without what depends on time, and on which plans were looked at before a faster one was found.
std::string lasting(const std::string& json) {
    std::istringstream lines(json);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
        const bool is_passing = std::ranges::any_of(
            std::initializer_list<const char*>{"\"pruned_bound\"", "\"pruned_memory\"", "\"evaluated\"", "\"checked\"",
                                               "\"plans_per_s\"", "\"elapsed_s\""},
            [&line](const char* key) { return line.find(key) != std::string::npos; });
        kept += is_passing ? "" : line + "\n";
    }
    return kept;
}

TEST_F(PlanCli, a_search_that_was_cut_goes_on_from_its_checkpoint_and_gives_the_same_answer) {
    const Outcome whole = run(kLonger + "--json");
    ASSERT_EQ(whole.exit_code, 0) << whole.error;
    const std::string file = folder_ + "search.checkpoint";
    int cuts = 0;
    for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
        const std::string flag = std::filesystem::exists(file) ? "--resume " : "--checkpoint ";
        Background search(std::string("'") + AUSPEX_BINARY + "' " + kLonger + flag + file, folder_ + "said");
        ASSERT_EQ(search.fault_of_wait_for("test -s " + file), "");
        cuts += search.end(signal) != 0 ? 1 : 0;
    }
    EXPECT_GT(cuts, 0);
    const Outcome resumed = run(kLonger + "--json --resume " + file);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
    EXPECT_EQ(lasting(resumed.out), lasting(whole.out));
    EXPECT_EQ(fault_of_refusal(kLonger + "--top 3 --resume " + file, {"--resume", "of another search (auspex plan "}),
              "");
    EXPECT_EQ(fault_of_refusal(kLonger + "--checkpoint " + file, {"--checkpoint", "found a file there", "--resume"}),
              "");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    EXPECT_EQ(fault_of_refusal(kLonger + "--resume " + file, {"--resume", "cut off or damaged"}), "");
    EXPECT_EQ(fault_of_refusal(kLonger + "--resume " + folder_ + "none", {"--resume", "No such file"}), "");
    EXPECT_EQ(fault_of_refusal(kLonger + "--checkpoint a --resume b", {"--checkpoint", "found with --resume"}), "");
    EXPECT_EQ(fault_of_refusal(kLonger + "--vary 'machine.tile.hbm_capacity=32 GB,64 GB' --checkpoint a",
                               {"--checkpoint", "--vary"}),
              "");
}

TEST_F(PlanRanks, print_the_answer_of_one_process) {
    const Outcome alone = run(kSmall + "--json");
    ASSERT_EQ(alone.exit_code, 0) << alone.error;
    for (const int ranks : {1, 2, 4}) {
        const Outcome shared = run_under_mpirun(ranks, kSmall + "--json");
        ASSERT_EQ(shared.exit_code, 0) << shared.error;
        EXPECT_EQ(lasting(shared.out), lasting(alone.out)) << ranks << " ranks";
    }
}

TEST_F(PlanRanks, go_on_from_a_checkpoint_of_one_process_and_it_from_theirs) {
    const std::string file = folder_ + "search.checkpoint";
    const Outcome alone = run(kSmall + "--json --checkpoint " + file);
    const Outcome shared = run_under_mpirun(2, kSmall + "--json --resume " + file);
    ASSERT_EQ(shared.exit_code, 0) << shared.error;
    EXPECT_EQ(lasting(shared.out), lasting(alone.out));
    EXPECT_EQ(lasting(run(kSmall + "--json --resume " + file).out), lasting(alone.out));
}

TEST_F(PlanRanks, do_the_parts_of_one_that_is_killed) {
    const Outcome alone = run(kLonger + "--json");
    // The last rank kills itself when a moment is over; Open MPI is asked to let the others live.
    const Outcome shared =
        run_under_mpirun(3, kLonger + "--json", "--enable-recovery",
                         "sh -c 'if test $OMPI_COMM_WORLD_RANK = 2; then timeout -s KILL 1 \"$0\" \"$@\"; kill -9 $$; "
                         "else exec \"$0\" \"$@\"; fi'");
    ASSERT_EQ(shared.exit_code, 0) << shared.error;
    EXPECT_EQ(lasting(shared.out), lasting(alone.out));
    EXPECT_NE(shared.error.find("1 of the ranks fell silent"), std::string::npos) << shared.error;
}

TEST_F(PlanCli, what_cannot_be_is_one_sentence_that_says_what_would_do) {
    const std::string base = "plan --machine aurora --stack optimus --workload mula-220b-a10b ";
    EXPECT_EQ(
        fault_of_refusal(base + "--tiles 37 --global-batch 5 --where 'pp<=4'",
                         {"--tiles 37", "no plan", "no multiple of", "--global-batch 37 with", "--tiles 36 with"}),
        "");
    EXPECT_EQ(fault_of_refusal(base + "--tiles 12 --global-batch 12",
                               {"no plan that fits", "of 68.72 GB", "GB too much", "--tiles 60"}),
              "");
    EXPECT_EQ(fault_of_refusal(base + "--tiles 12 --global-batch 12 --where 'pp~4'", {"--where", "pp~4", "expected"}),
              "");
    EXPECT_EQ(fault_of_refusal(base + "--global-batch 12", {"found no --tiles"}), "");
    EXPECT_EQ(fault_of_refusal(kOnCores + "--what-if", {"--what-if", "machine of accelerators"}), "");
}

}  // namespace
}  // namespace auspex::cli
