/// @file auspex campaign as people call it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.hpp"
#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kBare = "--bare --step 8.2s --steps 100000 --mtbf 3.09h --stall 30s --restart 5min";

class CampaignCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] std::string answer(const std::string& arguments) const {
        const Outcome outcome = run("campaign --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return outcome.exit_code == 0 ? outcome.out : "{}";
    }
    [[nodiscard]] JsonDocument json(const std::string& arguments) const {
        return JsonDocument::parse(answer(arguments), "out");
    }
};

double number(const JsonValue& parent, const char* key) { return parent.at(key).as_number(-1e300, 1e300); }

TEST_F(CampaignCli, a_bare_run_meets_the_closed_forms) {
    const JsonDocument document =
        json(kBare + " --checkpoint-every 13.5min --machines 1024 --daily-failure 0.0012 --replenish 1d");
    const JsonValue root = document.root();
    EXPECT_EQ(number(root, "checkpoint_every_steps"), 99);
    const JsonValue forms = root.at("closed_forms");
    // M e^(R/M) (e^((t + d)/M) - 1) with M = 11,124 s, R = 300 s, t = 811.8 s, d = 30 s: 898.38 s for 811.8 s of work.
    EXPECT_NEAR(number(forms, "exact_efficiency"), 0.90363, 2e-5);
    EXPECT_NEAR(number(root, "goodput"), number(forms, "exact_efficiency"), 0.003);
    EXPECT_NEAR(number(forms, "exact_interval_s"), 797.1, 0.1);
    EXPECT_NEAR(number(root, "checkpoint_interval_optimum_s"), 797.1, 8);
    EXPECT_EQ(number(root, "spares_needed_p99"), 4);
    EXPECT_EQ(number(forms, "spare_quantile_p99"), 4);
    EXPECT_TRUE(forms.at("agrees").as_bool());
    double shares = number(root, "goodput");
    for (const std::string& key : root.at("badput").keys()) {
        shares += number(root.at("badput"), key.c_str());
    }
    EXPECT_NEAR(shares, 1, 1e-9);
    EXPECT_LT(number(root.at("finish_by"), "p10"), number(root.at("finish_by"), "p90"));
    EXPECT_NEAR(number(root.at("node_hours"), "p50"), number(root.at("finish_by"), "p50") / 3600 * 1024, 1);
}

TEST_F(CampaignCli, the_same_seed_gives_the_same_bytes_but_for_the_time_it_took) {
    const auto without_elapsed = [](const std::string& text) { return text.substr(0, text.find("\"elapsed_s\"")); };
    const std::string first = without_elapsed(answer(kBare + " --samples 50"));
    EXPECT_EQ(first, without_elapsed(answer(kBare + " --samples 50 --seed 1")));
    EXPECT_NE(first, without_elapsed(answer(kBare + " --samples 50 --seed 2")));
}

TEST_F(CampaignCli, dates_deadlines_and_broken_assumptions_are_said) {
    const JsonDocument document = json(kBare +
                                       " --machines 64 --spares 2 --walltime 12h --queue-wait 6h --start 2027-02-25 "
                                       "--deadline 2027-03-20 --samples 100");
    const JsonValue root = document.root();
    EXPECT_TRUE(root.at("finish_date").at("p50").as_string().starts_with("2027-03-"));
    EXPECT_GT(number(root, "share_by_deadline"), 0.5);
    EXPECT_GT(number(root.at("badput"), "queue"), 0.1);
    const JsonValue forms = root.at("closed_forms");
    EXPECT_FALSE(forms.at("agrees").as_bool());
    EXPECT_NE(forms.at("broken_assumptions").dump().find("walltime"), std::string::npos);
    const JsonValue whole = forms.at("whole_run");
    // Two spare nodes for some four failures of a block: with enough of them it is over before.
    EXPECT_GT(number(whole, "finish_s"), 1.2 * number(forms, "expected_finish_s"));
    EXPECT_LT(number(whole, "finish_s"), number(root.at("finish_by"), "mean"));
    const JsonDocument enough = json(kBare + " --machines 64 --spares 12 --walltime 12h --queue-wait 6h --samples 300");
    EXPECT_NEAR(number(enough.root().at("closed_forms").at("whole_run"), "finish_s") /
                    number(enough.root().at("finish_by"), "mean"),
                1, 0.02);
    EXPECT_NE(whole.at("left_out").dump().find("spare nodes run out"), std::string::npos);
}

const std::string kJob = "--machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 3072";

