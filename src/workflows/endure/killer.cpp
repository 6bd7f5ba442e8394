/// @file Draws, a clock of exposure, kill(2).
#include "workflows/endure/killer.hpp"

#include <cmath>
#include <csignal>
#include <optional>
#include <utility>

namespace auspex::workflows {

using Kind = launch::RunEvent::Kind;

Strike KillDraws::operator()() {
    Strike strike;
    strike.after_s = -mean_s_ * std::log1p(-rng_.uniform());
    strike.rank = static_cast<int>(rng_.below(static_cast<std::uint64_t>(ranks_)));
    return strike;
}

void KillClock::take(const launch::RunEvent& event) {
    const bool begins = event.kind == Kind::kStep && !has_begun_;
    if (begins || (event.kind == Kind::kStarted && has_begun_ && !is_running_)) {
        has_begun_ = is_running_ = true;
        since_s_ = event.at_s;
    }
    if (event.kind == Kind::kLaunched) {
        steps_ = 0;
    } else if (event.kind == Kind::kStep) {
        ++steps_;
    }
}

void KillClock::stop(double now_s) {
    before_s_ = exposed_s(now_s);
    is_running_ = false;
}

Killer::Killer(std::string checkpoints, int steps, std::function<Strike()> draw, int most)
    : checkpoints_(std::move(checkpoints)), steps_(steps), most_(most), draw_(std::move(draw)), next_(draw_()) {
    due_s_ = next_.after_s;
}

void Killer::follow() {
    if (!journal_.is_open()) {
        if (const auto folder = launch::run_folder_in(checkpoints_)) {
            journal_.open(*folder);
        }
    }
    for (const launch::RunEvent& event : journal_.take()) {
        clock_.take(event);
        is_over_ = is_over_ || (event.kind == Kind::kSaved && event.number == steps_);
        events_.push_back(event);
    }
}

void Killer::poll() {
    follow();
    const double now_s = launch::monotonic_s();
    if (is_over_ || static_cast<int>(kills_.size()) >= most_ || !clock_.is_running() ||
        clock_.exposed_s(now_s) < due_s_ || clock_.steps() < next_.after_steps) {
        return;
    }
    const auto folder = launch::run_folder_in(checkpoints_);
    const auto status = folder ? folder->status(next_.rank) : std::nullopt;
    const double at_s = launch::monotonic_s();
    if (!status || kill(status->process, SIGKILL) != 0) {
        return;  // not yet there
    }
    clock_.stop(at_s);
    kills_.push_back({at_s, clock_.exposed_s(at_s), next_.rank});
    next_ = draw_();
    due_s_ = kills_.back().exposed_s + next_.after_s;
}

}  // namespace auspex::workflows
