/// @file Each with a network of its own.
#include "sim/search/recomputed.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>

#include "base/rng.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {

std::vector<EvaluatedPlan> some_of(const std::vector<EvaluatedPlan>& plans, std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::set<std::size_t> chosen;
    while (chosen.size() < std::min(count, plans.size())) {
        chosen.insert(rng.below(plans.size()));
    }
    std::vector<EvaluatedPlan> some;
    std::ranges::transform(chosen, std::back_inserter(some), [&](std::size_t i) { return plans[i]; });
    return some;
}

std::optional<Disagreement> disagreement(const models::Inputs& inputs, const std::vector<EvaluatedPlan>& plans) {
    std::mutex mutex;
    std::optional<Disagreement> found;
    tbb::parallel_for(std::size_t{0}, plans.size(), [&](std::size_t i) {
        models::Inputs own = inputs;
        own.plan = plan_of(plans[i].candidate, inputs.plan);
        const Picoseconds alone = predict::simulate_step(own, {}, false).step;
        if (alone != plans[i].step) {
            const std::lock_guard lock(mutex);
            found = {plans[i], alone};
        }
    });
    return found;
}

}  // namespace auspex::search
