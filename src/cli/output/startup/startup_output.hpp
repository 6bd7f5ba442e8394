#pragma once
/// @file JSON and text of `auspex startup`.
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "campaign/start/startup.hpp"

namespace auspex::cli {

/// The same start without what makes it shorter.
struct StartWithout {
    std::string feature;  ///< a word of --without
    campaign::Start start;
    /// Of all of it, where every server of the shared file system has a part of the files that all read; none: the
    /// feature is of no such files.
    std::optional<double> least_s;
};

/// A job on other nodes, behind the queue.
struct StartPoint {
    int nodes = 1, ranks = 1;
    campaign::Start start;
    std::vector<StartWithout> without;  ///< the features of the answer
    std::string public_runs;            ///< "bare launches fail", or nothing: what is known of runs of this size
};

struct StartupAnswer {
    std::string machine, stack, workload, plan;  ///< names; the last two may be empty
    std::vector<std::string> overrides;
    int nodes = 1, ranks = 1;
    campaign::Start start;
    std::vector<std::string> left_out;  ///< words of --without
    std::vector<StartWithout> without;
    std::vector<StartPoint> curve;
    std::vector<std::string> notes;
};

/// Members of the object that is open.
void write_startup(JsonWriter& json, const StartupAnswer& answer);
/// A row for each phase of the job and of each size of the curve, with and without each feature.
[[nodiscard]] std::string startup_csv(const StartupAnswer& answer);
void print_startup(std::ostream& out, const StartupAnswer& answer);

}  // namespace auspex::cli
