#pragma once
/// @file Expert kernels and optimizer sharding, with and without: a page and a table.
#include <string>
#include <vector>

#include "compare/evaluate/published_training.hpp"
#include "report/parts/input_file.hpp"
#include "report/parts/picture.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::report {

struct AblationPage {
    std::string workload, machine, stack, plan;  ///< names of the inputs
    std::string command;
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    std::vector<predict::AblationRow> rows;             ///< the baseline first
    std::vector<evaluate::PublishedSpeedup> published;  ///< of the same job; may be empty
    std::vector<std::string> notes;                     ///< what the reader should know
};

/// "… is 1.38 times as fast with fused experts and the ep-aware optimizer (published: 1.35); …": and each alone.
[[nodiscard]] std::string ablation_headline(const AblationPage& page);
/// Speed-ups over the baseline, published ones beside them, as inline SVG.
[[nodiscard]] std::string ablation_chart(const AblationPage& page, double width = kPagePicture);
[[nodiscard]] std::string render_ablation_html(const AblationPage& page);
/// A line a row, in SI units, below a line of column names.
[[nodiscard]] std::string render_ablation_csv(const AblationPage& page);

/// Writes DIR/index.html and DIR/ablation.csv (creating DIR). Throws InputError when it cannot.
void write_ablation_page(const AblationPage& page, const std::string& directory);

}  // namespace auspex::report
