/// @file Ping-pongs, sends and streams taken apart into the costs of a path.
#include "compare/fit/cost_models/message_fit.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "compare/fit/cost_models/kernel_fit.hpp"
#include "compare/fit/cost_models/non_negative_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

constexpr std::uint64_t kMessageSeed = 20'202;

/// Short messages: their bytes are a small part of their time.
constexpr double kShort = 400;

/// A row of messages, and the copy and the time on the wire that are in it.
struct Timed {
    models::Measurement row;
    double copy_s = 0;
    [[nodiscard]] double net_s() const { return row.seconds - copy_s; }
};

/// Of so many bytes: bytes have no precision, either law does.
double copy_seconds(const models::CpuModel& cpu, double bytes) {
    models::CpuCall copy;
    copy.columns = bytes;
    for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
        if (const auto seconds = modelled_seconds(cpu, copy, precision)) {
            return *seconds;
        }
    }
    throw InputError("measurements", "found no law of copy; expected timings of it from the cache");
}

/// Rows of a name and place between two ranks, as far as their message and its copy leave room in the cache: longer
/// ones time the system's memory.
std::vector<Timed> timed_rows(const std::vector<models::Measurement>& rows, std::string_view name,
                              std::string_view where, const models::CpuModel& cpu) {
    constexpr double kFits = 0.25;
    std::vector<Timed> found;
    for (const models::Measurement& row : rows_of(rows, "message", name)) {
        if (row.where == where && (where == "far" || row.bytes <= kFits * cpu.cache_bytes)) {
            found.push_back({row, copy_seconds(cpu, row.bytes)});
        }
    }
    return found;
}

/// What one path's rows are fitted with: coefficients in this order.
enum MessageTerm : std::size_t { kSend, kRest, kSendByte, kRestByte, kRendezvous, kTerms };

struct PathRows {
    std::vector<Timed> send, ping_pong, stream;
    std::string where;
    FittedNumber eager_bytes;
    [[nodiscard]] bool is_inter_node() const { return where == "far"; }
};

std::vector<double> sizes_of(const PathRows& rows, const models::Measurement& row) {
    const double is_long = row.bytes > rows.eager_bytes.value ? 1 : 0;
    const double handed_over = rows.is_inter_node() || is_long == 0 ? row.bytes : 0;
    if (row.name == "send") {
        return {1, 0, handed_over, 0, 0};
    }
    return {1, 1, rows.is_inter_node() ? 2 * row.bytes : handed_over, rows.is_inter_node() ? 0 : row.bytes, is_long};
}

/// A number that follows from another.
FittedNumber derived(FittedNumber number, const std::string& how) {
    number.kind = ConstantKind::kDerived;
    number.how = how;
    return number;
}

/// What a short ping-pong takes beside its send is the receiver's time and a wait.
struct Rest {
    FittedNumber receive_s, wait_s;
};

/// A short message of a long row takes as long as the slower side: it tells what receiving takes where that is more.
Rest split_rest(const PathRows& rows, const FittedNumber& rest, const FittedNumber& send_s) {
    std::vector<double> streams;
    for (const Timed& timed : rows.stream) {
        if (timed.row.bytes <= kShort) {
            streams.push_back(std::max(0.0, timed.net_s()));
        }
    }
    const bool is_told = !streams.empty() && median(streams) > send_s.value;
    const FittedNumber side = is_told ? median_of(streams, ConstantKind::kDerived, "a short message of a long row")
                                      : derived(send_s, "taken as what sending takes");
    const std::string how = "a short ping-pong less what both sides spend";
    // All of the rest, where it is less than a side spends: then nobody waits.
    return side.value < rest.value ? Rest{side, difference_of(rest, side, how)}
                                   : Rest{derived(rest, side.how), {{0, 0, 0}, ConstantKind::kDerived, how}};
}

/// The whole times, copies included.
FitQuality message_quality(const PathRows& rows, const std::vector<Timed>& points, const NonNegativeFit& fit) {
    FitQuality quality;
    quality.kind = "message";
    quality.name = rows.where;
    constexpr std::array kNames{"send", "receive and wait", "send byte", "receive byte", "rendezvous"};
    for (std::size_t i = 0; i < kTerms; ++i) {
        const Estimate& term = fit.coefficients[i];
        if (!rows.is_inter_node() || i != kRestByte) {
            quality.terms.push_back({term, kNames.at(i)});
        }
    }
    for (const Timed& point : points) {
        const std::vector<double> sizes = sizes_of(rows, point.row);
        double predicted = point.copy_s;
        for (std::size_t i = 0; i < kTerms; ++i) {
            predicted += sizes[i] * fit.coefficients[i].value;
        }
        quality.points.push_back(point.row);
        quality.predicted.push_back(predicted);
    }
    judge_timings(quality);
    return quality;
}

