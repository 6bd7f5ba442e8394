/// @file Names to files, cases to inputs, inputs to predictions.
#include "workflows/validate/run_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "compare/evaluate/names/node_names.hpp"
#include "compare/evaluate/runs/measured_step.hpp"
#include "compare/evaluate/runs/run_choices.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "compare/evaluate/words/precision_words.hpp"
#include "launch/input_files.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::workflows {

std::string place_of(const std::string& name, const std::string& folder) {
    return folder.empty() ? name : folder + "/" + name + ".json";
}

RunPredictor::RunPredictor(const evaluate::RunNames& names, const std::string& machines, const std::string& stacks,
                           const std::vector<std::string>& overrides)
    : names_(names), machines_(machines), stacks_(stacks), overrides_(overrides) {
    launch::require_roles(overrides, {"machine", "stack"});
    for (const auto& [flag, folder] : {std::pair("--machines ", &machines), std::pair("--stacks ", &stacks)}) {
        if (!folder->empty() && !std::filesystem::is_directory(*folder)) {
            throw InputError(flag + *folder, "found no such folder; expected one with files of machines or stacks");
        }
    }
}

double RunPredictor::step_with(const evaluate::ValidatedRun& one, const std::vector<std::string>& settings) const {
    evaluate::ValidatedRun again = one;
    const models::Inputs inputs =
        inputs_of(again, *hardware_of(names_, one.run), *framework_of(names_, one.run), settings);
    predict::PredictOptions options;
    options.tiles = one.run.gpus;
    options.sensitivity = false;
    return predict::predict(inputs, options).prediction.step_time_s;
}

void RunPredictor::check_files(const std::vector<evaluate::PublishedRun>& runs) const {
    std::set<std::vector<std::string>> done;
    std::optional<InputError> refused;
    bool is_taken = false;
    const auto load = [](const std::string& machine, const std::string& stack,
                         const std::vector<std::string>& settings) {
        const models::Machine loaded = models::load_machine(launch::load_document("machine", machine, settings));
        static_cast<void>(launch::load_stack(stack, settings, loaded));
    };
    for (const evaluate::PublishedRun& run : runs) {
        const auto hardware = hardware_of(names_, run);
        const auto framework = framework_of(names_, run);
        if (!hardware || !framework) {
            continue;
        }
        const std::string machine = place_of(hardware->machine, machines_), stack = place_of(framework->stack, stacks_);
        const std::vector<std::string> settings = settings_of(*hardware, *framework, run.plan.is_compiled);
        std::vector<std::string> files = settings;
        files.insert(files.end(), {machine, stack});
        if (!done.insert(std::move(files)).second) {
            continue;
        }
        try {
            load(machine, stack, settings);
            is_taken = true;
        } catch (const InputError& error) {
            load(machine, stack, {});  // wrong without any setting: the file's fault
            refused = refused.value_or(error);
        }
    }
    if (refused && !is_taken) {
        throw refused.value();
    }
}

evaluate::ValidatedRun RunPredictor::validated(evaluate::PublishedRun run) const {
    evaluate::ValidatedRun one;
    one.run = corrected(names_, std::move(run));
    try {
        if (!one.run.unreadable.empty()) {
            throw InputError(one.run.id, one.run.unreadable);
        }
        predict_run(one);
    } catch (const InputError& error) {
        const std::string said = error.what();
        const bool is_named = said.starts_with(one.run.id + ":") || said.starts_with(one.run.id + " ");
        one.why_unmapped = is_named ? said : one.run.id + ": " + said;
        for (const std::string& note : one.run.passed_over) {
            one.why_unmapped += "; " + note;
        }
    }
    return one;
}

