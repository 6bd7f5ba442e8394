/// @file auspex import: what other projects' files say, as files of this one.
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "interop/hugging_face.hpp"
#include "interop/launch_script.hpp"
#include "interop/megatron.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

/// "30.5 billion": parameters are counted in billions, as people name models by them.
std::string billions(double count) {
    std::ostringstream out;
    out.precision(4);
    out << count / 1e9 << " billion";
    return out.str();
}

void print_json(const models::Workload& workload, const interop::ImportedWorkload& imported, const Options& options) {
    JsonWriter json(std::cout);
    json.begin_object().member("config", imported.document.name()).member("sha256", imported.document.sha256());
    json.member("out", options.out).member("parameters", count_parameters(workload).total());
    json.member("active_parameters", count_active_parameters(workload).total()).key("notes").begin_array();
    for (const std::string& note : imported.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void print_text(const models::Workload& workload, const interop::ImportedWorkload& imported, const Options& options) {
    std::cout << workload.name << ": " << counted(workload.layers, "layer") << ", hidden size " << workload.hidden_size
              << ", sequence " << workload.sequence_length;
    if (workload.num_experts > 0) {
        std::cout << ", " << workload.num_experts << " experts, " << workload.top_k << " active";
    }
    std::cout << "\n" << billions(count_parameters(workload).total()) << " parameters";
    if (workload.num_experts > 0) {
        std::cout << ", " << billions(count_active_parameters(workload).total()) << " active a token";
    }
    std::cout << "\n";
    for (const std::string& note : imported.notes) {
        std::cout << "note: " << note << "\n";
    }
    std::cout << "\nwritten to " << options.out << "; auspex describe --workload " << options.out << " shows more\n";
}

/// Prints the content of a file, or writes it and says so.
bool is_printed(const std::string& text, const Options& options) {
    if (options.out.empty()) {
        std::cout << text;
        return true;
    }
    std::error_code status;
    if (std::filesystem::equivalent(options.config, options.out, status)) {
        throw InputError("--out " + options.out, "found the file that is imported; expected another one");
    }
    launch::OutputLocks locks(options.command_line);
    locks.take_file("--out " + options.out, options.out);
    write_file(options.out, text);
    return false;
}

}  // namespace

void run_import_hf(const Options& options) {
    std::vector<std::string> overrides = options.overrides;
    launch::require_roles(overrides, {"workload"});
    if (options.sequence_length > 0) {
        overrides.push_back("workload.sequence_length=" + std::to_string(options.sequence_length));
    }
    std::error_code status;
    const bool is_folder = std::filesystem::is_directory(options.config, status);  // a model as it is downloaded
    JsonDocument config = JsonDocument::load(options.config + (is_folder ? "/config.json" : ""));
    if (!interop::is_hugging_face(config)) {
        throw InputError(options.config + ": $.model_type",
                         "found no such key; expected the config.json of a model of Hugging Face");
    }
    const interop::ImportedWorkload imported = launch::import_workload(std::move(config), overrides);
    const models::Workload workload = models::load_workload(imported.document);
    if (is_printed(imported.document.indented() + "\n", options)) {
        return;
    }
    if (options.json) {
        print_json(workload, imported, options);
    } else {
        print_text(workload, imported, options);
    }
}

void run_import_megatron(const Options& options) {
    const interop::LaunchScript script =
        interop::read_launch_script(read_input_file(options.config, "a script or arguments"), options.config);
    const int ranks = options.tiles.empty() ? script.ranks : options.tiles.front();
    if (script.arguments.empty()) {
        throw InputError(options.config, "found no arguments; expected those of Megatron-LM, as in a launch script");
    }
    if (ranks == 0) {
        throw InputError("--tiles", "found no such flag, and no ranks in " + options.config +
                                        "; expected the number of ranks of the job");
    }
    const JsonDocument document =
        JsonDocument::parse(interop::plan_of_megatron(script.arguments, options.config, ranks), options.config);
    const models::Plan plan = models::load_plan(document);
    if (is_printed(document.indented() + "\n", options)) {
        return;
    }
    if (options.json) {
        JsonWriter(std::cout)
            .begin_object()
            .member("script", options.config)
            .member("out", options.out)
            .member("ranks", ranks)
            .end_object();
        return;
    }
    std::cout << thousands(ranks) << " ranks = pp " << plan.pp << " x dp " << plan.dp << " x ep " << plan.ep
              << " x etp " << plan.etp << "; tp " << plan.tp << ", cp " << plan.cp << ", micro-batches of "
              << plan.micro_batch_size << " x " << plan.micro_batches << "\nwritten to " << options.out << "\n";
}

}  // namespace auspex::cli
