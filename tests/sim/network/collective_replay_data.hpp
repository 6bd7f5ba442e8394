#pragma once
/// @file What a replayed collective works on, and how halves of it move between ranks some of which fold in and out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/network/collective/collective_phases.hpp"

namespace auspex::testing_collectives {

class ReplayData {
 public:
    ReplayData(schedule::CommKind comm, network::AlgorithmChoice choice, const network::GroupForm& form, double bytes,
               int chunks)
        : comm_(comm),
          algorithm_(choice.algorithm),
          form_(form),
          bytes_(bytes),
          chunks_(chunks),
          held_(size()),
          all_(size()),
          fresh_(size()),
          parts_(size(), std::vector<std::uint64_t>(static_cast<std::size_t>(chunks_), 0)),
          items_(size()),
          sent(size(), 0) {}

 protected:
    using Pairs = std::vector<std::pair<int, int>>;
    using Lists = std::vector<std::vector<int>>;

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] std::size_t size() const { return at(form_.ranks); }
    [[nodiscard]] bool adds_up() const {
        return comm_ == schedule::CommKind::kAllReduce || comm_ == schedule::CommKind::kReduceScatter;
    }
    void expect(bool holds, const std::string& problem) {
        if (!holds) {
            problems.push_back(problem);
        }
    }

    void expect_size(const network::CollectiveStep& step, std::size_t chunks) {
        expect(std::abs(static_cast<double>(chunks) * bytes_ / chunks_ - step.bytes) <= 1e-9 * bytes_,
               std::string(step.what) + ": a message is not of the size that the step says");
    }

    /// Chunk by chunk into a copy of what the receiver has, so that all messages of a round leave before any arrives.
    void add(const Lists& lists_of_pairs, const std::vector<int>& members, const Pairs& pairs) {
        const auto before = parts_;
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            const std::size_t from = at(members[at(pairs[m].first)]), to = at(members[at(pairs[m].second)]);
            for (const int chunk : lists_of_pairs[m]) {
                expect((parts_[to][at(chunk)] & before[from][at(chunk)]) == 0, "a part is added twice");
                parts_[to][at(chunk)] |= before[from][at(chunk)];
            }
        }
    }

    void copy(const Lists& lists_of_pairs, const std::vector<int>& members, const Pairs& pairs) {
        const auto before = parts_;
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            for (const int chunk : lists_of_pairs[m]) {
                parts_[at(members[at(pairs[m].second)])][at(chunk)] =
                    before[at(members[at(pairs[m].first)])][at(chunk)];
            }
        }
    }

    /// A reduce-scatter or all-gather by halves in which ranks beyond the power of two fold in and out.
    [[nodiscard]] bool folds(const network::CollectiveStep& step, const std::vector<int>& members) const {
        const auto n = static_cast<int>(members.size());
        return comm_ != schedule::CommKind::kAllReduce && network::power_of_two_within(n) != n &&
               algorithm_ == models::CollectiveAlgorithm::kRecursiveDoubling &&
               (step.shape == network::StepShape::kXor || step.shape == network::StepShape::kFoldIn ||
                step.shape == network::StepShape::kFoldOut);
    }

    /// The member that stands for a chunk: the one whose block it is, or whom that one folds into.
    [[nodiscard]] int stands_for(int chunk, const std::vector<int>& all, int n) const {
        const auto index = std::lower_bound(all.begin(), all.end(), chunk) - all.begin();
        const int block = static_cast<int>(index / (static_cast<std::ptrdiff_t>(all.size()) / n));
        return survivor(block, n);
    }

    /// The number of a member among those that do not fold, or of whom it folds into.
    [[nodiscard]] static int survivor(int member, int n) {
        const int beyond = n - network::power_of_two_within(n);
        return member < 2 * beyond ? member / 2 : member - beyond;
    }

    /// What the members of a group have between them at the start, in order.
    [[nodiscard]] std::vector<int> all_of(const std::vector<int>& members) const {
        std::vector<int> all;
        for (const int rank : members) {
            all.insert(all.end(), held_[at(rank)].begin(), held_[at(rank)].end());
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    void fold(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const bool in = step.shape == network::StepShape::kFoldIn, adds = adds_up();
        const auto n = static_cast<int>(members.size());
        if (in) {
            all_[at(members.front())] = all_of(members);
        }
        const std::vector<int>& all = all_[at(members.front())];
        const auto length = static_cast<std::ptrdiff_t>(all.size()) / n;
        Lists lists;
        for (const auto& [i, j] : pairs) {
            const auto mine = all.begin() + length * j;
            lists.push_back(adds && !in ? std::vector<int>(mine, mine + length) : held_[at(members[at(i)])]);
            expect_size(step, lists.back().size());
        }
        adds&& in ? add(lists, members, pairs) : copy(lists, members, pairs);
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            std::vector<int>& held = held_[at(members[at(pairs[m].second)])];
            if (in) {
                held.insert(held.end(), lists[m].begin(), lists[m].end());
                std::sort(held.begin(), held.end());
                held.erase(std::unique(held.begin(), held.end()), held.end());
            } else {
                held = lists[m];
                if (adds) {  // its partner stood for it until now
                    std::vector<int>& partner = held_[at(members[at(pairs[m].first)])];
                    std::erase_if(partner,
                                  [&](int chunk) { return std::find(held.begin(), held.end(), chunk) != held.end(); });
                }
            }
        }
    }

    /// To the partner go the blocks of the ranks around it (reduce-scatter), or all that there is (all-gather); the
    /// largest message is what the step says.
    void halve(const network::CollectiveStep& step, const std::vector<int>& members, const Pairs& pairs) {
        const auto n = static_cast<int>(members.size());
        const std::vector<int> all = all_[at(members.front())];
        const bool adds = adds_up();
        Lists lists;
        std::size_t largest = 0;
        for (const auto& [i, j] : pairs) {
            lists.emplace_back();
            for (const int chunk : held_[at(members[at(i)])]) {
                if (!adds || stands_for(chunk, all, n) / step.distance == survivor(j, n) / step.distance) {
                    lists.back().push_back(chunk);
                }
            }
            largest = std::max(largest, lists.back().size());
        }
        expect_size(step, largest);
        adds ? add(lists, members, pairs) : copy(lists, members, pairs);
        for (std::size_t m = 0; m < pairs.size(); ++m) {
            std::vector<int>&sender = held_[at(members[at(pairs[m].first)])],
            &receiver = held_[at(members[at(pairs[m].second)])];
            if (adds) {
                std::erase_if(sender, [&](int chunk) {
                    return std::find(lists[m].begin(), lists[m].end(), chunk) != lists[m].end();
                });
            } else {
                receiver.insert(receiver.end(), lists[m].begin(), lists[m].end());
                std::sort(receiver.begin(), receiver.end());
            }
        }
    }

    schedule::CommKind comm_;
    models::CollectiveAlgorithm algorithm_;
    network::GroupForm form_;
    double bytes_;
    int chunks_;
    Lists held_;   ///< by rank: the chunks that it works on
    Lists all_;    ///< by a subgroup's first rank: what its members began to fold with
    Lists fresh_;  ///< by rank: what the last round of an all-gather brought
    std::vector<std::vector<std::uint64_t>> parts_;  ///< by rank and chunk: a bit for every rank whose part is in it
    std::vector<Pairs> items_;

 public:
    std::vector<double> sent;           ///< by rank
    std::vector<std::string> problems;  ///< what a step did that its data does not allow
};

}  // namespace auspex::testing_collectives
