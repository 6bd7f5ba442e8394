/// @file Which of ZeRO's stages words mean.
#include "compare/evaluate/published/sharding_words.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/input_text.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {

std::string zero_words(std::string_view said) {
    std::string words = lower_case(said);
    const std::string_view names[] = {"deepspeed", "megatron", "pytorch", "zero", "stage"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (words.starts_with(names[i]) && words != names[i]) {
            words.erase(0, names[i].size());
            words.erase(0, words.find_first_not_of(" -_=(:"));
            i = static_cast<std::size_t>(-1);  // names may follow one another
        }
    }
    const bool is_short = words.size() > 1 && words[0] == 'z' && words[1] >= '0' && words[1] <= '9';
    return is_short ? words.substr(1) : words;
}

bool is_hybrid(std::string_view zero) { return has(zero, "hsdp") || has(zero, "hybrid") || has(zero, "mics"); }
bool has_second_copy(std::string_view zero) {
    return has(zero, "hierarchical") || has(zero, "hpz") || zero.starts_with("++");
}
bool keeps_weights(std::string_view zero) {
    return has(zero, "shard_grad_op") || has(zero, "shard grad op") || has(zero, "shard-grad-op");
}

namespace {

bool says_nothing_sharded(std::string_view zero) {
    const std::vector<std::string> words = words_in(zero);
    return has(zero, "no_shard") || (!words.empty() && is_denial(words.front()));
}
bool says_data_parallel_alone(std::string_view zero) {
    const std::vector<std::string> words = words_in(zero);
    return has(zero, "data parallel") ||
           (!words.empty() && is_one_of(words.front(), {"ddp", "dp", "data_parallel", "replicated", "replicate"}));
}

/// ZeRO's stage N, which "2D FSDP + TP", "10" and "1-bit Adam" do not say.
bool is_stage(const std::vector<std::string>& words, std::string_view stage) {
    return !words.empty() && words.front() == stage && (words.size() == 1 || words[1] != "bit");
}

/// What follows the comma of "not FSDP, distributed optimizer"; empty: nothing does.
std::string behind_denial(const std::string& zero) {
    const std::vector<std::string> words = words_in(zero);
    const std::size_t comma = zero.find_first_of(",;");
    return words.size() > 2 && is_denial(words.front()) && comma != std::string::npos
               ? zero_words(zero.substr(std::min(zero.size(), zero.find_first_not_of(",; ", comma))))
               : "";
}

bool says_states_sharded(std::string_view zero) {
    return (has(zero, "dist") && has(zero, "opt")) || (has(zero, "optimizer") && has(zero, "shard")) ||
           zero.starts_with("os ");
}

Sharded sharded_by(const std::string& zero) {
    if (is_unstated(zero)) {
        return Sharded::kUnstated;
    }
    if (const std::string rest = behind_denial(zero); !rest.empty()) {
        return sharded_by(rest);
    }
    if (says_nothing_sharded(zero)) {
        return Sharded::kNothing;
    }
    const std::vector<std::string> words = words_in(zero);
    if (keeps_weights(zero)) {
        return Sharded::kWeights;
    }
    if (is_stage(words, "2") || has(zero, "zero2")) {
        return Sharded::kGradients;
    }
    if (is_stage(words, "1")) {
        return Sharded::kStates;
    }
    if (is_stage(words, "3") || says(zero, "fsdp") || has(zero, "full_shard") || has(zero, "full shard") ||
        has(zero, "full-shard") || has(zero, "fully-shard") || has(zero, "fully shard") || has(zero, "fully_shard") ||
        is_hybrid(zero) || has_second_copy(zero)) {
        return Sharded::kWeights;
    }
    if (says_states_sharded(zero)) {
        return denies(zero, "optimizer") ? Sharded::kNothing : Sharded::kStates;
    }
    return Sharded::kUnknown;
}

}  // namespace

namespace {

Sharded sharded_by_zero(const PublishedRun& run) {
    const std::string said = lower_case(run.plan.zero), zero = zero_words(said);
    Sharded sharded = sharded_by(zero);
    if (const std::size_t at = said.find("zero"); sharded == Sharded::kUnknown && at != std::string::npos && at > 0) {
        sharded = sharded_by(zero_words(said.substr(at)));
    }
    return sharded == Sharded::kUnknown && says_data_parallel_alone(zero) ? Sharded::kNothing : sharded;
}

}  // namespace

Sharded sharded_of(const PublishedRun& run) {
    return run.plan.fsdp.value_or(0) > 0 ? Sharded::kWeights : sharded_by_zero(run);
}

bool contradicts_fsdp(const PublishedRun& run) {
    const Sharded zero = sharded_by_zero(run);
    if (!run.plan.fsdp || zero == Sharded::kUnstated || zero == Sharded::kUnknown) {
        return false;
    }
    return (*run.plan.fsdp > 0) != (zero == Sharded::kWeights);
}

bool may_shard_weights(const PublishedRun& run) {
    const Sharded sharded = sharded_of(run);
    return sharded == Sharded::kWeights || sharded == Sharded::kUnstated;
}

bool shards_over_all(const PublishedRun& run) {
    const std::string zero = lower_case(run.plan.zero);
    return sharded_of(run) == Sharded::kWeights && !is_hybrid(zero) && !has_second_copy(zero) &&
           run.plan.fsdp.value_or(1) <= 1;
}

}  // namespace auspex::evaluate
