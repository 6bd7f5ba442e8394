/// @file From what is sharded to keys of the plan.
#include "compare/evaluate/runs/run_sharding.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published/sharding_words.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

std::string optimizer_of(Sharded what, const PublishedRun& run, const RunNames::Framework& framework) {
    if ((what == Sharded::kGradients || what == Sharded::kWeights) && run.plan.pp > 1 &&
        !framework.sharded_with_stages.empty()) {
        return framework.sharded_with_stages;
    }
    switch (what) {
        case Sharded::kUnstated: return framework.optimizer_unstated;
        case Sharded::kNothing: return "replicated";
        case Sharded::kStates: return run.plan.ep > 1 ? framework.sharded_with_experts : "sharded";
        case Sharded::kGradients: return "zero-2";
        case Sharded::kWeights: return "fsdp";
        case Sharded::kUnknown: break;
    }
    refuse(run.id, "zero " + json_quote(run.plan.zero),
           "none, ddp, one that begins with 0, 1, 2 or 3, distributed_optimizer, fsdp, full_shard, shard_grad_op, "
           "hybrid_shard, hsdp or ZeRO++");
}

/// The number behind a word that has `part` in it; 0: there is none.
int number_behind(const std::vector<std::string>& words, std::string_view part) {
    const auto at = std::ranges::find_if(words, [&](const std::string& word) { return has(word, part); });
    return at == words.end() ? 0 : number_from(words, static_cast<std::size_t>(at - words.begin()) + 1).value_or(0);
}

/// Of "HSDP (2, 32)" or "2x32", a mesh of replicas and of ranks that shard, as PyTorch has it, the latter; 0: the words
/// have no such two numbers.
int group_of_mesh(std::string_view words, int data_parallel) {
    std::vector<int> numbers;
    for (const std::string& word : words_in(words)) {
        for (std::size_t begin = 0; begin < word.size();) {
            const std::size_t end = std::min(word.find('x', begin), word.size());
            if (const std::optional<int> number = number_in(std::string_view(word).substr(begin, end - begin))) {
                numbers.push_back(*number);
            }
            begin = end + 1;
        }
    }
    return numbers.size() == 2 && numbers[0] * numbers[1] == data_parallel ? numbers[1] : 0;
}

/// Ranks that shard among themselves where the case says so; 0: it does not say how many.
int stated_group(const PublishedRun& run, int data_parallel) {
    const std::vector<std::string> words = words_in(run.plan.zero);
    if (run.plan.fsdp.value_or(0) > 1) {
        return *run.plan.fsdp;
    }
    if (const int replicas = number_behind(words, "replic"); replicas > 0 && data_parallel % replicas == 0) {
        return data_parallel / replicas;
    }
    if (const int ranks = group_of_mesh(run.plan.zero, data_parallel);
        ranks > 0 && number_behind(words, "shard") == 0) {
        return ranks;
    }
    for (const char* const part : {"shard", "hsdp", "hybrid", "mics"}) {
        if (const int ranks = number_behind(words, part); ranks > 0) {
            return ranks;
        }
    }
    return 0;
}

/// Of the data-parallel ranks of a node; 0: they are no whole groups.
int group_of_node(const PublishedRun& run, int data_parallel) {
    const int inner = run.plan.tp * run.plan.cp;
    const int ranks = run.gpus_per_node % inner == 0 ? run.gpus_per_node / inner : 0;
    return ranks > 0 && data_parallel % ranks == 0 ? ranks : 0;
}

/// Of words that mean a node's GPUs.
void require_node(const PublishedRun& run) {
    if (run.gpus_per_node < 1) {
        refuse(run.id, "zero " + json_quote(run.plan.zero) + ", which is over the GPUs of a node, and no such number",
               "hardware.gpus_per_node, or the number of ranks behind the word");
    }
}

