/// @file A plan of replicas only.
#include "exec/transport/one_group.hpp"

#include "models/plan.hpp"

namespace auspex::exec {

models::Layout one_group(int ranks, const std::string& purpose) {
    models::Plan plan;
    plan.name = plan.file = purpose;
    plan.dp = ranks;
    return rank_grid(plan, ranks);
}

}  // namespace auspex::exec
