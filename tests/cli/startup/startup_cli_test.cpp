/// @file auspex startup as people call it, and the restart of auspex campaign beside it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.hpp"
#include "base/json.hpp"
#include "cli/cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kPlan = "--machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b";

class StartupCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] JsonDocument json(const std::string& command, const std::string& arguments) const {
        const Outcome outcome = run(command + " --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.exit_code == 0 ? outcome.out : "{}", "out");
    }
};

double number(const JsonValue& parent, const char* key) { return parent.at(key).as_number(-1e300, 1e300); }

double seconds_of(const JsonValue& start, const std::string& name) {
    for (const JsonValue& phase : start.at("phases").elements()) {
        if (phase.at("name").as_string() == name) {
            return number(phase, "seconds");
        }
    }
    return 0;
}

TEST_F(StartupCli, phases_add_up_and_leaving_out_takes_longer) {
    const JsonDocument document = json("startup", kPlan + " --nodes 256 --tokens 2T --queue-wait 12h");
    const JsonValue root = document.root();
    EXPECT_EQ(number(root, "nodes"), 256);
    EXPECT_EQ(number(root, "ranks"), 3072);
    EXPECT_EQ(seconds_of(root, "queue"), 12 * 3600);
    EXPECT_NEAR(seconds_of(root, "environment"), 252, 1);
    EXPECT_EQ(seconds_of(root, "compile"), 0);
    double sum = 0, shares = 0;
    for (const JsonValue& phase : root.at("phases").elements()) {
        sum += number(phase, "seconds");
        shares += number(phase, "share");
        EXPECT_FALSE(phase.at("bound_by").as_string().empty());
    }
    EXPECT_NEAR(sum, number(root, "total_s"), 1e-6);
    EXPECT_NEAR(shares, 1, 1e-9);
    ASSERT_EQ(root.at("without").keys().size(), 3U);
    for (const char* feature : {"broadcast", "staging", "parallel-index"}) {
        EXPECT_GT(number(root.at("without").at(feature), "total_s"), number(root, "total_s")) << feature;
    }
    // Every tile of this plan has a replica of its own experts' part; what is more is loads alone.
    EXPECT_NEAR(number(root.at("without").at("broadcast"), "total_s") - number(root, "total_s"),
                seconds_of(root.at("without").at("broadcast"), "load") - seconds_of(root, "load"), 1e-6);
    const std::vector<JsonValue> curve = root.at("curve").elements();
    EXPECT_EQ(number(curve.back(), "nodes"), 10'000);
    EXPECT_EQ(curve.back().at("public_runs").as_string(), "bare launches failed");
    EXPECT_LT(number(curve.back(), "total_s"), 12 * 3600);  // behind the queue
    EXPECT_LE(number(root.at("without").at("broadcast"), "least_s"),
              number(root.at("without").at("broadcast"), "total_s"));
}

// Phases of a size, with or without a feature, add up to what the JSON has of it.
TEST_F(StartupCli, csv_has_a_row_for_each_phase_and_size) {
    const std::string file = folder_ + "phases.csv";
    const JsonDocument document =
        json("startup", kPlan + " --nodes 256 --queue-wait 12h --vary nodes=1:10000:3 --csv '" + file + "'");
    std::map<std::string, double> sums;
    const std::string text = testing_cli::text_of(file);
    for (const CsvLine& line : csv_lines(text, "phases")) {
        const std::vector<std::string> row = csv_fields(line.text, line.place);
        ASSERT_EQ(row.size(), 7U);
        if (sums.empty()) {
            EXPECT_EQ(line.text, "of,nodes,ranks,without,phase,seconds,bound_by");
        }
        sums[row[0] + " " + row[1] + " " + row[3]] += row[0] == "of" ? 0 : std::stod(row[5]);
    }
    const JsonValue root = document.root();
    EXPECT_NEAR(sums.at("job 256 "), number(root, "total_s"), 1e-6);
    EXPECT_NEAR(sums.at("job 256 staging"), number(root.at("without").at("staging"), "total_s"), 1e-6);
    for (const JsonValue& point : root.at("curve").elements()) {
        const std::string size = "curve " + std::to_string(static_cast<int>(number(point, "nodes"))) + " ";
        EXPECT_NEAR(sums.at(size), number(point, "total_s"), 1e-6);
        EXPECT_NEAR(sums.at(size + "staging"), number(point.at("without"), "staging"), 1e-6);
    }
}

TEST_F(StartupCli, a_campaign_restarts_as_startup_starts) {
    const JsonDocument start = json("startup", kPlan + " --tiles 3072 --tokens 4T");
    // Failures at given times have no mean, around which a best interval would be looked for.
    const JsonDocument campaign =
        json("campaign", kPlan + " --tiles 3072 --tokens 4T --build-index --walltime 12h --samples 5 --no-sensitivity" +
                             " --checkpoint-every 1h --failures trace:" + write("times.txt", "30h\n"));
    const JsonValue recovery = campaign.root().at("recovery");
    EXPECT_NEAR(number(recovery, "environment_s"), seconds_of(start.root(), "environment"), 1e-6);
    EXPECT_NEAR(number(recovery, "restart_s"), seconds_of(start.root(), "libraries"), 1e-6);
    EXPECT_NEAR(number(recovery, "initialise_s"),
                seconds_of(start.root(), "devices") + seconds_of(start.root(), "communicators"), 1e-6);
    EXPECT_NEAR(number(recovery, "load_s"), seconds_of(start.root(), "load"), 1e-6);
    EXPECT_NEAR(number(campaign.root(), "prepare_s"), seconds_of(start.root(), "index"), 0.01);
    EXPECT_GT(number(campaign.root(), "prepare_s"), 185);
}

TEST_F(StartupCli, the_text_has_phases_features_curve_and_notes) {
    const Outcome outcome = run("startup --machine aurora --stack torchtitan --nodes 600 --vary nodes=1:10000:5");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    for (const char* words : {"600 nodes (7,200 ranks) of aurora with torchtitan", "bound by", "compilation",
                              "together", "the same without", "public runs", "10,000",
                              "note: no plan: nothing is loaded", "never finished compiling", "never compiled"}) {
        EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in\n" << outcome.out;
    }
}

TEST_F(StartupCli, a_machine_without_facts_says_so) {
    const Outcome outcome = run("startup --machine frontier --stack bare --nodes 100");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("note: machine frontier does not say what a start is made of"), std::string::npos);
    EXPECT_NE(outcome.out.find("start of the job"), std::string::npos);
}

