/// @file Parts of predicted steps as bars.
#include "base/error.hpp"
#include "compare/evaluate/runs/run_groups.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/text.hpp"
#include "report/validation/validation_charts.hpp"

namespace auspex::report {
namespace {

/// What has room in front of bars.
std::string short_name(const std::string& id) {
    constexpr std::size_t kLongest = 29;
    std::string name = id;
    if (name.size() > kLongest) {
        name.replace(kLongest, std::string::npos, "…");
    }
    return name;
}

}  // namespace

std::string parts_chart(const std::vector<const evaluate::ValidatedRun*>& runs, double width) {
    AUSPEX_CHECK(!runs.empty(), "bars are of runs");
    RowBarChart chart;
    chart.title = "What predicted steps are made of";
    chart.description = "A bar a case, over the measured step; a table has the numbers";
    chart.axis_name = "predicted over measured";
    chart.text_characters = 8;
    chart.is_shared_line = true;
    chart.least_end = 1;  // what was measured
    std::array<bool, schedule::kLossCount> is_shown{};
    for (const evaluate::ValidatedRun* const one : runs) {
        BarRow row{short_name(one->run.id), {}};
        double end = 0;
        for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
            const double part = to_seconds(one->losses[i]) / one->measured.seconds;
            if (part <= 0) {
                continue;
            }
            const schedule::Loss loss = static_cast<schedule::Loss>(i);
            row.bars.push_back(
                {end, end + part, static_cast<int>(i), "",
                 one->run.id + ": " + readable(loss) + " " + percent(share_of(*one, loss)) + " of the predicted step"});
            end += part;
            is_shown[i] = true;
        }
        row.bars.back().text = signed_percent(one->error());
        chart.rows.push_back(std::move(row));
    }
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        if (is_shown[i]) {
            chart.legend.emplace_back(static_cast<int>(i), readable(static_cast<schedule::Loss>(i)));
        }
    }
    return row_bar_chart(chart, width);
}

}  // namespace auspex::report
