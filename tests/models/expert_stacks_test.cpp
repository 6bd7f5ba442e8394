/// @file Stacks of X-MoE and its baselines: how rows of experts are formed, and the transports that they share.
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

/// What their files say: "as in stacks/rccl.json", "as in stacks/megatron-core.json".
TEST(ExpertStacks, transports_are_those_that_they_are_copies_of) {
    const auto values = [](JsonDocument document, const std::string& use) {
        if (!use.empty()) {
            document.set("transport.use", use);
        }
        const Stack s = load_stack(document);
        return std::vector<double>{s.scale_up_efficiency,
                                   s.scale_out_efficiency,
                                   s.scale_up_message_s,
                                   s.scale_out_message_s,
                                   s.next_message_s.value_or(-1),
                                   s.eager_message_s,
                                   s.eager_bytes,
                                   s.reduction_step_s,
                                   s.collective_launch_s,
                                   static_cast<double>(s.messages.size())};
    };
    const std::vector<double> slingshot = values(open_stack("rccl"), ""),
                              nccl = values(open_stack("megatron-core"), "");
    for (const char* const name : {"deepspeed-moe", "tutel", "x-moe"}) {
        EXPECT_EQ(values(open_stack(name), ""), slingshot) << name;
        EXPECT_EQ(values(open_stack(name), "nccl"), nccl) << name;
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
