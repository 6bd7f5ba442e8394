/// @file Verdicts on laws; the host that predictions see.
#include "compare/fit/cost_models/fitted.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace auspex::fit {
namespace {

constexpr double kGoodWorst = 0.20;
constexpr double kOutlier = 0.30, kOutlierOfTypical = 5;

/// Tenths of a percent below 10 %, whole ones above.
std::string short_percent(double share) { return percent(share, share < 0.1 ? 1 : 0); }

std::string file_line_of(const models::Measurement& point) {
    if (point.kind != "kernel") {
        const std::string who = point.ranks > 2 ? ", " + std::to_string(point.ranks) + " ranks" : "";
        return point.name + " of " + format_quantity(point.bytes, Dimension::kBytes) + who;
    }
    std::string text = fixed(point.rows, 0) + " x " + fixed(point.columns, 0);
    text += point.depth > 1 ? " x " + fixed(point.depth, 0) : "";
    return text + (point.groups > 1 ? ", " + fixed(point.groups, 0) + " groups" : "");
}

models::MessageCosts message_costs_of(const FittedMessageCosts& fitted) {
    models::MessageCosts costs;
    costs.send_s = fitted.send_s.value;
    costs.receive_s = fitted.receive_s.value;
    costs.send_byte_s = fitted.send_byte_s.value;
    costs.receive_byte_s = fitted.receive_byte_s.value;
    costs.eager_bytes = fitted.eager_bytes.value;
    costs.rendezvous_s = fitted.rendezvous_s.value;
    costs.latency_s = fitted.latency_s.value;
    costs.burst_bytes = fitted.burst_bytes ? fitted.burst_bytes->value : 0;
    if (fitted.buffered_bytes) {
        costs.buffered_bytes = fitted.buffered_bytes->value;
    }
    return costs;
}

}  // namespace

models::CpuModel cpu_model_of(const FittedCpu& fitted) {
    models::CpuModel cpu;
    cpu.cores = fitted.cores;
    cpu.nodes_per_computer = fitted.nodes_per_computer;
    cpu.quantum_s = fitted.quantum_s.value;
    cpu.context_switch_s = fitted.context_switch_s.value;
    cpu.poll_s = fitted.poll_s.value;
    cpu.core_capacity_bytes = fitted.core_capacity_bytes.value;
    cpu.reload_byte_s = fitted.reload_byte_s.value;
    cpu.busy_speed = fitted.busy_speed.value;
    cpu.cache_bytes = fitted.cache_bytes.value;
    cpu.cache_bytes_per_s = fitted.cache_bytes_per_s.value;
    cpu.memory_bytes_per_s = fitted.memory_bytes_per_s.value;
    cpu.core_memory_bytes_per_s = fitted.core_memory_bytes_per_s.value;
    cpu.probe_s = fitted.probe_s.value;
    cpu.intra_node = message_costs_of(fitted.intra_node);
    if (fitted.inter_node) {
        cpu.inter_node = message_costs_of(*fitted.inter_node);
    }
    for (const FittedKernelCost& cost : fitted.kernel_costs) {
        models::CpuKernelCost& known =
            cpu.kernel_costs.at(static_cast<std::size_t>(cost.precision)).at(static_cast<std::size_t>(cost.kernel));
        for (std::size_t i = 0; i < cost.terms.size(); ++i) {
            known.seconds_per.at(i) = cost.terms[i].value;
        }
        known.miss_byte_s = cost.miss_byte_s ? cost.miss_byte_s->value : 0;
        known.capacity_bytes = cost.capacity_bytes ? cost.capacity_bytes->value : 0;
        known.relative_error = cost.relative_error;
        known.known = true;
    }
    return cpu;
}

bool is_poor_fit(double typical_error, double worst_error) {
    return typical_error > kGoodTypical || worst_error > kGoodWorst;
}

void judge(FitQuality& quality) {
    AUSPEX_CHECK(!quality.points.empty() && quality.points.size() == quality.predicted.size(),
                 "a prediction for every point");
    std::vector<double> errors;
    for (std::size_t i = 0; i < quality.points.size(); ++i) {
        errors.push_back(quality.predicted[i] / quality.points[i].seconds - 1);
    }
    std::vector<double> sizes(errors.size());
    std::transform(errors.begin(), errors.end(), sizes.begin(), [](double error) { return std::abs(error); });
    quality.typical_error = median(sizes);
    quality.worst_error = 0;
    quality.outliers = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > std::max(kOutlier, kOutlierOfTypical * quality.typical_error)) {
            ++quality.outliers;
        } else if (sizes[i] > quality.worst_error) {
            quality.worst_error = sizes[i];
            worst = i;
        }
    }
    const auto farthest = static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    quality.farthest_error = sizes[farthest];
    // A few points in twenty may be disturbed measurements; more are the law's fault.
    constexpr int kPointsForAnOutlier = 10;
    const bool has_many = quality.outliers * kPointsForAnOutlier > static_cast<int>(sizes.size());
    quality.is_poor = is_poor_fit(quality.typical_error, quality.worst_error) || has_many;
    quality.verdict = quality.is_poor ? "poor" : "good";
    const auto signed_text = [&errors](std::size_t i) {
        return (errors[i] < 0 ? "-" : "+") + short_percent(std::abs(errors[i]));
    };
    bool has_reason = false;
    const auto add_reason = [&](const char* separator, const std::string& reason) {
        quality.verdict += (has_reason ? separator : ": ") + reason;
        has_reason = true;
    };
    if (quality.typical_error > kGoodTypical) {
        add_reason("", "typical error " + short_percent(quality.typical_error));
    }
    if (quality.worst_error > kGoodWorst) {
        add_reason(", ", "off by " + signed_text(worst) + " at " + file_line_of(quality.points[worst]));
    }
    if (has_many) {
        add_reason("; ", "too many outliers (" + std::to_string(quality.outliers) + " of " +
                             std::to_string(sizes.size()) + ")");
    } else if (quality.outliers > 0) {
        quality.verdict += "; " + std::to_string(quality.outliers) + (quality.outliers > 1 ? " outliers" : " outlier");
    }
    if (quality.outliers > 0) {
        quality.verdict += ", the farthest " + file_line_of(quality.points[farthest]) + ", " + signed_text(farthest);
    }
}

FitQuality quality_of(std::string kind, std::string name) {
    FitQuality quality;
    quality.kind = std::move(kind);
    quality.name = std::move(name);
    return quality;
}

void add_quality(FitQuality quality, Calibration& calibration) {
    if (!quality.points.empty()) {
        judge(quality);
        calibration.fits.push_back(std::move(quality));
    }
}

std::vector<models::Measurement> rows_of(const std::vector<models::Measurement>& rows, std::string_view kind,
                                         std::string_view name) {
    std::vector<models::Measurement> found;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
                 [&](const models::Measurement& row) { return row.kind == kind && row.name == name; });
    return found;
}

std::vector<models::Measurement> timed_cpu_rows(const std::vector<models::Measurement>& rows, std::string_view name) {
    std::vector<models::Measurement> found = rows_of(rows, "host", name);
    std::erase_if(found, [](const models::Measurement& row) { return row.seconds <= 0; });
    return found;
}

double largest_bytes(const std::vector<models::Measurement>& rows) {
    return std::ranges::max(rows, {}, &models::Measurement::bytes).bytes;
}

}  // namespace auspex::fit
