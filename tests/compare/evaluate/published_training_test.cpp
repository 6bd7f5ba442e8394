/// @file Published training runs as their files have them.
#include "compare/evaluate/published_training.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

PublishedTraining read(const std::string& name) {
    PublishedTraining published;
    add_published(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/published/training/" + name + ".json"),
                  published);
    return published;
}

std::string refusal(const std::string& text) {
    PublishedTraining published;
    try {
        add_published(JsonDocument::parse(text, "rows.json"), published);
    } catch (const InputError& error) {
        return error.what();
    }
    return "not refused";
}

TEST(PublishedTraining, efficiencies_have_their_reference_among_the_rows) {
    const PublishedTraining published = read("mula-220b-weak-scaling");
    ASSERT_EQ(published.scaling.size(), 1U);
    const PublishedScaling& scaling = published.scaling[0];
    EXPECT_EQ(scaling.workload, "mula-220b-a10b");
    ASSERT_EQ(scaling.rows.size(), 6U);
    EXPECT_EQ(scaling.rows[0].tiles, 384);
    EXPECT_EQ(scaling.rows[0].speed, 1);
    EXPECT_EQ(scaling.rows[1].speed, 0.97);
    EXPECT_EQ(scaling.micro_batches, 0) << "of any";
}

TEST(PublishedTraining, series_have_a_batch_and_speeds_of_their_own_and_machine_and_stack_of_the_file) {
    const PublishedTraining published = read("agpt-weak-scaling");
    ASSERT_GE(published.scaling.size(), 2U);
    EXPECT_EQ(published.scaling[0].machine, "aurora");
    EXPECT_EQ(published.scaling[0].stack, "torchtitan");
    EXPECT_EQ(published.scaling[0].micro_batch_size, 2);
    EXPECT_EQ(published.scaling[0].rows[0].speed, 7344);
}

TEST(PublishedTraining, speed_ups_are_by_model_and_variant) {
    const PublishedTraining published = read("mula-ablation");
    ASSERT_EQ(published.speedups.size(), 8U);
    EXPECT_EQ(published.speedups[0].variant, "fused-experts");
    EXPECT_EQ(published.speedups[0].forward_backward, 2.83);
    EXPECT_FALSE(published.speedups[0].optimizer.has_value());
    EXPECT_EQ(published.speedups[0].tiles, 3072);
}

TEST(PublishedTraining, broken_files_are_refused_by_path) {
    EXPECT_EQ(refusal(R"({"what": "rumours"})"),
              "rows.json: $.what: found \"rumours\"; expected \"weak-scaling\" or \"ablation\"");
    EXPECT_EQ(refusal(R"({"what": "ablation"})").rfind("rows.json: $", 0), 0U);
    EXPECT_NE(
        refusal(R"({"what": "weak-scaling", "source": "a", "url": "b", "machine": "m", "stack": "s", "workload": "w",
                          "reference_tiles": 1, "rows": [{"tiles": 0, "efficiency": 1}]})")
            .find("$.rows[0].tiles"),
        std::string::npos);
}

}  // namespace
}  // namespace auspex::evaluate
