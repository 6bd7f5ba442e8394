/// @file Every reach is tried; for each the best coefficients have a closed form.
#include "compare/fit/cost_models/piecewise_linear_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/statistics/bootstrap.hpp"
#include "compare/fit/cost_models/huber.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::fit {
namespace {

/// Timings are not better than half a percent; so many fits, settled or not.
constexpr Reweighting kReweighting{0.005, 11, 0};

/// One row over its time: errors are relative.
struct LinearTerm {
    double cached = 0, extra = 0, y = 0;
};

struct Coefficients {
    double cached = 0, extra = 0;
};

/// Rows as they were timed, or drawn: `seconds` beside them.
std::vector<LinearTerm> terms_of(const std::vector<PiecewiseLinearRow>& rows, std::span<const double> seconds,
                                 double capacity, CachedCost cached_cost) {
    std::vector<LinearTerm> terms;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PiecewiseLinearRow& row = rows[i];
        const double share = models::miss_ratio(capacity, row.set_bytes);
        terms.push_back({cached_cost == CachedCost::kFitted ? row.bytes / row.seconds : 0,
                         row.bytes * share / row.seconds, (seconds[i] - row.known_s) / row.seconds});
    }
    return terms;
}

/// Least squares with both coefficients 0 or above: the one inside, or the better of the two edges.
Coefficients solve(const std::vector<LinearTerm>& terms, std::span<const double> weights) {
    double nn = 0, ne = 0, ee = 0, ny = 0, ey = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const LinearTerm& t = terms[i];
        const double near = weights[i] * t.cached, extra = weights[i] * t.extra;
        nn += near * t.cached, ne += near * t.extra, ee += extra * t.extra;
        ny += near * t.y, ey += extra * t.y;
    }
    const double determinant = nn * ee - ne * ne;
    if (determinant > 1e-12 * nn * ee) {
        const Coefficients both{(ee * ny - ne * ey) / determinant, (nn * ey - ne * ny) / determinant};
        if (both.cached >= 0 && both.extra >= 0) {
            return both;
        }
    }
    const Coefficients near_only{nn > 0 ? std::max(0.0, ny / nn) : 0, 0};
    const Coefficients extra_only{0, ee > 0 ? std::max(0.0, ey / ee) : 0};
    const double gain_near = near_only.cached * (2 * ny - near_only.cached * nn);
    const double gain_extra = extra_only.extra * (2 * ey - extra_only.extra * ee);
    return gain_near >= gain_extra ? near_only : extra_only;
}

std::vector<double> residuals_of(const std::vector<LinearTerm>& terms, const Coefficients& coefficients) {
    std::vector<double> residuals;
    for (const LinearTerm& t : terms) {
        residuals.push_back(coefficients.cached * t.cached + coefficients.extra * t.extra - t.y);
    }
    return residuals;
}

struct Best {
    double capacity = 0;
    Coefficients coefficients;
};

Best best_of(const std::vector<PiecewiseLinearRow>& rows, std::span<const double> seconds,
             const std::vector<double>& reaches, CachedCost cached_cost) {
    Best best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<double> equal(rows.size(), 1.0);
    for (const double capacity : reaches) {
        const std::vector<LinearTerm> terms = terms_of(rows, seconds, capacity, cached_cost);
        const Coefficients coefficients = solve(terms, equal);
        const std::vector<double> left = residuals_of(terms, coefficients);
        const double squares = std::inner_product(left.begin(), left.end(), left.begin(), 0.0);
        if (squares < least) {
            best = {capacity, coefficients};
            least = squares;
        }
    }
    const std::vector<LinearTerm> terms = terms_of(rows, seconds, best.capacity, cached_cost);
    const auto fit = [&](std::span<const double> weights) {
        best.coefficients = solve(terms, weights);
        return residuals_of(terms, best.coefficients);
    };
    fit_reweighted(fit, terms.size(), kReweighting);
    return best;
}

}  // namespace

PiecewiseLinearFit fit_piecewise_linear(const std::vector<PiecewiseLinearRow>& rows, const std::vector<double>& reaches,
                                        CachedCost cached_cost) {
    AUSPEX_CHECK(!rows.empty() && !reaches.empty(), "a knee needs rows and reaches to try");
    FittedRows law;
    for (const PiecewiseLinearRow& row : rows) {
        law.measured.push_back(row.seconds);
        law.scales.push_back(row.seconds);
    }
    const Best best = best_of(rows, law.measured, reaches, cached_cost);
    const auto& [near_s, extra_s] = best.coefficients;
    for (const PiecewiseLinearRow& row : rows) {
        law.predicted.push_back(row.known_s +
                                row.bytes * (near_s + extra_s * models::miss_ratio(best.capacity, row.set_bytes)));
    }
    law.parameters = 1 + (cached_cost == CachedCost::kFitted ? 1 : 0) + (reaches.size() > 1 ? 1 : 0);
    const std::vector<double> values{near_s, extra_s, best.capacity};
    const std::vector<Interval> intervals =
        residual_intervals(law, values, [&](std::span<const double> drawn) -> std::vector<double> {
            const Best one = best_of(rows, drawn, reaches, cached_cost);
            return {one.coefficients.cached, one.coefficients.extra, one.capacity};
        });
    const double half_step = reaches.size() > 1 ? (reaches[1] - reaches[0]) / 2 : 0;
    const auto positive = [](double value, double low, double high) {
        return Estimate{value, std::max(0.0, low), high};
    };
    return {
        positive(near_s, intervals[0].low, intervals[0].high), positive(extra_s, intervals[1].low, intervals[1].high),
        positive(best.capacity, intervals[2].low - half_step, intervals[2].high + half_step), std::move(law.predicted)};
}

std::vector<double> capacities_up_to(double largest, int steps, int first) {
    std::vector<double> reaches;
    for (int i = first; i <= steps; ++i) {
        reaches.push_back(largest * i / steps);
    }
    return reaches;
}

}  // namespace auspex::fit