namespace {

/// The case names a system that is neither in the entry nor has the name of its machine file in it.
bool is_other_system(const evaluate::PublishedRun& run, const evaluate::RunNames::Hardware& hardware) {
    return !run.system.empty() && hardware.system.empty() &&
           lower_case(run.system).find(lower_case(hardware.machine)) == std::string::npos;
}

/// Peak rates of 8 and 4 bits over that of bf16: at most 2, and 6 (GB300: 15 of 2.5 PF/s).
double peak_over_bf16(models::Fp8 recipe) {
    constexpr double kOf8Bits = 2, kOf4Bits = 6;
    return recipe == models::Fp8::kNone ? 1 : recipe == models::Fp8::kNvfp4 ? kOf4Bits : kOf8Bits;
}

/// More FLOP than the GPUs can make in the time that the case has.
void refuse_beyond_peak(const evaluate::ValidatedRun& one, double mfu, models::Fp8 recipe) {
    constexpr double kRounding = 1.02;
    const double share = mfu * one.predicted_s / one.measured.seconds / peak_over_bf16(recipe);
    if (share > kRounding) {
        throw InputError(one.run.id, "found a measured step of " + significant(one.measured.seconds) + " s (by " +
                                         one.measured.from + "), for which the GPUs would need " + significant(share) +
                                         " times their peak rate");
    }
}

/// Numbers of the case that contradict each other, the GPU or the prediction.
void note_doubts(evaluate::ValidatedRun& one, const models::Inputs& inputs, bool is_predicted_to_fit) {
    constexpr double kOtherUnit = 50;  // measured steps that many times as long as predicted, as of milliseconds
    constexpr double kRounded = 0.1;   // names of models round: 13B are 12.85
    const double parameters = count_parameters(inputs.workload).total(), stated = one.run.model.parameters;
    if (stated > 0 && std::abs(stated / parameters - 1) > kRounded) {
        one.notes.push_back("params_b " + significant(stated / 1e9) + " is passed over: the model has " +
                            significant(parameters / 1e9));
    }
    std::ranges::move(contradicting_steps(one.run), std::back_inserter(one.notes));
    if (one.run.measured.peak_memory_bytes > inputs.machine.tile.hbm_bytes) {
        one.notes.emplace_back("peak_mem_gib is more than the GPU has: its unit may not be GiB");
    }
    if (const double times = one.measured.seconds / one.predicted_s; times > kOtherUnit) {
        one.notes.push_back("the step measured is " + json_number(std::round(times)) +
                            " times as long as predicted: its unit may not be that of its key");
    }
    if (!is_predicted_to_fit) {
        one.notes.emplace_back("predicted not to fit: recomputation or memory differs from the run's");
    }
}

}  // namespace

double RunPredictor::peak_tflops_of(const evaluate::PublishedRun& run, const evaluate::RunNames::Hardware& hardware,
                                    const evaluate::RunNames::Framework& framework) const {
    const evaluate::StatedPrecision precision = evaluate::precision_in(run.precision, framework.fp8);
    if (precision.weights != "bf16" || precision.fp8 != "none") {
        return 0;
    }
    constexpr double kTera = 1e12;
    const std::vector<std::string> settings = settings_of(hardware, framework, run.plan.is_compiled);
    const models::Machine machine =
        models::load_machine(launch::load_document("machine", place_of(hardware.machine, machines_), settings));
    return machine.tile.peak_bf16_flop_per_s / kTera;
}

