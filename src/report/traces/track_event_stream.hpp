#pragma once
/// @file Perfetto's TrackEvent, packet by packet.
/// Source of the numbers: google/perfetto, protos/perfetto/trace/trace_packet.proto and track_event/*.proto; of their
/// use: docs/reference/synthetic-track-event. Those of events, arguments and counters are those that Chromium writes,
/// too.
#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_map>

#include "base/protobuf/protobuf_writer.hpp"

namespace auspex::report {

/// Arguments of an event, by interned name.
class TrackEventStream;
class Annotations {
 public:
    explicit Annotations(TrackEventStream& stream) : stream_(stream) {}
    Annotations& number(const std::string& name, std::uint64_t value);
    Annotations& real(const std::string& name, double value);
    Annotations& text(const std::string& name, const std::string& value);

 private:
    friend class TrackEventStream;
    TrackEventStream& stream_;
    ProtobufWriter event_, one_;
};

/// Writes a trace as it comes: nothing of it stays in memory but the names that were used. Names and categories
/// are written once and referred to by number. Times are nanoseconds. Events of a track have to come in order.
class TrackEventStream {
 public:
    explicit TrackEventStream(std::ostream& out) : out_(out) {}

    /// Tracks by numbers of the caller's, from 1 on; they are shown in the order in which they come.
    void add_process(std::uint64_t track, int pid, const std::string& name);
    /// `parent` 0: of no other.
    void add_track(std::uint64_t track, std::uint64_t parent, const std::string& name);
    void add_counter(std::uint64_t track, std::uint64_t parent, const std::string& name, const std::string& unit);

    [[nodiscard]] Annotations annotations() { return Annotations(*this); }
    /// `flow` 0: no arrow begins here.
    void begin(std::uint64_t track, std::int64_t at_ns, const std::string& category, const std::string& name,
               const Annotations& annotations, std::uint64_t flow = 0);
    void end(std::uint64_t track, std::int64_t at_ns);
    /// The end of an arrow.
    void arrive(std::uint64_t track, std::int64_t at_ns, const std::string& category, const std::string& name,
                std::uint64_t flow);
    void count(std::uint64_t track, std::int64_t at_ns, double value);

 private:
    friend class Annotations;
    using Numbers = std::unordered_map<std::string, std::uint64_t>;
    void describe(std::uint64_t track, std::uint64_t parent, const std::string& name, const ProtobufWriter& more);
    std::uint64_t number_of(Numbers& known, std::uint32_t field, const std::string& text);
    void event(std::uint64_t track, std::int64_t at_ns, std::uint64_t type, const ProtobufWriter& more);
    void packet(const ProtobufWriter& content);

    std::ostream& out_;
    Numbers names_, categories_, annotation_names_;
    std::uint64_t tracks_ = 0;
    ProtobufWriter interned_, entry_, event_, packet_, framed_, more_;  ///< scratch
    bool is_first_ = true;
};

}  // namespace auspex::report
