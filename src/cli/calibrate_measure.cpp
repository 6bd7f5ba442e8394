/// @file Parts, launches, probes.
#include "cli/calibrate_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/quantiles.hpp"
#include "base/sha256.hpp"
#include "cli/blame_flag.hpp"
#include "cli/calibrate_ticker.hpp"
#include "cli/calibration_file.hpp"
#include "cli/child_process.hpp"
#include "cli/input_files.hpp"
#include "cli/installation.hpp"
#include "cli/measure_task.hpp"
#include "cli/new_folder.hpp"
#include "cli/output_locks.hpp"
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/run/core_probe.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/cores.hpp"
#include "microbench/probe.hpp"
#include "report/parts/text.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kRanks = 8;
/// Short ones, for a neighbour's work comes and goes.
constexpr double kProbe_s = 0.05;
constexpr int kProbes = 10;
/// A slow probe, the 90th percentile, against a fast one, the 10th: from there on there is a warning.
constexpr double kSlow = 0.9, kSteady = 1.15;
/// A part is measured again as long as all of it stays within this many times the budget.
constexpr double kPatience = 1.35;
struct Part {
    std::string name;
    int ranks = 1;
    MeasureTask task;
    [[nodiscard]] double seconds() const { return task.kernels_s + task.sharing_s + task.messages_s; }
};

/// Shares of the budget: kernels are many, messages between many ranks are slow.
constexpr double kKernelsOfPrecision = 24, kSharing = 4, kMessages = 8;

std::vector<int> rank_counts(int most) {
    std::set<int> counts{1, most};
    if (const int cores = static_cast<int>(allowed_cores().size()); cores < most) {
        counts.insert(cores);
    }
    for (int ranks = 2; ranks < most; ranks *= 2) {
        counts.insert(ranks);
    }
    return {counts.begin(), counts.end()};
}

std::vector<std::string> precisions_of(const Options& options) {
    std::vector<std::string> precisions;
    std::istringstream words(options.calibrate.precision.empty() ? "fp32,bf16" : options.calibrate.precision);
    for (std::string word; std::getline(words, word, ',');) {
        precisions.push_back(word);
    }
    return precisions;
}

/// Not yet scaled to the budget.
std::vector<Part> shares_of(const Options& options, const std::string& file) {
    std::vector<Part> parts;
    for (const int ranks : rank_counts(options.max_ranks > 0 ? options.max_ranks : kRanks)) {
        MeasureTask task{file, stack_of(options), ranks == 1, true, ranks > 1, 0, kSharing, 0, 0, {}};
        if (ranks == 1) {
            task.precisions = precisions_of(options);
            task.kernels_s = kKernelsOfPrecision * static_cast<double>(task.precisions.size());
        } else {
            task.messages_s = kMessages;
        }
        std::string name = counted(ranks, "rank");
        for (const std::string& precision : task.precisions) {
            name += ", " + precision;
        }
        parts.push_back({name, ranks, std::move(task)});
    }
    return parts;
}

double seconds_of(const std::vector<Part>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0,
                           [](double all, const Part& part) { return all + part.seconds(); });
}

std::vector<Part> parts_of(const Options& options, const std::string& file) {
    std::vector<Part> parts = shares_of(options, file);
    const double scale =
        (options.calibrate.budget_s > 0 ? options.calibrate.budget_s : kDefaultBudget_s) / seconds_of(parts);
    for (Part& part : parts) {
        part.task.kernels_s *= scale;
        part.task.sharing_s *= scale;
        part.task.messages_s *= scale;
    }
    return parts;
}

std::set<std::string> names_of(const std::vector<Part>& parts) {
    std::set<std::string> names;
    for (const Part& part : parts) {
        names.insert(part.name);
    }
    return names;
}

/// The first digits of a digest tell things apart.
std::string short_hash(const std::string& bytes) {
    constexpr std::size_t kDigits = 12;
    return sha256_hex(bytes).substr(0, kDigits);
}

/// Of `tools/netlab run`, which says in its environment where its network is described.
std::string netlab_settings() {
    const char* const hostfile = std::getenv("AUSPEX_NETLAB_HOSTFILE");
    const fs::path settings = fs::path(hostfile == nullptr ? "" : hostfile).parent_path() / "settings";
    std::error_code status;
    if (hostfile == nullptr || !fs::exists(settings, status)) {
        return hostfile == nullptr ? "none" : "unknown";
    }
    const std::string text = read_input_file(settings.string(), "the settings of tools/netlab");
    return text.substr(0, text.find('\n'));
}

std::string text_of_hosts(const std::string& hostfile) {
    return blame_flag("--hostfile", hostfile, [&] { return read_input_file(hostfile, "a list of hosts, one a line"); });
}

/// Where the measurements are that a failure leaves.
std::string kept_text(const Options& options, const CalibrationFile& file) {
    if (!file.has_timings()) {
        return "; nothing was measured yet";
    }
    return "; what was measured is in " + file.name() + ", and the same command" +
           (options.calibrate.fresh ? " without --fresh" : "") + " goes on from there";
}

