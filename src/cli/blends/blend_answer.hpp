#pragma once
/// @file What a blend holds, as text and as JSON.
#include <string>

#include "cli/flags/options.hpp"
#include "exec/blend/blend_info.hpp"

namespace auspex::cli {

/// Prints the blend in this file, as --json or not.
void print_blend(const exec::BlendInfo& info, const std::string& file, const Options& options);

}  // namespace auspex::cli
