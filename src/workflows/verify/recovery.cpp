/// @file Kills from outside and from inside, resumed runs, damaged files.
#include "workflows/verify/recovery.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>

#include "base/rng.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "launch/run_folder.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/text.hpp"
#include "workflows/verify/differences.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kOtherChecks = 3;
/// Of the mean loss of the first steps after a start from weights alone, before the new warm-up makes a difference.
constexpr double kAllowedFresh = 0.05;

/// Four ranks, with messages between stages and experts on several ranks.
VerifyLayout interrupted_layout() {
    VerifyLayout layout;
    layout.ep = layout.pp = 2;
    layout.optimizer = "ep-aware";
    return layout;
}

VerifyLayout other_layout() {
    VerifyLayout layout;
    layout.dp = layout.tp = 2;
    return layout;
}

/// Where and when an outside kill strikes.
struct Strike {
    int rank = 0, step = 0;
    double after_s = 0;          ///< the rank began the step
    bool in_checkpoint = false;  ///< as soon as a checkpoint is being written after that
};

/// Watches a supervised run, and strikes once.
class Killer {
 public:
    Killer(std::string checkpoints, const Strike& strike) : checkpoints_(std::move(checkpoints)), strike_(strike) {}

    void poll() {
        if (done_) {
            return;
        }
        const auto status = status_of_victim();
        if (!status || status->step < strike_.step) {
            return;
        }
        began_ = began_.value_or(Clock::now());
        const double waited_s = std::chrono::duration<double>(Clock::now() - *began_).count();
        if (strike_.in_checkpoint ? is_writing() : waited_s >= strike_.after_s) {
            done_ = kill(status->process, SIGKILL) == 0;
        }
    }

 private:
    [[nodiscard]] std::optional<launch::RankStatus> status_of_victim() const {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(checkpoints_, error)) {
            if (entry.path().filename().string().starts_with(launch::kRunFolderPrefix)) {
                return launch::RunFolder(entry.path().string()).status(strike_.rank);
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] bool is_writing() const {
        std::error_code error;
        for (const char* const name : {"checkpoint-0", "checkpoint-1"}) {
            const fs::path folder = fs::path(checkpoints_) / name;
            if (fs::is_directory(folder, error) && !fs::exists(folder / exec::kManifestName, error)) {
                return true;
            }
        }
        return false;
    }

    std::string checkpoints_;
    Strike strike_;
    std::optional<Clock::time_point> began_;
    bool done_ = false;
};

class Recovery {
 public:
    explicit Recovery(const VerifySession& session)
        : session_(session),
          steps_(std::clamp(session.steps(), report::kMinRecoverySteps, report::kMaxRecoverySteps)),
          every_(std::max(2, steps_ / 8)),
          half_(std::max(2 * every_, steps_ / 2 / every_ * every_)) {}

    /// Runs that nothing happens to, whole and up to the middle.
    void prepare() {
        learned_ = run("the run left alone", run_of(interrupted_layout(), kLearnedRouting, steps_));
        forced_ = run("the run left alone", run_of(interrupted_layout(), kForcedRouting, steps_));
        launch::TrainRequest half = saving(run_of(interrupted_layout(), kLearnedRouting, half_), "half");
        half.model_every = half_;
        static_cast<void>(run("the first half of a run", half));
        static_cast<void>(
            run("the first half of a run", saving(run_of(interrupted_layout(), kForcedRouting, half_), "half-forced")));
        std::vector<double> times_s = learned_.by_step(&exec::StepReport::step_time_s);
        const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
        std::nth_element(times_s.begin(), middle, times_s.end());
        step_time_s_ = *middle;
    }

    [[nodiscard]] report::RecoveryCheck check_kill(int number) {
        constexpr int kWays = 4;
        switch (number % kWays) {
            case 0: return kill_outside(number, false);
            case 1: return kill_outside(number, true);
            case 2: return kill_inside(number, "kill", rng_.below(static_cast<std::uint64_t>(steps_ - 1)) + 1);
            default: return kill_inside(number, "kill-checkpoint", last_step_before_checkpoint());
        }
    }

