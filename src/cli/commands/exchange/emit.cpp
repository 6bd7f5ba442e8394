/// @file auspex emit: a plan as another program takes it.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "interop/job_script.hpp"
#include "interop/megatron.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/text.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {
namespace {

constexpr double kStart_s = 30 * 60;  ///< to begin, to save a checkpoint, and to spare

struct Emitted {
    models::Workload workload;
    models::Plan plan;
    interop::Settings settings;
    std::string text;
    std::vector<std::string> notes;  ///< of a job: what its user should know before submitting
};

interop::Settings settings_of(const models::Workload& workload, const models::Plan& plan) {
    interop::Settings settings = interop::megatron_model(workload);
    const interop::Settings more = interop::megatron_plan(workload, plan);
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

/// Letters, digits and "-": what batch systems take as a name.
std::string job_name(const std::string& workload) {
    constexpr std::size_t kLongest = 15;
    std::string name = workload.substr(0, kLongest);
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
    return name;
}

std::string walltime_text(int steps, double step_s) {
    std::ostringstream out;
    out << thousands(steps) << " steps of at most " << format_quantity(step_s, Dimension::kSeconds)
        << " (the upper end of the 90 % interval predicted) and 30 min to begin and to end";
    return out.str();
}

void add_job_notes(const interop::Job& job, int tiles_of_node, std::vector<std::string>& notes) {
    constexpr double kDay_s = 86400;
    if (job.ranks % job.ranks_per_node != 0 || job.ranks_per_node < tiles_of_node) {
        notes.push_back("the last node has fewer ranks than its " + counted(tiles_of_node, "tile"));
    }
    if (job.walltime_s > kDay_s) {
        notes.emplace_back("the walltime is more than a day: the run needs checkpoints, and several jobs");
    }
    notes.emplace_back(
        "the array TRIAL of the script is for trying out the layout: made-up data and, with experts, forced "
        "routing; replace it for a real run");
}

Emitted emit_arguments(const Options& options) {
    launch::require_roles(options.overrides, {"workload", "plan"});
    Emitted emitted;
    emitted.workload = models::load_workload(launch::load_document("workload", options.workload, options.overrides));
    models::Plan plan = models::load_plan(launch::load_document("plan", options.plan, options.overrides));
    forget_dp(options, plan);
    emitted.plan = resolve_plan(plan, emitted.workload, options.tiles.empty() ? 0 : options.tiles.front());
    emitted.settings = settings_of(emitted.workload, emitted.plan);
    emitted.text = interop::arguments_text("ARGUMENTS", emitted.settings);
    return emitted;
}

Emitted emit_job(const Options& options) {
    const bool is_pbs = options.emit.job == "pbs";
    if (!is_pbs && options.emit.job != "slurm") {
        throw InputError("--job", "found \"" + options.emit.job + "\"; expected pbs or slurm");
    }
    if (options.machine.empty() || options.stack.empty() || !options.train.steps || *options.train.steps == 0) {
        throw InputError("--job",
                         "found without --machine, --stack or --steps; expected all of them, for the walltime "
                         "is that of the steps as predicted");
    }
    const models::Inputs inputs = load_all(options);
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    const predict::Prediction prediction = predict::predict(inputs, wanted).prediction;
    if (!prediction.memory.fits) {
        throw InputError("--plan " + options.plan,
                         "found a plan that does not fit in memory: " + prediction.memory.verdict);
    }
    Emitted emitted;
    emitted.workload = inputs.workload;
    emitted.plan = resolve_plan(inputs.plan, inputs.workload, wanted.tiles);
    emitted.settings = settings_of(emitted.workload, emitted.plan);
    interop::Job job;
    job.name = job_name(inputs.workload.name), job.program = "pretrain_gpt.py", job.settings = emitted.settings;
    job.settings.push_back({"--train-iters", std::to_string(*options.train.steps), "--steps"});
    job.trial = {{"--mock-data", "", "made up"},
                 {"--tokenizer-type", "NullTokenizer", "made up"},
                 {"--lr", json_number(inputs.workload.training.learning_rate), "workload.training, or its default"}};
    std::erase_if(job.settings, [&job](const interop::Setting& setting) {
        const bool is_of_trials = setting.name == "--moe-router-force-load-balancing";
        if (is_of_trials) {
            job.trial.push_back({setting.name, "", "plan.routing; the router chooses nothing with it"});
        }
        return is_of_trials;
    });
    job.predicted_with = "predicted with stack " + inputs.stack.name + " on machine " + inputs.machine.name;
    job.ranks = tiles_of(emitted.plan), job.ranks_per_node = std::min(inputs.machine.node.tiles, job.ranks);
    job.nodes = (job.ranks + job.ranks_per_node - 1) / job.ranks_per_node;
    const double step_s = prediction.step_time_interval_s.high;
    job.walltime_s = *options.train.steps * step_s + kStart_s;
    job.walltime_says = walltime_text(*options.train.steps, step_s);
    job.repeat = "made by: " + options.command_line;
    emitted.notes = prediction.notes;
    add_job_notes(job, inputs.machine.node.tiles, emitted.notes);
    emitted.text = job_script(job, is_pbs ? interop::BatchSystem::kPbs : interop::BatchSystem::kSlurm, inputs.machine);
    return emitted;
}

void print_json(const Emitted& emitted, const Options& options) {
    JsonWriter json(std::cout);
    json.begin_object().member("format", options.emit.format).member("workload", emitted.workload.name);
    json.member("plan", emitted.plan.name).member("tiles", tiles_of(emitted.plan)).key("settings").begin_array();
    for (const interop::Setting& setting : emitted.settings) {
        json.begin_object().member("name", setting.name).member("value", setting.value);
        json.member("from", setting.from).end_object();
    }
    json.end_array().key("notes").begin_array();
    for (const std::string& note : emitted.notes) {
        json.value(note);
    }
    json.end_array().member("text", emitted.text).end_object();
}

}  // namespace

void run_emit(const Options& options) {
    if (options.emit.format != "megatron-lm") {
        throw InputError("--format", "found \"" + options.emit.format + "\"; expected megatron-lm");
    }
    const Emitted emitted = options.emit.job.empty() ? emit_arguments(options) : emit_job(options);
    if (!options.out.empty()) {
        launch::OutputLocks locks(options.command_line);
        locks.take_file("--out " + options.out, options.out);
        write_file(options.out, emitted.text);
    }
    if (options.json) {
        print_json(emitted, options);
    } else if (options.out.empty()) {
        std::cout << emitted.text;
    } else {
        std::cout << "written to " << options.out << "\n";
        for (const std::string& note : emitted.notes) {
            std::cout << "note: " << note << "\n";
        }
    }
}

}  // namespace auspex::cli
