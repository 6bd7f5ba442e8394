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
#include "campaign/finish/machine_setting.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/flags/job_size.hpp"
#include "interop/frameworks/emission_text.hpp"
#include "interop/frameworks/frameworks.hpp"
#include "interop/frameworks/job_script.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "models/jobs/launch_settings.hpp"
#include "report/parts/text.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {
namespace {

constexpr double kLeastStart_s = 30 * 60;  ///< to begin, to save a checkpoint, and to spare

/// What a job takes beside its steps.
struct BesideSteps {
    double seconds = kLeastStart_s;
    std::string says = "30 min to begin and to end";
};

struct Emitted {
    models::Workload workload;
    models::Plan plan;
    interop::Settings settings;
    std::string text;
    std::vector<std::string> notes;  ///< of a job: what its user should know before submitting
};

/// Letters, digits and "-": what batch systems take as a name.
std::string job_name(const std::string& workload) {
    constexpr std::size_t kLongest = 15;
    std::string name = workload.substr(0, kLongest);
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
    return name;
}

/// A start and a checkpoint that the job waits for, as a campaign of the files has them (starts that fail are tried
/// again), a tenth to spare; where these are longer than the least.
BesideSteps beside_steps(const models::Inputs& inputs, const predict::Prediction& p) {
    campaign::Features features;
    features.async = false;
    const double step_s = p.step_time_s;
    const campaign::Setting run =
        machine_setting(inputs, {p.nodes, p.tiles, p.dp, step_s, {step_s, step_s}, 1, 0}, features).setting;
    const campaign::Recovery& r = run.recovery;
    const double begin_s = r.environment_s + (r.restart_s + r.initialise_s) / (1 - r.failed_start_share) + r.load_s;
    constexpr double kSpare = 0.1;
    const double all_s = (1 + kSpare) * (begin_s + run.checkpoints.stall_s);
    if (all_s <= kLeastStart_s) {
        return {};
    }
    return {all_s, format_quantity(begin_s, Dimension::kSeconds) + " to begin (auspex startup" +
                       (r.failed_start_share > 0 ? "; " + percent(r.failed_start_share) + " of starts fail" : "") +
                       "), " + format_quantity(run.checkpoints.stall_s, Dimension::kSeconds) +
                       " to save at the end, a tenth to spare"};
}

std::string walltime_text(int steps, double step_s, const BesideSteps& beside) {
    std::ostringstream out;
    out << thousands(steps) << " steps of at most " << format_quantity(step_s, Dimension::kSeconds)
        << " (the upper end of the 90 % interval predicted) and " << beside.says;
    return out.str();
}

interop::Emission emission_of(const Options& options, const Emitted& emitted, int tiles_of_node) {
    const interop::Framework& framework = interop::framework_named(options.emit.format, "--format");
    return framework.emit(
        {emitted.workload, emitted.plan, tiles_of_node, options.train.steps.value_or(0), options.command_line});
}

/// A walltime that the machine's queue does not take becomes the longest that it takes. Throws InputError where that
/// holds no step.
void cut_to_limit(interop::Job& job, int steps, double step_s, const BesideSteps& beside,
                  const std::string& machine_file) {
    const std::optional<models::WalltimeLimit> limit = models::walltime_limit(job.launch, job.nodes);
    if (!limit || job.walltime_s <= limit->walltime_s) {
        return;
    }
    const std::string longest =
        format_quantity(limit->walltime_s, Dimension::kSeconds) + ", the longest job of " + counted(job.nodes, "node");
    const int steps_of_job = static_cast<int>((limit->walltime_s - beside.seconds) / step_s);
    if (steps_of_job < 1) {
        throw InputError("--job", "found a step of at most " + format_quantity(step_s, Dimension::kSeconds) + " and " +
                                      beside.says + "; expected that they fit into " + longest + ", as " +
                                      machine_file + " says (launch.walltime_limits)");
    }
    const int jobs = (steps - 1) / steps_of_job + 1;
    job.walltime_s = limit->walltime_s;
    job.in_one_job = thousands(steps_of_job) + (steps_of_job == 1 ? " step fits into " : " steps fit into ") + longest +
                     " (" + job.launch.walltime_limits_source.source + "): the run takes " + counted(jobs, "job") +
                     ", each from the checkpoint of the one before";
}

/// The settings of a stack's libraries are those of the machine that it was measured on: others may not know them.
void take_environment(interop::Job& job, const models::Inputs& inputs) {
    const models::Environment environment = models::environment_of(inputs.stack_document);
    const std::string& measured_on = inputs.stack.transport_measured_on;
    if (measured_on == inputs.machine.name) {
        job.environment = environment;
        return;
    }
    std::string names;
    for (const models::EnvironmentVariable& variable : environment) {
        names += (names.empty() ? "" : ", ") + variable.name;
    }
    if (!names.empty()) {
        job.left_out = "Left out: " + names + " of " +
                       (inputs.stack.library.empty() ? "stack " + inputs.stack.name : inputs.stack.library) + ", " +
                       (measured_on == "none" ? "which was measured nowhere" : "which was measured on " + measured_on);
    }
}

void add_job_notes(const interop::Job& job, int tiles_of_node, std::vector<std::string>& notes) {
    constexpr double kDay_s = 86400;
    if (job.ranks % job.ranks_per_node != 0 || job.ranks_per_node < tiles_of_node) {
        notes.push_back("the last node has fewer ranks than its " + counted(tiles_of_node, "tile"));
    }
    if (!job.in_one_job.empty()) {
        notes.push_back(job.in_one_job);
    } else if (job.walltime_s > kDay_s) {
        notes.emplace_back("the walltime is more than a day: the run needs checkpoints, and several jobs");
    }
    if (!job.emission.trial.empty()) {
        notes.emplace_back(
            "the array TRIAL of the script is for trying out the layout: made-up data and, with experts, forced "
            "routing; replace it for a real run");
    }
    if (!job.left_out.empty()) {
        notes.push_back(job.left_out);
    }
    notes.insert(notes.end(), job.emission.notes.begin(), job.emission.notes.end());
}

Emitted emit_settings(const Options& options) {
    std::vector<std::string> roles{"workload", "plan"};
    if (!options.machine.empty()) {
        roles.emplace_back("machine");
    }
    if (!options.scenario.empty()) {
        roles.emplace_back("stack");  // which stands in every scenario, and settings do not need
    } else if (!options.stack.empty()) {
        throw InputError("--stack", "found without --job; expected both, or none");
    }
    launch::require_roles(options.overrides, roles);
    Emitted emitted;
    emitted.workload = models::load_workload(launch::load_document("workload", options.workload, options.overrides));
    models::Plan plan = models::load_plan(launch::load_document("plan", options.plan, options.overrides));
    forget_dp(options, plan);
    fill_micro_batches(options, emitted.workload, plan);
    emitted.plan = resolve_plan(plan, emitted.workload, options.tiles.empty() ? 0 : options.tiles.front());
    const int tiles_of_node =
        options.machine.empty()
            ? 0
            : models::load_machine(launch::load_document("machine", options.machine, options.overrides)).node.tiles;
    const interop::Emission emission = emission_of(options, emitted, tiles_of_node);
    emitted.settings = emission.settings;
    emitted.text = emission_text(emission);
    emitted.notes = emission.notes;
    return emitted;
}

models::BatchSystem batch_system(const Options& options) {
    if (options.emit.job != "pbs" && options.emit.job != "slurm") {
        throw InputError("--job", "found \"" + options.emit.job + "\"; expected pbs or slurm");
    }
    return options.emit.job == "pbs" ? models::BatchSystem::kPbs : models::BatchSystem::kSlurm;
}

Emitted emit_job(const Options& options) {
    const models::BatchSystem system = batch_system(options);
    if (options.machine.empty() || options.stack.empty() || !options.train.steps || *options.train.steps == 0) {
        const bool has_steps = options.train.steps && *options.train.steps > 0;
        throw InputError("--job", std::string("found without") + (options.machine.empty() ? " --machine" : "") +
                                      (options.stack.empty() ? " --stack" : "") + (has_steps ? "" : " --steps") +
                                      "; expected --machine, --stack and --steps, for the walltime is that of the "
                                      "steps as predicted");
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
    interop::Job job;
    job.emission = emission_of(options, emitted, inputs.machine.node.tiles);
    emitted.settings = job.emission.settings;
    job.name = job_name(inputs.workload.name);
    job.launch = models::launch_settings_of(inputs.machine_document);
    take_environment(job, inputs);
    if (job.launch.is_known && job.launch.batch != system) {
        throw InputError("--job", "found " + options.emit.job + "; expected " +
                                      (system == models::BatchSystem::kPbs ? "slurm" : "pbs") + ", as " +
                                      inputs.machine.file + " says (launch.batch)");
    }
    job.predicted_with = "predicted with stack " + inputs.stack.name + " on machine " + inputs.machine.name;
    job.ranks = tiles_of(emitted.plan), job.ranks_per_node = std::min(inputs.machine.node.tiles, job.ranks);
    job.nodes = (job.ranks + job.ranks_per_node - 1) / job.ranks_per_node;
    const double step_s = prediction.step_time_interval_s.high;
    const BesideSteps beside = beside_steps(inputs, prediction);
    job.walltime_s = *options.train.steps * step_s + beside.seconds;
    job.walltime_says = walltime_text(*options.train.steps, step_s, beside);
    cut_to_limit(job, *options.train.steps, step_s, beside, inputs.machine.file);
    job.repeat = "made by: " + options.command_line;
    emitted.notes = prediction.notes;
    add_job_notes(job, inputs.machine.node.tiles, emitted.notes);
    emitted.text = job_script(job, system);
    return emitted;
}

void print_json(const Emitted& emitted, const Options& options) {
    JsonWriter json(answer_stream(options));
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
    static_cast<void>(interop::framework_named(options.emit.format, "--format"));
    const Emitted emitted = options.emit.job.empty() ? emit_settings(options) : emit_job(options);
    if (!options.out.empty()) {
        launch::OutputLocks locks(options.command_line);
        locks.take_file("--out " + options.out, options.out);
        write_file(options.out, emitted.text);
    }
    if (options.json) {
        print_json(emitted, options);
        return;
    }
    const bool is_printed = options.out.empty();
    std::cout << (is_printed ? emitted.text : "written to " + options.out + "\n");
    for (const std::string& note : emitted.notes) {
        (is_printed ? std::cerr : std::cout) << "note: " << note << "\n";  // stdout is to hold the text alone
    }
}

}  // namespace auspex::cli
