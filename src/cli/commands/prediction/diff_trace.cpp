/// @file auspex diff PLAN TRACE: a run of somebody's own framework beside the prediction of its plan.
#include <iostream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/run_output.hpp"
#include "compare/kineto/compare_run.hpp"
#include "launch/output_locks.hpp"
#include "report/run/run_page.hpp"

namespace auspex::cli {
namespace {

void require_inputs(const Options& options) {
    const struct {
        const std::string& value;
        const char* flag;
    } needed[] = {{options.machine, "--machine"}, {options.stack, "--stack"}, {options.workload, "--workload"}};
    for (const auto& [value, flag] : needed) {
        if (value.empty()) {
            throw InputError("auspex diff", std::string("found a trace without ") + flag +
                                                "; for example: auspex diff plan.json trace.json --machine dgx-h100 "
                                                "--stack nanotron --workload llama3-70b");
        }
    }
}

}  // namespace

void run_diff_trace(const Options& given) {
    require_inputs(given);
    refuse_given({{"--plan", !given.plan.empty()}}, "found beside a trace; expected the plan before the trace alone");
    Options options = given;
    options.plan = options.diff.before;
    const models::Inputs inputs = load_all(options);
    const CsvFile csv(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    report::RunPage page;
    page.diff = kineto::compare_run(inputs, {options.diff.after, options.tiles.empty() ? 0 : options.tiles.front(),
                                             options.diff.step, options.diff.rank});
    page.title = "A run of " + inputs.workload.name + " beside its prediction on " + inputs.machine.name + " with " +
                 inputs.stack.name;
    page.command = options.command_line;
    page.inputs = files_of(inputs);
    page.overrides = overrides_in_words(options);
    if (!options.out.empty()) {
        write_run_page(page, options.out);
    }
    const auto answer = [&](std::ostream& out) {
        JsonWriter json(out);
        json.begin_object();
        write_names(json, inputs, options);
        write_run_diff(json, page.diff);
        json.end_object();
    };
    csv.write(answer);
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    std::cout << page.title << overrides_line(options) << "\n";
    print_run_diff(std::cout, page.diff);
    if (!options.out.empty()) {
        std::cout << "\nThe page is in " << options.out << ": index.html, operations.csv\n";
    }
}

}  // namespace auspex::cli
