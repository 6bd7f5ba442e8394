/// @file Inputs to prediction: one simulated step, and what follows from it.
#include "sim/predict/predict.hpp"
#include "schedule/memory/reserved_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/stack_file/communication.hpp"
#include "sim/predict/cpu_sensitivity.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/mfu_waterfall.hpp"
#include "sim/predict/placement_notes.hpp"
#include "sim/predict/routing_effects.hpp"
#include "sim/predict/sensitivity.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/predict/unfolded.hpp"
#include "sim/predict/what_if_notes.hpp"

namespace auspex::predict {
namespace {

void fill_grid(Prediction& p, const SimulatedStep& step) {
    p.tiles = step.layout.tiles, p.nodes = step.layout.nodes;
    p.dp = step.plan.dp, p.ep = step.plan.ep, p.etp = step.plan.etp, p.tp = step.plan.tp, p.pp = step.plan.pp,
    p.cp = step.plan.cp;
    p.data_parallel = step.layout.data_parallel;
    p.global_batch = step.layout.global_batch;
}

void fill_rates(Prediction& p, const models::Inputs& inputs, const SimulatedStep& step) {
    p.tokens_per_step = static_cast<double>(p.global_batch) * inputs.workload.sequence_length;
    p.step = step.step;
    p.step_time_s = to_seconds(step.step);
    p.tokens_per_s = p.tokens_per_step / p.step_time_s;
    p.tokens_per_s_per_tile = p.tokens_per_s / p.tiles;
    double recompute_flop = 0;
    for (const schedule::Role& role : step.program.roles) {
        const schedule::ProgramTotals totals = totals_of(step.program, role);
        recompute_flop += totals.recompute_flop * step.layout.stage_ranks;
        p.operations +=
            totals.operations * static_cast<std::uint64_t>(p.lens == Lens::kFolded ? 1 : step.layout.stage_ranks);
    }
    const double model_flop = p.tokens_per_step * computed_flop(inputs.workload, step.load).training();
    p.peak_flop_per_s = inputs.machine.tile.peak_bf16_flop_per_s;
    p.tflops_per_tile = model_flop / p.step_time_s / p.tiles * 1e-12;
    p.mfu = model_flop / p.step_time_s / p.tiles / p.peak_flop_per_s;
    p.hfu = (model_flop + recompute_flop) / p.step_time_s / p.tiles / p.peak_flop_per_s;
}

/// The sample number ceil(share x count) in rising order.
double percentile(const std::vector<double>& sorted, double share) {
    const auto number = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(number, 1) - 1];
}

UnfoldedReport report_of(const UnfoldedSteps& steps, const SimulatedStep& folded, std::uint64_t seed) {
    UnfoldedReport report;
    report.seed = seed;
    for (const UnfoldedSample& sample : steps.samples) {
        report.samples_s.push_back(to_seconds(sample.step));
        report.mean_s += report.samples_s.back() / static_cast<double>(steps.samples.size());
    }
    std::vector<double> sorted = report.samples_s;
    std::sort(sorted.begin(), sorted.end());
    report.min_s = sorted.front(), report.max_s = sorted.back();
    report.p5_s = percentile(sorted, 0.05), report.p25_s = percentile(sorted, 0.25);
    report.p50_s = percentile(sorted, 0.5);
    report.p75_s = percentile(sorted, 0.75), report.p95_s = percentile(sorted, 0.95);
    report.folded_step_time_s = to_seconds(folded.step);
    report.folded_error = report.folded_step_time_s / report.p50_s - 1;
    report.slowest = steps.samples[steps.median].slowest;
    report.slowest_links = steps.samples[steps.median].slowest_links;
    report.slow = steps.slow;
    return report;
}

/// Stage and index of each rank whose timeline there is.
std::vector<TracedRole> roles_of(const models::Layout& layout, const std::vector<int>& ranks) {
    std::vector<TracedRole> roles(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const models::GridCoordinates at = grid_coordinates(layout, ranks[i]);
        roles[i] = {at.stage, (at.dp * layout.ep + at.ep) * layout.etp + at.etp};
    }
    return roles;
}

std::vector<TracedRole> roles_of(const schedule::Program& program) {
    std::vector<TracedRole> roles;
    for (const schedule::Role& role : program.roles) {
        roles.push_back({role.stage, 0});
    }
    return roles;
}

/// Plays the step by rank and puts the median sample in the place of the folded step.
UnfoldedReport unfold(const models::Inputs& inputs, const PredictOptions& options, SimulatedStep& step,
                      PredictResult& result) {
    Prediction& p = result.prediction;
    UnfoldedSteps steps = play_unfolded(inputs, step,
                                        {.seed = options.seed,
                                         .samples = options.samples,
                                         .slow = options.slow,
                                         .record = options.timeline,
                                         .record_ranks = options.trace_ranks,
                                         .progress = options.progress});
    UnfoldedReport report = report_of(steps, step, options.seed);
    const UnfoldedSample& median = steps.samples[steps.median];
    step.step = median.step;
    step.forward_backward = median.forward_backward;
    step.losses = median.losses;
    step.events = median.events;
    p.notes = std::move(steps.notes);
    if (options.timeline) {
        result.details =
            trace_details(inputs, step, steps.timeline, steps.operations, roles_of(step.layout, steps.recorded), false);
        step.timeline = std::move(steps.timeline);
    }
    return report;
}

bool runs_on_trainer(const models::Inputs& inputs, const PredictOptions& options, const SimulatedStep& step) {
    return options.executor_runs && options.executor_runs(inputs.workload, step.plan, inputs.stack, step.program);
}

/// What there is of a step before it is played, and the step played on CPUs.
SimulatedStep step_on_cpus(const models::Inputs& inputs, const PredictOptions& options) {
    if (!options.slow.empty()) {
        throw InputError("--slow", "found with machine " + inputs.machine.name +
                                       ", whose ranks are processes on CPU cores; expected a machine without a host "
                                       "section");
    }
    SimulatedStep step = prepare_step(inputs, options);
    if (options.executor_runs && !runs_on_trainer(inputs, options, step)) {
        throw InputError(inputs.plan.file,
                         "found a program that the trainer does not run; expected one that it does: "
                         "machine " +
                             inputs.machine.name +
                             " has the trainer's own kernels and messages (auspex program "
                             "--check-executor says why)");
    }
    simulate_prepared(step, inputs, options, true);
    return step;
}

/// Elasticities and the interval that follows from them.
void fill_sensitivity(Prediction& p, const models::Inputs& inputs, const PredictOptions& options,
                      const SimulatedStep& step) {
    if (p.lens == Lens::kCpu) {
        p.top_constants = cpu_sensitivities(inputs, step);
    } else {
        const models::Inputs replayed = sensitivity_inputs(inputs, step.plan.micro_batches, step.events);
        p.top_constants = constant_sensitivities(replayed, options);
        if (replayed.plan.micro_batches != inputs.plan.micro_batches) {
            p.notes.push_back("the interval and the constants leaned on come from a step of " +
                              std::to_string(replayed.plan.micro_batches) + " micro-batches");
        }
    }
    p.step_time_interval_s = step_interval_s(p.step_time_s, p.top_constants);
}

/// Widened, side by side, by what the samples spread: independent, so squares of the logarithms add up.
Interval with_spread(const Interval& interval, const UnfoldedReport& report) {
    const double below = std::hypot(std::log(report.p50_s / interval.low), std::log(report.p50_s / report.p5_s));
    const double above = std::hypot(std::log(interval.high / report.p50_s), std::log(report.p95_s / report.p50_s));
    return {report.p50_s * std::exp(-below), report.p50_s * std::exp(above)};
}

void fill_published_spread(Prediction& p, const models::Inputs& inputs) {
    p.step_time_interval_with_spread_s = p.step_time_interval_s;
    if (p.has_interval && p.lens != Lens::kCpu && inputs.published_spread) {
        p.published_spread = inputs.published_spread;
        p.step_time_interval_with_spread_s = widened(p.step_time_s, p.step_time_interval_s, p.published_spread->sigma);
    }
}

void fill_run(Prediction& p, double run_tokens) {
    p.step_node_hours = p.step_time_s / 3600 * p.nodes;
    p.run_tokens = run_tokens;
    const double steps = run_tokens > 0 ? run_tokens / p.tokens_per_step : 1;
    p.run_time_s = steps * p.step_time_s;
    p.node_hours = steps * p.step_node_hours;
}

std::vector<OperationShare> operations_by_time(const schedule::OperationTimes& times,
                                               const std::vector<std::string>& bounds) {
    std::vector<OperationShare> list;
    for (std::size_t i = 0; i < times.seconds.size(); ++i) {
        if (times.seconds[i] <= 0) {
            continue;
        }
        const std::string name = schedule::operation_name(i);  // two phases may share one
        const auto known =
            std::find_if(list.begin(), list.end(), [&](const OperationShare& share) { return share.name == name; });
        OperationShare& share = known != list.end()
                                    ? *known
                                    : list.emplace_back(OperationShare{name, 0, 0, bounds.empty() ? "" : bounds[i]});
        share.seconds += times.seconds[i];
        share.count += times.count[i];
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const OperationShare& a, const OperationShare& b) { return a.seconds > b.seconds; });
    return list;
}

