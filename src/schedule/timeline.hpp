#pragma once
/// @file What a run looks like, predicted or measured: spans on tracks. The one type that simulator, executor, trace
/// and comparison share.
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace auspex::schedule {

struct Span {
    std::uint32_t track = 0;  ///< index into Timeline::tracks
    std::uint32_t name = 0;   ///< index into Timeline::names
    Picoseconds start = 0, end = 0;
    int micro_batch = -1, layer = -1;
};

struct Track {
    std::string role;    ///< "stage 3" or "rank 17"
    std::string stream;  ///< "compute", "tp", "ep", "dp", "pp", "cp"
};

struct Timeline {
    std::vector<Track> tracks;
    std::vector<std::string> names;
    std::vector<Span> spans;
};

struct Program;

/// A timeline without spans: a track for every (role, stream) of the program, role by role, and every operation's name
/// at operation_name_index.
[[nodiscard]] Timeline empty_timeline(const Program& program);

}  // namespace auspex::schedule
