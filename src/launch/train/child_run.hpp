#pragma once
/// @file One `auspex train` as a user would start it, as a child of this program, and its result.
#include <functional>
#include <stdexcept>
#include <string>

#include "exec/run/trainer.hpp"
#include "launch/train/request.hpp"
#include "launch/train/train_result.hpp"

namespace auspex::launch {

/// This program was asked to end: one of kEndSignals (launch/child_process.hpp) came.
class Interrupted : public std::runtime_error {
 public:
    explicit Interrupted(int signal) : Interrupted(signal, "ended by signal " + std::to_string(signal)) {}
    /// With what there is of the work, and how to go on.
    Interrupted(int signal, const std::string& message) : std::runtime_error(message), signal_(signal) {}
    [[nodiscard]] int signal() const { return signal_; }

 private:
    int signal_;
};
/// Throws Interrupted where a signal was noted, and forgets it.
void throw_if_interrupted();

/// Runs `auspex train --json` to its end; what it prints goes to files in `scratch`. `meanwhile`, if given,
/// is called again and again while it runs. Throws Interrupted.
[[nodiscard]] TrainResult run_training(const TrainRequest& request, const std::string& scratch,
                                       const std::function<void()>& meanwhile = {});

/// The same inputs as the run's, for predictions. Throws InputError for what does not fit.
[[nodiscard]] exec::RunInputs inputs_of_training(const TrainRequest& request);

}  // namespace auspex::launch