std::vector<BoundShare> bounds_by_time(const std::vector<OperationShare>& operations) {
    std::vector<BoundShare> list;
    for (const OperationShare& operation : operations) {
        const auto known = std::ranges::find(list, operation.bound_by, &BoundShare::limit);
        if (known != list.end()) {
            known->seconds += operation.seconds;
        } else if (!operation.bound_by.empty()) {
            list.push_back({operation.bound_by, operation.seconds});
        }
    }
    std::ranges::stable_sort(list, std::ranges::greater(), &BoundShare::seconds);
    return list;
}

void note_what_if(Prediction& p, const models::Stack& stack, const std::vector<std::string>& offered, const char* field,
                  const std::string& wanted) {
    if (std::find(offered.begin(), offered.end(), wanted) == offered.end()) {
        p.notes.push_back("a what-if: stack " + stack.name + " does not offer " + field + " \"" + wanted + "\"");
    }
}

void add_notes(Prediction& p, const models::Inputs& inputs, const SimulatedStep& step) {
    const models::Stack& stack = inputs.stack;
    if (p.lens == Lens::kCpu) {
        p.notes.push_back("machine " + inputs.machine.name +
                          " has a host section: every rank, kernel call and message is played on its cores");
        if (std::string note = background_note(inputs.machine.cpu); !note.empty()) {
            p.notes.push_back(std::move(note));
        }
    } else if (stack.measured_on == "none") {
        p.notes.push_back("stack " + stack.name +
                          " was measured on no machine here as a whole: its constants are each assumed, derived, or "
                          "from published measurements");
    } else if (stack.measured_on != inputs.machine.name) {
        p.notes.push_back("the constants of stack " + stack.name + " come from " + stack.measured_on +
                          " and are used on " + inputs.machine.name + " unchanged");
    }
    for (const std::string& note :
         {communication_note(inputs.machine.name, stack), architecture_note(inputs.machine, stack),
          attention_note(inputs.machine.name, inputs.machine.tile, stack)}) {
        p.notes.insert(p.notes.end(), note.empty() ? 0 : 1, note);
    }
    if (step.paired) {
        p.notes.push_back("memory is reckoned with passes one behind the other: workspace of two at once is left out");
    }
    if (stack.allocator != models::Allocator::kNone &&
        !schedule::plays_allocator(inputs.workload, step.plan, inputs.stack)) {
        p.notes.emplace_back(
            "memory is what is allocated: what PyTorch's allocator reserves beyond that is not played for such plans "
            "(docs/memory.md)");
    }
    if (step.plan.pp > 1) {
        note_what_if(p, stack, stack.offers_schedules, "schedule", to_string(step.plan.schedule));
    }
    note_what_if(p, stack, stack.offers_optimizers, "optimizer", to_string(step.plan.optimizer));
    if (step.plan.fp8 != models::Fp8::kNone) {
        note_what_if(p, stack, stack.offers_fp8, "fp8", to_string(step.plan.fp8));
    }
    if (inputs.workload.num_experts > 0) {
        note_what_if(p, stack, stack.offers_expert_kernels, "expert_kernels", to_string(step.plan.expert_kernels));
        if (step.plan.ep > 1) {
            note_what_if(p, stack, stack.offers_dispatches, "dispatch", to_string(step.plan.dispatch));
        }
        if (step.plan.ep == 1 && is_skewed(step.plan.routing.kind)) {
            p.notes.emplace_back(
                "routing has no effect with ep = 1: unevenness of experts inside a rank is not modelled");
        }
    }
    std::ranges::move(placement_notes(step.layout), std::back_inserter(p.notes));
    if (inputs.workload.mtp_layers > 0 && step.plan.pp > 1 && step.plan.stages != models::StageDeal::kByCost &&
        step.plan.stages != models::StageDeal::kList) {
        p.notes.push_back("the last stage has " + counted(inputs.workload.mtp_layers, "prediction module") +
                          " beside its layers and the LM head: stages \"by-cost\", or a list, "
                          "deals it fewer layers");
    }
    add_routing_notes(p.notes, inputs.workload, step.plan, step.load);
    if (step.plan.routing.record) {
        p.notes.emplace_back(memory_is_of_record(inputs, step)
                                 ? "memory is that of the fullest rank of each stage with the recorded choices"
                                 : "the routing record is of another batch: memory takes its shares of experts only");
    }
    p.notes.emplace_back(
        p.executor_proven
            ? "every operation of this program is one that the trainer runs; its times are simulated"
            : "Auspex's own CPU trainer cannot run this program (auspex program --check-executor says why); its "
              "times are simulated");
}

}  // namespace

