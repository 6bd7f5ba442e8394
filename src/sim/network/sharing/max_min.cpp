/// @file Progressive filling: the link that fills first fixes the rate of everything on it.
#include "sim/network/sharing/max_min.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "base/error.hpp"

namespace auspex::network {
namespace {

constexpr std::uint32_t kUnused = ~0U;

/// A link with classes on it that still rise. Loads frozen at the same level are summed before they are multiplied and
/// taken off, so that the result does not depend on how flows were put into classes.
struct Link {
    double left = 0;    ///< without what froze at `level`
    double rising = 0;  ///< load of the classes that still rise
    double level = 0, frozen_at_level = 0;
    std::uint32_t classes = 0;  ///< that still rise: what remains of a sum after subtracting all of it may be rounding

    [[nodiscard]] double full_at() const { return std::max(0.0, left - level * frozen_at_level) / rising; }
    void freeze(double at, double load) {
        if (at != level) {
            left -= level * frozen_at_level;
            level = at;
            frozen_at_level = 0;
        }
        frozen_at_level += load;
        rising -= load;
        --classes;
    }
};

/// Classes on each link, as one array: those of link l are classes[first[l] .. first[l + 1]).
struct Users {
    std::vector<std::uint32_t> first, classes;
};

class Filling {
 public:
    Filling(std::span<const double> capacities, std::span<const LoadList> classes) : classes_(classes) {
        index_.assign(capacities.size(), kUnused);
        for (const LoadList& loads : classes) {
            for (const LinkLoad& on : loads) {
                AUSPEX_CHECK(on.link < capacities.size() && on.load > 0, "loads are positive, on links that exist");
                std::uint32_t& index = index_[on.link];
                if (index == kUnused) {
                    index = static_cast<std::uint32_t>(links_.size());
                    links_.push_back({});
                    links_.back().left = capacities[on.link];
                }
                links_[index].rising += on.load;
                ++links_[index].classes;
            }
        }
        list_users();
    }

    std::vector<double> run() {
        std::vector<double> rates(classes_.size(), std::numeric_limits<double>::infinity());
        std::vector<char> frozen(classes_.size(), 0);
        for (std::uint32_t l = 0; l < links_.size(); ++l) {
            next_.emplace(links_[l].full_at(), l);
        }
        while (!next_.empty()) {
            const auto [expected, l] = next_.top();
            next_.pop();
            if (links_[l].classes == 0) {
                continue;
            }
            // A link fills later than expected if some of its classes were frozen elsewhere meanwhile.
            const double level = links_[l].full_at();
            if (level > expected) {
                next_.emplace(level, l);
                continue;
            }
            for (std::uint32_t u = users_.first[l]; u < users_.first[l + 1]; ++u) {
                const std::uint32_t c = users_.classes[u];
                if (frozen[c] == 0) {
                    frozen[c] = 1;
                    rates[c] = level;
                    for (const LinkLoad& on : classes_[c]) {
                        links_[index_[on.link]].freeze(level, on.load);
                    }
                }
            }
        }
        return rates;
    }

 private:
    void list_users() {
        users_.first.assign(links_.size() + 1, 0);
        for (std::size_t l = 0; l < links_.size(); ++l) {
            users_.first[l + 1] = users_.first[l] + links_[l].classes;
        }
        users_.classes.resize(users_.first.back());
        std::vector<std::uint32_t> end(users_.first.begin(), users_.first.end() - 1);
        for (std::uint32_t c = 0; c < classes_.size(); ++c) {
            for (const LinkLoad& on : classes_[c]) {
                users_.classes[end[index_[on.link]]++] = c;
            }
        }
    }

    std::span<const LoadList> classes_;
    std::vector<std::uint32_t> index_;  ///< of a link among links_
    std::vector<Link> links_;
    Users users_;
    using Expected = std::pair<double, std::uint32_t>;
    std::priority_queue<Expected, std::vector<Expected>, std::greater<>> next_;
};

}  // namespace

std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const LoadList> classes) {
    return Filling(capacities, classes).run();
}

}  // namespace auspex::network
