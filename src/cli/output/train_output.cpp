/// @file Lines, summary, JSON, trace and plot of a training run.
#include "cli/output/train_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "base/shell_word.hpp"
#include "base/units.hpp"
#include "launch/train/setup.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"
#include "report/parts/trace.hpp"
#include "report/training/loss_chart.hpp"

namespace auspex::cli {
namespace {

schedule::MemoryLabel label_at(std::size_t i) { return static_cast<schedule::MemoryLabel>(i); }

/// Memory of the rank that had most live at once.
std::string memory_text(const std::vector<exec::RankReport>& ranks) {
    const exec::RankReport& fullest = *std::max_element(
        ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
    const auto bytes = [](std::size_t count) { return format_quantity(static_cast<double>(count), Dimension::kBytes); };
    std::vector<report::TextRow> rows{{"memory of rank " + std::to_string(fullest.rank), "at the peak", "largest"}};
    for (std::size_t i = 0; i < schedule::kMemoryLabelCount; ++i) {
        if (fullest.peaks[i] > 0) {
            rows.push_back({to_string(label_at(i)), bytes(fullest.at_peak[i]), bytes(fullest.peaks[i])});
        }
    }
    rows.push_back({"all", bytes(fullest.peak_bytes), bytes(fullest.peak_bytes)});
    return report::text_table(rows, {0}) + "Beside it: transport " + bytes(fullest.transport_bytes) +
           ", linear algebra " + bytes(fullest.blas_bytes) + "; reserved " + bytes(fullest.reserved_bytes) + ".\n";
}

/// "12,345 tokens/s after the first step": the first one also starts up the transport and fills caches.
std::string rate_text(const std::vector<exec::StepReport>& steps) {
    const bool leaves_out_first = steps.size() > 1;
    double seconds = 0, tokens = 0;
    for (auto step = steps.begin() + (leaves_out_first ? 1 : 0); step != steps.end(); ++step) {
        seconds += step->step_time_s;
        tokens += step->step_time_s * step->tokens_per_s;
    }
    return thousands(tokens / seconds) + " tokens/s" + (leaves_out_first ? " after the first step" : "");
}

bool has_loss_to_draw(const std::vector<exec::StepReport>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const exec::StepReport& step) { return std::isfinite(step.loss); });
}

/// A line for each file that the run has written, and how to replay recorded routing.
std::string files_text(const Options& options, const std::vector<exec::StepReport>& steps) {
    const TrainFlags& train = options.train;
    std::string text;
    const auto add = [&](const char* what, const std::string& file) {
        text += file.empty() ? "" : std::string(what) + " written to " + file + "\n";
    };
    add("weights", train.export_weights);
    add("gradients", train.export_gradients);
    add("routing", train.record_routing);
    if (!train.record_routing.empty() && !steps.empty()) {
        const std::string trace = "plan.routing={\"trace\":" + json_quote(train.record_routing) + "}";
        text += "  to replay it, add: --set " + quoted_for_shell(trace) + "\n";
    }
    add("trace", options.trace);
    add("plot", has_loss_to_draw(steps) ? train.plot : "");
    return text;
}

}  // namespace

std::string step_line(const exec::StepReport& report) {
    std::array<char, 64> rate{};
    static_cast<void>(std::snprintf(rate.data(), rate.size(), "%.3e", report.learning_rate));
    return "step " + std::to_string(report.step) + "  loss " + fixed(report.loss, 4) + "  gradient norm " +
           significant(report.gradient_norm, 4) + "  learning rate " + rate.data() + "  " +
           thousands(report.tokens_per_s) + " tokens/s  " + duration(report.step_time_s);
}

std::string summary_text(const Options& options, const launch::TrainResult& result) {
    const std::vector<exec::StepReport>& steps = result.steps;
    const std::string files = files_text(options, steps);
    if (steps.empty()) {
        return (options.train.steps.value_or(0) > 0 ? "no step was left to run\n" : "") + files;
    }
    std::string text = "\n" + counted(static_cast<double>(steps.size()), "step") + ": loss " +
                       fixed(steps.front().loss, 4) + " -> " + fixed(steps.back().loss, 4) + ", " + rate_text(steps) +
                       "\n";
    if (!result.restarts.empty()) {
        text += counted(static_cast<double>(result.restarts.size()), "restart") + "\n";
    }
    return text + "\n" + memory_text(result.ranks) + (files.empty() ? "" : "\n" + files);
}

void write_train_json(std::ostream& out, const Options& options, const exec::RunInputs& run,
                      const launch::TrainResult& result) {
    JsonWriter json(out);
    json.begin_object().member("version", AUSPEX_VERSION).member("stack", run.stack.name);
    json.member("workload", run.workload.name).member("plan", run.plan.name).key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().member("ranks", run.layout.tiles).member("global_batch", run.layout.global_batch);
    write_train_result(json, result);
    json.end_object();
}

void write_train_files(const Options& options, const exec::RunInputs& run, const std::vector<exec::StepReport>& steps,
                       const schedule::Timeline& timeline) {
    if (!options.trace.empty()) {
        std::ostringstream trace;
        report::write_chrome_trace(timeline, trace);
        write_file(options.trace, trace.str());
    }
    std::vector<report::LossPoint> points;
    for (const exec::StepReport& step : steps) {
        points.push_back({step.step, step.loss});
    }
    if (!options.train.plot.empty() && has_loss_to_draw(steps)) {
        const std::string title = run.workload.name + " with " + run.plan.name;
        write_file(options.train.plot, report::standalone_svg(training_loss_chart(title, points), "Loss of " + title,
                                                              report::source_line(options.command_line, {})));
    }
}

}  // namespace auspex::cli
