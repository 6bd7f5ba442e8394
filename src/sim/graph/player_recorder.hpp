#pragma once
/// @file The timeline of some ranks of a graph.
#include <vector>

#include "schedule/timeline.hpp"
#include "sim/graph/graph.hpp"

namespace auspex::graph {

/// Spans of the ranks asked for; does nothing for others. Communications that run side by side are in lanes of their
/// own, so that spans of a track follow one another. Span::layer and micro_batch are not known of a graph.
class Recorder {
 public:
    Recorder(const GraphJob& job, const std::vector<int>& ranks);
    void add_compute(std::uint32_t rank, std::uint32_t node, Picoseconds begin, Picoseconds end) {
        if (is_recorded(rank)) {
            add(rank, node, of_rank_[rank].compute, begin, end);
        }
    }
    void add_host(std::uint32_t rank, std::uint32_t node, Picoseconds begin, Picoseconds end) {
        if (is_recorded(rank)) {
            add(rank, node, of_rank_[rank].host, begin, end);
        }
    }
    void add_communication(std::uint32_t rank, std::uint32_t node, Picoseconds begin, Picoseconds end);
    [[nodiscard]] schedule::Timeline take() { return std::move(timeline_); }

 private:
    struct Lane {
        std::uint32_t track;
        Picoseconds free_from;
    };
    struct Tracks {
        bool is_recorded = false;
        std::uint32_t compute = 0, host = 0;
        std::vector<Lane> lanes;
    };
    [[nodiscard]] bool is_recorded(std::uint32_t rank) const { return !of_rank_.empty() && of_rank_[rank].is_recorded; }
    std::uint32_t new_track(std::uint32_t rank, const std::string& stream);
    void add(std::uint32_t rank, std::uint32_t node, std::uint32_t track, Picoseconds begin, Picoseconds end);

    const GraphJob& job_;
    std::vector<Tracks> of_rank_;
    schedule::Timeline timeline_;
};

}  // namespace auspex::graph
