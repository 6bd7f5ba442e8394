/// @file Rows of the table of commands: from other projects' formats, and to them.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {
namespace {

/// A plan file of a framework's settings.
Command import_of(const char* name, const char* summary, const char* example, std::vector<Flag> own,
                  void (*run)(const Options&)) {
    std::vector<Flag> optional{Flag::kTiles, Flag::kWorkload};
    optional.insert(optional.end(), own.begin(), own.end());
    optional.insert(optional.end(), {Flag::kWorkloadOut, Flag::kJson});
    return {
        name,
        summary,
        example,
        {Flag::kConfig},
        optional,
        run,
        {{Flag::kConfig, "script or configuration; the flag's name may be left out"},
         {Flag::kTiles, "ranks of the job, where the file does not say"},
         {Flag::kWorkload, "the model, where what the file says depends on it; the plan is then checked against it"},
         {Flag::kWorkloadOut, "plan file to write; without it, it is printed"}},
        {},
        {Flag::kConfig}};
}

}  // namespace

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
         "write a plan as settings of a training framework, or as a script to submit",
         "auspex emit --format megatron-lm --workload mixtral-8x22b --plan mixtral-8x22b --tiles 128\n"
         "  auspex emit --format optimus --workload mula-220b-a10b --plan mula-220b-a10b --machine aurora --stack "
         "optimus --job pbs --steps 1000 --out job.pbs",
         {Flag::kFormat, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kNodes, Flag::kJobBatch, Flag::kScenario, Flag::kMachine, Flag::kStack, Flag::kSet,
          Flag::kJob, Flag::kSteps, Flag::kWorkloadOut, Flag::kJson},
         run_emit,
         {{Flag::kSteps, "steps of the run; with --job its walltime is theirs"},
          {Flag::kMachine, "machine file, or the name of one in machines/: tiles of a node, and how its jobs start"},
          {Flag::kStack, "with --job: software stack file, or the name of one in stacks/, which the walltime is of"},
          {Flag::kWorkloadOut, "file to write; without it, it is printed"}}},
        import_of("import megatron", "make a plan of the arguments of Megatron-LM",
                  "auspex import megatron train.sh --tiles 128 --out my-plan.json", {}, run_import_megatron),
        import_of("import optimus", "make a plan of the variables of Optimus-LM's run_experiment.sh",
                  "auspex import optimus run.sh --out my-plan.json", {}, run_import_optimus),
        import_of(
            "import torchtitan", "make a plan of a configuration of torchtitan, or of its options",
            "auspex import torchtitan my_config.py --function llama3_70b --workload llama3-70b --out my-plan.json",
            {Flag::kFunction}, run_import_torchtitan),
        import_of("import deepspeed", "make a plan of DeepSpeed's JSON, with arguments of Megatron-DeepSpeed",
                  "auspex import deepspeed ds_config.json --args train.sh --tiles 96 --out my-plan.json",
                  {Flag::kArguments}, run_import_deepspeed),
        {"import nccl-tests",
         "make rows of measurements of what nccl-tests or rccl-tests print",
         "auspex import nccl-tests all_reduce.txt --out rows.csv && auspex calibrate --from rows.csv --machine "
         "dgx-h100 --out my-machine.json",
         {Flag::kConfig},
         {Flag::kKind, Flag::kRanks, Flag::kNodesOfRows, Flag::kMinBytes, Flag::kMachineText, Flag::kLibrary,
          Flag::kWorkloadOut, Flag::kJson},
         run_import_nccl_tests,
         {{Flag::kConfig, "the output; the flag's name may be left out"},
          {Flag::kKind,
           "the collective, where the text does not say: all-reduce, reduce-scatter, all-gather, all-to-all "
           "or broadcast"},
          {Flag::kRanks, "ranks of the job, where the text lists no devices"},
          {Flag::kWorkloadOut, "file of rows to write; without it, they are printed"}},
         {},
         {Flag::kConfig}},
        {"import osu",
         "make rows of measurements of what an OSU micro-benchmark prints",
         "auspex import osu osu_allreduce.txt --ranks 96 --nodes 8 --out rows.csv\n"
         "  auspex import osu osu_bw.txt --link nic --out rows.csv",
         {Flag::kConfig},
         {Flag::kRanks, Flag::kNodesOfRows, Flag::kLink, Flag::kKind, Flag::kMinBytes, Flag::kMachineText,
          Flag::kLibrary, Flag::kWorkloadOut, Flag::kJson},
         run_import_osu,
         {{Flag::kConfig, "the output; the flag's name may be left out"},
          {Flag::kKind, "the collective that is expected: that of another is refused"},
          {Flag::kRanks, "ranks of a collective, which the text does not say"},
          {Flag::kNodesOfRows, "nodes of the job, which the text does not say"},
          {Flag::kWorkloadOut, "file of rows to write; without it, they are printed"}},
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
