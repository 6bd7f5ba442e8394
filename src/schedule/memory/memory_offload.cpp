/// @file Activations that wait in host memory.
#include "schedule/memory/memory_walk.hpp"

#include <algorithm>

namespace auspex::schedule {
namespace {

std::int64_t activations_of(const Tensors& tensors) {
    return tensors.bytes[static_cast<std::size_t>(MemoryLabel::kActivations)];
}
std::int64_t activations_of(const SublayerMemory& sublayer) {
    return activations_of(sublayer.rest) + activations_of(sublayer.for_weights);
}

}  // namespace

void MemoryTally::enter_host(const SublayerMemory& tensors) {
    result_.host_change += activations_of(tensors);
    result_.host_peak = std::max(result_.host_peak, result_.host_change);
}

void MemoryTally::leave_host(const SublayerMemory& tensors) { result_.host_change -= activations_of(tensors); }

/// There are two copies of a layer with experts: the first is the one that counts.
void BlockWalk::host_copy_step(const Operation& op) {
    const auto first = static_cast<std::size_t>(2 * (op.layer - chunk_.layers.first));
    pass_.on_host.resize(pass_.sublayers.size());
    for (const std::size_t i : {first, first + 1}) {
        SublayerMemory &on_device = pass_.sublayers[i], &on_host = pass_.on_host[i];
        if (op.kind == OpKind::kActivationsToHost && activations_of(on_host) == 0) {
            on_host = on_device;
            tally_.enter_host(on_host);
        } else if (op.kind == OpKind::kActivationsFromHost && activations_of(on_device) == 0) {
            for (Tensors SublayerMemory::*part : {&SublayerMemory::rest, &SublayerMemory::for_weights}) {
                tally_.make(on_device.*part, MemoryLabel::kActivations,
                            static_cast<std::uint64_t>(activations_of(on_host.*part)));
            }
        } else if (op.kind == OpKind::kHostCopyWait && forward()) {
            tally_.release(on_device.rest);
            tally_.release(on_device.for_weights);
        } else if (op.kind == OpKind::kHostCopyWait) {
            tally_.leave_host(on_host);
            on_host = {};
        }
    }
}

}  // namespace auspex::schedule
