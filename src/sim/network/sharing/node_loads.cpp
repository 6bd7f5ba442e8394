/// @file Histories of additions, each known by its last one and the history before it.
#include "sim/network/sharing/node_loads.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/mix64.hpp"
#include "sim/network/sharing/pattern_loads.hpp"

namespace auspex::network {

std::size_t NodeLoads::Hash::operator()(const History& history) const {
    const std::uint64_t added = (std::uint64_t{history.before} << 32U) | history.list;
    return mix64(added ^ mix64(std::bit_cast<std::uint64_t>(history.weight)));
}

NodeLoads::ListId NodeLoads::keep_list(std::vector<LinkLoad> by_slot) {
    const std::uint64_t hash = hash_of(by_slot);
    const auto [first, end] = list_of_hash_.equal_range(hash);
    for (auto known = first; known != end; ++known) {
        if (are_equal(lists_[known->second], by_slot)) {
            return known->second;
        }
    }
    const auto id = static_cast<ListId>(lists_.size());
    list_of_hash_.emplace(hash, id);
    lists_.push_back(std::move(by_slot));
    return id;
}

NodeLoads::HistoryId NodeLoads::next(HistoryId before, ListId list, double weight) {
    const History history{before, list, weight};
    Known& lately = known_lately_[(before * 31 + list) % known_lately_.size()];
    if (lately.id == kNothing || !(lately.history == history)) {
        const auto [found, is_new] = id_of_.try_emplace(history, static_cast<HistoryId>(histories_.size() + 1));
        if (is_new) {
            histories_.push_back(history);
        }
        lately = {history, found->second};
    }
    return lately.id;
}

void NodeLoads::sum(HistoryId history, std::vector<LinkLoad>& by_slot) {
    order_.clear();
    for (HistoryId id = history; id != kNothing; id = order_.back().before) {
        order_.push_back(histories_[id - 1]);
    }
    std::fill(sums_.begin(), sums_.end(), 0);
    std::fill(is_there_.begin(), is_there_.end(), 0);
    for (auto added = order_.rbegin(); added != order_.rend(); ++added) {
        for (const LinkLoad& on : lists_[added->list]) {
            if (on.link >= sums_.size()) {
                sums_.resize(on.link + 1, 0);
                is_there_.resize(on.link + 1, 0);
            }
            sums_[on.link] += on.load * added->weight;
            is_there_[on.link] = 1;
        }
    }
    by_slot.clear();
    for (std::uint32_t slot = 0; slot < sums_.size(); ++slot) {
        if (is_there_[slot] != 0) {
            by_slot.push_back({slot, sums_[slot]});
        }
    }
}

void NodeLoads::clear() {
    if (begin_ < end_) {
        std::fill(history_of_.begin() + begin_, history_of_.begin() + end_, kNothing);
    }
    begin_ = kNoNode;
    end_ = 0;
    histories_.clear();
    id_of_.clear();
    known_lately_.fill({});
}

}  // namespace auspex::network
