/// @file What ended a launch, and launches one after another.
#include "launch/train/supervise.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>

#include "base/error.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/slots.hpp"

namespace auspex::launch {
namespace {

std::string list_of(const std::vector<int>& numbers) {
    std::string list;
    for (const int number : numbers) {
        list += (list.empty() ? "" : ",") + std::to_string(number);
    }
    return list;
}

/// The same flags again, to go on from the checkpoint; an injected fault strikes once.
std::vector<std::string> arguments_of_relaunch(const std::vector<std::string>& arguments) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--inject") {
            ++i;
        } else if (!arguments[i].starts_with("--inject=") && arguments[i] != "--resume") {
            kept.push_back(arguments[i]);
        }
    }
    kept.emplace_back("--resume");
    return kept;
}

bool is_success(const LaunchOutcome& outcome, const RunFolder& folder) {
    return folder.is_done() || (outcome.exit_code == 0 && !outcome.hung);
}

/// A relaunch would end the same way.
bool is_final(const LaunchOutcome& outcome) { return outcome.interrupted_by != 0 || !outcome.error.empty(); }

/// "rank 2", "ranks 1,2"
std::string name_of(const std::vector<int>& ranks) { return (ranks.size() == 1 ? "rank " : "ranks ") + list_of(ranks); }

/// A failure that the program may bring about by itself, in the same step each time.
bool may_be_the_program(const RankFailure& failure) {
    return failure.is_not_finite || failure.signal == SIGILL || failure.signal == SIGSEGV ||
           failure.signal == SIGABRT || failure.signal == SIGFPE || failure.signal == SIGBUS;
}

bool is_same(const RankFailure& a, const RankFailure& b) {
    return a.step == b.step && a.is_not_finite == b.is_not_finite && a.signal == b.signal;
}

/// " on slots 0,1", and where ranks could not be found.
std::string slot_text(const std::vector<int>& slots) {
    if (slots.empty()) {
        return "";
    }
    if (std::find(slots.begin(), slots.end(), -1) != slots.end()) {
        return " on a host that no line of --hostfile names";
    }
    return (slots.size() == 1 ? " on slot " : " on slots ") + list_of(slots);
}

/// What happened, where and when.
std::string description_of(const RankFailure& failure, const std::vector<int>& slots) {
    const bool begun = failure.step >= 0;
    const std::string when = begun ? "in step " + std::to_string(failure.step) : "before the first step";
    return failure.reason + slot_text(slots) + (slots.empty() ? " (" + when + ")" : " " + when);
}

/// Why a failure that came before is not met with another slot.
std::string verdict_on(const RankFailure& failure) {
    const std::string step = failure.step < 0 ? "the start" : "step " + std::to_string(failure.step);
    return "; " + step + " fails on whatever slots: " +
           (failure.is_not_finite
                ? "the run diverges there; lower the learning rate or start from an earlier checkpoint"
                : "the program fails there, not the slots");
}

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

/// The slots that are no longer trusted.
std::vector<int> slots_to_leave_out(const Slots& slots, const std::vector<int>& failed) {
    std::vector<int> bad = failed;
    std::erase(bad, -1);
    const bool is_several = bad.size() > 1;
    return is_several && !slots.are_enough_without(static_cast<int>(bad.size())) ? std::vector<int>{} : bad;
}

}  // namespace

RankFailure failure_of(const LaunchOutcome& outcome, const RunFolder& folder) {
    RankFailure failure;
    const auto soft = folder.take_soft_failure();
    if (outcome.hung) {
        failure.reason = "a rank hung";
        if (outcome.hung_rank) {
            failure.ranks = {*outcome.hung_rank};
            failure.reason = name_of(failure.ranks) + " hung";
        }
    } else if (soft) {
        failure.ranks = soft->ranks;
        failure.is_not_finite = true;
        failure.reason = soft->ranks.empty() ? "loss or gradients are not finite"
                                             : name_of(soft->ranks) + " had a loss or gradients that are not finite";
    } else if (outcome.killed_rank) {
        failure.ranks = {*outcome.killed_rank};
        failure.signal = outcome.kill_signal;
        failure.reason = name_of(failure.ranks) + " died (signal " + std::to_string(outcome.kill_signal) + ")";
    } else if (!outcome.failure.empty()) {
        failure.reason = outcome.failure;
    } else {
        failure.reason = "mpirun ended with exit code " + std::to_string(outcome.exit_code);
    }
    const int rank = failure.ranks.empty() ? 0 : failure.ranks.front();
    failure.step = failure.is_not_finite ? soft->step : folder.status(rank).value_or(RankStatus{}).step;
    return failure;
}

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
    constexpr int kRestarts = 3;
    constexpr double kHangTimeout = 600;
    const int most = request.max_restarts.value_or(kRestarts);
    Slots slots(request.hostfile, first.ranks, request.buffer_ranks);
    Launch launch = first;
    launch.hang_timeout_s = request.hang_timeout_s > 0 ? request.hang_timeout_s : kHangTimeout;
    std::vector<RankFailure> failures;
    for (int restarts = 0;; ++restarts) {
        launch.hostfile = slots.hostfile(folder);
        const LaunchOutcome outcome = run_under_mpirun(launch, folder);
        if (is_success(outcome, folder) || is_final(outcome)) {
            report_failure(outcome, folder, "; --resume goes on from the last checkpoint");
            return;
        }
        const RankFailure failure = failure_of(outcome, folder);
        const std::vector<int> failed = slots.slots_of(failure.ranks, folder);
        const std::string what = description_of(failure, failed);
        const auto is_it = [&](const RankFailure& before) { return is_same(before, failure); };
        if (may_be_the_program(failure) && std::any_of(failures.begin(), failures.end(), is_it)) {
            throw std::runtime_error(what + verdict_on(failure));
        }
        failures.push_back(failure);
        if (restarts == most) {
            throw std::runtime_error(what + "; given up after " + std::to_string(most) + " restarts (--max-restarts)");
        }
        const std::vector<int> bad = slots_to_leave_out(slots, failed);
        if (!slots.are_enough_without(static_cast<int>(bad.size()))) {
            throw std::runtime_error(what + "; fewer healthy slots are left than the " + std::to_string(first.ranks) +
                                     " that the run needs (--buffer-ranks)");
        }
        for (const int slot : bad) {
            slots.leave_out(slot);
        }
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
