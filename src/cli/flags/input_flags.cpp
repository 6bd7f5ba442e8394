/// @file Inputs of a command, and errors in its words.
#include "cli/flags/input_flags.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "base/text/text_list.hpp"
#include "cli/flags/job_size.hpp"
#include "launch/input_files.hpp"

namespace auspex::cli {
namespace {

/// "NVIDIA" of "NVIDIA H100 SXM5 80 GB".
std::string maker_of(const std::string& tile_name) { return tile_name.substr(0, tile_name.find(' ')); }

/// Whose GPUs a stack is for, by its library of communication, else by the machine of its constants; empty: nobody's.
std::string maker_of_stack(const models::Stack& stack) {
    using Made = std::pair<std::string_view, const char*>;
    static constexpr std::array<Made, 4> kLibraries{Made{"nccl", "NVIDIA"}, Made{"rccl", "AMD"},
                                                    Made{"rccl-xgmi", "AMD"}, Made{"oneccl", "Intel"}};
    const auto* const found =
        std::ranges::find(kLibraries, stack.library.empty() ? stack.name : stack.library, &Made::first);
    if (found != kLibraries.end()) {
        return found->second;
    }
    return launch::input_names("machine").contains(stack.measured_on)
               ? maker_of(models::load_machine(launch::load_document("machine", stack.measured_on, {})).tile.name)
               : "";
}

bool is_for(const std::string& name, const models::Machine& machine) {
    try {
        const models::Stack stack = launch::load_stack(name, {}, machine);
        return machine.cpu.cores > 0 ? stack.has_processes : maker_of_stack(stack) == maker_of(machine.tile.name);
    } catch (const InputError&) {  // a file that cannot be read is nobody's wish
        return false;
    }
}

}  // namespace

std::string stack_wish(const models::Machine& machine) {
    std::vector<std::string> names;
    for (const std::string& name : launch::input_names("stack")) {
        if (is_for(name, machine)) {
            names.push_back(name);
        }
    }
    if (names.empty()) {
        return "one of those that auspex list stacks shows";
    }
    const std::string last = names.back();
    names.pop_back();
    return "one for " + (machine.cpu.cores > 0 ? "CPU cores" : "GPUs of " + maker_of(machine.tile.name)) + ": " +
           joined(names, ", ") + (names.empty() ? "" : " or ") + last + " (auspex list stacks has all)";
}

std::vector<std::string> overrides_in_words(const Options& options) {
    std::vector<std::string> words;
    for (const std::string& text : options.overrides) {
        const launch::Override parts = launch::split_override(text);
        words.push_back(parts.role + "." + parts.path + " = " + parts.value);
    }
    return words;
}

void add_published_spread(models::Inputs& inputs) {
    if (inputs.machine.cpu.cores == 0) {
        inputs.published_spread =
            models::find_spread(launch::published_spreads(), inputs.stack.name, inputs.machine.name);
    }
}

models::Inputs load_all(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "workload", "plan"});
    auto [machine, stack] = launch::load_machine_and_stack(options.machine, options.stack, options.overrides);
    models::Inputs inputs = models::load_inputs(std::move(machine), std::move(stack),
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
    std::vector<report::InputFile> files;
    report::add_sources(files, "machine", inputs.machine_document);
    report::add_sources(files, "stack", inputs.stack_document);
    report::add_sources(files, "workload", inputs.workload_document);
    report::add_sources(files, "plan", inputs.plan_document);
    return files;
}

}  // namespace auspex::cli
