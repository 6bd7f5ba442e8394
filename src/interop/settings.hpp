#pragma once
/// @file What is set in a training framework, and which field of ours says so.
#include <string>
#include <vector>

namespace auspex::interop {

struct Setting {
    std::string name, value;  ///< no value: a switch
    std::string from;         ///< the field of plan or workload that it comes from: "plan.tp", "workload.layers"
};

using Settings = std::vector<Setting>;

}  // namespace auspex::interop
