#pragma once
/// @file What a pass of a micro-batch costs, layer kind by layer kind: taken from pipelines of a layer a stage,
/// built once for all plans that share them.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "models/inputs.hpp"
#include "schedule/program/program.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// Of a virtual stage: a layer with a dense feed-forward, or with experts; what the first and the last one have more;
/// what every pass has.
enum class Part { kDense, kExperts, kEmbedding, kHead, kEvery };
inline constexpr std::size_t kParts = 5;

/// How many of each part a virtual stage has.
using PartCounts = std::array<int, kParts>;

/// A part of a pass.
struct PartCosts {
    double compute_s = 0;  ///< kernels, launches and host waits, at the pace of the slowest of a group
    std::vector<schedule::Operation> communications;  ///< over tp, cp and ep; indices into programs mean nothing
    /// Where weights are sharded: gathers of them and sums of gradients that a pass of any micro-batch has.
    std::vector<schedule::Operation> of_shards;
};
using PassCosts = std::array<PartCosts, kParts>;
struct LayerCosts {
    PassCosts forward, backward;
    PassCosts input, weight;                              ///< of schedules that split backward passes, else empty
    double least_load = 1;                                ///< of routed work (RoutingLoad::least)
    double dense_kept_bytes = 0, experts_kept_bytes = 0;  ///< that a layer keeps of a micro-batch for its backward pass
};

/// Seconds of LayerCosts::of_shards of a part in both passes of a micro-batch, of operations that take `seconds(op)`:
/// where backward passes may be split, the less of both ways.
template <class Seconds>
[[nodiscard]] double shards_of_passes(const LayerCosts& costs, std::size_t part, models::ScheduleKind schedule,
                                      const Seconds& seconds) {
    const auto sum_of = [&](const PassCosts& pass) {
        double sum_s = 0;
        for (const schedule::Operation& op : pass[part].of_shards) {
            sum_s += seconds(op);
        }
        return sum_s;
    };
    const double whole_s = sum_of(costs.backward);
    const double backward_s =
        splits_backward(schedule) ? std::min(whole_s, sum_of(costs.input) + sum_of(costs.weight)) : whole_s;
    return sum_of(costs.forward) + backward_s;
}

/// Remembers; one for each thread.
class LayerCostTable {
 public:
    /// The inputs must outlive it.
    explicit LayerCostTable(const models::Inputs& inputs) : inputs_(inputs) {}
    [[nodiscard]] const LayerCosts& of(const Candidate& candidate);
    /// By virtual stage.
    [[nodiscard]] const std::vector<PartCounts>& parts_of(const Candidate& candidate);

 private:
    using Key = std::tuple<int, int, int, int, int, models::Dispatch, models::ExpertKernels, int, bool, bool, bool>;
    const models::Inputs& inputs_;
    std::map<Key, LayerCosts> known_;
    /// By number of virtual stages, and whether each leg of a V is the model.
    std::map<std::tuple<int, bool, models::StageDeal>, std::vector<PartCounts>> parts_;
};

}  // namespace auspex::search
