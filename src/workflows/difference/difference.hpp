#pragma once
/// @file What `auspex diff` does: both steps, from saved results or predicted, and what differs.
#include <functional>
#include <string>

#include "models/inputs.hpp"
#include "report/difference/difference.hpp"
#include "sim/predict/options.hpp"

namespace auspex::workflows {

struct DifferenceRequest {
    std::string before, after;  ///< names or files
    std::string role;           ///< of both, "result" for saved ones (operands.hpp)
    /// Of other roles all inputs with this one in its place: name or file.
    std::function<models::Inputs(const std::string& name)> load = {};
    predict::PredictOptions options = {};  ///< of both, where they are predicted
};

/// Throws InputError for a saved result that lacks something, and what loading and predicting throw.
[[nodiscard]] report::Difference find_difference(const DifferenceRequest& request);

/// A saved prediction, as far as two of them are compared: what `auspex predict --json` printed. Throws InputError that
/// names file and path.
[[nodiscard]] report::ComparedSide side_of_result(const std::string& label, const JsonDocument& document);

}  // namespace auspex::workflows
