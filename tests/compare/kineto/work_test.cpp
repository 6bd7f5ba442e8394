#include "compare/kineto/trace/work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "compare/kineto/explain/robust.hpp"
#include "compare/kineto/match/align.hpp"
#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {
namespace {

using schedule::CommKind;

TEST(Work, kernels_are_told_by_parts_of_their_names) {
    const std::pair<const char*, Work> known[] = {
        {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_NNT", Work::kGemm},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128>", Work::kGemm},
        {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", Work::kGemm},
        {"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64", Work::kGemm},
        {"void cublasLt::splitKreduce_kernel<32, 16, int, float>", Work::kGemm},
        {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false>>", Work::kAttention},
        {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>", Work::kAttention},
        {"fmha_cutlassB_bf16_aligned_64x64_k128_sm80", Work::kAttention},
        {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>", Work::kNorm},
        {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false>", Work::kSoftmax},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", Work::kAdd},
        {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>", Work::kCopy},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Work::kCommunication},
        {"oneccl_allreduce_kernel", Work::kCommunication},
        {"void mystery_kernel<float>", Work::kOther}};
    for (const auto& [name, work] : known) {
        EXPECT_STREQ(to_string(work_of_kernel(name)), to_string(work)) << name;
    }
}

TEST(Work, operations_of_the_host_say_what_they_are) {
    EXPECT_EQ(facts_of_op("aten::addmm").work, Work::kGemm);
    EXPECT_TRUE(facts_of_op("aten::as_strided").is_view);
    EXPECT_TRUE(facts_of_op("autograd::engine::evaluate_function: MmBackward0").is_backward_node);
    EXPECT_EQ(facts_of_op("torch::autograd::AccumulateGrad").work, Work::kAccumulate);
    EXPECT_TRUE(facts_of_op("Optimizer.step#AdamW.step").is_optimizer);
    EXPECT_TRUE(facts_of_op("nccl:all_reduce").runs_elsewhere);
    EXPECT_EQ(facts_of_op("gloo:all_reduce").work, Work::kCommunication);
    EXPECT_EQ(facts_of_op("aten::mul_").work, Work::kElementwise);
    EXPECT_FALSE(facts_of_op("my_extension::mystery").work);
}

TEST(Work, collectives_are_told_in_every_spelling) {
    EXPECT_EQ(named_collective("_allgather_base").kind, CommKind::kAllGather);
    EXPECT_EQ(named_collective("reduce_scatter_tensor_coalesced").kind, CommKind::kReduceScatter);
    EXPECT_EQ(named_collective("gloo:all_reduce").kind, CommKind::kAllReduce);
    EXPECT_EQ(named_collective("all_to_allv").kind, CommKind::kAllToAll);
    EXPECT_EQ(named_collective("recv").kind, CommKind::kReceive);
    EXPECT_TRUE(named_collective("ncclDevKernel_SendRecv").is_message);
    EXPECT_EQ(named_collective("ncclDevKernel_SendRecv").kind, CommKind::kNone);
    EXPECT_FALSE(named_collective("void mystery_kernel<float>").is_message);
}

TEST(Work, sizes_of_elements) {
    EXPECT_EQ(element_bytes("c10::BFloat16"), 2);
    EXPECT_EQ(element_bytes("Float"), 4);
    EXPECT_EQ(element_bytes("long int"), 8);
    EXPECT_EQ(element_bytes("double"), 8);
    EXPECT_EQ(element_bytes("Byte"), 1);
    EXPECT_EQ(element_bytes("what"), 0);
}

/// Classes of both are letters; equal ones fit.
AlignProblem problem_of(const std::string& measured, const std::string& expected, const std::string& many = "") {
    AlignProblem problem;
    problem.expected_classes = 26;
    problem.scores.assign(std::size_t{26} * 26, 0);
    for (std::size_t i = 0; i < 26; ++i) {
        problem.scores[i * 26 + i] = 10;
    }
    for (const char c : measured) {
        problem.measured.push_back(static_cast<std::uint32_t>(c - 'a'));
    }
    for (const char c : expected) {
        problem.expected.push_back(static_cast<std::uint32_t>(c - 'a'));
        problem.takes_many.push_back(many.find(c) == std::string::npos ? 0 : 1);
    }
    return problem;
}

TEST(Align, keeps_the_longest_common_part_in_order) {
    // a b x c  beside  a c b c: a, then b and c (x is nothing), the first c is left out.
    EXPECT_EQ(align(problem_of("abxc", "acbc")), (std::vector<std::uint32_t>{0, 2, kNone, 3}));
    EXPECT_EQ(align(problem_of("", "abc")), std::vector<std::uint32_t>{});
    EXPECT_EQ(align(problem_of("ab", "")), (std::vector<std::uint32_t>{kNone, kNone}));
}

TEST(Align, an_item_that_takes_many_takes_all_in_succession) {
    EXPECT_EQ(align(problem_of("annnb", "anb", "n")), (std::vector<std::uint32_t>{0, 1, 1, 1, 2}));
    const std::vector<std::uint32_t> one = align(problem_of("annnb", "anb"));  // one of the three, whichever
    EXPECT_EQ(std::count(one.begin(), one.end(), 1U), 1);
    EXPECT_EQ(one.front(), 0U);
    EXPECT_EQ(one.back(), 2U);
}

TEST(Align, goes_through_long_sequences_with_holes_and_foreign_stretches) {
    // 20,000 expected; every 7th is missing, and 9,000 foreign ones stand in the middle.
    Rng rng(7);
    std::string expected, measured;
    std::vector<std::uint32_t> right;  // of each measured one, where it came from
    for (std::uint32_t i = 0; i < 20000; ++i) {
        const char c = static_cast<char>('a' + rng.below(25));
        expected += c;
        if (i == 10000) {
            for (int k = 0; k < 9000; ++k) {
                measured += k % 2 == 0 ? 'z' : 'a';  // z is never expected, a is
            }
            right.insert(right.end(), 9000, kNone);
        }
        if (i % 7 != 3) {
            measured += c;
            right.push_back(i);
        }
    }
    const std::vector<std::uint32_t> aligned = align(problem_of(measured, expected));
    std::size_t same = 0, matched = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        same += aligned[i] == right[i] ? 1U : 0U;
        matched += aligned[i] != kNone ? 1U : 0U;
        ASSERT_TRUE(aligned[i] == kNone || expected[aligned[i]] == measured[i]);
    }
    // Nearly everything that is no foreigner finds its place; at the foreigners' edge, and where a neighbour is equal,
    // a few do not.
    EXPECT_GE(matched, (right.size() - 9000) * 95 / 100);
    EXPECT_GT(same, right.size() * 90 / 100);
}

TEST(Robust, a_few_of_something_else_do_not_move_the_middle) {
    std::vector<WeightedValue> values(90, {0.3, 1});
    for (int i = 0; i < 90; ++i) {
        values[static_cast<std::size_t>(i)].value += 0.001 * (i % 3 - 1);  // 0.299, 0.300, 0.301
    }
    values.insert(values.end(), 10, {2.0, 1});
    const Middle middle = robust_middle(values);
    EXPECT_NEAR(middle.value, 0.3, 0.001);
    EXPECT_NEAR(middle.spread, 1.4826 * 0.001, 1e-9);
    EXPECT_EQ(robust_middle({{5, 1}}).value, 5);
}

// One kernel of most weight at 0.27, eight small ones at 1.13: the weighted median of distances is 0, and without the
// one the middle goes from ln 0.27 to ln 1.13.
TEST(Robust, one_of_most_weight_does_not_spread_by_nothing) {
    std::vector<WeightedValue> values{{std::log(0.27), 10, 0}};
    for (std::size_t kind = 1; kind <= 8; ++kind) {
        values.push_back({std::log(1.13), 0.5, kind});
    }
    const Middle middle = robust_middle(values);
    EXPECT_NEAR(middle.value, std::log(0.27), 1e-3);
    EXPECT_NEAR(middle.spread, std::log(1.13 / 0.27), 1e-3);
    EXPECT_EQ(middle.leans_on, 0U);
    for (WeightedValue& one : values) {
        one.kind = 0;
    }
    EXPECT_FALSE(robust_middle(values).leans_on) << "nothing is left without the one kind";
}

}  // namespace
}  // namespace auspex::kineto
