/// @file A timeline that is written as a Chrome trace and read again is the same.
#include "compare/evaluate/trace_file.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

constexpr const char* kTrace = R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"rank 0"}},
{"ph":"M","name":"process_sort_index","pid":0,"tid":0,"args":{"sort_index":0}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"rank 1"}},
{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"compute"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"dp"}},
{"ph":"X","pid":0,"tid":0,"ts":0.250000,"dur":1.500001,"name":"work","args":{"layer":3,"micro_batch":1}},
{"ph":"X","pid":1,"tid":1,"ts":2.000000,"dur":0.000000,"name":"message","args":{}}
]})";

TEST(TraceFile, spans_come_back_to_the_picosecond) {
    const schedule::Timeline timeline = read_chrome_trace(JsonDocument::parse(kTrace, "trace"));
    ASSERT_EQ(timeline.tracks.size(), 2U);
    EXPECT_EQ(timeline.tracks[0].role, "rank 0");
    EXPECT_EQ(timeline.tracks[0].stream, "compute");
    EXPECT_EQ(timeline.tracks[1].role, "rank 1");
    EXPECT_EQ(timeline.tracks[1].stream, "dp");
    ASSERT_EQ(timeline.spans.size(), 2U);
    EXPECT_EQ(timeline.names.at(timeline.spans[0].name), "work");
    EXPECT_EQ(timeline.spans[0].start, 250'000);
    EXPECT_EQ(timeline.spans[0].end, 1'750'001);
    EXPECT_EQ(timeline.spans[0].layer, 3);
    EXPECT_EQ(timeline.spans[0].micro_batch, 1);
    EXPECT_EQ(timeline.spans[1].track, 1U);
    EXPECT_EQ(timeline.spans[1].layer, -1);
    EXPECT_EQ(end_of(timeline), 2'000'000);
}

TEST(TraceFile, what_no_timeline_writes_is_refused) {
    for (const char* text : {R"({"events":[]})", R"({"traceEvents":[{"ph":"B"}]})",
                             R"({"traceEvents":[{"ph":"X","pid":0,"tid":0,"ts":0,"dur":0,"name":"a","args":{}}]})"}) {
        EXPECT_THROW(static_cast<void>(read_chrome_trace(JsonDocument::parse(text, "trace"))), InputError) << text;
    }
}

}  // namespace
}  // namespace auspex::evaluate
