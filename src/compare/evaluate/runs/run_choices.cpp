/// @file Sizes of micro-batches, and what is recomputed.
#include "compare/evaluate/runs/run_choices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compare/evaluate/published/sharding_words.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"

namespace auspex::evaluate {
namespace {

int sequences_of_rank(const PublishedRun& run) {
    const int replica = run.plan.pp * run.plan.tp * run.plan.cp;
    return run.gpus >= replica ? run.plan.global_batch / (run.gpus / replica) : 1;
}

/// The size that the number of a step's micro-batches asks for, where it is another one than the case has: one of the
/// two numbers is wrong. 0: they agree, or the number divides nothing.
int other_size(const PublishedRun& run) {
    const int sequences = sequences_of_rank(run), steps = run.plan.accumulation;
    const bool divides = steps > 0 && sequences % steps == 0;
    return run.plan.micro_batch > 0 && divides && sequences / steps != run.plan.micro_batch ? sequences / steps : 0;
}

std::vector<int> micro_batch_sizes(const PublishedRun& run, const RunNames::Framework& framework) {
    const PublishedRun::Plan& plan = run.plan;
    if (plan.micro_batch > 0) {
        const int other = other_size(run);
        return other > 0 ? std::vector<int>{plan.micro_batch, other} : std::vector<int>{plan.micro_batch};
    }
    const int sequences = sequences_of_rank(run);
    if (framework.micro_batch_per_stage && plan.pp > 1) {
        return {std::max(1, sequences / plan.pp)};
    }
    std::vector<int> sizes{1, 2, 4, 8};
    std::erase_if(sizes, [sequences](int size) { return size > 1 && sequences % size != 0; });
    return sizes;
}

/// Of runs that do not say, and whose framework runs without where it can; none: what the case or framework says.
std::vector<std::optional<std::vector<std::string>>> recompute_choices(const PublishedRun& run,
                                                                       const RunNames::Framework& framework) {
    std::vector<std::optional<std::vector<std::string>>> choices;
    if (!is_recompute_unstated(run) || framework.recompute_unstated != "none") {
        choices.emplace_back();
        return choices;
    }
    for (std::vector<std::string> words : framework.recompute_choices) {
        const bool has_latents = run.model.attention == "MLA" && run.model.q_rank > 0 && run.plan.cp == 1,
                   has_shared = run.model.shared_experts > 0;
        std::erase_if(words, [&](const std::string& word) {
            return (word == "latent_up" && !has_latents) || (word == "shared_experts" && !has_shared);
        });
        if (std::ranges::find(choices, std::optional(words)) == choices.end()) {
            choices.emplace_back(std::move(words));
        }
    }
    return choices;
}

/// The run does not say what is sharded, its framework shards nothing unless it is told to, and there are replicas.
bool may_shard_states(const PublishedRun& run, const RunNames::Framework& framework) {
    return sharded_of(run) == Sharded::kUnstated && framework.optimizer_unstated == "replicated" &&
           run.gpus > run.plan.pp * run.plan.tp * run.plan.cp;
}

/// Of a run with sharded weights that does not say what is recomputed: more and more of its layers in host memory, and
/// nothing recomputed.
std::vector<PublishedRun> offloading_choices(const PublishedRun& run, const RunNames::Framework& framework) {
    constexpr int kParts = 8;
    std::vector<PublishedRun> choices;
    const bool is_open = is_recompute_unstated(run) && framework.recompute_unstated == "none";
    const bool is_dense = run.model.experts == 0 && run.plan.pp == 1;
    if (!framework.offloads || !is_open || !is_dense || sharded_of(run) != Sharded::kWeights) {
        return choices;
    }
    int last = 0;
    for (int part = 1; part < kParts; ++part) {
        const int layers = run.model.layers * part / kParts;
        if (layers > last) {
            choices.push_back(run);
            choices.back().plan.recompute_choice.emplace();
            choices.back().plan.offloaded_layers = last = layers;
        }
    }
    return choices;
}

}  // namespace

std::vector<std::vector<PublishedRun>> open_choices(const PublishedRun& run, const RunNames::Framework& framework) {
    if (!run.plan_file.empty()) {
        return {{run}};
    }
    std::vector<std::vector<PublishedRun>> sizes;
    for (const int size : micro_batch_sizes(run, framework)) {
        std::vector<PublishedRun>& choices = sizes.emplace_back();
        const auto recompute = recompute_choices(run, framework);
        const auto add = [&](bool shards_states, const std::optional<std::vector<std::string>>& again) {
            choices.push_back(run);
            choices.back().plan.micro_batch = size;
            choices.back().plan.shards_states = shards_states;
            choices.back().plan.recompute_choice = again;
        };
        const bool may_shard = may_shard_states(run, framework);
        if (may_shard) {  // sharded states cost next to nothing, so that nothing is recomputed before they are
            add(false, recompute.front());
        }
        for (const auto& again : recompute) {
            add(may_shard, again);
        }
        std::vector<PublishedRun> offloading = offloading_choices(choices.back(), framework);
        if (!offloading.empty()) {
            sizes.push_back(std::move(offloading));  // `choices` is gone
        }
    }
    return sizes;
}

std::vector<std::string> notes_of_choice(const PublishedRun& run, const PublishedRun& choice) {
    std::vector<std::string> notes;
    if (other_size(run) > 0) {
        notes.push_back("micro_batch " + std::to_string(run.plan.micro_batch) + " and ga " +
                        std::to_string(run.plan.accumulation) + " contradict each other");
    }
    const int rows = choice.plan.micro_batch * run.plan.accumulation, sequences = sequences_of_rank(run);
    if (other_size(run) == 0 && rows > 0 && (rows < sequences || rows - choice.plan.micro_batch >= sequences)) {
        notes.push_back("ga " + std::to_string(run.plan.accumulation) + " is passed over: a rank has " +
                        std::to_string(sequences) + " sequences a step");
    }
    if (run.plan.micro_batch != choice.plan.micro_batch || other_size(run) > 0) {
        notes.push_back("micro-batches of " + std::to_string(choice.plan.micro_batch) +
                        (choice.plan.micro_batch == 1 ? " sequence are assumed" : " sequences are assumed"));
    }
    if (choice.plan.recompute_choice) {
        std::string words;
        for (const std::string& word : *choice.plan.recompute_choice) {
            const bool is_dense = word == "expert" && run.model.experts == 0;
            words += (words.empty() ? "" : ", ") + (is_dense ? "feed-forward" : word);
        }
        const int offloaded = choice.plan.offloaded_layers;
        notes.push_back(
            "recompute " + (words.empty() ? "none" : words) + " is assumed" +
            (offloaded > 0 ? ", activations of " + std::to_string(offloaded) + " layers in host memory" : ""));
    }
    return notes;
}

}  // namespace auspex::evaluate
