/// @file auspex verify: trains small models in many layouts and compares them with one rank and with what is predicted.
#include <iostream>
#include <optional>
#include <stdexcept>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/input_files.hpp"
#include "launch/mpirun.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "report/parts/text.hpp"
#include "workflows/verify/verification.hpp"

namespace auspex::cli {
namespace {

workflows::VerifyRequest verify_request(const Options& options) {
    workflows::VerifyRequest request;
    request.workload = options.workload.empty() ? request.workload : options.workload;
    request.data = options.data;
    request.steps = options.train.steps.value_or(request.steps);
    request.max_ranks = options.max_ranks > 0 ? options.max_ranks : request.max_ranks;
    request.layouts = options.verify.layouts;
    request.kills = options.verify.kills.value_or(request.kills);
    request.command_line = options.command_line;
    return request;
}

/// Throws InputError where there would be nothing to compare, or a table without learned routing.
void require_sense(const Options& options, const workflows::VerifyRequest& request) {
    if (options.train.steps == 0) {
        throw InputError("--steps", "found 0; expected at least 1");
    }
    if (wanted_layouts(request).empty()) {
        throw InputError("--max-ranks", "found " + std::to_string(options.max_ranks) +
                                            "; expected at least 2, as the smallest layout has");
    }
    if (!options.workload.empty() &&
        models::load_workload(launch::load_document("workload", options.workload, {})).num_experts == 0) {
        throw InputError("--workload " + options.workload, "found a model without experts; expected one that has");
    }
}

/// One line of the table; what a layout is comes last, for it may be long.
std::string table_line(const std::string& ranks, const std::string& forced, const std::string& norm,
                       const std::string& learned, const std::string& replayed, const std::string& memory,
                       const std::string& counts, const std::string& choice, const std::string& layout) {
    return right(ranks, 5) + right(forced, 9) + right(norm, 9) + right(learned, 9) + right(replayed, 10) +
           right(memory, 9) + right(counts, 9) + "  " + left(choice, 28) + layout + "\n";
}

void print_layout(const report::LayoutCheck& check) {
    const std::string layout = check.workload + ", " + check.grid + (check.choices.empty() ? "" : ": " + check.choices);
    if (!check.error.empty()) {
        std::cout << right(std::to_string(check.ranks), 5) << "  FAILED: " << layout << "\n    " << check.error
                  << std::endl;
        return;
    }
    const auto equality = [](const std::string& difference) { return difference.empty() ? "equal" : "DIFFERS"; };
    std::cout << table_line(std::to_string(check.ranks), report::difference_text(check.forced),
                            report::difference_text(check.norm), report::difference_text(check.learned),
                            report::difference_text(check.replayed), equality(check.memory), equality(check.counts),
                            check.first_choice, layout + (check.passed() ? "" : "  NOT ALLOWED"));
    for (const std::string& difference : {check.memory, check.counts}) {
        std::cout << (difference.empty() ? "" : "    " + difference + "\n");
    }
    std::cout.flush();
}

void print_head(int steps) {
    std::cout << "largest relative difference from one rank over " << counted(steps, "step")
              << ", all fp32: of the loss with experts forced, of the gradient's norm in that run, of the loss with "
                 "experts learned and replayed; peaks of memory and counts of operations against the prediction\n\n"
              << table_line("ranks", "forced", "norm", "learned", "replayed", "memory", "counts", "first other choice",
                            "layout")
              << std::flush;
}

void print_recovery(const report::RecoveryCheck& check) {
    std::cout << check.what << ": " << check.result << (check.passed ? "\n" : "  NOT ALLOWED\n") << std::flush;
}

/// Lines as they come.
workflows::VerifyWatch printing_watch(int steps) {
    workflows::VerifyWatch watch;
    watch.begins_layouts = [steps] { print_head(steps); };
    watch.layout = print_layout;
    watch.left_out = [](const std::string& text) { std::cout << "left out: " << text << "\n" << std::flush; };
    watch.begins_recoveries = [] {
        std::cout << "\nkills and restarts, in runs of " << report::kMinRecoverySteps << " to "
                  << report::kMaxRecoverySteps << " steps\n\n"
                  << std::flush;
    };
    watch.recovery = print_recovery;
    watch.progress = [](std::size_t, std::size_t) {};  // lines show how far it is
    return watch;
}

/// Nothing but how far it is.
workflows::VerifyWatch counting_watch(launch::ProgressLine& line) {
    workflows::VerifyWatch watch;
    watch.begins_layouts = watch.begins_recoveries = [] {};
    watch.layout = [](const report::LayoutCheck&) {};
    watch.left_out = [](const std::string&) {};
    watch.recovery = [](const report::RecoveryCheck&) {};
    watch.progress = [&line](std::size_t done, std::size_t all) { line.show(done, all); };
    return watch;
}

report::ExecutorReport verify_showing(const workflows::VerifyRequest& request, bool prints_lines) {
    launch::ProgressLine line("checks done");
    return verify(request, prints_lines ? printing_watch(request.steps) : counting_watch(line));
}

void print_optimizers(const report::ExecutorReport& report) {
    if (report.optimizers.empty()) {
        return;
    }
    std::cout << "\noptimizer states on the fullest rank, " << report.optimizers.front().grid << "\n";
    for (const report::OptimizerCheck& check : report.optimizers) {
        const auto& first = report.optimizers.front();
        const auto ratio = [](std::uint64_t a, std::uint64_t b) {
            return fixed(static_cast<double>(a) / static_cast<double>(b), 4);
        };
        std::cout << "  " << left(check.sharding, 10) << right(thousands(static_cast<double>(check.measured)), 12)
                  << " bytes, predicted " << thousands(static_cast<double>(check.predicted)) << "; of the first "
                  << ratio(check.measured, first.measured) << ", predicted " << ratio(check.predicted, first.predicted)
                  << "\n";
    }
}

void write_difference(JsonWriter& json, const char* name, const std::optional<double>& difference) {
    if (difference) {
        json.member_or_text(name, *difference);
    }
}

void write_layouts(JsonWriter& json, const report::ExecutorReport& report) {
    json.key("layouts").begin_array();
    for (const report::LayoutCheck& check : report.layouts) {
        json.begin_object().member("workload", check.workload).member("grid", check.grid);
        json.member("choices", check.choices).member("ranks", check.ranks);
        write_difference(json, "forced", check.forced);
        write_difference(json, "norm", check.norm);
        write_difference(json, "learned", check.learned);
        write_difference(json, "replayed", check.replayed);
        json.member("first_other_choice", check.first_choice).member("memory", report::equality_text(check.memory));
        json.member("counts", report::equality_text(check.counts)).member("error", check.error);
        json.member("passed", check.passed()).end_object();
    }
    json.end_array();
}

void print_json(const report::ExecutorReport& report) {
    JsonWriter json(std::cout);
    json.begin_object().member("version", AUSPEX_VERSION).member("steps", report.steps);
    json.member("global_batch", report.global_batch).member("passed", report.passed());
    write_layouts(json, report);
    json.key("left_out").begin_array();
    for (const std::string& text : report.left_out) {
        json.value(text);
    }
    json.end_array().key("recoveries").begin_array();
    for (const report::RecoveryCheck& check : report.recoveries) {
        json.begin_object().member("what", check.what).member("result", check.result);
        json.member("passed", check.passed).end_object();
    }
    json.end_array().key("optimizers").begin_array();
    for (const report::OptimizerCheck& check : report.optimizers) {
        json.begin_object().member("grid", check.grid).member("sharding", check.sharding);
        json.member("measured_bytes", check.measured).member("predicted_bytes", check.predicted).end_object();
    }
    json.end_array().end_object();
}

}  // namespace

void run_verify(const Options& options) {
    if (launch::rank_of_launcher(0)) {
        throw InputError("auspex verify", "found itself started by an MPI launcher; expected to start mpirun itself");
    }
    const workflows::VerifyRequest request = verify_request(options);
    require_sense(options, request);
    launch::require_mpirun();
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const report::ExecutorReport report = verify_showing(request, !options.json);
    if (!options.out.empty()) {
        write_executor_report(report, options.out);
    }
    if (options.json) {
        print_json(report);
    } else {
        print_optimizers(report);
        std::cout << "\n" << verdict_of(report) << "\n";
        if (!options.out.empty()) {
            std::cout << "The report is in " << options.out
                      << ": index.html, report.md, layouts.csv, recovery.csv, loss.svg\n";
        }
    }
    if (!report.passed()) {
        throw std::runtime_error("verification: " + verdict_of(report));
    }
}

}  // namespace auspex::cli
