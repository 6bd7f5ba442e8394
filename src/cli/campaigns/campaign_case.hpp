#pragma once
/// @file From the flags of `auspex campaign` to what is played.
#include <string>
#include <vector>

#include "campaign/best_interval.hpp"
#include "campaign/campaign.hpp"
#include "campaign/setting.hpp"
#include "cli/flags/options.hpp"
#include "cli/output/campaign/campaign_output.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::cli {

/// The same campaign without one of its features.
struct CampaignWithout {
    std::string feature;
    campaign::Setting setting;
};

/// A campaign to play. Its setting has an interval of checkpoints, but for is_auto.
struct CampaignCase {
    campaign::Setting setting;
    bool is_auto = true;          ///< the best interval is to be found first
    bool is_auto_spares = false;  ///< so are the spare nodes that it needs
    int most_nodes = 0;           ///< that there are on the machine; 0: not known
    std::string title;
    std::optional<PredictedRun> run;        ///< not with --bare
    std::vector<CampaignWithout> without;   ///< a setting for each feature, to say what it is worth
    std::vector<report::InputFile> inputs;  ///< not with --bare
    std::vector<std::string> notes;
};

/// What both kinds take from flags: shares of hangs and NaN, watchdog, spares, blocks, maintenance, lemons, slow nodes,
/// interval. The setting has its step, failures, recovery and checkpoints already. Throws InputError as above.
void apply_campaign_flags(const CampaignFlags& flags, CampaignCase& to);

/// Finds the best interval, and takes it where is_auto; none without failures, where one checkpoint at the end is
/// taken. Throws InputError for is_auto with a trace of failures.
std::optional<campaign::BestInterval> settle_interval(CampaignCase& of, std::uint64_t seed);
/// Where is_auto_spares: so many spare nodes as 99 % of the times in which spares have to do (until failed nodes are
/// back, else a block) need, with the closed form's interval.
void settle_spares(CampaignCase& of, const campaign::Samples& samples);
/// Spares first, then the interval.
std::optional<campaign::BestInterval> settle(CampaignCase& of, const campaign::Samples& samples);
/// Whole steps between checkpoints that are to be so many apart: from 1 to all of the run.
[[nodiscard]] std::int64_t steps_between(double steps, const campaign::Setting& setting);

/// Throws InputError for more spares than the machine has nodes beside the job's.
void check_spares(const CampaignCase& of);
/// Throws InputError for a run that nothing lets end: spares that never come back, hangs that nothing ends, blocks too
/// short for a step.
void check_that_it_can_end(const CampaignFlags& flags, const campaign::Setting& setting);

/// Source of failures of such a mean, spaced as --failures says. Throws InputError for a file of times that is none.
[[nodiscard]] campaign::FailureSource source_of(const CampaignFlags& flags, const std::string& component,
                                                double mean_s);

/// True where --without names this feature.
[[nodiscard]] bool is_without(const CampaignFlags& flags, const char* feature);
/// Throws InputError for a word of --without that is not among these.
void check_without(const CampaignFlags& flags, const std::vector<std::string>& features);

}  // namespace auspex::cli
