/// @file Values against the ends of their ranges.
#include "cli/commands/campaign/search_edges.hpp"

#include <algorithm>
#include <limits>

namespace auspex::cli {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

/// Always another node at hand is more than any number of spares, no blocks are longer than any.
double value_of(const report::OptimumPoint& point, const std::string& what) {
    if (what == "nodes") {
        return point.nodes;
    }
    if (what == "spares") {
        return point.spares ? *point.spares : kEndless;
    }
    return point.walltime_s > 0 ? point.walltime_s : kEndless;
}

/// The values that there can be.
std::pair<double, double> limits_of(const std::string& what, int most_nodes) {
    if (what == "nodes") {
        return {1, most_nodes > 0 ? most_nodes : kEndless};
    }
    return {0, kEndless};
}

}  // namespace

std::vector<report::SearchEdge> edges_of(const report::OptimumPoint& best, const report::OptimumPoint& given,
                                         const std::vector<Varied>& words, int most_nodes) {
    std::vector<report::SearchEdge> edges;
    for (const Varied& word : words) {
        const double value = value_of(best, word.what), other = value_of(given, word.what);
        const double least = std::min(word.values.front(), other), most = std::max(word.values.back(), other);
        const auto [lowest, highest] = limits_of(word.what, most_nodes);
        if (least < most && value == least && value > lowest) {
            edges.push_back({word.what, value, false});
        } else if (least < most && value == most && value < highest) {
            edges.push_back({word.what, value, true});
        }
    }
    return edges;
}

}  // namespace auspex::cli
