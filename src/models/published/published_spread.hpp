#pragma once
/// @file How far predictions of published runs are off beyond what the uncertainties of constants explain.
#include <optional>
#include <string>
#include <vector>

#include "base/json_forward.hpp"

namespace auspex::models {

/// Of the runs with a stack, on a machine, or both: a log-normal sigma, of ln(predicted / measured), that comes on top
/// of the interval of constants.
struct PublishedSpread {
    std::string stack, machine;  ///< names; empty: any
    int runs = 0, sources = 0;   ///< that it comes from
    double sigma = 0;
};

/// Fewer runs say nothing.
inline constexpr int kLeastRunsOfSpread = 5;

/// Of the stack on the machine; else the wider of the stack's and the machine's; else of all runs, with the widest
/// spread of any entry.
[[nodiscard]] std::optional<PublishedSpread> find_spread(const std::vector<PublishedSpread>& spreads,
                                                         const std::string& stack, const std::string& machine);

/// machines/published/spread.json; docs/validation.md has the keys. Throws InputError.
[[nodiscard]] std::vector<PublishedSpread> load_spreads(const JsonDocument& document);

}  // namespace auspex::models
