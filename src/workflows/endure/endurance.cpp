/// @file Turns of settings between calibrations, then a row for each.
#include "workflows/endure/endurance.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/number_text.hpp"
#include "campaign/failure_clocks.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/cores.hpp"
#include "launch/train/child_run.hpp"
#include "workflows/endure/calibration.hpp"
#include "workflows/endure/forecast.hpp"

namespace auspex::workflows {
namespace {

/// Kills that a run is planned for, where there are enough in all; a turn is a run of each setting.
constexpr double kKillsOfRun = 4.5;
constexpr int kSamples = 1000;
/// Streams of kills, apart from those of the campaigns that are to predict them.
constexpr std::uint64_t kKillStream = 2'000'000;

/// What the runs of one setting have shown.
struct Measured {
    EndureSetting setting;
    std::vector<EndureRun> runs;
    double wall_s = 0, recovery_s = 0;  ///< recovery: sum over kills
    int kills = 0;
    std::int64_t lost_steps = 0;
    std::vector<std::vector<double>> losses;
    std::string error;
};

class Endurance {
 public:
    Endurance(const EndureRequest& request, const EndureWatch& watch)
        : request_(request),
          watch_(watch),
          session_(request),
          calibration_(session_, request.ranks, std::clamp(request.kills / 2, 32, 96), request.seed) {
        for (const double mtbf_s : request.mtbfs_s) {
            for (const int every : request.intervals) {
                settings_.emplace_back().setting = {every, mtbf_s};
            }
        }
        const double all = static_cast<double>(request.kills) / static_cast<double>(settings_.size());
        turns_ = std::max(static_cast<int>(std::lround(all / kKillsOfRun)), 1);
        kills_of_run_ = std::max(all / turns_, 1.0);
    }

    report::EnduranceReport run() {
        require_first_step();
        before_ = calibrate();
        for (int turn = 0; turn < turns_ || (kills_ < request_.kills && turn < kMostTurns * turns_); ++turn) {
            for (Measured& one : settings_) {
                measure(one, turn);
            }
        }
        alone_ = watch_run_alone(session_, most_steps_, 0).result.losses();
        count_run();
        return report();
    }

 private:
    static constexpr int kMostTurns = 3, kNoEnd = 1'000'000;

    /// What keeps every run from its first step would be relaunched without end.
    void require_first_step() {
        launch::TrainRequest first = session_.run_of(1, 0);
        first.is_supervised = false;
        first.checkpoint.clear();
        first.buffer_ranks = 0;
        first.max_restarts.reset();
        const launch::TrainResult done = launch::run_training(first, session_.scratch());
        if (!done.error.empty()) {
            throw std::runtime_error("a run of one step failed: " + session_.without_scratch(done.error));
        }
    }

    void count_run() {
        ++done_;
        watch_.progress(done_, std::max(done_, 2 * settings_.size() * static_cast<std::size_t>(turns_) + 2));
    }

    PieceSamples calibrate() {
        PieceSamples samples = calibration_.run();
        count_run();
        return samples;
    }

    /// Its length is planned with the pieces before it, its prediction made of those before and behind it.
    void measure(Measured& to, int turn) {
        const auto at = static_cast<std::uint64_t>(&to - settings_.data());
        KillDraws draws(to.setting.mtbf_s, request_.ranks,
                        campaign::stream_of(request_.seed, at, kKillStream + static_cast<std::uint64_t>(turn)));
        const int steps = steps_for_kills(to.setting, pieces_of(before_), kills_of_run_);
        most_steps_ = std::max(most_steps_, steps);
        const WatchedRun run = watch_run(session_, steps, to.setting.every, draws, kNoEnd);
        count_run();
        PieceSamples behind = calibrate(), beside = std::exchange(before_, behind);
        add(beside, behind);
        if (!run.result.error.empty()) {
            to.error = run.result.error;
            watch_.line("FAILED: " + to.error);
            return;
        }
        take(to, run, {steps, pieces_of(beside), {}, plain_step_s(run.course)});
    }

    void take(Measured& to, const WatchedRun& run, EndureRun predicted) {
        const double wall_s = run.course.over_s - run.course.begun_s;
        const auto kills = static_cast<int>(run.kills.size());
        to.wall_s += wall_s;
        to.recovery_s += mean_recovery_s(run.course) * kills;
        to.kills += kills, kills_ += kills;
        to.lost_steps += run.course.lost_steps;
        to.losses.push_back(run.result.losses());
        for (const Kill& kill : run.kills) {
            predicted.kills_s.push_back(kill.exposed_s);
        }
        predicted.kills_s.push_back(run.next_s);
        const Pieces& pieces = predicted.pieces;
        watch_.line("every " + counted(to.setting.every, "step") + ", a kill each " + duration(to.setting.mtbf_s) +
                    ": " + counted(predicted.steps, "step") + " in " + duration(wall_s) + " with " +
                    counted(kills, "kill") + "; beside it: step " + duration(pieces.step.mean_s) + ", checkpoint " +
                    duration(pieces.stall.mean_s) + ", kill to process " + duration(pieces.dead_s()) + ", to steps " +
                    duration(pieces.rise_s()) + "; in it: step " + duration(predicted.own_step_s) + ", lost steps " +
                    thousands(static_cast<double>(run.course.lost_steps)));
        const std::span<const EndureRun> one(&predicted, 1);
        const Forecast again = replayed(to.setting, one);
        watch_.line("  the same kills played: " + duration(again.all_s) + " with " + counted(again.kills, "kill") +
                    ", lost steps " + thousands(again.lost_steps));
        to.runs.push_back(std::move(predicted));
    }

