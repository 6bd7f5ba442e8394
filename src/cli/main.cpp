/// @file auspex: picks the sub-command and turns what is thrown into one line and an exit code.
#include <algorithm>
#include <csignal>
#include <exception>
#include <iomanip>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/messages.hpp"
#include "cli/train_setup.hpp"

namespace auspex {

const std::vector<Command>& commands() {
    static const std::vector<Command> kCommands{
        {"describe",
         "parameters, FLOP and bytes of a workload, and the layout that a plan gives it",
         "auspex describe --workload mula-220b-a10b",
         {Flag::kWorkload},
         {Flag::kPlan, Flag::kTiles, Flag::kSet, Flag::kJson},
         run_describe},
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
        {"place",
         "compare placements of one job: which communication pays, and how full the links are",
         "auspex place --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 "
         "--placements contiguous,random --out build/placement",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan, Flag::kPlacements},
         {Flag::kTiles, Flag::kSet, Flag::kOut, Flag::kJson},
         run_place},
        {"ablate",
         "compare expert kernels and optimizer sharding: loop and sharded against fused and ep-aware",
         "auspex ablate --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kJson},
         run_ablate},
        {"collective",
         "time one collective: algorithms, phases, what bounds it; over many sizes with --bytes 8:1GiB",
         "auspex collective --machine aurora --kind all-reduce --bytes 1GiB --ranks 98304",
         {Flag::kMachine, Flag::kKind, Flag::kRanks},
         {Flag::kStack, Flag::kBytes, Flag::kAlgorithm, Flag::kLevels, Flag::kGroupsOf, Flag::kStride, Flag::kAlone,
          Flag::kZipf, Flag::kPlacement, Flag::kSeed, Flag::kSet, Flag::kOut, Flag::kJson},
         run_collective},
        {"fabric",
         "build a machine's network link by link: counts, bisection, taper, beside what is stated of it; a drawing",
         "auspex fabric --machine aurora --out build/fabric",
         {Flag::kMachine},
         {Flag::kSet, Flag::kOut, Flag::kJson},
         run_fabric},
        {"program",
         "print the operations of one step, every role and stream",
         "auspex program --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2",
         {Flag::kMachine, Flag::kStack, Flag::kWorkload, Flag::kPlan},
         {Flag::kTiles, Flag::kSet, Flag::kCheckExecutor, Flag::kJson},
         run_program},
        train_command(run_train),
        {"verify",
         "prove the trainer here: many layouts against one rank, memory and counts, kills and restarts",
         "auspex verify --steps 20 --layouts 8 --out build/verify",
         {},
         {Flag::kWorkload, Flag::kData, Flag::kSteps, Flag::kMaxRanks, Flag::kLayouts, Flag::kKills, Flag::kOut,
          Flag::kJson},
         run_verify},
        {"calibrate",
         "time the trainer's kernels and messages on this machine, and write a machine file of it",
         "auspex calibrate --out machines/local.json --report build/calibration\n"
         "  auspex calibrate --from aurora --machine aurora --out build/aurora-measured.json\n"
         "  tools/netlab run --nodes 2 --slots 2 --rate 400mbit -- auspex calibrate --out machines/local-2.json "
         "--hostfile {hostfile} --mpirun \"{flags}\"",
         {},
         {Flag::kCalibrateOut, Flag::kMeasurements, Flag::kFresh, Flag::kMaxRanks, Flag::kPrecision, Flag::kBudget,
          Flag::kTrainStack, Flag::kHostfile, Flag::kMpirun, Flag::kReport, Flag::kFrom, Flag::kMachine, Flag::kJson},
         run_calibrate},
        {"compare",
         "train real layouts on this machine and set what they take beside what is predicted",
         "auspex compare --plans toy-dp4 toy-pp2-ep2 --workload toy-moe --out build/compare\n"
         "  auspex compare --layouts one-node --out build/compare-layouts",
         {},
         {Flag::kPlans, Flag::kWorkloads, Flag::kLayoutsFile, Flag::kMachine, Flag::kTrainStack, Flag::kTrainRanks,
          Flag::kRepeat, Flag::kSteps, Flag::kData, Flag::kSet, Flag::kHostfile, Flag::kMpirun, Flag::kOut,
          Flag::kResume, Flag::kJson},
         run_compare},
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
    return kCommands;
}

namespace {

/// "data": the first word of commands that have two.
bool is_group(const std::string& word) {
    return std::any_of(commands().begin(), commands().end(),
                       [&](const Command& command) { return std::string_view(command.name).starts_with(word + " "); });
}

void print_commands(const std::string& head) {
    std::size_t width = 0;
    for (const Command& command : commands()) {
        width = std::max(width, std::string_view(command.name).size());
    }
    for (const Command& command : commands()) {
        if (std::string_view(command.name).starts_with(head)) {
            std::cout << "  " << std::left << std::setw(static_cast<int>(width) + 2) << command.name << command.summary
                      << "\n";
        }
    }
}

void print_help_of_group(const std::string& word) {
    std::cout << "usage: auspex " << word << " COMMAND FLAGS\n\n";
    print_commands(word + " ");
    std::cout << "\nauspex " << word << " COMMAND --help lists the command's flags.\n";
}

void print_help() {
    std::cout
        << "auspex " << AUSPEX_VERSION
        << ": predicts the training step of a large language model on a supercomputer that nobody has to book.\n\n"
           "usage: auspex COMMAND FLAGS\n\n";
    print_commands("");
    std::cout
        << "\nauspex COMMAND --help lists the command's flags; auspex --version says what this is.\n\nExample:\n  "
        << commands().at(1).example << "\n";
}

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

/// How many arguments at the front name the command: its words, or 0.
std::size_t words_that_name(const Command& command, const std::vector<std::string>& arguments) {
    const std::string_view name = command.name;
    const std::size_t space = name.find(' ');
    if (arguments.front() != name.substr(0, space)) {
        return 0;
    }
    if (space == std::string_view::npos) {
        return 1;
    }
    return arguments.size() > 1 && arguments[1] == name.substr(space + 1) ? 2 : 0;
}

void run(const Command& command, const Options& options) {
    try {
        command.run(options);
    } catch (const InputError& error) {
        throw blame_command_line(options, error);
    }
}

void dispatch(std::vector<std::string> arguments) {
    if (arguments.empty() || asks_for_help(arguments.front()) || arguments.front() == "help") {
        print_help();
        return;
    }
    if (arguments.front() == "--version") {
        arguments.front() = "version";
    }
    const bool names_group = is_group(arguments.front());
    if (names_group && arguments.size() > 1 && asks_for_help(arguments[1])) {
        print_help_of_group(arguments.front());
        return;
    }
    std::string names;
    for (const Command& command : commands()) {
        if (const std::size_t words = words_that_name(command, arguments); words > 0) {
            const std::vector<std::string> flags(arguments.begin() + static_cast<std::ptrdiff_t>(words),
                                                 arguments.end());
            if (std::any_of(flags.begin(), flags.end(), asks_for_help)) {
                std::cout << help_of(command);
            } else {
                run(command, parse_options(command, flags));
            }
            return;
        }
        if (!names_group || std::string_view(command.name).starts_with(arguments.front() + " ")) {
            names += (names.empty() ? "" : ", ") + std::string(command.name);
        }
    }
    const std::string second = names_group && arguments.size() > 1 ? " " + arguments[1] : "";
    throw InputError("auspex", "found the command \"" + arguments.front() + second + "\"; expected one of " + names);
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) {
    using namespace auspex;
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails like any other
    try {
        dispatch({argv + std::min(argc, 1), argv + argc});
        std::cout.flush();
        if (!std::cout) {
            std::cerr << message_line(kFailureHead, "the output could not be written") << "\n";
            return kFailed;
        }
        return 0;
    } catch (const InputError& error) {
        std::cerr << message_line(kErrorHead, error.what()) << "\n";
        return kBadInput;
    } catch (const std::exception& error) {
        std::cerr << message_line(kFailureHead, error.what()) << "\n";
        return kFailed;
    }
}
