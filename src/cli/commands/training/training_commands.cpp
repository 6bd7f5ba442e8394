/// @file Rows of the table of commands: what runs on this machine, and what training reads.
#include "cli/blends/blend_request.hpp"
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/command_meanings.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/train_flags.hpp"
#include "workflows/endure/request.hpp"
#include "workflows/verify/request.hpp"

namespace auspex::cli {

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
          {Flag::kData, "dataset, or blend; without it a text is made up"},
          {Flag::kSteps, "of every run" + by_default(workflows::VerifyRequest().steps)},
          {Flag::kOut, "write the report there: index.html, report.md, layouts.csv, recovery.csv, loss.svg"}}},
        {"endure",
         "kill a supervised run again and again, and set its goodput beside what a campaign predicts",
         "auspex endure --intervals 4,16,64 --mtbf 3s --kills 60 --out build/endure",
         {},
         {Flag::kWorkload, Flag::kData, Flag::kTrainRanks, Flag::kIntervals, Flag::kKillTimes, Flag::kKills,
          Flag::kSeed, Flag::kMpirun, Flag::kOut, Flag::kJson},
         run_endure,
         {{Flag::kWorkload, "model, or the name of one in workloads/ (default toy-moe)"},
          {Flag::kData, "dataset, or blend; without it a text is made up"},
          {Flag::kTrainRanks, "or -n N: ranks, which divide 8" + by_default(workflows::EndureRequest().ranks)},
          {Flag::kKills, "of all settings together, at least" + by_default(workflows::EndureRequest().kills)},
          {Flag::kSeed, "of when kills come and of which rank" + by_default(workflows::EndureRequest().seed)},
          {Flag::kOut, "write the report there: index.html, report.md, settings.csv, pieces.csv, goodput.svg"}}},
        {"calibrate",
         "time kernels and messages on this machine and write a machine file of it, or fit constants to training runs",
         "auspex calibrate --out machines/local.json --report build/calibration\n"
         "  auspex calibrate --from aurora --machine aurora --out build/aurora-measured.json\n"
         "  auspex calibrate --cases tests/published/runs/h100.json --machine dgx-h100 --fit machine.tile.gemm_ceiling "
         "--out build/dgx-h100.json\n"
         "  tools/netlab run --nodes 2 --slots 2 --rate 400mbit -- auspex calibrate --out machines/local-2.json "
         "--hostfile {hostfile} --mpirun \"{flags}\"",
         {},
         {Flag::kCalibrateOut, Flag::kMeasurements, Flag::kFresh, Flag::kMaxRanks, Flag::kPrecision, Flag::kBudget,
          Flag::kTrainStack, Flag::kHostfile, Flag::kMpirun, Flag::kReport, Flag::kFrom, Flag::kMachine, Flag::kCases,
          Flag::kFit, Flag::kHoldBack, Flag::kMachinesFolder, Flag::kStacksFolder, Flag::kSet, Flag::kJson},
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
        blend_command(run_data_blend),
        {"data show",
         "say what a dataset or blend holds; read all of it and compare checksums",
         "auspex data show --data build/data\n"
         "  auspex data show --data build/corpus.blend",
         {Flag::kData},
         {Flag::kJson},
         run_data_show},
        {"data export-megatron",
         "write a dataset's rows as a Megatron indexed dataset",
         "auspex data export-megatron --data build/data --out build/data/megatron",
         {Flag::kData, Flag::kMegatronOut},
         {Flag::kJson},
         run_data_export_megatron,
         {{Flag::kData, "dataset that \"auspex data prepare\" has written"}}},
    };
}

}  // namespace auspex::cli
