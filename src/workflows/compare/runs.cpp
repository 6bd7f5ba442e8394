/// @file Rounds over the layouts, probes, child processes, traces.
#include "workflows/compare/runs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/statistics/quantiles.hpp"
#include "compare/evaluate/compared_operations.hpp"
#include "compare/evaluate/trace_file.hpp"
#include "exec/data/random_dataset.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "microbench/probe.hpp"
#include "models/core_speed.hpp"
#include "report/parts/text.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

/// The first step takes memory for the first time, and makes oneDNN's kernels.
constexpr int kWarmUp = 1;
constexpr int kPatience = 3;  ///< rounds for each repeat
/// Steps at full speed that a run needs: this many, and this share of its steps.
constexpr double kMinUndisturbedSteps = 3, kMinUndisturbedShare = 0.5;
constexpr double kProbe_s = 0.05;
/// Of a run, without those that do not count.
constexpr double kSteps_s = 0.7, kMinSteps = 15, kMaxSteps = 60;
/// Where even the fewest steps take longer than that, there are fewer.
constexpr double kLong_s = 5, kMinLongSteps = 4;

/// A step's median needs many short steps or some long ones.
int counted_steps(double step_s) {
    const double fewest = std::clamp(std::ceil(kLong_s / step_s), kMinLongSteps, kMinSteps);
    return static_cast<int>(std::clamp(std::ceil(kSteps_s / step_s), fewest, kMaxSteps));
}

/// Rows of random tokens, which come round again in long runs.
std::string make_random_data(const models::Workload& workload, const std::string& folder) {
    constexpr int kRows = 64;
    const std::string data = folder + "/data-" + workload.name;
    exec::make_random_dataset(workload.vocab_size, workload.sequence_length, kRows, data);
    return data;
}

/// Why there are no steps to take from a run; empty: there are.
std::string fault_of_steps(const std::vector<exec::StepReport>& steps) {
    const auto probes = std::ranges::count_if(steps, [](const exec::StepReport& step) { return step.probe_s > 0; });
    return steps.size() > kWarmUp && static_cast<std::size_t>(probes) == steps.size()
               ? ""
               : "it reported " + counted(static_cast<double>(steps.size()), "step") + " and " +
                     counted(static_cast<double>(probes), "probe") + ", not more than " + std::to_string(kWarmUp) +
                     " and as many of each";
}

class Measurer {
 public:
    Measurer(const CompareRequest& request, const std::vector<CompareCase>& cases, const RunPlan& plan)
        : request_(request),
          cases_(cases),
          plan_(plan),
          measured_(cases.size()),
          records_(plan.records, plan.earlier.lines),
          kept_trace_(cases.size()),
          repeats_(request.repeats) {}

