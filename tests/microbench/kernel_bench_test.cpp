/// @file The bench of kernels: what it runs, and the shapes that calibration asks for.
#include "microbench/kernel_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "microbench/context_switch_bench.hpp"
#include "microbench/kernel_operands.hpp"
#include "microbench/message_bench.hpp"
#include "microbench/sharing_bench.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"
#include "schedule/kernel_calls/kernel_calls.hpp"

namespace auspex::microbench {
namespace {

const MemorySizes kSizes{.last_level_cache_bytes = 1 << 20};

/// A shape that every kernel takes: heads of 4, triples, 2 experts, 4 choices among 24.
models::CpuCall small_call(std::size_t kernel) {
    return {.kernel = static_cast<models::CpuKernel>(kernel), .rows = 24, .columns = 24, .depth = 4, .groups = 2};
}

template <typename Check>
void for_all_kernels(const Check& check) {
    for (std::size_t kernel = 0; kernel < models::kCpuKernels; ++kernel) {
        for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
            const models::CpuCall call = small_call(kernel);
            SCOPED_TRACE(std::string(to_string(call.kernel)) + " " + std::string(to_string(precision)));
            check(call, precision);
        }
    }
}

TEST(KernelBench, every_kernel_has_a_time_in_both_precisions) {
    for_all_kernels([](const models::CpuCall& call, models::CpuPrecision precision) {
        const Timing timing = time_kernel(call, precision, OperandLocation::kCache, kSizes, 1e-5);
        EXPECT_TRUE(std::isfinite(timing.seconds) && timing.seconds > 0);
        EXPECT_TRUE(std::isfinite(timing.spread) && timing.spread >= 0);
        EXPECT_GE(timing.count, 5);
    });
}

TEST(KernelBench, repeated_calls_make_no_infinity_and_no_nan) {
    for_all_kernels([](const models::CpuCall& call, models::CpuPrecision precision) {
        OperandSet set = make_operands(call, precision, 3);
        EXPECT_TRUE(set.arrays.are_finite());
        for (int i = 0; i < 500; ++i) {
            set.run();
        }
        EXPECT_TRUE(set.arrays.are_finite());
    });
}

TEST(KernelBench, operands_in_memory_are_sets_that_take_turns) {
    const models::CpuCall call{.kernel = models::CpuKernel::kSquareSum, .columns = 3000};
    const auto kernel = prepare_kernel(call, models::CpuPrecision::kBf16, OperandLocation::kMemory, kSizes);
    for (int i = 0; i < 1000; ++i) {
        kernel->run();
    }
    EXPECT_GE(time_kernel(call, models::CpuPrecision::kBf16, OperandLocation::kMemory, kSizes, 1e-5).count, 5);
}

/// outputs[r] = W_down (silu(W_gate x_r) * (W_up x_r)) with the weights of row r's expert, for every row: all
/// 3 rows * inner * hidden products are made.
TEST(KernelBench, grouped_experts_compute_every_row) {
    constexpr std::size_t kRows = 21, kInner = 5, kHidden = 7, kExperts = 3;
    OperandSet set = make_operands({.kernel = models::CpuKernel::kExpertsForwardGrouped,
                                    .rows = kRows,
                                    .columns = kInner,
                                    .depth = kHidden,
                                    .groups = kExperts},
                                   models::CpuPrecision::kFp32, 1);
    set.run();
    const auto weights = set.arrays.array<float>(1), source = set.arrays.array<float>(2),
               outputs = set.arrays.array<float>(5);
    ASSERT_EQ(weights.size(), kExperts * 3 * kInner * kHidden);
    ASSERT_EQ(outputs.size(), kRows * kHidden);
    for (std::size_t row = 0; row < kRows; ++row) {
        const float* const gates = &weights[row / (kRows / kExperts) * 3 * kInner * kHidden];
        const float* const down = gates + 2 * kInner * kHidden;
        double product[kInner];
        for (std::size_t i = 0; i < kInner; ++i) {
            double gate = 0, up = 0;
            for (std::size_t j = 0; j < kHidden; ++j) {
                gate += double{gates[i * kHidden + j]} * double{source[row * kHidden + j]};
                up += double{gates[(kInner + i) * kHidden + j]} * double{source[row * kHidden + j]};
            }
            product[i] = gate / (1 + std::exp(-gate)) * up;
        }
        for (std::size_t j = 0; j < kHidden; ++j) {
            double output = 0;
            for (std::size_t i = 0; i < kInner; ++i) {
                output += double{down[j * kInner + i]} * product[i];
            }
            EXPECT_NEAR(double{outputs[row * kHidden + j]}, output, 1e-5) << row << ", " << j;
        }
    }
}

using Rows = std::vector<std::array<double, models::kMaxCpuTerms>>;

/// By elimination; columns are scaled to a largest element of 1 first.
std::size_t rank_of(Rows matrix, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) {
        double largest = 0;
        for (const auto& row : matrix) {
            largest = std::max(largest, std::abs(row[c]));
        }
        for (auto& row : matrix) {
            row[c] /= largest;
        }
    }
    std::size_t rank = 0;
    for (std::size_t c = 0; c < columns && rank < matrix.size(); ++c) {
        std::size_t pivot = rank;
        for (std::size_t r = rank; r < matrix.size(); ++r) {
            pivot = std::abs(matrix[r][c]) > std::abs(matrix[pivot][c]) ? r : pivot;
        }
        if (std::abs(matrix[pivot][c]) < 1e-6) {
            continue;
        }
        std::swap(matrix[rank], matrix[pivot]);
        for (std::size_t r = rank + 1; r < matrix.size(); ++r) {
            const double factor = matrix[r][c] / matrix[rank][c];
            for (std::size_t i = c; i < columns; ++i) {
                matrix[r][i] -= factor * matrix[rank][i];
            }
        }
        ++rank;
    }
    return rank;
}

