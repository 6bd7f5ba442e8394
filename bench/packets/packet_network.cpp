/// @file The loop over events.
#include "packets/packet_network.hpp"

namespace auspex::packets {

PacketNetwork::PacketNetwork(const Dragonfly& dragonfly, const Timing& timing, const Routing& routing,
                             std::uint64_t seed)
    : dragonfly_(dragonfly), links_(dragonfly, timing), router_(dragonfly, links_, routing), rng_(seed) {}

void PacketNetwork::add(double time_s, std::uint32_t subject, std::uint32_t what, bool is_packet) {
    events_.push({time_s, made_++, subject, what, is_packet});
}

void PacketNetwork::send(Packet packet, double now_s) {
    packet.sent_s = now_s;
    if (free_slots_.empty()) {
        free_slots_.push_back(static_cast<std::uint32_t>(packets_.size()));
        packets_.emplace_back();
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    const LinkId first = dragonfly_.from_terminal(packet.source);
    packet.empty_s = links_.packet_s(first) + links_.timing().hop_s;
    packets_[slot] = packet;
    add(links_.pass(first, now_s), slot, 0, true);
}

void PacketNetwork::run(Senders& senders, double until_s) {
    while (!events_.empty() && events_.top().time_s <= until_s) {
        const Event event = events_.top();
        events_.pop();
        if (event.is_packet) {
            advance(event.subject, senders, event.time_s);
        } else {
            senders.called(event.subject, event.what, event.time_s);
        }
    }
}

void PacketNetwork::advance(std::uint32_t slot, Senders& senders, double now_s) {
    Packet& packet = packets_[slot];
    if (packet.path.size == 0) {
        const Route route = router_.choose(packet.source, packet.target, now_s, rng_);
        packet.path = route.path;
        packet.is_minimal = route.is_minimal;
        packet.empty_s += route.empty_s;
    }
    if (packet.hop < packet.path.size) {
        const LinkId link = router_.emptiest(packet.path.links[packet.hop++], now_s);
        add(links_.pass(link, now_s), slot, 0, true);
        return;
    }
    const Packet done = packet;
    free_slots_.push_back(slot);
    senders.arrived(done, now_s);
}

}  // namespace auspex::packets
