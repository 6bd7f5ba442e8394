/// @file From a predicted step to what its page shows.
#include "cli/output/prediction_page.hpp"

#include "base/number_text.hpp"
#include "cli/flags/input_flags.hpp"

namespace auspex::cli {
namespace {

std::vector<std::string> layout_lines(const models::Plan& plan, const predict::Prediction& p) {
    return {"pipeline stages pp = " + thousands(p.pp) + ", expert parallel ep = " + thousands(p.ep) +
                ", expert tensor parallel etp = " + thousands(p.etp) + ", tensor parallel tp = " + thousands(p.tp) +
                ", context parallel cp = " + thousands(p.cp),
            "replicas dp = " + thousands(p.dp) +
                " (data-parallel ranks of the dense part: " + thousands(p.data_parallel) + ")",
            std::string(to_string(plan.schedule)) + " schedule, " + counted(plan.micro_batches, "micro-batch", "es") +
                " of " + counted(plan.micro_batch_size, "sequence") + ", global batch " +
                counted(p.global_batch, "sequence"),
            std::string("optimizer ") + to_string(plan.optimizer) + ", token dispatch " + to_string(plan.dispatch) +
                ", expert kernels " + to_string(plan.expert_kernels)};
}

}  // namespace

std::vector<Constant> constants_of(const models::Inputs& inputs) {
    std::vector<Constant> constants = inputs.machine.constants;
    constants.insert(constants.end(), inputs.stack.constants.begin(), inputs.stack.constants.end());
    return constants;
}

report::PredictionPage prediction_page_of(const models::Inputs& inputs, const Options& options,
                                          predict::PredictResult result) {
    report::PredictionPage page;
    page.workload = inputs.workload.name;
    page.machine = inputs.machine.name;
    page.stack = inputs.stack.name;
    page.plan = inputs.plan.name;
    page.command = options.command_line;
    page.inputs = files_of(inputs);
    page.overrides = overrides_in_words(options);
    page.layout_lines = layout_lines(inputs.plan, result.prediction);
    page.constants = constants_of(inputs);
    page.prediction = std::move(result.prediction);
    page.timeline = std::move(result.timeline);
    return page;
}

}  // namespace auspex::cli
