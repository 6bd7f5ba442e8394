#pragma once
/// @file Orders of passes by the names that they have in the literature.
#include <string>
#include <vector>

#include "models/plan.hpp"
#include "schedule/orders/pipeline_pass.hpp"

namespace auspex::schedule {

/// With p ranks and m micro-batches:
///
/// gpipe: all forward passes, then all backward ones. 1f1b: min(m, p - 1 - r) forward passes on rank r, then a forward
/// and a backward pass in turn. interleaved-1f1b: the same with `virtual_stages` stages a rank, stage v on rank v mod p
/// (Narayanan et al., arXiv:2104.04473).
///
/// zb-h1, zb-h2 (Qi et al., arXiv:2401.10241): weight gradients apart. H1 has the forward passes of 1f1b, and the
/// weight gradients of micro-batch k behind the input gradient of k + r; H2 begins with 2 (p - r) - 1 forward passes,
/// and has weight gradients 2 r behind.
///
/// zb-auto: from the lengths of passes and the micro-batches that a rank may hold (auto_orders.hpp).
///
/// zbv, v-half, v-min (Qi et al., arXiv:2405.15362): rank r has stages r and 2 p - 1 - r. zbv fills the pipeline with
/// about the activations of 1f1b; v-half and v-min repeat a block of six slots a micro-batch, in which a micro-batch
/// moves on by (2, 1, 2, 1) and (1, 1, 1, 1) slots a rank down, up, down and up again: half and a third of the
/// activations.
///
/// dualpipe (DeepSeek-AI, arXiv:2412.19437): each stage twice, micro-batches from both ends, forward passes beside
/// backward ones. dualpipev: its half with two stages a rank, placed as those of zbv.
[[nodiscard]] const std::vector<std::string>& order_words();

struct OrderRequest {
    std::string word;
    int ranks = 1, micro_batches = 1;
    int virtual_stages = 1;        ///< of interleaved-1f1b; others have their own
    models::AutoOrder auto_order{};  ///< of zb-auto; in_flight 0: 2 p
};
/// Throws InputError for a word that is none, and for numbers that the order does not have.
[[nodiscard]] PipelineOrder make_order(const OrderRequest& request);

/// Of a resolved plan.
[[nodiscard]] PipelineOrder order_of_plan(const models::Plan& plan);

// The generators, of one rank by where stages lie. They require numbers that their orders have.
/// `lag`: weight gradients follow input gradients by lag * r micro-batches; 1: H1, 2: H2.
[[nodiscard]] std::vector<StagePass> zero_bubble_passes(int rank, int ranks, int micro_batches, int lag);
[[nodiscard]] std::vector<StagePass> zbv_passes(int rank, int ranks, int micro_batches);
/// Slots of a forward pass from rank to rank of the first and the second stage; backward passes move likewise.
struct VBlock {
    int down = 1, up = 1;
};
[[nodiscard]] std::vector<StagePass> v_block_passes(int rank, int ranks, int micro_batches, VBlock block);
[[nodiscard]] std::vector<StagePass> dualpipev_passes(int rank, int ranks, int micro_batches);
/// Micro-batches go both ways: the rank's own stage has the first half of them, its mirror's the second.
[[nodiscard]] std::vector<StagePass> dualpipe_passes(int rank, int ranks, int micro_batches);

/// What ends a pass's hold on its activations: the gradient of its input frees most of them, that of its weights what
/// products read.
enum class HeldUntil : std::uint8_t { kInputGradient, kWeightGradient };
/// By rank, the largest number of passes of one stage that have begun forward and whose backward pass has not got so
/// far.
[[nodiscard]] std::vector<int> passes_in_flight(const PipelineOrder& order, HeldUntil until);

/// Throws InputError under `where` unless every micro-batch passes every stage forward and backward once, the latter
/// whole or in both parts, weights behind inputs on the same rank, and no rank waits for ever.
void check_order(const PipelineOrder& order, const std::string& where);

}  // namespace auspex::schedule
