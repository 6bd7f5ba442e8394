/// @file Inputs of a command, and errors in its words.
#include "cli/flags/input_flags.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "cli/flags/job_size.hpp"
#include "launch/input_files.hpp"

namespace auspex::cli {

std::vector<std::string> overrides_in_words(const Options& options) {
    std::vector<std::string> words;
    for (const std::string& text : options.overrides) {
        const launch::Override parts = launch::split_override(text);
        words.push_back(parts.role + "." + parts.path + " = " + parts.value);
    }
    return words;
}

void add_published_spread(models::Inputs& inputs) {
    constexpr const char *kRole = "published-names", *kName = "spread";
    if (inputs.machine.cpu.cores > 0 || !launch::input_names(kRole).contains(kName)) {
        return;
    }
    inputs.published_spread =
        models::find_spread(models::load_spreads(JsonDocument::load(launch::find_input(kRole, kName))),
                            inputs.stack.name, inputs.machine.name);
}

models::Inputs load_all(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "workload", "plan"});
    models::Inputs inputs = models::load_inputs(launch::load_document("machine", options.machine, options.overrides),
                                                launch::load_document("stack", options.stack, options.overrides),
                                                launch::load_document("workload", options.workload, options.overrides),
                                                launch::load_document("plan", options.plan, options.overrides));
    add_published_spread(inputs);
    forget_dp(options, inputs.plan);
    fill_micro_batches(options, inputs.workload, inputs.plan);
    return inputs;
}

InputError with_command_line_context(const Options& options, const InputError& error) {
    const std::string message = error.what();
    const std::vector<std::pair<std::string, std::string>> roles{
        {"machine", options.machine}, {"stack", options.stack}, {"workload", options.workload}, {"plan", options.plan}};
    for (const auto& [role, name] : roles) {
        const std::string file = name.empty() ? "" : launch::document_name(role, name);
        if (file.empty() || !message.starts_with(file + ": $")) {
            continue;
        }
        std::string sets;
        for (const std::string& text : options.overrides) {
            if (const launch::Override parts = launch::split_override(text); parts.role == role) {
                sets += (sets.empty() ? " (with " : ", ") + ("--set " + role + "." + parts.path);
            }
        }
        sets += sets.empty() ? "" : ")";
        const std::string rest = message.substr(file.size() + 2);
        const std::string key_of_tiles = "$.dp: ";
        if (role == "plan" && !options.tiles.empty() && rest.starts_with(key_of_tiles)) {
            return {options.search.tiles_flag + " with " + file + sets, rest.substr(key_of_tiles.size())};
        }
        return {file + sets + error.where().substr(std::min(file.size(), error.where().size())), error.found()};
    }
    return error;
}

void forget_dp(const Options& options, models::Plan& plan) {
    if (options.tiles.size() == 1 && !launch::value_set(options.overrides, "plan", "dp")) {
        plan.dp = 0;
    }
}

std::vector<report::InputFile> files_of(const models::Inputs& inputs) {
    const auto file = [](const char* role, const JsonDocument& document) {
        return report::InputFile{role, document.name(), document.sha256()};
    };
    return {file("machine", inputs.machine_document), file("stack", inputs.stack_document),
            file("workload", inputs.workload_document), file("plan", inputs.plan_document)};
}

}  // namespace auspex::cli
