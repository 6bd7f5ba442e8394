/// @file Models of images: what their files say, counts against numbers worked out by hand, and rectangles of windows.
#include "models/context/image.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::models {
namespace {

Workload aeris() {
    return load_workload(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/aeris-40b.json"));
}
Plan aeris_plan() { return load_plan(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/plans/aeris-40b.json")); }

std::string error_of(const std::vector<std::pair<std::string, std::string>>& changes) {
    JsonDocument document = JsonDocument::parse(
        R"({"source": "made up", "layers": 2, "hidden_size": 8, "heads": 2, "intermediate_size": 16,
            "image": {"size": [12, 24], "window": [4, 6], "shifted_windows": true, "input_channels": 3,
                      "output_channels": 2}})",
        "image.json");
    for (const auto& [path, value] : changes) {
        document.set(path, value);
    }
    try {
        static_cast<void>(load_workload(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

std::string error_of_plan(const Workload& workload, const Plan& plan) {
    try {
        static_cast<void>(resolve_plan(plan, workload, 0));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

// A layer: 4 H^2 of attention, 3 H I of the feed-forward, 6 H^2 that modulate, two norms of H.
TEST(Image, aeris_40b_has_40_8_billion_parameters) {
    const double h = 6144, inner = 40960, layers = 36;
    const double layer = 4 * h * h + 3 * h * inner + 6 * h * h + 2 * h;
    EXPECT_DOUBLE_EQ(count_parameters(aeris()).total(), layers * layer + h * (143 + 70) + h);
    EXPECT_NEAR(count_parameters(aeris()).total() / 1e9, 40.77, 0.005);
}

// A token: 2 FLOP a weight of attention and feed-forward, 2 x 900 keys x (128 + 128) x 48 heads of scores without a
// mask, both ends 2 H (143 + 70); what modulates is once a sequence and not counted.
TEST(Image, flop_of_a_token_are_those_of_its_window_and_no_mask) {
    const double h = 6144, inner = 40960, layers = 36;
    EXPECT_EQ(mean_keys(aeris()), 900);
    EXPECT_EQ(aeris().sequence_length, 720 * 1440);
    const double forward = layers * (2 * (4 * h * h + 3 * h * inner) + 2 * 900 * 48 * 256.0) + 2 * h * (143 + 70);
    EXPECT_DOUBLE_EQ(count_token_flop(aeris()).forward(), forward);
}

// 24 x 48 windows of 30 x 30 in 36 rectangles: 6 x 6 of 120 x 240 tokens, of which 15 rows and 15 columns move on:
// 1 - (1 - 15/120)(1 - 15/240). 3 x 12 would move as many and is not as square; 4 x 9 and 9 x 4 do not come out.
TEST(Image, rectangles_of_windows_are_those_with_the_least_that_moves) {
    const std::optional<WindowGrid> grid = window_grid(aeris().image, 36);
    ASSERT_TRUE(grid);
    EXPECT_EQ(std::pair(grid->rows, grid->columns), std::pair(6, 6));
    EXPECT_DOUBLE_EQ(grid->moved, 1 - (1 - 15.0 / 120) * (1 - 15.0 / 240));
    EXPECT_EQ(window_grid(aeris().image, 1)->moved, 0);
    EXPECT_NEAR(window_grid(aeris().image, 2)->moved, 15.0 / 720, 1e-12);  // of halves beside each other
    EXPECT_FALSE(window_grid(aeris().image, 5));
    EXPECT_TRUE(window_grid(aeris().image, 24 * 48));  // a window each: three quarters move
    EXPECT_DOUBLE_EQ(window_grid(aeris().image, 24 * 48)->moved, 0.75);
}

TEST(Image, what_a_file_may_not_say_is_refused_by_its_place) {
    const auto says = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_EQ(error_of({}), "accepted");
    EXPECT_PRED2(says, error_of({{"vocab_size", "70"}}), "image.json: $.vocab_size: found 70; expected no such key");
    EXPECT_PRED2(says, error_of({{"sequence_length", "288"}}), "$.sequence_length: found 288; expected no such key");
    EXPECT_PRED2(says, error_of({{"window", "4"}}), "$.window: found 4; expected no such key");
    EXPECT_PRED2(says, error_of({{"tied_embeddings", "true"}}), "$.tied_embeddings: found true");
    EXPECT_PRED2(says, error_of({{"objective", "\"dpo\""}}), "$.objective: found \"dpo\"");
    EXPECT_PRED2(says, error_of({{"image.window", "[5, 6]"}}), "rows that divide 12 and columns that divide 24");
    EXPECT_PRED2(says, error_of({{"image.window", "[4]"}}), "expected two numbers, rows and columns");
    EXPECT_PRED2(says, error_of({{"image.window", "[12, 24]"}}), "$.image.shifted_windows: found true; expected false");
    EXPECT_PRED2(says, error_of({{"image.size", "[0, 24]"}}), "$.image.size[0]: found 0");
    EXPECT_PRED2(says, error_of({{"image.depth", "3"}}), "$.image");
}

TEST(Image, ways_to_share_an_image_are_checked) {
    const auto says = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    Plan plan = aeris_plan();
    plan.dp = 432;
    EXPECT_EQ(error_of_plan(aeris(), plan), "accepted");
    plan.cp = plan.dp = 60;  // five groups of 12
    EXPECT_PRED2(says, error_of_plan(aeris(), plan), "$.cp: found 60, which are 5 groups of windows; expected");
    plan.context_all_to_all = 7;
    EXPECT_PRED2(says, error_of_plan(aeris(), plan), "$.context_all_to_all: found 7; expected a divisor of cp 60");
    plan.context = ContextParallel::kRing, plan.context_all_to_all = 1;
    EXPECT_PRED2(says, error_of_plan(aeris(), plan), "$.context_parallel: found \"ring\" with the image");
    plan.context = ContextParallel::kWindows;
    Workload text = aeris();
    text.image = {};
    EXPECT_PRED2(says, error_of_plan(text, plan), "$.context_parallel: found \"windows\"; expected another word");
}

}  // namespace
}  // namespace auspex::models
