/// @file Finds the parts from /proc/self/exe, which names the program's own file, whatever links led to it.
#include "launch/installation.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "base/error.hpp"
#include "exec/run/instruction_sets.hpp"

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSubfolders{"machines", "stacks", "workloads", "plans"};

constexpr const char* kOwnFile = "/proc/self/exe";

/// Of use_data_folder.
fs::path& library_data_folder() {
    static fs::path folder;
    return folder;
}

/// Empty where there is no /proc.
fs::path program_folder() {
    std::error_code status;
    return fs::read_symlink(kOwnFile, status).parent_path();
}

/// The first of the four folders that is not there, or nullptr.
const char* missing_subfolder(const fs::path& folder) {
    const auto* const missing = std::find_if(kSubfolders.begin(), kSubfolders.end(), [&](const char* name) {
        std::error_code status;
        return !fs::is_directory(folder / name, status);
    });
    return missing == kSubfolders.end() ? nullptr : *missing;
}

}  // namespace

void use_data_folder(const fs::path& folder) { library_data_folder() = folder; }

fs::path own_data_folder() {
    if (!library_data_folder().empty()) {
        return library_data_folder();
    }
    const fs::path own = program_folder();
    if (own.empty()) {
        return {};
    }
    // Of bin/auspex, of libexec/auspex/auspex-mpi, of REPOSITORY/build/PRESET/auspex.
    for (const char* way : {AUSPEX_DATA_FROM_BIN, AUSPEX_DATA_FROM_LIBEXEC, "../.."}) {
        std::error_code status;
        const fs::path folder = fs::canonical(own / way, status);
        if (!status && missing_subfolder(folder) == nullptr) {
            return folder;
        }
    }
    return {};
}

fs::path given_data_folder() {
    const char* const value = std::getenv(kDataVariable);
    if (value == nullptr || *value == '\0') {
        return {};
    }
    std::error_code status;
    const std::string found = "found \"" + std::string(value) + "\", ";
    const char* const expected = "; expected a folder with machines/, stacks/, workloads/ and plans/";
    if (!fs::is_directory(value, status)) {
        throw InputError(kDataVariable, found + "which is no folder" + expected);
    }
    if (const char* const missing = missing_subfolder(value)) {
        throw InputError(kDataVariable, found + "a folder without " + missing + "/" + expected);
    }
    return value;
}

std::string find_mpi_program() {
    const fs::path own = program_folder();
    if (own.empty()) {
        return "";
    }
    for (const char* way : {".", AUSPEX_LIBEXEC_FROM_BIN}) {
        const fs::path file = (own / way / "auspex-mpi").lexically_normal();
        std::error_code status;
        if (fs::is_regular_file(file, status)) {
            return file.string();
        }
    }
    return "";
}

void require_instruction_sets() {
    if (const std::string missing = exec::missing_instruction_sets(); !missing.empty()) {
        throw std::runtime_error("the trainer was built for processors that have " + missing +
                                 ", which this one has not; build it here, or with -D AUSPEX_NATIVE=OFF for any");
    }
}

std::string mpi_program() {
    std::string file = find_mpi_program();
    if (file.empty()) {
        const fs::path own = program_folder();
        if (own.empty()) {
            throw std::runtime_error(std::string(kOwnFile) +
                                     ": found no link to this program, beside which the trainer lies; expected /proc");
        }
        const fs::path installed = (own / AUSPEX_LIBEXEC_FROM_BIN / "auspex-mpi").lexically_normal();
        throw std::runtime_error("found no trainer, neither " + installed.string() + " nor auspex-mpi beside auspex; " +
                                 "packages that are called portable have none");
    }
    require_instruction_sets();
    return file;
}

}  // namespace auspex::launch
