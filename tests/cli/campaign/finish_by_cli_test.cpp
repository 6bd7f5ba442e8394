/// @file auspex plan by when a whole run is over.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../cli_fixture.hpp"
#include "base/json.hpp"

namespace auspex::cli {
namespace {

class FinishByCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] JsonDocument json(const std::string& arguments) const {
        const testing_cli::Outcome outcome = run(arguments + " --json");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.exit_code == 0 ? outcome.out : "{}", "out");
    }
};

double number(const JsonValue& parent, const char* key) { return parent.at(key).as_number(-1e300, 1e300); }

const std::string kSizes =
    "plan --machine frontier --stack auspex --workload mula-7b-a1b --tiles 32,128 --global-batch 128 --where "
    "'pp=1,tp=1,micro_batch_size<=1' --tokens 10B --samples 40 ";
const std::string kSearch =
    "plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 24 --global-batch 96 --where "
    "'pp<=2,tp=1,ep<=2,micro_batch_size<=2,virtual_stages<=2' --tokens 100B --samples 60 ";

/// With nodes that fail every 5 h, 16 of them fail every 19 min, and a restart takes 30: they take a shorter step, and
/// are over later, than 4, which fail every 75 min.
TEST_F(FinishByCli, fewer_nodes_with_a_longer_step_are_over_first_where_nodes_fail_often) {
    const std::string fails = "--set 'machine.reliability.node_mtbf=5 h' --set 'machine.reliability.restart=30 min' ";
    const JsonDocument found = json(kSizes + fails + "--objective finish-by");
    const std::vector<JsonValue> sizes = found.root().at("sizes").elements();
    ASSERT_EQ(sizes.size(), 2U);
    EXPECT_LT(number(sizes[1], "step_time_s"), number(sizes[0], "step_time_s"));
    EXPECT_LT(number(sizes[0].at("campaign").at("finish_by"), "p50"),
              number(sizes[1].at("campaign").at("finish_by"), "p50"));
    EXPECT_EQ(number(found.root(), "picked_tiles"), 32);
    EXPECT_EQ(found.root().at("front_tiles").elements().size(), 1U);
}

TEST_F(FinishByCli, several_sizes_have_a_page) {
    const std::string folder = folder_ + "sizes";
    const JsonDocument found = json(kSizes + "--objective finish-by --out '" + folder + "'");
    const std::string page = testing_cli::text_of(folder + "/index.html");
    for (const char* part : {"Over first of 2 sizes", "The sizes", "What a finish costs, by size", "finish-by"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(JsonDocument::load(folder + "/sizes.json").root().dump(), found.root().dump());
    EXPECT_NE(testing_cli::text_of(folder + "/finish.svg").find("<svg xmlns"), std::string::npos);
    const std::string picked = std::to_string(static_cast<int>(number(found.root(), "picked_tiles")));
    EXPECT_NE(page.find("<b>" + picked + "</b>"), std::string::npos) << picked;
    // The plan of the size that is over first, as auspex predict takes it.
    const JsonDocument step = json("predict --machine frontier --stack auspex --workload mula-7b-a1b --plan '" +
                                   folder + "/best.json' --no-sensitivity --tiles " + picked);
    for (const JsonValue& size : found.root().at("sizes").elements()) {
        if (number(size, "tiles") == number(found.root(), "picked_tiles")) {
            EXPECT_EQ(number(step.root(), "step_time_s"), number(size, "step_time_s"));
        }
    }
    EXPECT_EQ(fault_of_refusal(kSizes + "--out '" + folder + "'", {"--out", "finish-by alone", "NAME.json"}), "");
}

TEST_F(FinishByCli, layouts_are_in_the_order_of_their_finish_and_others_are_bounded) {
    const std::string plan_file = folder_ + "best.json";
    const JsonDocument found = json(kSearch + "--objective finish-by --replenish 1d --spares auto --out " + plan_file);
    const JsonValue root = found.root(), finish = root.at("finish");
    EXPECT_EQ(root.at("objective").as_string(), "finish-by");
    EXPECT_EQ(number(finish, "played"), 32);
    const std::vector<JsonValue> best = root.at("best").elements();
    ASSERT_EQ(best.size(), 10U);
    double last_s = 0;
    for (const JsonValue& one : best) {
        const JsonValue campaign = one.at("campaign");
        EXPECT_GE(number(campaign.at("finish_by"), "p50"), last_s);
        last_s = number(campaign.at("finish_by"), "p50");
        EXPECT_EQ(number(campaign, "nodes"), 2);
        // 12 bytes of states and 2 of weights a parameter: as its own campaign has it.
        EXPECT_NEAR(number(campaign, "checkpoint_bytes"), 96.87e9, 0.01e9);
    }
    // Certain: no layout that was not played can be over before.
    EXPECT_EQ(finish.at("certain").as_bool(),
              number(finish, "least_of_others_s") >= number(best.front().at("campaign").at("finish_by"), "p50"));
    // The best one's plan file, played by `auspex campaign`, is over at the same time: one setting, the same draws.
    const JsonDocument alone = json("campaign --machine aurora --stack optimus --workload mula-7b-a1b --plan " +
                                    plan_file + " --tokens 100B --samples 60 --replenish 1d --spares auto");
    EXPECT_NEAR(number(alone.root().at("finish_by"), "p50"), number(best.front().at("campaign").at("finish_by"), "p50"),
                60);
}

TEST_F(FinishByCli, a_search_with_tokens_says_when_the_best_one_is_over) {
    const JsonDocument found = json(kSearch);
    const std::vector<JsonValue> best = found.root().at("best").elements();
    EXPECT_EQ(found.root().at("objective").as_string(), "step-time");
    EXPECT_GT(number(best.front().at("campaign"), "goodput"), 0.9);
    EXPECT_FALSE(best[1].find("campaign").has_value());
}

TEST_F(FinishByCli, what_no_run_is_played_with_is_refused) {
    const std::string plain = "plan --machine aurora --stack optimus --workload mula-7b-a1b --global-batch 96 ";
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{plain + "--tiles 24 --objective finish-by",
                                              "--objective: found finish-by without --tokens"},
          {plain + "--tiles 24 --walltime 24h", "--walltime: found where no run is played"},
          {plain + "--tiles 12,24 --tokens 1B --spares 2", "--spares: found where no run is played"},
          {plain + "--tiles 24 --tokens 1B --spares 2", "--spares: found 2 without --replenish"},
          {plain + "--tiles 24 --tokens 1B --spares auto", "--spares: found auto without --replenish"},
          {plain + "--tiles 24 --tokens 1B --without luck", "--without: found \"luck\""},
          {plain + "--tiles 24 --tokens 1B --objective luck", "--objective: found \"luck\"; expected step-time"}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

}  // namespace
}  // namespace auspex::cli
