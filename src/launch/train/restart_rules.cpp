/// @file Words for failures, and the failures before.
#include "launch/train/restart_rules.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>

namespace auspex::launch {
namespace {

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

/// Why a failure that came before is not met with another slot.
std::string verdict_on(const RankFailure& failure) {
    const std::string step = failure.step < 0 ? "the start" : "step " + std::to_string(failure.step);
    return "; " + step + " fails on whatever slots: " +
           (failure.is_not_finite
                ? "the run diverges there; lower the learning rate or start from an earlier checkpoint"
                : "the program fails there, not the slots");
}

}  // namespace

std::string list_of(const std::vector<int>& numbers) {
    std::string list;
    for (const int number : numbers) {
        list += (list.empty() ? "" : ",") + std::to_string(number);
    }
    return list;
}

std::string description_of(const RankFailure& failure, const std::vector<int>& slots) {
    const bool begun = failure.step >= 0;
    const std::string when = begun ? "in step " + std::to_string(failure.step) : "before the first step";
    return failure.reason + slot_text(slots) + (slots.empty() ? " (" + when + ")" : " " + when);
}

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

bool is_final(const LaunchOutcome& outcome) { return outcome.interrupted_by != 0 || !outcome.error.empty(); }

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

std::vector<int> RestartRules::slots_to_leave_out(const RankFailure& failure, const std::vector<int>& failed,
                                                  const Slots& slots) {
    const std::string what = description_of(failure, failed);
    const auto is_it = [&](const RankFailure& before) { return is_same(before, failure); };
    if (may_be_the_program(failure) && std::any_of(failures_.begin(), failures_.end(), is_it)) {
        throw std::runtime_error(what + verdict_on(failure));
    }
    if (static_cast<int>(failures_.size()) == max_restarts_) {
        throw std::runtime_error(what + "; given up after " + std::to_string(max_restarts_) +
                                 " restarts (--max-restarts)");
    }
    failures_.push_back(failure);
    std::vector<int> bad = failed;
    std::erase(bad, -1);
    if (bad.size() > 1 && !slots.are_enough_without(static_cast<int>(bad.size()))) {
        bad.clear();
    }
    if (!slots.are_enough_without(static_cast<int>(bad.size()))) {
        throw std::runtime_error(what + "; fewer healthy slots are left than the " + std::to_string(ranks_) +
                                 " that the run needs (--buffer-ranks)");
    }
    return bad;
}

}  // namespace auspex::launch
