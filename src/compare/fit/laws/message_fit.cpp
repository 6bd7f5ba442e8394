/// @file Ping-pongs, sends and streams taken apart into the costs of a path.
#include "compare/fit/laws/message_fit.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/quantiles.hpp"
#include "compare/fit/laws/kernel_fit.hpp"
#include "compare/fit/laws/positive_fit.hpp"

namespace auspex {
namespace {

constexpr int kBootstraps = 200;
constexpr std::uint64_t kSeed = 20'202;

// Open MPI sends messages up to these, less the longest of its own heads, at once.
constexpr double kHeads = 64;
constexpr double kNearEager = 4096 - kHeads, kFarEager = 65'536 - kHeads;
// Into the box that a receiver keeps for each sender go those of an eighth of it; longer ones lie with the sender, and
// its part is done when the receiver has given them back.
constexpr double kNearAtOnce = 4096.0 / 8 - kHeads;

/// Short messages: their bytes are a small part of their time.
constexpr double kShort = 400;

/// A row of messages, and the copy and the time on the wire that are in it.
struct Timed {
    Measurement row;
    double copy_s = 0;
    [[nodiscard]] double net_s() const { return row.seconds - copy_s; }
};

/// Of so many bytes: bytes have no precision, either law does.
double copy_seconds(const Host& host, double bytes) {
    CpuCall copy;
    copy.columns = bytes;
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        if (const auto seconds = seconds_by_law(host, copy, precision)) {
            return *seconds;
        }
    }
    throw InputError("measurements", "found no law of copy; expected timings of it from the cache");
}

/// Rows of a name and place between two ranks, as far as their message and its copy leave room in the cache: longer
/// ones time the system's memory.
std::vector<Timed> timed_rows(const std::vector<Measurement>& rows, std::string_view name, std::string_view where,
                              const Host& host) {
    constexpr double kFits = 0.25;
    std::vector<Timed> found;
    for (const Measurement& row : rows_of(rows, "message", name)) {
        if (row.where == where && (where == "far" || row.bytes <= kFits * host.cache_bytes)) {
            found.push_back({row, copy_seconds(host, row.bytes)});
        }
    }
    return found;
}

/// What one path's rows are fitted with: coefficients in this order.
enum Term : std::size_t { kSend, kRest, kSendByte, kRestByte, kRendezvous, kTerms };

struct PathRows {
    std::vector<Timed> send, ping_pong, stream;
    std::string where;
    [[nodiscard]] bool is_far() const { return where == "far"; }
    [[nodiscard]] double eager_bytes() const { return is_far() ? kFarEager : kNearEager; }
};

std::vector<double> sizes_of(const PathRows& rows, const Measurement& row) {
    const double is_long = row.bytes > rows.eager_bytes() ? 1 : 0;
    const double handed_over = rows.is_far() || is_long == 0 ? row.bytes : 0;
    if (row.name == "send") {
        return {1, 0, handed_over, 0, 0};
    }
    return {1, 1, rows.is_far() ? 2 * row.bytes : handed_over, rows.is_far() ? 0 : row.bytes, is_long};
}

FittedNumber fitted(const FittedCoefficient& coefficient, const std::string& how) {
    return {coefficient.value, coefficient.low, coefficient.high, ConstantKind::kFitted, how};
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
                                   : Rest{derived(rest, side.how), {0, 0, 0, ConstantKind::kDerived, how}};
}

/// The whole times, copies included.
FitQuality quality_of(const PathRows& rows, const std::vector<Timed>& points, const PositiveFit& fit) {
    FitQuality quality;
    quality.kind = "message";
    quality.name = rows.where;
    constexpr std::array kNames{"send", "receive and wait", "send byte", "receive byte", "rendezvous"};
    for (std::size_t i = 0; i < kTerms; ++i) {
        const FittedCoefficient& term = fit.coefficients[i];
        if (!rows.is_far() || i != kRestByte) {
            quality.terms.push_back({kNames.at(i), term.value, term.low, term.high});
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
    judge(quality);
    return quality;
}

/// What is left of a row without its copy counts as much as it is of the row.
std::optional<PositiveFit> fit_path(const PathRows& rows, Calibration& calibration) {
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
    const PositiveFit fit = fit_positive(observations, kBootstraps, kSeed);
    calibration.fits.push_back(quality_of(rows, points, fit));
    return fit;
}

FittedPath path_of(const PathRows& rows, const PositiveFit& fit) {
    const std::string how = "fitted to ping-pongs and sends of 8 B and more";
    FittedPath path;
    path.send_s = fitted(fit.coefficients[kSend], how);
    path.send_byte_s = fitted(fit.coefficients[kSendByte], how);
    path.receive_byte_s = rows.is_far() ? derived(path.send_byte_s, "taken as what sending takes")
                                        : fitted(fit.coefficients[kRestByte], how);
    path.rendezvous_s = fitted(fit.coefficients[kRendezvous], how);
    path.eager_bytes = {rows.eager_bytes(), rows.eager_bytes(), rows.eager_bytes(), ConstantKind::kSpecified,
                        "Open MPI's default for this path, less the longest of its heads"};
    return path;
}

PathRows path_rows(const std::vector<Measurement>& rows, const Host& host, const std::string& where) {
    return {timed_rows(rows, "send", where, host), timed_rows(rows, "ping_pong", where, host),
            timed_rows(rows, "stream", where, host), where};
}

/// Between cores of a node; where it has one core only, between processes of that.
PathRows near_rows(const std::vector<Measurement>& rows, const Host& host) {
    const auto is_near = [](const Measurement& row) { return row.kind == "message" && row.where == "near"; };
    return path_rows(rows, host, std::ranges::any_of(rows, is_near) ? "near" : "shared");
}

/// On a shared core what is left of a short ping-pong is the switch, which passes of a token tell, and no look.
void fit_shared_wait(FittedHost& host) {
    host.near.receive_s = derived(host.near.send_s, "taken as what sending takes");
    host.poll_s = {0, 0, 0, ConstantKind::kDerived, "one core: a look comes with the switch, and is in it"};
}

void fit_wait(const PathRows& rows, const FittedNumber& rest_s, FittedHost& host, Calibration& calibration) {
    if (std::ranges::none_of(rows.stream, [](const Timed& timed) { return timed.row.bytes <= kShort; })) {
        calibration.warnings.emplace_back(
            "nothing tells what receiving a message takes (rows of kind \"message\" named \"stream\", where \"near\", "
            "of up to 400 B): what sending takes is assumed");
    }
    const Rest rest = split_rest(rows, rest_s, host.near.send_s);
    host.near.receive_s = rest.receive_s;
    host.poll_s =
        derived(scaled(rest.wait_s, 2), "twice what is left of a short ping-pong: a look comes half a poll late");
}

void fit_near(const PathRows& rows, FittedHost& host, Calibration& calibration) {
    const auto fit = fit_path(rows, calibration);
    if (!fit) {
        throw InputError("measurements",
                         "found too few messages between processes of one node; expected rows of kind \"message\", "
                         "where \"near\" (on one core, \"shared\"), named \"ping_pong\" and \"send\"");
    }
    host.near = path_of(rows, *fit);
    host.near.at_once_bytes = {kNearAtOnce, kNearAtOnce, kNearAtOnce, ConstantKind::kSpecified,
                               "an eighth of Open MPI's default box for this path, less the longest of its heads"};
    host.near.latency_s = {0, 0, 0, ConstantKind::kDerived, "no wire: what is left of a short ping-pong is in poll"};
    if (rows.where == "shared") {
        fit_shared_wait(host);
    } else {
        fit_wait(rows, fitted(fit->coefficients[kRest], ""), host, calibration);
    }
    host.nic_bytes_per_s = inverse_of(sum_of(host.near.send_byte_s, host.near.receive_byte_s, ""),
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
                bursts.empty() ? FittedNumber{0, 0, 0, ConstantKind::kDerived, how}
                               : median_of(bursts, ConstantKind::kDerived, how)};
}

/// On a wire that rests while the answer travels.
double wire_s(const Wire& wire, double bytes) {
    const double rate = wire.bytes_per_s.value, burst = wire.burst_bytes.value;
    return std::max((bytes - burst) / rate, burst > 0 ? bytes / (2 * rate) : bytes / rate);
}

void fit_far(PathRows rows, FittedHost& host, Calibration& calibration) {
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
    FittedPath path = path_of(rows, *fit);
    const Rest rest = split_rest(rows, fitted(fit->coefficients[kRest], ""), path.send_s);
    path.receive_s = rest.receive_s;
    path.latency_s = difference_of(rest.wait_s, scaled(host.poll_s, 0.5), rest.wait_s.how);
    // Beside the receiver's own time a long one has an offer and an answer, each with its way and a look.
    path.rendezvous_s = difference_of(path.rendezvous_s, sum_of(scaled(path.latency_s, 2), host.poll_s, ""),
                                      "what a long ping-pong takes beside its bytes, less its offer and the answer");
    path.burst_bytes = wire->burst_bytes;
    host.far = path;
    host.nic_bytes_per_s = wire->bytes_per_s;
}

}  // namespace

void fit_messages(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const Host known = host_of(host);
    fit_near(near_rows(rows, known), host, calibration);
    fit_far(path_rows(rows, known, "far"), host, calibration);
    if (host.nodes > 1 && !host.far) {
        throw InputError("measurements",
                         "found too few messages between nodes; expected rows of kind \"message\", where \"far\", "
                         "named \"ping_pong\", \"send\" and \"stream\" (8 B and more), for ranks were on " +
                             std::to_string(host.nodes) + " nodes");
    }
}

}  // namespace auspex
