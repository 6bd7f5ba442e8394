/// @file Causes by size.
#include "report/scaling/waterfall.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

/// Where a cause of one size belongs among those of others: in front of the first known one that follows it.
std::size_t place_of(const std::string& cause, const std::vector<predict::WaterfallRow>& order,
                     const std::vector<WaterfallBySize>& known) {
    const auto own = std::ranges::find(order, cause, &predict::WaterfallRow::cause);
    for (auto next = own; next != order.end(); ++next) {
        const auto found = std::ranges::find(known, next->cause, &WaterfallBySize::cause);
        if (found != known.end()) {
            return static_cast<std::size_t>(found - known.begin());
        }
    }
    return known.size();
}

}  // namespace

std::string waterfall_words(const std::string& cause, const predict::Prediction& prediction) {
    return cause == "peak" ? "model FLOP at " + format_quantity(prediction.peak_flop_per_s, Dimension::kFlopPerSecond)
           : cause == "sustained" ? "rate of large GEMMs (tile.gemm_bf16)"
           : cause == "ceiling"   ? "GEMMs in a model (tile.gemm_ceiling)"
           : cause == "stack"     ? "the stack's (kernels.gemm_efficiency)"
           : cause == "shapes"    ? "GEMM shapes, attention, other kernels"
                                  : cause;
}

std::vector<WaterfallBySize> waterfall_by_size(const std::vector<ScalePoint>& points) {
    std::vector<WaterfallBySize> rows;
    for (std::size_t point = 0; point < points.size(); ++point) {
        const predict::Prediction& p = points[point].prediction;
        for (const predict::WaterfallRow& own : p.waterfall) {
            auto row = std::ranges::find(rows, own.cause, &WaterfallBySize::cause);
            if (row == rows.end()) {
                const auto place = static_cast<std::ptrdiff_t>(place_of(own.cause, p.waterfall, rows));
                row = rows.insert(rows.begin() + place, {own.cause, std::vector<double>(points.size(), 0.0)});
            }
            row->share[point] = own.seconds / p.step_time_s;
        }
    }
    return rows;
}

std::string waterfalls_table(const std::vector<ScalePoint>& points) {
    const std::vector<WaterfallBySize> causes = waterfall_by_size(points);
    if (causes.empty()) {
        return "";
    }
    TableRows rows{{{"cause", "", "% of the step"}}};
    for (const ScalePoint& point : points) {
        rows.front().push_back(number(thousands(point.prediction.tiles) + " tiles"));
    }
    rows.front().back() = main_column(rows.front().back());
    if (points.size() > 1) {
        rows.front().push_back(main_column(number("change", "percentage points")));
    }
    for (const WaterfallBySize& cause : causes) {
        const bool is_peak = cause.cause == "peak";
        std::vector<Cell>& row = rows.emplace_back(
            std::vector<Cell>{{waterfall_words(cause.cause, points.front().prediction) + (is_peak ? ": MFU" : "")}});
        for (const double share : cause.share) {
            row.push_back(number_of(percent(share), 100 * share));
        }
        if (points.size() > 1) {
            const double change = 100 * (cause.share.back() - cause.share.front());
            row.push_back(number_of(signed_significant(change, 2), change));
        }
    }
    return html_table(rows,
                      "From the peak to MFU at every size: what each cause takes of the step. A column sums to 100 %; "
                      "what its first line loses from size to size is what scaling costs.",
                      {.is_sorted = true});
}

}  // namespace auspex::report