void RunPredictor::predict_run(evaluate::ValidatedRun& one) const {
    const evaluate::PublishedRun& run = one.run;
    const std::optional<evaluate::RunNames::Hardware> hardware = hardware_of(names_, run);
    if (!hardware) {
        refuse_hardware(names_, run);
    }
    const std::optional<evaluate::RunNames::Framework> framework = framework_of(names_, run);
    if (!framework) {
        refuse_framework(names_, run);
    }
    one.machine = hardware->machine;
    one.stack = framework->stack;
    const double peak_tflops = lacks_peak(run) ? peak_tflops_of(run, *hardware, *framework) : 0;
    const std::optional<evaluate::MeasuredStep> measured = measured_step(run, *framework, peak_tflops);
    if (!measured) {
        throw InputError(run.id, why_no_step(run));
    }
    one.measured = *measured;
    one.is_fitted = is_fitted(names_, run);
    one.is_corrected = !corrections_of(names_, run).empty();
    one.why = reason_of(names_, run);
    predict::PredictOptions options;
    options.tiles = run.gpus;
    const bool is_recompute_assumed = run.workload_file.empty() && is_recompute_unstated(run);
    const models::Inputs inputs = fastest_inputs(one, *hardware, *framework, options);
    one.traits = evaluate::traits_of(inputs, run.gpus);
    for (const auto* const constants : {&inputs.machine.constants, &inputs.stack.constants}) {
        std::ranges::copy(*constants, std::back_inserter(one.constants));
    }
    one.traits.is_recompute_assumed = is_recompute_assumed;
    const predict::Prediction prediction = predict::predict(inputs, options).prediction;
    one.predicted_s = prediction.step_time_s;
    one.constants_s = prediction.step_time_interval_s;
    one.losses = prediction.losses;
    refuse_beyond_peak(one, prediction.mfu, inputs.plan.fp8);
    if (one.measured.from == evaluate::kByFlop) {
        one.notes.push_back(words_of_flop(run, *framework));
    }
    if (peak_tflops > 0) {
        one.notes.push_back("the mfu is taken as a share of the machine file's peak in 16 bits, " +
                            json_number(peak_tflops) + " TF/s");
    }
    for (const std::string& note : {hardware->note, hardware->note_unstated}) {
        if (!note.empty()) {
            one.notes.push_back(note);
        }
    }
    one.notes.insert(one.notes.end(), framework->notes.begin(), framework->notes.end());
    if (is_other_system(run, *hardware)) {
        one.notes.push_back("machine " + json_quote(run.system) + " is taken by its GPU alone");
    }
    note_doubts(one, inputs, prediction.memory.fits);
    const predict::MemoryReport& memory = prediction.memory;  // runs have measured what the allocator reserved
    one.predicted_memory_bytes = memory.reserved_bytes > 0 ? memory.reserved_bytes : memory.peak_bytes;
    one.allocated_memory_bytes = memory.allocated_bytes;
}

namespace {

/// One way to fill in what a run leaves open.
struct Attempt {
    evaluate::ValidatedRun run;
    std::optional<models::Inputs> inputs{};
    Picoseconds step = 0;
    bool fits = true;
};

void measure(Attempt& attempt, const predict::PredictOptions& options) {
    const predict::SimulatedStep step = predict::simulate_step(*attempt.inputs, options, false);
    const predict::MemoryReport memory = predict::memory_report(*attempt.inputs, step);
    attempt.step = step.step, attempt.fits = memory.fits;
}

/// The fastest that fits. Where nothing does, memory is predicted wrong, and says nothing of what is recomputed: the
/// first, with sharded states if any has them.
bool is_better(const Attempt& attempt, const Attempt& best) {
    if (!best.inputs || attempt.fits != best.fits) {
        return !best.inputs || attempt.fits;
    }
    const bool is_sharded = attempt.run.run.plan.shards_states && !best.run.run.plan.shards_states;
    return attempt.fits ? attempt.step < best.step : is_sharded;
}

}  // namespace

models::Inputs RunPredictor::fastest_inputs(evaluate::ValidatedRun& one, const evaluate::RunNames::Hardware& hardware,
                                            const evaluate::RunNames::Framework& framework,
                                            const predict::PredictOptions& options) const {
    const evaluate::PublishedRun run = one.run;
    const std::vector<std::vector<evaluate::PublishedRun>> sizes = evaluate::open_choices(run, framework);
    const bool is_open = sizes.size() > 1 || sizes.front().size() > 1;
    Attempt best;
    std::optional<InputError> refused;
    bool has_room = false;  // for all that is kept, on the device
    for (const std::vector<evaluate::PublishedRun>& choices : sizes) {
        if (choices.front().plan.offloaded_layers > 0 && (has_room || !hardware.host_is_near)) {
            continue;
        }
        has_room = false;
        for (const evaluate::PublishedRun& choice : choices) {
            Attempt attempt{one};
            attempt.run.run = choice;
            try {
                attempt.inputs = inputs_of(attempt.run, hardware, framework, {});
                std::ranges::move(evaluate::notes_of_choice(run, choice), std::back_inserter(attempt.run.notes));
                if (is_open) {
                    measure(attempt, options);
                }
            } catch (const InputError& error) {
                refused = error;  // no plan has such micro-batches, or a model's layers no such part
                continue;
            }
            const bool fits = attempt.fits;
            const auto& recompute = choice.plan.recompute_choice;
            has_room = has_room || (fits && recompute && recompute->empty());
            if (is_better(attempt, best)) {
                best = std::move(attempt);
            }
            if (fits) {
                break;  // what is recomputed besides costs time
            }
        }
    }
    if (!best.inputs) {
        throw refused.value();
    }
    one = std::move(best.run);
    return std::move(*best.inputs);
}

