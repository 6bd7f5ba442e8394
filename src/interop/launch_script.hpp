#pragma once
/// @file Arguments in a launch script of somebody's own.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interop/imported_plan.hpp"
#include "interop/shell_values.hpp"

namespace auspex::interop {

struct LaunchScript {
    std::map<std::string, std::string> arguments;  ///< "--tensor-model-parallel-size": "8"; several values with blanks
    int ranks = 0;                                 ///< 0: the text does not say in numbers
    std::vector<std::string> notes;                ///< defaults of variables that were taken
};

/// What a script gives a training program: the words behind it, a word that ends in ".py" or stands behind "python -m",
/// with the arrays, NAME=( --a 1 … ), and texts, NAME="--a 1 …", that stand there. Without a program all arrays and
/// texts count, and a script without any is arguments alone. "--a=1" and "--a 1" are the same, as are "-" and "_" in
/// names; of an argument that comes twice the last one counts. $NAME is what NAME=word says where it stands once,
/// ${NAME:-word} that or the word (shell_values.hpp). Ranks are torchrun's --nnodes times --nproc-per-node where it is
/// used, else those of mpiexec -n or srun --ntasks. Nothing is run: throws InputError where a variable that is not
/// assigned may hold arguments, and where an array or text is assigned twice.
[[nodiscard]] LaunchScript read_launch_script(std::string_view text, const std::string& name);

/// NAME=VALUE of a script, also behind export.
[[nodiscard]] ShellValues script_values(std::string_view text, const std::string& name);

/// Ranks of the job as they were given, else as the script says. Throws InputError where neither does.
[[nodiscard]] int ranks_of_script(const LaunchScript& script, const PlanText& from);

}  // namespace auspex::interop