    [[nodiscard]] report::RecoveryCheck check_other_grid() {
        report::RecoveryCheck check;
        check.what = "resumed after step " + std::to_string(half_) + ": " + interrupted_layout().grid() +
                     " goes on as " + other_layout().grid();
        launch::TrainRequest rest = saving(run_of(other_layout(), kForcedRouting, steps_), "half-forced");
        rest.resumes = true;
        const launch::TrainResult resumed = run_training(rest, session_.scratch());
        if (!is_whole(resumed, half_, check)) {
            return check;
        }
        const double difference = largest_difference(resumed.losses(), tail(forced_, half_));
        check.passed = difference <= report::kAllowedForced;
        check.result = "losses differ by " + report::difference_text(difference) +
                       " from the run left alone (allowed: " + report::difference_text(report::kAllowedForced) + ")";
        return check;
    }

    [[nodiscard]] report::RecoveryCheck check_fresh_optimizer() {
        report::RecoveryCheck check;
        check.what = "begun from the weights after step " + std::to_string(half_) + " alone, optimizer states new";
        launch::TrainRequest begun = run_of(interrupted_layout(), kLearnedRouting, every_);
        begun.weights = session_.scratch() + "/half/model-" + std::to_string(half_) + ".safetensors";
        const launch::TrainResult fresh = run_training(begun, session_.scratch());
        if (!is_whole(fresh, 0, check, every_)) {
            return check;
        }
        const auto mean = [](std::span<const double> losses) {
            return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
        };
        const std::vector<double> left_alone = tail(learned_, half_);
        const double found = mean(fresh.losses());
        const double expected = mean(std::span(left_alone).first(static_cast<std::size_t>(every_)));
        check.passed = std::abs(found / expected - 1) <= kAllowedFresh;
        check.result = "mean loss of the first " + counted(every_, "step") + " " + fixed(found, 4) +
                       ", of the run left alone at that point " + fixed(expected, 4) +
                       ", on other batches (allowed: " + percent(kAllowedFresh, 0) + " apart); at the very beginning " +
                       fixed(learned_.steps.front().loss, 4);
        return check;
    }

    [[nodiscard]] report::RecoveryCheck check_damage() {
        report::RecoveryCheck check;
        check.what = "resumed with a byte flipped in the checkpoint after step " + std::to_string(half_);
        flip_newest();
        launch::TrainRequest rest = saving(run_of(interrupted_layout(), kLearnedRouting, steps_), "half");
        rest.resumes = true;
        const launch::TrainResult resumed = run_training(rest, session_.scratch());
        const int older = half_ - every_;
        if (!is_whole(resumed, older, check)) {
            return check;
        }
        check.passed = resumed.losses() == tail(learned_, older);
        check.result = "the one after step " + std::to_string(older) + " was used; losses " + same(check.passed);
        return check;
    }

 private:
    static std::string same(bool passed) {
        return passed ? "equal those of the run left alone, bit for bit" : "differ from those of the run left alone";
    }
    static std::vector<double> tail(const launch::TrainResult& run, int from) {
        const std::vector<double> losses = run.losses();
        return {losses.begin() + from, losses.end()};
    }

    [[nodiscard]] launch::TrainRequest run_of(const VerifyLayout& layout, const char* routing, int steps) const {
        return session_.run_of(layout, routing, steps, true);
    }
    [[nodiscard]] launch::TrainRequest saving(launch::TrainRequest wanted, const std::string& folder) const {
        wanted.checkpoint = session_.scratch() + "/" + folder;
        wanted.checkpoint_every = every_;
        return wanted;
    }
    [[nodiscard]] launch::TrainResult run(const std::string& what, const launch::TrainRequest& wanted) const {
        launch::TrainResult done = run_training(wanted, session_.scratch());
        if (!done.error.empty()) {
            throw std::runtime_error(what + ": " + done.error);
        }
        return done;
    }

    /// It ended, began where it should and lacks no step; else says so in the check.
    [[nodiscard]] bool is_whole(const launch::TrainResult& run, int first, report::RecoveryCheck& check,
                                int steps = 0) const {
        const auto expected = static_cast<std::size_t>((steps > 0 ? steps : steps_) - first);
        if (!run.error.empty()) {
            check.result = "failed: " + session_.without_scratch(run.error);
        } else if (run.first_step != first || run.steps.size() != expected) {
            check.result = "found " + counted(static_cast<double>(run.steps.size()), "step") + " from step " +
                           std::to_string(run.first_step) + "; expected " + std::to_string(expected) + " from step " +
                           std::to_string(first);
        }
        return check.result.empty();
    }

