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

bool has_room(const models::RoutingRecord& record, int step, int moe_layer, std::span<const std::int64_t> tokens) {
    return step >= record.first_step && step < record.first_step + record.steps && moe_layer < record.layers &&
           std::ranges::all_of(tokens, [&](std::int64_t token) {
               return token < record.tokens &&
                      choice_index(record, step, moe_layer, token + 1) <= record.choices.size();
           });
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

void forced_choices(const RoutingSource& source, int step, int moe_layer, std::span<const std::int64_t> tokens,
                    int num_experts, int top_k, std::span<std::int64_t> choices) {
    record_call("dictated_choices", tokens.size(), static_cast<std::size_t>(num_experts),
                static_cast<std::size_t>(top_k));
    auto out = choices.begin();
    if (source.mode == RoutingMode::kUniform) {
        for (const std::int64_t token : tokens) {
            for (int j = 0; j < top_k; ++j) {
                *out++ = (token * top_k + j) % num_experts;
            }
        }
    } else if (source.mode == RoutingMode::kReplayed) {
        const models::RoutingRecord& record = *source.replay;
        if (record.top_k != top_k || record.num_experts != num_experts || !has_room(record, step, moe_layer, tokens)) {
            refuse_replay(record, step, moe_layer, num_experts, top_k);
        }
        for (const std::int64_t token : tokens) {
            const auto begin = static_cast<std::ptrdiff_t>(choice_index(record, step, moe_layer, token));
            out = std::copy_n(record.choices.begin() + begin, top_k, out);
        }
    }
}

void record_choices(const RoutingSource& source, int step, int moe_layer, std::span<const std::int64_t> tokens,
                    int top_k, std::span<const std::int64_t> choices) {
    if (source.record == nullptr) {
        return;
    }
    models::RoutingRecord& record = *source.record;
    AUSPEX_CHECK(record.top_k == top_k && has_room(record, step, moe_layer, tokens),
                 "the record is made for all tokens of the run");
    auto chosen = choices.begin();
    for (const std::int64_t token : tokens) {
        const auto to = static_cast<std::ptrdiff_t>(choice_index(record, step, moe_layer, token));
        for (int j = 0; j < top_k; ++j) {
            record.choices[static_cast<std::size_t>(to + j)] = static_cast<std::uint16_t>(*chosen++);
        }
    }
}

}  // namespace auspex::exec
