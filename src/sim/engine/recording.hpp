#pragma once
/// @file What is kept of a play in which every task is one operation.
#include <cstdint>
#include <vector>

#include "schedule/timeline.hpp"

namespace auspex::engine {

/// Which operations the spans of a timeline are, as indices into Program::operations.
struct RecordedOperations {
    std::vector<std::uint32_t> of_spans;
    /// Receives of messages that were there already: they take no time, and are no spans.
    std::vector<schedule::Span> instants;
    std::vector<std::uint32_t> of_instants;
};

struct Recording {
    schedule::Timeline* timeline;
    RecordedOperations* operations;
    std::vector<std::uint32_t> first_track;  ///< by actor: that of its first stream; kNone: nothing of it is kept
};

}  // namespace auspex::engine
