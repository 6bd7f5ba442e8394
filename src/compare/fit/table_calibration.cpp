/// @file Laws of rows, and constants replaced.
#include "compare/fit/table_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/statistics/statistics.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

/// A law with a start or a depth needs so many rows, over so wide a range of sizes; fewer give a rate alone.
constexpr std::size_t kMinRowsOfFit = 3;
constexpr double kMinRangeOfFit = 3;

double range_of(const Rows& rows, const SizeOf& size) {
    const auto [least, most] = std::minmax_element(
        rows.begin(), rows.end(),
        [&](const models::Measurement& a, const models::Measurement& b) { return size(a) < size(b); });
    return size(*most) / size(*least);
}

const Constant* find_constant(const std::vector<Constant>& constants, const std::string& path) {
    const auto found = std::find_if(constants.begin(), constants.end(),
                                    [&](const Constant& constant) { return constant.path == path; });
    return found == constants.end() ? nullptr : &*found;
}

/// Remembers what a constant was and is. One that comes out of several kinds of rows was what it was before the first.
void note_change(TableCalibration& work, const Constant& before, const Constant& now, const Estimate& estimate,
                 const Rows& rows) {
    std::vector<ConstantChange>& changes = work.calibration.changes;
    auto known = std::find_if(changes.begin(), changes.end(),
                              [&](const ConstantChange& change) { return change.now.path == now.path; });
    if (known == changes.end()) {
        known = changes.insert(changes.end(), {before, now, {}, "", ""});
    }
    *known = {known->before, now, estimate.interval(), rows_in_words(rows), ""};
}

}  // namespace

Rows busiest_rows_of(TableCalibration& work, const Rows& all, std::string_view kind, std::string_view name) {
    Rows rows = rows_of(all, kind, name);
    int most = 1;
    for (const models::Measurement& row : rows) {
        most = std::max(most, row.active);
    }
    const std::size_t dropped =
        std::erase_if(rows, [most](const models::Measurement& row) { return row.active < most; });
    if (dropped > 0) {
        work.calibration.warnings.push_back("rows of " + std::string(kind) + " " + std::string(name) +
                                            " with fewer than " + std::to_string(most) +
                                            " busy tiles are not used: " + std::to_string(dropped));
    }
    return rows;
}

Rows of_precision(const Rows& rows, std::string_view precision) {
    Rows found;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
                 [precision](const models::Measurement& row) { return row.precision == precision; });
    return found;
}

bool can_be_fitted(const Rows& rows, const SizeOf& size) {
    return rows.size() >= kMinRowsOfFit && range_of(rows, size) >= kMinRangeOfFit;
}

FittedNumber median_of(const Rows& rows, const SizeOf& value) {
    std::vector<double> values;
    std::transform(rows.begin(), rows.end(), std::back_inserter(values), value);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {{median(values), *low, *high}, ConstantKind::kMeasured, ""};
}

FittedNumber inverse(const FittedNumber& number) {
    AUSPEX_CHECK(number.value > 0 && number.high > 0, "what is inverted is positive");
    return {{1 / number.value, 1 / number.high, number.low > 0 ? 1 / number.low : 1 / number.value},
            number.kind,
            number.how};
}

RateFit fit_rate(const Rows& rows, const SizeOf& size) {
    if (!can_be_fitted(rows, size)) {
        return {median_of(rows, [&](const models::Measurement& row) { return size(row) / row.seconds; }), std::nullopt};
    }
    std::vector<Observation> observations;
    for (const models::Measurement& row : rows) {
        observations.push_back({{1, size(row)}, row.seconds});
    }
    const NonNegativeFit fit = fit_non_negative(observations, kSeed);
    if (fit.coefficients[1].value <= 0) {
        throw InputError(line_of(rows.front()), "found times of " + rows.front().kind + " " + rows.front().name +
                                                    " that do not grow with size; expected longer ones for more bytes");
    }
    return {inverse(fitted(fit.coefficients[1], "")), fitted(fit.coefficients[0], "")};
}

double predicted_s(const RateFit& fit, double size) {
    return (fit.start_s ? fit.start_s->value : 0) + size / fit.rate.value;
}

void judge_table_rows(TableCalibration& work, const Rows& rows, std::vector<FitQuality::Term> terms,
                      const SizeOf& predicted) {
    FitQuality fit = quality_of(rows.front().kind, rows.front().name);
    fit.precision = rows.front().precision;
    fit.terms = std::move(terms);
    fit.points = rows;
    fit.verdict = "good";
    std::vector<double> errors;
    std::size_t worst = 0;
    for (const models::Measurement& row : rows) {
        fit.predicted.push_back(predicted(row));
        errors.push_back(std::abs(fit.predicted.back() / row.seconds - 1));
        worst = errors.back() > errors[worst] ? errors.size() - 1 : worst;
    }
    fit.typical_error = median(errors);
    fit.worst_error = errors[worst];
    fit.is_poor = is_poor_fit(fit.typical_error, fit.worst_error);
    if (fit.is_poor) {
        fit.verdict = (fit.typical_error > kGoodTypical ? "poor: typical error " + percent(fit.typical_error) + ", row "
                                                        : "poor: row ") +
                      std::to_string(worst + 1) + " of " + std::to_string(rows.size()) + " is off by " +
                      signed_percent(fit.predicted[worst] / rows[worst].seconds - 1) +
                      (rows[worst].file_line.empty() ? "" : ", " + rows[worst].file_line);
        work.calibration.warnings.push_back(fit.kind + " " + fit.name + " " + fit.verdict);
    } else if (rows.size() == 1 && fit.kind != kCollective) {
        fit.verdict = kOneRow;
    }
    for (std::vector<ConstantChange>* const list : {&work.calibration.changes, &work.calibration.advice}) {
        for (ConstantChange& change : *list) {
            const bool is_determined = fit.is_poor || change.interval.low > 0;
            change.verdict = !change.verdict.empty() ? change.verdict : is_determined ? fit.verdict : kNotDetermined;
        }
    }
    work.calibration.fits.push_back(std::move(fit));
}

FitQuality::Term put(TableCalibration& work, const std::string& path, Dimension dimension, const FittedNumber& number,
                     const Rows& rows) {
    const std::string full_path = "machine." + path;
    const models::Machine before = work.machine;
    try {
        replace_constant(work.document, path, dimension, number, rows);
        work.machine = models::load_machine(work.document);
    } catch (const InputError& error) {
        throw InputError(line_of(rows.front()),
                         "found " + rows_in_words(rows) + " that the machine cannot take: " + error.what());
    }
    const Constant* const was = find_constant(before.constants, full_path);
    const Constant* const now = find_constant(work.machine.constants, full_path);
    if (was != nullptr && now != nullptr) {
        note_change(work, *was, *now, number, rows);
    }
    return {number, path};
}

FitQuality::Term put_share(TableCalibration& work, const std::string& path, FittedNumber number, const Rows& rows) {
    if (number.value > 1) {
        work.calibration.warnings.push_back(
            path + " comes out above 1: 1 is taken; look at the rows of the rate that it is a share of");
        number = {{1, std::min(number.low, 1.0), 1}, number.kind, number.how};
    }
    return put(work, path, Dimension::kNone, number, rows);
}

}  // namespace auspex::fit
