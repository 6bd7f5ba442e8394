#pragma once
/// @file What others have published of training runs: files of machines/published/training/, drawn beside predictions.
#include <optional>
#include <string>
#include <vector>

#include "base/json_forward.hpp"

namespace auspex::evaluate {

/// Speed a tile at several numbers of tiles, of one software and one batch.
struct PublishedScaling {
    std::string source;  ///< paper or page, and what of it
    std::string url, machine, stack, workload;
    std::string release;                          ///< of the stack; empty: not said
    int micro_batch_size = 0, micro_batches = 0;  ///< 0: not said
    struct Row {
        int tiles = 0;
        double speed = 0;  ///< of a tile, in the unit of the series: only ratios of its rows mean something
    };
    std::vector<Row> rows;  ///< in the order of the file; that of the reference among them
};

/// Speed-ups over a baseline of unfused experts and a sharded optimizer, as auspex ablate has them.
struct PublishedSpeedup {
    std::string source, url, machine, stack, workload;
    int tiles = 0;
    std::string variant;  ///< fused-experts, ep-aware, both
    std::optional<double> forward_backward, optimizer, training;
};

struct PublishedTraining {
    std::vector<PublishedScaling> scaling;
    std::vector<PublishedSpeedup> speedups;
};

/// Adds what a file says: its "what" is "weak-scaling" (rows with "efficiency" over that of "reference_tiles", or with
/// "tokens_per_s_per_tile"; of the file, or of each of its "series") or "ablation". Keys of how near a prediction has
/// to come are for tests. Throws InputError that names file and path.
void add_published(const JsonDocument& document, PublishedTraining& published);

}  // namespace auspex::evaluate
