/// @file Packets of a Perfetto trace, byte for byte and as a viewer reads them.
#include "report/traces/track_event_stream.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "track_event_decoder.hpp"

namespace auspex::report {
namespace {

std::string small_trace() {
    std::ostringstream out;
    TrackEventStream stream(out);
    stream.add_process(1, 1, "stage 0");
    stream.add_track(2, 1, "compute");
    stream.add_counter(3, 1, "memory", "bytes");
    stream.add_counter(4, 0, "wire", "bytes/s");
    stream.begin(2, 5, "compute", "attention",
                 stream.annotations().number("layer", 3).text("bound_by", "memory").real("share", 0.25), 9);
    stream.end(2, 9);
    stream.begin(2, 9, "compute", "attention", stream.annotations());
    stream.end(2, 12);
    stream.arrive(2, 12, "pp", "message received", 9);
    stream.count(3, 0, 7e9);
    stream.count(4, 5, 0.5);
    return out.str();
}

/// Field 1 (packet), 60 (track descriptor), 1 (uuid), 3 (process) of 1 (pid) and 6 (name); 10 and 13 of the sequence.
TEST(TrackEventStream, begins_with_a_process_and_a_cleared_state) {
    const auto first = testing_wire::fields_of(testing_wire::fields_of(small_trace()).front().bytes);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(first[0].number, 60U);
    // uuid 1; children in the order given (11: 3); rank among siblings (12: 1); process: pid 1, name.
    EXPECT_EQ(first[0].bytes, std::string("\x08\x01\x58\x03\x60\x01\x1a\x0b\x08\x01\x32\x07stage 0"));
    EXPECT_EQ(first[1].number, 10U);
    EXPECT_EQ(first[1].value, 1U);
    EXPECT_EQ(first[2].number, 13U);
    EXPECT_EQ(first[2].value, 3U);  // SEQ_INCREMENTAL_STATE_CLEARED | SEQ_NEEDS_INCREMENTAL_STATE
}

TEST(TrackEventStream, is_what_a_viewer_reads) {
    const testing_traces::Trace trace = testing_traces::decode(small_trace());
    ASSERT_EQ(trace.slices.size(), 3U);
    const testing_traces::Slice& first = trace.slices[0];
    EXPECT_EQ(first.name, "attention");
    EXPECT_EQ(first.category, "compute");
    EXPECT_EQ(first.track, trace.track("stage 0", "compute"));
    EXPECT_EQ(first.begin_ns, 5U);
    EXPECT_EQ(first.end_ns, 9U);
    EXPECT_EQ(first.arguments.at("layer"), "3");
    EXPECT_EQ(first.arguments.at("bound_by"), "memory");
    EXPECT_EQ(first.arguments.at("share"), "0.250000");
    EXPECT_EQ(first.flow, 9U);
    EXPECT_EQ(trace.slices[1].depth, 0U);
    EXPECT_EQ(trace.slices[2].ends_flow, 9U);
    EXPECT_EQ(trace.tracks.at(3).unit, "bytes");
    EXPECT_EQ(trace.tracks.at(4).unit, "bytes/s");
    EXPECT_EQ(trace.counters.at(3), (std::vector<std::pair<std::uint64_t, double>>{{0, 7e9}}));
    EXPECT_EQ(trace.counters.at(4), (std::vector<std::pair<std::uint64_t, double>>{{5, 0.5}}));
}

/// A name is written once; the second slice refers to it.
TEST(TrackEventStream, keeps_names_once) {
    const std::string trace = small_trace();
    const std::size_t first = trace.find("attention");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(trace.find("attention", first + 1), std::string::npos);
}

/// What protobuf's own decoder makes of it.
TEST(TrackEventStream, is_a_message_to_protoc) {
    if (std::system("protoc --version >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "needs protoc: apt-get install protobuf-compiler";
    }
    const auto file = std::filesystem::temp_directory_path() / "auspex_track_event_test.pftrace";
    std::ofstream(file, std::ios::binary) << small_trace();
    const std::string text = file.string() + ".txt";
    ASSERT_EQ(std::system(("protoc --decode_raw <'" + file.string() + "' >'" + text + "'").c_str()), 0);
    std::ifstream stream(text);
    const std::string decoded{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    EXPECT_NE(decoded.find("60 {\n    1: 2\n    2: \"compute\"\n    5: 1\n"), std::string::npos) << decoded;
    EXPECT_NE(decoded.find("44: 0x3fe0000000000000"), std::string::npos) << decoded;
    std::filesystem::remove(file);
    std::filesystem::remove(text);
}

}  // namespace
}  // namespace auspex::report
