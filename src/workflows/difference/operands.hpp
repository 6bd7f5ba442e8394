#pragma once
/// @file What two arguments of a comparison are: saved results, or machines, stacks, workloads or plans by name or
/// file.
#include <set>
#include <string>

#include "base/json_forward.hpp"

namespace auspex::workflows {

/// Two arguments of one kind.
struct Operands {
    std::string role;    ///< "result", "machine", "stack", "workload" or "plan"
    std::string remark;  ///< why it was taken for that, where the names are of several kinds; else empty
};

/// By the content of a file, and by the folders that have a bare name. A name of several kinds is what no flag is given
/// for; `given` are the roles of the flags that are. Throws InputError for what is neither, for two of different kinds,
/// and where flags leave several kinds or none.
[[nodiscard]] Operands operands_of(const std::string& before, const std::string& after,
                                   const std::set<std::string>& given);

/// By its keys: "result", "machine", "stack", "workload", "plan". Throws InputError for anything else.
[[nodiscard]] std::string kind_of(const JsonDocument& document);

}  // namespace auspex::workflows
