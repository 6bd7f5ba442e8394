/// @file Parts, launches, probes, the line on the terminal.
#include "cli/calibrate_measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/quantiles.hpp"
#include "cli/computer.hpp"
#include "cli/measure_task.hpp"
#include "cli/new_folder.hpp"
#include "cli/train_launch.hpp"
#include "cli/train_setup.hpp"
#include "compare/probe.hpp"
#include "exec/measure/core_probe.hpp"
#include "report/text.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kRanks = 8;
constexpr double kBudget_s = 210;
/// Short ones, for a neighbour's work comes and goes.
constexpr double kProbe_s = 0.05;
constexpr int kProbes = 10;
/// A slow probe, the 90th percentile, against a fast one, the 10th: from there on there is a warning.
constexpr double kSlow = 0.9, kSteady = 1.15;
/// A part is measured again as long as all of it stays within this many times the budget.
constexpr double kPatience = 1.35;
/// Comment line in the file behind the rows of a part.
constexpr std::string_view kDone = "# done: ";

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
    if (const int cores = static_cast<int>(std::thread::hardware_concurrency()); cores > 0 && cores < most) {
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

std::vector<Part> parts_of(const Options& options, const std::string& file) {
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
        name += options.train.hostfile.empty() ? "" : ", hosts of " + options.train.hostfile;
        parts.push_back({name, ranks, std::move(task)});
    }
    double all = 0;
    for (const Part& part : parts) {
        all += part.seconds();
    }
    const double scale = (options.calibrate.budget_s > 0 ? options.calibrate.budget_s : kBudget_s) / all;
    for (Part& part : parts) {
        part.task.kernels_s *= scale;
        part.task.sharing_s *= scale;
        part.task.messages_s *= scale;
    }
    return parts;
}

std::set<std::string> parts_done(const std::string& file) {
    std::set<std::string> done;
    std::istringstream lines(read_input_file(file));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kDone)) {
            done.insert(line.substr(kDone.size()));
        }
    }
    return done;
}

/// How many rows of each of these parts were measured on slowed cores; those of other parts are left alone.
std::map<std::string, int> slowed_rows(const std::string& file, const std::vector<Part>& parts) {
    const auto is_ours = [&parts](const std::string& name) {
        return std::any_of(parts.begin(), parts.end(), [&name](const Part& part) { return part.name == name; });
    };
    std::map<std::string, int> slowed;
    int rows = 0;
    std::istringstream lines(read_input_file(file));
    for (std::string line; std::getline(lines, line);) {
        rows += line.ends_with(kSlowed) ? 1 : 0;
        if (line.starts_with(kDone)) {
            const std::string name = line.substr(kDone.size());
            if (rows > 0 && is_ours(name)) {
                slowed[name] += rows;
            }
            rows = 0;
        }
    }
    return slowed;
}

/// Takes those rows away, and the ends of their parts: they will be measured again, and nothing else of them.
void drop_slowed(const std::string& file, const std::vector<Part>& parts) {
    const std::map<std::string, int> slowed = slowed_rows(file, parts);
    if (slowed.empty()) {
        return;
    }
    std::string kept, part;
    std::istringstream lines(read_input_file(file));
    for (std::string line; std::getline(lines, line);) {
        part += line + "\n";
        if (!line.starts_with(kDone)) {
            continue;
        }
        if (slowed.contains(line.substr(kDone.size()))) {
            std::istringstream rows(std::exchange(part, ""));
            for (std::string row; std::getline(rows, row);) {
                kept += row.ends_with(kSlowed) || row == line ? "" : row + "\n";
            }
        }
        kept += std::exchange(part, "");
    }
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << kept << part << std::flush;
    if (!stream) {
        throw std::runtime_error(file + " could not be written");
    }
}

void append_line(const std::string& file, const std::string& line) {
    std::ofstream stream(file, std::ios::binary | std::ios::app);
    stream << line << "\n" << std::flush;
    if (!stream) {
        throw std::runtime_error(file + " could not be written");
    }
}

