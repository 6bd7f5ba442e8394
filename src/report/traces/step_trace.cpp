/// @file Spans, messages and counters as events of tracks.
#include "report/traces/step_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "report/traces/track_event_stream.hpp"

namespace auspex::report {
namespace {

constexpr Picoseconds kPerNanosecond = 1000;
std::int64_t nanoseconds(Picoseconds time) { return time / kPerNanosecond; }

/// What stands on a track: a span, or the end of an arrow.
struct Item {
    std::uint32_t track;
    Picoseconds start, end;
    std::uint32_t span;     ///< index; of an arrow that of the message
    bool is_arrow = false;  ///< in front of what begins when it ends
};

std::vector<Item> items_of(const schedule::Timeline& timeline, const predict::TraceDetails* details) {
    std::vector<Item> items;
    items.reserve(timeline.spans.size() + (details != nullptr ? details->messages.size() : 0));
    for (std::uint32_t i = 0; i < timeline.spans.size(); ++i) {
        const schedule::Span& span = timeline.spans[i];
        AUSPEX_CHECK(span.track < timeline.tracks.size() && span.name < timeline.names.size(),
                     "a span names a track and a name");
        items.push_back({span.track, span.start, span.end, i});
    }
    for (std::uint32_t i = 0; details != nullptr && i < details->messages.size(); ++i) {
        const predict::TraceMessage& message = details->messages[i];
        items.push_back({message.track, message.received, message.received, i, true});
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        if (a.track != b.track) {
            return a.track < b.track;
        }
        if (a.start != b.start || a.is_arrow != b.is_arrow) {
            return a.start != b.start ? a.start < b.start : a.is_arrow;
        }
        return a.end > b.end;
    });
    return items;
}

class StepTrace {
 public:
    StepTrace(const schedule::Timeline& timeline, const predict::TraceDetails* details, std::ostream& out)
        : timeline_(timeline), details_(details), stream_(out) {
        for (std::uint32_t i = 0; details != nullptr && i < details->messages.size(); ++i) {
            flow_of_span_[details->messages[i].send] = i + 1;
        }
    }

    void write(const std::vector<std::pair<std::string, std::string>>& about) {
        write_about(about);
        describe_tracks();
        const std::vector<Item> items = items_of(timeline_, details_);
        for (std::size_t i = 0; i < items.size();) {
            i = write_track(items, i);
        }
        write_counters();
    }

 private:
    [[nodiscard]] std::uint64_t new_track() { return ++last_track_; }

    void write_about(const std::vector<std::pair<std::string, std::string>>& about) {
        Picoseconds end = 0;
        for (const schedule::Span& span : timeline_.spans) {
            end = std::max(end, span.end);
        }
        const std::uint64_t track = new_track();
        stream_.add_track(track, 0, "step");
        Annotations annotations = stream_.annotations();
        for (const auto& [name, value] : about) {
            annotations.text(name, value);
        }
        stream_.begin(track, 0, "step", "step", annotations);
        stream_.end(track, nanoseconds(end));
    }

    void describe_tracks() {
        std::map<std::string, std::size_t> known;
        for (const schedule::Track& track : timeline_.tracks) {
            const auto [role, is_new] = known.try_emplace(track.role, roles_.size());
            if (is_new) {
                roles_.push_back(new_track());
                stream_.add_process(roles_.back(), static_cast<int>(roles_.size()), track.role);
            }
            tracks_.push_back(new_track());
            stream_.add_track(tracks_.back(), roles_[role->second], track.stream);
        }
    }

    /// All items of one track, each begun inside those that have not ended; returns the first of the next track.
    std::size_t write_track(const std::vector<Item>& items, std::size_t first) {
        const std::uint32_t on = items[first].track;
        const std::uint64_t track = tracks_[on];
        std::vector<Picoseconds> open;
        const auto close_until = [&](Picoseconds time) {
            for (; !open.empty() && open.back() <= time; open.pop_back()) {
                stream_.end(track, nanoseconds(open.back()));
            }
        };
        std::size_t i = first;
        for (; i < items.size() && items[i].track == on; ++i) {
            const Item& item = items[i];
            close_until(item.start);
            if (item.is_arrow) {
                stream_.arrive(track, nanoseconds(item.end), timeline_.tracks[on].stream, "message received",
                               item.span + std::uint64_t{1});
                continue;
            }
            begin(track, timeline_.spans[item.span], item.span);
            open.push_back(item.end);
        }
        while (!open.empty()) {
            stream_.end(track, nanoseconds(open.back()));
            open.pop_back();
        }
        return i;
    }

    void begin(std::uint64_t track, const schedule::Span& span, std::uint32_t index) {
        Annotations annotations = stream_.annotations();
        if (span.layer >= 0) {
            annotations.number("layer", static_cast<std::uint64_t>(span.layer));
        }
        if (span.micro_batch >= 0) {
            annotations.number("micro_batch", static_cast<std::uint64_t>(span.micro_batch));
        }
        if (details_ != nullptr) {
            annotate(annotations, details_->operation_of_span[index]);
        }
        const auto flow = flow_of_span_.find(index);
        stream_.begin(track, nanoseconds(span.start), timeline_.tracks[span.track].stream, timeline_.names[span.name],
                      annotations, flow == flow_of_span_.end() ? 0 : flow->second);
    }

    void annotate(Annotations& annotations, std::uint32_t operation) const {
        const auto& facts = details_->operations[operation];
        const auto count = [&](const char* name, double value) {
            if (value > 0) {
                annotations.number(name, static_cast<std::uint64_t>(std::round(value)));
            }
        };
        const auto word = [&](const char* name, const std::string& value) {
            if (!value.empty()) {
                annotations.text(name, value);
            }
        };
        count("flop", facts.flop);
        count("memory_bytes", facts.memory_bytes);
        count("bytes", facts.bytes);
        word("group", details_->groups[operation]);
        count("group_ranks", facts.group_ranks);
        word("algorithm", facts.algorithm);
        word("bound_by", facts.bound_by);
        count("alone_ns", facts.seconds * 1e9);
    }

    void write_counters() {
        if (details_ == nullptr) {
            return;
        }
        std::uint64_t links = 0;
        for (const predict::TraceCounter& counter : details_->counters) {
            if (counter.role < 0 && links == 0) {
                links = new_track();
                stream_.add_track(links, 0, "links: bytes/s, all of a kind, mean of each communication");
            }
            const std::uint64_t track = new_track();
            stream_.add_counter(track, counter.role < 0 ? links : roles_[static_cast<std::size_t>(counter.role)],
                                counter.name, counter.is_rate ? "bytes/s" : "bytes");
            for (const auto& [at, value] : counter.values) {
                stream_.count(track, nanoseconds(at), value);
            }
        }
    }

    const schedule::Timeline& timeline_;
    const predict::TraceDetails* details_;
    TrackEventStream stream_;
    std::uint64_t last_track_ = 0;
    std::vector<std::uint64_t> roles_, tracks_;
    std::map<std::uint32_t, std::uint64_t> flow_of_span_;
};

}  // namespace

bool is_track_event_file(const std::string& file) {
    return file.ends_with(".pftrace") || file.ends_with(".perfetto-trace");
}

void write_step_trace(const schedule::Timeline& timeline, const predict::TraceDetails* details,
                      const std::vector<std::pair<std::string, std::string>>& about, std::ostream& out) {
    StepTrace(timeline, details, out).write(about);
}

}  // namespace auspex::report
