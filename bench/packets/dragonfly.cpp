/// @file Links by number: [from and to terminals][group][switch][switch][group][group][parallel].
#include "packets/dragonfly.hpp"

#include "base/error.hpp"

namespace auspex::packets {

Dragonfly::Dragonfly(const Shape& shape)
    : shape_(shape),
      first_local_(static_cast<LinkId>(2 * terminals())),
      first_global_(first_local_ + static_cast<LinkId>(shape.groups * shape.switches * shape.switches)) {
    AUSPEX_CHECK(shape.terminals > 0 && shape.switches > 0 && shape.groups > 0 && shape.links > 0,
                 "a dragonfly has parts");
    AUSPEX_CHECK(shape.ports * shape.switches >= shape.links * (shape.groups - 1), "each global link needs a port");
}

LinkId Dragonfly::local(int from_switch, int to_switch) const {
    return first_local_ + static_cast<LinkId>(from_switch * shape_.switches + to_switch % shape_.switches);
}

LinkId Dragonfly::global(int from_group, int to_group, int parallel) const {
    return first_global_ + static_cast<LinkId>((from_group * shape_.groups + to_group) * shape_.links + parallel);
}

int Dragonfly::gateway(int group, int other, int parallel) const {
    const int port = (other < group ? other : other - 1) * shape_.links + parallel;
    return group * shape_.switches + port / shape_.ports;
}

LinkId Dragonfly::first_parallel(LinkId global) const {
    return global - (global - first_global_) % static_cast<LinkId>(shape_.links);
}

bool Dragonfly::are_side_by_side(LinkId one, LinkId other) const {
    const int pair = static_cast<int>(one - first_global_) / shape_.links;
    const int from = pair / shape_.groups, to = pair % shape_.groups;
    const int first = static_cast<int>(one - first_parallel(one)),
              second = static_cast<int>(other - first_parallel(one));
    return gateway(from, to, first) == gateway(from, to, second) &&
           gateway(to, from, first) == gateway(to, from, second);
}

}  // namespace auspex::packets
