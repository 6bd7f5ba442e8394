/// @file Timelines as bytes: read back they are the timeline, and what is merged says so.
#include "report/timeline/timeline_data.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "report/timeline/byte_text.hpp"

namespace auspex::report {
namespace {

/// As timeline.js reads it.
class Reader {
 public:
    explicit Reader(const std::string& base64) {
        const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::uint32_t bits = 0;
        int have = 0;
        for (const char c : base64.substr(0, base64.find('='))) {
            bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
            have += 6;
            if (have >= 8) {
                have -= 8;
                bytes_.push_back(static_cast<unsigned char>(bits >> have & 0xff));
            }
        }
    }
    std::int64_t whole() {
        std::int64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const unsigned char byte = bytes_.at(at_++);
            value |= static_cast<std::int64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                return value;
            }
        }
    }
    std::int64_t signed_whole() {
        const std::int64_t value = whole();
        return value % 2 != 0 ? -(value + 1) / 2 : value / 2;
    }
    [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }

 private:
    std::vector<unsigned char> bytes_;
    std::size_t at_ = 0;
};

struct ReadSpan {
    std::string role, stream, name;
    std::int64_t start_ns, end_ns, micro_batch, layer, count, busy_ns;
    auto operator<=>(const ReadSpan&) const = default;
};

std::vector<ReadSpan> read_panel(const JsonValue& panel) {
    Reader reader(panel.at("data").as_string());
    const std::vector<JsonValue> kinds = panel.at("kinds").elements();
    struct Template {
        std::vector<ReadSpan> spans;
        std::int64_t end = 0;
    };
    std::vector<Template> templates(static_cast<std::size_t>(reader.whole()));
    for (Template& one : templates) {
        for (std::int64_t left = reader.whole(); left > 0; --left) {
            const std::vector<JsonValue> kind = kinds.at(static_cast<std::size_t>(reader.whole())).elements();
            const std::int64_t layer = reader.whole() - 1, start = one.end + reader.signed_whole();
            one.end = start + reader.whole();
            const bool is_merged = kind.size() == 3;
            const std::int64_t count = is_merged ? reader.whole() : 1,
                               busy = is_merged ? reader.whole() : one.end - start;
            one.spans.push_back({"", "", kind[0].as_string(), start, one.end, 0, layer, count, busy});
        }
    }
    std::vector<ReadSpan> spans;
    for (const JsonValue& lane : panel.at("lanes").elements()) {
        std::int64_t end = 0;
        for (std::int64_t left = reader.whole(); left > 0; --left) {
            const Template& one = templates.at(static_cast<std::size_t>(reader.whole()));
            const std::int64_t start = end + reader.signed_whole(), micro_batch = reader.whole() - 1;
            for (ReadSpan span : one.spans) {
                span.role = lane.elements()[0].as_string();
                span.stream = lane.elements()[1].as_string();
                span.start_ns += start, span.end_ns += start, span.micro_batch = micro_batch;
                spans.push_back(span);
            }
            end = start + one.end;
        }
    }
    EXPECT_TRUE(reader.is_at_end());
    return spans;
}

std::vector<ReadSpan> read(const TimelineData& data) {
    const JsonDocument document = JsonDocument::parse(data.json, "timeline");
    return read_panel(document.root().at("panels").elements().front());
}

/// Stages that repeat a layer's three operations for every micro-batch: 1 ms, 0.5 ms, 0.25 ms, without a gap. The last
/// micro-batch is a picosecond longer.
schedule::Timeline repeated(int micro_batches) {
    constexpr Picoseconds kMicro = 1'000'000;
    schedule::Timeline timeline{{{"stage 0", "compute"}, {"stage 0", "ep"}, {"stage 1", "compute"}},
                                {"attention", "router", "token_return"},
                                {}};
    for (std::uint32_t track : {0U, 2U}) {
        Picoseconds at = 0;
        for (int batch = 0; batch < micro_batches; ++batch) {
            for (int layer = 0; layer < 2; ++layer) {
                timeline.spans.push_back({track, 0, at, at + 1000 * kMicro, batch, layer});
                timeline.spans.push_back({track, 1, at + 1000 * kMicro, at + 1500 * kMicro, batch, layer});
                at += 1750 * kMicro;
            }
            at += 200 * kMicro;
        }
        timeline.spans.push_back({1, 2, at, at + 5 * kMicro + 1234, micro_batches - 1, 1});
    }
    return timeline;
}

