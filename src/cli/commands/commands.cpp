/// @file The table of commands: what help, manual pages and completions are made from.
#include "cli/commands/commands.hpp"

#include "cli/flags/command_meanings.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/train_flags.hpp"
#include "cli/plans/plan_command.hpp"
#include "workflows/verify/request.hpp"

namespace auspex::cli {

namespace {

/// What a model takes on a machine, before anything runs.
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
          Flag::kJson},
         run_predict},
        {"scale",
         "predict several sizes and report how efficiency falls and why",
         "auspex scale --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b "
         "--tiles 384,768,1536,3072 --out build/scaling",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kTilesList},
         {Flag::kMode, Flag::kSet, Flag::kTokens, Flag::kOut, Flag::kJson},
         run_scale},
        {"memory",
         "what fills a tile's memory, stage by stage and label by label, and how it comes and goes over the step",
         "auspex memory --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--out build/memory",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kOut, Flag::kJson},
         run_memory,
         {{Flag::kOut, "write a page there: index.html, memory.svg"}}},
        {"place",
         "compare placements of one job: which communication pays, and how full the links are",
         "auspex place --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--placements contiguous,random --out build/placement",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kPlacements},
         {Flag::kTiles, Flag::kSet, Flag::kOut, Flag::kJson},
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
         {Flag::kJson},
         run_diff,
         {},
         {},
         {Flag::kBefore, Flag::kAfter}},
        {"ablate",
         "compare expert kernels and optimizer sharding: loop and sharded against fused and ep-aware",
         "auspex ablate --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kJson},
         run_ablate},
    };
}

/// What predictions are made of, by itself.
std::vector<Command> inspection_commands() {
    return {
        {"collective",
         "time one collective: algorithms, phases, what bounds it; over many sizes with --bytes 8:1GiB",
         "auspex collective --machine aurora --kind all-reduce --bytes 1GiB --ranks 98304\n"
         "  auspex collective --against published.json",
         {Flag::kMachine, Flag::kKind, Flag::kRanks},
         {Flag::kStack, Flag::kBytes, Flag::kAlgorithm, Flag::kLevels, Flag::kGroupsOf, Flag::kStride, Flag::kAlone,
          Flag::kZipf, Flag::kPlacement, Flag::kSeed, Flag::kAgainst, Flag::kSet, Flag::kOut, Flag::kJson},
         run_collective,
         {{Flag::kAgainst,
           "instead of one collective: predict every collective of a JSON file of published measurements, and print "
           "the "
           "errors; machines and stacks are those that the rows name, unless --stack replaces them all"},
          {Flag::kSet, "override a field; ROLE is machine or stack; may be repeated"},
          {Flag::kSeed, "number of the draw of a random or scheduled placement (default 1)"},
          {Flag::kOut, "write table, points and curves there: sweep.csv, sweep.md, sweep.svg"}},
         Flag::kAgainst},
        plan_command(run_plan),
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
         {Flag::kTiles, Flag::kSet, Flag::kCheckExecutor, Flag::kJson},
         run_program},
    };
}

