#pragma once
/// @file What a command answers as JSON, as a table of one observation a row.
#include <array>
#include <optional>
#include <string>

#include "base/json.hpp"

namespace auspex::report {

/// The grid of the job, where the answer does not say it of each of its parts.
struct TidyGrid {
    std::optional<int> tiles = {}, nodes = {}, pp = {}, dp = {}, ep = {}, etp = {}, tp = {}, cp = {};
};

/// CSV (RFC 4180) with a header: machine, stack, workload, plan, overrides, tiles, nodes, pp, dp, ep, etp, tp, cp,
/// version: what a row is of; then table, name, quantity, value, unit: where it stands in the answer (the path without
/// numbers), which one of several (by name, else by number from 1), the key, the value and its unit. Objects of the
/// answer that have a grid of their own (sizes of `scale`, plans of a search) give it to their rows. A list of words is
/// one row; notes and how long the program itself took are left out.
[[nodiscard]] std::string tidy_csv(const JsonValue& answer, const TidyGrid& grid = {});

}  // namespace auspex::report
