#pragma once
/// @file Lower bounds of steps on machines of CPU cores.
#include <map>
#include <tuple>

#include "models/inputs.hpp"
#include "sim/search/bounds/pass_traits.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// For one grid; remembers.
class CpuFloor {
 public:
    /// The inputs must outlive it.
    explicit CpuFloor(const models::Inputs& inputs) : inputs_(inputs) {}
    /// cpu::least_kernel_s of the plan if it recomputed nothing, which only adds calls. Order of passes and overlap
    /// change none.
    [[nodiscard]] double kernels_s(const Candidate& plan);
    /// cpu::least_step_s of the plan itself.
    [[nodiscard]] double actions_s(const Candidate& plan) const;

 private:
    using Key = std::tuple<int, StageShape, bool, models::StageDeal, int, models::OptimizerSharding, models::Dispatch,
                           models::ExpertKernels, bool>;
    const models::Inputs& inputs_;
    std::map<Key, double> kernels_;
};

}  // namespace auspex::search
