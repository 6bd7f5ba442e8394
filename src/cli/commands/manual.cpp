/// @file auspex manual: a page for man of each command.
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/flags/manual_pages.hpp"
#include "launch/flag_context.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/report_files.hpp"

namespace auspex::cli {

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
