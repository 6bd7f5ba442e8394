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
         {Flag::kPlan, Flag::kTiles, Flag::kSet, Flag::kJson},
         run_describe,
         {{Flag::kSet, "override a field; ROLE is workload or, with --plan, plan; may be repeated"}}},
        {"predict",
         "simulate one training step: time, losses, memory, causes",
         "auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kLens, Flag::kSeed, Flag::kSamples, Flag::kSlow, Flag::kSet, Flag::kTrace, Flag::kTokens,
          Flag::kCsv, Flag::kJson},
         run_predict},
        {"scale",
         "predict several sizes and report how efficiency falls and why",
         "auspex scale --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b "
         "--tiles 384,768,1536,3072 --out build/scaling",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kTilesList},
         {Flag::kMode, Flag::kSet, Flag::kTokens, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_scale},
        {"memory",
         "what fills a tile's memory, stage by stage and label by label, and how it comes and goes over the step",
         "auspex memory --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--out build/memory",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_memory,
         {{Flag::kOut, "write a page there: index.html, memory.svg"}}},
        {"place",
         "compare placements of one job: which communication pays, and how full the links are",
         "auspex place --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--placements contiguous,random --out build/placement",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kPlacements},
         {Flag::kTiles, Flag::kSet, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_place,
         {{Flag::kOut, "write the comparison there: report.md, placements.csv, losses.svg"}}},
        {"diff",
         "set two predictions side by side: what changes in the step, by loss, memory and operation",
         "auspex diff a.json b.json\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072 "
         "--json > a.json\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "
         "3072 "
         "--set 'plan.recompute=[]' --json > b.json",
         {Flag::kBefore, Flag::kAfter},
         {Flag::kCsv, Flag::kJson},
         run_diff,
         {},
         {},
         {Flag::kBefore, Flag::kAfter}},
        {"ablate",
         "compare expert kernels and optimizer sharding: loop and sharded against fused and ep-aware",
         "auspex ablate --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kCsv, Flag::kJson},
         run_ablate},
    };
}

}  // namespace auspex::cli
