#pragma once
/// @file Arguments in a launch script of somebody's own.
#include <map>
#include <string>
#include <string_view>

namespace auspex::interop {

struct LaunchScript {
    std::map<std::string, std::string> arguments;  ///< "--tensor-model-parallel-size": "8"; several values with blanks
    int ranks = 0;                                 ///< 0: the text does not say in numbers
};

/// What a script gives a training program: the words of its arrays, NAME=( --a 1 … ), of its texts, NAME="--a 1 …", and
/// those behind the program, a word that ends in ".py". A text without any of these is arguments alone. "--a=1" and
/// "--a 1" are the same, as are "-" and "_" in names; of an argument that comes twice the last one counts. Ranks are
/// torchrun's
/// --nnodes times --nproc-per-node where it is used, else those of mpiexec -n or srun --ntasks. Nothing is expanded: a
/// variable may be a value, or stand for an array or text of the script; throws InputError for any other.
[[nodiscard]] LaunchScript read_launch_script(std::string_view text, const std::string& name);

}  // namespace auspex::interop