/// "calibrating: 4 ranks, 512 measurements, about 70 s left", over and over, while it lives.
class Ticker {
 public:
    Ticker(const Part& part, const std::string& file, double later_s)
        : part_(part), file_(file), later_s_(later_s), on_terminal_(isatty(STDERR_FILENO) == 1) {
        if (on_terminal_) {
            thread_ = std::thread([this] { tick(); });
        } else {
            std::cerr << "auspex: calibrating: " << line() << std::endl;
        }
    }
    ~Ticker() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        over_.notify_all();
        if (thread_.joinable()) {
            thread_.join();
            std::cerr << "\r" << std::string(kWidth, ' ') << "\r" << std::flush;
        }
    }
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;

 private:
    static constexpr std::size_t kWidth = 78;

    [[nodiscard]] std::string line() const {
        const std::chrono::duration<double> elapsed = Clock::now() - begin_;
        const double left = later_s_ + std::max(0.0, part_.seconds() - elapsed.count());
        return part_.name + ", about " + thousands(left) + " s left";
    }
    [[nodiscard]] std::size_t rows() const {
        std::ifstream stream(file_);
        return static_cast<std::size_t>(
            std::count(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), '\n'));
    }
    void tick() {
        constexpr std::chrono::milliseconds kPause{500};
        std::unique_lock lock(mutex_);
        while (!over_.wait_for(lock, kPause, [this] { return is_over_; })) {
            std::string text = "calibrating: " + line() + "; " + counted(static_cast<double>(rows()), "line") + " in " +
                               fs::path(file_).filename().string();
            text.resize(kWidth, ' ');
            std::cerr << "\r" << text << std::flush;
        }
    }

    const Part& part_;
    const std::string& file_;
    double later_s_;
    bool on_terminal_;
    bool is_over_ = false;
    Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable over_;
    std::thread thread_;
};

class Measurer {
 public:
    Measurer(const Options& options, const Stack& stack, const std::string& file)
        : options_(options), stack_(stack), file_(file), scratch_(fs::temp_directory_path().string(), "auspex-run-") {}

    std::vector<std::string> run() {
        std::vector<Part> parts = parts_of(options_, file_);
        drop_slowed(file_, parts);
        const std::set<std::string> done = parts_done(file_);
        std::erase_if(parts, [&](const Part& part) { return done.contains(part.name); });
        const std::vector<Measurement> rows = load_measurements(file_);
        const bool has_probe =
            std::any_of(rows.begin(), rows.end(), [](const Measurement& row) { return row.name == "probe"; });
        if (parts.empty() && has_probe) {
            return {};
        }
        for (const Part& part : parts) {
            left_s_ += part.seconds();
        }
        patience_s_ = kPatience * left_s_;
        if (probe()) {
            warnings_.emplace_back("something else ran on this machine before calibration began");
        }
        for (const Part& part : parts) {
            left_s_ -= part.seconds();
            measure(part);
        }
        measure_slowed();
        write_probe();
        return std::move(warnings_);
    }

