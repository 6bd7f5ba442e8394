/// @file A space for each field, in which all others are fixed.
#include "sim/search/advice/plan_changes.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/json.hpp"
#include "base/text/text_list.hpp"
#include "models/kernel_cost.hpp"
#include "models/overlap.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {
namespace {

using Field = const char*;

/// What a space may vary. A schedule and its virtual stages are one choice: neither has others by itself.
constexpr std::array<Field, 16> kFields{"schedule",
                                        "virtual_stages",
                                        "pp",
                                        "tp",
                                        "etp",
                                        "ep",
                                        "cp",
                                        "stages",
                                        "micro_batch_size",
                                        "optimizer",
                                        "dispatch",
                                        "expert_kernels",
                                        "recompute",
                                        "overlap",
                                        "sequence_parallel",
                                        "rank_order"};
constexpr std::size_t kOfSchedule = 2;

std::vector<std::string> all_but(std::span<const Field> free) {
    std::vector<std::string> fixed;
    for (const Field field : kFields) {
        if (std::ranges::find(free, field) == free.end()) {
            fixed.emplace_back(field);
        }
    }
    return fixed;
}

std::string what_stack_lacks(const models::Plan& plan, const models::Plan& base, const models::Inputs& inputs) {
    const models::Stack& stack = inputs.stack;
    std::string lacking;
    const auto add = [&](const std::string& what) { lacking += (lacking.empty() ? "" : ", ") + what; };
    const auto check = [&](const char* field, const std::vector<std::string>& offered, const std::string& word,
                           const std::string& before) {
        if (word != before && std::ranges::find(offered, word) == offered.end()) {
            add(std::string(field) + " \"" + word + "\"");
        }
    };
    check("optimizer", stack.offers_optimizers, to_string(plan.optimizer), to_string(base.optimizer));
    check("schedule", stack.offers_schedules, to_string(plan.schedule), to_string(base.schedule));
    check("dispatch", stack.offers_dispatches, to_string(plan.dispatch), to_string(base.dispatch));
    check("expert_kernels", stack.offers_expert_kernels, to_string(plan.expert_kernels),
          to_string(base.expert_kernels));
    if (plan.fp8 != models::Fp8::kNone) {
        check("fp8", stack.offers_fp8, to_string(plan.fp8), to_string(base.fp8));
    }
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        if (plan.*stream.is_wanted && !(stack.*stream.can)) {
            add("overlap \"" + std::string(stream.word) + "\"");
        }
    }
    return lacking;
}

void add_of_space(std::vector<PlanChange>& changes, const models::Inputs& inputs, const models::Inputs& allowing,
                  SpaceRequest request) {
    const auto plans_of = [&](std::span<const Field> free) {
        request.fixed = all_but(free);
        const PlanSpace space(allowing, request);
        std::vector<Candidate> plans;
        for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
            std::ranges::copy(space.plans_of(shape), std::back_inserter(plans));
        }
        return plans;
    };
    const std::vector<Candidate> own = plans_of({});
    for (std::size_t i = kOfSchedule - 1; i < kFields.size(); ++i) {
        const bool is_schedule = i < kOfSchedule;
        const std::span<const Field> free =
            is_schedule ? std::span(kFields).first(kOfSchedule) : std::span(kFields).subspan(i, 1);
        for (const Candidate& candidate : plans_of(free)) {
            if (std::ranges::find(own, candidate) == own.end()) {
                models::Plan plan = plan_of(candidate, inputs.plan);
                std::string lacking = what_stack_lacks(plan, inputs.plan, inputs);
                changes.push_back({free.front(), std::move(plan), std::move(lacking), false, candidate});
            }
        }
    }
}

void add_placements(std::vector<PlanChange>& changes, const models::Plan& base) {
    for (const models::PlacementKind kind : {models::PlacementKind::kContiguous, models::PlacementKind::kScattered}) {
        if (kind != base.placement) {
            PlanChange& change = changes.emplace_back(PlanChange{"placement", base});
            change.plan.placement = kind;
            change.plan.placement_nodes.clear();
        }
    }
}

