/// @file Laws of the trainer's kernels: their terms, how sizes grow, and the seconds that they give.
#include "models/cpu/cpu_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "models/cpu/cpu_model.hpp"

namespace auspex::models {
namespace {

CpuCall call_of(CpuKernel kernel, double rows, double columns, double depth, double groups = 1) {
    CpuCall call;
    call.kernel = kernel;
    call.rows = rows, call.columns = columns, call.depth = depth, call.groups = groups;
    return call;
}

template <typename Visit>
void for_each_kernel(const Visit& visit) {
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        visit(static_cast<CpuKernel>(i));
    }
}

/// Size of a law's term by its name.
double size_of(const CpuCall& call, std::string_view term) {
    const auto terms = cpu_terms(call.kernel);
    const auto place = std::find(terms.begin(), terms.end(), term);
    EXPECT_NE(place, terms.end()) << to_string(call.kernel) << " has no term " << term;
    return place == terms.end() ? NAN : cpu_sizes(call)[static_cast<std::size_t>(place - terms.begin())];
}

TEST(CpuKernel, every_kernel_has_a_name_of_its_own_and_one_to_seven_terms_of_different_names) {
    std::set<std::string_view> names;
    for_each_kernel([&](CpuKernel kernel) {
        EXPECT_FALSE(to_string(kernel).empty());
        EXPECT_TRUE(names.insert(to_string(kernel)).second) << to_string(kernel);
        const auto terms = cpu_terms(kernel);
        EXPECT_GE(terms.size(), 1U) << to_string(kernel);
        EXPECT_LE(terms.size(), kMaxCpuTerms) << to_string(kernel);
        EXPECT_EQ(std::set<std::string_view>(terms.begin(), terms.end()).size(), terms.size()) << to_string(kernel);
    });
}

TEST(CpuKernel, names_follow_the_order_of_the_enumeration) {
    EXPECT_EQ(to_string(CpuKernel::kGemmForward), "gemm_forward");
    EXPECT_EQ(to_string(CpuKernel::kRotate), "rotate");
    EXPECT_EQ(to_string(CpuKernel::kEmbeddingBackward), "embedding_backward");
    EXPECT_EQ(to_string(CpuKernel::kFindInMask), "find_in_mask");
    EXPECT_EQ(to_string(CpuKernel::kSumRowsBackwardFused), "sum_rows_backward_fused");
    EXPECT_EQ(to_string(CpuKernel::kExpertsWeightsGrouped), "experts_weights_grouped");
    EXPECT_EQ(to_string(CpuKernel::kAdamW), "adamw");
    EXPECT_EQ(to_string(CpuKernel::kReduceSoftmaxParts), "reduce_softmax_parts");
    EXPECT_EQ(to_string(CpuPrecision::kBf16), "bf16");
}

TEST(CpuKernel, sizes_are_finite_not_negative_and_zero_beyond_the_terms) {
    for_each_kernel([](CpuKernel kernel) {
        const CpuCall call = call_of(kernel, 48, 32, 4, 2);
        const auto sizes = cpu_sizes(call);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            EXPECT_TRUE(std::isfinite(sizes[i]) && sizes[i] >= 0) << to_string(kernel);
            if (i >= cpu_terms(kernel).size()) {
                EXPECT_EQ(sizes[i], 0) << to_string(kernel);
            }
        }
        for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
            EXPECT_TRUE(cpu_bytes(call, precision) > 0 || kernel == CpuKernel::kOperation) << to_string(kernel);
        }
        EXPECT_LE(cpu_bytes(call, CpuPrecision::kBf16), cpu_bytes(call, CpuPrecision::kFp32)) << to_string(kernel);
    });
}

