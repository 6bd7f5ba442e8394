/// @file Groups timings by kernel and precision and fits each law; what memory adds to them.
#include "compare/fit/laws/kernel_fit.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "compare/fit/laws/positive_fit.hpp"

namespace auspex {
namespace {

constexpr int kBootstraps = 200;
constexpr std::uint64_t kSeed = 20'201;
constexpr double kMadToSigma = 1.4826;
/// A row with twice this spread counts a fifth of a quiet one.
constexpr double kQuietSpread = 0.03;

/// Timings of one rank alone whose operands the last-level cache holds.
std::vector<Measurement> timings(const std::vector<Measurement>& rows, CpuKernel kernel, CpuPrecision precision,
                                 double cache_bytes) {
    constexpr double kFits = 0.75;
    std::vector<Measurement> found = rows_of(rows, "kernel", to_string(kernel));
    std::erase_if(found, [&](const Measurement& row) {
        return row.precision != to_string(precision) || row.where != "cache" || row.active != 1 ||
               cpu_bytes(call_of(row), precision) > kFits * cache_bytes;
    });
    return found;
}

std::vector<Observation> observations_of(const std::vector<Measurement>& points, std::size_t terms) {
    std::vector<Observation> observations;
    for (const Measurement& point : points) {
        const auto sizes = cpu_sizes(call_of(point));
        const double noise = point.spread / kQuietSpread;
        observations.push_back({{sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(terms)},
                                point.seconds,
                                1 / (1 + noise * noise)});
    }
    return observations;
}

/// Points, what the law says of them, and the verdict.
FitQuality quality_of(const FittedLaw& law, const PositiveFit& fit, std::vector<Measurement> points) {
    FitQuality quality;
    quality.kind = "kernel";
    quality.name = to_string(law.kernel);
    quality.precision = to_string(law.precision);
    const auto names = cpu_terms(law.kernel);
    for (std::size_t i = 0; i < law.terms.size(); ++i) {
        quality.terms.push_back({std::string(names[i]), law.terms[i].value, law.terms[i].low, law.terms[i].high});
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
        quality.predicted.push_back((1 + fit.residuals[i]) * points[i].seconds);
    }
    quality.points = std::move(points);
    judge(quality);
    return quality;
}

void fit_law(CpuKernel kernel, CpuPrecision precision, std::vector<Measurement> points, FittedHost& host,
             Calibration& calibration) {
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
    const PositiveFit fit = fit_positive(observations_of(points, terms), kBootstraps, kSeed);
    FittedLaw law{kernel, precision, {}, std::nullopt, std::nullopt, kMadToSigma * fit.typical_error};
    for (const FittedCoefficient& coefficient : fit.coefficients) {
        law.terms.push_back({coefficient.value, coefficient.low, coefficient.high, ConstantKind::kFitted,
                             "fitted to " + std::to_string(points.size()) + " shapes timed alone on one core"});
    }
    calibration.fits.push_back(quality_of(law, fit, std::move(points)));
    host.laws.push_back(std::move(law));
}

}  // namespace

CpuCall call_of(const Measurement& row) {
    CpuCall call;
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        if (to_string(static_cast<CpuKernel>(i)) == row.name) {
            call.kernel = static_cast<CpuKernel>(i);
        }
    }
    AUSPEX_CHECK(to_string(call.kernel) == row.name, "rows of kernels name one");
    call.rows = row.rows;
    call.columns = row.columns;
    call.depth = row.depth;
    call.groups = row.groups;
    return call;
}

CpuPrecision precision_of(const Measurement& row) {
    return row.precision == to_string(CpuPrecision::kBf16) ? CpuPrecision::kBf16 : CpuPrecision::kFp32;
}

std::optional<double> seconds_by_law(const Host& host, const CpuCall& call, CpuPrecision precision) {
    const auto& laws = host.laws.at(static_cast<std::size_t>(precision));
    if (!laws.at(static_cast<std::size_t>(call.kernel)).known) {
        return std::nullopt;
    }
    return cpu_seconds(host, call, precision);
}

void fit_laws(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        const auto kernel = static_cast<CpuKernel>(i);
        for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
            fit_law(kernel, precision, timings(rows, kernel, precision, host.cache_bytes.value), host, calibration);
        }
    }
    if (host.laws.empty()) {
        throw InputError("measurements",
                         "found no timings of kernels from the cache; expected rows of kind \"kernel\"");
    }
}

}  // namespace auspex
