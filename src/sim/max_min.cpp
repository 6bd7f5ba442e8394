/// @file Progressive filling: the link that fills first fixes the rate of everything on it.
#include "sim/max_min.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace auspex {
namespace {

/// Links whose fill levels differ by less than this fill together: what equal links differ by after sums in another
/// order.
constexpr double kTie = 1e-12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a link still has to give, and the weight of the classes on it that still rise.
struct Link {
    std::uint32_t id;
    double left;
    double rising;
    [[nodiscard]] double level() const { return left / rising; }
};

/// Classes on each link, as one array: those of link l are users[first[l] .. first[l + 1]).
struct Users {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> users;
};

Users users_of_links(std::size_t links, std::span<const FlowClass> classes) {
    Users found;
    found.first.assign(links + 1, 0);
    for (const FlowClass& flows : classes) {
        AUSPEX_CHECK(flows.links.size() == flows.weights.size(), "every link of a class has its weight");
        for (std::size_t i = 0; i < flows.links.size(); ++i) {
            AUSPEX_CHECK(flows.links[i] < links, "a class uses links that have a capacity");
            found.first[flows.links[i] + 1] += flows.weights[i] > 0 ? 1U : 0U;
        }
    }
    for (std::size_t l = 0; l < links; ++l) {
        found.first[l + 1] += found.first[l];
    }
    found.users.resize(found.first.back());
    std::vector<std::uint32_t> next(found.first.begin(), found.first.end() - 1);
    for (std::uint32_t c = 0; c < classes.size(); ++c) {
        for (std::size_t i = 0; i < classes[c].links.size(); ++i) {
            if (classes[c].weights[i] > 0) {
                found.users[next[classes[c].links[i]]++] = c;
            }
        }
    }
    return found;
}

std::vector<Link> rising_links(std::span<const double> capacities, std::span<const FlowClass> classes) {
    std::vector<double> weight(capacities.size(), 0);
    for (const FlowClass& flows : classes) {
        for (std::size_t i = 0; i < flows.links.size(); ++i) {
            weight[flows.links[i]] += flows.weights[i];
        }
    }
    std::vector<Link> links;
    for (std::uint32_t l = 0; l < capacities.size(); ++l) {
        if (weight[l] > 0) {
            links.push_back({l, capacities[l], weight[l]});
        }
    }
    return links;
}

}  // namespace

std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const FlowClass> classes) {
    const Users users = users_of_links(capacities.size(), classes);
    std::vector<Link> links = rising_links(capacities, classes);
    std::vector<std::uint32_t> place(capacities.size(), 0);  // of a link in `links`
    std::vector<double> rates(classes.size(), kInfinity);
    std::vector<char> frozen(classes.size(), 0);
    std::vector<std::uint32_t> full;
    while (!links.empty()) {
        double level = kInfinity;
        for (std::uint32_t i = 0; i < links.size(); ++i) {
            place[links[i].id] = i;
            level = std::min(level, links[i].level());
        }
        if (level == kInfinity) {
            break;
        }
        full.clear();
        for (const Link& link : links) {
            if (link.level() <= level * (1 + kTie)) {
                full.push_back(link.id);
            }
        }
        for (const std::uint32_t id : full) {
            for (std::uint32_t u = users.first[id]; u < users.first[id + 1]; ++u) {
                const std::uint32_t c = users.users[u];
                if (frozen[c] != 0) {
                    continue;
                }
                frozen[c] = 1;
                rates[c] = level;
                for (std::size_t i = 0; i < classes[c].links.size(); ++i) {
                    Link& link = links[place[classes[c].links[i]]];
                    link.left = std::max(0.0, link.left - classes[c].weights[i] * level);
                    link.rising -= classes[c].weights[i];
                }
            }
        }
        // What remains of a sum of weights after subtracting all of them is rounding, not a flow: count users instead.
        std::erase_if(links, [&](const Link& link) {
            const auto first = users.users.begin() + users.first[link.id],
                       last = users.users.begin() + users.first[link.id + 1];
            return std::all_of(first, last, [&](std::uint32_t c) { return frozen[c] != 0; });
        });
    }
    return rates;
}

}  // namespace auspex
