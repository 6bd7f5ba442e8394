#pragma once
/// @file One predicted step: a page.
#include <optional>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "report/parts/input_file.hpp"
#include "report/prediction/advice_table.hpp"
#include "report/prediction/whole_run.hpp"
#include "schedule/timeline.hpp"
#include "sim/predict/prediction.hpp"

namespace auspex::report {

struct PredictionPage {
    std::string workload, machine, stack, plan;  ///< names of the inputs
    std::string command;
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;     ///< "plan.pp = 4"
    std::vector<std::string> layout_lines;  ///< the layout in words
    std::vector<Constant> constants;        ///< all of machine and stack
    predict::Prediction prediction;
    AdviceRows advice;                           ///< what would help; may be empty
    std::optional<WholeRun> run;                 ///< of --tokens
    std::optional<schedule::Timeline> timeline;  ///< of every operation; none of the unfolded lens
};

/// What of a page of 2 MB the timeline may take.
inline constexpr std::size_t kMostTimelineBytes = 1'400'000;

/// The whole page; it loads nothing.
[[nodiscard]] std::string render_prediction_html(const PredictionPage& page);

/// Writes DIR/index.html (creating DIR). Throws InputError when it cannot.
void write_prediction_page(const PredictionPage& page, const std::string& directory);

}  // namespace auspex::report
