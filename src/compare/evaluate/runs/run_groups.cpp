/// @file Runs put together by what they share.
#include "compare/evaluate/runs/run_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace auspex::evaluate {
namespace {

using Runs = std::vector<const ValidatedRun*>;
using schedule::Loss;

int sources_of(const Runs& runs) {
    std::set<std::string> sources;
    for (const ValidatedRun* const one : runs) {
        sources.insert(one->run.source_key);
    }
    return static_cast<int>(sources.size());
}

template <typename Is>
Runs those(const Runs& runs, Is&& is) {
    Runs some;
    std::ranges::copy_if(runs, std::back_inserter(some), is);
    return some;
}

struct Trait {
    const char* of;
    const char* name;
    bool (*is)(const RunTraits&);
};

constexpr int kLongSequence = 8192, kFew = 8, kSome = 64, kMany = 512;

constexpr std::array<Trait, 22> kTraits{
    {{"products", "bf16, fp16", [](const RunTraits& t) { return !t.is_fp8; }},
     {"products", "fp8", [](const RunTraits& t) { return t.is_fp8; }},
     {"model", "dense", [](const RunTraits& t) { return !t.has_experts; }},
     {"model", "experts (MoE)", [](const RunTraits& t) { return t.has_experts; }},
     {"tensor parallel", "tp = 1", [](const RunTraits& t) { return t.tp == 1; }},
     {"tensor parallel", "tp > 1", [](const RunTraits& t) { return t.tp > 1; }},
     {"tensor parallel", "tp beyond a card of several tiles",
      [](const RunTraits& t) { return t.tiles_per_card > 1 && t.tp > t.tiles_per_card; }},
     {"tensor parallel", "tp beyond a node", [](const RunTraits& t) { return t.tp > t.tiles_per_node; }},
     {"pipeline", "pp = 1", [](const RunTraits& t) { return t.pp == 1; }},
     {"pipeline", "pp > 1", [](const RunTraits& t) { return t.pp > 1; }},
     {"weights", "whole on every rank", [](const RunTraits& t) { return !t.are_weights_sharded; }},
     {"weights", "sharded (FSDP, ZeRO-3)", [](const RunTraits& t) { return t.are_weights_sharded; }},
     {"recompute", "none", [](const RunTraits& t) { return t.recompute == Recomputed::kNone; }},
     {"recompute", "selective", [](const RunTraits& t) { return t.recompute == Recomputed::kSelective; }},
     {"recompute", "full", [](const RunTraits& t) { return t.recompute == Recomputed::kFull; }},
     {"recompute", "assumed, the source does not say", [](const RunTraits& t) { return t.is_recompute_assumed; }},
     {"sequence", "below 8192 tokens", [](const RunTraits& t) { return t.sequence < kLongSequence; }},
     {"sequence", "8192 tokens or more", [](const RunTraits& t) { return t.sequence >= kLongSequence; }},
     {"size", "up to 8 tiles", [](const RunTraits& t) { return t.tiles <= kFew; }},
     {"size", "9 to 64 tiles", [](const RunTraits& t) { return t.tiles > kFew && t.tiles <= kSome; }},
     {"size", "65 to 512 tiles", [](const RunTraits& t) { return t.tiles > kSome && t.tiles <= kMany; }},
     {"size", "more than 512 tiles", [](const RunTraits& t) { return t.tiles > kMany; }}}};

/// Sums over the cases of a source, of share x and ln ratio y.
struct Sums {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
};

}  // namespace

double share_of(const ValidatedRun& run, Loss loss) {
    return to_seconds(run.losses[static_cast<std::size_t>(loss)]) / run.predicted_s;
}

std::optional<ShareSlope> share_slope(const Runs& runs, Loss loss) {
    constexpr double kLeastSpread = 0.01;
    constexpr int kLeastFreedom = 5;
    std::map<std::string, Sums> by_source;
    for (const ValidatedRun* const one : runs) {
        const double x = share_of(*one, loss), y = std::log1p(one->error());
        Sums& sums = by_source[one->run.source_key];
        sums.n += 1, sums.x += x, sums.y += y, sums.xx += x * x, sums.xy += x * y, sums.yy += y * y;
    }
    ShareSlope slope;
    double xx = 0, xy = 0, yy = 0;
    for (const auto& [source, sums] : by_source) {
        if (sums.n > 1) {
            xx += sums.xx - sums.x * sums.x / sums.n;
            xy += sums.xy - sums.x * sums.y / sums.n;
            yy += sums.yy - sums.y * sums.y / sums.n;
            slope.n += static_cast<int>(sums.n);
            ++slope.sources;
        }
    }
    const int freedom = slope.n - slope.sources - 1;
    if (freedom < kLeastFreedom || xx < slope.n * kLeastSpread * kLeastSpread) {
        return std::nullopt;
    }
    slope.value = xy / xx;
    slope.error = std::sqrt(std::max(0.0, yy - slope.value * xy) / freedom / xx);
    return slope;
}

std::vector<MechanismErrors> errors_by_mechanism(const Runs& runs) {
    std::vector<MechanismErrors> found;
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        const Loss loss = static_cast<Loss>(i);
        const auto is_large = [loss](const ValidatedRun* one) { return share_of(*one, loss) > kLargeShare; };
        if (std::ranges::none_of(runs, [i](const ValidatedRun* one) { return one->losses[i] > 0; })) {
            continue;
        }
        const Runs more = those(runs, is_large);
        const Runs less = those(runs, [&](const ValidatedRun* one) { return !is_large(one); });
        found.push_back({loss, summary_of(more), summary_of(less), sources_of(more), share_slope(runs, loss)});
    }
    return found;
}

std::vector<TraitErrors> errors_by_trait(const Runs& runs) {
    std::vector<TraitErrors> found;
    for (const Trait& trait : kTraits) {
        const Runs some = those(runs, [&](const ValidatedRun* one) { return trait.is(one->traits); });
        if (!some.empty()) {
            found.push_back({trait.of, trait.name, summary_of(some), sources_of(some)});
        }
    }
    return found;
}

Runs verified(const std::vector<ValidatedRun>& runs) {
    Runs some;
    for (const ValidatedRun& one : runs) {
        if (one.why_unmapped.empty() && one.is_verified()) {
            some.push_back(&one);
        }
    }
    return some;
}

}  // namespace auspex::evaluate
