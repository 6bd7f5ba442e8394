/// @file Turns, probes, children, traces.
#include "cli/compare_runs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "cli/progress_line.hpp"
#include "cli/verify_run.hpp"
#include "compare/probe.hpp"
#include "compare/statistics.hpp"
#include "compare/trace_file.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/prepare.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

constexpr int kRepeats = 5, kWarmUp = 2;
constexpr double kProbe_s = 0.05;
/// Of a run, without those that do not count.
constexpr double kSteps_s = 0.7, kFewest = 15, kMost = 60;
/// Where even the fewest steps take longer than that, there are fewer.
constexpr double kLong_s = 5, kFewestLong = 6;

/// A step's median needs many short steps or some long ones.
int counted_steps(double step_s) {
    const double fewest = std::clamp(std::ceil(kLong_s / step_s), kFewestLong, kFewest);
    return static_cast<int>(std::clamp(std::ceil(kSteps_s / step_s), fewest, kMost));
}

/// Rows of random tokens, which come round again in long runs: time does not depend on what they say.
std::string make_random_data(const Workload& workload, const std::string& folder) {
    constexpr int kRows = 64, kShort = 65'536;
    const std::string tokens = folder + "/tokens-" + workload.name, data = folder + "/data-" + workload.name;
    MegatronWriter writer(tokens, workload.vocab_size <= kShort ? 2 : 4);
    Rng rng(1);
    for (int row = 0; row < kRows; ++row) {
        std::vector<std::int32_t> sequence(static_cast<std::size_t>(workload.sequence_length) + 1);
        for (std::int32_t& token : sequence) {
            token = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(workload.vocab_size)));
        }
        writer.add_sequence(sequence);
    }
    writer.commit();
    PrepareRequest request;
    request.megatron = tokens;
    request.vocabulary = workload.vocab_size;
    request.sequence_length = workload.sequence_length;
    request.folder = data;
    static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
    return data;
}

class Measurer {
 public:
    Measurer(const Options& options, const std::vector<CompareCase>& cases, const RunPlan& plan)
        : options_(options), cases_(cases), plan_(plan), measured_(cases.size()), records_(plan.records, plan.earlier) {
        repeats_ = options.compare.repeat > 0 ? options.compare.repeat : kRepeats;
    }

