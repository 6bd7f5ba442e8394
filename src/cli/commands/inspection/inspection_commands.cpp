/// @file Rows of the table of commands: what predictions are made of, by itself.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {

std::vector<Command> inspection_commands() {
    return {
        {"collective",
         "time one collective: algorithms, phases, what bounds it; over many sizes with --bytes 8:1GiB",
         "auspex collective --machine aurora --kind all-reduce --bytes 1GiB --ranks 98304\n"
         "  auspex collective --against published.json",
         {Flag::kMachine, Flag::kKind, Flag::kRanks},
         {Flag::kStack, Flag::kBytes, Flag::kAlgorithm, Flag::kLevels, Flag::kGroupsOf, Flag::kStride, Flag::kAlone,
          Flag::kZipf, Flag::kPlacement, Flag::kSeed, Flag::kAgainst, Flag::kSet, Flag::kOut, Flag::kCsv, Flag::kJson},
         run_collective,
         {{Flag::kAgainst,
           "instead of one collective: predict every collective of a JSON file of published measurements, and print "
           "the "
           "errors; machines and stacks are those that the rows name, unless --stack replaces them all"},
          {Flag::kSet, "override a field; ROLE is machine or stack; may be repeated"},
          {Flag::kSeed, "number of the draw of a random or scheduled placement (default 1)"},
          {Flag::kOut, "write page, table, points and curves there: index.html, sweep.csv, sweep.md, sweep.svg"}},
         Flag::kAgainst},
        {"fabric",
         "build a machine's network link by link: counts, bisection, taper, beside what is stated of it; a drawing",
         "auspex fabric --machine aurora --out build/fabric",
         {Flag::kMachine},
         {Flag::kSet, Flag::kOut, Flag::kJson},
         run_fabric,
         {{Flag::kSet, "override a field; ROLE is machine; may be repeated"},
          {Flag::kOut, "write a drawing of one node and the network there: fabric.svg"}}},
        {"program",
         "print the operations of one step, every role and stream",
         "auspex program --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kNodes, Flag::kJobBatch, Flag::kScenario, Flag::kSet, Flag::kCheckExecutor,
          Flag::kPipelineCsv, Flag::kJson},
         run_program},
        {"schedule",
         "play an order of pipeline passes with given times: makespan, bubble, activations in flight, a picture",
         "auspex schedule --order zb-h1 --pp 8 --micro-batches 24 --times F=18.522ms,B=18.086ms,W=9.337ms,send=0.601ms "
         "--svg zb-h1.svg\n"
         "  auspex schedule --order dualpipev --pp 8 --micro-batches 32 --times F=10ms,B=10ms,W=10ms --overlap "
         "'F&B=25ms' --csv order.csv",
         {Flag::kOrder, Flag::kPassTimes},
         {Flag::kPipelineRanks, Flag::kMicroBatches, Flag::kVirtualStages, Flag::kPairTimes, Flag::kInFlight,
          Flag::kKeptForWeights, Flag::kSvg, Flag::kCsv, Flag::kJson},
         run_schedule,
         {{Flag::kCsv,
           "write the order there, a line a rank, as torch.distributed.pipelining keeps it; --order reads it back"}}},
    };
}

}  // namespace auspex::cli
