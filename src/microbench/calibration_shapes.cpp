/// @file Shapes that the kernels are timed at: sizes from lists, spread over all of them by a sequence of low
/// discrepancy. Widths are such as models have. Numbers of tokens are odd multiples of 8, those of elements not powers
/// of two, and sequences are none of a workload's: no shape is that of a training run that is to be predicted.
#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.hpp"
#include "microbench/kernel_bench.hpp"

namespace auspex::microbench {
namespace {

using List = std::span<const double>;

constexpr double kOne[] = {1};
constexpr double kTokens[] = {24, 40, 56, 88, 120, 168, 248, 360, 520, 744, 1064, 1512, 2152, 3048, 4088};
constexpr double kFewTokens[] = {8, 24, 40, 56, 88, 120, 168, 248, 360, 520, 1064, 2152, 4088};
/// Of one expert.
constexpr double kRowsOfExpert[] = {3, 7, 13, 21, 35, 57, 93, 151, 245, 397};
constexpr double kWidths[] = {32, 64, 128, 192, 256, 320, 384, 512, 640, 768, 1024};
/// Of what layers read; what they make: a router's few outputs and a vocabulary's many.
constexpr double kProductWidths[] = {16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
constexpr double kOutputs[] = {8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 3072, 5120};
/// Of products that take tens of milliseconds, where all but multiply-adds is little.
constexpr double kLargeTokens[] = {360, 520, 744, 1064, 1512};
constexpr double kLargeWidths[] = {512, 640, 768, 1024, 1280, 1536, 2048};
constexpr double kLargeShortest_s = 8e-3, kLargeLongest_s = 3e-2, kLargeBytes = 1.5e7;
constexpr double kInner[] = {16, 32, 64, 96, 128, 192, 256, 384, 512};
constexpr double kHidden[] = {96, 192, 320, 384, 512, 640, 768};
constexpr double kVocabularies[] = {256, 384, 768, 1024, 1536, 2048, 3072, 5120, 8192};
constexpr double kExperts[] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64};
constexpr double kTopK[] = {1, 2, 3, 4, 6, 8};
constexpr double kHeadSizes[] = {16, 32, 64, 128};
constexpr double kSequences[] = {32, 96, 160, 192, 320, 384, 448, 512};
constexpr double kHeads[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr double kSlots[] = {248, 520, 1064, 2152, 4088, 9000, 18000, 36008};
constexpr double kElements[] = {1800, 3000, 7000, 15000, 36000, 80000, 150000, 300000, 560000};
constexpr double kBytes[] = {6000, 14000, 40000, 90000, 200000, 500000, 900000, 1800000, 3000000};
constexpr double kParts[] = {2, 3, 4, 6, 8, 12, 16};
constexpr double kBlocks[] = {1, 2, 3, 5, 8};
constexpr double kTensorParts[] = {1, 2, 5, 12, 30, 64};

/// What a family's sizes are, beyond numbers from lists.
enum class Rule : std::uint8_t {
    kFree,
    kWholeHeads,    ///< columns are heads * depth: the list's are numbers of heads
    kFromExperts,   ///< rows are those of one expert, times groups
    kAmongExperts,  ///< depth and groups are at most columns
    kWholeTriples,  ///< columns are triples
};

/// Kernels that take the same sizes, and how many shapes each gets.
struct Family {
    std::vector<models::CpuKernel> kernels;
    int count = 8;
    Rule rule = Rule::kFree;
    List rows = kOne, columns = kOne, depth = kOne, groups = kOne;
    double shortest_s = 5e-7, longest_s = 4e-3, max_bytes = 7e6;  ///< of shapes that are worth timing, roughly
};

std::vector<Family> families() {
    using enum models::CpuKernel;
    return {
        {{kGemmForward}, 28, Rule::kFree, kFewTokens, kOutputs, kProductWidths},
        {{kGemmInputGradient}, 28, Rule::kFree, kFewTokens, kProductWidths, kOutputs},
        {{kGemmWeightGradient}, 28, Rule::kFree, kOutputs, kProductWidths, kFewTokens},
        {{kGemmForward},
         4,
         Rule::kFree,
         kLargeTokens,
         kLargeWidths,
         kLargeWidths,
         kOne,
         kLargeShortest_s,
         kLargeLongest_s,
         kLargeBytes},
        {{kGemmInputGradient},
         4,
         Rule::kFree,
         kLargeTokens,
         kLargeWidths,
         kLargeWidths,
         kOne,
         kLargeShortest_s,
         kLargeLongest_s,
         kLargeBytes},
        {{kGemmWeightGradient},
         4,
         Rule::kFree,
         kLargeWidths,
         kLargeWidths,
         kLargeTokens,
         kOne,
         kLargeShortest_s,
         kLargeLongest_s,
         kLargeBytes},
        {{kNormForward, kNormBackward, kSquareSums, kQkNormForward, kQkNormProducts, kQkNormBackward},
         8,
         Rule::kFree,
         kTokens,
         kWidths},
        {{kRotate}, 9, Rule::kWholeHeads, kTokens, kHeads, kHeadSizes},
        {{kAttentionForward, kAttentionBackward}, 14, Rule::kFree, kSequences, kOne, kHeadSizes, kHeads},
        {{kSwigluForward, kSwigluBackward}, 8, Rule::kFree, kTokens, kWidths},
        {{kAdd}, 8, Rule::kFree, kOne, kElements},
        {{kEmbeddingForward, kEmbeddingBackward}, 9, Rule::kFree, kTokens, kWidths},
        {{kCrossEntropyParts, kCrossEntropyBackward}, 8, Rule::kFree, kTokens, kVocabularies},
        {{kRouterForward, kRouterUniform, kRouterLosses, kRouterBackward},
         9,
         Rule::kAmongExperts,
         kTokens,
         kExperts,
         kTopK},
        {{kCountChoices, kSortSlots}, 9, Rule::kFree, kSlots, kExperts},
        {{kOneHotMask}, 8, Rule::kAmongExperts, kTokens, kExperts, kTopK},
        {{kFindInMask}, 9, Rule::kAmongExperts, kTokens, kExperts, kTopK, kExperts},
        {{kGatherRows}, 8, Rule::kFree, kTokens, kWidths},
        {{kSumRows, kSumRowsFused}, 11, Rule::kFree, kTokens, kWidths, kTopK},
        {{kSumRowsBackward, kSumRowsBackwardFused}, 8, Rule::kFree, kTokens, kWidths},
        {{kExpertsForwardLoop, kExpertsForwardGrouped, kExpertsForwardFused, kExpertsBackwardLoop,
          kExpertsBackwardGrouped, kExpertsBackwardFused, kExpertsWeightsLoop, kExpertsWeightsGrouped},
         14,
         Rule::kFromExperts,
         kRowsOfExpert,
         kInner,
         kHidden,
         kExperts},
        {{kZero, kCopy}, 8, Rule::kFree, kOne, kBytes},
        {{kFiniteCheck, kFiniteCheckGradients, kSquareSum}, 8, Rule::kFree, kOne, kElements},
        {{kAdamW}, 8, Rule::kFree, kTensorParts, kElements},
        {{kReduceParts, kReducePartsGradients}, 9, Rule::kFree, kOne, kElements, kParts},
        {{kReduceSoftmaxParts}, 8, Rule::kWholeTriples, kOne, kTokens, kParts},
        {{kOperation}, 5, Rule::kFree, kOne, kBlocks},
    };
}

/// Size `dimension` of shape `index`: of the R4 sequence of Roberts, multiples of powers of the inverse of
/// x^5 = x + 1's root.
double pick(List list, int index, int dimension) {
    constexpr double kRoot = 1.1673039782614187;
    const double share = 0.5 + index * std::pow(kRoot, -dimension);
    const double place = (share - std::floor(share)) * static_cast<double>(list.size());
    return list[static_cast<std::size_t>(place)];
}

models::CpuCall shape(const Family& family, models::CpuKernel kernel, int index) {
    models::CpuCall c{.kernel = kernel,
                      .rows = pick(family.rows, index, 1),
                      .columns = pick(family.columns, index, 2),
                      .depth = pick(family.depth, index, 3),
                      .groups = pick(family.groups, index, 4)};
    if (family.rule == Rule::kWholeHeads) {
        c.columns *= c.depth;
    } else if (family.rule == Rule::kFromExperts) {
        c.rows *= c.groups;
    } else if (family.rule == Rule::kWholeTriples) {
        c.columns *= 3;
    }
    return c;
}

bool is_one_of(models::CpuKernel kernel, std::initializer_list<models::CpuKernel> kernels) {
    return std::ranges::find(kernels, kernel) != kernels.end();
}

/// Roughly, on any core: which shapes are worth timing.
double rough_seconds(const models::CpuCall& c) {
    using enum models::CpuKernel;
    constexpr double kProduct_s = 15e-12, kElement_s = 0.3e-9, kByte_s = 0.1e-9, kBranch_s = 4e-9, kSlot_s = 1e-9,
                     kOperation_s = 1e-6;
    const double bytes = kByte_s * cpu_bytes(c, models::CpuPrecision::kFp32);
    if (c.kernel <= kGemmWeightGradient) {
        return bytes + kProduct_s * c.rows * c.columns * c.depth;
    }
    if (is_one_of(c.kernel, {kAttentionForward, kAttentionBackward})) {
        return bytes + c.groups * c.rows * c.rows * (2 * kElement_s + 3 * kProduct_s * c.depth);
    }
    if (c.kernel >= kExpertsForwardLoop && c.kernel <= kExpertsWeightsGrouped) {
        return bytes + c.rows * c.columns * (5 * kElement_s + 3 * kProduct_s * c.depth);
    }
    if (is_one_of(c.kernel, {kRouterForward, kRouterUniform, kRouterLosses, kRouterBackward})) {
        return bytes + kBranch_s * c.rows * c.columns;
    }
    if (c.kernel == kOperation) {
        return kOperation_s;
    }
    if (is_one_of(c.kernel, {kCountChoices, kSortSlots})) {
        return kSlot_s * c.rows;
    }
    return bytes + kElement_s * c.rows * c.columns;
}

/// Of the arrays: queries' rows lie within those of queries, keys and values.
double operand_bytes(const models::CpuCall& c) {
    const bool within_rows =
        c.kernel >= models::CpuKernel::kSquareSums && c.kernel <= models::CpuKernel::kQkNormBackward;
    return (within_rows ? 3 : 1) * cpu_bytes(c, models::CpuPrecision::kFp32);
}

/// Neither lost in the clock nor so long or large that the arrays of several sets leave the last-level cache.
bool is_worth_timing(const Family& family, const models::CpuCall& c) {
    if (family.rule == Rule::kAmongExperts && (c.depth > c.columns || c.groups > c.columns)) {
        return false;
    }
    const double seconds = rough_seconds(c);
    return seconds > family.shortest_s && seconds < family.longest_s && operand_bytes(c) < family.max_bytes;
}

bool is_same(const models::CpuCall& a, const models::CpuCall& b) {
    return a.kernel == b.kernel && a.rows == b.rows && a.columns == b.columns && a.depth == b.depth &&
           a.groups == b.groups;
}

void add_shapes(const Family& family, models::CpuKernel kernel, std::vector<models::CpuCall>& calls) {
    constexpr int kMaxTries = 10000;
    int found = 0;
    for (int index = 0; found < family.count; ++index) {
        AUSPEX_CHECK(index < kMaxTries, "a family of kernels has shapes enough");
        const models::CpuCall call = shape(family, kernel, index);
        const auto same = [&call](const models::CpuCall& other) { return is_same(call, other); };
        if (is_worth_timing(family, call) && std::ranges::none_of(calls, same)) {
            calls.push_back(call);
            ++found;
        }
    }
}

}  // namespace

std::vector<models::CpuCall> calibration_calls() {
    std::vector<models::CpuCall> calls;
    for (const Family& family : families()) {
        for (const models::CpuKernel kernel : family.kernels) {
            add_shapes(family, kernel, calls);
        }
    }
    std::ranges::stable_sort(calls, {}, &models::CpuCall::kernel);
    return calls;
}

std::vector<models::CpuCall> memory_calls() {
    constexpr double kSmall = 1.5e5, kLarge = 1.5e6;
    const std::vector<models::CpuCall> all = calibration_calls();
    std::vector<models::CpuCall> chosen;
    for (std::size_t i = 0; i < models::kCpuKernels; ++i) {
        for (const double wanted : {kSmall, kLarge}) {
            const models::CpuCall* nearest = nullptr;
            const auto distance = [wanted](const models::CpuCall& call) {
                return std::abs(std::log(cpu_bytes(call, models::CpuPrecision::kFp32) / wanted));
            };
            for (const models::CpuCall& call : all) {
                const auto same = [&call](const models::CpuCall& other) { return is_same(call, other); };
                if (call.kernel == static_cast<models::CpuKernel>(i) &&
                    cpu_bytes(call, models::CpuPrecision::kFp32) > 0 && std::ranges::none_of(chosen, same) &&
                    (nearest == nullptr || distance(call) < distance(*nearest))) {
                    nearest = &call;
                }
            }
            if (nearest != nullptr) {
                chosen.push_back(*nearest);
            }
        }
    }
    return chosen;
}

}  // namespace auspex::microbench
