/// @file auspex scenario: all inputs of a job in one file.
#include "launch/scenario.hpp"

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "launch/output_locks.hpp"

namespace auspex::cli {
namespace {

/// "3072", "[384, 768]"
std::string sizes_text(const std::vector<int>& sizes) {
    std::string list;
    for (const int size : sizes) {
        list += (list.empty() ? "" : ", ") + std::to_string(size);
    }
    return sizes.size() == 1 ? list : "[" + list + "]";
}

/// What else is given, by key. Values are JSON.
std::vector<std::pair<std::string, std::string>> job_of(const Options& options) {
    std::vector<std::pair<std::string, std::string>> job;
    if (!options.nodes.empty()) {
        job.emplace_back("nodes", sizes_text(options.nodes));
    } else if (!options.tiles.empty()) {
        job.emplace_back("tiles", sizes_text(options.tiles));
    }
    if (options.global_batch > 0) {
        job.emplace_back("global_batch", std::to_string(options.global_batch));
    }
    if (options.tokens > 0) {
        job.emplace_back("tokens", json_number(options.tokens));
    }
    return job;
}

}  // namespace

void run_scenario(const Options& options) {
    models::Inputs inputs = load_all(options);  // refuses what no command would take
    launch::take_trace_from(inputs.plan_document,
                            std::filesystem::path(inputs.plan_document.name()).parent_path().string());
    const std::string text = launch::scenario_text({{"machine", inputs.machine.name, &inputs.machine_document},
                                                    {"stack", inputs.stack.name, &inputs.stack_document},
                                                    {"workload", inputs.workload.name, &inputs.workload_document},
                                                    {"plan", inputs.plan.name, &inputs.plan_document}},
                                                   job_of(options));
    if (!options.out.empty()) {
        launch::OutputLocks locks(options.command_line);
        locks.take_file("--out " + options.out, options.out);
        write_file(options.out, text);
    }
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object().member("file", options.out).member("text", text).end_object();
    } else if (options.out.empty()) {
        std::cout << text;
    } else {
        std::cout << "written to " << options.out << "; auspex predict --scenario " << options.out << " takes it\n";
    }
}

}  // namespace auspex::cli
