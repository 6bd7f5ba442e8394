/// @file Rows of the table of commands: what a model takes on a machine, before anything runs.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {

std::vector<Command> prediction_commands() {
    return {
        {"describe",
         "parameters, FLOP and bytes of a workload, and the layout that a plan gives it",
         "auspex describe --workload mula-220b-a10b",
         {Flag::kWorkload},
         {Flag::kPlan, Flag::kTiles, Flag::kNodes, Flag::kMachine, Flag::kSet, Flag::kJson},
         run_describe,
         {{Flag::kMachine, "with --nodes: the machine, by file or name, whose nodes they are"},
          {Flag::kSet,
           "override a field; ROLE is workload or, with --plan, plan, or with --machine machine; may be repeated"}}},
        {"predict",
         "simulate one training step: time, losses, memory, causes",
         "auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 48 "
         "--trace "
         "step.pftrace",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles,         Flag::kNodes,   Flag::kJobBatch,    Flag::kScenario,    Flag::kLens,
          Flag::kSeed,          Flag::kSamples, Flag::kSlow,        Flag::kSet,         Flag::kTrace,
          Flag::kTraceRanks,    Flag::kChakra,  Flag::kChakraRoles, Flag::kChakraLimit, Flag::kTokens,
          Flag::kNoSensitivity, Flag::kAdvice,  Flag::kOut,         Flag::kCsv,         Flag::kJson},
         run_predict,
         {{Flag::kOut, "write a page there: index.html"}}},
        {"validate",
         "predict published training runs as their sources describe them, and say the error of each",
         "auspex validate --cases tests/published/runs --out build/validation\n"
         "  auspex validate --cases tests/published/runs --write-spread machines/published/spread.json",
         {Flag::kCases},
         {Flag::kMachinesFolder, Flag::kStacksFolder, Flag::kSet, Flag::kWriteSpread, Flag::kOut, Flag::kJson},
         run_validate,
         {{Flag::kSet, "override a field of all machines or stacks; ROLE is machine or stack; may be repeated"},
          {Flag::kOut,
           "write a report there: index.html, report.md, scatter.svg, validation.csv, validation.json, and inputs/ "
           "with "
           "workload, plan and command of every case"}}},
        {"scale",
         "predict several sizes and report how efficiency falls and why",
         "auspex scale --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b "
         "--tiles 384,768,1536,3072 --out build/scaling",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kTilesList},
         {Flag::kNodesList, Flag::kJobBatch, Flag::kScenario, Flag::kMode, Flag::kSet, Flag::kTokens,
          Flag::kNoSensitivity, Flag::kAdvice, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_scale,
         {{Flag::kAdvice,
           "of the largest size list at most N changes that would help (default 3); 0: look for none; not with "
           "--no-sensitivity, unless it is given"}}},
        {"campaign",
         "play whole training runs, from failure to failure: when they are over, node hours, what time went to",
         "auspex campaign --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "12288 "
         "--tokens 4T --walltime 12h --queue-wait 6h --spares 10\n"
         "  auspex campaign --bare --step 8.2s --steps 100000 --mtbf 3.09h --stall 30s --restart 5min "
         "--checkpoint-every "
         "13.5min --machines 1024 --daily-failure 0.0012 --replenish 1d",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles,
          Flag::kNodes,
          Flag::kJobBatch,
          Flag::kScenario,
          Flag::kSet,
          Flag::kTokens,
          Flag::kNoSensitivity,
          Flag::kBare,
          Flag::kStepTime,
          Flag::kCampaignSteps,
          Flag::kMtbf,
          Flag::kFailures,
          Flag::kStall,
          Flag::kWrite,
          Flag::kRestart,
          Flag::kIntervalOfCheckpoints,
          Flag::kDetection,
          Flag::kSilent,
          Flag::kSoft,
          Flag::kWatchdog,
          Flag::kFailedStarts,
          Flag::kMachines,
          Flag::kDailyFailure,
          Flag::kSpares,
          Flag::kReplenish,
          Flag::kSwap,
          Flag::kLemons,
          Flag::kSlowNodes,
          Flag::kWalltime,
          Flag::kQueueWait,
          Flag::kMaintenance,
          Flag::kWithout,
          Flag::kCampaignSamples,
          Flag::kSeed,
          Flag::kFinishBy,
          Flag::kStart,
          Flag::kCampaignVary,
          Flag::kOptimise,
          Flag::kCampaignObjective,
          Flag::kBuildIndex,
          Flag::kOut,
          Flag::kCsv,
          Flag::kJson},
         run_campaign,
         {{Flag::kSeed, "number of the draws (default 1): the same one gives the same answer"},
          {Flag::kOut, "write a page there, with all numbers: index.html, campaign.json, samples.csv"},
          {Flag::kCsv,
           "write the samples there, a row each: finish, node-hours, goodput, interruptions, shares of each badput"},
          {Flag::kTokens, "length of the training run, such as 1T; or --steps"},
          {Flag::kNoSensitivity, "play every sample with the predicted step, without its interval"}},
         Flag::kBare},
        {"startup",
         "from submission to the first step: phases, what bounds them, what Optimus' model broadcast makes of it, and "
         "the same on 1 to 10,000 nodes",
         "auspex startup --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --nodes 1024 "
         "--tokens 2T --queue-wait 12h\n"
         "  auspex startup --machine aurora --stack torchtitan --nodes 256 --without staging",
         {Flag::kMachine, Flag::kStack},
         {Flag::kWorkload, Flag::kPlan, Flag::kTiles, Flag::kNodes, Flag::kScenario, Flag::kSet, Flag::kTokens,
          Flag::kQueueWait, Flag::kWithout, Flag::kCampaignVary, Flag::kCsv, Flag::kJson},
         run_startup,
         {{Flag::kTiles, "tiles (accelerators) of the job; without it and --nodes what the plan's dp gives"},
          {Flag::kPlan, "parallel plan, by file or name, of which the checkpoint and the step are; with --workload"},
          {Flag::kTokens, "build the index of so many tokens, such as 2T; without it the index is there already"},
          {Flag::kQueueWait, "in the queue (default 0 s)"},
          {Flag::kWithout,
           "leave out broadcast (one replica reads the model and sends it to the others), staging (the environment as "
           "an archive on every node), parallel-index (all nodes build the data index)"},
          {Flag::kCampaignVary, "nodes of the curve, such as nodes=1:10000:12; without it by doubling, up to 10,000"},
          {Flag::kCsv, "write a row for each phase of the job and of each size there, too"}}},
        {"memory",
         "what fills a tile's memory, stage by stage and label by label, and how it comes and goes over the step",
         "auspex memory --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--out build/memory",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kNodes, Flag::kJobBatch, Flag::kScenario, Flag::kSet, Flag::kOut, Flag::kCsv,
          Flag::kJson},
         run_memory,
         {{Flag::kOut, "write a page there: index.html, memory.svg"}}},
        {"place",
         "compare placements of one job: which communication pays, and how full the links are",
         "auspex place --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--placements contiguous,random --out build/placement",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kPlacements},
         {Flag::kTiles, Flag::kNodes, Flag::kJobBatch, Flag::kScenario, Flag::kSet, Flag::kOut, Flag::kCsv,
          Flag::kJson},
         run_place,
         {{Flag::kOut, "write the comparison there: index.html, report.md, placements.csv, losses.svg"}}},
        {"diff",
         "set two plans, machines, stacks, workloads or saved predictions side by side, or a plan's prediction beside "
         "a "
         "trace of torch.profiler: what differs in the step, by loss, memory and operation",
         "auspex diff mula-100b-a7b mula-220b-a10b --machine aurora --stack optimus --workload mula-220b-a10b --tiles "
         "3072 "
         "--out "
         "build/diff\n"
         "  auspex diff optimus torchtitan --machine aurora --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072\n"
         "  auspex diff a.json b.json\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072 "
         "--json > a.json\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072 "
         "--set 'plan.recompute=[]' --json > b.json\n"
         "  python3 tools/profile_torch.py --out build/profile\n"
         "  auspex diff build/profile/plan.json build/profile/traces --machine build/profile/machine.json --stack "
         "build/profile/stack.json --workload build/profile/workload.json --out build/run",
         {Flag::kBefore, Flag::kAfter},
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kTiles, Flag::kNodes, Flag::kJobBatch,
          Flag::kSet, Flag::kTraceStep, Flag::kTraceRank, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_diff,
         {{Flag::kTiles,
           "tiles (accelerators) of both; of a trace: ranks of the run; without it what the plan's dp gives, or the "
           "trace says"},
          {Flag::kSet, "override a field of both; ROLE is machine, stack, workload or plan; may be repeated"},
          {Flag::kOut, "write a page there: index.html; with a trace operations.csv, too"}},
         {},
         {Flag::kBefore, Flag::kAfter}},
        {"ablate",
         "compare expert kernels and optimizer sharding: loop and sharded against fused and ep-aware",
         "auspex ablate --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kNodes, Flag::kJobBatch, Flag::kScenario, Flag::kSet, Flag::kOut, Flag::kCsv,
          Flag::kJson},
         run_ablate,
         {{Flag::kOut, "write a page and a table there: index.html, ablation.csv"}}},
    };
}

}  // namespace auspex::cli
