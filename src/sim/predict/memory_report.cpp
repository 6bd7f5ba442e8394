/// @file Memory of all stages, and passes with their times.
#include "sim/predict/memory_report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"

namespace auspex::predict {
namespace {

std::string size_text(double bytes) {
    const bool is_small = bytes < 0.1e9;
    return fixed(bytes / (is_small ? 1e6 : 1e9), 1) + (is_small ? " MB" : " GB");
}

/// Each tile at its own peak: they are near one another in time.
void add_host_memory(MemoryReport& report, const models::Layout& layout) {
    for (const schedule::StageMemory& stage : report.by_stage) {
        report.host_bytes = std::max(report.host_bytes, stage.host_bytes);
    }
    if (report.host_bytes == 0) {
        return;
    }
    std::vector<double> by_node(static_cast<std::size_t>(layout.nodes), 0);
    for (int rank = 0; rank < layout.tiles; ++rank) {
        const auto stage = static_cast<std::size_t>(grid_coordinates(layout, rank).stage);
        by_node[static_cast<std::size_t>(rank / layout.tiles_per_node)] += report.by_stage[stage].host_bytes;
    }
    report.host_bytes_per_node = std::ranges::max(by_node);
    report.verdict += "; in host memory " + size_text(report.host_bytes) + " of a tile, " +
                      size_text(report.host_bytes_per_node) + " of a node";
    if (report.host_capacity_bytes > 0) {
        const bool fits = report.host_bytes_per_node <= report.host_capacity_bytes;
        report.verdict += (fits ? ", which has " : ", more than the ") + size_text(report.host_capacity_bytes) +
                          (fits ? "" : " that it has");
        if (report.fits && !fits) {
            report.fits = false;
            report.verdict.insert(0, "does not fit in host memory; on the tile it ");
        }
    }
}

MemoryReport report_of(const models::Inputs& inputs, const models::Layout& layout,
                       std::vector<schedule::StageMemory> stages) {
    MemoryReport report;
    report.host_capacity_bytes = inputs.machine.node.host_memory_bytes;
    report.capacity_bytes = inputs.machine.tile.hbm_bytes;
    report.by_stage = std::move(stages);
    for (const schedule::StageMemory& stage : report.by_stage) {
        if (stage.peak_bytes > report.peak_bytes) {
            report.peak_bytes = stage.peak_bytes;
            report.heaviest_stage = stage.stage;
        }
    }
    const schedule::StageMemory& heaviest = report.by_stage[static_cast<std::size_t>(report.heaviest_stage)];
    report.by_label = heaviest.by_label;
    report.reserved_bytes = heaviest.reserved_bytes, report.allocated_bytes = heaviest.allocated_bytes;
    report.fits = report.peak_bytes <= report.capacity_bytes;
    const auto largest = std::max_element(report.by_label.begin(), report.by_label.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    report.verdict = (report.fits ? "fits: " : "does not fit: ") + size_text(report.peak_bytes) + " of " +
                     size_text(report.capacity_bytes) +
                     (report.fits ? "" : ", " + size_text(report.peak_bytes - report.capacity_bytes) + " too much") +
                     "; heaviest stage " + std::to_string(report.heaviest_stage) + ", peak in " +
                     heaviest.peak_operation + "; largest part " + largest->first + ", " + size_text(largest->second);
    if (report.reserved_bytes > 0) {
        report.verdict += "; the allocator reserves " + size_text(report.reserved_bytes) + " for " +
                          size_text(report.allocated_bytes);
    }
    add_host_memory(report, layout);
    return report;
}

/// Kind, chunk and micro-batch.
using PassKey = std::tuple<schedule::BlockKind, int, int>;
struct Times {
    Picoseconds begin = std::numeric_limits<Picoseconds>::max(), end = 0;
};

/// The chunk of its stage that an operation of a forward or backward pass belongs to; none: it does not tell.
std::optional<int> chunk_of(const models::Inputs& inputs, const SimulatedStep& step, int stage,
                            const schedule::Span& span) {
    using schedule::OpKind;
    const models::Plan& plan = step.plan;
    const auto kind = static_cast<OpKind>(span.name / schedule::kPhaseCount);
    const bool is_of_head = kind == OpKind::kFinalNorm || kind == OpKind::kLmHead || kind == OpKind::kCrossEntropy;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = schedule::virtual_stage_of(plan, chunk, stage);
        const schedule::LayerRange layers = schedule::layers_of(inputs.workload, plan, v);
        const bool is_here = span.layer >= 0              ? span.layer >= layers.first && span.layer < layers.last
                             : kind == OpKind::kEmbedding ? schedule::is_first_part(plan, v)
                                                          : is_of_head && schedule::is_last_part(plan, v);
        if (is_here) {
            return chunk;
        }
    }
    return std::nullopt;
}

/// Chunks and micro-batches whose backward passes are in two parts.
std::set<std::pair<int, int>> split_passes(const schedule::Program& program, int stage) {
    std::set<std::pair<int, int>> found;
    for (const schedule::BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
        const schedule::Block& block = program.blocks[use.block];
        if (block.kind == schedule::BlockKind::kBackwardInput) {
            found.emplace(block.chunk, use.micro_batch);
        }
    }
    return found;
}

std::map<PassKey, Times> times_of_passes(const models::Inputs& inputs, const SimulatedStep& step, int stage,
                                         const schedule::Timeline& timeline, std::uint32_t compute) {
    using schedule::BlockKind, schedule::Phase;
    std::map<PassKey, Times> times;
    const std::set<std::pair<int, int>> in_parts = split_passes(step.program, stage);
    for (const schedule::Span& span : timeline.spans) {
        const auto phase = static_cast<Phase>(span.name % schedule::kPhaseCount);
        const bool is_pass = phase != Phase::kOptimizer;
        const std::optional<int> chunk = is_pass ? chunk_of(inputs, step, stage, span) : 0;
        if (span.track != compute || !chunk) {
            continue;
        }
        const bool is_split = in_parts.contains({*chunk, span.micro_batch});
        const bool waits = phase == Phase::kBackwardWeight &&
                           weights_can_wait(static_cast<schedule::OpKind>(span.name / schedule::kPhaseCount));
        const BlockKind kind = !is_pass                                                 ? BlockKind::kOptimizer
                               : phase == Phase::kForward || phase == Phase::kReference ? BlockKind::kForward
                               : !is_split                                              ? BlockKind::kBackward
                               : waits                                                  ? BlockKind::kBackwardWeight
                                                                                        : BlockKind::kBackwardInput;
        Times& pass = times[{kind, *chunk, span.micro_batch}];
        pass.begin = std::min(pass.begin, span.start);
        pass.end = std::max(pass.end, span.end);
    }
    return times;
}

}  // namespace

schedule::StageCourse course_of(const models::Inputs& inputs, const SimulatedStep& step, int stage) {
    return memory_is_of_record(inputs, step)
               ? recorded_stage_course(inputs.workload, step.plan, inputs.stack, inputs.machine, step.layout,
                                       step.program, stage, *step.plan.routing.record)
               : stage_course(inputs.workload, step.plan, inputs.stack, inputs.machine, step.layout, step.program,
                              stage, step.load);
}

StageMemoryCourse timed_course(const models::Inputs& inputs, const SimulatedStep& step, int stage,
                               const schedule::Timeline& timeline, std::uint32_t compute_track,
                               schedule::StageCourse course) {
    const std::map<PassKey, Times> times = times_of_passes(inputs, step, stage, timeline, compute_track);
    StageMemoryCourse timed;
    timed.kept = std::move(course.kept);
    for (schedule::PassBytes& pass : course.passes) {
        const Times& at = times.at({pass.kind, pass.chunk, pass.micro_batch});
        timed.passes.push_back({std::move(pass), to_seconds(at.begin), to_seconds(at.end)});
    }
    return timed;
}

bool memory_is_of_record(const models::Inputs& inputs, const SimulatedStep& step) {
    const auto& record = step.plan.routing.record;
    return record && step.plan.etp == step.plan.tp && step.plan.cp == 1 &&
           record->tokens == std::int64_t{step.layout.global_batch} * inputs.workload.sequence_length;
}

MemoryReport memory_report(const models::Inputs& inputs, const SimulatedStep& step) {
    const bool recorded = memory_is_of_record(inputs, step);
    std::vector<schedule::StageMemory> stages;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        stages.push_back(recorded ? recorded_stage_memory(inputs.workload, step.plan, inputs.stack, inputs.machine,
                                                          step.layout, step.program, stage, *step.plan.routing.record)
                                  : stage_memory(inputs.workload, step.plan, inputs.stack, inputs.machine, step.layout,
                                                 step.program, stage, step.load));
    }
    return report_of(inputs, step.layout, std::move(stages));
}

