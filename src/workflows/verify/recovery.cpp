/// @file Kills from outside and from inside, resumed runs, damaged files.
#include "workflows/verify/recovery.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "base/rng.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "launch/run_folder.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/text.hpp"
#include "workflows/verify/recovery_judgement.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kOtherChecks = 3;
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
struct InjectedKill {
    int rank = 0, step = 0;
    double after_s = 0;          ///< the rank began the step
    bool in_checkpoint = false;  ///< as soon as a checkpoint is being written after that
};

/// Watches a supervised run, and strikes once.
class Killer {
 public:
    Killer(std::string checkpoints, const InjectedKill& wanted) : checkpoints_(std::move(checkpoints)), kill_(wanted) {}

    void poll() {
        if (done_) {
            return;
        }
        const auto status = status_of_victim();
        if (!status || status->step < kill_.step) {
            return;
        }
        began_ = began_.value_or(Clock::now());
        const double waited_s = std::chrono::duration<double>(Clock::now() - *began_).count();
        if (kill_.in_checkpoint ? is_writing() : waited_s >= kill_.after_s) {
            done_ = kill(status->process, SIGKILL) == 0;
        }
    }

 private:
    [[nodiscard]] std::optional<launch::RankStatus> status_of_victim() const {
        const auto folder = launch::run_folder_in(checkpoints_);
        return folder ? folder->status(kill_.rank) : std::nullopt;
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
    InjectedKill kill_;
    std::optional<Clock::time_point> began_;
    bool done_ = false;
};

class Recovery {
 public:
    explicit Recovery(const VerifySession& session) : session_(session), plan_(session.steps()) {}

    /// Runs that nothing happens to, whole and up to the middle.
    void prepare() {
        learned_ = run("the run left alone", run_of(interrupted_layout(), kLearnedRouting, plan_.steps));
        forced_ = run("the run left alone", run_of(interrupted_layout(), kForcedRouting, plan_.steps));
        launch::TrainRequest half = saving(run_of(interrupted_layout(), kLearnedRouting, plan_.half), "half");
        half.model_every = plan_.half;
        static_cast<void>(run("the first half of a run", half));
        static_cast<void>(run("the first half of a run",
                              saving(run_of(interrupted_layout(), kForcedRouting, plan_.half), "half-forced")));
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
            case 2: return kill_inside(number, "kill", rng_.below(static_cast<std::uint64_t>(plan_.steps - 1)) + 1);
            default: return kill_inside(number, "kill-checkpoint", last_step_before_checkpoint());
        }
    }

    [[nodiscard]] report::RecoveryCheck check_other_grid() {
        const std::string what = "resumed after step " + std::to_string(plan_.half) + ": " +
                                 interrupted_layout().grid() + " goes on as " + other_layout().grid();
        launch::TrainRequest rest = saving(run_of(other_layout(), kForcedRouting, plan_.steps), "half-forced");
        rest.resumes = true;
        return judge_moved(what, run_case(rest), forced_.losses(), {plan_.half, plan_.steps});
    }

    [[nodiscard]] report::RecoveryCheck check_fresh_optimizer() {
        const std::string what =
            "begun from the weights after step " + std::to_string(plan_.half) + " alone, optimizer states new";
        launch::TrainRequest begun = run_of(interrupted_layout(), kLearnedRouting, plan_.every);
        begun.weights = session_.scratch() + "/half/model-" + std::to_string(plan_.half) + ".safetensors";
        return judge_begun(what, run_case(begun), learned_.losses(), plan_.half, plan_.every);
    }

    [[nodiscard]] report::RecoveryCheck check_damage() {
        const std::string what =
            "resumed with a byte flipped in the checkpoint after step " + std::to_string(plan_.half);
        flip_newest();
        launch::TrainRequest rest = saving(run_of(interrupted_layout(), kLearnedRouting, plan_.steps), "half");
        rest.resumes = true;
        return judge_damaged(what, run_case(rest), learned_.losses(), {plan_.half - plan_.every, plan_.steps});
    }

 private:
    [[nodiscard]] launch::TrainRequest run_of(const VerifyLayout& layout, const char* routing, int steps) const {
        return session_.run_of(layout, routing, steps, true);
    }
    [[nodiscard]] launch::TrainRequest saving(launch::TrainRequest wanted, const std::string& folder) const {
        wanted.checkpoint = session_.scratch() + "/" + folder;
        wanted.checkpoint_every = plan_.every;
        return wanted;
    }
    [[nodiscard]] launch::TrainResult run(const std::string& what, const launch::TrainRequest& wanted) const {
        launch::TrainResult done = run_training(wanted, session_.scratch());
        require_whole(done, wanted.steps, what);
        return done;
    }

    /// One whose failure is a finding.
    [[nodiscard]] launch::TrainResult run_case(const launch::TrainRequest& wanted,
                                               const std::function<void()>& meanwhile = {}) const {
        launch::TrainResult done = run_training(wanted, session_.scratch(), meanwhile);
        done.error = session_.without_scratch(done.error);
        return done;
    }

    [[nodiscard]] int random_rank() {
        return static_cast<int>(rng_.below(static_cast<std::uint64_t>(interrupted_layout().ranks())));
    }
    /// A step, not the run's last one, that a checkpoint follows.
    [[nodiscard]] std::uint64_t last_step_before_checkpoint() {
        const auto checkpoints = static_cast<std::uint64_t>((plan_.steps - 1) / plan_.every);
        return (rng_.below(checkpoints) + 1) * static_cast<std::uint64_t>(plan_.every) - 1;
    }
    [[nodiscard]] launch::TrainRequest supervised(const std::string& folder) const {
        launch::TrainRequest wanted = saving(run_of(interrupted_layout(), kLearnedRouting, plan_.steps), folder);
        wanted.is_supervised = true;
        wanted.buffer_ranks = 1;
        return wanted;
    }

    report::RecoveryCheck kill_outside(int number, bool in_checkpoint) {
        InjectedKill wanted;
        wanted.rank = random_rank();
        wanted.in_checkpoint = in_checkpoint;
        wanted.step = static_cast<int>(in_checkpoint ? last_step_before_checkpoint()
                                                     : rng_.below(static_cast<std::uint64_t>(plan_.steps - 1)));
        wanted.after_s = rng_.uniform() * step_time_s_;
        const std::string folder = "killed-" + std::to_string(number);
        Killer killer(session_.scratch() + "/" + folder, wanted);
        const launch::TrainResult run = run_case(supervised(folder), [&] { killer.poll(); });
        return judge_killed("kill -9 of rank " + std::to_string(wanted.rank) + " " +
                                (in_checkpoint ? "while a checkpoint was written, in or after step "
                                               : duration(wanted.after_s) + " into step ") +
                                std::to_string(wanted.step),
                            run, learned_.losses(), plan_.steps);
    }

    report::RecoveryCheck kill_inside(int number, const std::string& how, std::uint64_t step) {
        launch::TrainRequest wanted = supervised("killed-" + std::to_string(number));
        const int rank = random_rank();
        wanted.fault = how + ":rank=" + std::to_string(rank) + ",step=" + std::to_string(step);
        return judge_killed("--inject " + wanted.fault, run_case(wanted), learned_.losses(), plan_.steps);
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
    RecoveryPlan plan_;
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
