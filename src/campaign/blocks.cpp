/// @file Blocks of walltime between maintenances.
#include "campaign/blocks.hpp"

#include <algorithm>

namespace auspex::campaign {

Stretch maintenance_from(const Blocks& blocks, Nanoseconds now) {
    const Nanoseconds every = to_nanoseconds(blocks.maintenance_every_s), length = to_nanoseconds(blocks.maintenance_s);
    if (every == 0 || length == 0) {
        return {};
    }
    const Nanoseconds first = to_nanoseconds(blocks.first_maintenance_s);
    const Nanoseconds over = now - first - length;
    const Nanoseconds number = over < 0 ? 0 : over / every + 1;
    return {first + number * every, first + number * every + length};
}

Stretch block_from(const Blocks& blocks, Nanoseconds now, Nanoseconds least) {
    Stretch maintenance = maintenance_from(blocks, now);
    if (maintenance.begin - now < least) {
        now = maintenance.end;
        maintenance = maintenance_from(blocks, now);
    }
    const Nanoseconds walltime = to_nanoseconds(blocks.walltime_s);
    return {now, std::min(walltime > 0 ? now + walltime : kNever, maintenance.begin)};
}

}  // namespace auspex::campaign
