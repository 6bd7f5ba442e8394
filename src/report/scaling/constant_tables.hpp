#pragma once
/// @file Constants in tables: those that a prediction leans on, and all of them.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// Value, kind, elasticity, uncertainty and source of the constants that move the step most; "" without any. `where`
/// ends the caption: "at 3,072 tiles".
[[nodiscard]] std::string top_constants_table(const predict::Prediction& prediction, const std::string& where);
/// All with their sources, folded.
[[nodiscard]] std::string all_constants_table(const std::vector<Constant>& constants);

}  // namespace auspex::report
