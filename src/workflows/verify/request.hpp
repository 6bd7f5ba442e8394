#pragma once
/// @file What `auspex verify` is to do.
#include <string>

namespace auspex::workflows {

struct VerifyRequest {
    std::string workload = "toy-moe";  ///< a model with experts: file or name
    std::string data;                  ///< folder of a dataset; empty: a text is made up
    int steps = 50;                    ///< of every run
    int max_ranks = 16;                ///< layouts of more are left out
    int layouts = 0;                   ///< only the first ones; 0: all
    int kills = 10;                    ///< runs in which a rank is killed; 0: none
    std::string command_line;          ///< for the report
};

}  // namespace auspex::workflows
