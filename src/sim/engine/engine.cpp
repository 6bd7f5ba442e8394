/// @file The folded lens: one actor a role, patterns of all sibling groups, rates remembered by set.
#include "sim/engine/engine.hpp"

#include <span>

#include "sim/engine/player.hpp"
#include "sim/network/collective/pattern_sharing.hpp"

namespace auspex::engine {
namespace {

/// Of transfers that share no links: none ever asks for a rate.
struct NoSharing {
    static std::uint32_t start(network::PatternId /*pattern*/) { return 0; }
    static void stop(std::uint32_t /*flow*/) {}
    static std::span<const std::uint32_t> update_rates() { return {}; }
    static double rate(std::uint32_t /*flow*/) { return 0; }
};

/// Of all roles.
Recording recording_of(const schedule::Program& program, schedule::Timeline& timeline, RecordedOperations& recorded) {
    timeline = empty_timeline(program);
    Recording recording{&timeline, &recorded, {}};
    for (std::size_t role = 0; role < program.roles.size(); ++role) {
        recording.first_track.push_back(static_cast<std::uint32_t>(role * schedule::kStreamCount));
    }
    return recording;
}

}  // namespace

PlayResult play(const CostedProgram& costed, network::Network& network, schedule::Timeline* timeline, Picoseconds most,
                RecordedOperations* recorded) {
    network::PatternSharing sharing(network);
    if (timeline == nullptr) {
        return Player(costed, sharing, nullptr, nullptr).run(most);
    }
    RecordedOperations unwanted;
    const Recording recording = recording_of(*costed.program, *timeline, recorded != nullptr ? *recorded : unwanted);
    return Player(costed, sharing, nullptr, &recording).run(most);
}

PlayResult play_alone(const CostedProgram& costed, schedule::Timeline& timeline) {
    NoSharing sharing;
    RecordedOperations unwanted;
    const Recording recording = recording_of(*costed.program, timeline, unwanted);
    return Player(costed, sharing, nullptr, &recording).run(kLongestTime);
}

}  // namespace auspex::engine
