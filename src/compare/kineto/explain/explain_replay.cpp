/// @file Predictions with the constants that explain.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::kineto {
namespace {

std::optional<double> step_with(const models::Inputs& inputs, int tiles, const std::vector<ChangedConstant>& changes) {
    try {
        const models::Inputs changed = with_constants(inputs, changes);
        predict::PredictOptions options;
        options.tiles = tiles;
        return to_seconds(predict::simulate_step(changed, options, false).step);
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace

void replay_constants(RunDiff& diff, const models::Inputs& inputs, int tiles) {
    struct Sum {
        Dimension dimension = Dimension::kNone;
        double logs = 0, weights = 0;
        bool is_zero = false;
    };
    std::map<std::string, Sum> sums;
    for (ExplainingConstant& one : diff.constants) {
        one.step_alone_s = step_with(inputs, tiles, {{one.path, one.dimension, one.explaining}});
        Sum& sum = sums[one.path];
        sum.dimension = one.dimension;
        const double weight = std::max(one.measured_s, 1e-12);
        sum.is_zero = sum.is_zero || one.explaining <= 0;
        sum.logs += one.explaining > 0 ? weight * std::log(one.explaining) : 0;
        sum.weights += weight;
    }
    std::vector<ChangedConstant> all;
    for (const auto& [path, sum] : sums) {
        all.push_back({path, sum.dimension, sum.is_zero ? 0 : std::exp(sum.logs / sum.weights)});
    }
    diff.explained_s = all.empty() ? std::nullopt : step_with(inputs, tiles, all);
    const double predicted = diff.predicted_s;
    std::stable_sort(diff.constants.begin(), diff.constants.end(),
                     [predicted](const ExplainingConstant& a, const ExplainingConstant& b) {
                         return std::abs(a.step_alone_s.value_or(predicted) - predicted) >
                                std::abs(b.step_alone_s.value_or(predicted) - predicted);
                     });
}

}  // namespace auspex::kineto
