/// @file auspex import: what other projects' files say, as files of this one.
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/exchange/imported_file.hpp"
#include "interop/hugging_face.hpp"
#include "launch/input_files.hpp"
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
    JsonWriter json(answer_stream(options));
    json.begin_object().member("config", imported.document.name()).member("sha256", imported.document.sha256());
    json.member("out", options.out).member("parameters", count_parameters(workload).total());
    json.member("active_parameters", count_active_parameters(workload).total());
    json.member("active_parameters_without_embedding", interop::active_without_embedding(workload))
        .key("notes")
        .begin_array();
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
        std::cout << ", " << billions(count_active_parameters(workload).total()) << " active a token, "
                  << billions(interop::active_without_embedding(workload)) << " without the input embedding";
    }
    std::cout << "\n";
    for (const std::string& note : imported.notes) {
        std::cout << "note: " << note << "\n";
    }
    std::cout << "\nwritten to " << options.out << "; auspex describe --workload " << options.out << " shows more\n";
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

}  // namespace auspex::cli