TEST(TimelineData, read_back_is_the_timeline_to_the_nanosecond) {
    const schedule::Timeline timeline = repeated(5);
    const TimelineData data = timeline_data("a step", {{"", &timeline}}, 1'000'000);
    EXPECT_EQ(data.merged_below, 0);
    EXPECT_EQ(data.operations, timeline.spans.size());
    EXPECT_EQ(data.spans, timeline.spans.size());
    std::vector<ReadSpan> expected, found = read(data);
    for (const schedule::Span& span : timeline.spans) {
        const std::int64_t start = span.start / 1000, end = start + (span.end - span.start) / 1000;
        expected.push_back({timeline.tracks[span.track].role, timeline.tracks[span.track].stream,
                            timeline.names[span.name], start, end, span.micro_batch, span.layer, 1, end - start});
    }
    std::ranges::sort(expected);
    std::ranges::sort(found);
    EXPECT_EQ(found, expected);
}

// Four spans a micro-batch and stage, 10 bytes each: 200 more micro-batches would be 21 kB as text. As one template
// they are a run each, of three or four bytes.
TEST(TimelineData, micro_batches_that_are_alike_take_a_few_bytes_each) {
    const schedule::Timeline few = repeated(10), many = repeated(210);
    const std::size_t more = timeline_data("a", {{"", &many}}, 1'000'000).json.size() -
                             timeline_data("a", {{"", &few}}, 1'000'000).json.size();
    EXPECT_LT(more, 2U * 200 * 8);
}

TEST(TimelineData, where_there_is_no_room_neighbours_of_a_micro_batch_become_one_span_that_counts_them) {
    schedule::Timeline timeline{{{"stage 0", "compute"}}, {"attention", "router"}, {}};
    Picoseconds at = 0;
    for (int i = 0; i < 40'000; ++i) {  // no two alike, so that no template helps
        const Picoseconds length = 1'000'000 + 1000 * ((i * 7919) % 100'003);
        timeline.spans.push_back({0, static_cast<std::uint32_t>(i % 2), at, at + length, i / 1000, i % 50});
        at += length;
    }
    const TimelineData all = timeline_data("a", {{"", &timeline}}, 10'000'000);
    EXPECT_EQ(all.spans, 40'000U);
    const TimelineData some = timeline_data("a", {{"", &timeline}}, 100'000);
    EXPECT_LE(some.json.size(), 100'000U);
    EXPECT_GT(some.merged_below, 0);
    EXPECT_LT(some.spans, 20'000U);
    std::int64_t count = 0, busy = 0, end = 0;
    for (const ReadSpan& span : read(some)) {
        count += span.count;
        busy += span.busy_ns;
        EXPECT_GE(span.start_ns, end - 1) << "spans do not overlap";
        EXPECT_LE(span.count == 1 ? 0 : span.end_ns - span.start_ns, some.merged_below / 1000 + 1);
        EXPECT_EQ(span.name == "attention" || span.name == "router", span.count == 1) << span.name;
        end = span.end_ns;
    }
    EXPECT_EQ(count, 40'000) << "every operation is in one span";
    EXPECT_NEAR(static_cast<double>(busy), static_cast<double>(at) / 1000, 40'000) << "a nanosecond each";
}

TEST(TimelineData, names_are_no_markup) {
    const schedule::Timeline timeline{{{"</script>", "compute"}}, {"<b>"}, {{0, 0, 0, 1000, -1, -1}}};
    const TimelineData data = timeline_data("</script>", {{"<i>", &timeline}}, 1000);
    EXPECT_EQ(data.json.find('<'), std::string::npos);
    EXPECT_EQ(read(data).front().role, "</script>");
}

TEST(ByteText, is_base64_of_numbers_in_groups_of_seven_bits) {
    ByteText bytes;
    bytes.add_whole(300);  // 0b10'0101100: 0xac 0x02
    EXPECT_EQ(bytes.base64(), "rAI=");
    bytes.add_signed(-1);  // 1
    EXPECT_EQ(bytes.base64(), "rAIB");
    bytes.add_signed(2);  // 4
    EXPECT_EQ(bytes.base64(), "rAIBBA==");
}

}  // namespace
}  // namespace auspex::report
