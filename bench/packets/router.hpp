#pragma once
/// @file The path of a packet, chosen at the switch of its source: minimal, Valiant or adaptive.
#include <vector>

#include "base/rng.hpp"
#include "packets/dragonfly.hpp"
#include "packets/links.hpp"

namespace auspex::packets {

/// kValiant: by way of a random third group, always (Valiant, Brebner, STOC 1981). kAdaptive: as UGAL (Singh, thesis,
/// Stanford 2005; Kim et al. 2008), with the bias a time.
enum class Policy { kMinimal, kValiant, kAdaptive };

/// What the source's switch knows of queues.
/// kSourceGroup: those on the way out of its group: its own port and the port of the switch that holds the global link
///   (UGAL-G of Kim et al.; Slingshot's switches tell one another the depth of their request queues, arXiv:2008.08886).
/// kOwnPorts: its own ports only (UGAL-L). Without back pressure the queue at another switch is then never seen.
enum class Sight { kSourceGroup, kOwnPorts };

struct Routing {
    Policy policy = Policy::kAdaptive;
    Sight sight = Sight::kSourceGroup;
    double bias_s = 0;   ///< adaptive: detour where the minimal path waits longer than bias + what the detour waits
    double news_s = 0;   ///< how often what is known of a queue is renewed; 0: always known as it is
    int candidates = 2;  ///< adaptive: minimal paths compared, and detours (Slingshot: up to four paths)
};

struct Route {
    Path path;
    bool is_minimal = true;
    double empty_s = 0;  ///< what the minimal path would take if nothing waited anywhere
};

class Router {
 public:
    Router(const Dragonfly& dragonfly, const Links& links, const Routing& routing);

    /// From the switch of `source` to the terminal `target`, as things stand at `now_s`.
    [[nodiscard]] Route choose(int source, int target, double now_s, Rng& rng);
    /// `link` or, if that is a global one, the emptiest of its parallel links that the same switch holds.
    [[nodiscard]] LinkId emptiest(LinkId link, double now_s) const;

 private:
    struct News {
        double at_s = -1, wait_s = 0;
    };
    [[nodiscard]] Path minimal(int from, int target, int parallel) const;
    [[nodiscard]] Path by_group(int from, int third, int target, Rng& rng) const;
    [[nodiscard]] Path detour(int from, int target, Rng& rng) const;
    [[nodiscard]] int third_group(int from, int to, Rng& rng) const;
    void add_way_to_group(Path& path, int& at, int group, int parallel) const;
    void add_way_to_terminal(Path& path, int at, int target) const;
    [[nodiscard]] double wait_seen_s(const Path& path, double now_s);
    [[nodiscard]] double known_wait_s(LinkId link, double now_s);

    const Dragonfly& dragonfly_;
    const Links& links_;
    Routing routing_;
    std::vector<News> news_;
};

}  // namespace auspex::packets