TEST_F(CampaignCli, on_top_of_a_prediction_step_failures_and_checkpoints_follow) {
    const JsonDocument document =
        json(kJob + " --tokens 4T --walltime 12h --queue-wait 6h --spares 4 --samples 100 --no-sensitivity");
    const JsonValue root = document.root();
    EXPECT_EQ(number(root, "nodes"), 256);
    EXPECT_EQ(number(root, "spares"), 4);
    EXPECT_NEAR(number(root.at("recovery"), "failed_start_share"), 1 - std::exp(-256 * 3.4e-4), 1e-9);
    EXPECT_GT(number(root.at("recovery"), "environment_s"), 10 * number(root.at("recovery"), "swap_s"));
    EXPECT_GT(number(root.at("badput"), "failed_start"), 0);
    EXPECT_EQ(number(root, "steps"), std::ceil(4e12 / number(root, "tokens_per_step")));
    EXPECT_NEAR(number(root.at("closed_forms"), "mtbf_s"), 14'780 * 3600.0 / 256, 0.01 * 14'780 * 3600.0 / 256);
    EXPECT_NEAR(number(root.at("checkpoint"), "bytes"), 7 * number(root.at("checkpoint"), "model_bytes"), 16);
    EXPECT_EQ(root.at("interruptions").at("by_cause").keys().size(), 3U);
    EXPECT_GT(number(root.at("worth").at("buffer"), "elapsed_s"), 0);
    EXPECT_EQ(root.at("worth").keys().size(), 7U);
    const JsonDocument fewer = json(kJob +
                                    " --tokens 4T --walltime 12h --queue-wait 6h --samples 100 --no-sensitivity "
                                    "--without buffer,async");
    EXPECT_EQ(number(fewer.root(), "spares"), 0);
    EXPECT_EQ(number(fewer.root().at("checkpoint"), "write_s"), 0);
}

TEST_F(CampaignCli, several_campaigns_differ_in_one_number_and_the_page_shows_them) {
    const std::string page = folder_ + "page";
    const JsonDocument document = json(kBare + " --samples 40 --vary interval=2min:1h:5 --out '" + page + "'");
    const std::vector<JsonValue> points = document.root().at("curve").at("points").elements();
    ASSERT_EQ(points.size(), 5U);
    EXPECT_NEAR(number(points.front(), "value"), 120, 4.1);
    EXPECT_NEAR(number(points.back(), "value"), 3600, 4.1);
    EXPECT_GT(number(points[2], "goodput"), number(points.front(), "goodput"));
    EXPECT_GT(number(points[2], "goodput"), number(points.back(), "goodput"));
    EXPECT_NE(testing_cli::text_of(page + "/index.html").find("Node hours by interval"), std::string::npos);
    EXPECT_NE(testing_cli::text_of(page + "/campaign.json").find("\"finish_by\""), std::string::npos);
    EXPECT_TRUE(
        testing_cli::text_of(page + "/samples.csv").starts_with("setting,value,sample,finish_days,node_hours,"));
    for (const char* wrong : {"interval", "luck=1:2:3", "interval=1h:2min:5", "spares=0:4", "nodes=1:4:3",
                              "walltime=-6h:24h:4", "interval=0s:2h:3"}) {
        EXPECT_EQ(fault_of_refusal("campaign " + kBare + " --vary " + wrong, {"--vary"}), "") << wrong;
    }
}

// 40 samples of what was given and of each of two settings; 40 samples' mean finish is that of the setting's point.
TEST_F(CampaignCli, csv_of_several_settings_has_a_row_for_every_sample_of_each) {
    const std::string file = folder_ + "settings.csv";
    const JsonDocument document = json(kBare + " --samples 40 --vary interval=2min:1h:2 --csv '" + file + "'");
    std::vector<std::vector<std::string>> rows;
    const std::string text = testing_cli::text_of(file);
    for (const CsvLine& line : csv_lines(text, "settings")) {
        rows.push_back(csv_fields(line.text, line.place));
    }
    ASSERT_EQ(rows.size(), 1U + 3 * 40);
    EXPECT_EQ(rows[0][0], "setting");
    EXPECT_EQ(rows[1][0], "given");
    EXPECT_EQ(rows[1][1], "");
    const std::vector<JsonValue> points = document.root().at("curve").at("points").elements();
    ASSERT_EQ(points.size(), 2U);
    for (std::size_t i = 0; i < points.size(); ++i) {
        double days = 0;
        for (std::size_t sample = 0; sample < 40; ++sample) {
            const std::vector<std::string>& row = rows[1 + 40 * (i + 1) + sample];
            EXPECT_EQ(row[0], i == 0 ? "interval=123 s" : "interval=3599.8 s");  // whole steps of 8.2 s
            EXPECT_EQ(std::stod(row[1]), number(points[i], "value"));
            EXPECT_EQ(row[2], std::to_string(sample));
            days += std::stod(row[3]);
        }
        EXPECT_NEAR(days / 40 * 86'400, number(points[i].at("finish_by"), "mean"), 1e-3);
    }
}

// Means of the columns are the answer's own: every share over time is one over samples, weighted by their lengths.
TEST_F(CampaignCli, csv_has_a_row_for_every_sample) {
    const std::string file = folder_ + "samples.csv";
    const JsonDocument document = json(kBare + " --samples 40 --csv '" + file + "'");
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;
    const std::string text = testing_cli::text_of(file);
    for (const CsvLine& line : csv_lines(text, "samples")) {
        const std::vector<std::string> cells = csv_fields(line.text, line.place);
        if (columns.empty()) {
            columns = cells;
            continue;
        }
        ASSERT_EQ(cells.size(), columns.size());
        rows.emplace_back();
        for (const std::string& cell : cells) {
            rows.back().push_back(std::stod(cell));
        }
    }
    ASSERT_EQ(rows.size(), 40U);
    const JsonValue root = document.root();
    double days = 0, node_hours = 0, interruptions = 0;
    std::vector<double> spent(columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i][0], static_cast<double>(i));
        days += rows[i][1], node_hours += rows[i][2], interruptions += rows[i][4];
        double shares = rows[i][3];
        for (std::size_t column = 5; column < columns.size(); ++column) {
            shares += rows[i][column];
            spent[column] += rows[i][column] * rows[i][1];
        }
        EXPECT_NEAR(shares, 1, 1e-9);
    }
    EXPECT_NEAR(days / 40 * 86'400, number(root.at("finish_by"), "mean"), 1e-3);
    EXPECT_NEAR(node_hours / 40, number(root.at("node_hours"), "mean"), 1e-3);
    EXPECT_NEAR(interruptions / 40, number(root.at("interruptions"), "mean"), 1e-9);
    for (std::size_t column = 5; column < columns.size(); ++column) {
        EXPECT_NEAR(spent[column] / days, number(root.at("badput"), columns[column].c_str()), 1e-9) << columns[column];
    }
    EXPECT_EQ(columns.size(), 5 + root.at("badput").keys().size());
    EXPECT_EQ(fault_of_refusal("campaign " + kBare + " --csv /nowhere/samples.csv", {"--csv", "found no folder"}), "");
}