/// Everything that rows of one file have in common beside the processor.
Conditions conditions_now(const Options& options, const Stack& stack) {
    const std::string& hostfile = options.train.hostfile;
    constexpr std::size_t kDigits = 12;
    Conditions now{{"cores", std::to_string(allowed_cores().size())},
                   {"stack", std::string(stack.waits_by_yielding ? "yields" : "spins") +
                                 (stack.binds_ranks ? ", bound, " : ", not bound, ") +
                                 short_hash(load_document("stack", stack_of(options), {}).dump())},
                   {"hosts", hostfile.empty() ? "none" : short_hash(text_of_hosts(hostfile))},
                   {"mpirun flags", options.train.mpirun.empty() ? "none" : options.train.mpirun},
                   {"netlab", netlab_settings()},
                   {kBuildCondition, sha256_of_file(mpi_program()).substr(0, kDigits)}};
    for (auto& [name, value] : now) {
        std::ranges::replace_if(
            value, [](char c) { return c == ';' || c == '=' || c == '\n'; }, '_');
    }
    return now;
}

class Measurer {
 public:
    Measurer(const Options& options, const Stack& stack, const CalibrationFile& file, const NewFolder& scratch)
        : options_(options), stack_(stack), file_(file), scratch_(scratch) {}

    std::vector<std::string> run(const Conditions& now) {
        const bool is_same_build = file_.agree_on(now);
        std::vector<Part> parts = parts_of(options_, file_.name());
        const std::set<std::string> names = names_of(parts);
        if (!is_same_build) {
            return go_without_measuring(names, now);
        }
        file_.drop_slowed(names);
        const std::set<std::string> done = file_.parts_done();
        std::erase_if(parts, [&](const Part& part) { return done.contains(part.name); });
        earlier_probe_s_ = file_.fastest_probe_s();
        if (parts.empty() && earlier_probe_s_ > 0) {
            return {};
        }
        require_mpirun();
        for (const Part& part : parts) {
            left_s_ += part.seconds();
        }
        patience_s_ = kPatience * left_s_;
        warn_of_budget();
        if (probe()) {
            warnings_.emplace_back("something else ran on this machine before calibration began");
        }
        keep_probe();
        for (const Part& part : parts) {
            left_s_ -= part.seconds();
            measure(part);
        }
        measure_slowed();
        keep_probe();
        warn_of_speeds();
        return std::move(warnings_);
    }

 private:
    /// With less than a second a share looks are the shortest there are, and what is measured scatters.
    void warn_of_budget() const {
        const double least_s = seconds_of(shares_of(options_, file_.name()));
        if (options_.calibrate.budget_s > 0 && options_.calibrate.budget_s < least_s) {
            const int ranks = options_.max_ranks > 0 ? options_.max_ranks : kRanks;
            std::cerr << "auspex: note: --budget-s " << thousands(options_.calibrate.budget_s) << " is short for "
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
            warnings.emplace_back("some of them were taken while cores were slower than at best, and stay");
        }
        return warnings;
    }

    /// True if the machine is disturbed, more often than not.
    bool probe() {
        int disturbed = 0;
        for (int i = 0; i < kProbes; ++i) {
            require_no_signal(options_, file_.name());
            const std::vector<ProbeReading> readings = probe_cores(kProbe_s);
            for (const ProbeReading& reading : readings) {
                probes_.push_back(reading.seconds);
            }
            disturbed += is_disturbed(readings, full_speed_probe_s()) ? 1 : 0;
        }
        return disturbed > kProbes / 2;
    }

    [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    /// Again and again what was measured on slowed cores, while there is time.
    void measure_slowed() {
        constexpr double kStart_s = 5, kRowMargin = 2;  // of a launch; rows that are slow again take longer
        const std::vector<Part> all = parts_of(options_, file_.name());
        for (std::map<std::string, int> slowed; !(slowed = file_.slowed_rows(names_of(all))).empty();) {
            double wanted_s = 0;
            std::vector<Part> parts = all;
            std::erase_if(parts, [&](const Part& part) { return !slowed.contains(part.name); });
            for (Part& part : parts) {
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
                                    "machine, or the clock): the same command measures these again");
                return;
            }
            file_.drop_slowed(names_of(parts));
            for (const Part& part : parts) {
                measure(part);
            }
        }
    }

    void measure(const Part& part) {
        const auto size = fs::file_size(file_.name());
        bool is_disturbed = launch(part);
        if (is_disturbed && elapsed_s() + part.seconds() + left_s_ < patience_s_) {
            std::cerr << "auspex: note: something else ran meanwhile: " << part.name << " measured again" << std::endl;
            fs::resize_file(file_.name(), size);
            is_disturbed = launch(part);
        }
        if (is_disturbed) {
            warnings_.push_back(part.name +
                                ": something else ran meanwhile, what was measured may be slow; "
                                "--fresh measures again");
        }
        file_.end_part(part.name);
        keep_probe();
    }

