/// @file Lanes cut into runs, runs counted once, all of it as bytes.
#include "report/timeline/timeline_data.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "base/json.hpp"
#include "report/timeline/byte_text.hpp"

namespace auspex::report {
namespace {

constexpr Picoseconds kPerNanosecond = 1000;

/// A span of the picture: one operation, or several that follow one another.
struct Piece {
    std::size_t kind = 0;
    int micro_batch = -1, layer = -1;
    Picoseconds start = 0, end = 0, busy = 0;
    std::size_t count = 1;
};

struct Lane {
    std::string role, stream;
    std::vector<Piece> pieces;  ///< by start
};

/// What a span is called and drawn as.
struct Kind {
    std::string name;
    std::size_t group = 0;
    bool is_merged = false;
};

/// A panel's lanes and what their pieces are; behind the kinds of operations a merged one for each group.
struct Lanes {
    std::vector<Kind> kinds;
    std::size_t first_merged = 0;
    std::vector<Lane> lanes;
};

Lanes lanes_of(const schedule::Timeline& timeline) {
    Lanes out;
    std::vector<Lane> by_track;
    for (const schedule::Track& track : timeline.tracks) {
        by_track.push_back({track.role, track.stream, {}});
    }
    constexpr std::size_t kUnknown = ~std::size_t{0};
    const std::size_t names = timeline.names.size();
    std::vector<std::size_t> kinds(kOperationGroups * names, kUnknown);           // by group and name
    std::vector<std::size_t> on_tracks(timeline.tracks.size() * names, kUnknown);  // the same, looked up once a track
    for (const schedule::Span& span : timeline.spans) {
        std::size_t& kind = on_tracks[span.track * names + span.name];
        if (kind == kUnknown) {
            const std::string& name = timeline.names[span.name];
            const std::size_t group = operation_group(timeline.tracks[span.track].stream, name);
            std::size_t& known = kinds[group * names + span.name];
            if (known == kUnknown) {
                known = out.kinds.size();
                out.kinds.push_back({name, group});
            }
            kind = known;
        }
        by_track[span.track].pieces.push_back(
            {kind, span.micro_batch, span.layer, span.start, span.end, span.end - span.start});
    }
    out.first_merged = out.kinds.size();
    for (std::size_t group = 0; group < kOperationGroups; ++group) {
        out.kinds.push_back({std::string("operations, mostly ") + operation_group_name(group), group, true});
    }
    for (Lane& lane : by_track) {
        if (!lane.pieces.empty()) {
            const auto order = [](const Piece& piece) { return std::pair(piece.start, piece.end); };
            if (!std::ranges::is_sorted(lane.pieces, {}, order)) {
                std::ranges::stable_sort(lane.pieces, {}, order);
            }
            out.lanes.push_back(std::move(lane));
        }
    }
    return out;
}

/// Neighbours of one micro-batch within `within` become one piece, if next to no time is empty between them.
std::vector<Piece> merged(const Lanes& lanes, const std::vector<Piece>& pieces, Picoseconds within) {
    constexpr Picoseconds kMostEmpty = 10;  // of the time, one part in so many
    std::vector<Piece> out;
    std::array<Picoseconds, kOperationGroups> by_group{};
    for (const Piece& piece : pieces) {
        const std::size_t group = lanes.kinds[piece.kind].group;
        const bool joins = !out.empty() && out.back().micro_batch == piece.micro_batch &&
                           piece.end - out.back().start <= within && piece.start >= out.back().end &&
                           piece.start - out.back().end <= within / kMostEmpty;
        if (!joins) {
            by_group.fill(0);
            by_group[group] = piece.busy;
            out.push_back(piece);
            continue;
        }
        by_group[group] += piece.busy;
        const auto most = std::ranges::max_element(by_group) - by_group.begin();
        Piece& last = out.back();
        last.kind = lanes.first_merged + static_cast<std::size_t>(most);
        last.layer = last.layer == piece.layer ? last.layer : -1;
        last.end = piece.end;
        last.busy += piece.busy;
        ++last.count;
    }
    return out;
}

/// A run as a template: spans by their distances.
struct Shape {
    std::size_t kind, count;
    int layer;
    Picoseconds gap, length, busy;  ///< nanoseconds
    auto operator<=>(const Shape&) const = default;
};

/// Collects templates and the runs that are made of them.
class RunWriter {
 public:
    explicit RunWriter(const Lanes& lanes) : lanes_(lanes) {}

    /// Pieces of one micro-batch that follow one another, as far as kLongest.
    void add_lane(const std::vector<Piece>& pieces) {
        constexpr std::size_t kLongest = 512;
        ByteText runs;
        std::uint64_t count = 0;
        Picoseconds end_ns = 0;
        for (std::size_t first = 0, next = 0; first < pieces.size(); first = next) {
            while (next < pieces.size() && next - first < kLongest &&
                   pieces[next].micro_batch == pieces[first].micro_batch) {
                ++next;
            }
            const std::size_t known = template_of({pieces.begin() + static_cast<std::ptrdiff_t>(first),
                                                   pieces.begin() + static_cast<std::ptrdiff_t>(next)});
            const Picoseconds start_ns = pieces[first].start / kPerNanosecond;
            runs.add_whole(known);
            runs.add_signed(start_ns - end_ns);
            runs.add_whole(static_cast<std::uint64_t>(pieces[first].micro_batch + 1));
            end_ns = start_ns + lengths_[known];
            ++count;
        }
        spans_ += pieces.size();
        bytes_of_lanes_.add_whole(count);
        bytes_of_lanes_.append(runs);
    }
    [[nodiscard]] std::string text() const {
        ByteText all;
        all.add_whole(templates_.size());
        all.append(bytes_of_templates_);
        all.append(bytes_of_lanes_);
        return all.base64();
    }
    [[nodiscard]] std::size_t spans() const { return spans_; }

