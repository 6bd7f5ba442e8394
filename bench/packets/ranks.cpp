/// @file Windows of ranks, and sums over their packets and messages.
#include "packets/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace auspex::packets {
namespace {

constexpr std::uint32_t kMaySend = std::numeric_limits<std::uint32_t>::max();  // other calls: a packet's number

struct Message {
    int missing = 0;
    double last_due_s = 0, last_s = 0;  // when its last packet would arrive if nothing waited; when all had
};

struct Rank {
    int terminal = 0, target = 0;
    std::uint32_t next = 0;              // packet
    std::uint32_t known = 0, whole = 0;  // known to have arrived: how many, and how many before the first that has not
    double may_send_s = 0;               // as far as its pace goes
    bool is_called = false;
    std::vector<char> known_after;  // of the packets of the window, by number modulo its size
    std::vector<Message> messages;
};

class Ranks : public Senders {
 public:
    Ranks(const Experiment& experiment, const Dragonfly& dragonfly, PacketNetwork& network);
    void called(std::uint32_t rank, std::uint32_t what, double now_s) override;
    void arrived(const Packet& packet, double now_s) override;
    [[nodiscard]] Outcome outcome() const;

 private:
    void acknowledge(Rank& rank, std::uint32_t number);
    [[nodiscard]] bool window_is_open(const Rank& rank) const;
    void send_or_wait(std::uint32_t index, double now_s);
    void send(Rank& rank, std::uint32_t index, double now_s);
    [[nodiscard]] int any_other(int terminal);
    [[nodiscard]] bool counts(double time_s) const {
        return time_s >= experiment_.warm_s && time_s < experiment_.until_s;
    }

