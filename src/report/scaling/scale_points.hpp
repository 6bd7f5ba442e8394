#pragma once
/// @file What a scaling report says: a prediction for each number of tiles.
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

struct ScalePoint {
    predict::Prediction prediction;
    double efficiency =
        1;  ///< per-tile throughput over that of the first point (weak); speed-up over ideal speed-up (strong)
    double efficiency_without_detour_delay = 1;  ///< the same where nothing waits before it detours
    double efficiency_without_background = 1;    ///< the same with background_load 0
    double efficiency_without_both = 1;
    double efficiency_without_stragglers = 1;  ///< tiles of equal speed
};

/// What others have measured of the same job.
struct PublishedPoint {
    int tiles = 0;
    Interval efficiency;  ///< as published: a range, or low = high
};

struct ScalingReport {
    std::string title;    ///< "Mula-220B-A10B on Aurora, 384 to 12,288 tiles"
    std::string mode;     ///< "weak" or "strong"
    std::string command;  ///< the command line that makes this report again
    std::string machine, workload, stack, plan;
    std::vector<std::string> layout_lines;  ///< the layout in words
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;  ///< "plan.pp = 4": what the command line changed in the files
    std::vector<Constant> constants;     ///< all of machine and stack
    std::vector<ScalePoint> points;
    std::vector<PublishedPoint> published;  ///< with the first point as their reference; empty where nothing is known
    std::string advice;                     ///< a sentence: what would help the largest size; may be empty
    std::string published_source;           ///< paper or address of these
};

}  // namespace auspex::report