TEST_F(CampaignCli, what_is_wrong_is_refused_by_its_flag) {
    const std::string bare = "campaign --bare --step 8.2s --steps 1000 --stall 30s --restart 5min";
    const std::string all = bare + " --mtbf 3h";
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{bare, "--mtbf"},
          {bare + " --mtbf 3", "found \"3\"; expected a number and a unit"},
          {bare + " --mtbf 0s", "--mtbf: found \"0s\""},
          {all + " --checkpoint-every soon", "--checkpoint-every: found \"soon\""},
          {all + " --checkpoint-every 0", "--checkpoint-every: found \"0\""},
          {all + " --daily-failure 0.1", "--daily-failure: found without --machines"},
          {all + " --spares 3", "--spares: found 3 without --replenish"},
          {all + " --silent 0.6 --soft 0.6", "--soft: found shares of"},
          {all + " --silent 0.1 --watchdog 0s", "--watchdog"},
          {all + " --walltime 2min", "--walltime: found 2 min"},
          {all + " --lemons 0.5", "--lemons: found \"0.5\""},
          {all + " --maintenance 1h:2h", "--maintenance: found \"1h:2h\""},
          {all + " --slow-nodes 1d:0.5:1h", "--slow-nodes: found \"0.5\""},
          {all + " --failures pareto", "--failures: found \"pareto\""},
          {bare + " --failures trace:./none.txt", "no such file"},
          {all + " --deadline 2027-03-01", "--deadline: found the date 2027-03-01 without --start"},
          {all + " --replenish 1s --spares 4", "--replenish: found 1 s; expected at least 1 min"},
          {all + " --slow-nodes 1ms:1.3:1h", "--slow-nodes: found 1 ms; expected EVERY and LENGTH of at least 1 s"},
          {all + " --start 2027-13-01", "--start: found \"2027-13-01\""},
          {all + " --tokens 1T", "--tokens: found with --bare"},
          {all + " --without buffer", "--without: found \"buffer\""},
          {"campaign " + kJob, "neither of --tokens and --steps"},
          {"campaign " + kJob + " --steps 10 --tokens 1T", "both of --tokens and --steps"},
          {"campaign " + kJob + " --tokens 1T --step 3s", "--step: found without --bare"},
          {"campaign " + kJob + " --tokens 1T --without dual,luck", "--without: found \"luck\""},
          {"campaign " + kJob + " --tokens 1T --spares 2 --without buffer", "--without: found buffer with --spares"},
          {"campaign " + kJob + " --tokens 1T --without buffer", "--without: found buffer without --walltime"},
          {all + " --queue-wait 6h", "--queue-wait: found without --walltime, --spares and --maintenance"},
          {all + " --walltime 12h --queue-wait 6h:5h", "--queue-wait: found \"6h:5h\"; expected MEDIAN:P90"},
          {all + " --replenish 1d:9000d", "--replenish: found \"1d:9000d\""},
          {all + " --failed-starts 0.95", "--failed-starts: found \"0.95\""},
          {all + " --samples 0", "--samples: found \"0\""}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

}  // namespace
}  // namespace auspex::cli
