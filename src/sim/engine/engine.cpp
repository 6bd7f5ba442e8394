/// @file The folded lens: one actor a role, patterns of all sibling groups, rates remembered by set.
#include "sim/engine/engine.hpp"

#include "sim/engine/player.hpp"
#include "sim/network/collective/pattern_sharing.hpp"

namespace auspex::engine {

PlayResult play(const CostedProgram& costed, network::Network& network, schedule::Timeline* timeline, Picoseconds most,
                RecordedOperations* recorded) {
    network::PatternSharing sharing(network);
    if (timeline == nullptr) {
        return Player(costed, sharing, nullptr, nullptr).run(most);
    }
    *timeline = empty_timeline(*costed.program);
    RecordedOperations unwanted;
    Recording recording{timeline, recorded != nullptr ? recorded : &unwanted, {}};
    for (std::size_t role = 0; role < costed.program->roles.size(); ++role) {
        recording.first_track.push_back(static_cast<std::uint32_t>(role * schedule::kStreamCount));
    }
    return Player(costed, sharing, nullptr, &recording).run(most);
}

}  // namespace auspex::engine