TEST(CpuKernel, a_product_of_m_rows_n_columns_k_depth_has_mnk_mn_mk_and_nk) {
    // m = 64, n = 48, k = 100: products m n k, results m n, operands m k and n k, each moved once in 4 bytes.
    const CpuCall call = call_of(CpuKernel::kGemmInputGradient, 64, 48, 100);
    EXPECT_EQ(size_of(call, "start"), 1);
    EXPECT_EQ(size_of(call, "product"), 64.0 * 48 * 100);
    EXPECT_EQ(size_of(call, "output"), 64.0 * 48);
    EXPECT_EQ(size_of(call, "left"), 64.0 * 100);
    EXPECT_EQ(size_of(call, "right"), 48.0 * 100);
    EXPECT_EQ(cpu_bytes(call, CpuPrecision::kFp32), 4 * (64.0 * 48 + 64 * 100 + 48 * 100));
}

TEST(CpuKernel, columns_of_a_product_come_in_vectors_of_16_and_a_last_panel_of_one_vector_is_slow) {
    // 8 columns take a vector of 16, 17 take two; panels have 48 columns: of 64 = 48 + 16 the last has one vector, of
    // 80 = 48 + 32 it has two, of 96 there is none that is not whole.
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmForward, 64, 8, 100), "product"), 64.0 * 16 * 100);
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmForward, 64, 17, 100), "product"), 64.0 * 32 * 100);
    for (const auto& [columns, expected] :
         {std::pair{8.0, 6400.0}, {17, 0}, {64, 6400}, {80, 0}, {96, 0}, {97, 6400}}) {
        for (const CpuKernel kernel : {CpuKernel::kGemmForward, CpuKernel::kGemmWeightGradient}) {
            EXPECT_EQ(size_of(call_of(kernel, 64, columns, 100), "lone_vector"), expected) << columns;
        }
    }
}

TEST(CpuKernel, a_right_operand_by_columns_is_copied_number_by_number_where_it_is_thin) {
    // n k accesses, four times as many below 128 columns, unless there are too few rows to copy it for.
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmForward, 64, 128, 100), "right"), 128.0 * 100);
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmForward, 64, 127, 100), "right"), 4 * 127.0 * 100);
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmForward, 15, 127, 100), "right"), 127.0 * 100);
    EXPECT_EQ(size_of(call_of(CpuKernel::kGemmInputGradient, 64, 127, 100), "right"), 127.0 * 100);
}

TEST(CpuKernel, columns_a_large_power_of_two_apart_share_sets_of_the_first_cache) {
    // 48 columns of a panel, 4 k bytes apart, in 4096 / gcd(4 k, 4096) sets of 8 lines: of k = 1024 all in one, 40 of
    // 48 are evicted; of 512 24 in each of two, 16 of 24; of 256 and 768 12 in each of four, 4 of 12; of 128 and 1000
    // none.
    const auto evicted = [](double depth, double rows = 64) {
        return size_of(call_of(CpuKernel::kGemmForward, rows, 256, depth), "aliased") / (256 * depth);
    };
    EXPECT_DOUBLE_EQ(evicted(1024), 40.0 / 48);
    EXPECT_DOUBLE_EQ(evicted(2048), 40.0 / 48);
    EXPECT_DOUBLE_EQ(evicted(512), (24.0 - 8) / 48);
    EXPECT_DOUBLE_EQ(evicted(256), (12.0 - 8) / 48);
    EXPECT_DOUBLE_EQ(evicted(768), (12.0 - 8) / 48);
    EXPECT_EQ(evicted(128), 0);
    EXPECT_EQ(evicted(1000), 0);
    EXPECT_EQ(evicted(1024, 8), 0) << "not copied";
}

