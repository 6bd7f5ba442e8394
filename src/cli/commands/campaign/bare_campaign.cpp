/// @file auspex campaign --bare: a run of which only times and rates are known.
#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "campaign/closed_forms.hpp"
#include "cli/commands/campaign/campaign_kinds.hpp"
#include "cli/flags/flag_values.hpp"

namespace auspex::cli {
namespace {

constexpr double kDay = 86'400;

void require(bool is_given, const char* flag) {
    if (!is_given) {
        throw InputError("auspex campaign",
                         std::string("found --bare without ") + flag +
                             "; for example: auspex campaign --bare --step 8.2s --steps 100000 --mtbf 3.09h --stall "
                             "30s --restart 5min");
    }
}

/// Machines that fail are a part of the interruptions, as far as those are as many; what is left takes no machine.
void add_sources(const CampaignFlags& flags, CampaignCase& to) {
    std::vector<campaign::FailureSource>& sources = to.setting.failures;
    if (!flags.trace.empty() || !flags.daily_failure) {
        sources.push_back(source_of(flags, "machine", flags.mtbf_s));
        return;
    }
    const double machine_rate = -std::log1p(-*flags.daily_failure) * to.setting.nodes.count / kDay;
    const double all_rate = flags.mtbf_s > 0 ? 1 / flags.mtbf_s : machine_rate;
    if (machine_rate > 0) {
        sources.push_back(source_of(flags, "machine", 1 / machine_rate));
    }
    if (all_rate > machine_rate) {
        sources.push_back(source_of(flags, "software", 1 / (all_rate - machine_rate)));
        sources.back().nodes = 0;
    } else if (flags.mtbf_s > 0 && machine_rate > all_rate * (1 + 1e-9)) {
        to.notes.push_back("Machines fail every " + format_quantity(1 / machine_rate, Dimension::kSeconds) +
                           ", which is more often than --mtbf has interruptions: all of these are counted.");
    }
}

}  // namespace

CampaignCase bare_campaign(const Options& options) {
    const CampaignFlags& flags = options.campaign;
    refuse_given({{"--machine", !options.machine.empty()},
                  {"--stack", !options.stack.empty()},
                  {"--workload", !options.workload.empty()},
                  {"--plan", !options.plan.empty()},
                  {"--tokens", options.tokens > 0},
                  {"--tiles", !options.tiles.empty()},
                  {"--scenario", !options.scenario.empty()},
                  {"--nodes", !options.nodes.empty()},
                  {"--global-batch", options.global_batch > 0},
                  {"--no-sensitivity", options.no_sensitivity},
                  {"--build-index", flags.builds_index},
                  {"--set", !options.overrides.empty()}},
                 "found with --bare, which has times and rates only; expected one of them");
    check_without(flags, {"dual", "async", "final-save"});
    require(flags.step_s > 0, "--step");
    require(flags.steps > 0, "--steps");
    require(flags.stall_s.has_value(), "--stall");
    require(flags.restart_s.has_value(), "--restart");
    require(flags.mtbf_s > 0 || !flags.trace.empty() || (flags.machines > 0 && flags.daily_failure),
            "--mtbf (or --machines and --daily-failure)");
    if (flags.daily_failure && flags.machines == 0) {
        throw InputError("--daily-failure", "found without --machines; expected both: it is of one machine");
    }
    refuse_given({{"--mtbf", !flags.trace.empty() && flags.mtbf_s > 0},
                  {"--daily-failure", !flags.trace.empty() && flags.daily_failure}},
                 "found with --failures trace:FILE, whose times are all interruptions; expected one of them");
    if (flags.queue_wait_s && flags.walltime_s <= 0 && !flags.spares && !flags.auto_spares &&
        flags.maintenance_s <= 0) {
        throw InputError("--queue-wait",
                         "found without --walltime, --spares and --maintenance, where the job never goes to the queue; "
                         "expected one of them");
    }
    CampaignCase to;
    campaign::Setting& s = to.setting;
    s.steps = flags.steps;
    s.step_s = flags.step_s;
    s.nodes.count = std::max(flags.machines, 1);
    const double write_s = flags.write_s.value_or(0);
    const bool is_async = !is_without(flags, "async");
    s.checkpoints.stall_s = *flags.stall_s + (is_async ? 0 : write_s);
    s.checkpoints.write_s = is_async ? write_s : 0;
    s.checkpoints.copies = is_without(flags, "dual") ? 1 : 2;
    s.checkpoints.at_block_end = !is_without(flags, "final-save");
    s.recovery.restart_s = *flags.restart_s;
    s.recovery.swap_s = flags.swap_s.value_or(0);
    add_sources(flags, to);
    apply_campaign_flags(flags, to);
    to.title = thousands(static_cast<double>(s.steps)) + " steps of " + format_quantity(s.step_s, Dimension::kSeconds);
    return to;
}

}  // namespace auspex::cli