void set_replicas(const PublishedRun& run, DataParallel ranks, RunSharding& sharding) {
    const bool is_of_words = is_hybrid(lower_case(run.plan.zero));
    if (!is_of_words && run.plan.fsdp.value_or(0) <= 1) {
        return;
    }
    const int stated = stated_group(run, ranks.dense);
    if (stated == 0) {
        require_node(run);
    }
    const int group = stated > 0 ? stated : group_of_node(run, ranks.dense);
    if (group >= ranks.dense) {
        return;
    }
    if (group < 1 || ranks.dense % group != 0 || ranks.expert % (ranks.dense / group) != 0) {
        refuse(run.id,
               (is_of_words ? "zero " + json_quote(run.plan.zero) : "fsdp " + std::to_string(*run.plan.fsdp)) +
                   " with " + std::to_string(ranks.dense) + " data-parallel ranks",
               "whole groups of them, and as many replicas of experts or a multiple");
    }
    sharding.replicas = ranks.dense / group;
    sharding.notes.push_back("weights are sharded over " + std::to_string(group) + " ranks, " +
                             std::to_string(sharding.replicas) + " times" +
                             (stated > 0 ? "" : ": the GPUs of a node are assumed"));
}

void set_second_copy(const PublishedRun& run, DataParallel ranks, RunSharding& sharding) {
    const std::string zero = zero_words(run.plan.zero);
    if (!has_second_copy(zero)) {
        return;
    }
    if (zero.starts_with("++") && !has(zero, "hpz")) {
        sharding.notes.emplace_back("ZeRO++ is taken as hpZ: its narrow weights and gradients are left out");
    }
    const int stated = number_behind(words_in(zero), "hpz");
    if (stated == 0) {
        require_node(run);
    }
    const int group = stated > 0 ? stated : run.gpus_per_node;
    if (group > 1 && ranks.dense % group == 0) {
        sharding.reshard_ranks = group;
    } else {
        sharding.notes.emplace_back("hpZ is left out: nodes do not divide the data-parallel ranks");
    }
}

}  // namespace

RunSharding sharding_of(const PublishedRun& run, const RunNames::Framework& framework, DataParallel ranks) {
    const std::string zero = zero_words(run.plan.zero);
    if (says(zero, "offload") || has(zero, "infinity")) {
        refuse(run.id, "zero " + json_quote(run.plan.zero),
               "states on the GPUs: those in host memory are not modelled");
    }
    if (contradicts_fsdp(run)) {
        refuse(run.id, "zero " + json_quote(run.plan.zero) + " beside fsdp " + std::to_string(*run.plan.fsdp),
               "two that say the same, or one of them: weights are sharded, or they are not");
    }
    RunSharding sharding;
    const Sharded stated = sharded_of(run), what = run.plan.shards_states ? Sharded::kStates : stated;
    sharding.optimizer = optimizer_of(what, run, framework);
    const bool are_weights = what == Sharded::kWeights && sharding.optimizer != "fsdp";
    if (are_weights || (what == Sharded::kGradients && sharding.optimizer != "zero-2")) {
        sharding.notes.push_back("sharded " + std::string(are_weights ? "weights" : "gradients") + " with pp " +
                                 std::to_string(run.plan.pp) + " are taken as " + sharding.optimizer +
                                 ", as the framework is used: " +
                                 (are_weights ? "they stay gathered" : "they are summed behind the last micro-batch"));
    }
    if (stated == Sharded::kUnstated) {
        sharding.notes.push_back("optimizer " + sharding.optimizer + " is assumed" +
                                 (run.plan.shards_states ? ": whole states have no room with nothing recomputed" : ""));
    }
    if (sharding.optimizer == "fsdp" || sharding.optimizer == "zero-2" || sharding.optimizer == "ep-aware") {
        set_replicas(run, ranks, sharding);
    }
    if (sharding.optimizer == "fsdp" && run.plan.pp > 1) {
        sharding.notes.push_back("sharded weights with pp " + std::to_string(run.plan.pp) +
                                 " are gathered, and their gradients summed, in every micro-batch");
    }
    if (sharding.optimizer == "fsdp") {
        set_second_copy(run, ranks, sharding);
        sharding.keeps_weights = sharding.reshard_ranks == 0 && keeps_weights(zero);
    }
    return sharding;
}

}  // namespace auspex::evaluate
