/// @file Groups timings by kernel and precision and fits each law; what memory adds to them.
#include "compare/fit/cost_models/kernel_fit.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "compare/fit/cost_models/non_negative_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

constexpr std::uint64_t kKernelSeed = 20'201;
/// A row with twice this spread counts a fifth of a quiet one.
constexpr double kQuietSpread = 0.03;

/// Timings of one rank alone whose operands the last-level cache holds.
std::vector<models::Measurement> timings(const std::vector<models::Measurement>& rows, models::CpuKernel kernel,
                                         models::CpuPrecision precision, double cache_bytes) {
    constexpr double kFits = 0.75;
    std::vector<models::Measurement> found = rows_of(rows, "kernel", to_string(kernel));
    std::erase_if(found, [&](const models::Measurement& row) {
        return row.precision != to_string(precision) || row.where != "cache" || row.active != 1 ||
               cpu_bytes(call_of(row), precision) > kFits * cache_bytes;
    });
    return found;
}

std::vector<Observation> observations_of(const std::vector<models::Measurement>& points, std::size_t terms) {
    std::vector<Observation> observations;
    for (const models::Measurement& point : points) {
        const auto sizes = cpu_sizes(call_of(point));
        const double noise = point.spread / kQuietSpread;
        observations.push_back({{sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(terms)},
                                point.seconds,
                                1 / (1 + noise * noise)});
    }
    return observations;
}

/// Points, what the law says of them, and the verdict.
FitQuality kernel_quality(const FittedKernelCost& cost, const NonNegativeFit& fit,
                          std::vector<models::Measurement> points) {
    FitQuality quality;
    quality.kind = "kernel";
    quality.name = to_string(cost.kernel);
    quality.precision = to_string(cost.precision);
    const auto names = cpu_terms(cost.kernel);
    for (std::size_t i = 0; i < cost.terms.size(); ++i) {
        quality.terms.push_back({cost.terms[i], std::string(names[i])});
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
        quality.predicted.push_back((1 + fit.residuals[i]) * points[i].seconds);
    }
    quality.points = std::move(points);
    judge_timings(quality);
    return quality;
}

void fit_kernel_cost(models::CpuKernel kernel, models::CpuPrecision precision, std::vector<models::Measurement> points,
                     FittedCpu& cpu, Calibration& calibration) {
    const std::size_t terms = cpu_terms(kernel).size();
    if (points.empty()) {
        return;
    }
    if (points.size() <= terms) {  // such a law would go through all its points, right or wrong
        calibration.warnings.push_back(std::string(to_string(kernel)) + ", " + std::string(to_string(precision)) +
                                       ": " + std::to_string(points.size()) + " timings for a law of " +
                                       std::to_string(terms) + " terms; the machine file has no law of it");
        return;
    }
    const NonNegativeFit fit = fit_non_negative(observations_of(points, terms), kKernelSeed);
    FittedKernelCost cost{kernel, precision, {}, std::nullopt, std::nullopt, robust_deviation(fit.residuals)};
    for (const Estimate& coefficient : fit.coefficients) {
        cost.terms.push_back(
            fitted(coefficient, "fitted to " + std::to_string(points.size()) + " shapes timed alone on one core"));
    }
    calibration.fits.push_back(kernel_quality(cost, fit, std::move(points)));
    cpu.kernel_costs.push_back(std::move(cost));
}

}  // namespace

models::CpuCall call_of(const models::Measurement& row) {
    models::CpuCall call;
    for (std::size_t i = 0; i < models::kCpuKernels; ++i) {
        if (to_string(static_cast<models::CpuKernel>(i)) == row.name) {
            call.kernel = static_cast<models::CpuKernel>(i);
        }
    }
    AUSPEX_CHECK(to_string(call.kernel) == row.name, "rows of kernels name one");
    call.rows = row.rows;
    call.columns = row.columns;
    call.depth = row.depth;
    call.groups = row.groups;
    return call;
}

models::CpuPrecision precision_of(const models::Measurement& row) {
    return row.precision == to_string(models::CpuPrecision::kBf16) ? models::CpuPrecision::kBf16
                                                                   : models::CpuPrecision::kFp32;
}

std::optional<double> modelled_seconds(const models::CpuModel& cpu, const models::CpuCall& call,
                                       models::CpuPrecision precision) {
    const auto& laws = cpu.kernel_costs.at(static_cast<std::size_t>(precision));
    if (!laws.at(static_cast<std::size_t>(call.kernel)).known) {
        return std::nullopt;
    }
    return cpu_seconds(cpu, call, precision);
}

void fit_kernel_costs(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    for (std::size_t i = 0; i < models::kCpuKernels; ++i) {
        const auto kernel = static_cast<models::CpuKernel>(i);
        for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
            fit_kernel_cost(kernel, precision, timings(rows, kernel, precision, cpu.cache_bytes.value), cpu,
                            calibration);
        }
    }
    if (cpu.kernel_costs.empty()) {
        throw InputError("measurements",
                         "found no timings of kernels from the cache; expected rows of kind \"kernel\"");
    }
}

}  // namespace auspex::fit
