/// @file auspex import megatron, optimus, torchtitan, deepspeed: settings of a framework as a plan file.
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/exchange/imported_file.hpp"
#include "cli/output/plan_output.hpp"
#include "interop/frameworks/frameworks.hpp"
#include "launch/input_files.hpp"
#include "models/workload.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

/// A plan file's content. It is read again, so that what is printed is a file that the other commands take.
std::string plan_text(const interop::ImportedPlan& imported, const interop::Framework& framework) {
    std::ostringstream text;
    JsonWriter json(text);
    json.begin_object().member("source", std::string("settings of ") + framework.name);
    write_plan(json, imported.plan);
    json.end_object();
    const JsonDocument document = JsonDocument::parse(text.str(), imported.plan.file);
    static_cast<void>(models::load_plan(document));
    return document.indented() + "\n";
}

void print_json(const interop::ImportedPlan& imported, const interop::Framework& framework, const Options& options) {
    JsonWriter json(answer_stream(options));
    json.begin_object().member("framework", framework.word).member("script", options.config);
    json.member("out", options.out).member("ranks", tiles_of(imported.plan)).key("notes").begin_array();
    for (const std::string& note : imported.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void print_notes(std::ostream& out, const interop::ImportedPlan& imported) {
    for (const std::string& note : imported.notes) {
        out << "note: " << note << "\n";
    }
}

/// What people write by hand is short; words of a long text take many times its room.
std::string read_script(const std::string& file, const std::string& expected) {
    constexpr std::size_t kLargest = std::size_t{4} << 20;
    std::string text = read_input_file(file, expected);
    if (text.size() > kLargest) {
        throw InputError(file, "found " + format_quantity(static_cast<double>(text.size()), Dimension::kBytes) +
                                   "; expected " + expected + " of at most 4 MiB");
    }
    return text;
}

void import_plan(const Options& options, const char* word) {
    const interop::Framework& framework = interop::framework_named(word, "import");
    interop::PlanText from;
    from.name = options.config;
    from.text = read_script(options.config, "a script or a configuration");
    from.ranks = options.tiles.empty() ? 0 : options.tiles.front();
    from.configuration = options.import.function;
    if (!options.import.arguments.empty()) {
        from.arguments_name = options.import.arguments;
        from.arguments = read_script(options.import.arguments, "a script or arguments");
    }
    std::optional<models::Workload> workload;
    if (!options.workload.empty()) {
        workload = models::load_workload(launch::load_document("workload", options.workload, {}));
        from.workload = &*workload;
    }
    const interop::ImportedPlan imported = framework.import(from);
    const models::Plan& plan = imported.plan;
    if (workload) {
        static_cast<void>(resolve_plan(plan, *workload, 0));
    }
    if (is_printed(plan_text(imported, framework), options)) {
        print_notes(std::cerr, imported);  // a plan file is all that stdout is to hold
        return;
    }
    if (options.json) {
        print_json(imported, framework, options);
        return;
    }
    std::cout << thousands(tiles_of(plan)) << " ranks = pp " << plan.pp << " x dp " << plan.dp << " x ep " << plan.ep
              << " x etp " << plan.etp << "; tp " << plan.tp << ", cp " << plan.cp << ", micro-batches of "
              << plan.micro_batch_size << " x " << plan.micro_batches << "\n";
    print_notes(std::cout, imported);
    std::cout << "written to " << options.out << "\n";
}

}  // namespace

void run_import_megatron(const Options& options) { import_plan(options, "megatron-lm"); }
void run_import_optimus(const Options& options) { import_plan(options, "optimus"); }
void run_import_torchtitan(const Options& options) { import_plan(options, "torchtitan"); }
void run_import_deepspeed(const Options& options) { import_plan(options, "deepspeed"); }

}  // namespace auspex::cli
