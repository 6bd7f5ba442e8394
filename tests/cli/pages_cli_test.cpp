/// @file Pages and differences as people ask for them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class PagesCli : public testing::Test, protected testing_cli::Runner {};
class DiffCli : public testing::Test, protected testing_cli::Runner {};

const std::string kJob =
    " --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 384 ";
constexpr double kAny = 1e30;

TEST_F(PagesCli, predict_writes_a_page_whose_headline_has_the_numbers_of_its_json) {
    const Outcome found = run("predict" + kJob + "--json --out " + folder_ + "page");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto prediction = JsonDocument::parse(found.out, "predict");
    const std::string page = text_of(folder_ + "page/index.html");
    const double step_s = prediction.root().at("step_time_s").as_number(0, kAny);
    std::ostringstream step;
    step.precision(3);
    step << step_s;
    EXPECT_NE(page.find("<h1>mula-220b-a10b on 384 tiles of aurora: " + step.str() + "\u00a0s a step, "),
              std::string::npos)
        << page.substr(page.find("<h1>"), 300);
    for (const char* loader : {"<script src", "<link", "<img", " src=", "url("}) {
        EXPECT_EQ(page.find(loader), std::string::npos) << loader;
    }
    EXPECT_LT(page.size(), 2'000'000U);
    // What is printed beside the page is the same without it, but for the events: a page has every operation played by
    // itself.
    const Outcome alone = run("predict" + kJob + "--json");
    const auto until = [](const std::string& text) { return text.substr(0, text.find("\"events\"")); };
    EXPECT_EQ(until(found.out), until(alone.out));
}

// The command of the page's section on the whole run plays it: its mean is the closed form's within 2 %.
TEST_F(PagesCli, predict_with_tokens_has_the_whole_run_and_the_campaign_that_plays_it) {
    ASSERT_EQ(
        run("predict" + kJob + "--tokens 100B --set 'machine.reliability.node_mtbf=2000 h' --out " + folder_ + "run")
            .exit_code,
        0);
    const std::string page = text_of(folder_ + "run/index.html");
    const std::size_t section = page.find("<h2 id=\"run\">");
    ASSERT_NE(section, std::string::npos);
    const std::string begin =
        "<pre>auspex campaign --machine aurora --stack optimus --workload mula-220b-a10b --plan "
        "mula-220b-a10b --tiles 384 --tokens 100B --set ";
    const std::size_t command = page.find(begin, section);
    ASSERT_NE(command, std::string::npos) << page.substr(section, 3000);
    const Outcome played =
        run("campaign" + kJob + "--tokens 100B --set 'machine.reliability.node_mtbf=2000 h' --samples 400 --json");
    ASSERT_EQ(played.exit_code, 0) << played.error;
    const JsonDocument json = JsonDocument::parse(played.out, "campaign");
    const double mean_d = json.root().at("finish_by").at("mean").as_number(0, kAny) / 86'400;
    const std::string over = "With them the run is over after ";
    const double said_d = std::stod(page.substr(page.find(over, section) + over.size()));
    EXPECT_NEAR(said_d, mean_d, 0.02 * mean_d);
    EXPECT_NE(page.find(" d in the mean", section), std::string::npos);
    // Without tokens, and of more steps than a campaign may have, there is none.
    ASSERT_EQ(run("predict" + kJob + "--tokens 1e18 --out " + folder_ + "none").exit_code, 0);
    EXPECT_EQ(text_of(folder_ + "none/index.html").find("<h2 id=\"run\">"), std::string::npos);
}

TEST_F(PagesCli, ablate_shows_published_speed_ups_of_the_same_job_only) {
    const std::string job =
        "ablate --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b --tiles ";
    ASSERT_EQ(run(job + "3072 --out " + folder_ + "a").exit_code, 0);
    const std::string csv = text_of(folder_ + "a/ablation.csv");
    EXPECT_NE(csv.find(",1.35,,\n"), std::string::npos) << "both: training as published, nothing else\n" << csv;
    EXPECT_NE(csv.find(",1.19,,1.36\n"), std::string::npos) << "ep-aware\n" << csv;
    EXPECT_NE(text_of(folder_ + "a/index.html").find("(published: 1.35)"), std::string::npos);
    ASSERT_EQ(run(job + "1536 --out " + folder_ + "b").exit_code, 0);
    EXPECT_EQ(text_of(folder_ + "b/index.html").find("published: "), std::string::npos)
        << "published at 3,072 tiles only";
}

TEST_F(PagesCli, scale_shows_published_points_where_the_job_is_that_of_the_file) {
    const std::string job =
        "scale --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --out " + folder_;
    ASSERT_EQ(run(job + "a --tiles 384,768").exit_code, 0);
    EXPECT_NE(text_of(folder_ + "a/index.html").find("published, 768 tiles: 97.0 %"), std::string::npos);
    // Relative to another first point: 0.90 / 0.97.
    ASSERT_EQ(run(job + "b --tiles 768,1536").exit_code, 0);
    EXPECT_NE(text_of(folder_ + "b/index.html").find("published, 1,536 tiles: 92.8 %"), std::string::npos);
    ASSERT_EQ(run(job + "c --tiles 192,768").exit_code, 0);
    EXPECT_EQ(text_of(folder_ + "c/index.html").find("published, "), std::string::npos)
        << "nothing is known of 192 tiles";
    ASSERT_EQ(run(job + "d --tiles 384,768 --set machine.fabric.background_load=0").exit_code, 0);
    EXPECT_EQ(text_of(folder_ + "d/index.html").find("published, "), std::string::npos) << "another job";
}

