/// @file From a predicted step to what its page shows.
#include "cli/output/prediction_page.hpp"

#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "base/shell_word.hpp"
#include "campaign/finish/expected_run.hpp"
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

std::string campaign_command(const Options& options, const predict::Prediction& p) {
    std::string command = "auspex campaign";
    for (const auto& [flag, value] : {std::pair("--machine", options.machine),
                                      {"--stack", options.stack},
                                      {"--workload", options.workload},
                                      {"--plan", options.plan},
                                      {"--tiles", std::to_string(p.tiles)},
                                      {"--tokens", campaign::tokens_text(options.tokens)}}) {
        command += std::string(" ") + flag + " " + quoted_for_shell(value);
    }
    command += options.global_batch > 0 ? " --global-batch " + std::to_string(options.global_batch) : "";
    for (const std::string& text : options.overrides) {
        command += " --set " + quoted_for_shell(text);
    }
    return command;
}

/// None on CPU cores, and none of more steps than a campaign may have.
std::optional<report::WholeRun> whole_run_of(const models::Inputs& inputs, const Options& options,
                                             const predict::Prediction& p) {
    const double steps = options.tokens / p.tokens_per_step;
    if (options.tokens <= 0 || p.lens == predict::Lens::kCpu || steps > campaign::kMostSteps) {
        return std::nullopt;
    }
    campaign::ExpectedRun expected =
        campaign::expected_run(inputs, {p.nodes,
                                        p.tiles,
                                        p.dp,
                                        p.step_time_s,
                                        {},
                                        campaign::steps_of_tokens(options.tokens, p.tokens_per_step, "--tokens"),
                                        0});
    report::WholeRun run;
    run.tokens = options.tokens;
    run.setting = std::move(expected.made.setting);
    run.finish = std::move(expected.finish);
    run.command = campaign_command(options, p);
    run.notes = std::move(expected.made.notes);
    return run;
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
    page.run = whole_run_of(inputs, options, result.prediction);
    page.prediction = std::move(result.prediction);
    page.timeline = std::move(result.timeline);
    return page;
}

}  // namespace auspex::cli
