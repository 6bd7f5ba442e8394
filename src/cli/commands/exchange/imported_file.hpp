#pragma once
/// @file What an import makes: printed, or written to --out.
#include <string>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// Prints the content of a file, or, with --out, writes it; true if it was printed. Throws InputError where --out is
/// the file that is imported.
bool is_printed(const std::string& text, const Options& options);

}  // namespace auspex::cli
