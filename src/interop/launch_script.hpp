#pragma once
/// @file Arguments in a launch script of somebody's own.
#include <map>
#include <string>
#include <string_view>

namespace auspex::interop {

struct LaunchScript {
    std::map<std::string, std::string> arguments;  ///< "--tensor-model-parallel-size": "8"; several values with blanks
    int ranks = 0;                                 ///< 0: the text does not say
};

/// What a text gives a training program: the words of its arrays, NAME=( --a 1 … ), or, where it has none, all of them.
/// "--a=1" and "--a 1" are the same, as are "-" and "_" in names; of an argument that comes twice the last one counts.
/// Ranks are those of mpiexec -n or srun --ntasks, or torchrun's --nnodes times --nproc-per-node. Nothing is expanded.
[[nodiscard]] LaunchScript read_launch_script(std::string_view text, const std::string& name);

}  // namespace auspex::interop
