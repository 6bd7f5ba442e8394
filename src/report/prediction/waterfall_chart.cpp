/// @file Bars that end where the next one begins.
#include "report/prediction/waterfall_chart.hpp"

#include "report/parts/loss_words.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/waterfall.hpp"

namespace auspex::report {
namespace {

/// The loss of that name; useful compute for the causes that are parts of it.
schedule::Loss loss_of(const std::string& cause) {
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        if (cause == to_string(static_cast<schedule::Loss>(loss))) {
            return static_cast<schedule::Loss>(loss);
        }
    }
    return schedule::Loss::kUsefulCompute;
}

/// For a picture, where there is little room.
std::string short_name(const std::string& cause) {
    return cause == "peak"        ? "model FLOP at the peak"
           : cause == "sustained" ? "rate of large products"
           : cause == "ceiling"   ? "products in a model"
           : cause == "stack"     ? "products of the stack"
           : cause == "shapes"    ? "shapes, other kernels"
                                  : readable(loss_of(cause));
}

}  // namespace

std::string waterfall_chart(const predict::Prediction& prediction, double width) {
    RowBarChart chart{
        "From the peak to MFU",
        "What each cause adds to the step, and the MFU of a step without the causes below; a table has the "
        "numbers",
        "seconds of the step",
        {},
        {}};
    chart.text_characters = 16;
    double before_s = 0;
    for (const predict::WaterfallRow& row : prediction.waterfall) {
        const double after_s = before_s + row.seconds;
        chart.rows.push_back({short_name(row.cause),
                              {{before_s, after_s, static_cast<int>(loss_of(row.cause)),
                                duration(row.seconds) + " · " + percent(row.mfu),
                                waterfall_words(row.cause, prediction) + ": " + duration(row.seconds) +
                                    ", MFU up to here " + percent(row.mfu)}}});
        before_s = after_s;
    }
    return row_bar_chart(chart, width);
}

}  // namespace auspex::report
