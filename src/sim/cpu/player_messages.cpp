/// @file Messages from send to receive: eager ones, and long ones by rendezvous.
#include <algorithm>

#include "sim/cpu/event_loop.hpp"

namespace auspex::cpu {

double CpuPlayer::send_s(int rank, const RankAction& action) const {
    const bool is_inter_node = are_inter_node(rank, action.peer);
    return send_cpu_s(is_inter_node ? cpu_.inter_node : cpu_.intra_node, action.bytes, is_inter_node);
}

double CpuPlayer::receive_s(const CpuMessage& m) const {
    const models::CpuKernelCost& copy = cpu_.kernel_costs.front()[static_cast<std::size_t>(models::CpuKernel::kCopy)];
    const double from_memory_s = m.memory_bytes > 0 ? m.memory_bytes * miss_byte_s(cpu_, copy) : 0;
    return receive_cpu_s(m.is_inter_node ? cpu_.inter_node : cpu_.intra_node, m.bytes) + from_memory_s;
}

void CpuPlayer::end_send(int rank, const RankAction& action) {
    const std::uint32_t index = mailbox_.send(rank, action.peer, action.tag);
    CpuMessage& m = mailbox_[index];
    m.is_inter_node = are_inter_node(rank, action.peer);
    m.bytes = action.bytes;
    m.memory_bytes = action.memory_bytes;
    const models::MessageCosts& costs = m.is_inter_node ? cpu_.inter_node : cpu_.intra_node;
    m.is_rendezvous = action.bytes > costs.eager_bytes;
    m.sent_at = now_;
    m.sender_blocks = action.is_waited_for && (m.is_rendezvous || action.bytes > costs.buffered_bytes);
    process(rank).pending += m.sender_blocks ? 1 : 0;
    if (!m.is_inter_node) {
        schedule_arrival(index);
    } else if (m.is_rendezvous) {
        events_.add(now_ + to_picoseconds(costs.latency_s), CpuEvent::Kind::kReadyToSend, index);
    } else {
        start_flow(index);
    }
}

void CpuPlayer::post_receive(int rank, const RankAction& action) {
    Process& p = process(rank);
    const std::uint32_t index = mailbox_.receive(action.peer, rank, action.tag);
    const CpuMessage& m = mailbox_[index];
    ++p.pending;
    ++p.next_action;
    if (m.is_polled) {
        begin_receive(rank, index);
    } else if (m.arrived) {
        std::erase(p.unexpected, index);
        p.arrived.push_back(index);
    } else if (m.has_ready_to_send) {
        send_clear_to_send(index);
    }
}

void CpuPlayer::on_ready_to_send(std::uint32_t message) {
    CpuMessage& m = mailbox_[message];
    m.has_ready_to_send = true;
    if (m.is_posted) {
        process(m.to).ready_to_send.push_back(message);
        wake(m.to);
    }
}

void CpuPlayer::answer_ready_to_send(int rank) {
    Process& p = process(rank);
    for (const std::uint32_t message : p.ready_to_send) {
        send_clear_to_send(message);
    }
    p.ready_to_send.clear();
}

void CpuPlayer::on_clear_to_send(std::uint32_t message) {
    const int sender = mailbox_[message].from;
    process(sender).clear_to_send.push_back(message);
    wake(sender);
}

void CpuPlayer::start_cleared_flows(int rank) {
    Process& p = process(rank);
    for (const std::uint32_t message : p.clear_to_send) {
        start_flow(message);
    }
    p.clear_to_send.clear();
}

void CpuPlayer::start_flow(std::uint32_t message) {
    const CpuMessage& m = mailbox_[message];
    nic_flows_.start(message, location_of(m.from).nic, location_of(m.to).nic, m.bytes, now_);
}

void CpuPlayer::schedule_arrival(std::uint32_t message) {
    const double latency_s = (mailbox_[message].is_inter_node ? cpu_.inter_node : cpu_.intra_node).latency_s;
    events_.add(now_ + to_picoseconds(latency_s), CpuEvent::Kind::kArrival, message);
}

void CpuPlayer::arrive(std::uint32_t message) {
    CpuMessage& m = mailbox_[message];
    m.arrived = true;
    if (m.is_posted) {
        Process& receiver = process(m.to);
        receiver.arrived.push_back(message);
        if (receiver.operation.waits_for_sender &&
            (receiver.state == ProcessState::kBlocked || receiver.state == ProcessState::kSpinning)) {
            account(m.to, schedule::Loss::kBubble, m.sent_at);
        }
        wake(m.to);
    } else {
        process(m.to).unexpected.push_back(message);
    }
}

void CpuPlayer::end_receive(int rank) {
    Process& p = process(rank);
    const CpuMessage& m = mailbox_[p.receiving];
    --p.pending;
    if (m.sender_blocks) {
        unblock_sender(m.from);
    }
    mailbox_.release(p.receiving);
    p.receiving = kNoMessage;
}

}  // namespace auspex::cpu
