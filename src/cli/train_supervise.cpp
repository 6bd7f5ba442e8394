/// @file Slots, their health, and launches one after another.
#include "cli/train_supervise.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <numeric>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "exec/checkpoint.hpp"

namespace auspex {
namespace {

std::string list_of(const std::vector<int>& numbers) {
    std::string list;
    for (const int number : numbers) {
        list += (list.empty() ? "" : ",") + std::to_string(number);
    }
    return list;
}

/// The hosts of a hostfile, one slot a line.
std::vector<std::string> hosts_of(const std::string& file) {
    std::vector<std::string> hosts;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        if (const std::size_t slots = line.find("slots=");
            slots != std::string::npos && line.substr(slots + 6).find_first_not_of("1 \t\r") != std::string::npos) {
            throw InputError("--hostfile " + file,
                             "found \"" + printable(line) + "\"; expected a line for every slot, without \"slots=\"");
        }
        hosts.push_back(line);
    }
    return hosts;
}

class Slots {
 public:
    Slots(const Options& options, int ranks) : ranks_(ranks) {
        const std::string& file = options.train.hostfile;
        const int wanted = ranks + options.train.buffer_ranks;
        if (!file.empty()) {
            hosts_ = hosts_of(file);
            if (static_cast<int>(hosts_.size()) < wanted) {
                throw InputError("--hostfile " + file, "found " + std::to_string(hosts_.size()) +
                                                           " lines; expected at least " + std::to_string(wanted) +
                                                           ": ranks and buffer ranks");
            }
        }
        healthy_.resize(static_cast<std::size_t>(hosts_.empty() ? wanted : static_cast<int>(hosts_.size())));
        std::iota(healthy_.begin(), healthy_.end(), 0);
    }

    [[nodiscard]] bool are_enough() const { return static_cast<int>(healthy_.size()) >= ranks_; }
    /// Of the ranks, in order.
    [[nodiscard]] std::vector<int> used() const { return {healthy_.begin(), healthy_.begin() + ranks_}; }
    void leave_out(int slot) { std::erase(healthy_, slot); }

    /// The hostfile of the slots in use, or "" without hosts.
    [[nodiscard]] std::string hostfile(const RunFolder& folder) const {
        if (hosts_.empty()) {
            return "";
        }
        const std::string file = folder.path() + "/hosts";
        std::ofstream out(file);
        for (const int slot : used()) {
            out << hosts_[static_cast<std::size_t>(slot)] << "\n";
        }
        return file;
    }

 private:
    int ranks_;
    std::vector<int> healthy_;
    std::vector<std::string> hosts_;
};

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

bool is_success(const LaunchOutcome& outcome) { return outcome.exit_code == 0 && !outcome.hung; }

/// A relaunch would end the same way.
bool is_final(const LaunchOutcome& outcome) { return outcome.interrupted_by != 0 || !outcome.error.empty(); }

}  // namespace

RankFailure failure_of(const LaunchOutcome& outcome, const RunFolder& folder) {
    RankFailure failure;
    if (outcome.hung) {
        failure.rank = outcome.hung_rank.value_or(-1);
        failure.reason = failure.rank < 0 ? "a rank hung" : "rank " + std::to_string(failure.rank) + " hung";
    } else if (const std::vector<int> unhealthy = folder.take_soft_failure(); !unhealthy.empty()) {
        failure.rank = unhealthy.front();
        failure.reason = "rank " + std::to_string(failure.rank) + " had a loss or gradients that are not finite";
    } else if (outcome.killed_rank) {
        failure.rank = *outcome.killed_rank;
        failure.reason =
            "rank " + std::to_string(failure.rank) + " died (signal " + std::to_string(outcome.kill_signal) + ")";
    } else if (!outcome.failure.empty()) {
        failure.reason = outcome.failure;
    } else {
        failure.reason = "mpirun ended with exit code " + std::to_string(outcome.exit_code);
    }
    failure.step = folder.status(std::max(0, failure.rank)).value_or(RankStatus{}).step;
    return failure;
}

void report_failure(const LaunchOutcome& outcome, const RunFolder& folder, const std::string& advice) {
    if (is_success(outcome)) {
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
    if (failure.rank < 0 && outcome.failure.empty()) {
        for (const std::string& line : outcome.other_lines) {
            std::cerr << line << "\n";
        }
    }
    const std::string step = failure.step < 0 ? "" : " in step " + std::to_string(failure.step);
    throw std::runtime_error((outcome.failure.empty() || failure.rank >= 0 ? failure.reason + step : failure.reason) +
                             advice);
}

int step_of_checkpoint(const TrainSetup& setup) {
    if (setup.options.checkpoint_folder.empty()) {
        return -1;
    }
    std::vector<std::string> notes;
    const CheckpointInfo info = newest_checkpoint(setup.options.checkpoint_folder, setup.run, notes);
    return info.folder.empty() ? -1 : info.step;
}

void supervise(const Options& options, const TrainSetup& setup, const Launch& first, const RunFolder& folder) {
    constexpr int kRestarts = 3;
    constexpr double kHangTimeout = 600;
    const int most = options.train.max_restarts.value_or(kRestarts);
    Slots slots(options, first.ranks);
    Launch launch = first;
    launch.hang_timeout_s = options.train.hang_timeout_s > 0 ? options.train.hang_timeout_s : kHangTimeout;
    for (int restarts = 0;; ++restarts) {
        launch.hostfile = slots.hostfile(folder);
        const LaunchOutcome outcome = run_under_mpirun(launch, folder);
        if (is_success(outcome) || is_final(outcome)) {
            report_failure(outcome, folder, "; --resume goes on from the last checkpoint");
            return;
        }
        const RankFailure failure = failure_of(outcome, folder);
        const std::vector<int> used = slots.used();
        Restart restart{failure.reason, failure.rank, -1, failure.step, std::max(0, step_of_checkpoint(setup)), {}};
        std::string what = failure.reason;
        if (failure.rank >= 0) {
            restart.slot = used[static_cast<std::size_t>(failure.rank)];
            slots.leave_out(restart.slot);
            what += " on slot " + std::to_string(restart.slot);
        }
        what += failure.step < 0 ? " before its first step" : " in step " + std::to_string(failure.step);
        if (restarts == most) {
            throw std::runtime_error(what + "; given up after " + std::to_string(most) + " restarts (--max-restarts)");
        }
        if (!slots.are_enough()) {
            throw std::runtime_error(what + "; fewer healthy slots are left than the " + std::to_string(first.ranks) +
                                     " that the run needs (--buffer-ranks)");
        }
        restart.slots = slots.used();
        folder.append_restart(restart);
        std::cerr << "auspex: " << what << "; relaunching on slots " << list_of(restart.slots) << " from step "
                  << restart.from_step << std::endl;
        launch.arguments = arguments_of_relaunch(launch.arguments);
    }
}

}  // namespace auspex