    std::vector<MeasuredCase> run() {
        for (int round = 0; round < kPatience * repeats_; ++round) {
            run_round(round);
        }
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            load_timeline(i);
        }
        return std::move(measured_);
    }

 private:
    [[nodiscard]] int counted_runs(std::size_t i) const {
        const std::vector<CaseRun>& runs = measured_[i].runs;
        return static_cast<int>(
            std::count_if(runs.begin(), runs.end(), [](const CaseRun& run) { return run.is_valid(); }));
    }

    /// Every case of which too few runs count, beginning at another one each time.
    void run_round(int round) {
        const std::size_t first =
            cases_.size() * static_cast<std::size_t>(round % repeats_) / static_cast<std::size_t>(repeats_);
        for (std::size_t n = 0; n < cases_.size(); ++n) {
            const std::size_t i = (first + n) % cases_.size();
            if (measured_[i].error.empty() && counted_runs(i) < repeats_) {
                take_run(i, round);
                show_progress();
            }
        }
    }

    void show_progress() {
        std::size_t done = 0;
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            done += static_cast<std::size_t>(measured_[i].error.empty() ? counted_runs(i) : repeats_);
        }
        progress_.show(done, cases_.size() * static_cast<std::size_t>(repeats_));
    }

    /// From the records, or a run of its own.
    void take_run(std::size_t i, int round) {
        const CompareCase& one = cases_[i];
        const std::vector<CaseRun>& all = plan_.earlier.runs;
        const auto earlier = std::find_if(all.begin(), all.end(), [&](const CaseRun& run) {
            return run.plan == one.plan && run.workload == one.workload && run.round == round;
        });
        if (earlier != all.end()) {
            measured_[i].runs.push_back(*earlier);
            find_trace(i);
            return;
        }
        CaseRun run;
        run.plan = one.plan;
        run.workload = one.workload;
        run.origin = one.origin;
        run.round = round;
        measured_[i].error = train(i, run);
        if (measured_[i].error.empty()) {
            measured_[i].runs.push_back(run);
            records_.add(run);
            keep_trace(i);
        }
    }

    /// What went wrong; empty: nothing.
    std::string train(std::size_t i, CaseRun& run) {
        launch::TrainRequest wanted = cases_[i].train_request(request_);
        wanted.data = data_for(cases_[i]);
        wanted.steps = steps_of(i);
        wanted.trace = latest_trace();
        wanted.probes_cores = true;
        const std::vector<microbench::ProbeReading> before = microbench::probe_cores(kProbe_s);
        launch::throw_if_interrupted();
        const microbench::CoreClock begin = microbench::core_clock();
        const launch::TrainResult trained = run_training(wanted, plan_.scratch);
        const microbench::CoreClock end = microbench::core_clock();
        if (!trained.error.empty()) {
            return trained.error;
        }
        if (const std::string fault = fault_of_steps(trained.steps); !fault.empty()) {
            return fault;
        }
        const std::vector<microbench::ProbeReading> after = microbench::probe_cores(kProbe_s);
        run.background_share = background_share(begin, end);
        run.background_processes = background_by_core(begin, end);
        run.is_disturbed = had_background_load(begin, end) || is_disturbed(before, plan_.reference_probe_s) ||
                           is_disturbed(after, plan_.reference_probe_s);
        take_steps(trained.steps, run);
        for (const exec::RankReport& rank : trained.ranks) {
            run.memory_bytes = std::max(run.memory_bytes, static_cast<double>(rank.peak_bytes));
        }
        const schedule::Timeline timeline = evaluate::read_chrome_trace(JsonDocument::load(latest_trace()));
        run.traced_s = to_seconds(evaluate::end_of(timeline));
        run.traced_probe_s = trained.steps.back().probe_s;
        run.operations = evaluate::operation_times(timeline);
        return "";
    }

    /// The steps at full speed, or all.
    void take_steps(const std::vector<exec::StepReport>& steps, CaseRun& run) const {
        std::vector<double> steps_s, probes_s, full_speed_steps_s, full_speed_probes_s;
        for (const exec::StepReport& step : std::span(steps).subspan(kWarmUp)) {
            steps_s.push_back(step.step_time_s);
            probes_s.push_back(step.probe_s);
            if (models::has_full_speed(step.probe_s, plan_.reference_probe_s)) {
                full_speed_steps_s.push_back(step.step_time_s);
                full_speed_probes_s.push_back(step.probe_s);
            }
        }
        const auto fewest = std::max(kMinUndisturbedSteps, kMinUndisturbedShare * static_cast<double>(steps_s.size()));
        run.is_slowed = plan_.reference_probe_s > 0 && static_cast<double>(full_speed_steps_s.size()) < fewest;
        const bool takes_full_speed = plan_.reference_probe_s > 0 && !run.is_slowed;
        run.step_s = median(takes_full_speed ? full_speed_steps_s : steps_s);
        run.probe_s = median(takes_full_speed ? full_speed_probes_s : probes_s);
    }

    [[nodiscard]] int steps_of(std::size_t i) const {
        const std::vector<CaseRun>& runs = measured_[i].runs;
        const double step_s = runs.empty() ? plan_.expected_s[i] : runs.back().step_s;
        return std::max(request_.steps, counted_steps(step_s) + kWarmUp);
    }

    std::string data_for(const CompareCase& one) {
        if (!request_.data.empty()) {
            return request_.data;
        }
        std::string& data = data_[one.workload_file];
        if (data.empty()) {
            data = make_random_data(one.inputs.workload, plan_.scratch);
        }
        return data;
    }

    [[nodiscard]] std::string trace_of(std::size_t i) const {
        return (plan_.traces.empty() ? plan_.scratch : plan_.traces) + "/" + cases_[i].trace_file();
    }

    [[nodiscard]] std::string latest_trace() const { return plan_.scratch + "/trace.json"; }

    /// After a run of this comparison: of its trace and the one that is kept, the one that stands better stays.
    void keep_trace(std::size_t i) {
        evaluate::ComparedCase one;
        for (const CaseRun& run : measured_[i].runs) {
            one.runs.push_back(compared_run(run, plan_.reference_probe_s));
        }
        const std::vector<std::size_t> order = runs_by_trace(one);
        const std::size_t latest = one.runs.size() - 1;
        const auto better = std::find_if(order.begin(), order.end(),
                                         [&](std::size_t run) { return run == latest || run == kept_trace_[i]; });
        if (better != order.end() && *better == latest) {
            const std::string beside = trace_of(i) + ".partial";
            std::error_code status;
            fs::copy_file(latest_trace(), beside, fs::copy_options::overwrite_existing, status);
            if (!status) {
                fs::rename(beside, trace_of(i), status);
            }
            if (status) {
                throw InputError(trace_of(i), "found a place that cannot be written to (" + status.message() +
                                                  "); expected a folder with write permission and space");
            }
            kept_trace_[i] = latest;
        }
    }

    /// After an earlier run: the kept trace is its own if both took the same picoseconds.
    void find_trace(std::size_t i) {
        std::error_code status;
        if (!found_trace_s_.contains(i)) {
            found_trace_s_[i] =
                fs::is_regular_file(trace_of(i), status)
                    ? to_seconds(evaluate::end_of(evaluate::read_chrome_trace(JsonDocument::load(trace_of(i)))))
                    : 0;
        }
        if (measured_[i].runs.back().traced_s == found_trace_s_[i]) {
            kept_trace_[i] = measured_[i].runs.size() - 1;
        }
    }

    void load_timeline(std::size_t i) {
        if (kept_trace_[i]) {
            measured_[i].timeline = evaluate::read_chrome_trace(JsonDocument::load(trace_of(i)));
        }
    }

    const CompareRequest& request_;
    const std::vector<CompareCase>& cases_;
    const RunPlan& plan_;
    std::vector<MeasuredCase> measured_;
    RunRecords records_;
    launch::ProgressLine progress_{"runs that count"};
    std::map<std::string, std::string> data_;
    std::vector<std::optional<std::size_t>> kept_trace_;  ///< of each case: the run whose trace is in trace_of()
    std::map<std::size_t, double> found_trace_s_;         ///< what was in trace_of() at the beginning; 0: nothing
    int repeats_;
};

}  // namespace

std::vector<MeasuredCase> measure_cases(const CompareRequest& request, const std::vector<CompareCase>& cases,
                                        const RunPlan& plan) {
    return Measurer(request, cases, plan).run();
}

}  // namespace auspex::workflows
