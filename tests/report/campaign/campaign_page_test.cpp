/// @file The page of a campaign: its headline, its pictures, what stands beside it.
#include "report/campaign/campaign_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "campaign/player.hpp"

namespace auspex::report {
namespace {

campaign::Setting setting_of(double mtbf_s) {
    campaign::Setting setting;
    setting.steps = 20'000;
    setting.step_s = 10;
    setting.checkpoints.every_steps = 60;
    setting.checkpoints.stall_s = 15;
    setting.recovery.restart_s = 300;
    campaign::FailureSource source;
    source.component = "node";
    source.cause = "node <failure>";
    source.mean_s = mtbf_s;
    setting.failures.push_back(source);
    return setting;
}

CampaignPage page_of(double mtbf_s) {
    CampaignPage page;
    page.subject = "20,000 steps of 10 s";
    page.command = "auspex campaign --bare";
    page.setting = setting_of(mtbf_s);
    page.result = campaign::play_campaign(page.setting, {100, 1});
    page.best = campaign::best_interval(page.setting, 1);
    page.closed_forms = compare_with_closed_forms(page.setting, page.result);
    page.course = campaign::play_sample(page.setting, {1, 3, true});
    page.curves.push_back({"spares", false, {{0, "0", page.result}, {4, "4", page.result}}});
    return page;
}

TEST(CampaignPage, headline_says_when_and_what_costs_most) {
    const CampaignPage page = page_of(9'000);
    const std::string headline = campaign_headline(page);
    EXPECT_NE(headline.find("Half of the runs of 20,000 steps of 10 s are over after 2."), std::string::npos)
        << headline;
    EXPECT_NE(headline.find("% of the time is goodput"), std::string::npos) << headline;
    EXPECT_NE(headline.find("goes to restarts"), std::string::npos) << headline;
    EXPECT_NE(campaign_headline(page_of(50)).find("gets nowhere"), std::string::npos);
}

TEST(CampaignPage, has_all_pictures_and_loads_nothing) {
    const CampaignPage page = page_of(9'000);
    const std::string html = render_campaign_html(page);
    for (const char* part :
         {"When runs are over", "Where the time went", "One of the campaigns", "What a long run takes",
          "Node hours by spares", "they agree", "node &lt;failure&gt;", "auspex campaign --bare"}) {
        EXPECT_NE(html.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(html.find("<script src"), std::string::npos);
    EXPECT_EQ(html.find("nan,"), std::string::npos);
    EXPECT_EQ(html.find(">nan"), std::string::npos);
    EXPECT_LT(html.size(), 1'500'000U);
    // A run that gets nowhere has a page all the same.
    EXPECT_NE(render_campaign_html(page_of(50)).find("gets nowhere"), std::string::npos);
}

/// `css`: with the quotation marks around it.
std::size_t rectangles(const std::string& svg, const std::string& css) {
    std::size_t found = 0;
    for (std::size_t at = svg.find("class=" + css); at != std::string::npos; at = svg.find("class=" + css, at + 1)) {
        ++found;
    }
    return found;
}

// 100 days on 1,000 units: a unit is 2.4 h. A checkpoint of a second is in the steps, so that they are two stretches; a
// recovery of a minute and five is one stretch in the colour of restarts, a unit wide.
TEST(CampaignPage, stretches_of_a_course_are_a_pixel_wide_at_least) {
    using campaign::Spent;
    constexpr campaign::Nanoseconds kSecond = 1'000'000'000, kDay = 86'400 * kSecond;
    const campaign::Nanoseconds failed = 50 * kDay, back = failed + 360 * kSecond;
    CampaignPage page = page_of(9'000);
    page.course = {};
    page.course.elapsed = 100 * kDay;
    page.course.periods = {{0, 25 * kDay, Spent::kWork},
                           {25 * kDay, 25 * kDay + kSecond, Spent::kCheckpoint},
                           {25 * kDay + kSecond, failed, Spent::kWork},
                           {failed, failed + 60 * kSecond, Spent::kDetection},
                           {failed + 60 * kSecond, back, Spent::kRestart},
                           {back, 100 * kDay, Spent::kWork}};
    const std::string svg = course_chart(page, 1024);
    const auto color = [](Spent spent) { return "\"l" + std::to_string(static_cast<int>(spent)) + "\""; };
    EXPECT_EQ(rectangles(svg, color(Spent::kWork)), 2U) << svg;
    EXPECT_EQ(rectangles(svg, color(Spent::kRestart)), 1U);
    EXPECT_EQ(rectangles(svg, color(Spent::kDetection)) + rectangles(svg, color(Spent::kCheckpoint)), 0U);
    EXPECT_NE(svg.find("restarts and other parts of a recovery, 6 min from day 50"), std::string::npos) << svg;
    EXPECT_NE(svg.find("width=\"1.0\""), std::string::npos) << svg;
    page.course_sample = 41;
    EXPECT_NE(render_campaign_html(page).find("Sample 42 of 100, whose length is the median: "), std::string::npos);
}

TEST(CampaignPage, samples_are_a_row_each) {
    const CampaignPage page = page_of(9'000);
    const std::string csv = render_samples_csv(page.result, {});
    EXPECT_TRUE(
        csv.starts_with("sample,finish_days,node_hours,goodput,interruptions,replay,checkpoint,detection,hang,"
                        "queue,node_wait,swap,restart,initialisation,load,start,slow_nodes,maintenance,"
                        "failed_start\n0,"));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 101);
    // Of a run that gets nowhere finish and node-hours are empty, and the rest is until it was given up.
    const std::string doomed = render_samples_csv(page_of(50).result, {});
    EXPECT_NE(doomed.find("\n0,,,"), std::string::npos) << doomed.substr(0, 400);
}

}  // namespace
}  // namespace auspex::report
