/// @file Words of orders, and what their numbers have to be.
#include "schedule/orders/orders.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/text/closest_word.hpp"

namespace auspex::schedule {
namespace {

/// The flag of a number of plans.
std::string flag_of(const std::string& field) {
    return field == "pp" ? "--pp" : field == "micro_batches" ? "--micro-batches" : "--virtual-stages";
}

PipelineOrder make_order_of(models::ScheduleKind kind, const OrderRequest& request) {
    models::Plan plan;
    plan.schedule = kind;
    plan.pp = request.ranks, plan.micro_batches = request.micro_batches;
    plan.auto_order = request.auto_order;
    if (kind == models::ScheduleKind::kDualPipeV || kind == models::ScheduleKind::kDualPipe) {
        plan.ep = 2, plan.overlap_ep = true;  // pairs are told, whatever they would hide
    }
    const bool has_own = is_v_shaped(kind) && request.virtual_stages == 1;
    plan.virtual_stages = has_own ? 2 : request.virtual_stages;
    const models::PlanMisfit misfit = misfit_of(kind, {plan.pp, plan.micro_batches, plan.virtual_stages});
    const bool needs_ranks = has_stages_twice(kind);  // given times play the stages of others on one rank, too
    if (!misfit.field.empty() && (needs_ranks || misfit.field != "pp")) {
        throw InputError(flag_of(misfit.field), misfit.why);
    }
    return order_of_plan(plan);
}

}  // namespace

const std::vector<std::string>& order_words() {
    static const std::vector<std::string> kWords = [] {
        std::vector<std::string> words;
        for (const models::ScheduleKind kind : models::kScheduleKinds) {
            words.emplace_back(to_string(kind));
        }
        return words;
    }();
    return kWords;
}

PipelineOrder make_order(const OrderRequest& request) {
    const auto* const kind = std::ranges::find(models::kScheduleKinds, request.word,
                                               [](models::ScheduleKind one) { return std::string(to_string(one)); });
    if (kind == models::kScheduleKinds.end()) {
        std::string words;
        for (const std::string& word : order_words()) {
            words += (words.empty() ? "" : ", ") + word;
        }
        throw InputError("--order", "found \"" + printable(request.word) +
                                        "\"; expected a file of passes (.csv) or one of " + words +
                                        did_you_mean(request.word, order_words()));
    }
    return make_order_of(*kind, request);
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
