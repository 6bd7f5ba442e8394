/// @file auspex campaign --optimise as people call it.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../cli_fixture.hpp"
#include "base/json.hpp"

namespace auspex::cli {
namespace {

class OptimiseCli : public testing::Test, protected testing_cli::Runner {};

double number(const JsonValue& parent, const char* key) { return parent.at(key).as_number(-1e300, 1e300); }

const std::string kBare =
    "campaign --bare --step 8.2s --steps 30000 --mtbf 3.09h --stall 30s --restart 5min --samples 60 ";
const std::string kBatch = kBare + "--machines 64 --walltime 12h --queue-wait 6h --spares 1 ";

TEST_F(OptimiseCli, the_best_setting_gains_against_what_was_given_and_the_page_shows_the_front) {
    const std::string page = folder_ + "page";
    const testing_cli::Outcome outcome =
        run(kBatch + "--checkpoint-every 2h --optimise spares=0:4:3,walltime=12h:24h:2 --json --out '" + page + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const JsonDocument document = JsonDocument::parse(outcome.out, "out");
    const JsonValue optimum = document.root().at("optimum"), best = optimum.at("best");
    EXPECT_EQ(number(optimum, "settings"), 7);
    EXPECT_GT(number(best, "spares"), 1) << "each failure but the first of a block would send the job to the queue";
    EXPECT_EQ(number(best, "walltime_s"), 24 * 3600);
    EXPECT_NEAR(number(best, "checkpoint_interval_s"), 2 * 3600, 8.2) << "the interval that was given";
    const JsonValue gain = optimum.at("gain"), interval = gain.at("finish_interval_s");
    const double gain_s = number(gain, "finish_s"), low_s = interval.elements().front().as_number(-1e9, 1e9),
                 high_s = interval.elements().back().as_number(-1e9, 1e9);
    EXPECT_GT(low_s, 0);
    EXPECT_LT(low_s, gain_s);
    EXPECT_LT(gain_s, high_s);
    const double selected_s = number(document.root().at("finish_by"), "p50") - number(best.at("finish_by"), "p50");
    EXPECT_NE(gain_s, selected_s) << "of samples that did not choose the best";
    EXPECT_NEAR(gain_s, selected_s, 2 * (high_s - low_s));
    EXPECT_EQ(number(optimum.at("front").elements().front().at("finish_by"), "p50"),
              number(best.at("finish_by"), "p50"));
    EXPECT_NE(testing_cli::text_of(page + "/index.html").find("The best setting"), std::string::npos);
    EXPECT_NE(testing_cli::text_of(page + "/index.html").find("Finish against node hours"), std::string::npos);
}

/// Longer blocks wait less often, so that the longest are best; with hardly a failure the fewest spares cost least, and
/// fewer than none there cannot be.
TEST_F(OptimiseCli, says_where_the_best_is_at_the_edge_of_what_was_searched) {
    const std::string blocks =
        kBare + "--machines 64 --walltime 12h --queue-wait 6h --spares 12 --optimise walltime=8h:24h:3 ";
    const JsonDocument longest = JsonDocument::parse(run(blocks + "--json").out, "out");
    const std::vector<JsonValue> edges = longest.root().at("optimum").at("at_edge").elements();
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_EQ(edges.front().at("what").as_string(), "walltime");
    EXPECT_EQ(edges.front().at("side").as_string(), "upper");
    EXPECT_EQ(number(edges.front(), "value"), 24 * 3600);
    EXPECT_NE(run(blocks).out.find("The best has the longest blocks (24 h) that were searched: a better one may lie"),
              std::string::npos);
    const std::string rare =
        "campaign --bare --step 8.2s --steps 30000 --mtbf 4000h --checkpoint-every 1h --stall 30s --restart 5min "
        "--samples 20 --machines "
        "64 --objective node-hours --walltime 12h --json ";
    for (const auto& [spares, edge] : {std::pair("--spares 1 --optimise spares=1:3:3", "lower"),
                                       {"--spares 0 --optimise spares=0:2:3", "none"},
                                       {"--spares 0 --optimise spares=1:3:3", "none"}}) {
        const JsonDocument few = JsonDocument::parse(run(rare + spares).out, "out");
        const std::vector<JsonValue> found = few.root().at("optimum").at("at_edge").elements();
        EXPECT_EQ(found.empty() ? "none" : found.front().at("side").as_string(), edge) << spares;
    }
}

TEST_F(OptimiseCli, each_setting_has_its_best_interval_unless_one_is_given_and_what_is_given_counts_once) {
    const auto optimum_of = [&](const std::string& more) {
        const testing_cli::Outcome outcome = run(kBatch + "--optimise spares=0:2:3 --json " + more);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.out, "out");
    };
    const JsonDocument best = optimum_of("");
    EXPECT_EQ(number(best.root().at("optimum"), "settings"), 3);
    EXPECT_LT(number(best.root().at("optimum").at("best"), "checkpoint_interval_s"), 3600);
    const std::string trace = folder_ + "trace.txt";
    std::ofstream(trace) << "3h\n9h\n";
    const testing_cli::Outcome outcome = run(
        "campaign --bare --step 8.2s --steps 30000 --failures trace:'" + trace +
        "' --stall 30s --restart 5min --samples 20 --walltime 12h --queue-wait 6h --spares 1 --checkpoint-every 10min "
        "--optimise spares=0:2:3 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const JsonDocument traced = JsonDocument::parse(outcome.out, "out");
    EXPECT_NEAR(number(traced.root().at("optimum").at("best"), "checkpoint_interval_s"), 600, 8.2);
}

TEST_F(OptimiseCli, what_cannot_be_optimised_is_refused) {
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{kBatch + "--optimise luck",
                                              "--optimise: found \"luck\"; expected spares"},
          {kBatch + "--optimise interval", "(the interval is the best one, unless"},
          {kBatch + "--optimise nodes=1:4:3", "--optimise: found nodes with --bare"},
          {kBatch + "--optimise spares,spares", "--optimise: found spares twice"},
          {kBatch + "--optimise spares=4:1:3", "--optimise: found \"spares=4:1:3\"; expected a last value above"},
          {kBare + "--optimise walltime", "--optimise: found walltime without --walltime"},
          {kBatch + "--objective node-hours", "--objective: found without --optimise"},
          {kBatch + "--optimise spares --objective luck", "--objective: found \"luck\"; expected finish-by"}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

/// Errors of a varied value name the flag once, and the number that was given.
TEST_F(OptimiseCli, errors_of_varied_numbers_name_what_was_typed) {
    const std::string job =
        "campaign --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --nodes 256 --tokens 1T "
        "--walltime 12h --checkpoint-every 30min --samples 2 --no-sensitivity ";
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{job + "--vary nodes=20000:40000:2",
                                              "--vary nodes=20,000: found 20,000 nodes; expected at most 10,624"},
          {job + "--spares 20000", "--spares: found 20,000 beside 256 nodes; expected at most 10,368"},
          {kBare + "--vary nodes=1:4:3", "error: --vary: found nodes with --bare"}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

}  // namespace
}  // namespace auspex::cli
