/// @file Packets of a Perfetto trace.
#include "report/traces/track_event_stream.hpp"

namespace auspex::report {
namespace {

// message Trace, TracePacket
constexpr std::uint32_t kPacket = 1, kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
// message TrackDescriptor, ProcessDescriptor, CounterDescriptor
constexpr std::uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kParentUuid = 5, kCounter = 8, kChildOrdering = 11,
                        kSiblingRank = 12, kPid = 1, kProcessName = 6, kUnit = 3, kUnitName = 6;
constexpr std::uint64_t kExplicitOrder = 3, kUnitBytes = 3;
// message TrackEvent, and its types
constexpr std::uint32_t kCategoryIids = 3, kAnnotations = 4, kType = 9, kNameIid = 10, kTrackUuid = 11,
                        kCounterValue = 30, kDoubleCounterValue = 44, kFlowIds = 47, kTerminatingFlowIds = 48;
constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterType = 4;
// message DebugAnnotation
constexpr std::uint32_t kAnnotationName = 1, kUintValue = 3, kDoubleValue = 5, kStringValue = 6;
// message InternedData, whose entries have a number (1) and a text (2)
constexpr std::uint32_t kCategories = 1, kEventNames = 2, kAnnotationNames = 3;

}  // namespace

Annotations& Annotations::number(const std::string& name, std::uint64_t value) {
    one_.clear();
    one_.varint(kAnnotationName, stream_.number_of(stream_.annotation_names_, kAnnotationNames, name));
    event_.message(kAnnotations, one_.varint(kUintValue, value));
    return *this;
}

Annotations& Annotations::real(const std::string& name, double value) {
    one_.clear();
    one_.varint(kAnnotationName, stream_.number_of(stream_.annotation_names_, kAnnotationNames, name));
    event_.message(kAnnotations, one_.number(kDoubleValue, value));
    return *this;
}

Annotations& Annotations::text(const std::string& name, const std::string& value) {
    one_.clear();
    one_.varint(kAnnotationName, stream_.number_of(stream_.annotation_names_, kAnnotationNames, name));
    event_.message(kAnnotations, one_.bytes(kStringValue, value));
    return *this;
}

/// What is new goes out with the next packet.
std::uint64_t TrackEventStream::number_of(Numbers& known, std::uint32_t field, const std::string& text) {
    const auto [found, is_new] = known.try_emplace(text, known.size() + 1);
    if (is_new) {
        entry_.clear();
        interned_.message(field, entry_.varint(1, found->second).bytes(2, text));
    }
    return found->second;
}

void TrackEventStream::add_process(std::uint64_t track, int pid, const std::string& name) {
    ProtobufWriter process, more;
    process.signed_varint(kPid, pid).bytes(kProcessName, name);
    describe(track, 0, "", more.message(kProcess, process));
}

void TrackEventStream::add_track(std::uint64_t track, std::uint64_t parent, const std::string& name) {
    describe(track, parent, name, {});
}

void TrackEventStream::add_counter(std::uint64_t track, std::uint64_t parent, const std::string& name,
                                   const std::string& unit) {
    ProtobufWriter counter, more;
    unit == "bytes" ? counter.varint(kUnit, kUnitBytes) : counter.bytes(kUnitName, unit);
    describe(track, parent, name, more.message(kCounter, counter));
}

void TrackEventStream::describe(std::uint64_t track, std::uint64_t parent, const std::string& name,
                                const ProtobufWriter& more) {
    ProtobufWriter descriptor, content;
    descriptor.varint(kUuid, track);
    if (!name.empty()) {
        descriptor.bytes(kTrackName, name);
    }
    if (parent != 0) {
        descriptor.varint(kParentUuid, parent);
    }
    descriptor.varint(kChildOrdering, kExplicitOrder).varint(kSiblingRank, ++tracks_);
    descriptor.append(more);
    packet(content.message(kTrackDescriptor, descriptor));
}

void TrackEventStream::begin(std::uint64_t track, std::int64_t at_ns, const std::string& category,
                             const std::string& name, const Annotations& annotations, std::uint64_t flow) {
    more_.clear();
    more_.varint(kCategoryIids, number_of(categories_, kCategories, category));
    more_.varint(kNameIid, number_of(names_, kEventNames, name));
    more_.append(annotations.event_);
    if (flow != 0) {
        more_.fixed64(kFlowIds, flow);
    }
    event(track, at_ns, kSliceBegin, more_);
}

void TrackEventStream::end(std::uint64_t track, std::int64_t at_ns) {
    more_.clear();
    event(track, at_ns, kSliceEnd, more_);
}

void TrackEventStream::arrive(std::uint64_t track, std::int64_t at_ns, const std::string& category,
                              const std::string& name, std::uint64_t flow) {
    more_.clear();
    more_.varint(kCategoryIids, number_of(categories_, kCategories, category));
    more_.varint(kNameIid, number_of(names_, kEventNames, name)).fixed64(kTerminatingFlowIds, flow);
    event(track, at_ns, kInstant, more_);
}

void TrackEventStream::count(std::uint64_t track, std::int64_t at_ns, double value) {
    more_.clear();
    const auto whole = static_cast<std::int64_t>(value);
    static_cast<double>(whole) == value ? more_.signed_varint(kCounterValue, whole)
                                        : more_.number(kDoubleCounterValue, value);
    event(track, at_ns, kCounterType, more_);
}

void TrackEventStream::event(std::uint64_t track, std::int64_t at_ns, std::uint64_t type, const ProtobufWriter& more) {
    event_.clear();
    event_.varint(kType, type).varint(kTrackUuid, track).append(more);
    packet_.clear();
    packet_.varint(kTimestamp, static_cast<std::uint64_t>(at_ns)).message(kTrackEvent, event_);
    packet(packet_);
}

void TrackEventStream::packet(const ProtobufWriter& content) {
    framed_.clear();
    framed_.append(content).varint(kSequenceId, 1);
    framed_.varint(kSequenceFlags, is_first_ ? kStateCleared | kNeedsState : kNeedsState);
    is_first_ = false;
    if (!interned_.is_empty()) {
        framed_.message(kInternedData, interned_);
        interned_.clear();
    }
    entry_.clear();
    const std::string_view bytes = entry_.message(kPacket, framed_).view();
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace auspex::report
