/// @file auspex completion and auspex manual: what shells and man know of the commands.
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/flags/completion_scripts.hpp"
#include "cli/flags/manual_pages.hpp"
#include "launch/flag_context.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/report_files.hpp"

namespace auspex::cli {

void run_completion_bash(const Options& /*options*/) { std::cout << bash_completion(commands()); }
void run_completion_fish(const Options& /*options*/) { std::cout << fish_completion(commands()); }
void run_completion_zsh(const Options& /*options*/) { std::cout << zsh_completion(commands()); }

void run_completion_names(const Options& options) {
    for (const std::string& name : launch::input_names(options.role)) {
        std::cout << name << "\n";
    }
}

void run_manual(const Options& options) {
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    for (const ManualPage& page : manual_pages(commands())) {
        const auto folder = launch::with_flag_context(
            "--out", options.out, [&] { return report::make_report_folder(options.out, page.file); });
        report::write_report_file(folder / page.file, page.text);
    }
}

}  // namespace auspex::cli
