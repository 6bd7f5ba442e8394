/// @file Choices that a pattern or a record dictates, and the record being made.
#include "exec/state/routing_source.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

/// Index of a token's first choice.
std::size_t choice_index(const models::RoutingRecord& record, int step, int moe_layer, std::int64_t token) {
    const auto layer = static_cast<std::int64_t>(step - record.first_step) * record.layers + moe_layer;
    return static_cast<std::size_t>((layer * record.tokens + token) * record.top_k);
}

bool has_room(const models::RoutingRecord& record, int step, int moe_layer, std::int64_t token, std::size_t choices) {
    return step >= record.first_step && step < record.first_step + record.steps && moe_layer < record.layers &&
           token * record.top_k + static_cast<std::int64_t>(choices) <= std::int64_t{record.tokens} * record.top_k &&
           choice_index(record, step, moe_layer, token) + choices <= record.choices.size();
}

std::string text_of(std::int64_t number) { return std::to_string(number); }

[[noreturn]] void refuse_replay(const models::RoutingRecord& record, int step, int moe_layer, int num_experts,
                                int top_k) {
    throw InputError("replayed routing", "found a record of steps " + text_of(record.first_step) + " to " +
                                             text_of(record.first_step + record.steps - 1) + ", " +
                                             text_of(record.layers) + " layers, top_k " + text_of(record.top_k) +
                                             " of " + text_of(record.num_experts) + " and " + text_of(record.tokens) +
                                             " tokens a step; expected step " + text_of(step) + ", layer " +
                                             text_of(moe_layer) + ", top_k " + text_of(top_k) + " of " +
                                             text_of(num_experts) + " and all tokens of the batch");
}

}  // namespace

void forced_choices(const RoutingSource& source, int step, int moe_layer, std::int64_t first_token, int num_experts,
                    int top_k, std::span<std::int64_t> choices) {
    record_call("dictated_choices", choices.size() / static_cast<std::size_t>(top_k),
                static_cast<std::size_t>(num_experts), static_cast<std::size_t>(top_k));
    if (source.mode == RoutingMode::kUniform) {
        const std::int64_t first = first_token * top_k;
        for (std::size_t i = 0; i < choices.size(); ++i) {
            choices[i] = (first + static_cast<std::int64_t>(i)) % num_experts;
        }
    } else if (source.mode == RoutingMode::kReplayed) {
        const models::RoutingRecord& record = *source.replay;
        if (record.top_k != top_k || record.num_experts != num_experts ||
            !has_room(record, step, moe_layer, first_token, choices.size())) {
            refuse_replay(record, step, moe_layer, num_experts, top_k);
        }
        const auto begin = static_cast<std::ptrdiff_t>(choice_index(record, step, moe_layer, first_token));
        std::copy_n(record.choices.begin() + begin, choices.size(), choices.begin());
    }
}

void record_choices(const RoutingSource& source, int step, int moe_layer, std::int64_t first_token, int top_k,
                    std::span<const std::int64_t> choices) {
    if (source.record == nullptr) {
        return;
    }
    models::RoutingRecord& record = *source.record;
    AUSPEX_CHECK(record.top_k == top_k && has_room(record, step, moe_layer, first_token, choices.size()),
                 "the record is made for all tokens of the run");
    const auto begin = static_cast<std::ptrdiff_t>(choice_index(record, step, moe_layer, first_token));
    std::ranges::transform(choices, record.choices.begin() + begin,
                           [](std::int64_t expert) { return static_cast<std::uint16_t>(expert); });
}

}  // namespace auspex::exec
