/// @file Tracks and lanes.
#include "sim/graph/player_recorder.hpp"

#include <algorithm>

namespace auspex::graph {

Recorder::Recorder(const GraphJob& job, const std::vector<int>& ranks) : job_(job) {
    if (ranks.empty()) {
        return;
    }
    timeline_.names = job.names;
    of_rank_.resize(job.ranks.size());
    for (const int rank : ranks) {
        const auto r = static_cast<std::uint32_t>(rank);
        of_rank_[r].is_recorded = true;
        of_rank_[r].compute = new_track(r, "compute");
        of_rank_[r].host = new_track(r, "host");
    }
}

std::uint32_t Recorder::new_track(std::uint32_t rank, const std::string& stream) {
    timeline_.tracks.push_back({"rank " + std::to_string(rank), stream});
    return static_cast<std::uint32_t>(timeline_.tracks.size()) - 1;
}

/// Communications come by their ends: a lane is free if the last of it has ended before this one began.
void Recorder::add_communication(std::uint32_t rank, std::uint32_t node, Picoseconds begin, Picoseconds end) {
    if (!is_recorded(rank)) {
        return;
    }
    std::vector<Lane>& lanes = of_rank_[rank].lanes;
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& one) { return one.free_from <= begin; });
    if (lane == lanes.end()) {
        const std::string number = lanes.empty() ? "" : " " + std::to_string(lanes.size() + 1);
        lane = lanes.insert(lanes.end(), {new_track(rank, "communication" + number), 0});
    }
    lane->free_from = end;
    add(rank, node, lane->track, begin, end);
}

void Recorder::add(std::uint32_t rank, std::uint32_t node, std::uint32_t track, Picoseconds begin, Picoseconds end) {
    if (end > begin) {
        const GraphNode& of = job_.programs[job_.ranks[rank].program].nodes[node];
        timeline_.spans.push_back({track, of.name, begin, end});
    }
}

}  // namespace auspex::graph
