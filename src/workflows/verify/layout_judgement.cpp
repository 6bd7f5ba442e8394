/// @file Differences, as entries of a layout's check.
#include "workflows/verify/layout_judgement.hpp"

#include <span>
#include <tuple>
#include <utility>

#include "workflows/verify/differences.hpp"

namespace auspex::workflows {
namespace {

void keep_first(std::string& found, std::string difference, const char* mode) {
    if (found.empty() && !difference.empty()) {
        found = std::move(difference) + " (" + mode + ")";
    }
}

/// Everything but how the optimizer is sharded.
auto all_but_optimizer(const VerifyLayout& l) {
    return std::make_tuple(l.model, l.dp, l.ep, l.tp, l.pp, l.virtual_stages, l.sequence_parallel, l.micro_batch_size,
                           std::string(l.schedule), std::vector<std::string>(l.recompute.begin(), l.recompute.end()),
                           l.expert_tp(), l.cp, std::string(l.context), std::string(l.dispatch), std::string(l.kernels),
                           std::vector<std::string>(l.overlap.begin(), l.overlap.end()));
}

}  // namespace

void judge_forced(const launch::TrainResult& run, const launch::TrainResult& single, report::LayoutCheck& check) {
    check.forced = largest_difference(run.losses(), single.losses());
    check.norm = largest_difference(run.by_step(&exec::StepReport::gradient_norm),
                                    single.by_step(&exec::StepReport::gradient_norm));
}

void judge_learned(const launch::TrainResult& run, const models::RoutingRecord& record,
                   const launch::TrainResult& single, const models::RoutingRecord& single_record,
                   report::LayoutCheck& check) {
    const std::optional<ChoicePosition> first = first_differing_choice(record, single_record);
    const std::vector<double> losses = run.losses(), of_single = single.losses();
    std::size_t alike = of_single.size();
    check.first_choice = "none";
    if (first) {
        check.first_step = first->step;
        alike = static_cast<std::size_t>(first->step);
        check.first_choice = "step " + std::to_string(first->step) + ", layer " + std::to_string(first->layer) +
                             ", token " + std::to_string(first->token);
    }
    check.learned = losses.size() == of_single.size()
                        ? largest_difference(std::span(losses).first(alike), std::span(of_single).first(alike))
                        : largest_difference(losses, of_single);
}

void judge_replayed(const launch::TrainResult& run, const launch::TrainResult& single, report::LayoutCheck& check) {
    check.replayed = largest_difference(run.losses(), single.losses());
}

void judge_bytes(const exec::RunInputs& inputs, const launch::TrainResult& run, const models::RoutingRecord* routing,
                 const char* mode, report::LayoutCheck& check) {
    keep_first(check.memory, memory_difference(inputs, run, routing), mode);
    keep_first(check.counts, counts_difference(inputs, run), mode);
}

std::vector<report::OptimizerCheck> plain_and_ep_aware(const std::vector<ShardedLayout>& layouts) {
    for (const ShardedLayout& plain : layouts) {
        for (const ShardedLayout& aware : layouts) {
            if (plain.check.sharding == "sharded" && aware.check.sharding == "ep-aware" && plain.layout.ep > 1 &&
                all_but_optimizer(plain.layout) == all_but_optimizer(aware.layout)) {
                return {plain.check, aware.check};
            }
        }
    }
    return {};
}

}  // namespace auspex::workflows
