/// @file Rows of the table of commands: from other projects' formats, and to them.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {

std::vector<Command> exchange_commands() {
    return {
        {"scenario",
         "write all inputs of a job into one file, with what --set changes: to keep, to send, to run again",
         "auspex scenario --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --nodes 256 "
         "--out build/mula.json\n"
         "  auspex predict --scenario build/mula.json",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTilesList, Flag::kNodesList, Flag::kJobBatch, Flag::kScenario, Flag::kTokens, Flag::kSet,
          Flag::kWorkloadOut, Flag::kJson},
         run_scenario,
         {{Flag::kTilesList, "numbers of tiles, smallest first; one for predict, memory, place, ablate, program"},
          {Flag::kWorkloadOut, "file to write; without it, it is printed"}}},
        {"emit",
         "write a plan as arguments of a training framework, or as a script to submit",
         "auspex emit --format megatron-lm --workload mixtral-8x22b --plan mixtral-8x22b --tiles 128\n"
         "  auspex emit --format megatron-lm --workload agpt-70b --plan agpt-70b --tiles 96 --machine aurora --stack "
         "megatron-deepspeed --job pbs --steps 1000 --out job.pbs",
         {Flag::kFormat, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kMachine, Flag::kStack, Flag::kSet, Flag::kJob, Flag::kSteps, Flag::kWorkloadOut,
          Flag::kJson},
         run_emit,
         {{Flag::kSteps, "with --job: steps of the run, for its walltime"},
          {Flag::kWorkloadOut, "file to write; without it, it is printed"}}},
        {"import megatron",
         "make a plan of the arguments of Megatron-LM",
         "auspex import megatron train.sh --tiles 128 --out my-plan.json",
         {Flag::kConfig},
         {Flag::kTiles, Flag::kWorkloadOut, Flag::kJson},
         run_import_megatron,
         {{Flag::kConfig, "launch script, or a file of arguments; the flag's name may be left out"},
          {Flag::kTiles, "ranks of the job, where the script does not say"},
          {Flag::kWorkloadOut, "plan file to write; without it, it is printed"}},
         {},
         {Flag::kConfig}},
        {"import chakra",
         "play Chakra execution traces of any framework on a machine",
         "auspex import chakra traces --machine aurora --stack optimus\n"
         "  auspex predict --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 48 "
         "--chakra traces",
         {Flag::kTraceFolder, Flag::kMachine, Flag::kStack},
         {Flag::kCommGroups, Flag::kDurations, Flag::kOneCommunication, Flag::kSet, Flag::kTrace, Flag::kTraceRanks,
          Flag::kJson},
         run_import_chakra,
         {{Flag::kSet, "override a field; ROLE is machine or stack; may be repeated"},
          {Flag::kTrace,
           "write the timeline of the ranks, for ui.perfetto.dev: NAME.pftrace as Perfetto's TrackEvent, other names "
           "as "
           "Chrome's JSON"},
          {Flag::kTraceRanks, "the ranks in the trace (default: all)"}},
         {},
         {Flag::kTraceFolder}},
        {"import hf",
         "make a workload of the config.json of a model of Hugging Face",
         "auspex import hf config.json --sequence-length 4096 --out my-model.json",
         {Flag::kConfig},
         {Flag::kTrainingLength, Flag::kSet, Flag::kWorkloadOut, Flag::kJson},
         run_import_hf,
         {{Flag::kSet,
           "override a field of the config or of the workload, as workload.KEY=VALUE; null: as if it was not there; "
           "may be repeated"}},
         {},
         {Flag::kConfig}},
    };
}

}  // namespace auspex::cli
