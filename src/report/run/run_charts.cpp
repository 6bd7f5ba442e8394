/// @file Where the step goes, in two bars a part.
#include "report/run/run_charts.hpp"

#include "report/parts/row_bars.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {

std::string spent_bars(const kineto::RunDiff& diff, double width) {
    constexpr int kMeasuredColor = 0, kPredictedColor = 2;
    RowBarChart chart{"Where the step goes, measured and predicted",
                      "measured " + duration(diff.measured_s) + ", predicted " + duration(diff.predicted_s) +
                          "; a table has the numbers",
                      "seconds of the step",
                      {},
                      {{kMeasuredColor, "measured"}, {kPredictedColor, "predicted"}}};
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        const double measured_s = diff.measured[i], predicted_s = diff.predicted[i];
        if (measured_s > 0 || predicted_s > 0) {
            chart.rows.push_back({to_string(static_cast<kineto::Spent>(i)),
                                  {{0, measured_s, kMeasuredColor, duration(measured_s), {}},
                                   {0, predicted_s, kPredictedColor, duration(predicted_s), {}}}});
        }
    }
    return row_bar_chart(chart, width);
}

}  // namespace auspex::report
