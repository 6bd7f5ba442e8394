/// @file Ping-pongs, sends and streams taken apart into the costs of a path.
#include "compare/message_fit.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/quantiles.hpp"
#include "compare/positive_fit.hpp"

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

/// Rows of a name and place between two ranks, as far as their message and its copy leave room in the cache: longer
/// ones time the system's memory.
std::vector<Timed> timed_rows(const std::vector<Measurement>& rows, std::string_view name, std::string_view where,
                              const Host& host) {
    constexpr double kFits = 0.25;
    std::vector<Timed> found;
    for (const Measurement& row : rows_of(rows, "message", name)) {
        if (row.where == where && (where == "far" || row.bytes <= kFits * host.cache_bytes)) {
            CpuCall copy;
            copy.columns = row.bytes;
            found.push_back({row, cpu_seconds(host, copy, CpuPrecision::kFp32)});
        }
    }
    return found;
}

/// What one path's rows are fitted with: coefficients in this order.
enum Term : std::size_t { kSend, kRest, kSendByte, kRestByte, kRendezvous, kTerms };

struct PathRows {
    std::vector<Timed> send, ping_pong, stream;
    double eager_bytes = 0;
    bool is_far = false;
};

std::vector<double> sizes_of(const PathRows& rows, const Measurement& row) {
    const double is_long = row.bytes > rows.eager_bytes ? 1 : 0;
    const double handed_over = rows.is_far || is_long == 0 ? row.bytes : 0;
    if (row.name == "send") {
        return {1, 0, handed_over, 0, 0};
    }
    return {1, 1, rows.is_far ? 2 * row.bytes : handed_over, rows.is_far ? 0 : row.bytes, is_long};
}

FittedNumber fitted(const FittedCoefficient& coefficient, const std::string& how) {
    return {coefficient.value, coefficient.low, coefficient.high, ConstantKind::kFitted, how};
}

/// The same number with its interval times `share`.
FittedNumber part_of(const FittedNumber& number, double share, const std::string& how) {
    return {number.value * share, number.low * share, number.high * share, ConstantKind::kDerived, how};
}

/// Time of a short message in a long row of them, or 0 where none was measured.
double short_stream_s(const PathRows& rows) {
    std::vector<double> times;
    for (const Timed& timed : rows.stream) {
        if (timed.row.bytes <= kShort) {
            times.push_back(timed.net_s());
        }
    }
    return times.empty() ? 0 : median(times);
}

/// What a short ping-pong takes beside its send is the receiver's time and a wait.
struct Rest {
    FittedNumber receive_s, wait_s;
};

Rest split_rest(const PathRows& rows, const FittedNumber& rest, double send_s) {
    const double stream = short_stream_s(rows);
    const bool is_told = stream > send_s;
    const double receive = std::min(rest.value, is_told ? stream : send_s);
    const double share = rest.value > 0 ? receive / rest.value : 1;
    return {part_of(rest, share, is_told ? "a short message of a long row" : "taken as what sending takes"),
            part_of(rest, 1 - share, "a short ping-pong less what both sides spend")};
}

