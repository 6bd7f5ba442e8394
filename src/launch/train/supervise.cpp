/// @file What ended a launch, and launches one after another.
#include "launch/train/supervise.hpp"

#include <algorithm>
#include <iostream>

#include "base/error.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/restart_rules.hpp"
#include "launch/train/run_journal.hpp"
#include "launch/train/slots.hpp"

namespace auspex::launch {
namespace {

/// Waits for ranks of the last launch on other hosts, then finds where the next one begins.
int step_to_go_on_from(const TrainRequest& request, const TrainSetup& setup, const std::string& what) {
    try {
        constexpr std::chrono::seconds kPatience{30};
        OutputLocks nobody_writes(request.command_line);
        nobody_writes.take_folder("--checkpoint", setup.options.checkpoint_folder, kWriterLock, kPatience);
        return std::max(0, step_of_checkpoint(setup));
    } catch (const InputError& error) {
        throw std::runtime_error(what + "; it cannot go on: " + error.what());
    }
}

}  // namespace

void report_failure(const LaunchOutcome& outcome, const RunFolder& folder, const std::string& advice) {
    if (is_success(outcome, folder) && outcome.is_output_lost) {
        throw std::runtime_error("the output could not be written");
    }
    if (is_success(outcome, folder)) {
        return;
    }
    if (!outcome.error.empty()) {
        const std::size_t colon = outcome.error.find(": ");
        throw InputError(outcome.error.substr(0, colon),
                         colon == std::string::npos ? "" : outcome.error.substr(colon + 2));
    }
    if (outcome.interrupted_by != 0) {
        throw std::runtime_error("ended by signal " + std::to_string(outcome.interrupted_by) + advice);
    }
    const RankFailure failure = failure_of(outcome, folder);
    if (failure.ranks.empty() && outcome.failure.empty()) {
        for (const std::string& line : outcome.other_lines) {
            std::cerr << line << "\n";
        }
    }
    const std::string step = failure.step < 0 ? "" : " in step " + std::to_string(failure.step);
    throw std::runtime_error(failure.reason + (failure.reason == outcome.failure ? "" : step) + advice);
}

int step_of_checkpoint(const TrainSetup& setup) {
    if (setup.options.checkpoint_folder.empty()) {
        return -1;
    }
    std::vector<std::string> notes;
    const exec::CheckpointInfo info = newest_checkpoint(setup.options.checkpoint_folder, setup.run, notes);
    return info.folder.empty() ? -1 : info.step;
}

void supervise(const TrainRequest& request, const TrainSetup& setup, const Launch& first, const RunFolder& folder) {
    RestartRules rules(request.max_restarts.value_or(kDefaultMaxRestarts), first.ranks);
    Slots slots(request.hostfile, first.ranks, request.buffer_ranks);
    Launch launch = first;
    const RunJournal journal(folder);
    launch.hang_timeout_s = request.hang_timeout_s > 0 ? request.hang_timeout_s : kDefaultHangTimeout_s;
    for (;;) {
        launch.hostfile = slots.hostfile(folder);
        journal.note(RunEvent::Kind::kLaunched);
        const LaunchOutcome outcome = run_under_mpirun(launch, folder);
        journal.note(RunEvent::Kind::kEnded);
        if (is_success(outcome, folder) || is_final(outcome)) {
            report_failure(outcome, folder, "; --resume goes on from the last checkpoint");
            return;
        }
        const RankFailure failure = failure_of(outcome, folder);
        const std::vector<int> failed = slots.slots_of(failure.ranks, folder);
        const std::vector<int> bad = rules.slots_to_leave_out(failure, failed, slots);
        for (const int slot : bad) {
            slots.leave_out(slot);
        }
        const std::string what = description_of(failure, failed);
        const int from = step_to_go_on_from(request, setup, what);
        const Restart restart{failure.reason,
                              failure.ranks.empty() ? -1 : failure.ranks.front(),
                              bad.empty() ? -1 : bad.front(),
                              failure.step,
                              from,
                              slots.used()};
        folder.append_restart(restart);
        std::cerr << "auspex: " << what << "; relaunching on slots " << list_of(restart.slots) << " from step "
                  << restart.from_step << std::endl;
        launch.arguments = arguments_of_relaunch(launch.arguments);
    }
}

}  // namespace auspex::launch
