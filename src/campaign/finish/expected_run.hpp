#pragma once
/// @file The whole run of a predicted step, by closed form and with the best interval of that form.
#include "campaign/finish/expected_finish.hpp"
#include "campaign/finish/machine_setting.hpp"

namespace auspex::campaign {

struct ExpectedRun {
    MachineSetting made;
    ExpectedFinish finish;
};
/// machine_setting() with all features, steps as long as predicted and closed_form_steps() between checkpoints: without
/// blocks of a batch system, and with another node always at hand.
[[nodiscard]] ExpectedRun expected_run(const models::Inputs& inputs, PredictedRunSize run);

}  // namespace auspex::campaign