PredictResult predict(const models::Inputs& inputs, const PredictOptions& options) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    PredictResult result;
    Prediction& p = result.prediction;
    p.lens = inputs.machine.cpu.cores > 0 ? Lens::kCpu : options.lens;
    PredictOptions of_step = options;
    of_step.timeline = options.timeline && p.lens != Lens::kUnfolded;
    SimulatedStep step = p.lens == Lens::kCpu ? step_on_cpus(inputs, options) : simulate_step(inputs, of_step, true);
    if (p.lens == Lens::kUnfolded) {
        p.unfolded = unfold(inputs, options, step, result);
    } else if (p.lens == Lens::kFolded && options.timeline && options.trace_details) {
        result.details = trace_details(inputs, step, *step.timeline, step.recorded, roles_of(step.program), true);
    }
    fill_grid(p, step);
    fill_rates(p, inputs, step);
    p.losses = step.losses;
    p.waterfall = mfu_waterfall(inputs, p);
    p.forward_backward_s = to_seconds(step.forward_backward);
    p.optimizer_s = to_seconds(step.step - step.forward_backward);
    p.memory = memory_report(inputs, step);
    p.events = step.events;
    p.operations_by_time = operations_by_time(step.operation_times, step.operation_bounds);
    p.bound_by = bounds_by_time(p.operations_by_time);
    p.groups_touched = step.groups_touched;
    p.link_use = step.link_use;
    fill_run(p, options.run_tokens);
    p.executor_proven = runs_on_trainer(inputs, options, step);
    add_notes(p, inputs, step);
    p.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
    if (options.sensitivity && p.lens != Lens::kCpu) {
        std::ranges::move(what_if_notes(inputs, options), std::back_inserter(p.notes));
    }
    p.step_time_interval_s = {p.step_time_s, p.step_time_s};
    if (options.sensitivity && options.background_processes.empty()) {
        const auto sensitivity_begin = Clock::now();
        p.has_interval = true;
        fill_sensitivity(p, inputs, options, step);
        p.sensitivity_elapsed_s = std::chrono::duration<double>(Clock::now() - sensitivity_begin).count();
    }
    if (p.unfolded) {
        p.step_time_interval_s = with_spread(p.step_time_interval_s, *p.unfolded);
        p.has_interval = true;
    }
    fill_published_spread(p, inputs);
    result.timeline = std::move(step.timeline);
    return result;
}