/// What is left of a row without its copy counts as much as it is of the row.
std::optional<NonNegativeFit> fit_path(const PathRows& rows, Calibration& calibration) {
    std::vector<Timed> points = rows.send;
    points.insert(points.end(), rows.ping_pong.begin(), rows.ping_pong.end());
    std::vector<Observation> observations;
    for (const Timed& point : points) {
        const double share = point.net_s() / point.row.seconds;
        if (share > 0) {
            observations.push_back({sizes_of(rows, point.row), point.net_s(), share * share});
        }
    }
    if (rows.ping_pong.empty() || rows.send.empty() || observations.size() < kTerms) {
        return std::nullopt;
    }
    const NonNegativeFit fit = fit_non_negative(observations, kMessageSeed);
    calibration.fits.push_back(message_quality(rows, points, fit));
    return fit;
}

FittedMessageCosts fitted_costs_of(const PathRows& rows, const NonNegativeFit& fit) {
    const std::string how = "fitted to ping-pongs and sends of 8 B and more";
    FittedMessageCosts costs;
    costs.send_s = fitted(fit.coefficients[kSend], how);
    costs.send_byte_s = fitted(fit.coefficients[kSendByte], how);
    costs.receive_byte_s = rows.is_inter_node() ? derived(costs.send_byte_s, "taken as what sending takes")
                                                : fitted(fit.coefficients[kRestByte], how);
    costs.rendezvous_s = fitted(fit.coefficients[kRendezvous], how);
    costs.eager_bytes = rows.eager_bytes;
    return costs;
}

/// A limit of the transport, as the stack's file has it under processes.KEY.
FittedNumber limit_of(const models::Stack& stack, const std::string& key) {
    const auto found = std::ranges::find(stack.constants, "stack.processes." + key, &Constant::path);
    AUSPEX_CHECK(found != stack.constants.end(), "a stack with processes has the limits of their messages");
    return {{found->value, found->value, found->value}, found->kind, found->source};
}

PathRows path_rows(const std::vector<models::Measurement>& rows, const models::CpuModel& cpu, const std::string& where,
                   const FittedNumber& eager_bytes) {
    return {timed_rows(rows, "send", where, cpu), timed_rows(rows, "ping_pong", where, cpu),
            timed_rows(rows, "stream", where, cpu), where, eager_bytes};
}

/// Between cores of a node; where it has one core only, between processes of that.
PathRows intra_node_rows(const std::vector<models::Measurement>& rows, const models::CpuModel& cpu,
                         const models::Stack& stack) {
    const auto is_near = [](const models::Measurement& row) { return row.kind == "message" && row.where == "near"; };
    return path_rows(rows, cpu, std::ranges::any_of(rows, is_near) ? "near" : "shared", limit_of(stack, "eager_near"));
}

/// On a shared core what is left of a short ping-pong is the switch, which passes of a token tell, and no look.
void fit_shared_wait(FittedCpu& cpu) {
    cpu.intra_node.receive_s = derived(cpu.intra_node.send_s, "taken as what sending takes");
    cpu.poll_s = {{0, 0, 0}, ConstantKind::kDerived, "one core: a look comes with the switch, and is in it"};
}

void fit_wait(const PathRows& rows, const FittedNumber& rest_s, FittedCpu& cpu, Calibration& calibration) {
    if (std::ranges::none_of(rows.stream, [](const Timed& timed) { return timed.row.bytes <= kShort; })) {
        calibration.warnings.emplace_back(
            "nothing tells what receiving a message takes (rows of kind \"message\" named \"stream\", where \"near\", "
            "of up to 400 B): what sending takes is assumed");
    }
    const Rest rest = split_rest(rows, rest_s, cpu.intra_node.send_s);
    cpu.intra_node.receive_s = rest.receive_s;
    cpu.poll_s =
        derived(scaled(rest.wait_s, 2), "twice what is left of a short ping-pong: a look comes half a poll late");
}

