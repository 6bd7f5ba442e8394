/// @file Measured tables to the constants of a machine file: rates, latencies, shares; collectives as a check.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/statistics/statistics.hpp"
#include "compare/fit/attention_table.hpp"
#include "compare/fit/calibration.hpp"
#include "compare/fit/collective_check.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "compare/fit/rank_rate.hpp"
#include "compare/fit/table_calibration.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::fit {
namespace {

double products(const models::Measurement& row) {
    return row.rows * row.columns * row.depth * std::max(row.groups, 1.0);
}

/// Large products with every tile busy: the rate itself.
void take_sustained(TableCalibration& work, const Rows& rows) {
    for (const char* const precision : {"bf16", "fp32"}) {
        const Rows of_one = of_precision(rows, precision);
        if (of_one.empty()) {
            continue;
        }
        if (of_one.front().active < work.machine.node.tiles) {
            work.calibration.warnings.push_back("gemm sustained " + std::string(precision) + ": " +
                                                std::to_string(of_one.front().active) + " of " +
                                                std::to_string(work.machine.node.tiles) +
                                                " tiles were busy; the machine's rate is one with all of them");
        }
        const auto rate = [](const models::Measurement& row) { return 2 * products(row) / row.seconds; };
        const FittedNumber number = median_of(of_one, rate);
        const FitQuality::Term term =
            put(work, "tile.gemm_" + std::string(precision), Dimension::kFlopPerSecond, number, of_one);
        judge_table_rows(work, of_one, {term},
                         [&](const models::Measurement& row) { return 2 * products(row) / number.value; });
    }
}

/// Seconds at the sustained rate if depth cost nothing: FLOP over rate, and the last wave's empty cores.
double full_depth_s(const models::Tile& tile, const models::Measurement& row) {
    models::Tile of_no_depth = tile;
    of_no_depth.gemm_half_depth = 0;
    const double filled = gemm_efficiency(of_no_depth, row.rows, row.columns, row.depth, std::max(row.groups, 1.0));
    return 2 * products(row) / (sustained_rate(tile, row) * filled);
}

/// The depth at half of the ceiling and the ceiling, of seconds = full_depth_s / ceiling (1 + half_depth / depth).
/// Nothing where rows are too few or too alike, and where they allow of no cost of depth as well as of the present one.
struct ShapeFit {
    FittedNumber half_depth, ceiling;
};

std::optional<ShapeFit> fit_shapes(TableCalibration& work, const Rows& rows) {
    if (!can_be_fitted(rows, [](const models::Measurement& row) { return row.depth; })) {
        return std::nullopt;
    }
    std::vector<Observation> observations;
    for (const models::Measurement& row : rows) {
        const double full_s = full_depth_s(work.machine.tile, row);
        observations.push_back({{full_s, full_s / row.depth}, row.seconds});
    }
    const NonNegativeFit fit = fit_non_negative(observations, kSeed);
    const FittedNumber reciprocal = fitted(fit.coefficients[0], "");
    if (reciprocal.value <= 0) {
        throw InputError(line_of(rows.front()),
                         "found rates of gemm shape that grow in step with depth; expected a ceiling");
    }
    const ShapeFit found{scaled(fitted(fit.coefficients[1], ""), 1 / reciprocal.value), inverse(reciprocal)};
    const double present = work.machine.tile.gemm_half_depth;
    if (found.half_depth.low <= 0 && present <= found.half_depth.high) {
        work.calibration.warnings.push_back("gemm shape: rows do not say how much depth costs, half_depth " +
                                            six_digits(found.half_depth.value) + " with an interval from 0 to " +
                                            six_digits(found.half_depth.high) + ": tile.gemm_half_depth stays " +
                                            six_digits(present));
        return std::nullopt;
    }
    return found;
}

/// Products with a model's shapes.
void take_shapes(TableCalibration& work, const Rows& rows) {
    if (rows.empty()) {
        return;
    }
    std::vector<FitQuality::Term> terms;
    if (const std::optional<ShapeFit> fit = fit_shapes(work, rows)) {
        terms.push_back(put(work, "tile.gemm_half_depth", Dimension::kNone, fit->half_depth, rows));
        terms.push_back(put_share(work, "tile.gemm_ceiling", fit->ceiling, rows));
    } else {
        const double half_depth = work.machine.tile.gemm_half_depth;
        const auto share = [&](const models::Measurement& row) {
            return full_depth_s(work.machine.tile, row) * (1 + half_depth / row.depth) / row.seconds;
        };
        terms.push_back(put_share(work, "tile.gemm_ceiling", median_of(rows, share), rows));
    }
    const models::Tile& tile = work.machine.tile;
    judge_table_rows(work, rows, terms, [&](const models::Measurement& row) {
        return full_depth_s(tile, row) / tile.gemm_ceiling * (1 + tile.gemm_half_depth / row.depth);
    });
}

double bytes_of(const models::Measurement& row) { return row.bytes; }

void take_memory(TableCalibration& work, const Rows& triad, const Rows& elementwise) {
    if (!triad.empty()) {
        const RateFit fit = fit_rate(triad, bytes_of);
        const auto term = put(work, "tile.hbm_bandwidth", Dimension::kBytesPerSecond, fit.rate, triad);
        judge_table_rows(work, triad, {term},
                         [&](const models::Measurement& row) { return predicted_s(fit, row.bytes); });
    }
    if (!elementwise.empty()) {
        const RateFit fit = fit_rate(elementwise, bytes_of);
        const auto term = put_share(work, "tile.memory_efficiency",
                                    scaled(fit.rate, 1 / work.machine.tile.hbm_bytes_per_s), elementwise);
        judge_table_rows(work, elementwise, {term},
                         [&](const models::Measurement& row) { return predicted_s(fit, row.bytes); });
    }
}

/// A row's name and the constant that its rows determine.
struct ConstantPath {
    const char* name;
    const char* path;
};
constexpr std::array<ConstantPath, 4> kStarts{{{"kernel", "tile.kernel_launch"},
                                               {"scale_up", "node.scale_up_latency"},
                                               {"nic", "node.nic.latency"},
                                               {"network_switch", "fabric.switch_latency"}}};
constexpr std::array<ConstantPath, 8> kLinks{{{"pair", "node.pair_bandwidth"},
                                              {"mesh", "node.mesh_bandwidth"},
                                              {"switch", "node.switch_bandwidth"},
                                              {"pcie", "node.pcie_bandwidth"},
                                              {"socket_out", "node.socket_bandwidth_out"},
                                              {"socket_in", "node.socket_bandwidth_in"},
                                              {"host_memory", "node.host_memory_bandwidth"},
                                              {"nic", "node.nic.bandwidth"}}};

/// Rows of what one rank moves between nodes: of the stack, no constant of the machine.
constexpr const char* kRankLink = "rank";

void take_starts(TableCalibration& work, const Rows& all) {
    for (const ConstantPath& place : kStarts) {
        const Rows rows = rows_of(all, "start", place.name);
        if (!rows.empty()) {
            const FittedNumber number = median_of(rows, [](const models::Measurement& row) { return row.seconds; });
            const auto term = put(work, place.path, Dimension::kSeconds, number, rows);
            judge_table_rows(work, rows, {term}, [&](const models::Measurement&) { return number.value; });
        }
    }
}

/// Between tiles of a node, and from rank to rank between nodes: not what moves bytes alone.
bool is_of_messages(const Rows& rows) {
    const std::string& name = rows.front().name;
    return name == "pair" || name == "mesh" || name == "switch" || name == kRankLink;
}

/// What a message takes beside its bytes is the wire's latency and the stack's software together; which is which, no
/// message tells. So the machine keeps its latency, unless the whole is surely less.
void split_start(TableCalibration& work, const Rows& rows, const FittedNumber& start) {
    const bool is_far = rows.front().name == kRankLink;
    const char* const path = is_far ? "node.nic.latency" : "node.scale_up_latency";
    const double latency_s = is_far ? work.machine.node.nic_latency_s : work.machine.node.scale_up_latency_s;
    const auto seconds = [](double s) { return format_quantity(s, Dimension::kSeconds); };
    std::string text =
        "link " + rows.front().name + ": a message takes " + seconds(start.value) + " beside its bytes; ";
    if (start.high < latency_s) {
        put(work, path, Dimension::kSeconds, start, rows);
        text += std::string(path) + " was longer and is set to it";
    } else if (start.value <= latency_s) {
        text += "that may be all of " + std::string(path) + ", which stays " + seconds(latency_s);
    } else {
        const double software_s = is_far ? work.stack.scale_out_message_s : work.stack.scale_up_message_s;
        text += std::string(path) + " stays " + seconds(latency_s) + ", so that " + seconds(start.value - latency_s) +
                " are for switches and software: the constant " + (is_far ? "scale_out_message" : "scale_up_message") +
                " of the stack " + work.stack.name + " is " + seconds(software_s);
    }
    work.calibration.warnings.push_back(text);
}

void take_links(TableCalibration& work, const Rows& all) {
    for (const ConstantPath& place : kLinks) {
        const Rows rows = rows_of(all, "link", place.name);
        if (rows.empty()) {
            continue;
        }
        const RateFit fit = fit_rate(rows, bytes_of);
        const auto term = put(work, place.path, Dimension::kBytesPerSecond, fit.rate, rows);
        if (fit.start_s && is_of_messages(rows)) {
            split_start(work, rows, *fit.start_s);
        }
        judge_table_rows(work, rows, {term},
                         [&](const models::Measurement& row) { return predicted_s(fit, row.bytes); });
    }
}

/// What one rank moves to another node, its transport and all: of the stack, not of the NIC.
void take_rank(TableCalibration& work, const Rows& rows) {
    if (rows.empty()) {
        return;
    }
    const RateFit fit = fit_rate(rows, bytes_of);
    const RankAdvice advice = advice_of_rank(work.machine, work.stack, rows, fit.rate);
    work.calibration.warnings.push_back("link rank: " + advice.text);
    std::vector<FitQuality::Term> terms;
    if (advice.change) {
        const ConstantChange& change = *advice.change;
        terms.push_back({{change.now.value, change.interval.low, change.interval.high}, change.now.path});
        work.calibration.advice.push_back(change);
    }
    if (fit.start_s) {
        split_start(work, rows, *fit.start_s);
    }
    judge_table_rows(work, rows, terms, [&](const models::Measurement& row) { return predicted_s(fit, row.bytes); });
}

/// Refuses rows that nothing here would read.
void check_names(const Rows& rows) {
    static const std::map<std::string, std::vector<std::string>, std::less<>> kNames = [] {
        std::map<std::string, std::vector<std::string>, std::less<>> names{
            {"gemm", {"sustained", "shape"}},
            {"memory", {"triad", "elementwise"}},
            {"attention", {"forward", "backward", "forward+backward"}}};
        for (const ConstantPath& place : kStarts) {
            names["start"].emplace_back(place.name);
        }
        for (const ConstantPath& place : kLinks) {
            names["link"].emplace_back(place.name);
        }
        names["link"].emplace_back(kRankLink);
        return names;
    }();
    for (const models::Measurement& row : rows) {
        if (row.kind == kCollective) {
            continue;
        }
        const auto known = kNames.find(row.kind);
        if (known == kNames.end()) {
            throw InputError(line_of(row), "found a row of kind \"" + row.kind +
                                               "\"; expected gemm, memory, attention, start, link or collective: the "
                                               "others are of auspex calibrate on the machine itself");
        }
        if (std::find(known->second.begin(), known->second.end(), row.name) == known->second.end()) {
            std::string list;
            for (const std::string& name : known->second) {
                list += (list.empty() ? "" : ", ") + name;
            }
            throw InputError(line_of(row), "found a row of kind " + row.kind + " and name \"" + row.name +
                                               "\"; expected one of " + list);
        }
    }
}

/// A group of rows that were measured in different ways shows it.
void check_collectives(TableCalibration& work, const Rows& rows) {
    std::map<std::string, Rows> groups;
    for (const models::Measurement& row : rows) {
        if (row.kind == kCollective) {
            groups[row.name].push_back(row);
        }
    }
    for (const auto& [name, of_one] : groups) {
        judge_table_rows(work, of_one, {}, [&](const models::Measurement& row) {
            return measured_collective_s(work.machine, work.stack, row);
        });
    }
}

}  // namespace

Calibration calibrate_from(const JsonDocument& base, const std::vector<models::Measurement>& measurements,
                           const models::Stack& stack) {
    check_names(measurements);
    TableCalibration work{base, models::load_machine(base), stack, {}};
    take_sustained(work, busiest_rows_of(work, measurements, "gemm", "sustained"));
    take_shapes(work, busiest_rows_of(work, measurements, "gemm", "shape"));
    take_memory(work, busiest_rows_of(work, measurements, "memory", "triad"),
                busiest_rows_of(work, measurements, "memory", "elementwise"));
    take_attention(work, measurements);
    take_starts(work, measurements);
    take_links(work, measurements);
    take_rank(work, rows_of(measurements, "link", kRankLink));
    check_collectives(work, measurements);
    work.calibration.machine_json = laid_out(work.document.dump());
    return std::move(work.calibration);
}

}  // namespace auspex::fit
