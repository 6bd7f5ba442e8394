#pragma once
/// @file Two predicted steps side by side: what differs in their inputs and in what comes of them.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/json_forward.hpp"
#include "report/parts/input_file.hpp"
#include "schedule/timeline.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

/// A field of the inputs as JSON text.
struct NamedText {
    std::string name, text;
};

/// One of the two.
struct ComparedSide {
    std::string label;  ///< as it was given: a name or a file
    /// machine, stack, workload, plan, overrides, version: by name, as `auspex predict --json` has them.
    std::vector<NamedText> names;
    std::vector<InputFile> inputs;  ///< that were read; none of a saved result
    predict::Prediction prediction;
    std::optional<schedule::Timeline> timeline;  ///< none of a saved result
};

/// What differs in the inputs, as JSON texts; empty: it is not there.
struct InputChange {
    std::string path, before, after;
};

/// A number of both; 0 where it is not there.
struct NumberChange {
    std::string name;
    double before = 0, after = 0;
    /// 0 where they differ by the rounding of sums in another order.
    [[nodiscard]] double change() const {
        constexpr double kRounding = 1e-9;
        const double difference = after - before;
        return std::abs(difference) > kRounding * std::max(std::abs(before), std::abs(after)) ? difference : 0;
    }
};

struct Difference {
    std::string role;  ///< what the two are: "machine", "stack", "workload", "plan", "result"
    ComparedSide before, after;
    std::vector<InputChange> inputs;
    std::vector<NumberChange> totals;  ///< by keys of `auspex predict --json`, and peak_bytes: all
    /// Those that differ, the largest change first; memory at the peak of the fullest tile.
    std::vector<NumberChange> losses, memory, operations;
};

/// Names, grid and batch that differ, then `fields`, which are of the files.
[[nodiscard]] Difference difference_of(std::string role, ComparedSide before, ComparedSide after,
                                       const std::vector<InputChange>& fields);

/// The fields in which two files of a role differ: "plan.pp". Of a constant its value, uncertainty and kind; words
/// (source, comment, description) change nothing and are left out.
[[nodiscard]] std::vector<InputChange> changed_fields(const std::string& role, const JsonValue& before,
                                                      const JsonValue& after);

}  // namespace auspex::report
