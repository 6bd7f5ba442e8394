#pragma once
/// @file What `auspex compare` is to do.
#include <string>
#include <vector>

#include "workflows/compare/random_layouts.hpp"

namespace auspex::workflows {

/// Machine, stack, plans, workloads and layouts are files, or names (launch/input_files.hpp).
struct CompareRequest {
    std::string machine = "local", stack = "auspex";
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, in order
    std::vector<std::string> plans;      ///< PLAN, for all workloads, or PLAN@WORKLOAD
    std::vector<std::string> workloads{"toy-moe"};
    std::string layouts;       ///< a file that lists many, or empty
    RandomDraw random;         ///< models and layouts drawn
    int ranks = 0;             ///< of plans without dp
    int repeats = 5;           ///< runs of each layout that count
    int steps = 0;             ///< of a run, at least; 0: as many as its steps' time asks for
    std::string data;          ///< folder of a dataset; empty: random tokens
    std::string out;           ///< folder of report, runs and traces; empty: none is kept
    bool resumes = false;      ///< takes the runs that `out` has
    bool mechanisms = false;   ///< predicts without each mechanism of a machine of CPUs, too
    std::string hostfile;      ///< of mpirun, or empty
    std::string mpirun_flags;  ///< separated by spaces
};

}  // namespace auspex::workflows
