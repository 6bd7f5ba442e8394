#pragma once
/// @file What a training framework is given for a plan.
#include <optional>
#include <string>
#include <vector>

#include "interop/settings.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

/// What is wanted.
struct EmitRequest {
    const models::Workload& workload;
    const models::Plan& plan;  ///< resolved
    int tiles_of_node = 0;     ///< of the machine; 0: not known
    int steps = 0;             ///< of the run; 0: not known
    std::string made_by;       ///< the command that makes the text, for a comment
};

/// How a framework takes its settings.
enum class SettingsForm {
    kArguments,  ///< NAME=( --a 1 … ), behind the program
    kVariables,  ///< export A=1
    kFile        ///< a file says them all
};

/// A file that a framework reads.
struct SettingsFile {
    std::string name, text;
    Settings comments;  ///< what its lines come from, where the format has no comments of its own
};

struct Emission {
    SettingsForm form = SettingsForm::kArguments;
    Settings settings;
    std::optional<SettingsFile> file;
    // of a job
    std::string forced_routing;      ///< name of the setting that forces even routing; empty: none is there
    Settings trial;                  ///< what its user replaces: data, tokenizer
    std::vector<std::string> setup;  ///< lines of shell in front of it
    std::string program;             ///< shell words that every rank runs; arguments are put behind them
    bool starts_ranks = false;       ///< the program starts the ranks of all nodes itself
    Settings cuda_environment;       ///< asked for where tiles are NVIDIA's
    std::vector<std::string> notes;  ///< for comments: what is left to the user
};

}  // namespace auspex::interop
