#pragma once
/// @file When layouts have trained so many tokens: each played as a campaign.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"

namespace auspex::report {

/// A layout as a run of many weeks: its predicted step, its own checkpoints, failures by its nodes.
struct PlanFinish {
    campaign::Quantiles elapsed_s;   ///< from the begin to the last checkpoint
    campaign::Quantiles node_hours;  ///< of nodes and spares, while they are held
    double goodput = 0, interruptions = 0;
    std::int64_t every_steps = 1;  ///< between checkpoints
    double interval_s = 0;         ///< the same
    int nodes = 0;
    std::optional<int> spares;  ///< none: always another node at hand
    double checkpoint_bytes = 0, stall_s = 0;
    std::vector<std::string> notes;  ///< what is not known of its starts, and what public runs of its size met
};

/// What was played of a search, all with the same failures as far as their rates are the same.
struct PlanFinishes {
    double tokens = 0;
    int samples = 0;
    std::uint64_t seed = 1;
    std::string terms;              ///< "blocks of 24 h, 12 h of queue between them, no spare nodes"
    bool is_objective = false;      ///< they rank the plans; false: of the best one alone
    std::size_t played = 0;         ///< layouts, those with the shortest steps
    std::vector<PlanFinish> plans;  ///< of the ranked ones, in order
    /// Median finish of a run with the step of the slowest that was played and the least that a layout's checkpoints
    /// and restarts can take: none that was not played is over before, but for the noise of samples. None: all were
    /// played, or the search was cut.
    std::optional<double> least_of_others_s;
    bool was_cut = false;  ///< the search: layouts that it left untried may have shorter steps than those played

    /// No layout that was not played is over before the first of `plans`.
    [[nodiscard]] bool is_certain() const {
        return !was_cut && (!least_of_others_s || *least_of_others_s >= plans.front().elapsed_s.p50);
    }
};

/// "Half of the runs of 1 T tokens are over after 5.1 d, nine of ten after 5.6 d; ...": of the first.
[[nodiscard]] std::string finish_sentence(const PlanFinishes& finishes);
/// Whether a layout that was not played could be over before, in a sentence.
[[nodiscard]] std::string others_sentence(const PlanFinishes& finishes);
/// The section of the page; `lines`: their plans in a line.
[[nodiscard]] std::string finish_section(const PlanFinishes& finishes, const std::vector<std::string>& lines);

}  // namespace auspex::report
