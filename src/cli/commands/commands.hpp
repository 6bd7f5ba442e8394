#pragma once
/// @file The sub-commands. Each reads its inputs, calls the layers below and prints; what goes wrong is thrown.
#include "cli/flags/options.hpp"

namespace auspex::cli {

/// All of them, in the order in which help lists them.
[[nodiscard]] const std::vector<Command>& commands();

/// Runs one of them. Throws what it throws; an InputError of a file names the flags that changed it, too.
void run_command(const Command& command, const Options& options);

// Each runs the command of its name, for commands(). Throws InputError for bad input.
void run_completion_bash(const Options& options);
void run_completion_fish(const Options& options);
void run_completion_names(const Options& options);
void run_completion_zsh(const Options& options);
void run_manual(const Options& options);
void run_version(const Options& options);
void run_data_blend(const Options& options);
void run_data_export_megatron(const Options& options);
void run_data_prepare(const Options& options);
void run_data_show(const Options& options);
void run_calibrate(const Options& options);
/// Of `auspex calibrate --cases`.
void run_calibrate_cases(const Options& options);
void run_campaign(const Options& options);
void run_collective(const Options& options);
/// Of `auspex collective --against`.
void run_collective_against(const Options& options);
void run_compare(const Options& options);
void run_describe(const Options& options);
void run_diff(const Options& options);
/// Of `auspex diff PLAN TRACE`.
void run_diff_trace(const Options& given);
void run_emit(const Options& options);
void run_scenario(const Options& options);
void run_list(const Options& options);
void run_import_chakra(const Options& options);
void run_import_deepspeed(const Options& options);
void run_import_hf(const Options& options);
void run_import_megatron(const Options& options);
void run_import_nccl_tests(const Options& options);
void run_import_optimus(const Options& options);
void run_import_osu(const Options& options);
void run_import_torchtitan(const Options& options);
void run_explore(const Options& options);
void run_fabric(const Options& options);
void run_plan(const Options& options);
void run_memory(const Options& options);
/// Of `auspex plan --against`.
void run_plan_against(const Options& options);
void run_place(const Options& options);
void run_predict(const Options& options);
void run_scale(const Options& options);
void run_schedule(const Options& options);
void run_ablate(const Options& options);
void run_program(const Options& options);
void run_startup(const Options& options);
void run_train(const Options& options);
void run_validate(const Options& options);
void run_verify(const Options& options);
void run_endure(const Options& options);

}  // namespace auspex::cli
