/// @file Attention by kernel: what a machine file has, what a stack asks for, and which of them runs.
#include "models/attention/attention_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../schedule/plan_fixture.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "models/kernel_cost.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

using testing_plans::document;

Machine machine_of(const char* name) { return load_machine(document("machines", name)); }

template <typename Load>
std::string refusal(Load load) {
    try {
        load();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// What is refused of machine `name` with tile.`key` set.
std::string machine_refusal(const char* name, const char* key, const char* value) {
    JsonDocument changed = document("machines", name);
    changed.set(std::string("tile.") + key, value);
    return refusal([&] { static_cast<void>(load_machine(changed)); });
}

/// Two kernels, the second half as fast, and with half_sequence 1,000.
Tile two_kernels() {
    Tile tile;
    tile.attention_kernels = {{"fast", 0.8, 0, 0}, {"slow", 0.4, 1000, 0}};
    return tile;
}

Stack that_wants(std::vector<std::string> names) {
    Stack stack;
    stack.name = "s";
    stack.attention_kernels = std::move(names);
    return stack;
}

TEST(AttentionKernel, a_machine_has_kernels_by_name_or_one_without) {
    const Tile h100 = machine_of("dgx-h100").tile, aurora = machine_of("aurora").tile;
    ASSERT_NE(find_attention_kernel(h100, "cudnn"), nullptr);
    EXPECT_EQ(find_attention_kernel(h100, "cudnn")->half_sequence, 827);
    EXPECT_EQ(find_attention_kernel(h100, "flash-attention-9"), nullptr);
    ASSERT_EQ(aurora.attention_kernels.size(), 1);
    EXPECT_EQ(aurora.attention_kernels.front().name, "");
    EXPECT_EQ(aurora.attention_kernels.front().efficiency, 0.35);
    EXPECT_EQ(efficiency_path(aurora.attention_kernels.front()), "machine.tile.attention_efficiency");
    EXPECT_EQ(efficiency_path(*find_attention_kernel(h100, "cudnn")),
              "machine.tile.attention_kernels.cudnn.efficiency");
}

TEST(AttentionKernel, slips_in_machine_files_are_refused_by_path) {
    const auto expect = [](const std::string& found, const char* words) {
        EXPECT_NE(found.find(words), std::string::npos) << found;
    };
    expect(machine_refusal("dgx-h100", "attention_efficiency", "0.5"), "no such key beside attention_kernels");
    expect(machine_refusal("dgx-h100", "attention_half_head", "5"), "$.tile.attention_half_head");
    expect(machine_refusal("dgx-h100", "attention_kernels", "{}"), "at least one kernel");
    expect(machine_refusal("dgx-h100", "attention_kernels.cudnn.efficiency", "1.2"), "cudnn.efficiency");
    expect(machine_refusal("dgx-h100", "attention_kernels.cudnn.half", "1"), "half_sequence");
    expect(machine_refusal("dgx-h100", "attention_kernels", R"({"a b": {"efficiency": 0.5}})"),
           "letters, digits and hyphens");
}

// The first of the stack's that the machine has; the fastest where it has none of them, and where none is named.
TEST(AttentionKernel, a_stack_gets_the_first_of_its_kernels_that_the_machine_has) {
    const Tile tile = two_kernels();
    EXPECT_EQ(attention_kernel(tile, that_wants({"slow", "fast"})).name, "slow");
    EXPECT_EQ(attention_kernel(tile, that_wants({"other", "slow"})).name, "slow");
    EXPECT_EQ(attention_kernel(tile, that_wants({"other"})).name, "fast");
    EXPECT_EQ(attention_kernel(tile, Stack{}).name, "fast");
}

// 100 TF/s: 8e12 FLOP over 1,000 tokens take 8e12 / (100e12 0.8) = 0.1 s, and 8e12 / (100e12 0.4 / 2) = 0.4 s.
TEST(AttentionKernel, its_rate_is_that_of_the_kernel_in_use) {
    Machine machine;
    machine.tile = two_kernels();
    machine.tile.gemm_bf16_flop_per_s = 100e12;
    machine.tile.hbm_bytes_per_s = 1e12;
    Kernel kernel;
    kernel.type = KernelType::kAttention;
    kernel.work_flop = 8e12;
    kernel.m = 1000, kernel.k = 128;
    EXPECT_DOUBLE_EQ(kernel_time(kernel, machine, that_wants({"fast"})).rate_bound_s, 0.1);
    EXPECT_DOUBLE_EQ(kernel_time(kernel, machine, that_wants({"slow"})).rate_bound_s, 0.4);
    Stack half = that_wants({"fast"});
    half.attention_efficiency = 0.5;
    EXPECT_DOUBLE_EQ(kernel_time(kernel, machine, half).rate_bound_s, 0.2);
}

// Scores go through memory with "unfused" alone: A100s have it, and megatron-lm prefers it; H100s have not.
TEST(AttentionKernel, only_unfused_attention_has_passes_over_scores) {
    const JsonDocument stack = document("stacks", "megatron-lm");
    EXPECT_EQ(load_stack(stack).kernels.attention, 4);
    EXPECT_EQ(load_stack(stack, machine_of("dgx-a100")).kernels.attention, 4);
    EXPECT_EQ(load_stack(stack, machine_of("dgx-h100")).kernels.attention, 1);
    EXPECT_EQ(load_stack(stack, machine_of("aurora")).kernels.attention, 1);
    JsonDocument fused = stack;  // the count is of "unfused"
    fused.set("kernels.attention_kernels", R"(["cudnn"])");
    EXPECT_EQ(load_stack(fused).kernels.attention, 1);
    JsonDocument core = document("stacks", "megatron-core");  // whose release that is not in use names others
    core.set("kernels.attention_kernels", R"(["unfused"])");
    core.set("kernels.counts.attention", "3");
    EXPECT_EQ(load_stack(core, machine_of("dgx-a100")).kernels.attention, 3);
    JsonDocument unnamed = document("stacks", "bare");
    unnamed.set("kernels.counts.attention", "4");
    EXPECT_EQ(load_stack(unnamed, machine_of("dgx-h100")).kernels.attention, 4)
        << "no kernel is named: as the file says";
}

TEST(AttentionKernel, slips_in_stack_files_are_refused_by_path) {
    const auto refused = [](const char* path, const char* value) {
        JsonDocument stack = document("stacks", "megatron-lm");
        stack.set(path, value);
        return refusal([&] { static_cast<void>(load_stack(stack)); });
    };
    const auto expect = [](const std::string& found, const char* words) {
        EXPECT_NE(found.find(words), std::string::npos) << found;
    };
    expect(refused("kernels.attention_kernels", R"(["unfused", "unfused"])"), "$.kernels.attention_kernels[1]");
    expect(refused("kernels.attention_kernels", R"(["flash attention"])"), "letters, digits and hyphens");
    expect(refused("kernels.attention_kernels", "[]"), "at least one name");
    expect(refused("kernels.counts.attention", "1"), "2 at least where attention_kernels has \"unfused\"");
}

TEST(AttentionKernel, a_prediction_says_which_runs_and_which_are_missing) {
    const Tile tile = two_kernels();
    EXPECT_EQ(attention_note("m", tile, that_wants({"slow"})), "attention is by slow, as in stack s");
    EXPECT_EQ(attention_note("m", tile, that_wants({"x", "y", "slow"})),
              "attention is by slow: m has no rate of x, y, which stack s would rather use");
    EXPECT_EQ(attention_note("m", tile, that_wants({"x"})),
              "attention is by fast, the fastest of m: it has no rate of x, which stack s uses");
    EXPECT_EQ(attention_note("m", tile, that_wants({})),
              "attention is by fast, the fastest kernel of m: stack s names none");
    const Tile unnamed;
    EXPECT_EQ(attention_note("m", unnamed, that_wants({"x"})),
              "attention is by the one kernel of m: it has no rate of x, which stack s uses");
    EXPECT_EQ(attention_note("m", unnamed, that_wants({})), "");
}

// One name for one kernel: what shipped stacks ask for is in some shipped machine.
TEST(AttentionKernel, shipped_stacks_ask_for_kernels_that_some_machine_has) {
    const std::vector<Machine> machines{machine_of("dgx-h100"), machine_of("dgx-a100"), machine_of("mi355x")};
    for (const char* const name : {"megatron-core", "megatron-lm", "pytorch-fsdp", "nanotron"}) {
        const Stack stack = load_stack(document("stacks", name));
        EXPECT_FALSE(stack.attention_kernels.empty()) << name;
        for (const std::string& kernel : stack.attention_kernels) {
            EXPECT_TRUE(std::ranges::any_of(
                machines,
                [&](const Machine& machine) { return find_attention_kernel(machine.tile, kernel) != nullptr; }))
                << name << " asks for " << kernel;
        }
    }
}

}  // namespace
}  // namespace auspex::models