    std::vector<MeasuredCase> run() {
        for (int repeat = 0; repeat < repeats_; ++repeat) {
            run_round(repeat);
        }
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            load_timeline(i);
        }
        return std::move(measured_);
    }

 private:
    void run_round(int repeat) {
        const std::size_t first = cases_.size() * static_cast<std::size_t>(repeat) / static_cast<std::size_t>(repeats_);
        std::vector<std::size_t> disturbed;
        for (std::size_t n = 0; n < cases_.size(); ++n) {
            const std::size_t i = (first + n) % cases_.size();
            progress_.show(++begun_, cases_.size() * static_cast<std::size_t>(repeats_));
            if (measured_[i].error.empty() && take_run(i, repeat, false)) {
                disturbed.push_back(i);
            }
        }
        for (const std::size_t i : disturbed) {
            static_cast<void>(take_run(i, repeat, true));
        }
    }

    /// True if the run was disturbed.
    bool take_run(std::size_t i, int repeat, bool is_again) {
        const std::optional<CaseRun> run = run_of(i, repeat, is_again);
        if (!run) {
            return false;
        }
        std::vector<CaseRun>& runs = measured_[i].runs;
        if (is_again && !run->is_disturbed) {
            runs.pop_back();
        }
        runs.push_back(*run);
        return run->is_disturbed;
    }

    /// From the records, or a run of its own; none where that failed.
    std::optional<CaseRun> run_of(std::size_t i, int repeat, bool is_again) {
        const CompareCase& one = cases_[i];
        const auto earlier = std::find_if(plan_.earlier.begin(), plan_.earlier.end(), [&](const CaseRun& run) {
            return run.plan == one.plan && run.workload == one.workload && run.fingerprint == one.fingerprint &&
                   run.repeat == repeat && run.is_again == is_again;
        });
        if (earlier != plan_.earlier.end()) {
            return *earlier;
        }
        CaseRun run;
        run.plan = one.plan;
        run.workload = one.workload;
        run.fingerprint = one.fingerprint;
        run.repeat = repeat;
        run.is_again = is_again;
        measured_[i].error = train(i, run);
        if (!measured_[i].error.empty()) {
            return std::nullopt;
        }
        records_.add(run);
        return run;
    }

    /// What went wrong; empty: nothing.
    std::string train(std::size_t i, CaseRun& run) {
        const std::string trace = plan_.scratch + "/trace.json";
        std::vector<std::string> flags = cases_[i].train_flags(options_);
        flags.insert(flags.end(),
                     {"--data", data_for(cases_[i]), "--steps", std::to_string(steps_of(i)), "--trace", trace});
        const std::vector<ProbeReading> before = probe_cores(kProbe_s);
        const CoreClock begin = core_clock();
        const TrainedRun trained = run_training(flags, plan_.scratch);
        const CoreClock end = core_clock();
        if (!trained.error.empty()) {
            return trained.error;
        }
        const std::vector<ProbeReading> after = probe_cores(kProbe_s);
        run.probe_s = (slowest_seconds(before, cases_[i].ranks) + slowest_seconds(after, cases_[i].ranks)) / 2;
        run.others_share = share_of_others(begin, end);
        run.is_disturbed = had_others(begin, end) || is_disturbed(before, plan_.reference_probe_s) ||
                           is_disturbed(after, plan_.reference_probe_s);
        run.step_s = median(std::span(trained.step_times_s).subspan(kWarmUp));
        for (const RankReport& rank : trained.ranks) {
            run.memory_bytes = std::max(run.memory_bytes, static_cast<double>(rank.peak_bytes));
        }
        const Timeline timeline = read_chrome_trace(JsonDocument::load(trace));
        run.traced_s = to_seconds(end_of(timeline));
        run.operations = operation_times(timeline);
        keep_trace(i, trace, run);
        return "";
    }

    [[nodiscard]] int steps_of(std::size_t i) const {
        const std::vector<CaseRun>& runs = measured_[i].runs;
        const double step_s = runs.empty() ? plan_.expected_s[i] : runs.back().step_s;
        return std::max(options_.train.steps, counted_steps(step_s) + kWarmUp);
    }

    std::string data_for(const CompareCase& one) {
        if (!options_.data.empty()) {
            return options_.data;
        }
        std::string& data = data_[one.workload_file];
        if (data.empty()) {
            data = make_random_data(one.inputs.workload, plan_.scratch);
        }
        return data;
    }

    [[nodiscard]] std::string trace_of(std::size_t i) const {
        return (plan_.traces.empty() ? plan_.scratch : plan_.traces) + "/" + cases_[i].workload + "-" + cases_[i].plan +
               ".json";
    }

    /// The one nearest to the median so far stays.
    void keep_trace(std::size_t i, const std::string& trace, const CaseRun& run) {
        std::vector<double> steps{run.step_s};
        for (const CaseRun& other : measured_[i].runs) {
            steps.push_back(other.step_s);
        }
        const double middle = median(steps);
        double& kept = kept_trace_s_[i];
        if (kept == 0 || std::abs(run.traced_s - middle) < std::abs(kept - middle)) {
            kept = run.traced_s;
            fs::copy_file(trace, trace_of(i), fs::copy_options::overwrite_existing);
        }
    }

    void load_timeline(std::size_t i) {
        std::error_code status;
        if (measured_[i].error.empty() && fs::is_regular_file(trace_of(i), status)) {
            measured_[i].timeline = read_chrome_trace(JsonDocument::load(trace_of(i)));
        }
    }

    const Options& options_;
    const std::vector<CompareCase>& cases_;
    const RunPlan& plan_;
    std::vector<MeasuredCase> measured_;
    RunRecords records_;
    ProgressLine progress_{"runs begun"};
    std::map<std::string, std::string> data_;
    std::map<std::size_t, double> kept_trace_s_;
    int repeats_ = 0;
    std::size_t begun_ = 0;
};

}  // namespace

std::vector<MeasuredCase> measure_cases(const Options& options, const std::vector<CompareCase>& cases,
                                        const RunPlan& plan) {
    return Measurer(options, cases, plan).run();
}

}  // namespace auspex
