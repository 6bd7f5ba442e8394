/// @file A timeline as Chrome trace events.
#include "report/parts/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::report {

namespace {

constexpr Picoseconds kPerMicrosecond = 1'000'000;

struct TrackIds {
    std::size_t process = 0;  ///< index of the role, in order of appearance
    std::size_t thread = 0;   ///< index of the stream's name, in order of appearance: the same for every role
};

struct Ids {
    std::vector<std::string> roles, streams;
    std::vector<TrackIds> of_track;
};

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
        names.push_back(name);
    }
    return index;
}

Ids number_tracks(const std::vector<schedule::Track>& tracks) {
    Ids ids;
    ids.of_track.reserve(tracks.size());
    for (const schedule::Track& track : tracks) {
        const std::size_t process = index_of(ids.roles, track.role);
        const std::size_t thread = index_of(ids.streams, track.stream);
        ids.of_track.push_back({process, thread});
    }
    return ids;
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
    std::array<char, 24> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), result.ptr);
}

/// Microseconds with six decimals, from integers: nothing is rounded.
void append_microseconds(std::string& out, Picoseconds time) {
    if (time < 0) {
        out += '-';
        time = -time;
    }
    append_integer(out, time / kPerMicrosecond);
    std::array<char, 7> decimals{'.', '0', '0', '0', '0', '0', '0'};
    Picoseconds rest = time % kPerMicrosecond;
    for (std::size_t digit = 6; rest > 0; --digit, rest /= 10) {
        decimals[digit] = static_cast<char>('0' + rest % 10);
    }
    out.append(decimals.data(), decimals.size());
}

void append_ids(std::string& out, const TrackIds& ids) {
    out += "\"pid\":";
    append_integer(out, ids.process);
    out += ",\"tid\":";
    append_integer(out, ids.thread);
}

void append_metadata(std::string& out, const char* name, const TrackIds& ids, const std::string& argument) {
    out += "{\"ph\":\"M\",\"name\":\"";
    out += name;
    out += "\",";
    append_ids(out, ids);
    out += ",\"args\":{" + argument + "}},\n";
}

void append_names(std::string& out, const schedule::Timeline& timeline, const Ids& ids) {
    for (std::size_t role = 0; role < ids.roles.size(); ++role) {
        append_metadata(out, "process_name", {role, 0}, "\"name\":" + json_quote(ids.roles[role]));
        append_metadata(out, "process_sort_index", {role, 0}, "\"sort_index\":" + std::to_string(role));
    }
    for (std::size_t track = 0; track < timeline.tracks.size(); ++track) {
        const TrackIds& id = ids.of_track[track];
        append_metadata(out, "thread_name", id, "\"name\":" + json_quote(timeline.tracks[track].stream));
        append_metadata(out, "thread_sort_index", id, "\"sort_index\":" + std::to_string(id.thread));
    }
}

void append_span(std::string& out, const schedule::Span& span, const TrackIds& ids, const std::string& quoted_name) {
    out += "{\"ph\":\"X\",";
    append_ids(out, ids);
    out += ",\"ts\":";
    append_microseconds(out, span.start);
    out += ",\"dur\":";
    append_microseconds(out, span.end - span.start);
    out += ",\"name\":" + quoted_name + ",\"args\":{";
    if (span.layer >= 0) {
        out += "\"layer\":";
        append_integer(out, span.layer);
    }
    if (span.micro_batch >= 0) {
        out += span.layer >= 0 ? ",\"micro_batch\":" : "\"micro_batch\":";
        append_integer(out, span.micro_batch);
    }
    out += "}},\n";
}

/// By track, then start; of two that start at the same time the longer first, so that viewers nest the shorter inside.
std::vector<std::size_t> order_of(const std::vector<schedule::Span>& spans) {
    std::vector<std::size_t> order(spans.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&spans](std::size_t a, std::size_t b) {
        const schedule::Span& left = spans[a];
        const schedule::Span& right = spans[b];
        if (left.track != right.track) {
            return left.track < right.track;
        }
        return left.start != right.start ? left.start < right.start : left.end > right.end;
    });
    return order;
}

}  // namespace

void write_chrome_trace(const schedule::Timeline& timeline, std::ostream& out) {
    const Ids ids = number_tracks(timeline.tracks);
    std::vector<std::string> quoted;
    quoted.reserve(timeline.names.size());
    for (const std::string& name : timeline.names) {
        quoted.push_back(json_quote(name));
    }
    std::string events;
    events.reserve(timeline.spans.size() * 128);
    append_names(events, timeline, ids);
    for (const std::size_t index : order_of(timeline.spans)) {
        const schedule::Span& span = timeline.spans[index];
        AUSPEX_CHECK(span.track < timeline.tracks.size() && span.name < quoted.size(),
                     "a span names a track and a name");
        AUSPEX_CHECK(span.end >= span.start, "a span does not end before it starts");
        append_span(events, span, ids.of_track[span.track], quoted[span.name]);
    }
    if (!events.empty()) {
        events.resize(events.size() - 2);  // JSON allows no comma after the last event
    }
    out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" << events << "\n]}\n";
}

}  // namespace auspex::report
