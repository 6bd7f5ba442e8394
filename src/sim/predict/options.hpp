#pragma once
/// @file What a user asks of a prediction.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"
#include "schedule/program/program.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::predict {

struct PredictOptions {
    int tiles = 0;  ///< 0: what the plan's dp gives
    double run_tokens = 0;
    bool sensitivity = true;  ///< fill interval and top_constants (replays the step once per constant)
    bool timeline = false;
    bool trace_details = false;  ///< facts of operations; with timeline: fills PredictResult::details, too
    /// Whether a trainer runs every operation of the program (exec knows); without it: not known to.
    std::function<bool(const models::Workload&, const models::Plan&, const models::Stack&, const schedule::Program&)>
        executor_runs = {};
    bool play_every_operation = false;  ///< merges no operations: for traces, and for the test that both ways are equal
    Lens lens = Lens::kFolded;          ///< a machine with a section "host" is always played through kCpu
    /// kCpu: background processes by core of every computer, each of which always computes. With any of them there is
    /// no interval: it is the step itself, and top_constants is empty.
    std::vector<int> background_processes = {};
    // kUnfolded
    std::uint64_t seed = 1;
    int samples = 1;
    std::vector<std::string> slow = {};           ///< named slow parts: sim/engine/slow_parts.hpp
    std::function<void(int, int)> progress = {};  ///< called after each sample: done, of all
    /// The ranks whose timeline is wanted, of the median sample; with `timeline` and without any of them the tiles most
    /// waited for.
    std::vector<int> trace_ranks = {};
};

}  // namespace auspex::predict
