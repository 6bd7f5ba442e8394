#pragma once
/// @file What `auspex calibrate` is to do.
#include <string>
#include <vector>

namespace auspex::workflows {

/// Measures this machine, or takes rows of another one (`machine` is not empty).
struct CalibrateRequest {
    std::string out;                   ///< machine file to write
    bool makes_folder_of_out = false;  ///< where there is none
    std::string measurements;          ///< file of rows: it grows; with `machine` it is read
    std::string machine;               ///< file or name: rows of it replace its constants, and nothing is measured
    std::string stack = "auspex";      ///< file or name; beside `machine` it may be empty: see stack_for()
    std::string report;                ///< folder of the report, or empty
    double budget_s = 0;               ///< to spend on measuring, about; 0: kDefaultBudget_s
    int max_ranks = 8;                 ///< that share cores and send messages
    std::vector<std::string> precisions{"fp32", "bf16"};  ///< of kernels
    bool is_fresh = false;                                ///< rows that are there are set aside
    std::string hostfile;                                 ///< of mpirun, or empty
    std::string mpirun_flags;                             ///< separated by spaces
    std::string command_line;                             ///< for the report, and for others who want what is written

    [[nodiscard]] bool measures() const { return machine.empty(); }
};

/// Seconds to spend on measuring where nothing else is asked for.
inline constexpr int kDefaultBudget_s = 210;

}  // namespace auspex::workflows
