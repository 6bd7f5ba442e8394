/// @file Names and meanings of the flags of auspex campaign.
#include "base/error.hpp"
#include "cli/flags/campaign_flags.hpp"

namespace auspex::cli {

bool is_campaign_flag(Flag flag) { return flag >= Flag::kBare && flag <= Flag::kCampaignVary; }

FlagText campaign_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kBare:
            return {"bare", nullptr, "without machine, stack, workload and plan: times and rates are given"};
        case Flag::kStepTime: return {"step", "TIME", "with --bare: what a step takes, such as 8.2s"};
        case Flag::kCampaignSteps: return {"steps", "N", "steps of the run, such as 100000 or 100k"};
        case Flag::kMtbf: return {"mtbf", "TIME", "mean time between interruptions of the whole job, such as 3.09h"};
        case Flag::kFailures:
            return {
                "failures", "WORD",
                "times between interruptions: exponential (default), weibull:SHAPE, or trace:FILE with a time on each "
                "line, counted while the job runs"};
        case Flag::kMachines:
            return {"machines", "N", "with --bare: machines (nodes) of the job, spares not counted (default 1)"};
        case Flag::kDailyFailure:
            return {"daily-failure", "SHARE",
                    "of machines that fail in a day: so many of the interruptions take a machine; without it all do"};
        case Flag::kStall: return {"stall", "TIME", "what a checkpoint holds the steps up for"};
        case Flag::kWrite:
            return {"write", "TIME",
                    "until a checkpoint is written, beside the steps that follow its stall; it counts from then on "
                    "(default: 0 s, the stall is all of it)"};
        case Flag::kRestart: return {"restart", "TIME", "from an interruption to the first step after it"};
        case Flag::kIntervalOfCheckpoints:
            return {"checkpoint-every", "TIME|N|auto",
                    "a time, such as 13.5min; a number of steps; auto (default): what makes the run shortest"};
        case Flag::kDetection: return {"detect", "TIME", "from a failure to the begin of the restart (default 0 s)"};
        case Flag::kSilent:
            return {"silent", "SHARE", "of interruptions that are hangs, which only the watchdog finds (default 0)"};
        case Flag::kSoft:
            return {"soft", "SHARE", "of interruptions that are NaN, found at the end of the step (default 0)"};
        case Flag::kWatchdog:
            return {"watchdog", "TIME", "a silent hang lasts so long (default 30 min); 0s: until the walltime"};
        case Flag::kFailedStarts:
            return {"failed-starts", "SHARE", "of starts that fail and begin anew, up to 0.9 (default 0)"};
        case Flag::kSwap:
            return {"swap", "TIME", "a failed machine against a spare one, before the restart (default 0 s)"};
        case Flag::kSpares:
            return {"spares", "N|auto",
                    "machines held beside those of the job; auto: as many as are enough in 99 % of the times until one "
                    "is back; without it there is always another one, at no cost"};
        case Flag::kReplenish:
            return {
                "replenish", "TIME[:P90]",
                "until a failed machine is back, such as 1d; 1d:5d: a median and what nine of ten stay under; without "
                "it not before the next block"};
        case Flag::kWalltime:
            return {"walltime", "TIME", "length of a block in the batch system, such as 12h; without it none ends"};
        case Flag::kQueueWait:
            return {"queue-wait", "TIME[:P90]",
                    "in the queue, before each block but the first, such as 6h; 6h:20h: a median and what nine of ten "
                    "stay under"};
        case Flag::kMaintenance:
            return {"maintenance", "EVERY:LENGTH", "of the machine, such as 7d:12h; the first after EVERY"};
        case Flag::kLemons:
            return {"lemons", "SHARE:FACTOR", "a share of machines fails so many times as often, such as 0.02:10"};
        case Flag::kSlowNodes:
            return {"slow-nodes", "EVERY:FACTOR:LENGTH",
                    "so often a machine makes steps so much longer, for so long, such as 3d:1.3:6h"};
        case Flag::kCampaignSamples: return {"samples", "N", "campaigns to play (default 1000)"};
        case Flag::kFinishBy:
            return {"deadline", "TIME|DATE",
                    "adds the share of campaigns that are over by then: 60d, or 2027-03-01 with --start"};
        case Flag::kStart: return {"start", "DATE", "day on which the campaign begins, such as 2027-01-01: adds dates"};
        case Flag::kWithout:
            return {"without", "WORD,...",
                    "leave out dual (two checkpoints in turn), async (writes beside steps), final-save (before a block "
                    "ends), scattered (each replica writes a part), persistent (copies of the model that stay), buffer "
                    "(spare nodes); with --bare only the first three"};
        case Flag::kBuildIndex:
            return {"build-index", nullptr,
                    "build the index of the run's tokens once, in front of its first step; else it is there already"};
        case Flag::kOptimise:
            return {"optimise", "WORD[=FROM:TO:N],...",
                    "find the best of all combinations of spares, nodes, walltime, each with its best interval or the "
                    "one that is given, such as "
                    "spares,nodes=256:2048:4; without a range: around what is given"};
        case Flag::kCampaignObjective:
            return {"objective", "finish-by|node-hours",
                    "with --optimise: what is to be least, in the median (default finish-by)"};
        case Flag::kCampaignVary:
            return {"vary", "WORD=FROM:TO:N",
                    "N campaigns that differ in one number: interval=2min:2h:10, spares=0:20:11, walltime=6h:24h:4 or, "
                    "not with --bare, nodes=256:2048:4"};
        default: check_failed("flag", "unknown flag", __FILE__, __LINE__);
    }
}

}  // namespace auspex::cli