    /// Bit by bit.
    [[nodiscard]] bool are_equal(const std::vector<double>& losses, int steps) const {
        return static_cast<int>(losses.size()) == steps && losses.size() <= alone_.size() &&
               std::equal(losses.begin(), losses.end(), alone_.begin());
    }

    [[nodiscard]] report::EnduranceRow row_of(const Measured& one) const {
        report::EnduranceRow row;
        row.every = one.setting.every, row.mtbf_s = one.setting.mtbf_s;
        row.runs = static_cast<int>(one.runs.size()), row.error = one.error;
        if (one.runs.empty()) {
            return row;
        }
        row.losses_equal = true;
        for (std::size_t run = 0; run < one.runs.size(); ++run) {
            row.steps += one.runs[run].steps;
            row.step_s += one.runs[run].pieces.step.mean_s / row.runs,
                row.own_step_s += one.runs[run].own_step_s / row.runs;
            row.losses_equal = row.losses_equal && are_equal(one.losses[run], one.runs[run].steps);
        }
        row.kills = one.kills;
        row.measured = {own_work_s(one.runs) / one.wall_s, one.wall_s, static_cast<double>(one.lost_steps),
                        one.kills > 0 ? one.recovery_s / one.kills : 0};
        const Forecast mean = forecast(one.setting, one.runs, kSamples, request_.seed);
        const Forecast again = replayed(one.setting, one.runs);
        row.predicted = {mean.goodput, mean.all_s, mean.lost_steps, mean.recovery_s};
        row.p10 = mean.p10, row.p90 = mean.p90, row.predicted_kills = mean.kills;
        row.replayed = {again.goodput, again.all_s, again.lost_steps, again.recovery_s};
        row.closed_form = closed_form_goodput(one.setting, one.runs);
        return row;
    }

    [[nodiscard]] report::EnduranceReport report() const {
        const Pieces pieces = pieces_of(calibration_.all());
        report::EnduranceReport report;
        report.command = request_.command_line, report.workload = request_.workload,
        report.folder = launch::temporary_folder(), report.ranks = request_.ranks;
        report.computer =
            exec::this_computer().model + ", " + counted(static_cast<double>(exec::allowed_cores().size()), "core");
        report.seed = request_.seed, report.calibrations = calibration_.runs();
        const auto piece = [&](const char* key, const char* meaning, const Timing& timing) {
            report.pieces.push_back({key, meaning, timing.mean_s, timing.error_s, timing.count});
        };
        piece("step", "from the begin of a step to the next, without a checkpoint", pieces.step);
        piece("stall", "what a checkpoint adds to that, and to the step after it", pieces.stall);
        piece("begin", "from the command to the first step, and what the first steps take longer", pieces.begin);
        piece("end", "from the last checkpoint to the end of the command", pieces.end);
        piece("detection", "from a kill until mpirun and all ranks are gone", pieces.detection);
        piece("relaunch", "until mpirun is started again", pieces.relaunch);
        piece("start", "until the processes of ranks are there", pieces.start);
        piece("initialise", "until the first step, without a checkpoint", pieces.initialise);
        piece("load", "what that takes longer with a checkpoint", pieces.load);
        piece("warm_up", "what the first steps after a launch take longer than others", pieces.warm_up);
        for (const Measured& one : settings_) {
            report.rows.push_back(row_of(one));
        }
        for (const double mtbf_s : request_.mtbfs_s) {
            report.best.push_back(best_of(report.rows, mtbf_s, best_interval_steps(pieces, mtbf_s)));
        }
        return report;
    }
    const EndureRequest& request_;
    const EndureWatch& watch_;
    EndureSession session_;
    EndureCalibration calibration_;
    std::vector<Measured> settings_;
    PieceSamples before_;        ///< of the last calibration
    std::vector<double> alone_;  ///< losses of a run that nothing happened to
    int turns_ = 1, kills_ = 0, most_steps_ = 1;
    double kills_of_run_ = 1;
    std::size_t done_ = 0;
};

}  // namespace

report::EnduranceReport endure(const EndureRequest& request, const EndureWatch& watch) {
    return Endurance(request, watch).run();
}

}  // namespace auspex::workflows
