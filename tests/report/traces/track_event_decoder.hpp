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

using Fields = std::vector<testing_wire::WireField>;

struct TracedEvent {
    std::uint64_t at = 0, type = 0;
    Slice slice;
    double count = 0;
};

/// Texts by number.
struct Interned {
    std::map<std::uint64_t, std::string> categories, names, arguments;

    void add(const Fields& packet) {
        for (const auto& interned : testing_wire::all_of(packet, 12)) {
            for (const auto& field : testing_wire::fields_of(interned.bytes)) {
                const Fields entry = testing_wire::fields_of(field.bytes);
                auto& map = field.number == 1 ? categories : field.number == 2 ? names : arguments;
                map[testing_wire::one_of(entry, 1).value] = testing_wire::one_of(entry, 2).bytes;
            }
        }
    }
};

inline void add_track(const Fields& descriptor, Trace& trace) {
    using testing_wire::one_of;
    TracedTrack& track = trace.tracks[one_of(descriptor, 1).value];
    track.parent = one_of(descriptor, 5).value;
    track.name = one_of(descriptor, 2).bytes;
    if (const Fields process = testing_wire::fields_of(one_of(descriptor, 3).bytes); !process.empty()) {
        track.pid = static_cast<int>(one_of(process, 1).value);
        track.name = one_of(process, 6).bytes;
    }
    track.is_counter = !testing_wire::all_of(descriptor, 8).empty();
    const Fields counter = testing_wire::fields_of(one_of(descriptor, 8).bytes);
    track.unit = one_of(counter, 3).value == 3 ? "bytes" : one_of(counter, 6).bytes;
}

inline std::string argument_of(const Fields& argument) {
    using testing_wire::all_of;
    using testing_wire::one_of;
    if (!all_of(argument, 6).empty()) {
        return one_of(argument, 6).bytes;
    }
    return all_of(argument, 3).empty() ? std::to_string(one_of(argument, 5).real())
                                       : std::to_string(one_of(argument, 3).value);
}

inline TracedEvent event_of(const Fields& event, std::uint64_t at, const Interned& texts) {
    using testing_wire::all_of;
    using testing_wire::one_of;
    TracedEvent made{at, one_of(event, 9).value, {}, 0};
    made.slice.track = one_of(event, 11).value;
    made.slice.begin_ns = made.slice.end_ns = at;
    if (made.type == 1 || made.type == 3) {
        made.slice.name = texts.names.at(one_of(event, 10).value);
        made.slice.category = texts.categories.at(one_of(event, 3).value);
    }
    for (const auto& field : all_of(event, 4)) {
        const Fields argument = testing_wire::fields_of(field.bytes);
        made.slice.arguments[texts.arguments.at(one_of(argument, 1).value)] = argument_of(argument);
    }
    made.slice.flow = one_of(event, 47).value;
    made.slice.ends_flow = one_of(event, 48).value;
    made.count = all_of(event, 44).empty() ? static_cast<double>(static_cast<std::int64_t>(one_of(event, 30).value))
                                           : one_of(event, 44).real();
    return made;
}

/// Of one track, by time, those of the same time as they stand in the file; an end closes the last that is open.
inline void add_events(std::uint64_t track, std::vector<TracedEvent>& events, Trace& trace) {
    std::stable_sort(events.begin(), events.end(),
                     [](const TracedEvent& a, const TracedEvent& b) { return a.at < b.at; });
    std::vector<std::size_t> open;
    for (const TracedEvent& event : events) {
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

/// Throws for an end without a beginning, for names that were never interned, and for packets that need what no earlier
/// one has said.
inline Trace decode(const std::string& file) {
    using testing_wire::all_of;
    using testing_wire::fields_of;
    using testing_wire::one_of;
    Trace trace;
    trace.tracks[0];
    Interned texts;
    std::map<std::uint64_t, std::vector<TracedEvent>> events;
    bool is_cleared = false;
    for (const auto& field : fields_of(file)) {
        if (field.number != 1 || field.type != 2) {
            throw std::runtime_error("a trace is packets");
        }
        ++trace.packets;
        const Fields packet = fields_of(field.bytes);
        is_cleared = is_cleared || (one_of(packet, 13).value & 1) != 0;
        if (!is_cleared || one_of(packet, 10).value != 1) {
            throw std::runtime_error("a sequence begins with its state cleared");
        }
        texts.add(packet);
        if (const auto descriptors = all_of(packet, 60); !descriptors.empty()) {
            add_track(fields_of(descriptors.front().bytes), trace);
        }
        for (const auto& event : all_of(packet, 11)) {
            const TracedEvent made = event_of(fields_of(event.bytes), one_of(packet, 8).value, texts);
            events[made.slice.track].push_back(made);
        }
    }
    for (auto& [track, of_track] : events) {
        add_events(track, of_track, trace);
    }
    return trace;
}

}  // namespace auspex::testing_traces