 private:
    std::size_t template_of(const std::vector<Piece>& run) {
        std::vector<Shape> shapes;
        Picoseconds end_ns = 0;
        for (const Piece& piece : run) {
            const Picoseconds start_ns = (piece.start - run.front().start) / kPerNanosecond;
            const Picoseconds stop_ns = (piece.end - run.front().start) / kPerNanosecond;
            shapes.push_back({piece.kind, piece.count, piece.layer, start_ns - end_ns, stop_ns - start_ns,
                              piece.busy / kPerNanosecond});
            end_ns = stop_ns;
        }
        const auto [known, is_new] = templates_.try_emplace(shapes, templates_.size());
        if (is_new) {
            write(shapes);
            lengths_.push_back(end_ns);
        }
        return known->second;
    }
    void write(const std::vector<Shape>& shapes) {
        bytes_of_templates_.add_whole(shapes.size());
        for (const Shape& shape : shapes) {
            bytes_of_templates_.add_whole(shape.kind);
            bytes_of_templates_.add_whole(static_cast<std::uint64_t>(shape.layer + 1));
            bytes_of_templates_.add_signed(shape.gap);
            bytes_of_templates_.add_whole(static_cast<std::uint64_t>(shape.length));
            if (lanes_.kinds[shape.kind].is_merged) {
                bytes_of_templates_.add_whole(shape.count);
                bytes_of_templates_.add_whole(static_cast<std::uint64_t>(shape.busy));
            }
        }
    }

    const Lanes& lanes_;
    std::map<std::vector<Shape>, std::size_t> templates_;
    std::vector<Picoseconds> lengths_;  ///< by template, nanoseconds
    ByteText bytes_of_templates_, bytes_of_lanes_;
    std::size_t spans_ = 0;
};

/// For a <script> element: "<" would end it.
std::string json_text(const std::string& text) {
    std::string out;
    for (const char c : json_quote(text)) {
        out += c == '<' ? std::string("\\u003c") : std::string(1, c);
    }
    return out;
}

std::string panel_json(const std::string& title, const Lanes& lanes, Picoseconds within, std::size_t& spans) {
    RunWriter writer(lanes);
    std::string names;
    for (const Lane& lane : lanes.lanes) {
        writer.add_lane(within > 0 ? merged(lanes, lane.pieces, within) : lane.pieces);
        names += (names.empty() ? "[" : ",[") + json_text(lane.role) + "," + json_text(lane.stream) + "]";
    }
    std::string kinds;
    for (const Kind& kind : lanes.kinds) {
        kinds += (kinds.empty() ? "[" : ",[") + json_text(kind.name) + "," + std::to_string(kind.group) +
                 (kind.is_merged ? ",1]" : "]");
    }
    spans += writer.spans();
    return "{\"title\":" + json_text(title) + ",\"kinds\":[" + kinds + "],\"lanes\":[" + names + "],\"data\":\"" +
           writer.text() + "\"}";
}

std::string groups_json() {
    std::string out;
    for (std::size_t group = 0; group < kOperationGroups; ++group) {
        out += (group == 0 ? "[" : ",[") + json_text(operation_group_name(group)) + "," +
               std::to_string(operation_group_color(group)) + "]";
    }
    return "[" + out + "]";
}

}  // namespace

TimelineData timeline_data(const std::string& title, const std::vector<TimelinePanel>& panels, std::size_t most_bytes) {
    constexpr Picoseconds kFirst = 1 << 16, kLast = 16;  // parts of the length, from the finest to the coarsest
    std::vector<Lanes> all;
    TimelineData data;
    Picoseconds length = 0;
    for (const TimelinePanel& panel : panels) {
        all.push_back(lanes_of(*panel.timeline));
        data.operations += panel.timeline->spans.size();
        length = std::max(length, end_of_spans(*panel.timeline));
    }
    AUSPEX_CHECK(length > 0, "a timeline that is drawn has spans");
    for (Picoseconds parts = 2 * kFirst; parts >= kLast; parts /= 2) {
        data.merged_below = parts > kFirst ? 0 : length / parts;
        data.spans = 0;
        data.json = "{\"title\":" + json_text(title) + ",\"length\":" + std::to_string(length / kPerNanosecond) +
                    ",\"groups\":" + groups_json() + ",\"panels\":[";
        for (std::size_t i = 0; i < panels.size(); ++i) {
            data.json += (i == 0 ? "" : ",") + panel_json(panels[i].title, all[i], data.merged_below, data.spans);
        }
        data.json += "]}";
        if (data.json.size() <= most_bytes) {
            break;
        }
    }
    return data;
}

}  // namespace auspex::report
