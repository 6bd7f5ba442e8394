#pragma once
/// @file The manual pages, for man, made from the table of commands.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// One page in man's own markup.
struct ManualPage {
    std::string file;  ///< "auspex-predict.1"
    std::string text;
};

/// One of the program, then one of each command.
[[nodiscard]] std::vector<ManualPage> manual_pages(const std::vector<Command>& commands);

}  // namespace auspex::cli
