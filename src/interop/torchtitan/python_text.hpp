#pragma once
/// @file Configurations as Python functions: written, and read without running them.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interop/settings.hpp"

namespace auspex::interop {

/// A name of Python for a function: letters, digits and "_".
[[nodiscard]] std::string python_name(const std::string& text);

/// A file with one function, which returns the configuration that the variable MODEL_CONFIG names, MODULE:FUNCTION,
/// with settings "section.field" replaced, each with what it comes from behind it.
[[nodiscard]] std::string python_configuration(const std::string& function, const Settings& settings,
                                               const std::string& made_by);

/// Fields that a function sets.
struct PythonFunction {
    std::string name;                           ///< empty: outside of functions
    std::map<std::string, std::string> fields;  ///< "parallelism.tensor_parallel_degree": "4"; texts without their
                                                ///< quotes, anything but a literal as it stands; None is left out
};

/// Of every function, in order: SECTION=CALL(FIELD=literal, …), and ….SECTION.FIELD = literal. Nothing is run. Throws
/// InputError, under `name`, for a text or a bracket that does not end, and a field that is set twice in a function.
[[nodiscard]] std::vector<PythonFunction> python_functions(std::string_view text, const std::string& name);

}  // namespace auspex::interop
