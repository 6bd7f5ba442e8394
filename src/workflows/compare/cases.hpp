#pragma once
/// @file The layouts that `auspex compare` runs and predicts: from plan files, and from files that list many.
#include <string>
#include <vector>

#include "launch/train/request.hpp"
#include "sim/predict/predict.hpp"
#include "workflows/compare/records.hpp"
#include "workflows/compare/request.hpp"

namespace auspex::workflows {

/// One layout of one workload.
struct CompareCase {
    models::Inputs inputs;           ///< for the prediction, overrides applied
    std::string plan{}, workload{};  ///< names
    std::string plan_file{}, workload_file{};
    int asked_ranks = 0;  ///< for a plan without dp; else 0
    int ranks = 1;
    double predicted_memory_bytes = 0;  ///< peak of all labels on the fullest rank
    RunOrigin origin{};                 ///< of its runs

    /// The name of the file with its trace.
    [[nodiscard]] std::string trace_file() const { return workload + "-" + plan + ".json"; }
    /// One run of it, without data and steps.
    [[nodiscard]] launch::TrainRequest train_request(const CompareRequest& request) const;
};

/// Every plan with every workload for which it resolves (PLAN@WORKLOAD: with that one), then those of the layouts file,
/// then those drawn. These two are written to files in `scratch`. `left_out` gets a line for each pair that does not
/// resolve. Throws InputError: no case, a case twice, a plan that resolves for no workload, a layouts file that is
/// none.
[[nodiscard]] std::vector<CompareCase> compare_cases(const CompareRequest& request, const std::string& scratch,
                                                     std::vector<std::string>& left_out);

}  // namespace auspex::workflows
