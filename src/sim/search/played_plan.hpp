#pragma once
/// @file Plans of a space, played outside of a search.
#include <optional>

#include "models/inputs.hpp"
#include "sim/network/collective/network.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

/// Plays plans of one grid on a network that they share: what it has found of one communication serves the next.
class GridPlayer {
 public:
    /// The inputs must outlive it.
    explicit GridPlayer(const models::Inputs& inputs) : inputs_(inputs) {}
    /// The plan with its exact memory, and with step and losses where it fits or does not have to; else `step` is 0.
    [[nodiscard]] EvaluatedPlan play(EvaluatedPlan plan, bool has_to_fit);

 private:
    const models::Inputs& inputs_;
    std::optional<network::Network> network_;
};

/// The same of a plan by itself.
[[nodiscard]] EvaluatedPlan play_alone(const models::Inputs& inputs, const EvaluatedPlan& plan, bool has_to_fit);

}  // namespace auspex::search
