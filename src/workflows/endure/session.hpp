#pragma once
/// @file What all runs of one `auspex endure` share: a scratch folder, a dataset, a plan.
#include <string>

#include "launch/new_folder.hpp"
#include "launch/train/request.hpp"
#include "workflows/endure/request.hpp"

namespace auspex::workflows {

/// Sequences of a step, whatever the ranks; ranks must divide it.
inline constexpr int kEndureBatch = 8;

/// The scratch folder goes with it.
class EndureSession {
 public:
    /// Throws InputError where the model, the data or the number of ranks do not fit.
    explicit EndureSession(const EndureRequest& request);

    /// A supervised run of `steps` steps whose learning rate does not depend on how many there are, in a folder of its
    /// own for checkpoints; relaunches and slots do not run out.
    [[nodiscard]] launch::TrainRequest run_of(int steps, int checkpoint_every);
    [[nodiscard]] const std::string& scratch() const { return folder_.path(); }
    /// The text without the scratch folder's name, which is another one each time.
    [[nodiscard]] std::string without_scratch(const std::string& text) const { return folder_.without_path(text); }

 private:
    launch::NewFolder folder_;
    launch::TrainRequest run_;
    int runs_ = 0;
};

}  // namespace auspex::workflows
