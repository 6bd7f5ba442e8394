#pragma once
/// @file The page of auspex plan --objective finish-by for several sizes.
#include <functional>
#include <ostream>
#include <vector>

#include "cli/commands/search/size_finishes.hpp"
#include "cli/flags/options.hpp"
#include "models/inputs.hpp"

namespace auspex::cli {

/// What --out writes for several sizes.
inline constexpr const char* kSizesFiles = "index.html, sizes.json, best.json, finish.svg";

/// Writes them to the folder of --out, the picture where a run ends: best.json is the plan of the size that is over
/// first. `answer` writes the JSON. Throws InputError where it cannot.
void write_sizes_folder(const models::Inputs& inputs, const Options& options,
                        const std::vector<search::SizePoint>& points, const SizeFinishes& finishes,
                        const std::function<void(std::ostream&)>& answer);

}  // namespace auspex::cli
