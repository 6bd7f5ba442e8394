#pragma once
/// @file How much of its capacity each kind of link carries over a step.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/network/collective/network.hpp"
#include "sim/network/node/link_kind.hpp"

namespace auspex::network {

/// How much of their capacity links of one kind carry. A share is bytes over (capacity x step time): 1 is full from
/// beginning to end. Traffic of a pair of dragonfly groups (or of switches of a group) counts against its direct links:
/// above 1 some of it must detour, below 1 some may have, for it does not flow all the time.
struct LinkUse {
    std::string kind;                          ///< as sim/network/node/link_kind.hpp names it
    std::string busiest;                       ///< name of the link with the largest share
    double busiest_share = 0, mean_share = 0;  ///< mean over the links that carry anything
    double bytes = 0;                          ///< over all links of the kind
    bool between_nodes = false;                ///< a link of the network, not of a node
};

/// Bytes that one flow of each pattern moves.
using BytesByPattern = std::map<PatternId, double>;

/// Of all that was moved in so many seconds, bytes of detours and of split flows where they pass; the most crowded kind
/// first. Kinds that carry nothing are left out.
[[nodiscard]] std::vector<LinkUse> link_use(const BytesByPattern& bytes, const Network& network, double step_s);

/// What one byte on every flow of a pattern puts on all links of each kind together; 0 for kWorld, of which nothing is
/// kept.
[[nodiscard]] std::array<double, kLinkKinds> load_by_kind(PatternId pattern, const Network& network);

}  // namespace auspex::network
