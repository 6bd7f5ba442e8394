/// @file Names of the lenses.
#include "sim/predict/prediction.hpp"

#include "base/error.hpp"

namespace auspex::predict {

const char* to_string(Lens lens) {
    switch (lens) {
        case Lens::kFolded: return "folded";
        case Lens::kUnfolded: return "unfolded";
        case Lens::kCpu: return "host";
    }
    AUSPEX_CHECK(false, "a lens is one of the enum");
}

}  // namespace auspex::predict
