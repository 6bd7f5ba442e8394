/// @file Communications of a graph, from who takes part to the last byte.
#include "sim/graph/player.hpp"

#include "base/error.hpp"
#include "sim/network/use/expected_noise.hpp"

namespace auspex::graph {

Picoseconds GraphPlayer::noise(const GraphTransfer& transfer, double ranks, double compute_s) const {
    return to_picoseconds(
        network::expected_noise_s(noise_, ranks, compute_s, to_seconds(transfer.solo_time), transfer.jitter));
}

void GraphPlayer::send(std::uint32_t rank, std::uint32_t n) {
    const GraphTransfer& transfer = costs_.message(static_cast<int>(rank), node_of(rank, n));
    ActiveTransfer active{.transfer = &transfer, .rank = rank, .node = n};
    begin(active, noise(transfer, 1, std::exchange(ranks_[rank].compute_since_sync_s, 0)));
}

void GraphPlayer::arrive(std::uint32_t rank, std::uint32_t n) {
    const GraphNode& node = node_of(rank, n);
    const std::uint32_t group = job_.ranks[rank].groups[node.place];
    const std::uint64_t key = std::uint64_t{group} << 32U | node.number;
    GroupSync& sync = syncs_[key];
    sync.compute_since_sync_s =
        std::max(sync.compute_since_sync_s, std::exchange(ranks_[rank].compute_since_sync_s, 0));
    if (++sync.arrived < job_.groups[group].size()) {
        return;
    }
    const GraphTransfer& transfer = costs_.collective(group, node);
    ActiveTransfer active{.transfer = &transfer, .group = group, .number = node.number, .rank = rank, .node = n};
    const Picoseconds delay = noise(transfer, static_cast<double>(sync.arrived), sync.compute_since_sync_s);
    syncs_.erase(key);
    begin(active, delay);
}

/// What has met is forgotten: a job may have millions of messages.
void GraphPlayer::receive(std::uint32_t rank, std::uint32_t n) {
    const GraphNode& node = node_of(rank, n);
    const MessageKey key{job_.ranks[rank].peers[node.place], static_cast<int>(rank), node.tag};
    MessageQueue& queue = messages_[key];
    if (queue.arrived == 0) {
        queue.waiting.push_back(n);
        return;
    }
    if (--queue.arrived == 0) {
        messages_.erase(key);
    }
    complete(rank, n);
}

void GraphPlayer::begin(ActiveTransfer what, Picoseconds delay) {
    const bool is_collective = what.group != kNone;
    for_each_member(what, [&](std::uint32_t rank, std::uint32_t) {
        account(rank);
        ++ranks_[rank].transfers;
        if (is_collective) {
            change_collectives(rank, 1);
        }
    });
    what.began = now_;
    what.is_delayed = true;
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
        transfers_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    what.generation = transfers_[index].generation + 1;
    transfers_[index] = what;
    push(now_ + delay, Event::Type::kTransferStep, index, what.generation);
}

void GraphPlayer::step(const Event& event) {
    ActiveTransfer& active = transfers_[event.subject];
    if (active.generation != event.generation) {
        return;
    }
    const std::vector<network::TransferPhase>& phases = active.transfer->phases;
    if (std::exchange(active.is_delayed, false)) {
        // its first phase follows
    } else if (std::exchange(active.flowing, false)) {
        sharing_.stop(active.flow);
        flows_changed_ = true;
        ++active.phase;
    } else {
        const network::TransferPhase& phase = phases[active.phase];
        if (phase.bytes > 0) {
            flow(event.subject, phase);
            return;
        }
        ++active.phase;
    }
    if (active.phase < phases.size()) {
        push(now_ + to_picoseconds(phases[active.phase].latency_s), Event::Type::kTransferStep, event.subject,
             ++active.generation);
        return;
    }
    ++active.generation;
    free_.push_back(event.subject);
    const ActiveTransfer ended = active;  // others may take its place
    end(ended);
}

void GraphPlayer::flow(std::uint32_t index, const network::TransferPhase& phase) {
    ActiveTransfer& active = transfers_[index];
    active.flowing = true;
    active.bytes_left = phase.bytes;
    active.rate = 0;
    active.since = now_;
    moved_[phase.pattern] += phase.bytes;
    active.flow = sharing_.start({loads_of(phase.pattern), costs_.network().solo_rate(phase.pattern)});
    transfer_of_flow_.resize(std::max<std::size_t>(transfer_of_flow_.size(), active.flow + std::size_t{1}));
    transfer_of_flow_[active.flow] = index;
    flows_changed_ = true;
}

network::LoadList GraphPlayer::loads_of(network::PatternId pattern) {
    const auto [found, is_new] = loads_.try_emplace(pattern);
    if (is_new) {
        for (const network::LinkLoad& on : costs_.network().loads(pattern)) {
            found->second.push_back(on);
        }
    }
    return found->second;
}

void GraphPlayer::update_rates() {
    if (!std::exchange(flows_changed_, false)) {
        return;
    }
    const std::span<const network::LinkSharing::Id> changed = sharing_.update_rates();
    if (sharing_.solved() > most_solved_) {
        throw InputError("the traces",
                         "found so many communications at a time on the same links that sharing these out "
                         "takes too long; expected fewer, as with --one-communication");
    }
    for (const std::uint32_t flow : changed) {
        ActiveTransfer& active = transfers_[transfer_of_flow_[flow]];
        const double rate = sharing_.rate(flow);
        if (rate == active.rate) {
            continue;
        }
        active.bytes_left = std::max(0.0, active.bytes_left - active.rate * to_seconds(now_ - active.since));
        active.since = now_;
        active.rate = rate;
        push(now_ + to_picoseconds_up(active.bytes_left / rate), Event::Type::kTransferStep, transfer_of_flow_[flow],
             ++active.generation);
    }
}

void GraphPlayer::end(const ActiveTransfer& what) {
    for_each_member(what, [&](std::uint32_t rank, std::uint32_t n) {
        account(rank);
        --ranks_[rank].transfers;
        --ranks_[rank].issued;
        if (what.group != kNone) {
            change_collectives(rank, -1);
        }
        recorder_.add_communication(rank, n, what.began, now_);
        complete(rank, n);
    });
    if (what.group != kNone) {
        return;
    }
    const GraphNode& node = node_of(what.rank, what.node);
    const int to = job_.ranks[what.rank].peers[node.place];
    const MessageKey key{static_cast<int>(what.rank), to, node.tag};
    MessageQueue& queue = messages_[key];
    if (!queue.has_waiting()) {
        ++queue.arrived;
        return;
    }
    const std::uint32_t n = queue.waiting[queue.served++];
    if (!queue.has_waiting()) {
        messages_.erase(key);
    }
    complete(static_cast<std::uint32_t>(to), n);
}

}  // namespace auspex::graph