/// Bytes of weights and gradients follow from the words as the loader has it.
void add_precisions(std::vector<PlanChange>& changes, const models::Inputs& inputs) {
    for (const char* field : {"precision", "gradient_dtype"}) {
        for (const char* word : {"bf16", "fp32"}) {
            JsonDocument document = inputs.plan_document;
            document.set("fp8", "none");
            document.set("fp8_weights", "copies");
            document.set("optimizer_states", "fp32");
            document.set(field, word);
            const models::Plan loaded = models::load_plan(document);
            PlanChange change{field, inputs.plan};
            change.changes_results = true;
            change.plan.precision = loaded.precision;
            const bool is_bf16 = loaded.weight_bytes == 2;
            change.plan.fp8 = is_bf16 ? inputs.plan.fp8 : models::Fp8::kNone;
            change.plan.fp8_weights_only = is_bf16 && inputs.plan.fp8_weights_only;
            change.plan.bf16_states = is_bf16 && inputs.plan.bf16_states;
            change.plan.weight_bytes = loaded.weight_bytes;
            change.plan.gradient_bytes = loaded.gradient_bytes;
            if (change.plan.precision != inputs.plan.precision ||
                change.plan.gradient_bytes != inputs.plan.gradient_bytes) {
                changes.push_back(std::move(change));
            }
        }
    }
}

/// Operands of products with weights in fewer bits where the tile has a rate of them, or as wide as the weights.
void add_operands(std::vector<PlanChange>& changes, const models::Inputs& inputs) {
    const models::Plan& base = inputs.plan;
    for (std::size_t word = 0; word < models::kFp8Words.size(); ++word) {
        const auto fp8 = static_cast<models::Fp8>(word);
        const bool is_narrow = fp8 != models::Fp8::kNone;
        const bool has_rate = gemm_rate(inputs.machine.tile, models::operands_of(fp8)) > 0;
        const bool can_be = !is_narrow || (has_rate && base.precision == "bf16");
        if (fp8 != base.fp8 && can_be) {
            PlanChange change{"fp8", base};
            change.changes_results = true;
            change.plan.fp8 = fp8;
            change.plan.fp8_weights_only = is_narrow && base.fp8_weights_only;
            change.lacking = what_stack_lacks(change.plan, base, inputs);
            changes.push_back(std::move(change));
        }
    }
}

/// Of what is refused of a plan with `changed`, that which was not before. Of a field that is as it was, it may be
/// found in other words: `optimizer "sharded" with ep 4`, and with ep 2.
std::string what_is_new(const std::vector<std::string>& refused, const std::vector<std::string>& before,
                        const std::string& changed) {
    const auto field_of = [](const std::string& text) { return text.substr(0, text.find(' ')); };
    std::vector<std::string> fresh;
    for (const std::string& fault : refused) {
        const auto is_known = [&](const std::string& one) {
            return one == fault || (field_of(one) == field_of(fault) && field_of(one) != changed);
        };
        if (std::ranges::none_of(before, is_known)) {
            fresh.push_back(fault);
        }
    }
    return joined(fresh, ", ");
}

void add_refusals(std::vector<PlanChange>& changes, const models::Inputs& inputs, const PlanFilter& filter) {
    const auto refused = [&](const models::Plan& plan) {
        return filter.refuses(inputs.machine, inputs.workload, resolve_plan(plan, inputs.workload, 0));
    };
    const std::vector<std::string> own = refused(inputs.plan);
    for (PlanChange& change : changes) {
        if (change.lacking.empty()) {
            change.refused = what_is_new(refused(change.plan), own, change.field);
        }
    }
}

}  // namespace

models::Stack overlapping(models::Stack stack) {
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        stack.*stream.can = true;
    }
    return stack;
}

std::vector<PlanChange> plan_changes(const models::Inputs& inputs, int tiles, int global_batch,
                                     const PlanFilter& filter) {
    models::Inputs allowing = inputs;
    allowing.stack = overlapping(inputs.stack);
    std::vector<PlanChange> changes;
    add_of_space(
        changes, inputs, allowing,
        {.tiles = tiles, .global_batch = global_batch, .where = {}, .fixed = {}, .what_if = true, .filter = {}});
    add_placements(changes, inputs.plan);
    add_precisions(changes, inputs);
    add_operands(changes, inputs);
    if (!filter.name.empty()) {
        add_refusals(changes, inputs, filter);
    }
    return changes;
}

}  // namespace auspex::search
