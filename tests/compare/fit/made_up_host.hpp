#pragma once
/// @file A computer that is made up: the rows of measurements that its constants give, exactly.
#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "compare/fit/calibration.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::made_up_host {

inline constexpr double kMi = 1024 * 1024;
inline constexpr double kCache = 32 * kMi;
inline constexpr double kSend = 250e-9, kReceive = 300e-9, kPoll = 200e-9, kSwitch = 600e-9;
inline constexpr double kSendByte = 5e-12, kReceiveByte = 60e-12, kRendezvous = 700e-9;
inline constexpr double kProduct = 10e-12, kStart = 300e-9, kCopyByte = 20e-12;
inline constexpr double kBusy = 0.9, kCoreMemory = 20e9;
inline constexpr double kCoreReach = 4.5e6, kRefillByte = 30e-12;
inline constexpr double kReach = 24 * kMi, kFarByte = 80e-12;

/// What a working set no longer finds in caches that reach so far: 0 up to the reach, 1 from twice that.
inline double missed(double capacity, double set) { return std::clamp(set / capacity - 1, 0.0, 1.0); }

inline models::Measurement row_of(const char* kind, const std::string& name) {
    models::Measurement row;
    row.kind = kind;
    row.name = name;
    row.source = "made up";
    return row;
}

inline models::Measurement host_row(const std::string& name, double bytes, double seconds, int active) {
    models::Measurement row = row_of("host", name);
    row.bytes = bytes;
    row.seconds = seconds;
    row.active = row.ranks = active;
    return row;
}

inline double kernel_s(const models::CpuCall& call) {
    return call.kernel == models::CpuKernel::kCopy ? kStart + kCopyByte * call.columns
                                                   : kStart + kProduct * call.rows * call.columns * call.depth;
}

inline models::Measurement kernel_row(const models::CpuCall& call, const std::string& where, int active,
                                      double seconds) {
    models::Measurement row = row_of("kernel", std::string(to_string(call.kernel)));
    row.precision = "fp32";
    row.where = where;
    row.rows = call.rows;
    row.columns = call.columns;
    row.depth = call.depth;
    row.groups = call.groups;
    row.active = row.ranks = active;
    row.seconds = seconds;
    return row;
}

inline models::Measurement message_row(const std::string& name, const std::string& where, double bytes,
                                       double seconds) {
    models::Measurement row = row_of("message", name);
    row.where = where;
    row.ranks = 2;
    row.nodes = where == "far" ? 2 : 1;
    row.bytes = bytes;
    row.seconds = seconds;
    return row;
}

inline void add_kernels(std::vector<models::Measurement>& rows) {
    for (const double m : {16.0, 64.0, 256.0}) {
        for (const double n : {32.0, 128.0, 512.0}) {
            for (const double k : {48.0, 192.0, 768.0}) {
                const models::CpuCall call{models::CpuKernel::kGemmForward, m, n, k};
                rows.push_back(kernel_row(call, "cache", 1, kernel_s(call)));
            }
        }
    }
    const models::CpuCall shared{models::CpuKernel::kGemmForward, 64, 512, 192};
    rows.push_back(kernel_row(shared, "cache", 2, kernel_s(shared) / kBusy));
    for (const double bytes : {1024.0, 16'384.0, 262'144.0, kMi, 4 * kMi}) {
        const models::CpuCall call{models::CpuKernel::kCopy, 1, bytes};
        rows.push_back(kernel_row(call, "cache", 1, kernel_s(call)));
    }
    const models::CpuCall far{models::CpuKernel::kCopy, 1, 4 * kMi};
    for (const double set : {12 * kMi, 20 * kMi, 30 * kMi, 40 * kMi, 80 * kMi}) {
        const double far_s = missed(kReach, set) * kFarByte * cpu_bytes(far, models::CpuPrecision::kFp32);
        rows.push_back(kernel_row(far, "memory", 1, kernel_s(far) + far_s));
        rows.back().bytes = set;
    }
}

/// Both rates of a path as ping-pongs and sends see them; `wire_s` and `latency` are 0 inside a node.
inline void add_path(std::vector<models::Measurement>& rows, const std::string& where, double eager,
                     double receive_byte, double wire_s, double latency) {
    for (double bytes = 8; bytes <= 8 * kMi; bytes *= 4) {
        const bool is_long = bytes > eager;
        const double jump = is_long ? kRendezvous : 0, ways = is_long && latency > 0 ? 2 * latency + kPoll : 0;
        const double copy = kernel_s({models::CpuKernel::kCopy, 1, bytes});
        const double send = kSend + (is_long && where == "near" ? 0 : kSendByte * bytes);
        const double receive = kReceive + receive_byte * bytes + jump;
        rows.push_back(message_row("send", where, bytes, copy + send));
        rows.push_back(message_row("ping_pong", where, bytes,
                                   copy + send + receive + kPoll / 2 + latency + ways + wire_s * bytes));
        rows.push_back(
            message_row("stream", where, bytes,
                        where == "far" ? std::max(copy + send, wire_s * bytes) : copy + std::max(send, receive)));
    }
}

/// A token that goes round among n ranks of a core, with kernels on `bytes` in each turn, or in one rank's only.
inline void add_turns(std::vector<models::Measurement>& rows) {
    constexpr double kTurn = 100e-6;
    for (const int n : {2, 4}) {
        for (const double bytes : {0.5e6, 1e6, 2e6, 4e6}) {
            for (const bool all : {false, true}) {
                const double refill = all ? kRefillByte * bytes * missed(kCoreReach, n * bytes) : 0;
                rows.push_back(host_row("turn", bytes, kTurn + refill, all ? n : 1));
                rows.back().ranks = n;
                rows.push_back(host_row("pass", bytes, kSend + kReceive + kSwitch, all ? n : 1));
                rows.back().ranks = n;
            }
        }
    }
}

inline std::vector<models::Measurement> made_up(bool with_far) {
    std::vector<models::Measurement> rows;
    rows.push_back(host_row("last_level_cache", kCache, 0, 1));
    models::Measurement computer = host_row("computer", 24e9, 0, 2);
    computer.source = "Made-up CPU, 2026-11-21";
    computer.ranks = 4;
    computer.nodes = computer.ranks / (with_far ? 2 : 4);
    computer.groups = computer.nodes;
    rows.push_back(computer);
    rows.push_back(host_row("probe", 0, 2.2e-3, 2));
    for (double bytes = 131'072; bytes <= 128 * kMi; bytes *= 2) {
        rows.push_back(host_row("copy", bytes, bytes * (1 / 40e9 + missed(kCache, bytes) / kCoreMemory), 1));
        rows.push_back(host_row("copy", bytes, bytes * (bytes > kCache ? 2 / 25e9 : 1 / 40e9), 2));
    }
    rows.push_back(host_row("slice", 0, 4e-3, 4));
    add_kernels(rows);
    add_turns(rows);
    add_path(rows, "near", 4032, kReceiveByte, 0, 0);
    if (with_far) {
        add_path(rows, "far", 65'472, kSendByte, 8e-9, 20e-6);
    }
    return rows;
}

inline models::Stack trainer_stack() { return models::load_stack(JsonDocument::load("stacks/auspex.json")); }

inline models::Machine machine_of(const fit::Calibration& calibration) {
    return models::load_machine(JsonDocument::parse(calibration.machine_json, "made-up.json"));
}

}  // namespace auspex::made_up_host
