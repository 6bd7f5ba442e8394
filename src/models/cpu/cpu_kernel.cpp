/// @file Names, terms, sizes and bytes of the trainer's kernels.
#include "models/cpu/cpu_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/error.hpp"
#include "models/cpu/cache.hpp"

namespace auspex::models {
namespace {

// Bytes of what is stored in the same format whatever the precision.
constexpr double kReal = 4, kNumber = 8, kSlot = 4;

// Sizes that terms are made of. Letters: m rows, n columns, k depth, g groups.

/// Columns of a product as the core's vectors of 16 floats take them.
constexpr double kVector = 16;
double in_vectors(double columns) { return std::ceil(columns / kVector) * kVector; }
/// Columns that a product makes at a time (oneDNN, AVX-512), three vectors; one vector alone, as a last panel may be,
/// has too few sums to hide their latency.
constexpr double kPanel = 48;
/// Fewer rows than that use the right operand as it lies; more use a copy, panel by panel.
constexpr double kPackedRows = 16;
/// Of a right operand that is stored by columns, copies of so many columns at least are made by vectors: below, number
/// by number, which is four times the accesses.
constexpr double kVectorCopies = 128, kAccesses = 4;
/// A set of a core's first cache is chosen by the address modulo a page, and has eight lines at least.
constexpr double kSetBytes = 4096, kWays = 8;
constexpr double kBand = kAttentionBand;
double bands(double sequence) { return std::ceil(sequence / kBand); }
/// Scores of one head: each query with all keys up to the last query of its band.
double scores(double sequence) {
    const double whole = std::floor(sequence / kBand), rest = sequence - whole * kBand;
    return kBand * kBand * whole * (whole + 1) / 2 + rest * sequence;
}

double once(const CpuCall&) { return 1; }
double rows(const CpuCall& c) { return c.rows; }
double columns(const CpuCall& c) { return c.columns; }
double groups(const CpuCall& c) { return c.groups; }
double row_columns(const CpuCall& c) { return c.rows * c.columns; }
double row_depths(const CpuCall& c) { return c.rows * c.depth; }
double column_depths(const CpuCall& c) { return c.columns * c.depth; }
double product(const CpuCall& c) { return c.rows * c.columns * c.depth; }
double vector_product(const CpuCall& c) { return c.rows * in_vectors(c.columns) * c.depth; }
double lone_vector(const CpuCall& c) {
    const double last = std::fmod(c.columns, kPanel);
    return last > 0 && last <= kVector ? row_depths(c) : 0;
}
/// Accesses to a right operand that is stored by columns.
double right_by_columns(const CpuCall& c) {
    return column_depths(c) * (c.rows >= kPackedRows && c.columns < kVectorCopies ? kAccesses : 1);
}
/// Of these, to lines that a copy of a panel finds evicted: its columns lie depth x 4 bytes apart, and where that is a
/// large power of two they share a few sets of the first cache.
double aliased_by_columns(const CpuCall& c) {
    const auto stride = static_cast<std::int64_t>(c.depth * kReal);
    const double sets =
        kSetBytes / std::max(static_cast<double>(std::gcd(stride, std::int64_t{4096})), kCacheLineBytes);
    const double evicted = std::fmax(0, kPanel / sets - kWays) / kPanel;
    return c.rows >= kPackedRows ? right_by_columns(c) * evicted : 0;
}
double group_weights(const CpuCall& c) { return c.groups * c.columns * c.depth; }
double heads(const CpuCall& c) { return c.rows * c.columns / c.depth; }
/// The halves of heads are rotated in vectors of 16 floats, or 32 values of bf16; the remainder one by one.
double rest_of(const CpuCall& c, double lanes) { return heads(c) * std::fmod(c.depth / 2, lanes); }
double rest_of_16(const CpuCall& c) { return rest_of(c, 16); }
double rest_of_32(const CpuCall& c) { return rest_of(c, 32); }
/// Expected times that an expert of a random order is among the largest k so far; each moves half of them.
double insertions(const CpuCall& c) { return row_depths(c) * (1 + std::log(std::fmax(c.columns / c.depth, 1))); }
double shifts(const CpuCall& c) { return insertions(c) * c.depth / 2; }
double comparisons(const CpuCall& c) { return c.rows * std::log2(std::fmax(c.rows, 2)); }
double group_bands(const CpuCall& c) { return c.groups * bands(c.rows); }
double group_rows(const CpuCall& c) { return c.groups * c.rows; }
/// Queries of a rank that has gathered keys see `columns` times as many as under the causal mask of their own.
double group_scores(const CpuCall& c) { return c.groups * scores(c.rows) * c.columns; }
double score_products(const CpuCall& c) { return group_scores(c) * in_vectors(c.depth); }
double group_elements(const CpuCall& c) { return c.groups * c.rows * c.depth; }
/// The mask's cache lines that a search for every group's expert reads.
double mask_lines(const CpuCall& c) { return group_elements(c) * std::fmin(c.columns * kNumber / kCacheLineBytes, 1); }
double found_slots(const CpuCall& c) { return group_elements(c) / c.columns; }

struct Term {
    std::string_view name;
    double (*size)(const CpuCall&);
};

struct KernelTerms {
    std::string_view kernel;
    std::size_t count = 0;
    std::array<std::string_view, kMaxCpuTerms> names{};
    std::array<double (*)(const CpuCall&), kMaxCpuTerms> sizes{};