    /// True if something else ran meanwhile.
    bool launch(const Part& part) {
        Launch launch;
        MeasureTask task = part.task;
        task.calm_probe_s = kCalmProbe * full_speed_probe_s();
        launch.arguments = words_of(task);
        launch.ranks = part.ranks;
        launch.waits_by_yielding = stack_.waits_by_yielding;
        launch.hostfile = options_.train.hostfile;
        launch.mpirun_flags = options_.train.mpirun;
        const CoreClock before = core_clock();
        LaunchOutcome outcome;
        {
            const CalibrateTicker ticker(part.name, part.seconds(), left_s_, file_.name());
            outcome = run_under_mpirun(launch, RunFolder(scratch_.path()));
        }
        const bool were_others = had_others(before, core_clock());
        require_success(outcome);
        const bool is_slow = probe();
        return were_others || is_slow;
    }

    void require_success(const LaunchOutcome& outcome) const {
        if (outcome.interrupted_by != 0) {
            throw std::runtime_error("interrupted" + kept_text(options_, file_));
        }
        if (!outcome.error.empty()) {
            throw InputError("calibrate", outcome.error);
        }
        if (outcome.exit_code != 0) {
            throw std::runtime_error(
                (outcome.failure.empty()
                     ? "mpirun ended with " + std::to_string(outcome.exit_code) + ": " + last_lines(outcome.other_lines)
                     : outcome.failure) +
                kept_text(options_, file_));
        }
    }

    /// The tenth part of this command's probes that is fastest: a few are faster still, by luck.
    [[nodiscard]] double session_probe_s() const { return quantile(probes_, 1 - kSlow); }
    /// What full speed is: that of the fastest session of the file.
    [[nodiscard]] double full_speed_probe_s() const {
        return earlier_probe_s_ > 0 ? std::min(earlier_probe_s_, session_probe_s()) : session_probe_s();
    }

    /// What is measured at full speed counts: the probe that goes with it is that of full speed, too. It is kept as
    /// soon as it is known, for a session that is broken off; a faster one joins it.
    void keep_probe() {
        const double known = file_.fastest_probe_s();
        if (known > 0 && session_probe_s() >= known) {
            return;
        }
        Measurement row;
        row.kind = "host";
        row.name = "probe";
        row.active = static_cast<int>(allowed_cores().size());
        row.seconds = session_probe_s();
        row.spread = relative_spread(probes_);
        row.count = static_cast<int>(probes_.size());
        row.source = kThisMachine;
        file_.append(row);
    }

    void warn_of_speeds() {
        const double fastest = full_speed_probe_s(), slow = quantile(probes_, kSlow);
        if (slow > kSteady * fastest) {
            warnings_.push_back("the cores changed their speed meanwhile: a tenth of the time the same work took " +
                                percent(slow / fastest - 1) +
                                " longer than at best. A neighbour of this virtual machine, or the clock");
        }
        if (earlier_probe_s_ > kCalmProbe * fastest) {
            warnings_.push_back("what earlier sessions measured was taken on cores that were " +
                                percent(earlier_probe_s_ / fastest - 1) +
                                " slower than now: --fresh measures everything again");
        }
    }

    const Options& options_;
    const Stack& stack_;
    const CalibrationFile& file_;
    const NewFolder& scratch_;
    Clock::time_point begin_ = Clock::now();
    double left_s_ = 0, patience_s_ = 0;
    double earlier_probe_s_ = 0;  ///< full speed of the file's earlier sessions; 0: there were none
    std::vector<double> probes_;
    std::vector<std::string> warnings_;
};

void note(const std::string& text) { std::cerr << "auspex: note: " << text << std::endl; }

/// Makes the file one to measure into. Returns the name under which --fresh has set the old one aside, or nothing.
std::string prepare(const Options& options, const CalibrationFile& file, const Conditions& now) {
    if (options.calibrate.fresh) {
        const std::string before = file.begin_anew(now);
        if (!before.empty()) {
            note("what was in " + file.name() + " is in " + before);
        }
        return before;
    }
    const LastLine last = file.take(now, this_computer().model);
    if (last == LastLine::kDropped) {
        note("the last line of " + file.name() + " was cut off and is dropped");
    }
    return "";
}

}  // namespace

void require_no_signal(const Options& options, const std::string& file) {
    if (noted_signal() != 0) {
        throw std::runtime_error("interrupted" + kept_text(options, CalibrationFile(file)));
    }
}

CalibrationRows measure_machine(const Options& options, const Stack& stack, const std::string& file) {
    const Conditions now = conditions_now(options, stack);
    const NewFolder scratch(temporary_folder(), kRunFolderPrefix);
    if (options.calibrate.fresh) {
        require_mpirun();
    }
    OutputLocks locks(options.command_line);
    locks.take_file(file, file);
    const CalibrationFile measurements(file);
    const std::string before = prepare(options, measurements, now);
    CalibrationRows result;
    try {
        result.warnings = Measurer(options, stack, measurements, scratch).run(now);
        require_no_signal(options, file);
    } catch (...) {
        if (!before.empty() && !measurements.has_timings()) {
            measurements.put_back(before);
            note(file + " is as it was");
        }
        throw;
    }
    std::ranges::copy(notes_of_surroundings(), std::back_inserter(result.warnings));
    result.rows = load_measurements(file);
    return result;
}

}  // namespace auspex
