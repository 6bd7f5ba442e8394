/// @file The file of spreads: which entry a prediction has, and what is refused.
#include "models/published/published_spread.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

std::vector<PublishedSpread> spreads(const std::string& list) {
    return load_spreads(
        JsonDocument::parse(R"({"comment": "c", "command": "x", "spreads": )" + list + "}", "spread.json"));
}

TEST(PublishedSpread, the_nearest_runs_that_there_are_are_taken) {
    const auto all =
        spreads(R"([{"runs": 90, "sources": 9, "sigma": 0.1}, {"stack": "s", "runs": 20, "sources": 2, "sigma": 0.2},
        {"machine": "m", "runs": 30, "sources": 3, "sigma": 0.3}, {"stack": "s", "machine": "m", "runs": 5, "sources": 1, "sigma": 0.4}])");
    EXPECT_EQ(find_spread(all, "s", "m")->sigma, 0.4);
    EXPECT_EQ(find_spread(all, "s", "other")->sigma, 0.2);
    EXPECT_EQ(find_spread(all, "other", "m")->sigma, 0.3);
    EXPECT_EQ(find_spread(all, "other", "other")->sigma, 0.4) << "the widest of any";
    EXPECT_EQ(find_spread(all, "other", "other")->runs, 90);
    EXPECT_FALSE(find_spread({}, "s", "m"));
    // Without runs of both the wider of the two.
    const auto apart = spreads(R"([{"stack": "s", "runs": 20, "sources": 2, "sigma": 0.2},
        {"stack": "t", "runs": 20, "sources": 2, "sigma": 0.4}, {"machine": "m", "runs": 30, "sources": 3, "sigma": 0.3}])");
    EXPECT_EQ(find_spread(apart, "s", "m")->sigma, 0.3);
    EXPECT_EQ(find_spread(apart, "s", "m")->stack, "");
    EXPECT_EQ(find_spread(apart, "t", "m")->sigma, 0.4);
    EXPECT_EQ(find_spread(apart, "t", "m")->machine, "");
}

TEST(PublishedSpread, bad_files_are_refused_by_place) {
    for (const auto& [list, fault] : std::vector<std::pair<std::string, std::string>>{
             {R"([{"runs": 4, "sources": 1, "sigma": 0.1}])", "runs"},
             {R"([{"runs": 5, "sources": 0, "sigma": 0.1}])", "sources"},
             {R"([{"runs": 5, "sources": 1, "sigma": -0.1}])", "sigma"},
             {R"([{"runs": 5, "sources": 1}])", "sigma"},
             {R"([{"stack": "", "runs": 5, "sources": 1, "sigma": 0.1}])", "stack"},
             {R"([{"stacks": "s", "runs": 5, "sources": 1, "sigma": 0.1}])", "stacks"},
             {R"([{"runs": 5, "sources": 1, "sigma": 0}, {"runs": 6, "sources": 1, "sigma": 0}])", "another entry"},
             {R"({"runs": 5})", "spreads"}}) {
        try {
            static_cast<void>(spreads(list));
            ADD_FAILURE() << list;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("spread.json"), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find(fault), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace auspex::models
