/// @file Parts, launches, probes.
#include "workflows/calibrate/measure.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/cores.hpp"
#include "launch/child_process.hpp"
#include "launch/mpirun.hpp"
#include "launch/new_folder.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/child_run.hpp"
#include "microbench/probe.hpp"
#include "models/core_speed.hpp"
#include "report/parts/text.hpp"
#include "workflows/calibrate/calibration_file.hpp"
#include "workflows/calibrate/conditions.hpp"
#include "workflows/calibrate/parts.hpp"
#include "workflows/calibrate/ticker.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Short ones, for a neighbour's work comes and goes.
constexpr double kProbe_s = 0.05;
constexpr int kProbes = 10;
/// A slow probe, the 90th percentile, against a fast one, the 10th: from there on there is a warning.
constexpr double kSlow = 0.9, kSteady = 1.15;
/// A part is measured again as long as all of it stays within this many times the budget.
constexpr double kPatience = 1.35;
/// Where the measurements are that a failure leaves.
std::string kept_text(const CalibrateRequest& request, const CalibrationFile& file) {
    if (!file.has_timings()) {
        return "; nothing was measured yet";
    }
    return "; what was measured is in " + file.name() + ", and the same command" +
           (request.is_fresh ? " without --fresh" : "") + " goes on from there";
}

class Measurer {
 public:
    Measurer(const CalibrateRequest& request, const models::Stack& stack, const CalibrationFile& file,
             const launch::NewFolder& scratch)
        : request_(request), stack_(stack), file_(file), scratch_(scratch) {}

    std::vector<std::string> run(const Conditions& now) {
        const bool is_same_build = file_.agree_on(now);
        std::vector<CalibrationPart> parts = parts_of(request_);
        const std::set<std::string> names = names_of(parts);
        if (!is_same_build) {
            return go_without_measuring(names, now);
        }
        file_.drop_slowed(names);
        const std::set<std::string> done = file_.parts_done();
        std::erase_if(parts, [&](const CalibrationPart& part) { return done.contains(part.name); });
        kept_probe_s_ = file_.fastest_probe_s();
        if (parts.empty() && kept_probe_s_ > 0) {
            return {};
        }
        launch::require_mpirun();
        for (const CalibrationPart& part : parts) {
            left_s_ += part.seconds();
        }
        patience_s_ = kPatience * left_s_;
        warn_of_budget();
        if (probe() > 0) {
            warnings_.emplace_back("something else ran on this machine before calibration began");
        }
        keep_probe();
        for (const CalibrationPart& part : parts) {
            left_s_ -= part.seconds();
            measure(part);
        }
        measure_slowed();
        keep_probe();
        warn_of_speeds();
        return std::move(warnings_);
    }

 private:
    /// With less than a second a share trials are as short as they get, and their results scatter.
    void warn_of_budget() const {
        const double least_s = seconds_of(shares_of_budget(request_));
        if (request_.budget_s > 0 && request_.budget_s < least_s) {
            const int ranks = request_.max_ranks;
            std::cerr << "auspex: note: --budget-s " << thousands(request_.budget_s) << " is short for "
                      << counted(ranks, "rank") << ": below about " << thousands(least_s)
                      << " s it takes longer than asked, and fits may be poor or fail"
                      << (ranks > 2 ? "; fewer --max-ranks need less" : "") << std::endl;
        }
    }

    /// Rows of two builds do not mix: a complete file of another one is taken as it is.
    [[nodiscard]] std::vector<std::string> go_without_measuring(const std::set<std::string>& parts,
                                                                const Conditions& now) const {
        const std::set<std::string> done = file_.parts_done();
        if (!std::ranges::includes(done, parts) || file_.fastest_probe_s() <= 0) {
            file_.refuse_build(now);
        }
        std::vector<std::string> warnings{
            "all measurements are of another build of auspex-mpi: --fresh measures again"};
        if (!file_.slowed_rows(parts).empty()) {
            warnings.emplace_back(
                "some of them were taken while cores were slower than at best; they stay, and count as they would at "
                "full speed");
        }
        return warnings;
    }

