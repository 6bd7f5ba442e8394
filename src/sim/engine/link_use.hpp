#pragma once
/// @file How much of its capacity each kind of link carries over a step.
#include <string>
#include <vector>

namespace auspex::network {
class Network;
}
namespace auspex::schedule {
struct Program;
}

namespace auspex::engine {

struct OperationCosts;

/// How much of their capacity links of one kind carry. A share is bytes over (capacity x step time): 1 is full from
/// beginning to end. Traffic of a pair of dragonfly groups (or of switches of a group) counts against its direct links:
/// above 1 some of it must detour, below 1 some may have, for it does not flow all the time.
struct LinkUse {
    std::string kind;                          ///< as sim/network/fabric/fabric.hpp names it
    std::string busiest;                       ///< name of the link with the largest share
    double busiest_share = 0, mean_share = 0;  ///< mean over the links that carry anything
    double bytes = 0;                          ///< over all links of the kind
    bool between_nodes = false;                ///< a link of the network, not of a node
};

/// Bytes of all communications of one step, those of detours and of split flows where they pass; the most crowded kind
/// first. Kinds that carry nothing are left out; so are world operations (a few bytes a step). Requires costs of
/// Grain::kStages.
[[nodiscard]] std::vector<LinkUse> link_use(const schedule::Program& program, const OperationCosts& costs,
                                            const network::Network& network, double step_s);

}  // namespace auspex::engine