// Columns are as wide as what stands in them, one for each placement, from the head to the links.
TEST_F(PagesCli, the_columns_of_place_stand_in_line_and_its_page_is_there) {
    const Outcome found = run("place" + kJob + "--placements contiguous,random:1 --out " + folder_ + "place");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    std::istringstream lines(found.out);
    std::size_t end = 0, rows = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t characters = static_cast<std::size_t>(
            std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
        end = line.ends_with("contiguous  random:1") || line.find("contiguous") != std::string::npos ? characters : end;
        if (end > 0 && line.starts_with("  ")) {
            EXPECT_EQ(characters, end) << line;
            ++rows;
        }
    }
    EXPECT_GE(rows, 10U) << found.out;
    EXPECT_NE(text_of(folder_ + "place/index.html").find("<h1>mula-220b-a10b on 384 tiles of aurora"),
              std::string::npos);
}

TEST_F(PagesCli, collective_writes_a_page_beside_its_table) {
    ASSERT_EQ(
        run("collective --machine aurora --kind all-reduce --bytes 1KiB:1MiB --ranks 96 --out " + folder_ + "sweep")
            .exit_code,
        0);
    EXPECT_NE(text_of(folder_ + "sweep/index.html").find("<h1>all-reduce over 96 ranks on 8 nodes of aurora: up to "),
              std::string::npos);
    EXPECT_NE(text_of(folder_ + "sweep/sweep.svg").find("class=\"headline\">all-reduce over 96 ranks"),
              std::string::npos);
}

TEST_F(DiffCli, two_plans_give_what_two_saved_predictions_of_them_give) {
    const std::string common = " --machine aurora --stack optimus --workload mula-220b-a10b --tiles 3072 ";
    const std::string a = write("a.json", run("predict --plan mula-100b-a7b" + common + "--json").out);
    const std::string b = write("b.json", run("predict --plan mula-220b-a10b" + common + "--json").out);
    const Outcome saved = run("diff " + a + " " + b + " --json"),
                  plans = run("diff mula-100b-a7b mula-220b-a10b" + common + "--json");
    ASSERT_EQ(saved.exit_code, 0) << saved.error;
    ASSERT_EQ(plans.exit_code, 0) << plans.error;
    const auto numbers = [](const std::string& text) {
        const std::size_t begin = text.find("\"totals\"");
        return text.substr(begin, text.find("\"version\"", begin) - begin);
    };
    EXPECT_EQ(numbers(plans.out), numbers(saved.out));
    const auto document = JsonDocument::parse(plans.out, "diff");
    EXPECT_EQ(document.root().at("kind").as_string(), "plan");
    EXPECT_EQ(JsonDocument::parse(saved.out, "diff").root().at("kind").as_string(), "result");
    std::set<std::string> fields;
    for (const JsonValue& input : document.root().at("inputs").elements()) {
        fields.insert(input.at("name").as_string());
    }
    EXPECT_TRUE(fields.contains("plan.recompute") && fields.contains("plan.pp") && fields.contains("pp"));
    const Outcome text = run("diff mula-100b-a7b mula-220b-a10b" + common + "--out " + folder_ + "page");
    EXPECT_TRUE(
        text.out.starts_with("both names are of a plan and a workload: taken as plans, for --workload is given\n"))
        << text.out;
    EXPECT_NE(text_of(folder_ + "page/index.html").find("mula-100b-a7b, "), std::string::npos)
        << "the timeline of the first";
}

TEST_F(DiffCli, set_is_of_both_and_two_machines_or_stacks_can_be_compared) {
    const std::string job = " --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 ";
    const Outcome machines = run("diff aurora frontier --stack optimus" + job + "--set plan.recompute=[] --json");
    ASSERT_EQ(machines.exit_code, 0) << machines.error;
    EXPECT_NE(machines.out.find("machine.node.nic.count"), std::string::npos);
    EXPECT_EQ(machines.out.find("\"recompute\""), std::string::npos) << "nothing is recomputed in either";
    EXPECT_EQ(run("diff stacks/optimus.json torchtitan --machine aurora" + job).exit_code, 0);
    const Outcome same = run("diff aurora aurora --stack optimus" + job);
    EXPECT_NE(same.out.find("\nthe same inputs\n"), std::string::npos) << same.out;
    EXPECT_EQ(same.out.find("Operations"), std::string::npos) << same.out;
}

TEST_F(DiffCli, refuses_what_cannot_be_compared_in_one_line) {
    const std::string broken = write("broken.json", R"({"step_time_s": 1})"), empty = write("empty.json", "{}");
    EXPECT_EQ(
        fault_of_refusal("diff aurora optimus", {"aurora is a machine, optimus a stack", "expected two of one kind"}),
        "");
    EXPECT_EQ(fault_of_refusal("diff aurora frontier --stack optimus", {"two machines and no --workload, --plan"}), "");
    EXPECT_EQ(fault_of_refusal("diff aurora machines/frontier.json --machine aurora", {"--machine"}), "");
    EXPECT_EQ(fault_of_refusal("diff " + broken + " " + broken + " --tiles 4", {"--tiles", "two saved results"}), "");
    EXPECT_EQ(fault_of_refusal("diff " + broken + " " + broken, {"broken.json: $: missing key"}), "");
    EXPECT_EQ(fault_of_refusal("diff " + empty + " " + broken,
                               {"empty.json: $", "expected what auspex predict --json printed"}),
              "");
    EXPECT_EQ(fault_of_refusal("diff aurorra frontier", {"aurorra", "did you mean aurora?"}), "");
    EXPECT_EQ(fault_of_refusal("diff aurora", {"--after"}), "");
    EXPECT_EQ(fault_of_refusal(
                  "diff aurora frontier --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 100",
                  {"tiles"}),
              "");
}

}  // namespace
}  // namespace auspex::cli