TEST_F(StartupCli, a_feature_whose_lack_changes_nothing_is_named) {
    const std::string said = "note: --without ";
    const auto out_of = [&](const std::string& arguments) {
        const Outcome outcome = run("startup " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return outcome.out;
    };
    const std::string bare = out_of("--machine frontier --stack bare --nodes 100 --without staging,broadcast");
    EXPECT_NE(bare.find(said + "staging changes nothing: machine frontier does not say how"), std::string::npos);
    EXPECT_NE(bare.find(said + "broadcast changes nothing: nothing is loaded"), std::string::npos);
    const std::string known = out_of(kPlan + " --nodes 256 --without staging,broadcast,parallel-index");
    EXPECT_EQ(known.find(said + "staging"), std::string::npos);
    EXPECT_EQ(known.find(said + "broadcast"), std::string::npos);
    EXPECT_NE(known.find(said + "parallel-index changes nothing: no index is built"), std::string::npos);
}

TEST_F(StartupCli, what_is_wrong_is_refused_by_its_flag) {
    const std::string aurora = "startup --machine aurora --stack optimus";
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{"startup --stack optimus --nodes 4", "--machine"},
          {aurora, "neither --nodes nor --tiles"},
          {aurora + " --nodes 4 --plan mula-7b-a1b", "--plan: found without --workload"},
          {aurora + " --nodes 4 --tokens 2T", "--tokens: found without --workload"},
          {aurora + " --nodes 4 --set plan.pp=3", "found the role \"plan\"; expected one of machine, stack"},
          {aurora + " --nodes 20000", "--nodes: found 20,000 nodes; expected at most 10,624"},
          {aurora + " --nodes 4 --tiles 48", "--nodes: found beside --tiles"},
          {aurora + " --nodes 4 --without luck",
           "--without: found \"luck\"; expected any of broadcast, staging, parallel-index"},
          {aurora + " --nodes 4 --queue-wait 12", "--queue-wait: found \"12\""},
          {aurora + " --nodes 4 --queue-wait 1h:5h", "--queue-wait: found a median"},
          {aurora + " --nodes 4 --vary spares=1:4:3", "--vary: found \"spares=1:4:3\"; expected nodes=FROM:TO:N"},
          {aurora + " --nodes 4 --vary nodes=1:20000:3", "expected nodes from 1 to 10,624"},
          {aurora + " --nodes 4 --vary nodes=4:2:3", "--vary"},
          {"campaign --bare --step 8.2s --steps 1000 --stall 30s --restart 5min --mtbf 3h --build-index",
           "--build-index: found with --bare"}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

}  // namespace
}  // namespace auspex::cli
