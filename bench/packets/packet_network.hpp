#pragma once
/// @file Packets on their ways, and the order of what happens.
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/rng.hpp"
#include "packets/dragonfly.hpp"
#include "packets/links.hpp"
#include "packets/router.hpp"

namespace auspex::packets {

struct Packet {
    int source = 0, target = 0;      ///< terminals
    std::uint32_t rank = 0;          ///< who sent it
    std::uint32_t number = 0;        ///< among those of its rank
    double sent_s = 0, empty_s = 0;  ///< when it was sent; what the minimal path would take if nothing waited
    bool is_minimal = true;
    Path path;
    std::size_t hop = 0;  ///< links of `path` behind it
};

/// Those who send. Whatever they are told, they may send packets and ask to be called again.
class Senders {
 public:
    virtual ~Senders() = default;
    virtual void called(std::uint32_t rank, std::uint32_t what, double now_s) = 0;
    virtual void arrived(const Packet& packet, double now_s) = 0;
};

/// Event by event, in the order of (time, when the event was made): the same seed gives the same packets.
class PacketNetwork {
 public:
    PacketNetwork(const Dragonfly& dragonfly, const Timing& timing, const Routing& routing, std::uint64_t seed);

    /// Requires: source, target, rank and number are set.
    void send(Packet packet, double now_s);
    void call_at(double time_s, std::uint32_t rank, std::uint32_t what) { add(time_s, rank, what, false); }
    /// Until nothing happens before `until_s` any more.
    void run(Senders& senders, double until_s);

    [[nodiscard]] const Links& links() const { return links_; }
    [[nodiscard]] Rng& rng() { return rng_; }

 private:
    struct Event {
        double time_s;
        std::uint64_t order;
        std::uint32_t subject, what;  ///< a rank and what it is called for, or a packet
        bool is_packet;
        bool operator>(const Event& other) const {
            return time_s != other.time_s ? time_s > other.time_s : order > other.order;
        }
    };
    void add(double time_s, std::uint32_t subject, std::uint32_t what, bool is_packet);
    void advance(std::uint32_t slot, Senders& senders, double now_s);

    const Dragonfly& dragonfly_;
    Links links_;
    Router router_;
    Rng rng_;
    std::vector<Packet> packets_;
    std::vector<std::uint32_t> free_slots_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t made_ = 0;
};

}  // namespace auspex::packets