    [[nodiscard]] int random_rank() {
        return static_cast<int>(rng_.below(static_cast<std::uint64_t>(interrupted_layout().ranks())));
    }
    /// A step, not the run's last one, that a checkpoint follows.
    [[nodiscard]] std::uint64_t last_step_before_checkpoint() {
        const auto checkpoints = static_cast<std::uint64_t>((steps_ - 1) / every_);
        return (rng_.below(checkpoints) + 1) * static_cast<std::uint64_t>(every_) - 1;
    }
    [[nodiscard]] launch::TrainRequest supervised(const std::string& folder) const {
        launch::TrainRequest wanted = saving(run_of(interrupted_layout(), kLearnedRouting, steps_), folder);
        wanted.is_supervised = true;
        wanted.buffer_ranks = 1;
        return wanted;
    }

    report::RecoveryCheck kill_outside(int number, bool in_checkpoint) {
        Strike strike;
        strike.rank = random_rank();
        strike.in_checkpoint = in_checkpoint;
        strike.step = static_cast<int>(in_checkpoint ? last_step_before_checkpoint()
                                                     : rng_.below(static_cast<std::uint64_t>(steps_ - 1)));
        strike.after_s = rng_.uniform() * step_time_s_;
        const std::string folder = "killed-" + std::to_string(number);
        Killer killer(session_.scratch() + "/" + folder, strike);
        const launch::TrainResult run = run_training(supervised(folder), session_.scratch(), [&] { killer.poll(); });
        return judge(run, "kill -9 of rank " + std::to_string(strike.rank) + " " +
                              (in_checkpoint ? "while a checkpoint was written, in or after step "
                                             : duration(strike.after_s) + " into step ") +
                              std::to_string(strike.step));
    }

    report::RecoveryCheck kill_inside(int number, const std::string& how, std::uint64_t step) {
        launch::TrainRequest wanted = supervised("killed-" + std::to_string(number));
        const int rank = random_rank();
        wanted.fault = how + ":rank=" + std::to_string(rank) + ",step=" + std::to_string(step);
        return judge(run_training(wanted, session_.scratch()), "--inject " + wanted.fault);
    }

    [[nodiscard]] report::RecoveryCheck judge(const launch::TrainResult& run, const std::string& what) const {
        report::RecoveryCheck check;
        check.what = what;
        if (!is_whole(run, 0, check)) {
            return check;
        }
        const bool is_same = run.losses() == learned_.losses();
        check.passed = is_same && !run.restarts.empty();
        check.result = (!run.restarts.empty() ? counted(static_cast<double>(run.restarts.size()), "restart")
                                              : std::string("not noticed")) +
                       "; losses " + same(is_same);
        return check;
    }

    void flip_newest() const {
        const fs::path folder = session_.scratch() + "/half";
        const auto step_of = [&](const char* name) {
            return exec::load_manifest((folder / name / exec::kManifestName).string()).step;
        };
        const char* const newest = step_of("checkpoint-0") > step_of("checkpoint-1") ? "checkpoint-0" : "checkpoint-1";
        const fs::path part = folder / newest / "part-00000.bin";
        std::fstream file(part, std::ios::binary | std::ios::in | std::ios::out);
        const auto middle = static_cast<std::streamoff>(fs::file_size(part) / 2);
        file.seekg(middle);
        const int byte = file.get();
        file.seekp(middle);
        file.put(static_cast<char>(byte ^ 1));
        file.close();
        if (!file) {
            throw std::runtime_error("a checkpoint's part could not be changed");
        }
    }

    const VerifySession& session_;
    int steps_, every_, half_;
    Rng rng_{1};
    launch::TrainResult learned_, forced_;
    double step_time_s_ = 0;
};

}  // namespace

std::size_t recovery_count(int kills) { return kills > 0 ? static_cast<std::size_t>(kills + kOtherChecks) : 0; }

void check_recovery(const VerifySession& session, int kills,
                    const std::function<void(report::RecoveryCheck)>& on_check) {
    Recovery recovery(session);
    recovery.prepare();
    for (int i = 0; i < kills; ++i) {
        on_check(recovery.check_kill(i));
    }
    on_check(recovery.check_other_grid());
    on_check(recovery.check_fresh_optimizer());
    on_check(recovery.check_damage());
}

}  // namespace auspex::workflows
