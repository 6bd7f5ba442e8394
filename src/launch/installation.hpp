#pragma once
/// @file Where the parts of this installation lie. Nothing is compiled in but how its folders lie to one another, so it
/// may be moved.
#include <filesystem>
#include <string>

namespace auspex::launch {

inline constexpr const char* kDataVariable = "AUSPEX_DATA";

/// The folder with machines/, stacks/, workloads/ and plans/ that came with this program: PREFIX/share/auspex, or the
/// repository in whose build/PRESET it runs. Empty where there is none, or no /proc.
[[nodiscard]] std::filesystem::path own_data_folder();
/// Makes that this folder, for a library, whose program is somebody else's. Before threads ask for it.
void use_data_folder(const std::filesystem::path& folder);
/// The folder that the environment's AUSPEX_DATA names; empty where that is not set, or empty. Throws InputError unless
/// it has those four folders.
[[nodiscard]] std::filesystem::path given_data_folder();

/// Throws std::runtime_error where this processor cannot run the trainer's kernels.
void require_instruction_sets();

/// auspex-mpi: PREFIX/libexec/auspex/auspex-mpi, or beside this program in a build folder. Empty where there is none.
[[nodiscard]] std::string find_mpi_program();
/// The same. Throws std::runtime_error where there is none, or no /proc, or where this processor cannot run it.
[[nodiscard]] std::string mpi_program();

}  // namespace auspex::launch