/// The whole times, copies included.
FitQuality quality_of(const PathRows& rows, const std::vector<Timed>& points, const PositiveFit& fit) {
    FitQuality quality;
    quality.kind = "message";
    quality.name = rows.is_far ? "far" : "near";
    constexpr std::array kNames{"send", "receive and wait", "send byte", "receive byte", "rendezvous"};
    for (std::size_t i = 0; i < kTerms; ++i) {
        const FittedCoefficient& term = fit.coefficients[i];
        if (!rows.is_far || i != kRestByte) {
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
    path.receive_byte_s = rows.is_far ? part_of(path.send_byte_s, 1, "taken as what sending takes")
                                      : fitted(fit.coefficients[kRestByte], how);
    path.rendezvous_s = fitted(fit.coefficients[kRendezvous], how);
    path.eager_bytes = {rows.eager_bytes, rows.eager_bytes, rows.eager_bytes, ConstantKind::kSpecified,
                        "Open MPI's default for this path, less the longest of its heads"};
    return path;
}

PathRows path_rows(const std::vector<Measurement>& rows, const Host& host, bool is_far) {
    const char* const where = is_far ? "far" : "near";
    return {timed_rows(rows, "send", where, host), timed_rows(rows, "ping_pong", where, host),
            timed_rows(rows, "stream", where, host), is_far ? kFarEager : kNearEager, is_far};
}

/// The inverse of seconds a byte.
FittedNumber rate_of(double value, double low, double high, const std::string& how) {
    constexpr double kLeastByte = 1e-14;
    return {1 / std::max(value, kLeastByte), 1 / std::max(high, kLeastByte), 1 / std::max(low, kLeastByte),
            ConstantKind::kFitted, how};
}

void fit_near(const PathRows& rows, FittedHost& host, Calibration& calibration) {
    const auto fit = fit_path(rows, calibration);
    if (!fit) {
        throw InputError("measurements",
                         "found too few messages between processes of one node; expected rows of kind \"message\", "
                         "where \"near\", named \"ping_pong\" and \"send\"");
    }
    host.near = path_of(rows, *fit);
    host.near.at_once_bytes = {kNearAtOnce, kNearAtOnce, kNearAtOnce, ConstantKind::kSpecified,
                               "an eighth of Open MPI's default box for this path, less the longest of its heads"};
    const Rest rest = split_rest(rows, fitted(fit->coefficients[kRest], ""), host.near.send_s.value);
    host.near.receive_s = rest.receive_s;
    host.near.latency_s = {0, 0, 0, ConstantKind::kDerived, "no wire: what is left of a short ping-pong is in poll"};
    host.poll_s = part_of(rest.wait_s, 2, "twice what is left of a short ping-pong: a look comes half a poll late");
    const FittedNumber &out = host.near.send_byte_s, &in = host.near.receive_byte_s;
    host.nic_bytes_per_s = rate_of(out.value + in.value, out.low + in.low, out.high + in.high,
                                   "one node: as between two of its processes");
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
    Wire wire;
    wire.bytes_per_s = {rate, quantile(rates, 0.25), quantile(rates, 0.75), ConstantKind::kMeasured,
                        "rows of long messages one way"};
    const double burst = bursts.empty() ? 0 : median(bursts);
    wire.burst_bytes = {burst, bursts.empty() ? 0 : quantile(bursts, 0), bursts.empty() ? 0 : quantile(bursts, 1),
                        ConstantKind::kDerived, "what long ping-pongs, whose wires rest half the time, take less"};
    return wire;
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
    const Rest rest = split_rest(rows, fitted(fit->coefficients[kRest], ""), path.send_s.value);
    path.receive_s = rest.receive_s;
    const double look = host.poll_s.value / 2;
    path.latency_s = {std::max(0.0, rest.wait_s.value - look), std::max(0.0, rest.wait_s.low - look),
                      std::max(0.0, rest.wait_s.high - look), rest.wait_s.kind, rest.wait_s.how};
    // Beside the receiver's own time a long one has an offer and an answer, each with its way and a look.
    const double twice = 2 * path.latency_s.value + host.poll_s.value;
    const FittedNumber whole = path.rendezvous_s;
    path.rendezvous_s = {std::max(0.0, whole.value - twice), std::max(0.0, whole.low - twice),
                         std::max(0.0, whole.high - twice), ConstantKind::kDerived,
                         "what a long ping-pong takes beside its bytes, less its offer and the answer"};
    path.burst_bytes = wire->burst_bytes;
    host.far = path;
    host.nic_bytes_per_s = wire->bytes_per_s;
}

}  // namespace

void fit_messages(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const Host known = host_of(host);
    const PathRows near = path_rows(rows, known, false);
    fit_near(near, host, calibration);
    fit_far(path_rows(rows, known, true), host, calibration);
}

}  // namespace auspex
