#pragma once
/// @file Plays the steps of a collective on symbolic data: which chunks every rank holds, and whose parts are in them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collective_replay_data.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::testing_collectives {

/// A group of up to 64 ranks in order: place in the node fastest, then node in the block, then block. Every message is
/// checked to carry what the step says; `sent` adds up what the steps say.
class Replay : public ReplayData {
 public:
    Replay(schedule::CommKind comm, network::AlgorithmChoice choice, const network::GroupForm& form, double bytes)
        : ReplayData(comm, choice, form, bytes,
                     choice.algorithm == models::CollectiveAlgorithm::kMultiRing
                         ? form.ranks * form.per_node
                         : form.ranks * 2 * network::power_of_two_within(outermost(form, choice.levels))) {
        for (int rank = 0; rank < form.ranks; ++rank) {
            start(rank);
        }
    }

    void play(const std::vector<network::CollectiveStep>& steps) {
        for (const network::CollectiveStep& step : steps) {
            for (const std::vector<int>& members : subgroups(step.level)) {
                play(step, members);
            }
        }
    }

    /// Chunks that hold the parts of all ranks (of the source, where nothing is added up).
    [[nodiscard]] std::vector<int> complete(int rank) const {
        const std::uint64_t wanted = adds_up() ? ~std::uint64_t{0} >> (64 - form_.ranks) : 1;
        std::vector<int> found;
        for (const int chunk : held_[at(rank)]) {
            if (parts_[at(rank)][at(chunk)] == wanted) {
                found.push_back(chunk);
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] int chunks() const { return chunks_; }
    /// {from, to} of everything that an all-to-all has brought to a rank.
    [[nodiscard]] const std::vector<std::pair<int, int>>& items(int rank) const { return items_[at(rank)]; }

 private:
    [[nodiscard]] static int outermost(const network::GroupForm& form, int levels) {
        return levels == 1 ? form.ranks : levels == 2 ? form.nodes : form.blocks;
    }

    void start(int rank) {
        const int mine = chunks_ / form_.ranks;
        for (int chunk = 0; chunk < chunks_; ++chunk) {
            const bool holds = adds_up() || (comm_ == schedule::CommKind::kBroadcast && rank == 0) ||
                               (comm_ == schedule::CommKind::kAllGather && chunk / mine == rank);
            if (holds) {
                held_[at(rank)].push_back(chunk);
                parts_[at(rank)][at(chunk)] = adds_up() ? std::uint64_t{1} << rank : 1;
            }
        }
        for (int to = 0; comm_ == schedule::CommKind::kAllToAll && to < form_.ranks; ++to) {
            items_[at(rank)].emplace_back(rank, to);
        }
    }

    /// Where a rank stands among the members of its subgroup.
    [[nodiscard]] int place(network::Level level, int rank) const {
        const int node = rank / std::max(1, form_.per_node);
        switch (level) {
            case network::Level::kFlat:
            case network::Level::kByHost: return rank;
            case network::Level::kIntraNode: return rank % form_.per_node;
            case network::Level::kInterNode: return node;
            case network::Level::kIntraBlock: return node % form_.per_block;
            case network::Level::kInterBlock: return node / form_.per_block;
        }
        return -1;
    }

    [[nodiscard]] std::vector<std::vector<int>> subgroups(network::Level level) const {
        const int k = std::max(1, form_.per_node), m = std::max(1, form_.per_block);
        const auto subgroup_of = [&](int rank) {
            const int node = rank / k, in_node = rank % k;
            switch (level) {
                case network::Level::kFlat:
                case network::Level::kByHost: return 0;
                case network::Level::kIntraNode: return node;
                case network::Level::kInterNode: return in_node;
                case network::Level::kIntraBlock: return node / m * k + in_node;
                case network::Level::kInterBlock: return node % m * k + in_node;
            }
            return -1;
        };
        std::vector<std::vector<int>> groups(size());
        for (int rank = 0; rank < form_.ranks; ++rank) {
            groups[at(subgroup_of(rank))].push_back(rank);
        }
        std::erase_if(groups, [](const std::vector<int>& group) { return group.empty(); });
        return groups;
    }

    void play(const network::CollectiveStep& step, const std::vector<int>& members) {
        const std::string what = step.what;
        std::vector<std::pair<int, int>> pairs;
        for_each_pair(step.shape, step.distance, static_cast<int>(members.size()), [&](int i, int j) {
            pairs.emplace_back(i, j);
            sent[at(members[at(i)])] += step.bytes * (step.rounds - step.idle_rounds);
        });
        if (step.shape == network::StepShape::kRings) {
            rings(step, members, pairs);
        } else if (what.starts_with("all-to-all")) {
            exchange(step, members, pairs);
        } else if (step.shape == network::StepShape::kTreesUp || step.shape == network::StepShape::kTreesDown) {
            trees(step, members, pairs);
        } else if (folds(step, members)) {
            step.shape == network::StepShape::kXor ? halve(step, members, pairs) : fold(step, members, pairs);
        } else if (what.starts_with("reduce-scatter")) {
            reduce_scatter(step, members, pairs);
        } else if (what.starts_with("all-gather")) {
            all_gather(step, members, pairs);
        } else if (what.starts_with("all-reduce") || what.starts_with("fold in")) {
            add_whole(step, members, pairs);
        } else if (what.starts_with("scatter")) {
            scatter(step, members, pairs);
        } else {
            copy_whole(step, members, pairs);
        }
    }

    /// 1 for a member that keeps the upper half, else 0.
    [[nodiscard]] static std::size_t upper(const network::CollectiveStep& step, int member, std::size_t n) {
        return (survivor(member, static_cast<int>(n)) & step.distance) != 0 ? 1 : 0;
    }

    void reduce_scatter(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const std::size_t n = members.size();
        Lists start;  // of each member, before this step
        for (const int rank : members) {
            start.push_back(held_[at(rank)]);
        }
        const auto piece = [&](std::size_t member, std::size_t p, std::size_t of) {
            const std::size_t length = start[member].size() / of;
            const auto first = start[member].begin() + static_cast<std::ptrdiff_t>(p * length);
            return std::vector<int>(first, first + static_cast<std::ptrdiff_t>(length));
        };
        const bool halves = step.shape == network::StepShape::kXor;
        for (int round = 0; round < step.rounds; ++round) {
            Lists lists;
            for (const auto& [i, j] : pairs) {
                const std::size_t ring_piece = (at(i) + 2 * n - 1 - at(round)) % n;
                const std::size_t p = halves                                     ? upper(step, j, n)
                                      : step.shape == network::StepShape::kShift ? ring_piece
                                                                                 : at(j);
                lists.push_back(piece(at(i), p, halves ? 2 : n));
                expect_size(step, lists.back().size());
            }
            add(lists, members, pairs);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const auto number = static_cast<int>(n), member = static_cast<int>(i);
            if (!halves || network::folded_rank(survivor(member, number), number) == member) {
                const std::size_t kept = halves ? upper(step, member, n) : i;
                held_[at(members[i])] = piece(i, kept, halves ? 2 : n);
            }
        }
    }

    void all_gather(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const auto count = static_cast<std::size_t>(step.bytes * chunks_ / bytes_ + 0.5);
        for (const int rank : members) {
            fresh_[at(rank)] = held_[at(rank)];
        }
        for (int round = 0; round < step.rounds; ++round) {
            const Lists leaving = fresh_;
            const auto before = parts_;
            for (const auto& [i, j] : pairs) {
                const std::size_t from = at(members[at(i)]), to = at(members[at(j)]);
                const std::vector<int>& source = leaving[from];
                if (source.size() < count) {
                    expect(false, std::string(step.what) + ": more is sent than is there");
                    return;
                }
                fresh_[to].assign(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count));
                for (const int chunk : fresh_[to]) {
                    held_[to].push_back(chunk);
                    parts_[to][at(chunk)] = before[from][at(chunk)];
                }
            }
        }
    }

    /// Ring c turns the c-th part of every block; its pairs come in its own order.
    void rings(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const std::size_t n = members.size(), k = at(step.distance), length = at(chunks_) / n;
        const bool adds = std::string(step.what).starts_with("reduce-scatter");
        for (int round = 0; round < step.rounds; ++round) {
            const auto before = parts_;
            Lists lists;
            for (std::size_t m = 0; m < pairs.size(); ++m) {
                const std::size_t ring = m / n, begins_at = (m % n + 2 * n - at(round) - (adds ? 1 : 0)) % n;
                const std::size_t first = at(pairs[ring * n + begins_at].first) * length + ring * (length / k);
                lists.emplace_back();
                for (std::size_t chunk = first; chunk < first + length / k; ++chunk) {
                    lists.back().push_back(static_cast<int>(chunk));
                    expect(before[at(members[at(pairs[m].first)])][chunk] != 0, "more is sent than is there");
                }
                expect_size(step, lists.back().size());
            }
            adds ? add(lists, members, pairs) : copy(lists, members, pairs);
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<int>& held = held_[at(members[i])];
            held.resize(adds ? length : at(chunks_));
            std::iota(held.begin(), held.end(), adds ? static_cast<int>(i * length) : 0);
        }
    }

    void add_whole(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        Lists lists;
        for (const auto& [i, j] : pairs) {
            lists.push_back(held_[at(members[at(i)])]);
            expect_size(step, lists.back().size());
        }
        add(lists, members, pairs);
    }

    void copy_whole(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        for (const auto& [i, j] : pairs) {
            const std::size_t from = at(members[at(i)]), to = at(members[at(j)]);
            if (!held_[from].empty()) {  // another node's first rank has nothing to send on
                expect_size(step, held_[from].size());
                held_[to] = held_[from];
                parts_[to] = parts_[from];
            }
        }
    }

    void scatter(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const auto n = static_cast<int>(members.size());
        const std::vector<int> whole = held_[at(members.front())];
        if (whole.empty()) {
            return;
        }
        const auto length = static_cast<int>(step.bytes * chunks_ / bytes_ + 0.5);
        for (const auto& [i, j] : pairs) {
            std::vector<int>& source = held_[at(members[at(i)])];
            const bool to_all = step.shape == network::StepShape::kRootToAll;
            const int piece = to_all ? length : length / std::min(step.distance, n - step.distance);
            const int pieces = to_all ? 1 : std::min(step.distance, n - j);
            const auto first = to_all ? whole.begin() + j * piece : source.end() - pieces * piece;
            held_[at(members[at(j)])].assign(first, first + pieces * piece);
            parts_[at(members[at(j)])] = parts_[at(members[at(i)])];
            expect(pieces * piece <= length, std::string(step.what) + ": more is sent than the step says");
            if (!to_all) {
                source.resize(source.size() - static_cast<std::size_t>(pieces * piece));
            } else if (j == n - 1) {
                source.resize(static_cast<std::size_t>(piece));
            }
        }
    }

    /// The first half of the chunks goes over the first tree, all rounds at once. Upwards edges come with those of a
    /// subtree first.
    void trees(const network::CollectiveStep& step, const std::vector<int>& members, Pairs pairs) {
        const std::vector<int> whole = held_[at(members.front())];
        if (whole.empty()) {
            return;
        }
        const double rounds_of_half = step.bytes * (step.rounds - step.idle_rounds) * chunks_ / bytes_;
        expect(std::abs(rounds_of_half - static_cast<double>(whole.size()) / 2) <= 1e-9 * chunks_,
               std::string(step.what) + ": the rounds do not add up to half of the buffer");
        const bool up = step.shape == network::StepShape::kTreesUp;
        const std::size_t of_first = members.size() - (up ? 0 : at(step.distance)) - 1;
        std::vector<std::size_t> tree;
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            tree.push_back(m < 2 * of_first ? m / of_first : m - 2 * of_first);
        }
        const auto half = static_cast<std::ptrdiff_t>(whole.size() / 2);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const std::size_t m = up ? k : pairs.size() - 1 - k;
            const std::size_t from = at(members[at(pairs[m].first)]), to = at(members[at(pairs[m].second)]);
            const std::vector<int> chunks(whole.begin() + (tree[m] == 0 ? 0 : half),
                                          tree[m] == 0 ? whole.begin() + half : whole.end());
            if (up) {
                add({chunks}, members, {pairs[m]});
                continue;
            }
            for (const int chunk : chunks) {
                parts_[to][at(chunk)] = parts_[from][at(chunk)];
            }
            if (!adds_up()) {  // else it works on them already
                held_[to].insert(held_[to].end(), chunks.begin(), chunks.end());
            }
        }
    }

    void exchange(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const auto n = static_cast<int>(members.size());
        auto after = items_;
        for (const auto& [i, j] : pairs) {
            const int from = members[at(i)], to = members[at(j)];
            std::size_t moved = 0;
            for (const std::pair<int, int>& item : items_[at(from)]) {
                const int target = place(step.level, item.second);
                const bool goes =
                    algorithm_ == models::CollectiveAlgorithm::kBruck && step.shape == network::StepShape::kShift
                        ? ((target - i + n) % n & step.distance) != 0
                        : target == j;
                if (goes) {
                    std::erase(after[at(from)], item);
                    after[at(to)].push_back(item);
                    ++moved;
                }
            }
            expect(std::abs(static_cast<double>(moved) * bytes_ / form_.ranks - step.bytes) <= 1e-9 * bytes_,
                   std::string(step.what) + ": a message is not of the size that the step says");
        }
        items_ = after;
    }
};

}  // namespace auspex::testing_collectives
