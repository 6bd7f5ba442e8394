#pragma once
/// @file The specified rate of the link between a NIC and its switch.
#include "models/machine.hpp"

namespace auspex::network {

/// One direction. The machine file gives the NIC's sustained rate, somewhat less than its link has: the link is taken
/// as the whole number of switch links, or the whole part of one (a port split into n), that is nearest above.
///   NIC slower than a link: link / floor(link / NIC);  else: link * round(NIC / link)
[[nodiscard]] double nic_wire_bytes_per_s(const models::Machine& machine);

}  // namespace auspex::network