/// What runs on this machine.
std::vector<Command> training_commands() {
    return {
        train_command(run_train),
        {"verify",
         "prove the trainer here: many layouts against one rank, memory and counts, kills and restarts",
         "auspex verify --steps 20 --layouts 8 --out build/verify",
         {},
         {Flag::kWorkload, Flag::kData, Flag::kSteps, Flag::kMaxRanks, Flag::kLayouts, Flag::kKills, Flag::kOut,
          Flag::kJson},
         run_verify,
         {{Flag::kWorkload, "model with experts, or the name of one in workloads/ (default toy-moe)"},
          {Flag::kData, "dataset that \"auspex data prepare\" has written; without it a text is made up"},
          {Flag::kSteps, "of every run" + by_default(workflows::VerifyRequest().steps)},
          {Flag::kOut, "write the report there: index.html, report.md, layouts.csv, recovery.csv, loss.svg"}}},
        {"calibrate",
         "time the trainer's kernels and messages on this machine, and write a machine file of it",
         "auspex calibrate --out machines/local.json --report build/calibration\n"
         "  auspex calibrate --from aurora --machine aurora --out build/aurora-measured.json\n"
         "  tools/netlab run --nodes 2 --slots 2 --rate 400mbit -- auspex calibrate --out machines/local-2.json "
         "--hostfile {hostfile} --mpirun \"{flags}\"",
         {},
         {Flag::kCalibrateOut, Flag::kMeasurements, Flag::kFresh, Flag::kMaxRanks, Flag::kPrecision, Flag::kBudget,
          Flag::kTrainStack, Flag::kHostfile, Flag::kMpirun, Flag::kReport, Flag::kFrom, Flag::kMachine, Flag::kJson},
         run_calibrate,
         calibrate_meanings()},
        {"compare",
         "train real layouts on this machine and set what they take beside what is predicted",
         "auspex compare --plans toy-dp4 toy-pp2-ep2 --workload toy-moe --out build/compare\n"
         "  auspex compare --layouts one-node --out build/compare-layouts\n"
         "  auspex compare --random 20 --seed 7 --out build/compare-random",
         {},
         {Flag::kPlans, Flag::kWorkloads, Flag::kLayoutsFile, Flag::kRandomLayouts, Flag::kSeed, Flag::kMachine,
          Flag::kTrainStack, Flag::kTrainRanks, Flag::kRepeat, Flag::kSteps, Flag::kData, Flag::kSet, Flag::kHostfile,
          Flag::kMpirun, Flag::kOut, Flag::kResume, Flag::kMechanisms, Flag::kJson},
         run_compare,
         compare_meanings()},
    };
}

/// What training reads.
std::vector<Command> dataset_commands() {
    return {
        {"data prepare",
         "tokenise text, shuffle it and write the dataset that training reads",
         "auspex data prepare --input README.md docs/physics.md --tokenizer bpe --vocab-size 512 --sequence-length 64 "
         "--out build/data",
         {Flag::kDatasetOut},
         {Flag::kInput, Flag::kDocumentSeparator, Flag::kTokenizer, Flag::kMegatron, Flag::kVocabSize,
          Flag::kSequenceLength, Flag::kRowSeed, Flag::kShardRows, Flag::kJson},
         run_data_prepare},
        {"data show",
         "say what a dataset holds; read all of it and compare checksums",
         "auspex data show --data build/data",
         {Flag::kData},
         {Flag::kJson},
         run_data_show},
        {"data export-megatron",
         "write a dataset's rows as a Megatron indexed dataset",
         "auspex data export-megatron --data build/data --out build/data/megatron",
         {Flag::kData, Flag::kMegatronOut},
         {Flag::kJson},
         run_data_export_megatron},
    };
}

/// From other projects' formats, and to them.
std::vector<Command> exchange_commands() {
    return {
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

/// About this program itself.
std::vector<Command> program_commands() {
    return {
        {"completion bash",
         "print what bash completes this program's commands, flags and names by",
         "auspex completion bash > ~/.local/share/bash-completion/completions/auspex",
         {},
         {},
         run_completion_bash},
        {"completion zsh",
         "the same for zsh, in a folder of its fpath",
         "auspex completion zsh > ~/.zfunc/_auspex",
         {},
         {},
         run_completion_zsh},
        {"completion fish",
         "the same for fish",
         "auspex completion fish > ~/.config/fish/completions/auspex.fish",
         {},
         {},
         run_completion_fish},
        {"completion names",
         "print the names of input files, one a line",
         "auspex completion names --role machine",
         {Flag::kRole},
         {},
         run_completion_names},
        {"manual",
         "write the manual pages of all commands, for man",
         "auspex manual --out build/man1 && man build/man1/auspex-predict.1",
         {Flag::kManualOut},
         {},
         run_manual},
        {"version",
         "print version, commit, compiler, instruction sets, libraries, and where trainer and data are; also --version",
         "auspex version --json",
         {},
         {Flag::kJson},
         run_version},
    };
}

std::vector<Command> all_commands() {
    std::vector<Command> all;
    for (const auto& group : {prediction_commands(), inspection_commands(), training_commands(), dataset_commands(),
                              exchange_commands(), program_commands()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> kCommands = all_commands();
    return kCommands;
}

}  // namespace auspex::cli
