/// @file From files to a diff.
#include "compare/kineto/compare_run.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "compare/kineto/account/ranks.hpp"
#include "compare/kineto/explain/explain.hpp"
#include "compare/kineto/trace/read_trace.hpp"

namespace auspex::kineto {
namespace {

/// Of the plan, or where its dp is open that of the traces.
int tiles_of_run(const models::Inputs& inputs, const RunRequest& request, const std::vector<Trace>& traces) {
    if (request.tiles > 0 || inputs.plan.dp > 0) {
        return request.tiles;
    }
    return traces.front().world_size.value_or(0);
}

void check_worlds(const std::vector<Trace>& traces, int tiles) {
    for (const Trace& trace : traces) {
        if (trace.world_size && *trace.world_size != tiles) {
            throw InputError(trace.file, "found a run of " + counted(*trace.world_size, "rank") +
                                             " (distributedInfo.world_size); expected " + std::to_string(tiles) +
                                             ", the tiles of the plan: --tiles and the plan's dp say how many");
        }
        if (*trace.rank >= tiles) {
            throw InputError(trace.file, "found rank " + std::to_string(*trace.rank) + "; expected one below " +
                                             std::to_string(tiles) + ", the tiles of the plan");
        }
    }
}

predict::SimulatedStep predicted_step(const models::Inputs& inputs, int tiles) {
    predict::PredictOptions options;
    options.tiles = tiles;
    options.timeline = options.play_every_operation = true;
    return predict::simulate_step(inputs, options, false);
}

void note_ranks(RunDiff& diff, const std::vector<Trace>& traces, const models::Plan& plan) {
    std::set<int> stages;
    for (const RankRow& row : diff.ranks) {
        stages.insert(row.stage);
    }
    if (static_cast<int>(diff.ranks.size()) < diff.tiles) {
        diff.notes.push_back("traces of " + std::to_string(diff.ranks.size()) + " of " + counted(diff.tiles, "rank") +
                             (plan.pp > 1 ? ", of " + std::to_string(stages.size()) + " of " + std::to_string(plan.pp) +
                                                " pipeline stages"
                                          : "") +
                             ": collectives last until the last of their members has come, and what a rank waits "
                             "there counts as their time");
    }
    if (traces.size() > 1) {
        diff.notes.push_back(
            "each rank's step begins at its own first kernel: clocks of different files are not "
            "compared");
    }
}

void note_quality(RunDiff& diff, const std::vector<MatchedRank>& ranks, const models::Plan& plan) {
    const MeasuredStep& first = ranks.front().measured;
    if (first.number < 0) {
        diff.notes.push_back(
            "the trace has no marks of steps (ProfilerStep#N, from prof.step()): all of it is taken as "
            "one step");
    }
    if (!first.has_device) {
        diff.notes.push_back(
            "the trace has no device: operations of the host are taken as kernels, and what lies "
            "between them as the host's time");
    } else if (!first.has_launches) {
        diff.notes.push_back(
            "the trace does not say when kernels were launched (cuda_runtime, xpu_runtime): gaps of up "
            "to 10 us are taken as launches, longer ones as the host's");
    }
    if (!first.has_shapes) {
        diff.notes.push_back("the trace has no shapes (record_shapes=True): products are matched by their order alone");
    }
    const double bytes = element_bytes(first.type);
    if (bytes > 0 && bytes != plan.weight_bytes) {
        diff.notes.push_back("products are of " + first.type + ", but the plan's precision is " + plan.precision);
    }
}

/// Micro-batches and layers that have no kernel at all: another model, or another number of them.
void note_missing(RunDiff& diff, const std::vector<MatchedRank>& ranks, const schedule::Program& program) {
    for (const MatchedRank& rank : ranks) {
        const auto& order = program.roles[static_cast<std::size_t>(rank.predicted.stage)].order;
        std::set<int> seen, seen_layers;
        for (const std::uint32_t slot : rank.match.slot) {
            if (slot != kNone) {
                seen.insert(order[rank.predicted.slots[slot].use].micro_batch);
                seen_layers.insert(rank.predicted.slots[slot].layer);
            }
        }
        int micro_batches = 0, layers = 0;
        std::set<int> all_layers;
        for (const Slot& slot : rank.predicted.slots) {
            all_layers.insert(slot.layer);
        }
        for (int i = 0; i < program.micro_batches; ++i) {
            micro_batches += seen.count(i) == 0 ? 1 : 0;
        }
        for (const int layer : all_layers) {
            layers += seen_layers.count(layer) == 0 ? 1 : 0;
        }
        if (micro_batches > 0) {
            diff.notes.push_back("rank " + std::to_string(rank.predicted.rank) + ": nothing matches " +
                                 std::to_string(micro_batches) + " of the plan's " +
                                 counted(program.micro_batches, "micro-batch", "es") +
                                 "; does the run have as many (plan.micro_batches)?");
        }
        if (layers > 0) {
            diff.notes.push_back("rank " + std::to_string(rank.predicted.rank) + ": nothing matches " +
                                 counted(layers, "layer") + " of the stage; does the run have the same model?");
        }
    }
}

void note_parted(RunDiff& diff, const std::set<std::string>& names) {
    for (const std::string& name : names) {
        diff.notes.push_back(name + " ran as products of its parts; the prediction has one");
    }
}

}  // namespace

RunDiff compare_run(const models::Inputs& inputs, const RunRequest& request) {
    std::vector<Trace> traces = read_traces(request.traces);
    if (request.rank) {
        if (traces.size() > 1) {
            throw InputError("--rank", "found with " + std::to_string(traces.size()) +
                                           " traces; expected one trace, whose rank it is");
        }
        traces.front().rank = request.rank;
    }
    const std::vector<StepWindow> windows = choose_steps(traces, request.step);
    const int tiles = tiles_of_run(inputs, request, traces);
    check_worlds(traces, tiles_of(models::resolve_plan(inputs.plan, inputs.workload, tiles)));
    const predict::SimulatedStep step = predicted_step(inputs, tiles);
    RunDiff diff;
    diff.source = request.traces;
    diff.device = traces.front().device;
    diff.tiles = step.layout.tiles;
    std::vector<MatchedRank> ranks;
    std::set<std::string> parted;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        MatchedRank& rank = ranks.emplace_back();
        rank.trace = &traces[i];
        rank.window = windows[i];
        rank.measured = measured_step(traces[i], windows[i]);
        rank.predicted = predicted_rank(inputs, step, *traces[i].rank);
        parted.merge(part_products(rank.predicted, step.program, inputs.workload, step.plan, rank.measured.kernels));
        rank.match = match_step(rank.measured, rank.predicted, inputs.workload);
        diff.notes.insert(diff.notes.end(), traces[i].notes.begin(), traces[i].notes.end());
    }
    fill_rank_rows(diff, ranks);
    fill_times(diff, ranks, step);
    fill_operations(diff, ranks, step.program);
    fill_unmatched(diff, ranks);
    fill_timelines(diff, ranks, step.program);
    note_quality(diff, ranks, step.plan);
    note_parted(diff, parted);
    note_missing(diff, ranks, step.program);
    note_ranks(diff, traces, step.plan);
    if (inputs.machine.cpu.cores > 0) {
        diff.notes.push_back(
            "machine " + inputs.machine.name +
            " has a host section: predicted times are those of Auspex's own trainer on its cores, and no "
            "constants are looked for");
    } else {
        explain_kernels(diff, ranks, inputs, step.program);
        explain_host(diff, ranks, inputs, step);
        explain_messages(diff, ranks, inputs, step);
        replay_constants(diff, inputs, step.layout.tiles);
    }
    return diff;
}

}  // namespace auspex::kineto
