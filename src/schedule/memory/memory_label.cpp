/// @file Names of the labels.
#include "schedule/memory/memory_label.hpp"

namespace auspex::schedule {

const char* to_string(MemoryLabel label) {
    static constexpr std::array<const char*, kMemoryLabelCount> kNames{"weights", "gradients",   "master_weights",
                                                                       "moments", "activations", "router_logits",
                                                                       "logits",  "workspace",   "communication"};
    return kNames[static_cast<std::size_t>(label)];
}

const char* to_string(KeptKind kind) {
    static constexpr std::array<const char*, kKeptKindCount> kNames{"inputs", "norm", "attention", "expert", "head"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace auspex::schedule
