/// @file Trace events as tracks and spans.
#include "compare/evaluate/trace_file.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

using TrackId = std::pair<std::int64_t, std::int64_t>;  // process, thread

class TraceReader {
 public:
    void take(const JsonValue& event) {
        if (event.at("ph").as_one_of({"M", "X"}) == 0) {
            take_name(event);
        } else {
            take_span(event);
        }
    }
    [[nodiscard]] schedule::Timeline finish() && { return std::move(timeline_); }

 private:
    static TrackId id_of(const JsonValue& event) {
        constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
        return {event.at("pid").as_integer(0, kMax), event.at("tid").as_integer(0, kMax)};
    }

    /// Names of all processes stand before the first thread's.
    void take_name(const JsonValue& event) {
        const TrackId id = id_of(event);
        const std::string what = event.at("name").as_string();
        if (what == "process_name") {
            roles_[id.first] = event.at("args").at("name").as_string();
        } else if (what == "thread_name") {
            tracks_[id] = static_cast<std::uint32_t>(timeline_.tracks.size());
            timeline_.tracks.push_back({roles_[id.first], event.at("args").at("name").as_string()});
        }
    }

    void take_span(const JsonValue& event) {
        constexpr double kMax = 1e12, kPerMicrosecond = 1e6;
        const auto track = tracks_.find(id_of(event));
        if (track == tracks_.end()) {
            event.fail("a span of a thread that was named before");
        }
        const auto ticks = [&](const char* key) {
            return whole_ticks(event.at(key).as_number(-kMax, kMax) * kPerMicrosecond);
        };
        schedule::Span span;
        span.track = track->second;
        span.name = index_of(event.at("name").as_string());
        span.start = ticks("ts");
        span.end = span.start + ticks("dur");
        const JsonValue arguments = event.at("args");
        span.micro_batch = number_or_none(arguments, "micro_batch");
        span.layer = number_or_none(arguments, "layer");
        timeline_.spans.push_back(span);
    }

    static int number_or_none(const JsonValue& arguments, const char* key) {
        const auto value = arguments.find(key);
        return value ? static_cast<int>(value->as_integer(0, std::numeric_limits<int>::max())) : -1;
    }

    std::uint32_t index_of(const std::string& name) {
        const auto [place, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(timeline_.names.size()));
        if (is_new) {
            timeline_.names.push_back(name);
        }
        return place->second;
    }

    schedule::Timeline timeline_;
    std::map<std::int64_t, std::string> roles_;
    std::map<TrackId, std::uint32_t> tracks_;
    std::map<std::string, std::uint32_t> names_;
};

}  // namespace

schedule::Timeline read_chrome_trace(const JsonDocument& document) {
    TraceReader reader;
    for (const JsonValue& event : document.root().at("traceEvents").elements()) {
        reader.take(event);
    }
    return std::move(reader).finish();
}

Picoseconds end_of(const schedule::Timeline& timeline) {
    Picoseconds end = 0;
    for (const schedule::Span& span : timeline.spans) {
        end = std::max(end, span.end);
    }
    return end;
}

}  // namespace auspex::evaluate