models::Inputs at_scale(const models::Inputs& inputs, ScaleMode mode, int reference_tiles, int tiles) {
    models::Inputs scaled = inputs;
    scaled.plan.dp = 0;
    if (mode == ScaleMode::kWeak) {
        return scaled;
    }
    const int file_dp =
        inputs.plan.dp > 0 ? inputs.plan.dp : resolve_plan(scaled.plan, inputs.workload, reference_tiles).dp;
    const int dp = resolve_plan(scaled.plan, inputs.workload, tiles).dp;
    const std::int64_t passes = static_cast<std::int64_t>(inputs.plan.micro_batches) * file_dp;
    if (passes % dp != 0) {
        throw InputError(inputs.plan.file + ": $.micro_batches",
                         "strong scaling keeps the plan's " + std::to_string(passes) +
                             " micro-batches of all replicas (dp " + std::to_string(file_dp) + " x " +
                             std::to_string(inputs.plan.micro_batches) + "); they do not divide over dp " +
                             std::to_string(dp) + " at " + std::to_string(tiles) + " tiles; dp must divide " +
                             std::to_string(passes));
    }
    scaled.plan.micro_batches = static_cast<int>(passes / dp);
    return scaled;
}

std::vector<AblationRow> ablate(const models::Inputs& inputs, int tiles) {
    const struct {
        const char* name;
        bool fused, ep_aware;
    } variants[] = {
        {"baseline", false, false}, {"fused-experts", true, false}, {"ep-aware", false, true}, {"both", true, true}};
    std::vector<AblationRow> rows;
    for (const auto& variant : variants) {
        models::Inputs changed = inputs;
        changed.plan.expert_kernels = variant.fused ? models::ExpertKernels::kFused : models::ExpertKernels::kLoop;
        changed.plan.optimizer =
            variant.ep_aware ? models::OptimizerSharding::kEpAware : models::OptimizerSharding::kSharded;
        PredictOptions options;
        options.tiles = tiles;
        options.sensitivity = false;
        AblationRow row;
        row.name = variant.name;
        row.prediction = predict(changed, options).prediction;
        row.optimizer_share = row.prediction.optimizer_s / row.prediction.step_time_s;
        const Prediction& base = rows.empty() ? row.prediction : rows.front().prediction;
        row.speedup_forward_backward = base.forward_backward_s / row.prediction.forward_backward_s;
        row.speedup_optimizer = base.optimizer_s / row.prediction.optimizer_s;
        row.speedup_training = base.step_time_s / row.prediction.step_time_s;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace auspex::predict
