#pragma once
/// @file An input file and its hash, as reports name it.
#include <string>

namespace auspex::report {

struct InputFile {
    std::string role;  ///< "machine", "stack", "workload", "plan"
    std::string file;
    std::string sha256;  ///< of the file's bytes
};

}  // namespace auspex::report