TEST(CpuKernel, causal_scores_are_those_of_each_query_with_the_keys_up_to_the_end_of_its_band_of_64) {
    for (const int sequence : {1, 16, 63, 64, 65, 100, 128, 500}) {
        double expected = 0;
        for (int query = 0; query < sequence; ++query) {
            expected += std::min((query / 64 + 1) * 64, sequence);
        }
        const CpuCall call = call_of(CpuKernel::kAttentionForward, sequence, 1, 32, 3);
        EXPECT_EQ(size_of(call, "score"), 3 * expected) << sequence;
        EXPECT_EQ(size_of(call, "product"), 3 * expected * 32) << sequence;
        EXPECT_EQ(size_of(call, "band"), 3 * ((sequence + 63) / 64)) << sequence;
    }
}

TEST(CpuKernel, experts_pay_for_each_expert_and_its_weights_and_for_all_rows_together) {
    // 8 experts, 512 rows of all of them, inner width 32, hidden width 64.
    const CpuCall call = call_of(CpuKernel::kExpertsForwardGrouped, 512, 32, 64, 8);
    EXPECT_EQ(size_of(call, "expert"), 8);
    EXPECT_EQ(size_of(call, "product"), 512.0 * 32 * 64);
    EXPECT_EQ(size_of(call, "weight"), 8.0 * 32 * 64);
    EXPECT_EQ(size_of(call, "inner"), 512.0 * 32);
    EXPECT_EQ(size_of(call, "hidden"), 512.0 * 64);
}

TEST(CpuKernel, sums_by_token_grow_with_tokens_and_with_the_rows_summed) {
    // 100 tokens of 64 numbers, 1.5 rows a token: 150 rows.
    const CpuCall call = call_of(CpuKernel::kSumRows, 100, 64, 1.5);
    EXPECT_EQ(size_of(call, "token"), 100);
    EXPECT_EQ(size_of(call, "row"), 150);
    EXPECT_EQ(size_of(call, "element"), 150.0 * 64);
    EXPECT_EQ(size_of(call, "output"), 100.0 * 64);
}

TEST(CpuKernel, adamw_pays_for_tensor_parts_and_elements_and_moves_28_bytes_an_element) {
    const CpuCall call = call_of(CpuKernel::kAdamW, 12, 5000, 1);
    EXPECT_EQ(size_of(call, "part"), 12);
    EXPECT_EQ(size_of(call, "element"), 5000);
    EXPECT_EQ(cpu_bytes(call, CpuPrecision::kFp32), 28 * 5000);  // g 4, moments 16, w 8
    EXPECT_EQ(cpu_bytes(call, CpuPrecision::kBf16), 28 * 5000);  // g 2, moments 16, master 8, w 2
}

TEST(CpuKernel, a_reduction_reads_every_part_and_writes_the_result) {
    // 4 parts of 1000 numbers are read, 1000 written: 5000 of 4 bytes.
    const CpuCall call = call_of(CpuKernel::kReduceParts, 1, 1000, 4);
    EXPECT_EQ(size_of(call, "element"), 4000);
    EXPECT_EQ(size_of(call, "output"), 1000);
    EXPECT_EQ(cpu_bytes(call, CpuPrecision::kFp32), 4 * 5000);
}

TEST(CpuSeconds, of_a_call_is_the_sum_of_coefficient_times_size_in_its_precision) {
    CpuModel cpu;
    const CpuCall call = call_of(CpuKernel::kSwigluForward, 10, 100, 1);
    CpuKernelCost& cost =
        cpu.kernel_costs[static_cast<std::size_t>(CpuPrecision::kBf16)][static_cast<std::size_t>(call.kernel)];
    cost.known = true;
    cost.seconds_per = {1e-6, 1e-8, 1e-9, 0, 0, 0};
    EXPECT_DOUBLE_EQ(cpu_seconds(cpu, call, CpuPrecision::kBf16), 1e-6 + 10e-8 + 1000e-9);
}

TEST(CpuSecondsDeathTest, a_kernel_without_a_law_has_no_time) {
    EXPECT_DEATH((void)cpu_seconds(CpuModel{}, CpuCall{}, CpuPrecision::kFp32), "law");
}

}  // namespace
}  // namespace auspex::models
