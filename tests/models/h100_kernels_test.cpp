/// @file Kernels of the H100's machine file against products and attention measured on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../schedule/plan_fixture.hpp"
#include "base/json.hpp"
#include "models/inputs.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::models {
namespace {

double number(const JsonValue& parent, const char* key) { return parent.at(key).as_number(0, 1e9); }

class H100Kernels : public ::testing::Test {
 protected:
    JsonDocument measured = testing_plans::document("tests/models", "h100_kernels");
    Machine machine = load_machine(testing_plans::document("machines", "dgx-h100"));
    Stack stack = load_stack(testing_plans::document("stacks", "bare"));

    double seconds(Kernel kernel, Operands operands) const {
        kernel.operands = operands;
        return kernel_time(kernel, machine, stack).rate_bound_s;
    }
};

// Time in bf16 over time in 8 bits, shape by shape: what deep products gain, and how little shallow ones do.
TEST_F(H100Kernels, products_of_8_bits_gain_what_they_gain_there) {
    std::vector<double> errors;
    for (const JsonValue& row : measured.root().at("products").elements()) {
        const Kernel kernel = gemm_kernel(number(row, "m"), number(row, "n"), number(row, "k"), 2);
        const double bf16_s = seconds(kernel, Operands::kBf16);
        const double blocks = bf16_s / seconds(kernel, Operands::kFp8Blocks);
        errors.push_back(std::abs(blocks / (number(row, "bf16_s") / number(row, "fp8_block_s")) - 1));
        const double tensor = bf16_s / seconds(kernel, Operands::kFp8);
        const double measured_s = std::min(number(row, "fp8_tensor_s"), number(row, "fp8_tensor_fast_s"));
        if (kernel.k >= 2048) {
            EXPECT_NEAR(tensor, number(row, "bf16_s") / measured_s, 0.3) << kernel.m << " x " << kernel.n;
        } else {
            EXPECT_LT(tensor, 1.65) << "a depth of " << kernel.k << " is soon over";
        }
    }
    std::sort(errors.begin(), errors.end());
    EXPECT_LT(errors[errors.size() / 2], 0.06);
    EXPECT_LT(errors.back(), 0.25);
}

// Flash attention, causal: 2 products of half the scores forward, 5 backward, at one rate for both: forward passes of
// long sequences are predicted up to half as long again.
TEST_F(H100Kernels, attention_of_4_to_128_thousand_tokens_is_between_as_fast_as_there_and_half_as_long_again) {
    for (const JsonValue& row : measured.root().at("attention").elements()) {
        const double s = number(row, "sequence"), width = number(row, "heads") * 128;
        Kernel forward;
        forward.type = KernelType::kAttention;
        forward.work_flop = 2 * s * s * width;
        forward.m = s, forward.k = 128;
        Kernel backward = forward;
        backward.work_flop *= 2.5;
        const double forward_ratio = seconds(forward, Operands::kBf16) / number(row, "forward_s");
        EXPECT_GT(forward_ratio, 0.8) << s;
        EXPECT_LT(forward_ratio, 1.55) << s;
        EXPECT_NEAR(seconds(backward, Operands::kBf16) / number(row, "backward_s"), 1, 0.3) << s;
    }
}

}  // namespace
}  // namespace auspex::models
