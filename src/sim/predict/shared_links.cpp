/// @file Links by what they carry.
#include "sim/predict/shared_links.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "base/mix64.hpp"
#include "sim/engine/cost_transfers.hpp"
#include "sim/network/sharing/sparse_links.hpp"

namespace auspex::predict {
namespace {

/// By rising number, each once: patterns of groups that share links with others.
std::vector<network::PatternId> sharing_patterns(const engine::CostedProgram& costed) {
    std::vector<network::PatternId> patterns;
    for (const engine::CostedTransfer& transfer : costed.transfers) {
        for (const engine::CostedTransfer::Member& member : transfer.members) {
            for (std::uint32_t p = member.phase_begin; p < member.phase_end && member.shares_links; ++p) {
                patterns.push_back(transfer.phases[p].pattern);
            }
        }
    }
    std::sort(patterns.begin(), patterns.end());
    patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
    return patterns;
}

/// A link on which some can meet: what it carries, mixed, and the number of the link that stands for it, from 1 on.
struct Met {
    bool is_met = false;
    std::uint64_t carries = 0;
    std::uint32_t number = 0;
};

}  // namespace

SharedLinks find_shared_links(const engine::CostedProgram& costed, const network::Network& network,
                              std::span<const double> factors) {
    network::SparseLinks<Met> met(network.fabric().link_count());
    for (const std::uint32_t link : costed.shared_links) {
        met[link].is_met = true;
    }
    const std::vector<network::PatternId> patterns = sharing_patterns(costed);
    for (const network::PatternId pattern : patterns) {
        for (const network::LinkLoad& on : network.loads(pattern)) {
            if (met.at(on.link).is_met) {
                met[on.link].carries += mix64(pattern ^ mix64(std::bit_cast<std::uint64_t>(on.load)));
            }
        }
    }
    SharedLinks shared;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    for (const std::uint32_t link : costed.shared_links) {
        const double capacity = engine::slowed_capacity(network.fabric(), link, factors);
        const auto [found, is_new] = numbers.try_emplace(met[link].carries, shared.capacities.size());
        if (is_new) {
            shared.capacities.push_back(capacity);
        }
        double& least = shared.capacities[found->second];
        least = std::min(least, capacity);
        met[link].number = found->second + 1;
    }
    shared.loads.resize(network.pattern_count());
    std::vector<network::PatternId> last(shared.capacities.size(), engine::kNone);  // that has been put on the link
    for (const network::PatternId pattern : patterns) {
        for (const network::LinkLoad& on : network.loads(pattern)) {
            const std::uint32_t number = met.at(on.link).number;
            if (number != 0 && last[number - 1] != pattern) {
                last[number - 1] = pattern;
                shared.loads[pattern].push_back({number - 1, on.load});
            }
        }
    }
    return shared;
}

}  // namespace auspex::predict