TEST(CalibrationShapes, determine_every_term_of_every_law) {
    std::map<models::CpuKernel, Rows> sizes;
    for (const models::CpuCall& call : calibration_calls()) {
        sizes[call.kernel].push_back(cpu_sizes(call));
    }
    ASSERT_EQ(sizes.size(), models::kCpuKernels);
    for (const auto& [kernel, matrix] : sizes) {
        const std::size_t terms = cpu_terms(kernel).size();
        EXPECT_GE(matrix.size(), terms + 3) << to_string(kernel);
        EXPECT_EQ(rank_of(matrix, terms), terms) << to_string(kernel);
    }
}

TEST(CalibrationShapes, are_many_but_not_more_than_there_is_time_for) {
    const std::vector<models::CpuCall> calls = calibration_calls();
    EXPECT_GE(calls.size(), 400U);
    EXPECT_LE(calls.size(), 620U);
    EXPECT_TRUE(std::ranges::is_sorted(calls, {}, &models::CpuCall::kernel));
}

/// Micro-batches have a whole number of sequences: 1 to 64 are looked at.
bool has_tokens(const models::Workload& workload, double tokens) {
    const double sequences = tokens / workload.sequence_length;
    return sequences == std::floor(sequences) && sequences <= 64;
}

/// All that calibration times, alone, with others, in turns.
std::vector<models::CpuCall> timed_calls() {
    std::vector<models::CpuCall> calls = calibration_calls();
    for (const auto& more : {memory_calls(), sharing_calls(), context_switch_calls()}) {
        calls.insert(calls.end(), more.begin(), more.end());
    }
    return calls;
}

