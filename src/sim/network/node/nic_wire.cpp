/// @file A NIC's link.
#include "sim/network/node/nic_wire.hpp"

#include <cmath>

namespace auspex::network {

double nic_wire_bytes_per_s(const models::Machine& machine) {
    const double link = machine.fabric.link_bytes_per_s, nic = machine.node.nic_bytes_per_s;
    return nic < link ? link / std::floor(link / nic) : link * std::round(nic / link);
}

}  // namespace auspex::network
