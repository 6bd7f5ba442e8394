#pragma once
/// @file What a trace says of a timeline beside its spans: operations, messages, counters.
#include <string>
#include <utility>
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/predict/memory_report.hpp"

namespace auspex::predict {

/// From the span that sends to where the message has been received.
struct TraceMessage {
    std::uint32_t send = 0;   ///< index into Timeline::spans
    std::uint32_t track = 0;  ///< of the receive
    Picoseconds received = 0;
};

/// A number over time: each value holds until the next.
struct TraceCounter {
    std::string name;
    bool is_rate = false;  ///< bytes/s; else bytes
    int role = -1;         ///< number of the role in the timeline, in order of appearance; -1: of all
    std::vector<std::pair<Picoseconds, double>> values;
};

struct TraceDetails {
    std::vector<std::uint32_t> operation_of_span;    ///< by index into Timeline::spans
    std::vector<engine::OperationFacts> operations;  ///< by index into Program::operations, as is what follows
    std::vector<std::string> groups;                 ///< the kind of group, of communications
    std::vector<TraceMessage> messages;
    std::vector<TraceCounter> counters;
    std::vector<std::string> notes;
};

/// Whose tracks the roles of a timeline are.
struct TracedRole {
    int stage = 0;
    int index = 0;  ///< of the rank in its stage; 0 in the folded lens
};

/// Counters: live bytes of each role, in a pass the most that it has, between passes what is left; of the folded lens
/// also bytes/s on all links of each kind together, of each communication its mean over its span. Their integral is
/// LinkUse::bytes. Operations of all ranks at once are left out of it (a few bytes a step).
[[nodiscard]] TraceDetails trace_details(const models::Inputs& inputs, const SimulatedStep& step,
                                         const schedule::Timeline& timeline, const engine::RecordedOperations& recorded,
                                         const std::vector<TracedRole>& roles, bool is_folded);

}  // namespace auspex::predict
