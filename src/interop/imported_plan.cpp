/// @file What all imports of plans check.
#include "interop/imported_plan.hpp"

#include <algorithm>
#include <string>

#include "base/json.hpp"

namespace auspex::interop {

std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t c) {
    constexpr std::int64_t kAbove = models::kMaxTiles + 1;
    return std::min(kAbove, std::min(kAbove, a * b) * c);
}

int deal_ranks(models::Plan& plan, int ranks, const ArgumentReader& reader) {
    const std::int64_t replica = capped_product(plan.pp, plan.ep, plan.etp),
                       dense = capped_product(plan.pp, plan.tp, plan.cp);
    if (ranks < 1 || ranks % replica != 0 || ranks % dense != 0) {
        reader.refuse("ranks", std::to_string(ranks),
                      "a multiple of pp x ep x expert tp (" + std::to_string(replica) + ") and of pp x tp x cp (" +
                          std::to_string(dense) + ")");
    }
    plan.dp = static_cast<int>(ranks / replica);
    return static_cast<int>(ranks / dense);
}

void deal_sequences(models::Plan& plan, std::int64_t sequences, int data_parallel, const ArgumentReader& reader,
                    const std::string& name) {
    const std::int64_t all = std::int64_t{plan.micro_batch_size} * data_parallel;
    constexpr std::int64_t kMostBatches = 1'000'000;
    if (sequences < 1 || sequences % all != 0 || sequences / all > kMostBatches) {
        reader.refuse(name, std::to_string(sequences),
                      "a multiple of the micro-batch times the data-parallel ranks (" + std::to_string(all) +
                          "), a million micro-batches at most");
    }
    plan.micro_batches = static_cast<int>(sequences / all);
}

void set_precision(models::Plan& plan, bool is_bf16, bool has_bf16_gradients) {
    plan.precision = is_bf16 ? "bf16" : "fp32";
    plan.weight_bytes = is_bf16 ? 2 : 4;
    plan.gradient_bytes = is_bf16 && has_bf16_gradients ? 2 : 4;
}

void note_dropout(ArgumentReader& reader, double otherwise, std::vector<std::string>& notes) {
    std::string found;
    for (const char* argument : {"--attention-dropout", "--hidden-dropout"}) {
        if (const double share = reader.share(argument, otherwise); share > 0) {
            found += (found.empty() ? "" : ", ") + std::string(argument) + " " + json_number(share) +
                     (reader.has(argument) ? "" : " (not set: its default)");
        }
    }
    if (!found.empty()) {
        notes.push_back("dropout is not modelled, its kernels and masks cost nothing here: " + found);
    }
}

void set_recompute_all(models::Plan& plan, bool all) { plan.recompute = {.layer = all}; }

}  // namespace auspex::interop