TEST(CalibrationShapes, are_of_no_workload) {
    const std::vector<models::CpuCall> calls = timed_calls();
    for (const auto& entry : std::filesystem::directory_iterator("workloads")) {
        const models::Workload w = models::load_workload(JsonDocument::load(entry.path().string()));
        for (const models::CpuCall& c : calls) {
            SCOPED_TRACE(w.name + ", " + std::string(to_string(c.kernel)));
            if (c.kernel == models::CpuKernel::kGemmWeightGradient) {
                EXPECT_FALSE(has_tokens(w, c.depth)) << c.depth;
            } else if (c.kernel >= models::CpuKernel::kExpertsForwardLoop &&
                       c.kernel <= models::CpuKernel::kExpertsWeightsGrouped) {
                EXPECT_FALSE(c.columns == w.expert_size && c.depth == w.hidden_size) << c.columns << " " << c.depth;
            } else if (c.kernel == models::CpuKernel::kAttentionForward ||
                       c.kernel == models::CpuKernel::kAttentionBackward) {
                EXPECT_NE(c.rows, w.sequence_length);
            } else if (c.rows > 1 && c.kernel != models::CpuKernel::kAdamW) {
                EXPECT_FALSE(has_tokens(w, c.rows)) << c.rows;
            }
        }
    }
}

/// What tells two calls of products, attention, norms and the like apart. Calls over one row (copies, sums, AdamW) have
/// no shape but a length.
using Shape = std::tuple<models::CpuKernel, double, double, double, double>;
Shape shape_of(const models::CpuCall& c) { return {c.kernel, c.rows, c.columns, c.depth, c.groups}; }

/// The plans of a file of layouts as texts, in their order: what is between the braces behind each "plan".
std::vector<std::string> plan_texts(const std::string& file) {
    const std::string text = read_input_file(file), key = "\"plan\":";
    std::vector<std::string> texts;
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
        const std::size_t begin = text.find('{', at);
        at = begin;
        for (int depth = 0; depth > 0 || at == begin; ++at) {
            depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
        }
        texts.push_back(text.substr(begin, at - begin));
    }
    return texts;
}

/// Every call that a step of the plan makes, on any stage.
void add_shapes(const models::Workload& workload, const models::Plan& asked, std::set<Shape>& shapes) {
    static const models::Stack stack = models::load_stack(JsonDocument::load("stacks/auspex.json"));
    const models::Plan plan = resolve_plan(asked, workload, 0);
    const models::Layout layout = rank_grid(plan, tiles_of(plan));
    const schedule::Program program = schedule::build_program(workload, plan, stack, layout);
    for (const schedule::Role& role : program.roles) {
        for (const schedule::BlockUse& use : role.order) {
            for (const schedule::Operation& op : program.operations_of(program.blocks[use.block])) {
                const schedule::OperationCalls calls = kernel_calls(workload, plan, stack, layout, role.stage, op);
                for (const auto& list : {calls.before, calls.after}) {
                    std::ranges::transform(list, std::inserter(shapes, shapes.end()), shape_of);
                }
            }
        }
    }
}

/// The steps that auspex compare predicts: of no call of theirs was the time measured beforehand.
TEST(CalibrationShapes, are_of_no_layout) {
    std::set<Shape> shapes;
    for (const std::string file : {"plans/layouts/one-node.json", "plans/layouts/nodes.json"}) {
        const std::vector<std::string> texts = plan_texts(file);
        const JsonDocument document = JsonDocument::load(file);
        const auto layouts = document.root().at("layouts").elements();
        ASSERT_EQ(texts.size(), layouts.size()) << file;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string name = layouts[i].at("workload").as_string();
            const models::Workload workload = models::load_workload(JsonDocument::load("workloads/" + name + ".json"));
            add_shapes(workload, models::load_plan(JsonDocument::parse(texts[i], file)), shapes);
        }
    }
    EXPECT_GT(shapes.size(), 200U);
    for (const models::CpuCall& call : timed_calls()) {
        EXPECT_FALSE(call.rows > 1 && shapes.contains(shape_of(call)))
            << to_string(call.kernel) << " " << call.rows << " x " << call.columns << " x " << call.depth << " x "
            << call.groups;
    }
}

}  // namespace
}  // namespace auspex::microbench
