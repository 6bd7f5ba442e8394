/// @file auspex completion: scripts for shells, and the names that they ask for.
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/flags/completion_scripts.hpp"
#include "launch/input_files.hpp"

namespace auspex::cli {

void run_completion_bash(const Options& /*options*/) { std::cout << bash_completion(commands()); }
void run_completion_fish(const Options& /*options*/) { std::cout << fish_completion(commands()); }
void run_completion_zsh(const Options& /*options*/) { std::cout << zsh_completion(commands()); }

void run_completion_names(const Options& options) {
    for (const std::string& name : launch::input_names(options.role)) {
        std::cout << name << "\n";
    }
}

}  // namespace auspex::cli
