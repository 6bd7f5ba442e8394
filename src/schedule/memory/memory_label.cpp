/// @file Names of the labels.
#include "schedule/memory/memory_label.hpp"

namespace auspex::schedule {

const char* to_string(MemoryLabel label) {
    static constexpr std::array<const char*, kMemoryLabelCount> kNames{"weights", "gradients",   "master_weights",
                                                                       "moments", "activations", "router_logits",
                                                                       "logits",  "workspace",   "communication"};
    return kNames[static_cast<std::size_t>(label)];
}

}  // namespace auspex::schedule
