/// @file Said, or a default.
#include "interop/training_source.hpp"

namespace auspex::interop {

std::string training_source(const models::Training& training, const std::string& key) {
    return training.given.contains(key) ? "workload.training." + key
                                        : "default of training." + key + ", the workload does not say";
}

}  // namespace auspex::interop
