#pragma once
/// @file What a report of published runs is made of.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::report {

struct ValidationReport {
    std::vector<evaluate::ValidatedRun> runs;
    evaluate::RunNames names;
    std::vector<evaluate::ConstantAblation> ablations;
    std::string command;  ///< that makes the report again
    std::vector<InputFile> files;
    std::vector<std::string> overrides;  ///< in words
    std::string folder;                  ///< the report's own, as the command line has it; empty: none is written
    std::string machines, stacks;        ///< folders that files were taken from; empty: those that there are
};

}  // namespace auspex::report
