/// @file auspex verify: trains small models in many layouts and compares them with one rank and with what is predicted.
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/json_writer.hpp"
#include "cli/output_locks.hpp"
#include "cli/prediction_output.hpp"
#include "cli/progress_line.hpp"
#include "cli/train_launch.hpp"
#include "cli/verify_layout_checks.hpp"
#include "cli/verify_recovery.hpp"
#include "report/parts/text.hpp"

namespace auspex {
namespace {

constexpr int kMostRanks = 16;
constexpr int kKills = 10;

/// Those asked for.
std::vector<VerifyLayout> wanted_layouts(const Options& options) {
    const int most = options.max_ranks > 0 ? options.max_ranks : kMostRanks;
    std::vector<VerifyLayout> layouts;
    for (const VerifyLayout& layout : verify_layouts()) {
        const bool is_enough = options.layouts > 0 && layouts.size() == static_cast<std::size_t>(options.layouts);
        if (layout.ranks() <= most && !is_enough) {
            layouts.push_back(layout);
        }
    }
    return layouts;
}

/// Throws InputError where there would be nothing to compare, or a table without learned routing.
void require_sense(const Options& options) {
    if (options.train.steps == 0) {
        throw InputError("--steps", "found 0; expected at least 1");
    }
    if (wanted_layouts(options).empty()) {
        throw InputError("--max-ranks", "found " + std::to_string(options.max_ranks) +
                                            "; expected at least 2, as the smallest layout has");
    }
    if (!options.workload.empty() && load_workload(load_document("workload", options.workload, {})).num_experts == 0) {
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

void print_layout(const LayoutCheck& check) {
    const std::string layout = check.workload + ", " + check.grid + (check.choices.empty() ? "" : ": " + check.choices);
    if (!check.error.empty()) {
        std::cout << right(std::to_string(check.ranks), 5) << "  FAILED: " << layout << "\n    " << check.error
                  << std::endl;
        return;
    }
    const auto equality = [](const std::string& difference) { return difference.empty() ? "equal" : "DIFFERS"; };
    std::cout << table_line(std::to_string(check.ranks), difference_text(check.forced), difference_text(check.norm),
                            difference_text(check.learned), difference_text(check.replayed), equality(check.memory),
                            equality(check.counts), check.first_choice,
                            layout + (check.passed() ? "" : "  NOT ALLOWED"));
    for (const std::string& difference : {check.memory, check.counts}) {
        std::cout << (difference.empty() ? "" : "    " + difference + "\n");
    }
    std::cout.flush();
}

/// What is done, printed as it comes.
class Verification {
 public:
    explicit Verification(const Options& options) : options_(options), session_(options), layouts_(session_) {
        report_.command = options.command_line;
        report_.steps = session_.steps();
        report_.global_batch = kVerifyBatch;
        report_.all_layouts = static_cast<int>(verify_layouts().size());
    }

    ExecutorReport run() {
        const std::vector<VerifyLayout> wanted = wanted_layouts(options_);
        const int kills = options_.kills.value_or(kKills);
        all_ = wanted.size() + recovery_count(kills);
        for (const VerifyLayout& layout : wanted) {
            check(layout);
            count_check();
        }
        report_.curves = layouts_.take_curves();
        report_.optimizers = layouts_.optimizers();
        if (kills > 0) {
            say("\nkills and restarts, in runs of " + std::to_string(kFewestRecoverySteps) + " to " +
                std::to_string(kMostRecoverySteps) + " steps\n\n");
            check_recovery(session_, kills, [this](RecoveryCheck check) { take(std::move(check)); });
        }
        return std::move(report_);
    }

 private:
    void say(const std::string& text) const {
        if (!options_.json) {
            std::cout << text << std::flush;
        }
    }
    /// Where lines are printed, they show how far it is.
    void count_check() {
        ++done_;
        if (options_.json) {
            progress_.show(done_, all_);
        }
    }
    void print_head() const {
        if (!report_.layouts.empty() || !report_.left_out.empty()) {
            return;
        }
        say("largest relative difference from one rank over " + counted(session_.steps(), "step") +
            ", all fp32: of the loss with experts forced, of the gradient's norm in that run, of the loss with experts "
            "learned and replayed; peaks of memory and counts of operations against the prediction\n\n");
        say(table_line("ranks", "forced", "norm", "learned", "replayed", "memory", "counts", "first other choice",
                       "layout"));
    }

    void check(const VerifyLayout& layout) {
        if (unfit_.contains(layout.model)) {
            return;
        }
        try {
            if (!layouts_.has_single(layout.model)) {
                layouts_.run_single(layout.model);
            }
            print_head();
            report_.layouts.push_back(layouts_.check(layout));
        } catch (const InputError& error) {
            leave_out(layout, error);
            return;
        }
        if (!options_.json) {
            print_layout(report_.layouts.back());
        }
    }

    /// A layout that the model cannot have, or a further model that the data are not for.
    void leave_out(const VerifyLayout& layout, const InputError& error) {
        std::string what = layout.grid();
        if (!layouts_.has_single(layout.model)) {
            if (layout.model == VerifyModel::kExperts) {
                throw error;
            }
            unfit_.insert(layout.model);
            what = session_.workload_of(layout.model);
        }
        report_.left_out.push_back(what + ": " + session_.without_scratch(error.what()));
        say("left out: " + report_.left_out.back() + "\n");
    }

    void take(RecoveryCheck check) {
        count_check();
        say(check.what + ": " + check.result + (check.passed ? "\n" : "  NOT ALLOWED\n"));
        report_.recoveries.push_back(std::move(check));
    }

    const Options& options_;
    VerifySession session_;
    LayoutChecks layouts_;
    ExecutorReport report_;
    std::set<VerifyModel> unfit_;
    ProgressLine progress_{"checks done"};
    std::size_t done_ = 0, all_ = 0;
};

void print_optimizers(const ExecutorReport& report) {
    if (report.optimizers.empty()) {
        return;
    }
    std::cout << "\noptimizer states on the fullest rank, " << report.optimizers.front().grid << "\n";
    for (const OptimizerCheck& check : report.optimizers) {
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

void write_layouts(JsonWriter& json, const ExecutorReport& report) {
    json.key("layouts").begin_array();
    for (const LayoutCheck& check : report.layouts) {
        json.begin_object().member("workload", check.workload).member("grid", check.grid);
        json.member("choices", check.choices).member("ranks", check.ranks);
        write_difference(json, "forced", check.forced);
        write_difference(json, "norm", check.norm);
        write_difference(json, "learned", check.learned);
        write_difference(json, "replayed", check.replayed);
        json.member("first_other_choice", check.first_choice).member("memory", equality_text(check.memory));
        json.member("counts", equality_text(check.counts)).member("error", check.error);
        json.member("passed", check.passed()).end_object();
    }
    json.end_array();
}

void print_json(const ExecutorReport& report) {
    JsonWriter json(std::cout);
    json.begin_object().member("version", AUSPEX_VERSION).member("steps", report.steps);
    json.member("global_batch", report.global_batch).member("passed", report.passed());
    write_layouts(json, report);
    json.key("left_out").begin_array();
    for (const std::string& text : report.left_out) {
        json.value(text);
    }
    json.end_array().key("recoveries").begin_array();
    for (const RecoveryCheck& check : report.recoveries) {
        json.begin_object().member("what", check.what).member("result", check.result);
        json.member("passed", check.passed).end_object();
    }
    json.end_array().key("optimizers").begin_array();
    for (const OptimizerCheck& check : report.optimizers) {
        json.begin_object().member("grid", check.grid).member("sharding", check.sharding);
        json.member("measured_bytes", check.measured).member("predicted_bytes", check.predicted).end_object();
    }
    json.end_array().end_object();
}

}  // namespace

void run_verify(const Options& options) {
    if (rank_of_launcher(0)) {
        throw InputError("auspex verify", "found itself started by an MPI launcher; expected to start mpirun itself");
    }
    require_sense(options);
    require_mpirun();
    OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const ExecutorReport report = Verification(options).run();
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

}  // namespace auspex
