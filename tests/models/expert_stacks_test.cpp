/// @file Stacks of X-MoE and its baselines: how rows of experts are formed, and what they offer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

JsonDocument open_stack(const std::string& name) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/" + name + ".json");
}

TEST(ExpertStacks, of_deepspeed_moe_alone_rows_are_formed_by_masks) {
    EXPECT_TRUE(load_stack(open_stack("deepspeed-moe")).dispatches_by_masks);
    for (const char* const name : {"tutel", "x-moe", "megatron-deepspeed", "bare"}) {
        EXPECT_FALSE(load_stack(open_stack(name)).dispatches_by_masks) << name;
    }
    JsonDocument document = open_stack("deepspeed-moe");
    document.set("kernels.dispatches_by_masks", "1");
    try {
        static_cast<void>(load_stack(document));
        FAIL() << "a number is no flag";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("$.kernels.dispatches_by_masks"), std::string::npos) << error.what();
    }
}

/// Rows once a node are X-MoE's; its baselines have no dispatch but a row for each expert.
TEST(ExpertStacks, offer_what_their_software_has) {
    EXPECT_EQ(load_stack(open_stack("x-moe")).offers_dispatches,
              (std::vector<std::string>{"alltoall", "hierarchical-alltoall"}));
    EXPECT_EQ(load_stack(open_stack("tutel")).offers_dispatches, std::vector<std::string>{"alltoall"});
    EXPECT_EQ(load_stack(open_stack("deepspeed-moe")).offers_dispatches, std::vector<std::string>{"alltoall"});
    EXPECT_EQ(load_stack(open_stack("deepspeed-moe")).offers_expert_kernels, std::vector<std::string>{"loop"});
}

}  // namespace
}  // namespace auspex::models
