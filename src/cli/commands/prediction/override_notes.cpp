/// @file The same job without one --set after the other.
#include "cli/commands/prediction/override_notes.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "cli/flags/input_flags.hpp"
#include "launch/input_files.hpp"
#include "sim/predict/memory_report.hpp"

namespace auspex::cli {
namespace {

int tiles_without(const Options& options) {
    const models::Inputs inputs = load_all(options);
    return tiles_of(resolve_plan(inputs.plan, inputs.workload, 0));
}

/// What fields of the grid the command line sets: "plan.ep=24, plan.pp=4".
std::string sets_of_grid(const Options& options) {
    std::string sets;
    for (const char* field : {"dp", "ep", "etp", "tp", "pp", "cp"}) {
        if (const auto value = launch::value_set(options.overrides, "plan", field)) {
            sets += (sets.empty() ? "" : ", ") + ("plan." + std::string(field) + "=" + *value);
        }
    }
    return sets;
}

void note_other_tiles(std::vector<std::string>& notes, const Options& options, const predict::Prediction& p) {
    const std::string sets = sets_of_grid(options);
    if (!options.tiles.empty() || sets.empty()) {
        return;
    }
    Options as_filed = options;
    std::erase_if(as_filed.overrides,
                  [](const std::string& text) { return launch::split_override(text).role == "plan"; });
    try {
        const int before = tiles_without(as_filed);
        if (before != p.tiles) {
            notes.push_back("with " + sets + " the job has " + counted(p.tiles, "tile") + ", not the " +
                            thousands(before) + " of the plan's file: dp stays " + std::to_string(p.dp) + "; --tiles " +
                            std::to_string(before) + " would keep them and let dp follow");
        }
    } catch (const InputError&) {
        return;  // the file says no number by itself
    }
}

/// "arithmetic and rank transport": what most of the time is bound by.
std::string bound_words(const predict::Prediction& p) {
    constexpr std::size_t kShown = 2;
    std::string words;
    for (std::size_t i = 0; i < std::min(kShown, p.bound_by.size()); ++i) {
        words += (i == 0 ? "" : " and ") + p.bound_by[i].limit;
    }
    return words.empty() ? "" : "; most of its time is bound by " + words;
}

/// True if the prediction says of the setting already that it changes nothing, or --tiles has said it first.
bool is_said(const Options& options, const predict::Prediction& p, const launch::Override& setting) {
    if (setting.role == "plan" && setting.path == "dp" && !options.tiles.empty()) {
        return true;
    }
    return setting.role == "plan" && std::ranges::any_of(p.notes, [&](const std::string& note) {
               return note.find(setting.path) != std::string::npos &&
                      note.find(" changes nothing") != std::string::npos;
           });
}

void note_idle_overrides(std::vector<std::string>& notes, const Options& options, const predict::Prediction& p) {
    const double step_s = p.unfolded ? p.unfolded->folded_step_time_s : p.step_time_s;
    for (const std::string& text : options.overrides) {
        if (is_said(options, p, launch::split_override(text))) {
            continue;
        }
        Options others = options;
        std::erase(others.overrides, text);
        try {
            const models::Inputs inputs = load_all(others);
            const predict::SimulatedStep step =
                predict::simulate_step(inputs, {.tiles = options.tiles.empty() ? 0 : options.tiles.front()}, false);
            if (to_seconds(step.step) == step_s &&
                predict::memory_report(inputs, step).peak_bytes == p.memory.peak_bytes) {
                const bool is_of_file =
                    launch::split_override(text).role == "plan" && inputs.plan == load_all(options).plan;
                notes.push_back("--set " + text + " changes nothing: " +
                                (is_of_file ? "the plan is so without it"
                                            : "step and memory are the same without it" + bound_words(p)));
            }
        } catch (const InputError&) {
            continue;  // the others do not go without it
        }
    }
}

}  // namespace

std::vector<std::string> override_notes(const Options& options, const predict::Prediction& prediction) {
    std::vector<std::string> notes;
    note_other_tiles(notes, options, prediction);
    if (!options.no_sensitivity && prediction.lens != predict::Lens::kCpu) {
        note_idle_overrides(notes, options, prediction);
    }
    return notes;
}

}  // namespace auspex::cli