    /// Of the cores' time what others have if the machine is disturbed, more often than not; else 0.
    double probe() {
        int disturbed = 0;
        double taken = 0;
        for (int i = 0; i < kProbes; ++i) {
            require_no_signal(request_);
            const std::vector<microbench::ProbeReading> readings = microbench::probe_cores(kProbe_s);
            for (const microbench::ProbeReading& reading : readings) {
                probes_.push_back(reading.seconds);
            }
            disturbed += is_disturbed(readings, full_speed_probe_s()) ? 1 : 0;
            taken += taken_share(readings, full_speed_probe_s()) / kProbes;
        }
        return disturbed > kProbes / 2 ? taken : 0;
    }

    [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    /// Again and again what was measured on slowed cores, while there is time.
    void measure_slowed() {
        constexpr double kStart_s = 5, kRowMargin = 2;  // of a launch; rows that are slow again take longer
        const std::vector<CalibrationPart> all = parts_of(request_);
        for (std::map<std::string, int> slowed; !(slowed = file_.slowed_rows(names_of(all))).empty();) {
            double wanted_s = 0;
            std::vector<CalibrationPart> parts = all;
            std::erase_if(parts, [&](const CalibrationPart& part) { return !slowed.contains(part.name); });
            for (CalibrationPart& part : parts) {
                const double rows = std::max(1.0, static_cast<double>(file_.rows_of_part(part.name)));
                const double share = std::min(1.0, kRowMargin * slowed[part.name] / rows);
                part.task.kernels_s *= share, part.task.sharing_s *= share, part.task.messages_s *= share;
                wanted_s += kStart_s + part.seconds();
            }
            if (elapsed_s() + wanted_s > patience_s_) {
                int rows = 0;
                for (const auto& [name, count] : slowed) {
                    rows += count;
                }
                warnings_.push_back(counted(rows, "measurement") +
                                    " were taken while cores were slower than at best (a neighbour of this virtual "
                                    "machine, or the clock) and count as they would at full speed: the same command "
                                    "measures these again");
                return;
            }
            file_.drop_slowed(names_of(parts));
            for (const CalibrationPart& part : parts) {
                measure(part);
            }
        }
    }

    void measure(const CalibrationPart& part) {
        const auto size = fs::file_size(file_.name());
        double background = launch(part);
        if (background > 0 && elapsed_s() + part.seconds() + left_s_ < patience_s_) {
            std::cerr << "auspex: note: something else ran meanwhile: " << part.name << " measured again" << std::endl;
            fs::resize_file(file_.name(), size);
            background = launch(part);
        }
        if (background > 0) {
            warnings_.push_back(part.name + ": something else ran meanwhile (" + percent(background) +
                                " of the cores' time), what was measured may be slow; --fresh measures again");
            keep_background(background);
        }
        file_.end_part(part.name);
        keep_probe();
    }

    /// For the machine file, of this run or a later one.
    void keep_background(double share) const {
        models::Measurement row;
        row.kind = "host";
        row.name = "background";
        row.active = static_cast<int>(exec::allowed_cores().size());
        row.seconds = share;
        row.source = models::own_source();
        file_.append(row);
    }

    /// Of the cores' time what others had meanwhile, if it was enough to disturb; else 0.
    double launch(const CalibrationPart& part) {
        launch::Launch launch;
        MeasureTask task = part.task;
        task.undisturbed_probe_s = models::kUndisturbedProbe * full_speed_probe_s();
        launch.arguments = arguments_of(task);
        launch.ranks = part.ranks;
        launch.waits_by_yielding = stack_.waits_by_yielding;
        launch.hostfile = request_.hostfile;
        launch.mpirun_flags = request_.mpirun_flags;
        const microbench::CoreClock before = microbench::core_clock();
        launch::LaunchOutcome outcome;
        {
            const CalibrateTicker ticker(part.name, part.seconds(), left_s_, file_.name());
            outcome = run_under_mpirun(launch, launch::RunFolder(scratch_.path()));
        }
        const microbench::CoreClock after = microbench::core_clock();
        require_success(outcome);
        const double seen = had_background_load(before, after) ? background_share(before, after) : 0;
        return std::min(1.0, std::max(seen, probe()));
    }

    void require_success(const launch::LaunchOutcome& outcome) const {
        if (outcome.interrupted_by != 0) {
            throw launch::Interrupted(outcome.interrupted_by, "interrupted" + kept_text(request_, file_));
        }
        if (!outcome.error.empty()) {
            throw InputError("calibrate", outcome.error);
        }
        if (outcome.exit_code != 0) {
            throw std::runtime_error((outcome.failure.empty()
                                          ? "mpirun ended with " + std::to_string(outcome.exit_code) + ": " +
                                                launch::last_lines(outcome.other_lines)
                                          : outcome.failure) +
                                     kept_text(request_, file_));
        }
    }

    /// The tenth part of this command's probes that is fastest: a few are faster still, by luck.
    [[nodiscard]] double session_probe_s() const { return quantile(probes_, 1 - kSlow); }
    /// What full speed is, as far as it is known: the fastest that a session of the file has had so far.
    [[nodiscard]] double full_speed_probe_s() const {
        return kept_probe_s_ > 0 ? std::min(kept_probe_s_, session_probe_s()) : session_probe_s();
    }

    /// It is kept as soon as it is known, for a session that is broken off; a faster one joins it, and what was taken
    /// at full speed until then may be slowed from then on.
    void keep_probe() {
        if (kept_probe_s_ > 0 && session_probe_s() >= kept_probe_s_) {
            return;
        }
        kept_probe_s_ = session_probe_s();
        models::Measurement row;
        row.kind = "host";
        row.name = "probe";
        row.active = static_cast<int>(exec::allowed_cores().size());
        row.seconds = kept_probe_s_;
        row.spread = relative_spread(probes_);
        row.count = static_cast<int>(probes_.size());
        row.source = models::own_source();
        file_.append(row);
    }

    void warn_of_speeds() {
        const double fastest = full_speed_probe_s(), slow = quantile(probes_, kSlow);
        if (slow > kSteady * fastest) {
            warnings_.push_back("the cores changed their speed meanwhile: a tenth of the time the same work took " +
                                percent(slow / fastest - 1) +
                                " longer than at best. A neighbour of this virtual machine, or the clock");
        }
    }

    const CalibrateRequest& request_;
    const models::Stack& stack_;
    const CalibrationFile& file_;
    const launch::NewFolder& scratch_;
    Clock::time_point begin_ = Clock::now();
    double left_s_ = 0, patience_s_ = 0;
    double kept_probe_s_ = 0;  ///< the fastest of the file; 0: it has none
    std::vector<double> probes_;
    std::vector<std::string> warnings_;
};

void note(const std::string& text) { std::cerr << "auspex: note: " << text << std::endl; }

/// Makes the file one to measure into. Returns the name under which --fresh has set the old one aside, or nothing.
std::string prepare(const CalibrateRequest& request, const CalibrationFile& file, const Conditions& now) {
    if (request.is_fresh) {
        const std::string before = file.begin_anew(now);
        if (!before.empty()) {
            note("what was in " + file.name() + " is in " + before);
        }
        return before;
    }
    const LastLine last = file.take(now, exec::this_computer().model);
    if (last == LastLine::kDropped) {
        note("the last line of " + file.name() + " was cut off and is dropped");
    }
    return "";
}

}  // namespace

void require_no_signal(const CalibrateRequest& request) {
    if (const int signal = launch::caught_signal(); signal != 0) {
        throw launch::Interrupted(signal, "interrupted" + kept_text(request, CalibrationFile(request.measurements)));
    }
}

CalibrationRows measure_machine(const CalibrateRequest& request, const models::Stack& stack) {
    const std::string& file = request.measurements;
    const Conditions now = conditions_now(request, stack);
    const launch::NewFolder scratch(launch::temporary_folder(), launch::kRunFolderPrefix);
    if (request.is_fresh) {
        launch::require_mpirun();
    }
    launch::OutputLocks locks(request.command_line);
    locks.take_file(file, file);
    const CalibrationFile measurements(file);
    const std::string before = prepare(request, measurements, now);
    CalibrationRows result;
    try {
        result.warnings = Measurer(request, stack, measurements, scratch).run(now);
        require_no_signal(request);
    } catch (...) {
        if (!before.empty() && !measurements.has_timings()) {
            measurements.put_back(before);
            note(file + " is as it was");
        }
        throw;
    }
    std::ranges::copy(microbench::notes_of_surroundings(), std::back_inserter(result.warnings));
    result.rows = models::load_measurements(file);
    return result;
}

}  // namespace auspex::workflows
