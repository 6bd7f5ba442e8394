#pragma once
/// @file One step, folded or on CPU cores: builds, costs and plays the program of a plan, with the stragglers that its
/// groups really meet.
#include <optional>
#include <vector>

#include "models/inputs.hpp"
#include "schedule/program/merge_pairs.hpp"
#include "schedule/program/step_program.hpp"
#include "schedule/timeline.hpp"
#include "sim/engine/cost_program.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/link_use.hpp"
#include "sim/engine/operation_facts.hpp"
#include "sim/predict/options.hpp"

namespace auspex::predict {

/// A step as simulated, before anything is derived from it.
struct SimulatedStep : schedule::StepProgram {
    std::optional<schedule::PairedProgram> paired;  ///< where passes run beside one another
    /// What the engine plays; memory and trainer go by `program`.
    [[nodiscard]] const schedule::Program& played() const { return paired ? paired->program : program; }

    engine::CostOptions cost_options;
    Picoseconds step = 0, forward_backward = 0;
    schedule::LossTimes losses{};                  ///< mean over tiles; they sum to `step`
    std::vector<schedule::LossTimes> role_losses;  ///< by stage; each sums to `step`. Empty on CPU cores
    std::uint64_t events = 0;
    schedule::OperationTimes operation_times;
    std::vector<std::string> operation_bounds;  ///< bounds_by_name, with operation_times; empty on CPU cores
    int groups_touched = 0;
    std::vector<engine::LinkUse> link_use;
    std::optional<schedule::Timeline> timeline;
    /// Of the play that the timeline is of; empty unless they or operation times were asked for
    /// (PredictOptions::trace_details).
    std::vector<engine::OperationFacts> facts;
    engine::RecordedOperations recorded;  ///< of the timeline
};

/// How much longer rate-bound work takes within the ranks that meet in every layer (tp x cp, ep x etp) than on a median
/// tile.
[[nodiscard]] double slowest_of_groups(const models::Tile& tile, const models::Plan& plan);

/// Nothing but its program.
[[nodiscard]] SimulatedStep prepare_step(const models::Inputs& inputs, const PredictOptions& options);

/// Speeds: within the ranks that meet in every layer (tp x ep, etp) the slowest of them sets the pace: expected maximum
/// of that many draws of the fleet's spread. Across replicas and stages, which meet once a step, a second play gives
/// the heaviest stage the expected slowest of all ranks; what that adds is jitter,
/// and the timeline is of that play. `operation_times`: fills operation_times, operation_bounds and link_use. A machine
/// of CPU cores has none of that: play_on_cpus, which throws what it throws.
[[nodiscard]] SimulatedStep simulate_step(const models::Inputs& inputs, const PredictOptions& options,
                                          bool operation_times);

/// The same for a step that is prepared, whatever it was simulated for before: with inputs that differ from those that
/// prepared it in nothing that enters a program. `network`, if given, must have been made for the same layout and for
/// inputs that differ in nothing that enters a network (node links, fabric, transport).
void simulate_prepared(SimulatedStep& step, const models::Inputs& inputs, const PredictOptions& options,
                       bool operation_times, network::Network* network = nullptr);

/// The same for a step that matters only if it takes no longer than `most`: false where it takes longer, and nothing
/// else is known of it then. Not for a machine of CPU cores.
[[nodiscard]] bool simulate_within(SimulatedStep& step, const models::Inputs& inputs, network::Network& network,
                                   Picoseconds most);

}  // namespace auspex::predict