std::vector<std::string> RunPredictor::settings_of(const evaluate::RunNames::Hardware& hardware,
                                                   const evaluate::RunNames::Framework& framework,
                                                   bool is_compiled) const {
    std::vector<std::string> settings = hardware.set;
    settings.insert(settings.end(), framework.set.begin(), framework.set.end());
    if (is_compiled && !framework.set_compiled.empty()) {
        std::erase_if(settings, [](const std::string& text) { return text.starts_with("stack.releases.use="); });
        settings.insert(settings.end(), framework.set_compiled.begin(), framework.set_compiled.end());
    }
    settings.insert(settings.end(), overrides_.begin(), overrides_.end());
    return settings;
}

models::Inputs RunPredictor::inputs_of(evaluate::ValidatedRun& one, const evaluate::RunNames::Hardware& hardware,
                                       const evaluate::RunNames::Framework& framework,
                                       const std::vector<std::string>& more) const {
    const bool has_files = !one.run.workload_file.empty();
    evaluate::RunInputTexts texts = has_files ? evaluate::RunInputTexts{} : run_inputs(one.run, framework);
    one.notes = one.run.passed_over;
    std::ranges::move(texts.notes, std::back_inserter(one.notes));
    evaluate::NodeOfCase node = node_of_case(one.run, hardware);
    if (!node.note.empty()) {
        one.notes.push_back(node.note);
    }
    std::vector<std::string> settings = std::move(node.set);
    std::ranges::move(settings_of(hardware, framework, one.run.plan.is_compiled), std::back_inserter(settings));
    for (const evaluate::RunNames::Correction* const correction : corrections_of(names_, one.run)) {
        settings.insert(settings.end(), correction->set.begin(), correction->set.end());
        one.notes.push_back("corrected: " + correction->why);
    }
    settings.insert(settings.end(), more.begin(), more.end());
    JsonDocument plan = has_files ? launch::load_document("plan", one.run.plan_file, {})
                                  : JsonDocument::parse(texts.plan, one.run.id + " (plan)");
    for (const std::string& text : settings) {
        if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
            plan.set(parts.path, parts.value);
        } else {
            one.settings.push_back(text);
        }
    }
    JsonDocument workload = has_files ? launch::load_document("workload", one.run.workload_file, {})
                                      : JsonDocument::parse(texts.workload, one.run.id + " (workload)");
    one.workload = workload.indented(), one.plan = plan.indented();
    auto [machine, stack] = launch::load_machine_and_stack(place_of(hardware.machine, machines_),
                                                           place_of(framework.stack, stacks_), settings);
    models::Inputs inputs =
        models::load_inputs(std::move(machine), std::move(stack), std::move(workload), std::move(plan));
    const int of_node = inputs.machine.node.tiles;
    if (!hardware.node && one.run.gpus_per_node > 0 && one.run.gpus_per_node != of_node) {
        one.notes.push_back("its nodes of " + std::to_string(one.run.gpus_per_node) + " are taken as those of " +
                            std::to_string(of_node) + " of " + inputs.machine.name +
                            ", as if ranks counted so: cases count tiles of Aurora, and GCDs of an MI250X");
    }
    if (has_files) {
        inputs.plan.dp = 0;  // it follows from the tiles
    }
    return inputs;
}

}  // namespace auspex::workflows