    template <typename... Terms>
    constexpr explicit KernelTerms(std::string_view of, Terms... terms) : kernel(of), count(sizeof...(terms)) {
        static_assert(sizeof...(terms) <= kMaxCpuTerms);
        std::size_t i = 0;
        ((names[i] = terms.name, sizes[i] = terms.size, ++i), ...);
    }
};

constexpr Term kStart{"start", once}, kRow{"row", rows}, kColumn{"column", columns}, kElement{"element", row_columns};

// Families of kernels with the same terms.

template <typename... More>
constexpr KernelTerms gemm(std::string_view name, More... more) {
    return KernelTerms(name, kStart, Term{"product", vector_product}, Term{"lone_vector", lone_vector},
                       Term{"output", row_columns}, Term{"left", row_depths}, more...);
}
/// Passes along rows, and once a call over a weight or a gradient as long as a row.
constexpr KernelTerms norm(std::string_view name) { return KernelTerms(name, kStart, kRow, kColumn, kElement); }
constexpr KernelTerms by_row(std::string_view name) { return KernelTerms(name, kStart, kRow, kElement); }
constexpr KernelTerms attention(std::string_view name) {
    return KernelTerms(name, kStart, Term{"band", group_bands}, Term{"row", group_rows}, Term{"score", group_scores},
                       Term{"product", score_products}, Term{"element", group_elements});
}
template <typename... More>
constexpr KernelTerms router(std::string_view name, More... more) {
    return KernelTerms(name, kStart, kRow, kElement, Term{"choice", row_depths}, more...);
}
constexpr KernelTerms sort(std::string_view name) {
    return KernelTerms(name, kStart, Term{"slot", rows}, Term{"expert", columns});
}
constexpr KernelTerms sum_rows(std::string_view name) {
    return KernelTerms(name, kStart, Term{"token", rows}, Term{"row", row_depths}, Term{"element", product},
                       Term{"output", row_columns});
}
/// An expert's weights are packed for its products, or its gradient is read and written; the widths are passed over by
/// packing, activation and output.
constexpr KernelTerms experts(std::string_view name) {
    return KernelTerms(name, Term{"expert", groups}, Term{"product", product}, Term{"weight", group_weights},
                       Term{"inner", row_columns}, Term{"hidden", row_depths});
}
constexpr KernelTerms stream(std::string_view name, std::string_view unit) {
    return KernelTerms(name, kStart, Term{unit, columns});
}
constexpr KernelTerms reduction(std::string_view name) {
    return KernelTerms(name, kStart, Term{"element", column_depths}, Term{"output", columns});
}

/// In the order of CpuKernel.
constexpr std::array<KernelTerms, kCpuKernels> kKernelTerms{
    gemm("gemm_forward", Term{"right", right_by_columns}, Term{"aliased", aliased_by_columns}),
    gemm("gemm_input_gradient", Term{"right", column_depths}),
    gemm("gemm_weight_gradient", Term{"right", column_depths}),
    norm("norm_forward"),
    norm("norm_backward"),
    by_row("square_sums"),
    norm("qk_norm_forward"),
    norm("qk_norm_products"),
    norm("qk_norm_backward"),
    KernelTerms("rotate", kStart, kRow, Term{"head", heads}, kElement, Term{"rest_of_16", rest_of_16},
                Term{"rest_of_32", rest_of_32}),
    attention("attention_forward"),
    attention("attention_backward"),
    by_row("swiglu_forward"),
    by_row("swiglu_backward"),
    stream("add", "element"),
    by_row("embedding_forward"),
    KernelTerms("embedding_backward", kStart, kRow, Term{"comparison", comparisons}, kElement),
    by_row("cross_entropy_parts"),
    by_row("cross_entropy_backward"),
    router("router_forward", Term{"insertion", insertions}, Term{"shift", shifts}),
    router("router_uniform"),
    router("router_losses"),
    router("router_backward"),
    sort("count_choices"),
    sort("sort_slots"),
    KernelTerms("one_hot_mask", kStart, Term{"slot", row_depths}, Term{"element", product}),
    KernelTerms("find_in_mask", Term{"expert", groups}, Term{"slot", group_elements}, Term{"line", mask_lines},
                Term{"found", found_slots}),
    by_row("gather_rows"),
    sum_rows("sum_rows"),
    sum_rows("sum_rows_fused"),
    by_row("sum_rows_backward"),
    by_row("sum_rows_backward_fused"),
    experts("experts_forward_loop"),
    experts("experts_forward_grouped"),
    experts("experts_forward_fused"),
    experts("experts_backward_loop"),
    experts("experts_backward_grouped"),
    experts("experts_backward_fused"),
    experts("experts_weights_loop"),
    experts("experts_weights_grouped"),
    stream("zero", "byte"),
    stream("copy", "byte"),
    stream("finite_check", "element"),
    stream("finite_check_gradients", "element"),
    stream("square_sum", "element"),
    KernelTerms("adamw", Term{"part", rows}, Term{"element", columns}),
    reduction("reduce_parts"),
    reduction("reduce_parts_gradients"),
    reduction("reduce_softmax_parts"),
    stream("operation", "block"),
};

/// Of one element: moments and master weights are read and written in fp32.
double adamw_bytes(CpuPrecision precision) { return precision == CpuPrecision::kBf16 ? 2 + 16 + 8 + 2 : 4 + 16 + 8; }

const KernelTerms& terms_of(CpuKernel kernel) {
    AUSPEX_CHECK(kernel < CpuKernel::kCount, "a kernel of the trainer");
    return kKernelTerms[static_cast<std::size_t>(kernel)];
}

}  // namespace

std::string_view to_string(CpuKernel kernel) { return terms_of(kernel).kernel; }

std::string_view to_string(CpuPrecision precision) { return precision == CpuPrecision::kBf16 ? "bf16" : "fp32"; }

std::span<const std::string_view> cpu_terms(CpuKernel kernel) {
    const KernelTerms& terms = terms_of(kernel);
    return {terms.names.data(), terms.count};
}

std::array<double, kMaxCpuTerms> cpu_sizes(const CpuCall& call) {
    const KernelTerms& terms = terms_of(call.kernel);
    std::array<double, kMaxCpuTerms> sizes{};
    for (std::size_t i = 0; i < terms.count; ++i) {
        sizes[i] = terms.sizes[i](call);
    }
    return sizes;
}

double cpu_bytes(const CpuCall& c, CpuPrecision precision) {
    const double v = precision == CpuPrecision::kBf16 ? 2 : 4;
    const double of_rows = c.rows * c.columns, weights = 3 * group_weights(c);
    switch (c.kernel) {
        case CpuKernel::kGemmForward:
        case CpuKernel::kGemmInputGradient: return v * (of_rows + row_depths(c) + column_depths(c));
        case CpuKernel::kGemmWeightGradient: return v * (2 * of_rows + row_depths(c) + column_depths(c));
        case CpuKernel::kSquareSums: return v * of_rows;
        case CpuKernel::kNormForward:
        case CpuKernel::kQkNormForward:
        case CpuKernel::kQkNormProducts:
        case CpuKernel::kRotate:
        case CpuKernel::kEmbeddingForward:
        case CpuKernel::kGatherRows: return 2 * v * of_rows;
        case CpuKernel::kNormBackward:
        case CpuKernel::kQkNormBackward:
        case CpuKernel::kSwigluForward:
        case CpuKernel::kAdd:
        case CpuKernel::kEmbeddingBackward:
        case CpuKernel::kSumRowsBackward:
        case CpuKernel::kSumRowsBackwardFused: return 3 * v * of_rows;
        case CpuKernel::kSwigluBackward: return 5 * v * of_rows;
        case CpuKernel::kAttentionForward: return 4 * v * group_elements(c);
        case CpuKernel::kAttentionBackward: return 8 * v * group_elements(c);
        case CpuKernel::kCrossEntropyParts: return kReal * of_rows;
        case CpuKernel::kCrossEntropyBackward: return 2 * kReal * of_rows;
        case CpuKernel::kRouterForward:
        case CpuKernel::kRouterUniform: return 2 * kReal * of_rows + (kNumber + kReal) * row_depths(c);
        case CpuKernel::kRouterLosses: return 2 * kReal * of_rows + kNumber * row_depths(c);
        case CpuKernel::kRouterBackward: return 4 * kReal * of_rows + (kNumber + kReal) * row_depths(c);
        case CpuKernel::kCountChoices: return kNumber * c.rows;
        case CpuKernel::kSortSlots: return (kNumber + kSlot) * c.rows;
        case CpuKernel::kOneHotMask: return kNumber * (product(c) + row_depths(c));
        case CpuKernel::kFindInMask: return std::fmin(kCacheLineBytes, kNumber * c.columns) * group_elements(c);
        case CpuKernel::kSumRows:
        case CpuKernel::kSumRowsFused: return v * (product(c) + of_rows);
        case CpuKernel::kExpertsForwardLoop:
        case CpuKernel::kExpertsForwardGrouped:
        case CpuKernel::kExpertsForwardFused: return v * (weights + 2 * row_depths(c) + 3 * of_rows);
        case CpuKernel::kExpertsBackwardLoop:
        case CpuKernel::kExpertsBackwardGrouped:
        case CpuKernel::kExpertsBackwardFused: return v * (weights + 2 * row_depths(c) + 5 * of_rows);
        case CpuKernel::kExpertsWeightsLoop:
        case CpuKernel::kExpertsWeightsGrouped: return v * (2 * weights + 2 * row_depths(c) + 3 * of_rows);
        case CpuKernel::kZero: return c.columns;
        case CpuKernel::kCopy: return 2 * c.columns;
        case CpuKernel::kFiniteCheck:
        case CpuKernel::kFiniteCheckGradients:
        case CpuKernel::kSquareSum: return v * c.columns;
        case CpuKernel::kAdamW: return adamw_bytes(precision) * c.columns;
        case CpuKernel::kReduceParts:
        case CpuKernel::kReducePartsGradients: return v * (column_depths(c) + c.columns);
        case CpuKernel::kReduceSoftmaxParts: return kReal * (column_depths(c) + c.columns);
        case CpuKernel::kOperation: return 0;
        case CpuKernel::kCount: break;
    }
    check_failed("kernel", "a kernel of the trainer", __FILE__, __LINE__);
}

}  // namespace auspex::models
