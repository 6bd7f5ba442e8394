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
    page.curves.push_back({"spares",
                           {{0, "0", page.result.elapsed_s, page.result.node_hours, page.result.goodput},
                            {4, "4", page.result.elapsed_s, page.result.node_hours, page.result.goodput}}});
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

TEST(CampaignPage, samples_are_a_row_each) {
    const CampaignPage page = page_of(9'000);
    const std::string csv = render_samples_csv(page.result);
    EXPECT_TRUE(
        csv.starts_with("sample,finish_days,node_hours,goodput,interruptions,replay,checkpoint,detection,hang,"
                        "queue,node_wait,swap,restart,initialisation,load,start,slow_nodes,maintenance,"
                        "failed_start\n0,"));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 101);
    // Of a run that gets nowhere finish and node-hours are empty, and the rest is until it was given up.
    const std::string doomed = render_samples_csv(page_of(50).result);
    EXPECT_NE(doomed.find("\n0,,,"), std::string::npos) << doomed.substr(0, 400);
}

}  // namespace
}  // namespace auspex::report