 private:
    /// True if the machine is disturbed, more often than not.
    bool probe() {
        int disturbed = 0;
        for (int i = 0; i < kProbes; ++i) {
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
        for (std::map<std::string, int> slowed; !(slowed = slowed_rows(file_, parts_of(options_, file_))).empty();) {
            double wanted_s = 0;
            std::vector<Part> parts = parts_of(options_, file_);
            std::erase_if(parts, [&](const Part& part) { return !slowed.contains(part.name); });
            for (Part& part : parts) {
                const double rows = std::max(1.0, static_cast<double>(rows_of_part(part.name)));
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
            drop_slowed(file_, parts);
            for (const Part& part : parts) {
                measure(part);
            }
        }
    }

    [[nodiscard]] int rows_of_part(const std::string& name) const {
        int rows = 0, all = 0;
        std::istringstream lines(read_input_file(file_));
        for (std::string line; std::getline(lines, line);) {
            rows += line.starts_with("#") ? 0 : 1;
            if (line.starts_with(kDone)) {
                all += line.substr(kDone.size()) == name ? rows : 0;
                rows = 0;
            }
        }
        return all;
    }

    void measure(const Part& part) {
        const auto size = fs::file_size(file_);
        bool is_disturbed = launch(part);
        if (is_disturbed && elapsed_s() + part.seconds() + left_s_ < patience_s_) {
            std::cerr << "auspex: note: something else ran meanwhile: " << part.name << " measured again" << std::endl;
            fs::resize_file(file_, size);
            is_disturbed = launch(part);
        }
        if (is_disturbed) {
            warnings_.push_back(part.name +
                                ": something else ran meanwhile, what was measured may be slow; "
                                "--fresh measures again");
        }
        append_line(file_, std::string(kDone) + part.name);
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
            const Ticker ticker(part, file_, left_s_);
            outcome = run_under_mpirun(launch, RunFolder(scratch_.path()));
        }
        const bool were_others = had_others(before, core_clock());
        require_success(outcome);
        const bool is_slow = probe();
        return were_others || is_slow;
    }

    void require_success(const LaunchOutcome& outcome) const {
        const std::string kept = "; what was measured is in " + file_ + ", and the same command goes on from there";
        if (outcome.interrupted_by != 0) {
            throw std::runtime_error("interrupted" + kept);
        }
        if (!outcome.error.empty()) {
            throw InputError("calibrate", outcome.error);
        }
        if (outcome.exit_code != 0) {
            const std::string last = outcome.other_lines.empty() ? "" : ": " + outcome.other_lines.back();
            throw std::runtime_error((outcome.failure.empty()
                                          ? "mpirun ended with " + std::to_string(outcome.exit_code) + last
                                          : outcome.failure) +
                                     kept);
        }
    }

    /// The tenth part of the probes that is fastest says what full speed is: a few are faster still, by luck.
    [[nodiscard]] double full_speed_probe_s() const { return quantile(probes_, 1 - kSlow); }

    /// What is measured at full speed counts: the probe that goes with it is that of full speed, too.
    void write_probe() {
        const double fastest = full_speed_probe_s(), slow = quantile(probes_, kSlow);
        if (slow > kSteady * fastest) {
            warnings_.push_back("the cores changed their speed meanwhile: a tenth of the time the same work took " +
                                percent(slow / fastest - 1) +
                                " longer than at best. A neighbour of this virtual machine, or the clock");
        }
        Measurement row;
        row.kind = "host";
        row.name = "probe";
        row.active = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
        row.seconds = fastest;
        row.spread = relative_spread(probes_);
        row.count = static_cast<int>(probes_.size());
        row.source = "this machine";
        append_line(file_, to_csv(row));
    }

    const Options& options_;
    const Stack& stack_;
    const std::string& file_;
    NewFolder scratch_;
    Clock::time_point begin_ = Clock::now();
    double left_s_ = 0, patience_s_ = 0;
    std::vector<double> probes_;
    std::vector<std::string> warnings_;
};

/// Rows of another processor would be mixed with those of this one.
void require_this_computer(const std::string& file) {
    const std::string model = this_computer().model;
    for (const Measurement& row : load_measurements(file)) {
        if (row.kind == "host" && row.name == "computer" && !row.source.starts_with(model + ", ")) {
            throw InputError(file, "found measurements of \"" + row.source + "\"; expected those of this computer, \"" +
                                       model + "\", another --measurements, or --fresh");
        }
    }
}

}  // namespace

CalibrationRows measure_machine(const Options& options, const Stack& stack, const std::string& file) {
    if (repair_measurements(file)) {
        std::cerr << "auspex: note: the last line of " << file << " was cut off and is dropped" << std::endl;
    }
    if (options.calibrate.fresh) {
        static_cast<void>(load_measurements(file));  // nothing else is overwritten
        fs::remove(file);
        static_cast<void>(repair_measurements(file));
    }
    require_this_computer(file);
    CalibrationRows result;
    result.warnings = Measurer(options, stack, file).run();
    result.rows = load_measurements(file);
    return result;
}

}  // namespace auspex
