#pragma once
/// @file What a prediction says: times, losses, memory, causes. Plain data for cli and report.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/constant.hpp"
#include "base/statistics/interval.hpp"
#include "base/time.hpp"
#include "models/published/published_spread.hpp"
#include "schedule/losses.hpp"
#include "schedule/memory/memory.hpp"
#include "sim/engine/link_use.hpp"
#include "sim/engine/slow_parts.hpp"

namespace auspex::predict {

struct MemoryReport {
    double peak_bytes = 0, capacity_bytes = 0;
    double reserved_bytes = 0, allocated_bytes = 0;  ///< StageMemory's, of the heaviest stage
    bool fits = false;
    int heaviest_stage = 0;
    std::vector<std::pair<std::string, double>> by_label;  ///< of the heaviest stage, at its peak
    std::vector<schedule::StageMemory> by_stage;
    double host_bytes = 0;           ///< of one tile's activations in host memory: of the stage that has most there
    double host_bytes_per_node = 0;  ///< of the node that has most
    double host_capacity_bytes = 0;  ///< of a node; 0: the machine file does not say
    std::string
        verdict;  ///< one line: "fits, 41.2 of 64.0 GB on stage 0 …" or "does not fit: 112 GB, 48 GB over; largest: …"
};

/// How much of the step changes with a constant: d ln(step time) / d ln(constant).
struct ConstantSensitivity {
    Constant constant;
    double elasticity = 0;
};

/// Share of step time of one operation name, mean over tiles: where the time goes.
struct OperationShare {
    std::string name;
    double seconds = 0;
    double count = 0;        ///< times a step, the mean over tiles
    std::string bound_by{};  ///< engine::OperationFacts::bound_by, of most of its time; empty on CPU cores
};

/// Time of operations that are bound by one thing, on whatever stream: more than the step where they overlap.
struct BoundShare {
    std::string limit;
    double seconds = 0;
};

/// How finely a step is played.
enum class Lens {
    kFolded,    ///< one actor a pipeline stage
    kUnfolded,  ///< every rank, NIC and link
    kCpu        ///< every rank, kernel call and message of processes that share CPU cores
};
/// "folded", "unfolded", "host".
[[nodiscard]] const char* to_string(Lens lens);

/// What the unfolded lens adds to a prediction.
struct UnfoldedReport {
    std::uint64_t seed = 1;
    std::vector<double> samples_s;  ///< step time of each, in the order of their numbers
    /// Of the samples, each a sample itself: number ceil(share x count) in rising order.
    double p5_s = 0, p25_s = 0, p50_s = 0, p75_s = 0, p95_s = 0, min_s = 0, max_s = 0, mean_s = 0;
    double folded_step_time_s = 0;
    double folded_error = 0;                      ///< folded / median - 1
    std::vector<engine::SlowTile> slowest;        ///< of the median sample, most waited for first
    std::vector<engine::SlowLink> slowest_links;  ///< of the median sample, the one that adds most first
    std::vector<engine::SlowRequest> slow;        ///< as asked for
};

/// One cause of a step's length (mfu_waterfall.hpp).
struct WaterfallRow {
    std::string cause;
    double seconds = 0;
    double mfu = 1;  ///< of a step that has the causes up to this one only
};

struct Prediction {
    Lens lens = Lens::kFolded;
    int tiles = 0, nodes = 0, dp = 0, ep = 0, etp = 0, tp = 0, pp = 0, cp = 0, data_parallel = 0, global_batch = 0;
    int groups_touched = 0;  ///< dragonfly groups, leaves or units that hold a node of the job
    double tokens_per_step = 0;
    Picoseconds step = 0;
    double step_time_s = 0;
    Interval step_time_interval_s;  ///< about 90 %: root sum square of elasticity x uncertainty, and the noise played
    bool has_interval = false;      ///< it was asked for; else the interval is the step itself
    /// What predictions of published runs are off by beyond that; not of kCpu, nor without an interval.
    std::optional<models::PublishedSpread> published_spread;
    Interval step_time_interval_with_spread_s;  ///< about 90 %, with both; the interval above where there is no spread
    double tokens_per_s = 0, tokens_per_s_per_tile = 0;
    double tflops_per_tile = 0;  ///< model TFLOP/s
    double mfu = 0, hfu = 0;
    double peak_flop_per_s = 0;  ///< what MFU is measured against
    MemoryReport memory;
    schedule::LossTimes losses{};
    std::vector<WaterfallRow> waterfall;  ///< from the peak to MFU
    double forward_backward_s = 0, optimizer_s = 0;
    bool executor_proven = false;  ///< every operation of the program is one that the trainer runs
    std::uint64_t operations = 0;  ///< program operations of one step, all roles
    std::uint64_t events = 0;
    double elapsed_s = 0;                            ///< inputs loaded -> step result
    double sensitivity_elapsed_s = 0;                ///< the finite differences behind interval and top_constants
    std::vector<ConstantSensitivity> top_constants;  ///< largest elasticity first
    std::vector<OperationShare> operations_by_time;
    std::vector<BoundShare> bound_by;        ///< most time first
    std::optional<UnfoldedReport> unfolded;  ///< kUnfolded; step, losses and events above are of the median sample
    std::vector<engine::LinkUse> link_use;   ///< the most crowded kind first
    std::vector<std::string> notes;          ///< what the reader should know (routing skew, assumed layout, …)
    double step_node_hours = 0;
    double run_tokens = 0;  ///< --tokens, 0 if not asked
    double node_hours = 0;  ///< of run_tokens; of one step if not asked
    double run_time_s = 0;
};

}  // namespace auspex::predict