MemoryCourse memory_course(const models::Inputs& inputs, int tiles) {
    if (inputs.machine.cpu.cores > 0) {
        throw InputError("--machine",
                         "found " + inputs.machine.name +
                             ", whose ranks are processes on CPU cores; expected a machine of accelerators");
    }
    const SimulatedStep step = simulate_step(inputs, {.tiles = tiles, .timeline = true}, false);
    MemoryCourse course;
    course.tiles = step.layout.tiles;
    course.global_batch = step.layout.global_batch;
    course.step_time_s = to_seconds(step.step);
    std::vector<schedule::StageMemory> stages;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        schedule::StageCourse found = course_of(inputs, step, stage);
        stages.push_back(std::move(found.memory));
        course.stages.push_back(timed_course(inputs, step, stage, *step.timeline,
                                             static_cast<std::uint32_t>(stage) * schedule::kStreamCount,
                                             std::move(found)));
    }
    course.memory = report_of(inputs, step.layout, std::move(stages));
    return course;
}

std::vector<std::vector<double>> most_bytes(const StageMemoryCourse& stage, double step_time_s, std::size_t parts) {
    const auto sum = [](const std::vector<double>& bytes) { return std::reduce(bytes.begin(), bytes.end()); };
    // Before the first pass there is what is left behind the last one: what is there all the time.
    const std::vector<double>* live = &stage.passes.back().behind;
    std::vector<std::vector<double>> found;
    std::size_t next = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        const double end_s = step_time_s * static_cast<double>(part + 1) / static_cast<double>(parts);
        const std::vector<double>* most = live;
        for (; next < stage.passes.size() && stage.passes[next].begin_s < end_s; ++next) {
            const TimedPass& pass = stage.passes[next];
            most = sum(pass.at_peak) > sum(*most) ? &pass.at_peak : most;
            if (pass.end_s > end_s) {
                break;  // it goes on in the next part
            }
            live = &pass.behind;
        }
        found.push_back(*most);
    }
    return found;
}

}  // namespace auspex::predict
