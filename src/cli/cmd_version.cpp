/// @file auspex version: what this program is, for reports of errors.
#include <oneapi/tbb/version.h>

#include <iostream>

#include "cli/commands.hpp"
#include "cli/installation.hpp"
#include "cli/json_writer.hpp"
#include "cli/version.hpp"
#include "exec/kernels/compiled_for.hpp"

namespace auspex {
namespace {

std::string data_folder() {
    const std::filesystem::path given = given_data_folder();
    return (given.empty() ? own_data_folder() : given).string();
}

/// Behind the space that is before each.
std::string instruction_sets() {
    const std::string sets = kKernelInstructionSets;
    return sets.empty() ? "" : sets.substr(1);
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

void print_json() {
    JsonWriter json(std::cout);
    json.begin_object().member("version", AUSPEX_VERSION).member("commit", kBuildCommit);
    json.member("commit_date", kBuildCommitDate).member("compiler", AUSPEX_COMPILER);
    json.member("build_type", AUSPEX_BUILD_TYPE).member("kernel_instruction_sets", instruction_sets());
    json.member("tbb", TBB_runtime_version()).member("onednn", kOneDnnVersion);
    json.member("trainer", find_mpi_program()).member("data", data_folder()).end_object();
}

}  // namespace

void run_version(const Options& options) {
    if (options.json) {
        print_json();
        return;
    }
    const std::string date = kBuildCommitDate, sets = instruction_sets();
    std::cout << "auspex " << AUSPEX_VERSION << ", " << kBuildCommit << (date.empty() ? "" : " of " + date)
              << "\ncompiler  " << AUSPEX_COMPILER << ", " << AUSPEX_BUILD_TYPE << "\nkernels   for "
              << (sets.empty() ? "any processor of this architecture" : "processors with " + sets) << ", oneDNN "
              << or_none(kOneDnnVersion) << "\nthreads   TBB " << TBB_runtime_version() << "\ntrainer   "
              << or_none(find_mpi_program()) << "\ndata      " << or_none(data_folder()) << "\n";
}

}  // namespace auspex
