#pragma once
/// @file What a failure of a supervised run was, and whether and how the run is launched again. Starts nothing.
#include <string>
#include <vector>

#include "launch/launch_outcome.hpp"
#include "launch/run_folder.hpp"
#include "launch/train/slots.hpp"

namespace auspex::launch {

/// What ended a launch, in words, and the ranks that did; none: not known. A rank that a signal ended is the one that
/// mpirun names; ranks whose numbers are not finite are in DIR/failure; one that hangs is the only one behind the
/// others or the only one that uses no processor time.
struct RankFailure {
    std::string reason;  ///< "rank 2 died (signal 9)"
    std::vector<int> ranks;
    int step = -1;               ///< that the first of them had begun
    bool is_not_finite = false;  ///< loss or gradients
    int signal = 0;              ///< that ended the rank
};
[[nodiscard]] RankFailure failure_of(const LaunchOutcome& outcome, const RunFolder& folder);

[[nodiscard]] bool is_success(const LaunchOutcome& outcome, const RunFolder& folder);
/// A relaunch would end the same way.
[[nodiscard]] bool is_final(const LaunchOutcome& outcome);

/// "0,1"
[[nodiscard]] std::string list_of(const std::vector<int>& numbers);
/// What happened, where and when.
[[nodiscard]] std::string description_of(const RankFailure& failure, const std::vector<int>& slots);

/// The same flags again, to go on from the checkpoint; an injected fault strikes once.
[[nodiscard]] std::vector<std::string> arguments_of_relaunch(const std::vector<std::string>& arguments);

/// Relaunches one after another, with the failures before them. There is no pause between them: one that fails at once
/// fails at most so often, and one that the program brings about twice.
class RestartRules {
 public:
    RestartRules(int max_restarts, int ranks) : max_restarts_(max_restarts), ranks_(ranks) {}

    /// The slots to leave out from now on; `failed` are those of the failure's ranks, -1: not known. Of several at once
    /// all are, or none where too few would be left. Throws std::runtime_error when no healthy slots or no restarts are
    /// left, or when a step fails again as it did before: that is not the slots' fault.
    [[nodiscard]] std::vector<int> slots_to_leave_out(const RankFailure& failure, const std::vector<int>& failed,
                                                      const Slots& slots);

 private:
    int max_restarts_, ranks_;
    std::vector<RankFailure> failures_;
};

}  // namespace auspex::launch
