/// @file Fabric to SimGrid platform, tracks to actors.
///
/// CM02 shares a link among flows in inverse proportion to their latencies, as TCP does. The networks that Auspex
/// describes have credits instead of TCP, and share equally. So links have no latency here: both ends of a message
/// wait for the latency of its route before they meet, which delays it as a link would.
#include <simgrid/config.h>
#include <simgrid/version.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/error.hpp"
#include "play.hpp"
#include "tracks.hpp"

namespace auspex::simgrid_check {
namespace {

namespace s4u = simgrid::s4u;

/// One end of a message.
struct Post {
    bool is_send;
    s4u::Mailbox* mailbox;
    double latency_s;
    std::uint64_t bytes;
};

struct Posts {
    std::vector<Post> posts;  ///< by rising latency
    int times;
};

/// Hosts are ranks; a route is added when its latency is asked for.
class Platform {
 public:
    Platform(const Fabric& fabric, int ranks) : fabric_(fabric), zone_(s4u::create_full_zone("fabric")) {
        for (int rank = 0; rank < ranks; ++rank) {
            hosts_.push_back(zone_->create_host(std::to_string(rank), kAnySpeed));
        }
    }
    double latency_s(int from, int to);
    void seal() { zone_->seal(); }
    [[nodiscard]] s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

 private:
    static constexpr double kAnySpeed = 1e9;  // nothing is computed
    const s4u::Link* link(std::uint32_t id);

    const Fabric& fabric_;
    s4u::NetZone* zone_;
    std::vector<s4u::Host*> hosts_;
    std::map<std::uint32_t, const s4u::Link*> links_;
    std::map<std::pair<int, int>, double> latencies_s_;
};

const s4u::Link* Platform::link(std::uint32_t id) {
    const auto [found, is_new] = links_.try_emplace(id, nullptr);
    if (is_new) {
        found->second = zone_->create_link(std::to_string(id), fabric_.capacity_bytes_per_s(id))->seal();
    }
    return found->second;
}

double Platform::latency_s(int from, int to) {
    const auto [found, is_new] = latencies_s_.try_emplace({from, to}, 0);
    if (is_new) {
        const Route route = fabric_.route(from, to);
        std::vector<s4u::LinkInRoute> links;
        for (const Leg& leg : route.legs) {
            AUSPEX_CHECK(leg.weight == 1, "SimGrid's routes do not split");
            links.emplace_back(link(leg.link));
        }
        zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, links, false);
        found->second = route.latency_s;
    }
    return found->second;
}

/// The mailbox of all messages from a rank to another in one channel of one collective: they arrive in order.
s4u::Mailbox* mailbox(std::size_t collective, int channel, int from, int to) {
    std::string name = std::to_string(collective);
    for (const int part : {channel, from, to}) {
        name += ' ' + std::to_string(part);
    }
    return s4u::Mailbox::by_name(name);
}

Posts posts_of(const Round& round, const Track& track, std::size_t collective, Platform& platform) {
    Posts made{{}, round.times};
    for (const Send& send : round.sends) {
        made.posts.push_back({true, mailbox(collective, track.channel, track.rank, send.to),
                              platform.latency_s(track.rank, send.to),
                              static_cast<std::uint64_t>(std::llround(send.bytes))});
    }
    for (const int from : round.receives) {
        made.posts.push_back(
            {false, mailbox(collective, track.channel, from, track.rank), platform.latency_s(from, track.rank), 0});
    }
    std::stable_sort(made.posts.begin(), made.posts.end(),
                     [](const Post& a, const Post& b) { return a.latency_s < b.latency_s; });
    return made;
}

void play_round(const std::vector<Post>& posts) {
    static char payload;
    const double begin_s = s4u::Engine::get_clock();
    std::vector<s4u::CommPtr> under_way;
    std::vector<char*> received(posts.size());
    for (std::size_t i = 0; i < posts.size(); ++i) {
        const Post& post = posts[i];
        if (const double wait_s = begin_s + post.latency_s - s4u::Engine::get_clock(); wait_s > 0) {
            s4u::this_actor::sleep_for(wait_s);
        }
        under_way.push_back(post.is_send ? post.mailbox->put_async(&payload, post.bytes)
                                         : post.mailbox->get_async<char>(&received[i]));
    }
    s4u::Comm::wait_all(under_way);
}

/// What an actor plays.
struct Performer {
    std::size_t collective;
    int rank;
    std::vector<Posts> rounds;
    s4u::BarrierPtr barrier;  ///< none where ranks run free
};

void play_track(const Performer& performer) {
    for (const Posts& round : performer.rounds) {
        for (int i = 0; i < round.times; ++i) {
            play_round(round.posts);
            if (performer.barrier != nullptr) {
                performer.barrier->wait();
            }
        }
    }
}

void start_engine() {
    // The engine keeps the arguments.
    static std::vector<std::string> arguments{"simgrid_check",
                                              "--log=root.thresh:warning",
                                              "--cfg=network/model:CM02",
                                              "--cfg=network/latency-factor:1",
                                              "--cfg=network/bandwidth-factor:1",
                                              "--cfg=network/weight-S:0",
                                              "--cfg=network/TCP-gamma:0",
                                              "--cfg=network/crosstraffic:0",
                                              "--cfg=contexts/stack-size:64"};
    static std::vector<char*> pointers;
    for (std::string& argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    int count = static_cast<int>(arguments.size());
    static s4u::Engine engine(&count, pointers.data());
}

}  // namespace

std::vector<double> play_simgrid(const Case& of, Ranks ranks) {
    start_engine();
    const Fabric fabric(of.machine, bare_stack(), of.layout);
    Platform platform(fabric, of.layout.tiles);
    std::vector<Performer> performers;
    for (std::size_t c = 0; c < of.collectives.size(); ++c) {
        const std::vector<Track> tracks = tracks_of(of.collectives[c], of.layout, fabric);
        const bool in_step = ranks == Ranks::kInStep && common_rounds(tracks) > 0;
        const s4u::BarrierPtr barrier = in_step ? s4u::Barrier::create(static_cast<unsigned>(tracks.size())) : nullptr;
        for (const Track& track : tracks) {
            performers.push_back({c, track.rank, {}, barrier});
            for (const Round& round : track.rounds) {
                performers.back().rounds.push_back(posts_of(round, track, c, platform));
            }
        }
    }
    platform.seal();
    std::vector<double> ends_s(of.collectives.size(), 0);
    for (const Performer& performer : performers) {
        s4u::Actor::create("rank " + std::to_string(performer.rank), platform.host(performer.rank),
                           [&performer, &end_s = ends_s[performer.collective]] {
                               play_track(performer);
                               end_s = std::max(end_s, s4u::Engine::get_clock());
                           });
    }
    s4u::Engine::get_instance()->run();
    return ends_s;
}

std::string simgrid_version() {
    int major = 0, minor = 0, patch = 0;
    sg_version_get(&major, &minor, &patch);
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

}  // namespace auspex::simgrid_check
