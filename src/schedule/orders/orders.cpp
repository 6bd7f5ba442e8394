/// @file Words of orders, and what their numbers have to be.
#include "schedule/orders/orders.hpp"

#include <algorithm>
#include <array>

#include "base/closest_word.hpp"
#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex::schedule {
namespace {

struct NamedOrder {
    const char* word;
    PipelineOrder (*make)(const OrderRequest& request);
    int (*least_micro_batches)(int ranks) = [](int) { return 1; };
    bool is_of_pairs = false;  ///< an even number of ranks, and of micro-batches
};

/// A schedule that plans have, too.
PipelineOrder order_of_schedule(const OrderRequest& request, models::ScheduleKind schedule) {
    models::Plan plan;
    plan.schedule = schedule;
    plan.pp = request.ranks;
    plan.micro_batches = request.micro_batches;
    plan.virtual_stages = request.virtual_stages;
    return order_of_plan(plan);
}

constexpr auto kTwice = [](int ranks) { return 2 * ranks; };

const std::array kOrders{
    NamedOrder{"gpipe", [](const OrderRequest& r) { return order_of_schedule(r, models::ScheduleKind::kGpipe); }},
    NamedOrder{"1f1b", [](const OrderRequest& r) { return order_of_schedule(r, models::ScheduleKind::k1f1b); }},
    NamedOrder{"interleaved-1f1b",
               [](const OrderRequest& r) { return order_of_schedule(r, models::ScheduleKind::kInterleaved1f1b); }},
    NamedOrder{"zb-h1", [](const OrderRequest& r) { return zero_bubble_order(r.ranks, r.micro_batches, 1); }},
    NamedOrder{"zb-h2", [](const OrderRequest& r) { return zero_bubble_order(r.ranks, r.micro_batches, 2); }},
    NamedOrder{"zbv", [](const OrderRequest& r) { return zbv_order(r.ranks, r.micro_batches); },
               [](int ranks) { return 2 * ranks - 1; }},
    NamedOrder{"v-half",
               [](const OrderRequest& r) {
                   return v_block_order(r.ranks, r.micro_batches, {2, 1});
               }},
    NamedOrder{"v-min",
               [](const OrderRequest& r) {
                   return v_block_order(r.ranks, r.micro_batches, {1, 1});
               }},
    NamedOrder{"dualpipe", [](const OrderRequest& r) { return dualpipe_order(r.ranks, r.micro_batches); }, kTwice,
               true},
    NamedOrder{"dualpipev", [](const OrderRequest& r) { return dualpipev_order(r.ranks, r.micro_batches); }, kTwice}};

void check_virtual_stages(const OrderRequest& request) {
    const bool is_interleaved = request.word == "interleaved-1f1b";
    if (is_interleaved && request.virtual_stages < 2) {
        throw InputError("--virtual-stages", "found " + std::to_string(request.virtual_stages) +
                                                 "; expected at least 2 with interleaved-1f1b");
    }
    if (is_interleaved && request.micro_batches % request.ranks != 0) {
        throw InputError("--micro-batches", "found " + std::to_string(request.micro_batches) +
                                                "; expected a multiple of --pp " + std::to_string(request.ranks) +
                                                " with interleaved-1f1b");
    }
    if (!is_interleaved && request.virtual_stages > 1) {
        throw InputError("--virtual-stages", "found with " + request.word +
                                                 ", which has its own number of stages a rank; expected it with "
                                                 "interleaved-1f1b alone");
    }
}

}  // namespace

const std::vector<std::string>& order_words() {
    static const std::vector<std::string> kWords = [] {
        std::vector<std::string> words;
        std::ranges::transform(kOrders, std::back_inserter(words), &NamedOrder::word);
        return words;
    }();
    return kWords;
}

PipelineOrder make_order(const OrderRequest& request) {
    const auto named =
        std::ranges::find(kOrders, request.word, [](const NamedOrder& one) { return std::string(one.word); });
    if (named == kOrders.end()) {
        std::string words;
        for (const std::string& word : order_words()) {
            words += (words.empty() ? "" : ", ") + word;
        }
        throw InputError("--order", "found \"" + printable(request.word) +
                                        "\"; expected a file of passes (.csv) or one of " + words +
                                        did_you_mean(request.word, order_words()));
    }
    check_virtual_stages(request);
    const int least = named->least_micro_batches(request.ranks);
    if (request.micro_batches < least) {
        throw InputError("--micro-batches", "found " + std::to_string(request.micro_batches) + "; expected at least " +
                                                std::to_string(least) + " for " + request.word + " on " +
                                                std::to_string(request.ranks) + " ranks");
    }
    if (named->is_of_pairs && request.ranks % 2 != 0) {
        throw InputError("--pp",
                         "found " + std::to_string(request.ranks) + "; expected an even number with " + request.word);
    }
    if (named->is_of_pairs && request.micro_batches % 2 != 0) {
        throw InputError("--micro-batches", "found " + std::to_string(request.micro_batches) +
                                                "; expected an even number with " + request.word);
    }
    return named->make(request);
}

std::vector<int> passes_in_flight(const PipelineOrder& order, HeldUntil until) {
    const PassKind part = until == HeldUntil::kInputGradient ? PassKind::kBackwardInput : PassKind::kBackwardWeight;
    std::vector<int> most;
    for (const std::vector<StagePass>& passes : order.ranks) {
        int held = 0, peak = 0;
        for (const StagePass& pass : passes) {
            held += pass.kind == PassKind::kForward ? 1 : 0;
            peak = std::max(peak, held);
            held -= pass.kind == PassKind::kBackward || pass.kind == part ? 1 : 0;
        }
        most.push_back(peak);
    }
    return most;
}

}  // namespace auspex::schedule
