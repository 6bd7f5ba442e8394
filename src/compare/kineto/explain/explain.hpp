#pragma once
/// @file The constants with which a prediction would have given what was measured.
#include <vector>

#include "compare/kineto/account/ranks.hpp"
#include "compare/kineto/account/run_diff.hpp"
#include "compare/kineto/explain/changed_inputs.hpp"
#include "models/inputs.hpp"

namespace auspex::kineto {

/// Rates of kernels, from slots that ran as as many kernels as the stack file has (0.5 to 1.5 times; products: whole):
/// stack.kernels.gemm_efficiency from products bound by FLOP, the efficiency of the attention kernel in use, and
/// machine.tile.memory_efficiency from kernels bound by bytes. A value that the file does not allow goes to the rate
/// behind it (gemm_bf16, hbm_bandwidth), but never beyond what is specified (peak_bf16, hbm_bandwidth). Operations that
/// take less time than their bytes do at a specified hbm_bandwidth are noted and left out. Where measured over
/// predicted spreads by more than 100 % no constant is given.
void explain_kernels(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                     const schedule::Program& program);

/// What the host takes: machine.tile.kernel_launch from gaps between kernels of which the second was launched before
/// the first had ended, stack.kernels.issue from passes in which the device waits for the host for a fifth of the time
/// and more, stack.kernels.step_host from what the device waits for behind its last kernel.
void explain_host(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                  const predict::SimulatedStep& step);

/// Of links and transport, by kind of collective and of group: the constant that its predicted time leans on most, and
/// where sizes differ fourfold and more a rate and a time. Found by costing the program again.
void explain_messages(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Inputs& inputs,
                      const predict::SimulatedStep& step);

/// Fills step_alone_s and explained_s by predicting again: constants one by one, then all; of one that stands several
/// times the mean by measured time (geometric).
void replay_constants(RunDiff& diff, const models::Inputs& inputs, int tiles);

}  // namespace auspex::kineto
