/// @file Lines, summary, JSON, trace and plot of a training run.
#include "cli/output/train_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/flags/shell_word.hpp"
#include "cli/output/json_writer.hpp"
#include "launch/train/setup.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"
#include "report/parts/trace.hpp"
#include "report/training/loss_chart.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kOpKinds = static_cast<std::size_t>(schedule::OpKind::kCount);

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
std::string files_text(const Options& options, const exec::RunReport& report) {
    const TrainFlags& train = options.train;
    std::string text;
    const auto add = [&](const char* what, const std::string& file) {
        text += file.empty() ? "" : std::string(what) + " written to " + file + "\n";
    };
    add("weights", train.export_weights);
    add("gradients", train.export_gradients);
    add("routing", train.record_routing);
    if (!train.record_routing.empty() && !report.steps.empty()) {
        const std::string trace = "plan.routing={\"trace\":" + json_quote(train.record_routing) + "}";
        text += "  to replay it, add: --set " + quoted_for_shell(trace) + "\n";
    }
    add("trace", options.trace);
    add("plot", has_loss_to_draw(report.steps) ? train.plot : "");
    return text;
}

void write_steps(JsonWriter& json, const std::vector<exec::StepReport>& steps) {
    json.key("steps").begin_array();
    for (const exec::StepReport& step : steps) {
        json.begin_object().member("step", step.step);
        json.member_or_text("loss", step.loss);
        json.member_or_text("cross_entropy", step.cross_entropy);
        json.member_or_text("auxiliary", step.auxiliary);
        json.member_or_text("z", step.z);
        json.member_or_text("grad_norm", step.gradient_norm);
        json.member_or_text("learning_rate", step.learning_rate);
        json.member_or_text("step_time_s", step.step_time_s);
        json.member_or_text("tokens_per_s", step.tokens_per_s);
        if (step.probe_s > 0) {
            json.member("probe_s", step.probe_s);
        }
        json.end_object();
    }
    json.end_array();
}

void write_memory(JsonWriter& json, const std::vector<exec::RankReport>& ranks) {
    json.key("memory").begin_object();
    for (const exec::RankReport& rank : ranks) {
        json.key(std::to_string(rank.rank)).begin_object();
        for (std::size_t i = 0; i < schedule::kMemoryLabelCount; ++i) {
            json.member(to_string(label_at(i)), std::uint64_t{rank.peaks[i]});
        }
        json.end_object();
    }
    json.end_object().key("memory_total").begin_object();
    for (const exec::RankReport& rank : ranks) {
        json.key(std::to_string(rank.rank)).begin_object().member("peak_bytes", std::uint64_t{rank.peak_bytes});
        json.member("reserved_bytes", std::uint64_t{rank.reserved_bytes});
        json.member("transport_bytes", std::uint64_t{rank.transport_bytes});
        json.member("linear_algebra_bytes", std::uint64_t{rank.blas_bytes}).end_object();
    }
    json.end_object();
}

void write_counts(JsonWriter& json, const std::vector<exec::RankReport>& ranks) {
    json.key("counts").begin_object();
    for (std::size_t kind = 0; kind < kOpKinds; ++kind) {
        exec::OperationCount sum;
        for (const exec::RankReport& rank : ranks) {
            if (kind < rank.counts.size()) {
                sum += rank.counts[kind];
            }
        }
        if (sum.operations > 0) {
            json.key(to_string(static_cast<schedule::OpKind>(kind)))
                .begin_object()
                .member("operations", sum.operations);
            json.member("messages", sum.messages);
            json.member("bytes", whole(sum.bytes)).end_object();
        }
    }
    json.end_object();
}

void write_restarts(JsonWriter& json, const std::vector<launch::Restart>& restarts) {
    json.key("restarts").begin_array();
    for (const launch::Restart& restart : restarts) {
        json.begin_object().member("reason", restart.reason).member("rank", restart.rank);
        json.member("slot", restart.slot).member("step", restart.step).member("from_step", restart.from_step);
        json.key("slots").begin_array();
        for (const int slot : restart.slots) {
            json.value(slot);
        }
        json.end_array().end_object();
    }
    json.end_array();
}

}  // namespace

std::string step_line(const exec::StepReport& report) {
    std::array<char, 64> rate{};
    static_cast<void>(std::snprintf(rate.data(), rate.size(), "%.3e", report.learning_rate));
    return "step " + std::to_string(report.step) + "  loss " + fixed(report.loss, 4) + "  gradient norm " +
           significant(report.gradient_norm, 4) + "  learning rate " + rate.data() + "  " +
           thousands(report.tokens_per_s) + " tokens/s  " + duration(report.step_time_s);
}

std::string summary_text(const Options& options, const TrainResult& result) {
    const std::vector<exec::StepReport>& steps = result.report.steps;
    const std::string files = files_text(options, result.report);
    if (steps.empty()) {
        return (options.train.steps.value_or(0) > 0 ? "no step was left to run\n" : "") + files;
    }
    std::string text = "\n" + counted(static_cast<double>(steps.size()), "step") + ": loss " +
                       fixed(steps.front().loss, 4) + " -> " + fixed(steps.back().loss, 4) + ", " + rate_text(steps) +
                       "\n";
    if (!result.restarts.empty()) {
        text += counted(static_cast<double>(result.restarts.size()), "restart") + "\n";
    }
    return text + "\n" + memory_text(result.report.ranks) + (files.empty() ? "" : "\n" + files);
}

void write_train_json(std::ostream& out, const Options& options, const exec::RunInputs& run,
                      const TrainResult& result) {
    const exec::RunReport& report = result.report;
    JsonWriter json(out);
    json.begin_object().member("version", AUSPEX_VERSION).member("stack", run.stack.name);
    json.member("workload", run.workload.name).member("plan", run.plan.name).key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().member("ranks", run.layout.tiles).member("global_batch", run.layout.global_batch);
    json.member("first_step", report.steps.empty() ? report.first_step : report.steps.front().step);
    write_steps(json, report.steps);
    write_memory(json, report.ranks);
    write_counts(json, report.ranks);
    write_restarts(json, result.restarts);
    json.key("notes").begin_array();
    for (const std::string& note : report.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void write_train_files(const Options& options, const exec::RunInputs& run, const TrainResult& result) {
    if (!options.trace.empty()) {
        std::ostringstream trace;
        report::write_chrome_trace(result.report.timeline, trace);
        write_file(options.trace, trace.str());
    }
    std::vector<report::LossPoint> points;
    for (const exec::StepReport& step : result.report.steps) {
        points.push_back({step.step, step.loss});
    }
    if (!options.train.plot.empty() && has_loss_to_draw(result.report.steps)) {
        const std::string title = run.workload.name + " with " + run.plan.name;
        write_file(options.train.plot, report::standalone_svg(training_loss_chart(title, points)));
    }
}

}  // namespace auspex::cli
