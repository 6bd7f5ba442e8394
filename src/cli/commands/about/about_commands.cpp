/// @file Rows of the table of commands: about this program itself.
#include "cli/commands/command_groups.hpp"
#include "cli/commands/commands.hpp"

namespace auspex::cli {

std::vector<Command> program_commands() {
    return {
        {"list",
         "the machines, stacks, workloads and plans that there are, each in a line",
         "auspex list machines\n"
         "  auspex list stacks plans",
         {},
         {Flag::kListed, Flag::kJson},
         run_list,
         {},
         {},
         {Flag::kListed}},
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

}  // namespace auspex::cli
