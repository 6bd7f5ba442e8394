#pragma once
/// @file Which layouts are asked for: by plans and workloads, and by files that list many.
#include <string>
#include <vector>

#include "workflows/compare/request.hpp"

namespace auspex::workflows {

/// A plan for a workload, by the names of their files; `is_sure`: it was asked for by itself, and has to resolve.
struct WantedLayout {
    std::string plan, workload;
    std::string plan_from, workload_from;  ///< the flag or file that names them, for messages
    bool is_sure = false;
};

/// "toy-dp4" of plans/toy-dp4.json.
[[nodiscard]] std::string name_of(const std::string& file);
/// Names of plan and workload make the name of a trace. Throws InputError, which names `from`.
void require_short_name(const std::string& name, const std::string& from);

/// Plans of --plans, for every workload or with the one that they name, then the layouts of --layouts, each plan a file
/// in SCRATCH/layouts/WORKLOAD. Throws InputError.
[[nodiscard]] std::vector<WantedLayout> wanted_layouts(const CompareRequest& request, const std::string& scratch);

}  // namespace auspex::workflows
