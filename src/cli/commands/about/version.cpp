/// @file auspex version: what this program is, for reports of errors.
#include <oneapi/tbb/version.h>

#include <iostream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/version.hpp"
#include "exec/kernels/compiled_for.hpp"
#include "launch/installation.hpp"

namespace auspex::cli {
namespace {

struct DataFolder {
    std::string folder;
    std::string problem;  ///< with the one that the environment names
};

DataFolder data_folder() {
    try {
        const std::filesystem::path given = launch::given_data_folder();
        return {(given.empty() ? launch::own_data_folder() : given).string(), ""};
    } catch (const InputError& error) {
        return {"", error.what()};
    }
}

/// Behind the space that is before each. "native": of the processor that they were built on, which nobody checks.
std::string instruction_sets() {
    const std::string sets = exec::kKernelInstructionSets;
    return !sets.empty() ? sets.substr(1) : exec::kKernelsAreNative ? "native" : "";
}

std::string kernels_text() {
    const std::string sets = exec::kKernelInstructionSets;
    if (sets.empty()) {
        return exec::kKernelsAreNative ? "processors like the one they were built on (not checked)"
                                       : "any processor of this architecture";
    }
    return "processors with" + sets;
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

void print_json(const Options& options) {
    const DataFolder data = data_folder();
    JsonWriter json(answer_stream(options));
    json.begin_object().member("version", AUSPEX_VERSION).member("commit", kBuildCommit);
    json.member("commit_date", kBuildCommitDate).member("compiler", AUSPEX_COMPILER);
    json.member("build_type", AUSPEX_BUILD_TYPE).member("kernel_instruction_sets", instruction_sets());
    json.member("tbb", TBB_runtime_version()).member("onednn", exec::kOneDnnVersion);
    json.member("trainer", launch::find_mpi_program()).member("data", data.folder);
    json.member("data_problem", data.problem).end_object();
}

}  // namespace

void run_version(const Options& options) {
    if (options.json) {
        print_json(options);
        return;
    }
    const std::string commit = kBuildCommit, date = kBuildCommitDate;
    const DataFolder data = data_folder();
    std::cout << "auspex " << AUSPEX_VERSION << ", " << (commit.empty() ? "unknown commit" : "commit " + commit)
              << (date.empty() ? "" : " of " + date) << "\ncompiler  " << AUSPEX_COMPILER << ", " << AUSPEX_BUILD_TYPE
              << "\nkernels   for " << kernels_text() << ", oneDNN " << or_none(exec::kOneDnnVersion)
              << "\nthreads   TBB " << TBB_runtime_version() << "\ntrainer   " << or_none(launch::find_mpi_program())
              << "\ndata      " << or_none(data.folder) << (data.problem.empty() ? "" : ", " + data.problem) << "\n";
}

}  // namespace auspex::cli
