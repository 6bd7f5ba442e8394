#pragma once
/// @file The page of a run beside its prediction.
#include <string>
#include <vector>

#include "compare/kineto/account/run_diff.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::report {

struct RunPage {
    kineto::RunDiff diff;
    std::string title;
    std::string command;  ///< that makes the page again
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
};

/// The page as one self-contained HTML document.
[[nodiscard]] std::string render_run_html(const RunPage& page);

/// index.html and operations.csv. Throws InputError where they cannot be written.
void write_run_page(const RunPage& page, const std::string& directory);

}  // namespace auspex::report
