#pragma once
/// @file From --machine, --stack, --workload, --plan, --set and --tiles to loaded inputs.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/flags/options.hpp"
#include "report/scaling/scaling_report.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {

/// The overrides as sentences show them: "plan.pp = 4".
[[nodiscard]] std::vector<std::string> overrides_in_words(const Options& options);

/// The error, with the --set of the file that it blames named beside it, and with --tiles where those decide.
[[nodiscard]] InputError with_command_line_context(const Options& options, const InputError& error);

/// With one --tiles and no `--set plan.dp` the tiles rule: the file's dp is dropped and follows from them.
void forget_dp(const Options& options, models::Plan& plan);
/// What --stack may be on a machine, for messages: the stacks whose library of communication is for its maker's GPUs,
/// or whose constants are of such GPUs, "one for GPUs of NVIDIA: megatron-core, … or pytorch-fsdp (auspex list stacks
/// has all)"; on CPU cores those with a section of processes.
[[nodiscard]] std::string stack_wish(const models::Machine& machine);
/// Fills in the spread of published runs with stack and machine (machines/published/spread.json, if it is there); no
/// machine with a host section has one.
void add_published_spread(models::Inputs& inputs);
/// All four inputs, overridden, with forget_dp and the spread.
[[nodiscard]] models::Inputs load_all(const Options& options);
/// Role, name and SHA-256 of machine, stack, workload and plan, in this order.
[[nodiscard]] std::vector<report::InputFile> files_of(const models::Inputs& inputs);

}  // namespace auspex::cli
