#pragma once
/// @file Inputs with other constants.
#include <string>
#include <vector>

#include "base/units.hpp"
#include "models/inputs.hpp"

namespace auspex::kineto {

struct ChangedConstant {
    std::string path;  ///< dotted, from "machine." or "stack."
    Dimension dimension = Dimension::kNone;
    double value = 0;
};

/// Throws InputError where a value is outside what the loaders allow.
[[nodiscard]] models::Inputs with_constants(const models::Inputs& inputs, const std::vector<ChangedConstant>& changes);

/// The constant of that path as the file has it; nullptr: it has none.
[[nodiscard]] const Constant* find_constant(const models::Inputs& inputs, const std::string& path);

}  // namespace auspex::kineto