void fit_intra_node(const PathRows& rows, const models::Stack& stack, FittedCpu& cpu, Calibration& calibration) {
    const auto fit = fit_path(rows, calibration);
    if (!fit) {
        throw InputError("measurements",
                         "found too few messages between processes of one node; expected rows of kind \"message\", "
                         "where \"near\" (on one core, \"shared\"), named \"ping_pong\" and \"send\"");
    }
    cpu.intra_node = fitted_costs_of(rows, *fit);
    cpu.intra_node.buffered_bytes = limit_of(stack, "at_once_near");
    cpu.intra_node.latency_s = {
        {0, 0, 0}, ConstantKind::kDerived, "no wire: what is left of a short ping-pong is in poll"};
    if (rows.where == "shared") {
        fit_shared_wait(cpu);
    } else {
        fit_wait(rows, fitted(fit->coefficients[kRest], ""), cpu, calibration);
    }
    cpu.nic_bytes_per_s = inverse_of(sum_of(cpu.intra_node.send_byte_s, cpu.intra_node.receive_byte_s, ""),
                                     ConstantKind::kFitted, "one node: as between two of its processes");
}

/// What a NIC lets through, and what of it at once when it has rested.
struct Wire {
    FittedNumber bytes_per_s, burst_bytes;
};

/// Long rows of messages tell the rate: nothing rests. What long ping-pongs take less than that is the burst.
std::optional<Wire> fit_wire(const PathRows& rows) {
    constexpr double kLong = 1e5, kShortest = 64;
    std::vector<double> rates, bursts;
    for (const Timed& timed : rows.stream) {
        if (timed.row.bytes >= kLong) {
            rates.push_back(timed.row.bytes / timed.row.seconds);
        }
    }
    const auto shortest = std::find_if(rows.ping_pong.begin(), rows.ping_pong.end(),
                                       [](const Timed& timed) { return timed.row.bytes <= kShortest; });
    if (rates.empty() || shortest == rows.ping_pong.end()) {
        return std::nullopt;
    }
    const double rate = median(rates);
    for (const Timed& timed : rows.ping_pong) {
        if (timed.row.bytes >= kLong && timed.row.bytes < 10 * kLong) {
            bursts.push_back(std::max(0.0, timed.row.bytes - (timed.row.seconds - shortest->row.seconds) * rate));
        }
    }
    const std::string how = "what long ping-pongs, whose wires rest half the time, take less";
    return Wire{median_of(rates, ConstantKind::kMeasured, "rows of long messages one way"),
                bursts.empty() ? FittedNumber{{0, 0, 0}, ConstantKind::kDerived, how}
                               : median_of(bursts, ConstantKind::kDerived, how)};
}

/// On a wire that rests while the answer travels.
double wire_s(const Wire& wire, double bytes) {
    const double rate = wire.bytes_per_s.value, burst = wire.burst_bytes.value;
    return std::max((bytes - burst) / rate, burst > 0 ? bytes / (2 * rate) : bytes / rate);
}

void fit_inter_node(PathRows rows, FittedCpu& cpu, Calibration& calibration) {
    const std::optional<Wire> wire = fit_wire(rows);
    if (!wire) {
        return;
    }
    for (Timed& timed : rows.ping_pong) {
        timed.copy_s += wire_s(*wire, timed.row.bytes);
    }
    const auto fit = fit_path(rows, calibration);
    if (!fit) {
        return;
    }
    FittedMessageCosts costs = fitted_costs_of(rows, *fit);
    const Rest rest = split_rest(rows, fitted(fit->coefficients[kRest], ""), costs.send_s);
    costs.receive_s = rest.receive_s;
    costs.latency_s = difference_of(rest.wait_s, scaled(cpu.poll_s, 0.5), rest.wait_s.how);
    // Beside the receiver's own time a long one has an offer and an answer, each with its way and a look.
    costs.rendezvous_s = difference_of(costs.rendezvous_s, sum_of(scaled(costs.latency_s, 2), cpu.poll_s, ""),
                                       "what a long ping-pong takes beside its bytes, less its offer and the answer");
    costs.burst_bytes = wire->burst_bytes;
    cpu.inter_node = costs;
    cpu.nic_bytes_per_s = wire->bytes_per_s;
}

}  // namespace

void fit_messages(const std::vector<models::Measurement>& rows, const models::Stack& stack, FittedCpu& cpu,
                  Calibration& calibration) {
    const models::CpuModel known = cpu_model_of(cpu);
    fit_intra_node(intra_node_rows(rows, known, stack), stack, cpu, calibration);
    fit_inter_node(path_rows(rows, known, "far", limit_of(stack, "eager_far")), cpu, calibration);
    if (cpu.nodes > 1 && !cpu.inter_node) {
        throw InputError("measurements",
                         "found too few messages between nodes; expected rows of kind \"message\", where \"far\", "
                         "named \"ping_pong\", \"send\" and \"stream\" (8 B and more), for ranks were on " +
                             std::to_string(cpu.nodes) + " nodes");
    }
}

}  // namespace auspex::fit
