/// @file Where an import's file goes.
#include "cli/commands/exchange/imported_file.hpp"

#include <filesystem>
#include <iostream>
#include <system_error>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "launch/output_locks.hpp"

namespace auspex::cli {

bool is_printed(const std::string& text, const Options& options) {
    if (options.out.empty()) {
        std::cout << text;
        return true;
    }
    std::error_code status;
    if (std::filesystem::equivalent(options.config, options.out, status)) {
        throw InputError("--out " + options.out, "found the file that is imported; expected another one");
    }
    launch::OutputLocks locks(options.command_line);
    locks.take_file("--out " + options.out, options.out);
    write_file(options.out, text);
    return false;
}

}  // namespace auspex::cli
