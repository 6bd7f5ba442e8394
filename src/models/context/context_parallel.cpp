/// @file Splits of a context-parallel group, and what they ask of a model.
#include "models/context/context_parallel.hpp"

namespace auspex::models {

const char* to_string(ContextParallel kind) { return kContextParallelWords.at(static_cast<std::size_t>(kind)).data(); }

ContextSplit context_split(ContextParallel kind, int cp, int all_to_all) {
    switch (kind) {
        case ContextParallel::kAllGather: break;
        case ContextParallel::kRing: return {1, cp};
        case ContextParallel::kAllToAll: return {cp, 1};
        case ContextParallel::kTwoLevel: return {all_to_all, cp / all_to_all};
        case ContextParallel::kWindows: return {all_to_all, 1, cp / all_to_all};
    }
    return {};
}

double key_value_copies(int kv_heads, int all_to_all) {
    return all_to_all > kv_heads ? static_cast<double>(all_to_all) / kv_heads : 1;
}

PlanMisfit context_misfit(ContextParallel kind, int cp, int all_to_all, int heads, int kv_heads, int sequence_length) {
    const auto text = [](int number) { return std::to_string(number); };
    if (cp == 1) {
        return {};
    }
    if (kind == ContextParallel::kTwoLevel && (all_to_all < 2 || all_to_all >= cp || cp % all_to_all != 0)) {
        return {"context_all_to_all", "found " + text(all_to_all) + "; expected a divisor of cp " + text(cp) +
                                          ", above 1 and below cp, with \"context_parallel\": \"two-level\""};
    }
    if (kind == ContextParallel::kWindows && (all_to_all < 1 || cp % all_to_all != 0)) {
        return {"context_all_to_all", "found " + text(all_to_all) + "; expected a divisor of cp " + text(cp) +
                                          " with \"context_parallel\": \"windows\""};
    }
    const ContextSplit split = context_split(kind, cp, all_to_all);
    if (heads % split.all_to_all != 0) {
        return {"cp", "found an all-to-all over " + text(split.all_to_all) + " ranks of the " + text(heads) +
                          " heads of a rank; expected a divisor of them"};
    }
    if (kv_heads % split.all_to_all != 0 && split.all_to_all % kv_heads != 0) {
        return {"cp", "found an all-to-all over " + text(split.all_to_all) + " ranks of the " + text(kv_heads) +
                          " kv_heads of a rank; expected a divisor or a multiple of them"};
    }
    if (split.ring > 1 && sequence_length % (2 * cp) != 0) {
        return {"cp", "found " + text(cp) + " with a ring over a sequence of " + text(sequence_length) +
                          " tokens; expected 2 cp to divide it: a rank has a part from each end"};
    }
    return {};
}

}  // namespace auspex::models
