#pragma once
/// @file Every plan that lays a model over a number of tiles with a global batch: enumerated, and counted where nothing
/// comes of a grid.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "sim/search/space/constraints.hpp"

namespace auspex::search {

/// What takes plans, such as a framework: those that it refuses are left out of a search, and not advised as to be had.
/// Asked from several threads at once.
struct PlanFilter {
    std::string name;  ///< of the flag or the file that asks for it; empty: every plan is taken
    /// All of a resolved plan that it refuses, each as `recompute "attention" without others`, the field first.
    std::function<std::vector<std::string>(const models::Machine&, const models::Workload&, const models::Plan&)>
        refuses;
};

struct SpaceRequest {
    int tiles = 0, global_batch = 0;  ///< global_batch: sequences of a step
    std::vector<Constraint> where;
    std::vector<std::string> fixed;  ///< fields of the plan that stay as the base has them
    bool what_if = false;  ///< schedules, optimizers, dispatches and kernels that the stack does not offer, too
    PlanFilter
        filter;  ///< asked of plans that are about to be played only, as it may take long: counts have others, too
};

/// The plans of a grid that differ in neither batch, schedule nor stages are neighbours; numbers are in order of
/// enumeration.
///
/// pp up to the layers; tp, etp, ep, cp as they divide heads, expert width, experts and sequence (cp in powers of two
/// up to 64 that leave a rank 4,096 tokens of a sequence); micro-batch sizes that divide a rank's batch, up to 32; up
/// to 8 virtual stages; every deal of layers that a word names, of those that give the same layers the first one that
/// `where` leaves, and none that leaves a stage without layers; every set of recomputed modules; what the
/// stack offers of schedules, optimizers, dispatches and expert kernels; overlap of every set of streams that it can
/// overlap and that exist; sequence parallelism where tp > 1; kRankOrders where they differ. dp follows. Placement does
/// not vary. Layers that the base plan lists are kept, with as many stages.
class PlanSpace {
 public:
    /// The inputs must outlive it.
    PlanSpace(const models::Inputs& inputs, const SpaceRequest& request);

    /// One plan of each batch, schedule and deal of layers of each grid; those of a grid follow one another.
    [[nodiscard]] const std::vector<Candidate>& shapes() const { return shapes_; }
    /// Plans of a shape: its choices of optimizer, dispatch, kernels, recompute, overlap and sequence parallelism.
    [[nodiscard]] std::vector<Candidate> plans_of(std::size_t shape) const;
    /// Number of the first of them; the number of all plans for the one behind the last shape.
    [[nodiscard]] std::uint64_t first_plan(std::size_t shape) const { return first_plan_[shape]; }
    [[nodiscard]] std::uint64_t size() const { return first_plan_.back(); }
    /// The plans that differ from one in a single field (dp and the number of micro-batches follow), with their
    /// numbers.
    [[nodiscard]] std::vector<std::pair<Candidate, std::uint64_t>> neighbours_of(const Candidate& plan) const;
    /// The deal of the space that gives the stages of a plan their layers; the plan's own where there is none.
    [[nodiscard]] models::StageDeal deal_of(const models::Plan& plan) const;
    /// What a plan overlaps, as the space has it: where the stack's sends hold nobody up anyway, `pp` changes nothing,
    /// and is said with several chunks a stage only, for which frameworks have a word.
    [[nodiscard]] std::uint8_t distinct_overlap(const Candidate& candidate) const;
    /// By the request's filter.
    [[nodiscard]] bool passes(const Candidate& plan) const;
    [[nodiscard]] const std::string& filter_name() const { return request_.filter.name; }
    /// Grids and batches of which nothing comes, by reason.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& rejected() const { return rejected_; }

 private:
    [[nodiscard]] bool is_free(const std::string& field) const;
    [[nodiscard]] std::vector<int> values(const char* field, int fixed, std::vector<int> free) const;
    [[nodiscard]] std::vector<int> expert_tensor_parallel(int tp) const;
    [[nodiscard]] std::vector<int> context_parallel() const;
    [[nodiscard]] std::uint64_t count_of(std::size_t shape) const;
    [[nodiscard]] const std::vector<models::OptimizerSharding>& optimizers_of(std::size_t shape) const;
    [[nodiscard]] std::uint8_t overlappable(const Candidate& candidate) const;
    [[nodiscard]] std::vector<std::uint8_t> recomputes() const;
    [[nodiscard]] std::vector<std::uint8_t> overlaps(const Candidate& candidate) const;
    [[nodiscard]] std::vector<bool> sequence_parallels(const Candidate& candidate) const;
    bool reject_if(bool condition, const char* reason);
    void add_grid(Candidate candidate);
    void add_schedules(Candidate candidate);
    bool add_if_possible(const Candidate& candidate);
    void add_deals(Candidate candidate);
    [[nodiscard]] const std::vector<models::StageDeal>& deals(int stages_of_model);
    void add_shape(const Candidate& candidate);
    /// Of a machine of CPU cores, with the optimizers that the trainer's ranks have there.
    void add_if_bound(Candidate candidate);

    const models::Inputs& inputs_;
    SpaceRequest request_;
    std::vector<models::OptimizerSharding> optimizers_;
    std::vector<models::OptimizerSharding> once_a_step_;  ///< of them, those that sum gradients once a step
    std::vector<models::ScheduleKind> schedules_;
    std::vector<models::Dispatch> dispatches_;
    std::vector<models::ExpertKernels> kernels_;
    std::vector<Candidate> shapes_;
    std::vector<std::vector<models::OptimizerSharding>> bound_optimizers_;  ///< by shape, on CPU cores only
    std::vector<std::uint64_t> first_plan_;
    std::map<int, std::vector<models::StageDeal>> deals_;  ///< by number of virtual stages
    std::map<std::array<int, 10>, std::size_t> shape_of_;  ///< by the fields that make a shape
    std::map<std::string, std::uint64_t> rejected_;
};

}  // namespace auspex::search
