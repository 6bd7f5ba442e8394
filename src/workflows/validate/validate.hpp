#pragma once
/// @file Published training runs, each predicted as its source describes it.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"
#include "report/parts/input_file.hpp"

namespace auspex::workflows {

struct ValidateRequest {
    std::vector<std::string> cases;      ///< files of cases, or folders: all their *.json, by name
    std::string machines, stacks;        ///< folders to take files from in place of machines/ and stacks/; may be empty
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, of machine or stack, behind those of the names
    bool ablate = false;                 ///< predicts again without each fitted constant
    bool for_files = false;              ///< a report or spreads are to be written, which one prediction at least needs
};

struct ValidatedRuns {
    std::vector<evaluate::ValidatedRun> runs;  ///< every case of the files, in their order
    evaluate::RunNames names;
    std::vector<evaluate::ConstantAblation> ablations;  ///< of each fitted constant that a verified run has
    std::vector<report::InputFile> files;               ///< names, cases, machines and stacks
};

/// Every case of the files: predicted (folded lens, with its interval), or with why not. Throws InputError where a file
/// is no file of cases, where there is none, and, if files are to be written, where none can be predicted.
[[nodiscard]] ValidatedRuns validate(const ValidateRequest& request);

}  // namespace auspex::workflows
