/// @file hwloc.
#include "exec/system/caches.hpp"

#include <hwloc.h>

#include <memory>

#include "exec/system/cores.hpp"

namespace auspex::exec {
namespace {

struct Destroyer {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroyer>;

/// Null where it cannot be made.
Topology load_topology() {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) {
        return nullptr;
    }
    Topology topology(made);
    // Devices, which take long to find, have no caches of interest.
    hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
    return hwloc_topology_load(made) == 0 ? std::move(topology) : nullptr;
}

}  // namespace

ReportedCaches reported_caches() {
    ReportedCaches caches;
    const Topology topology = load_topology();
    if (!topology) {
        return caches;
    }
    hwloc_obj_t core = hwloc_get_pu_obj_by_os_index(topology.get(), static_cast<unsigned>(allowed_cores().front()));
    // From the core outwards; instruction caches are beside, not above.
    for (hwloc_obj_t at = core; at != nullptr; at = at->parent) {
        if (hwloc_obj_type_is_dcache(at->type) != 0 && at->attr->cache.size > 0) {
            caches.own_bytes = caches.last_level_bytes;
            caches.last_level_bytes = static_cast<double>(at->attr->cache.size);
        }
    }
    return caches;
}

}  // namespace auspex::exec
