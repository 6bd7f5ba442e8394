#pragma once
/// @file What `auspex endure` is to do.
#include <cstdint>
#include <string>
#include <vector>

namespace auspex::workflows {

struct EndureRequest {
    std::string workload = "toy-moe";  ///< file or name
    std::string data;                  ///< folder of a dataset; empty: a text is made up
    int ranks = 2;
    std::vector<int> intervals{4, 16, 48, 128};  ///< steps between checkpoints
    std::vector<double> mtbfs_s{2, 4};           ///< mean times between kills; every one with every interval
    int kills = 200;                             ///< of all settings together, at least
    std::uint64_t seed = 1;                      ///< of the kills
    std::string mpirun_flags;                    ///< separated by spaces
    std::string command_line;                    ///< for the report
};

}  // namespace auspex::workflows