    const Experiment& experiment_;
    const Dragonfly& dragonfly_;
    PacketNetwork& network_;
    std::vector<Rank> ranks_;
    std::uint32_t window_, chunk_;  // packets; 0: no window, any order
    std::uint32_t message_, last_packet_;
    std::uint64_t sent_ = 0, arrived_ = 0, minimal_ = 0, detoured_ = 0;
    double minimal_delay_s_ = 0, detour_delay_s_ = 0;
};

std::uint32_t packets_of(double bytes, const Experiment& experiment) {
    return std::isinf(bytes) ? 0 : static_cast<std::uint32_t>(std::lround(bytes / experiment.timing.packet_bytes));
}

Ranks::Ranks(const Experiment& experiment, const Dragonfly& dragonfly, PacketNetwork& network)
    : experiment_(experiment),
      dragonfly_(dragonfly),
      network_(network),
      window_(packets_of(experiment.transport.window_bytes, experiment)),
      chunk_(packets_of(experiment.transport.chunk_bytes, experiment)),
      message_(packets_of(experiment.message_bytes, experiment)) {
    const bool ends = experiment.messages < std::numeric_limits<int>::max();
    last_packet_ = ends ? message_ * static_cast<std::uint32_t>(experiment.messages) : kMaySend;
    AUSPEX_CHECK(message_ > 0, "a message has packets");
    AUSPEX_CHECK(std::isinf(experiment.transport.window_bytes) || (window_ > 0 && window_ >= chunk_),
                 "a window holds a chunk");
    const Pattern& pattern = experiment.pattern;
    const int of_group = dragonfly.terminals_per_group();
    // Phases are random: within a packet's gap where all begin together or have no window, else within a window.
    const double spread_bytes =
        ends || window_ == 0 ? experiment.timing.packet_bytes : experiment.transport.window_bytes;
    const double spread_s = spread_bytes / experiment.transport.bytes_per_s;
    for (int group = 0; group < pattern.sending_groups; ++group) {
        for (int index = 0; index < pattern.ranks; ++index) {
            Rank rank;
            rank.terminal = group * of_group + index * of_group / pattern.ranks;
            const int in_group = (rank.terminal + pattern.switch_shift * dragonfly.shape().terminals) % of_group;
            rank.target = (group + pattern.shift) % dragonfly.shape().groups * of_group + in_group;
            rank.known_after.resize(window_);
            rank.may_send_s = spread_s * network.rng().uniform();
            rank.is_called = true;
            network.call_at(rank.may_send_s, static_cast<std::uint32_t>(ranks_.size()), kMaySend);
            ranks_.push_back(std::move(rank));
        }
    }
}

void Ranks::called(std::uint32_t rank, std::uint32_t what, double now_s) {
    if (what == kMaySend) {
        ranks_[rank].is_called = false;
    } else {
        acknowledge(ranks_[rank], what);
    }
    send_or_wait(rank, now_s);
}

void Ranks::acknowledge(Rank& rank, std::uint32_t number) {
    ++rank.known;
    if (chunk_ == 0) {
        return;
    }
    rank.known_after[number % window_] = 1;
    while (rank.whole < rank.next && rank.known_after[rank.whole % window_] != 0) {
        rank.known_after[rank.whole++ % window_] = 0;
    }
}

bool Ranks::window_is_open(const Rank& rank) const {
    if (window_ == 0) {
        return true;
    }
    return rank.next < window_ + (chunk_ == 0 ? rank.known : rank.whole / chunk_ * chunk_);
}

void Ranks::send_or_wait(std::uint32_t index, double now_s) {
    Rank& rank = ranks_[index];
    while (rank.next < last_packet_ && !rank.is_called && window_is_open(rank)) {
        if (rank.may_send_s <= now_s) {
            send(rank, index, now_s);
        } else {
            rank.is_called = true;
            network_.call_at(rank.may_send_s, index, kMaySend);
        }
    }
}

void Ranks::send(Rank& rank, std::uint32_t index, double now_s) {
    const double gap_s = experiment_.timing.packet_bytes / experiment_.transport.bytes_per_s;
    const double drawn_s = experiment_.transport.is_poisson ? -gap_s * std::log(1 - network_.rng().uniform()) : gap_s;
    rank.may_send_s = now_s + drawn_s;
    if (rank.next % message_ == 0) {
        rank.messages.push_back({static_cast<int>(message_), 0, 0});
    }
    sent_ += counts(now_s) ? 1U : 0U;
    const bool is_uniform = experiment_.pattern.shift == 0 && experiment_.pattern.switch_shift == 0;
    const int target = is_uniform ? any_other(rank.terminal) : rank.target;
    Packet packet;
    packet.source = rank.terminal;
    packet.target = target;
    packet.rank = index;
    packet.number = rank.next++;
    network_.send(packet, now_s);
}

int Ranks::any_other(int terminal) {
    const int drawn = static_cast<int>(network_.rng().below(static_cast<std::uint64_t>(dragonfly_.terminals() - 1)));
    return drawn < terminal ? drawn : drawn + 1;
}

void Ranks::arrived(const Packet& packet, double now_s) {
    Rank& rank = ranks_[packet.rank];
    arrived_ += counts(now_s) ? 1U : 0U;
    if (counts(packet.sent_s)) {
        ++(packet.is_minimal ? minimal_ : detoured_);
        (packet.is_minimal ? minimal_delay_s_ : detour_delay_s_) += now_s - packet.sent_s - packet.empty_s;
    }
    Message& message = rank.messages[packet.number / message_];
    --message.missing;
    message.last_due_s = std::max(message.last_due_s, packet.sent_s + packet.empty_s);
    message.last_s = std::max(message.last_s, now_s);
    if (window_ == 0) {
        return;
    }
    if (experiment_.transport.turnaround_s > 0) {
        network_.call_at(now_s + experiment_.transport.turnaround_s, packet.rank, packet.number);
    } else {
        called(packet.rank, packet.number, now_s);
    }
}

Outcome Ranks::outcome() const {
    Outcome outcome;
    const double ranks_s = (experiment_.until_s - experiment_.warm_s) * static_cast<double>(ranks_.size());
    const double bytes = experiment_.timing.packet_bytes;
    const auto mean = [](double sum, std::uint64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; };
    outcome.packets = minimal_ + detoured_;
    outcome.sent_bytes_per_s = static_cast<double>(sent_) * bytes / ranks_s;
    outcome.rank_bytes_per_s = static_cast<double>(arrived_) * bytes / ranks_s;
    outcome.minimal_share = mean(static_cast<double>(minimal_), outcome.packets);
    outcome.minimal_bytes_per_s = outcome.minimal_share * outcome.sent_bytes_per_s * static_cast<double>(ranks_.size());
    outcome.delay_s = mean(minimal_delay_s_ + detour_delay_s_, outcome.packets);
    outcome.minimal_delay_s = mean(minimal_delay_s_, minimal_);
    outcome.detour_delay_s = mean(detour_delay_s_, detoured_);
    for (const Rank& rank : ranks_) {
        for (const Message& message : rank.messages) {
            if (message.missing == 0 && counts(message.last_due_s)) {
                const double delay_s = message.last_s - message.last_due_s;
                outcome.last_delay_s += delay_s;
                outcome.last_delay_max_s = std::max(outcome.last_delay_max_s, delay_s);
                ++outcome.whole_messages;
            }
        }
    }
    outcome.last_delay_s = mean(outcome.last_delay_s, outcome.whole_messages);
    outcome.busiest_load = network_.links().most_work_s() / experiment_.until_s;
    return outcome;
}

}  // namespace

Outcome run(const Experiment& experiment) {
    const Dragonfly dragonfly(experiment.shape);
    PacketNetwork network(dragonfly, experiment.timing, experiment.routing, experiment.seed);
    Ranks ranks(experiment, dragonfly, network);
    network.run(ranks, experiment.until_s);
    return ranks.outcome();
}

}  // namespace auspex::packets
