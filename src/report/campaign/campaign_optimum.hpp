#pragma once
/// @file The best setting of a campaign among many, and what finish costs in node-hours.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/optimum/gain.hpp"

namespace auspex::report {

/// A setting that was played with all samples and its own best interval.
struct OptimumPoint {
    int nodes = 0;
    std::optional<int> spares;  ///< none: always another node at hand
    double walltime_s = 0;      ///< 0: no blocks
    std::int64_t every_steps = 1;
    double interval_s = 0;   ///< the same
    std::int64_t steps = 0;  ///< of the run: fewer where more nodes have a larger batch
    campaign::Quantiles elapsed_s, node_hours;
    double goodput = 0;
    bool is_on_front = false;  ///< no other is over before with no more node-hours
};

/// The best value of a word is the least or the most that was searched: the true best may lie beyond.
struct SearchEdge {
    std::string what;  ///< "nodes", "spares", "walltime"
    double value = 0;  ///< seconds, or a count
    bool is_upper = false;
};

struct CampaignOptimum {
    std::string objective;  ///< "finish-by", "node-hours"
    std::vector<std::string> varied;
    std::size_t settings = 0;  ///< compared, with the one that was given
    std::size_t left_out = 0;  ///< that cannot be played, and why the first of them cannot
    std::string why_left_out;
    std::int64_t played = 0;             ///< campaigns, those of the searches for intervals too
    std::vector<OptimumPoint> points;    ///< of the last round, the soonest over first
    std::size_t best = 0;                ///< of `points`
    OptimumPoint given;                  ///< as it was given, with its own interval
    std::vector<SearchEdge> at_edge;     ///< of the best
    std::optional<campaign::Gain> gain;  ///< of the best over the given one; none where either does not end
};

/// Median finish against node-hours of the last round, with its front, as inline SVG. Requires a point that ends.
[[nodiscard]] std::string optimum_chart(const CampaignOptimum& optimum, double width);
/// What is found, in a sentence: "256 nodes, 4 spares, blocks of 12 h: over after 5.1 d, 9 h sooner than as given,
/// ...".
[[nodiscard]] std::string optimum_sentence(const CampaignOptimum& optimum);
/// "The best has the most nodes (512) that were searched: ...". Requires an edge.
[[nodiscard]] std::string edge_sentence(const CampaignOptimum& optimum);
/// Chart and table of the page.
[[nodiscard]] std::string optimum_section(const CampaignOptimum& optimum, const std::string& source);

/// "256 nodes, 4 spares, blocks of 12 h, a checkpoint every 31 min".
[[nodiscard]] std::string setting_words(const OptimumPoint& point);

}  // namespace auspex::report
