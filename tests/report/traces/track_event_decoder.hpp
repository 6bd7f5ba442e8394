#pragma once
/// @file Perfetto traces, read by code of the tests' own: tracks, slices, arrows, counters as a viewer finds them.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../base/wire_fields.hpp"

namespace auspex::testing_traces {

struct TracedTrack {
    std::uint64_t parent = 0;
    std::string name;
    int pid = 0;
    bool is_counter = false;
    std::string unit;
};
struct Slice {
    std::uint64_t track = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::string name, category;
    std::size_t depth = 0;
    std::map<std::string, std::string> arguments;  ///< numbers as whole ones
    std::uint64_t flow = 0, ends_flow = 0;
};
struct Trace {
    std::map<std::uint64_t, TracedTrack> tracks;
    std::vector<Slice> slices;                                                        ///< instants among them
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, double>>> counters;  ///< by track
    std::size_t packets = 0;

    [[nodiscard]] std::uint64_t track(const std::string& process, const std::string& name) const {
        for (const auto& [uuid, track] : tracks) {
            if (track.name == name && tracks.at(track.parent).name == process) {
                return uuid;
            }
        }
        throw std::runtime_error("no track " + process + " " + name);
    }
};

/// Events of a track by time, those of the same time as they stand in the file; an end closes the last that is open.
/// Throws for an end without a beginning, for names that were never interned, and for packets that need what no earlier
/// one has said.
inline Trace decode(const std::string& file) {
    using testing_wire::all_of;
    using testing_wire::fields_of;
    using testing_wire::one_of;
    Trace trace;
    trace.tracks[0];
    std::map<std::uint64_t, std::string> categories, names, argument_names;
    struct Event {
        std::uint64_t at, type;
        Slice slice;
        double count;
    };
    std::map<std::uint64_t, std::vector<Event>> events;
    bool is_cleared = false;
    for (const auto& packet_field : fields_of(file)) {
        if (packet_field.number != 1 || packet_field.type != 2) {
            throw std::runtime_error("a trace is packets");
        }
        ++trace.packets;
        const auto packet = fields_of(packet_field.bytes);
        is_cleared = is_cleared || (one_of(packet, 13).value & 1) != 0;
        if (!is_cleared || one_of(packet, 10).value != 1) {
            throw std::runtime_error("a sequence begins with its state cleared");
        }
        for (const auto& interned : all_of(packet, 12)) {
            for (const auto& entry_field : fields_of(interned.bytes)) {
                const auto entry = fields_of(entry_field.bytes);
                auto& map = entry_field.number == 1 ? categories : entry_field.number == 2 ? names : argument_names;
                map[one_of(entry, 1).value] = one_of(entry, 2).bytes;
            }
        }
        if (const auto descriptors = all_of(packet, 60); !descriptors.empty()) {
            const auto descriptor = fields_of(descriptors.front().bytes);
            TracedTrack& track = trace.tracks[one_of(descriptor, 1).value];
            track.parent = one_of(descriptor, 5).value;
            track.name = one_of(descriptor, 2).bytes;
            if (const auto process = fields_of(one_of(descriptor, 3).bytes); !process.empty()) {
                track.pid = static_cast<int>(one_of(process, 1).value);
                track.name = one_of(process, 6).bytes;
            }
            track.is_counter = !all_of(descriptor, 8).empty();
            const auto counter = fields_of(one_of(descriptor, 8).bytes);
            track.unit = one_of(counter, 3).value == 3 ? "bytes" : one_of(counter, 6).bytes;
        }
        for (const auto& event_field : all_of(packet, 11)) {
            const auto event = fields_of(event_field.bytes);
            Event made{one_of(packet, 8).value, one_of(event, 9).value, {}, 0};
            made.slice.track = one_of(event, 11).value;
            made.slice.begin_ns = made.slice.end_ns = made.at;
            if (made.type == 1 || made.type == 3) {
                made.slice.name = names.at(one_of(event, 10).value);
                made.slice.category = categories.at(one_of(event, 3).value);
            }
            for (const auto& argument_field : all_of(event, 4)) {
                const auto argument = fields_of(argument_field.bytes);
                const std::string& name = argument_names.at(one_of(argument, 1).value);
                made.slice.arguments[name] = !all_of(argument, 6).empty() ? one_of(argument, 6).bytes
                                             : !all_of(argument, 3).empty()
                                                 ? std::to_string(one_of(argument, 3).value)
                                                 : std::to_string(one_of(argument, 5).real());
            }
            made.slice.flow = one_of(event, 47).value;
            made.slice.ends_flow = one_of(event, 48).value;
            made.count = all_of(event, 44).empty()
                             ? static_cast<double>(static_cast<std::int64_t>(one_of(event, 30).value))
                             : one_of(event, 44).real();
            events[made.slice.track].push_back(made);
        }
    }
    for (auto& [track, list] : events) {
        std::stable_sort(list.begin(), list.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
        std::vector<std::size_t> open;
        for (const Event& event : list) {
            if (event.type == 4) {
                trace.counters[track].emplace_back(event.at, event.count);
            } else if (event.type == 2) {
                if (open.empty()) {
                    throw std::runtime_error("an end without a beginning");
                }
                trace.slices[open.back()].end_ns = event.at;
                open.pop_back();
            } else {
                trace.slices.push_back(event.slice);
                trace.slices.back().depth = open.size();
                if (event.type == 1) {
                    open.push_back(trace.slices.size() - 1);
                }
            }
        }
        if (!open.empty()) {
            throw std::runtime_error("a beginning without an end");
        }
    }
    return trace;
}

}  // namespace auspex::testing_traces
