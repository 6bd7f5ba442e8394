/// @file Rounds of a collective dealt to its ranks.
#include "tracks.hpp"

#include <map>

#include "sim/network/collective/group_set.hpp"

namespace auspex::simgrid_check {
namespace {

/// Rounds of one step, by rank.
using RoundOfRank = std::map<int, Round>;

bool is_tree(const CollectiveStep& step) {
    return step.shape == StepShape::kTreesUp || step.shape == StepShape::kTreesDown;
}

std::vector<CollectiveStep> steps_of(const Collective& collective, const GroupForm& form) {
    const CollectivePhases phases =
        phases_of(collective.comm, collective.choice, form, collective.bytes, {}, bare_stack().tree_chunk_bytes);
    if (phases.choice.algorithm != CollectiveAlgorithm::kPairwise || phases.choice.levels != 1) {
        return phases.steps;
    }
    std::vector<CollectiveStep> steps;
    for (int distance = 1; distance < form.ranks; ++distance) {
        steps.push_back({Level::kFlat, StepShape::kShift, distance, collective.bytes / form.ranks});
    }
    return steps;
}

void add_message(RoundOfRank& rounds, int from, int to, double bytes) {
    rounds[from].sends.push_back({to, bytes});
    rounds[to].receives.push_back(from);
}

RoundOfRank rounds_of(const CollectiveStep& step, const GroupSet& groups) {
    RoundOfRank rounds;
    for (std::size_t g = 0; g < groups.count(); ++g) {
        const std::span<const int> group = groups.group(g);
        for_each_pair(step.shape, step.distance, static_cast<int>(group.size()), [&](int i, int j) {
            add_message(rounds, group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)], step.bytes);
        });
    }
    for (auto& [rank, round] : rounds) {
        round.times = step.rounds;
    }
    return rounds;
}

void append_tracks(const std::map<int, std::vector<Round>>& rounds, int channel, std::vector<Track>& tracks) {
    for (const auto& [rank, of_rank] : rounds) {
        tracks.push_back({rank, channel, of_rank});
    }
}

/// Edges of both trees come one after the other, equally many.
RoundOfRank edges_of_tree(const CollectiveStep& step, std::span<const int> group, int tree) {
    RoundOfRank edges;
    const int n = static_cast<int>(group.size());
    int seen = 0;
    for_each_pair(step.shape, step.distance, n, [&](int i, int j) {
        if (seen++ / (n - 1) == tree) {
            add_message(edges, group[static_cast<std::size_t>(i)], group[static_cast<std::size_t>(j)], step.bytes);
        }
    });
    return edges;
}

/// A rank receives a chunk while it hands the one before on.
void append_chunks(const Round& edges, int chunks, std::vector<Round>& rounds) {
    if (edges.receives.empty() || edges.sends.empty()) {
        rounds.push_back({edges.sends, edges.receives, chunks});
        return;
    }
    rounds.push_back({{}, edges.receives, 1});
    rounds.push_back({edges.sends, edges.receives, chunks - 1});
    rounds.push_back({edges.sends, {}, 1});
}

std::vector<Track> tree_tracks(const std::vector<CollectiveStep>& steps, const GroupSet& groups) {
    std::vector<Track> tracks;
    for (int tree = 0; tree < 2; ++tree) {
        std::map<int, std::vector<Round>> rounds;
        for (const CollectiveStep& step : steps) {
            for (std::size_t g = 0; step.bytes > 0 && g < groups.count(); ++g) {
                for (const auto& [rank, edges] : edges_of_tree(step, groups.group(g), tree)) {
                    append_chunks(edges, step.rounds - step.idle_rounds, rounds[rank]);
                }
            }
        }
        append_tracks(rounds, tree, tracks);
    }
    return tracks;
}

}  // namespace

std::vector<Track> tracks_of(const Collective& collective, const Layout& layout, const Fabric& fabric) {
    const GroupSet groups = flatten(groups_of(layout, collective.group, collective.stage));
    const std::vector<CollectiveStep> steps = steps_of(collective, form_of(groups, fabric));
    if (is_tree(steps.front())) {
        return tree_tracks(steps, groups);
    }
    std::map<int, std::vector<Round>> rounds;
    for (const CollectiveStep& step : steps) {
        for (auto& [rank, round] : rounds_of(step, subgroups(groups, step.level, fabric))) {
            rounds[rank].push_back(std::move(round));
        }
    }
    std::vector<Track> tracks;
    append_tracks(rounds, 0, tracks);
    return tracks;
}

int common_rounds(const std::vector<Track>& tracks) {
    int common = 0;
    for (const Track& track : tracks) {
        int rounds = 0;
        for (const Round& round : track.rounds) {
            rounds += round.times;
        }
        if (common != 0 && rounds != common) {
            return 0;
        }
        common = rounds;
    }
    return common;
}

}  // namespace auspex::simgrid_check
