/// @file A campaign of the files, and its closed form.
#include "campaign/finish/expected_run.hpp"

namespace auspex::campaign {

ExpectedRun expected_run(const models::Inputs& inputs, PredictedRunSize run) {
    run.step_interval_s = {run.step_s, run.step_s};
    ExpectedRun expected{machine_setting(inputs, run, {}), {}};
    Setting& setting = expected.made.setting;
    setting.checkpoints.every_steps = closed_form_steps(setting);
    expected.finish = expected_finish(setting);
    return expected;
}

}  // namespace auspex::campaign
