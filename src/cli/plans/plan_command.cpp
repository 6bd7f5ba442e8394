/// @file Its row of the table of commands.
#include "cli/plans/plan_command.hpp"

namespace auspex::cli {

Command plan_command(void (*run)(const Options&)) {
    return {
        "plan",
        "pick the layout: the fastest plans that fit, out of all that there are for these tiles and this batch",
        "auspex plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 48 --global-batch 192 --out "
        "build/plan\n"
        "  auspex plan --machine aurora --stack optimus --workload mula-7b-a1b --tiles 12..384 --global-batch 384 "
        "--tokens "
        "100B --deadline 14d\n"
        "  auspex plan --machine aurora --stack optimus --workload mula-220b-a10b --tiles 3072 --global-batch 3072 "
        "--checkpoint build/search.checkpoint\n"
        "  mpirun -n 4 --bind-to none auspex plan --machine aurora --stack optimus --workload mula-220b-a10b "
        "--tiles 3072 --global-batch 3072\n"
        "  auspex plan --machine aurora --stack optimus --workload mula-20b-a2b --tiles 96..768 --global-batch 768 "
        "--objective finish-by --tokens 1T --walltime 6h --queue-wait 2h --spares auto\n"
        "  auspex plan --machine local --workload small-moe --ranks 8\n"
        "  auspex plan --against sweep.csv --machine hf-h100 --stack nanotron",
        {Flag::kMachine, Flag::kWorkload, Flag::kTilesRange},
        {Flag::kNodesRange,   Flag::kScenario,
         Flag::kStack,        Flag::kGlobalBatch,
         Flag::kPlan,         Flag::kWhere,
         Flag::kFormat,       Flag::kSet,
         Flag::kTop,          Flag::kExhaustive,
         Flag::kTimeLimit,    Flag::kWhatIf,
         Flag::kTokens,       Flag::kDeadline,
         Flag::kObjective,    Flag::kVary,
         Flag::kAgainst,      Flag::kSearchCheckpoint,
         Flag::kSearchResume, Flag::kOut,
         Flag::kCsv,          Flag::kJson,
         Flag::kMtbf,         Flag::kStall,
         Flag::kWrite,        Flag::kRestart,
         Flag::kSwap,         Flag::kFailedStarts,
         Flag::kSpares,       Flag::kReplenish,
         Flag::kWalltime,     Flag::kQueueWait,
         Flag::kMaintenance,  Flag::kIntervalOfCheckpoints,
         Flag::kWithout,      Flag::kCampaignSamples,
         Flag::kSeed},
        run,
        {{Flag::kStack, "software stack file, or the name of one in stacks/; default: the machine's default_stack"},
         {Flag::kPlan,
          "plan file with what does not vary (precision, routing, placement), and a plan whose place among all is "
          "told; "
          "default: bf16 (on CPU cores fp32), even routing"},
         {Flag::kTokens,
          "with the time and node-hours of a run of so many, such as 1T, and by when it is over; what follows of runs "
          "is as in auspex campaign"},
         {Flag::kSeed, "of the campaigns' draws (default 1): the same one gives the same answer"},
         {Flag::kSet,
          "override a field; ROLE is machine, stack, workload or plan; a plan's field is then fixed; may be repeated"},
         {Flag::kFormat,
          "only plans that auspex emit writes for this framework: megatron-lm, optimus, torchtitan or deepspeed"},
         {Flag::kOut,
          "NAME.json: write the best one there, as a plan file; a folder: index.html, plans.json, best.json, "
          "memory.svg; of several sizes, with --objective finish-by: index.html, sizes.json, best.json, finish.svg"}},
        Flag::kAgainst};
}

}  // namespace auspex::cli
