#pragma once
/// @file What waits at every link: a first-in-first-out queue of packets without bound.
#include <algorithm>
#include <vector>

#include "packets/dragonfly.hpp"

namespace auspex::packets {

/// Rates of links in bytes/s, and what else a packet takes.
struct Timing {
    double terminal_bytes_per_s = 25e9, local_bytes_per_s = 25e9, global_bytes_per_s = 25e9;
    double packet_bytes = 4096;
    double hop_s = 0.35e-6;  ///< through a switch and along a cable (De Sensi et al., arXiv:2008.08886: 0.3 to 0.4 us)
};

/// The queues of all links. As they are first in first out, all that has to be known of one is when it will be empty.
/// Packets are stored and forwarded; a queue never stops the one before it (no back pressure).
class Links {
 public:
    Links(const Dragonfly& dragonfly, const Timing& timing)
        : dragonfly_(dragonfly), timing_(timing), empty_at_s_(dragonfly.links()), work_s_(dragonfly.links()) {}

    /// How long a packet that comes now waits until it is sent.
    [[nodiscard]] double wait_s(LinkId link, double now_s) const { return std::max(0.0, empty_at_s_[link] - now_s); }

    /// Takes a packet in; the time at which it is at the other end.
    double pass(LinkId link, double now_s) {
        const double service_s = packet_s(link);
        work_s_[link] += service_s;
        empty_at_s_[link] = std::max(now_s, empty_at_s_[link]) + service_s;
        return empty_at_s_[link] + timing_.hop_s;
    }

    /// Of a packet on links where nothing waits.
    [[nodiscard]] double empty_path_s(const Path& path) const {
        double sum_s = 0;
        for (std::size_t hop = 0; hop < path.size; ++hop) {
            sum_s += packet_s(path.links[hop]) + timing_.hop_s;
        }
        return sum_s;
    }
    [[nodiscard]] double packet_s(LinkId link) const {
        const double rate = dragonfly_.is_terminal(link) ? timing_.terminal_bytes_per_s
                            : dragonfly_.is_global(link) ? timing_.global_bytes_per_s
                                                         : timing_.local_bytes_per_s;
        return timing_.packet_bytes / rate;
    }
    /// What has come to the link that most has come to, in seconds of its time.
    [[nodiscard]] double most_work_s() const { return *std::max_element(work_s_.begin(), work_s_.end()); }
    [[nodiscard]] const Timing& timing() const { return timing_; }

 private:
    const Dragonfly& dragonfly_;
    Timing timing_;
    std::vector<double> empty_at_s_, work_s_;
};

}  // namespace auspex::packets
