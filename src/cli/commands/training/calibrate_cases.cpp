/// @file auspex calibrate --cases: constants fitted to training runs, and what runs that are held back say of them.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "base/shell_word.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "compare/fit/machine_edit.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text_table.hpp"
#include "workflows/validate/fit_constants.hpp"
#include "workflows/validate/run_predictor.hpp"

namespace auspex::cli {
namespace {

using workflows::CaseOfFit;
using workflows::ConstantsFit;
using workflows::FittedConstant;

void require_sense_of_fit(const Options& options) {
    const CalibrateFlags& flags = options.calibrate;
    refuse_given({{"--from", !flags.from.empty()},
                  {"--measurements", !flags.measurements.empty()},
                  {"--fresh", flags.fresh},
                  {"--max-ranks", options.max_ranks > 0},
                  {"--precision", !flags.precision.empty()},
                  {"--budget-s", flags.budget_s > 0},
                  {"--hostfile", !options.train.hostfile.empty()},
                  {"--mpirun", !options.train.mpirun.empty()},
                  {"--report", !flags.report.empty()}},
                 "found together with --cases; expected runs that others measured, or a machine to measure");
    if (flags.fit.empty()) {
        throw InputError("--cases",
                         "found without --fit; expected constants to fit to the cases, such as --fit "
                         "stack.kernels.gemm_efficiency");
    }
    if (options.machine.empty() == options.stack.empty()) {
        throw InputError("--fit", std::string(options.machine.empty() ? "found without" : "found together with both") +
                                      " --machine and --stack; expected one of them: the file whose constants are "
                                      "fitted to its cases");
    }
    const std::string role = options.machine.empty() ? "stack" : "machine";
    for (const std::string& path : flags.fit) {
        if (!path.starts_with(role + ".")) {
            throw InputError("--fit", "found " + path + " with --" + role + "; expected constants of the " + role);
        }
    }
    const std::string& name = options.machine.empty() ? options.stack : options.machine;
    if (name.find('/') != std::string::npos || name.ends_with(".json")) {
        throw InputError("--" + role, "found \"" + name + "\"; expected a name, as cases mean one; --" + role +
                                          "s DIR takes files of such names from another folder");
    }
}

workflows::HoldBack hold_back_of(const std::string& word) {
    using enum workflows::HoldBack;
    return word == "none" ? kNone : word == "halves" ? kHalves : word == "sources" ? kSources : kHalf;
}

workflows::FitConstantsRequest fit_request(const Options& options) {
    workflows::FitConstantsRequest request;
    request.cases = options.validate.cases;
    request.machines = options.validate.machines;
    request.stacks = options.validate.stacks;
    request.overrides = options.overrides;
    request.machine = options.machine;
    request.stack = options.stack;
    request.constants = options.calibrate.fit;
    request.hold_back = hold_back_of(options.calibrate.hold_back);
    return request;
}

std::string quantity_text(double value, const FittedConstant& of) {
    const std::string json = fit::quantity_json(value, of.before.dimension);
    return json.starts_with('"') ? json.substr(1, json.size() - 2) : json;
}

const char* part_of(const CaseOfFit& one) {
    constexpr double kSay = 0.1;
    return one.is_held_back ? "held back" : one.weight < kSay ? "fitted, too far off to have a say" : "fitted";
}

void print_warnings(const ConstantsFit& fit) {
    constexpr double kFar = 3;
    for (const FittedConstant& one : fit.constants) {
        if (one.moved() > kFar) {
            std::cout
                << "Warning: " << one.before.path << " went " << significant(one.moved(), 2)
                << " times its uncertainty: that is too small in the file, or the cases are off for a reason that is "
                   "none of the constant's\n\n";
        }
    }
}

/// Values and errors of fits that had no part of what they judge.
void print_in_turn(const ConstantsFit& fit) {
    if (fit.in_turn.empty()) {
        return;
    }
    std::vector<report::TextRow> values{{"fitted in turn without"}};
    for (const FittedConstant& one : fit.constants) {
        values.front().push_back(one.before.path);
    }
    for (const workflows::FitInTurn& one : fit.in_turn) {
        values.push_back({one.without});
        for (std::size_t k = 0; k < one.values.size(); ++k) {
            values.back().push_back(quantity_text(one.values[k], fit.constants[k]));
        }
    }
    std::cout << report::text_table(values, {0}) << "\n";
    std::vector<report::TextRow> errors{
        {"machine", "n", "mean |error| before", "fitted to all", "in turn", "bias before", "fitted", "in turn"}};
    for (const workflows::InTurnErrors& one : workflows::errors_in_turn(fit)) {
        errors.push_back({one.machine.empty() ? "all" : one.machine, std::to_string(one.before.errors.n),
                          percent(one.before.mape), percent(one.fitted.mape), percent(one.in_turn.mape),
                          signed_percent(one.before.errors.mean_error), signed_percent(one.fitted.errors.mean_error),
                          signed_percent(one.in_turn.errors.mean_error)});
    }
    std::cout << report::text_table(errors, {0}) << "\n";
}

void print_cases(const ConstantsFit& fit) {
    const bool has_turns = !fit.in_turn.empty();
    report::TextRow header{"error before", "now"};
    header.insert(header.end(), has_turns ? 1 : 0, "in turn");
    const std::size_t texts = header.size() + 1;
    header.insert(header.end(), {"measured", "case", "source", ""});
    std::vector<report::TextRow> rows{header};
    for (const CaseOfFit& one : fit.cases) {
        report::TextRow row{signed_percent(one.run.error()), signed_percent(one.error())};
        row.insert(row.end(), has_turns ? 1 : 0, signed_percent(one.error_in_turn()));
        row.insert(row.end(), {duration(one.run.measured.seconds), one.run.run.id,
                               workflows::name_of_source(one.run.run), part_of(one)});
        rows.push_back(std::move(row));
    }
    std::cout << report::text_table(rows, {texts, texts + 1, texts + 2}) << "\n";
}

void print_fit(const ConstantsFit& fit) {
    std::vector<report::TextRow> constants{{"constant", "before", "±", "now", "±", "told by the cases"}};
    for (const FittedConstant& one : fit.constants) {
        constants.push_back({one.before.path, quantity_text(one.before.value, one),
                             percent(one.before.relative_uncertainty), quantity_text(one.value, one),
                             percent(one.uncertainty),
                             percent(one.told(), 0) + (one.is_at_limit ? ", at its limit" : "")});
    }
    std::cout << report::text_table(constants, {0}) << "\n";
    print_warnings(fit);
    std::vector<report::TextRow> parts{{"cases", "n", "mean |error| before", "now", "bias before", "now"}};
    for (const bool held_back : {false, true}) {
        const workflows::PartOfFit part = workflows::part_of_fit(fit, held_back);
        const int n = part.before.errors.n;
        if (n > 0) {
            parts.push_back({held_back ? "held back" : "fitted", std::to_string(n), percent(part.before.mape),
                             percent(part.after.mape), signed_percent(part.before.errors.mean_error),
                             signed_percent(part.after.errors.mean_error)});
        }
    }
    std::cout << report::text_table(parts, {0}) << "\n";
    print_in_turn(fit);
    print_cases(fit);
    for (const evaluate::ValidatedRun& one : fit.unmapped) {
        std::cout << "Not predicted: " << one.why_unmapped << "\n";
    }
    if (fit.others > 0) {
        std::cout << counted(fit.others, "case") << " of other machines or stacks, or that read none of the constants, "
                  << (fit.others == 1 ? "is" : "are") << " left out.\n";
    }
    std::cout
        << "±: one standard deviation; told by the cases: how much of its square before they took away, with cases "
           "of one source off together by 5 %. Constants of which they tell less than 5 % stay as they are.\n";
}

void write_part(JsonWriter& json, const char* key, const workflows::PartOfFit& part) {
    json.key(key).begin_object().member("n", part.before.errors.n).member("mape_before", part.before.mape);
    json.member("mape", part.after.mape).member("bias_before", part.before.errors.mean_error);
    json.member("bias", part.after.errors.mean_error).end_object();
}

void write_in_turn(JsonWriter& json, const ConstantsFit& fit) {
    json.key("in_turn").begin_array();
    for (const workflows::FitInTurn& one : fit.in_turn) {
        json.begin_object().member("without", one.without).key("values").begin_array();
        std::ranges::for_each(one.values, [&](double value) { json.value(value); });
        json.end_array().end_object();
    }
    json.end_array().key("errors_in_turn").begin_array();
    if (!fit.in_turn.empty()) {
        for (const workflows::InTurnErrors& one : workflows::errors_in_turn(fit)) {
            json.begin_object().member("machine", one.machine).member("n", one.before.errors.n);
            json.member("mape_before", one.before.mape).member("mape", one.fitted.mape);
            json.member("mape_in_turn", one.in_turn.mape).member("bias_before", one.before.errors.mean_error);
            json.member("bias", one.fitted.errors.mean_error);
            json.member("bias_in_turn", one.in_turn.errors.mean_error).end_object();
        }
    }
    json.end_array();
}

/// What docs/json-output.md lists for `auspex calibrate --cases`.
void print_fit_json(const ConstantsFit& fit, const Options& options) {
    JsonWriter json(std::cout);
    json.begin_object().member("version", AUSPEX_VERSION);
    json.member(options.stack.empty() ? "machine" : "stack", options.stack.empty() ? options.machine : options.stack);
    json.member("file", options.out).key("constants").begin_array();
    for (const FittedConstant& one : fit.constants) {
        json.begin_object().member("path", one.before.path).member("before", one.before.value);
        json.member("before_kind", to_string(one.before.kind));
        json.member("before_uncertainty", one.before.relative_uncertainty).member("value", one.value);
        json.member("uncertainty", one.uncertainty).member("told", one.told()).member("moved", one.moved());
        json.member("at_limit", one.is_at_limit).end_object();
    }
    json.end_array();
    write_part(json, "fitted", workflows::part_of_fit(fit, false));
    write_part(json, "held_back", workflows::part_of_fit(fit, true));
    write_in_turn(json, fit);
    json.key("cases").begin_array();
    for (const CaseOfFit& one : fit.cases) {
        json.begin_object().member("id", one.run.run.id).member("source", workflows::name_of_source(one.run.run));
        json.member("held_back", one.is_held_back).member("weight", one.weight);
        json.member("measured_step_s", one.run.measured.seconds);
        json.member("predicted_step_s_before", one.run.predicted_s).member("predicted_step_s", one.predicted_s);
        json.member("error_before", one.run.error()).member("error", one.error());
        if (!fit.in_turn.empty()) {
            json.member("predicted_step_s_in_turn", one.in_turn_s).member("error_in_turn", one.error_in_turn());
        }
        json.end_object();
    }
    json.end_array().key("unmapped").begin_array();
    for (const evaluate::ValidatedRun& one : fit.unmapped) {
        json.begin_object().member("id", one.run.id).member("why", one.why_unmapped).end_object();
    }
    json.end_array().member("others", fit.others).end_object();
}

/// The file that is read stays as it is.
void require_another_file(const Options& options) {
    const bool is_stack = !options.stack.empty();
    const std::string place = is_stack ? workflows::place_of(options.stack, options.validate.stacks)
                                       : workflows::place_of(options.machine, options.validate.machines);
    const std::string file = launch::find_input(is_stack ? "stack" : "machine", place);
    std::error_code absent;
    if (std::filesystem::equivalent(options.out, file, absent)) {
        throw InputError("--out " + options.out, "found the file that is read; expected another one");
    }
}

/// How to go on with the file.
std::string next_step_of_fit(const Options& options) {
    const std::string role = options.stack.empty() ? "machine" : "stack";
    const std::filesystem::path out(options.out);
    const std::string name = (options.stack.empty() ? options.machine : options.stack) + ".json";
    const std::string folder = out.parent_path().empty() ? "." : out.parent_path().string();
    const std::string place = out.filename() == name ? "--" + role + "s " + quoted_for_shell(folder)
                                                     : "--" + role + "s DIR, once it is DIR/" + name;
    return "The " + role + " is " + options.out + ": auspex predict and plan take it with --" + role + " " +
           quoted_for_shell(options.out) + ", validate and calibrate --cases with " + place + ".\n";
}

}  // namespace

void run_calibrate_cases(const Options& options) {
    require_sense_of_fit(options);
    launch::OutputLocks locks(options.command_line);
    if (!options.out.empty()) {
        require_another_file(options);
        locks.take_file("--out " + options.out, options.out);
        launch::require_writable("--out", options.out);
    }
    const ConstantsFit fit = workflows::fit_constants(fit_request(options));
    if (!options.out.empty()) {
        report::write_report_file(options.out, fit::laid_out(fit.file.dump()));
    }
    if (options.json) {
        print_fit_json(fit, options);
        return;
    }
    print_fit(fit);
    if (!options.out.empty()) {
        std::cout << next_step_of_fit(options);
    }
}

}  // namespace auspex::cli
