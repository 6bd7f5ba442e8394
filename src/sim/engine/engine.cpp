/// @file The folded lens: one actor a role, patterns of all sibling groups, rates remembered by set.
#include "sim/engine/engine.hpp"

#include "sim/engine/player.hpp"
#include "sim/network/collective/pattern_sharing.hpp"

namespace auspex::engine {

PlayResult play(const CostedProgram& costed, network::Network& network, schedule::Timeline* timeline,
                Picoseconds most) {
    if (timeline != nullptr) {
        *timeline = empty_timeline(*costed.program);
    }
    network::PatternSharing sharing(network);
    return Player(costed, sharing, nullptr, timeline).run(most);
}

}  // namespace auspex::engine
