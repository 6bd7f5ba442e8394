#pragma once
/// @file Words of Megatron-LM: arguments that no plan needs.
#include <string_view>

namespace auspex::interop {

/// Whether an argument changes no cost of a step beside what the workload says of it.
[[nodiscard]] bool changes_no_cost(std::string_view argument);
/// Whether it is a name that the release in question (megatron.hpp) has no more.
[[nodiscard]] bool is_of_earlier_release(std::string_view argument);

}  // namespace auspex::interop
