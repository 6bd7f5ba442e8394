#pragma once
/// @file An invented but plausible scaling report: six points, eight stages, every kind of constant.
#include <cmath>

#include "report/scaling/scaling_report.hpp"

namespace auspex::report {

inline predict::MemoryReport fixture_memory(double replicas) {
    predict::MemoryReport memory;
    memory.capacity_bytes = 64e9;
    for (int stage = 0; stage < 8; ++stage) {
        schedule::StageMemory one;
        one.stage = stage;
        one.peak_operation = "backward of micro-batch 0";
        const double activations = 1.9e9 * (8 - stage);
        one.by_label = {{"weights", 4.6e9},
                        {"gradients", 4.6e9},
                        {"master weights", 9.2e9 / replicas},
                        {"moments", 18.4e9 / replicas},
                        {"activations", activations},
                        {"communication buffers", 1.8e9},
                        {"workspace", 1.2e9},
                        {"runtime", 3e9}};
        for (const auto& [label, bytes] : one.by_label) {
            one.peak_bytes += bytes;
        }
        memory.by_stage.push_back(one);
    }
    memory.peak_bytes = memory.by_stage[0].peak_bytes;
    memory.by_label = memory.by_stage[0].by_label;
    memory.fits = memory.peak_bytes <= memory.capacity_bytes;
    memory.verdict = "fits, " + std::to_string(memory.peak_bytes / 1e9).substr(0, 4) + " of 64.0 GB on stage 0";
    return memory;
}

inline Constant fixture_constant(const char* path, double value, Dimension dimension, ConstantKind kind,
                                 double uncertainty) {
    return {path,
            value,
            dimension,
            kind,
            "arXiv:2604.00785, section 3.4; https://docs.example.org/nodes, read off a table of all-tile runs",
            uncertainty};
}

/// `doublings` of 384 tiles; every loss is a whole number of picoseconds, and they sum to the step.
inline ScalePoint fixture_point(int doublings) {
    const double growth = doublings;
    ScalePoint point;
    predict::Prediction& p = point.prediction;
    p.tiles = 384 << doublings;
    p.nodes = p.tiles / 12;
    p.dp = 4 << doublings;
    p.ep = 12;
    p.etp = p.tp = p.cp = 1;
    p.pp = 8;
    p.data_parallel = p.tiles / 8;
    p.global_batch = p.data_parallel * 8;
    p.tokens_per_step = p.global_batch * 2048.0;
    const double seconds[schedule::kLossCount] = {1.183,
                                                  0.31,
                                                  1.94,
                                                  0,
                                                  0.87,
                                                  0.94 + 0.07 * growth,
                                                  0.041 + 0.006 * growth,
                                                  0,
                                                  0.19,
                                                  0.12 + 0.004 * growth,
                                                  0.02 + 0.022 * growth,
                                                  0.013};
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        p.losses[loss] = to_picoseconds(seconds[loss]);
        p.step += p.losses[loss];
    }
    p.step_time_s = to_seconds(p.step);
    p.step_time_interval_s = {p.step_time_s * 0.91, p.step_time_s * 1.1};
    p.tokens_per_s = p.tokens_per_step / p.step_time_s;
    p.tokens_per_s_per_tile = p.tokens_per_s / p.tiles;
    p.tflops_per_tile = p.tokens_per_s_per_tile * 6 * 10e9 / 1e12;
    p.peak_flop_per_s = 205e12;
    p.mfu = p.tflops_per_tile * 1e12 / p.peak_flop_per_s;
    p.hfu = p.mfu * 1.3;
    p.memory = fixture_memory(4 << doublings);
    p.executor_proven = true;
    p.elapsed_s = 0.0123 + doublings;
    p.notes = {"Routing is uniform: real routers are skewed and slower."};
    if (doublings > 3) {
        p.notes.emplace_back("The job spans more than two dragonfly groups.");
    }
    p.top_constants = {
        {fixture_constant("machine.tile.peak_bf16", 205e12, Dimension::kFlopPerSecond, ConstantKind::kMeasured, 0.03),
         -0.41},
        {fixture_constant("machine.node.nic.bandwidth", 25e9, Dimension::kBytesPerSecond, ConstantKind::kSpecified,
                          0.02),
         -0.22},
        {fixture_constant("stack.launch_overhead", 6e-6, Dimension::kSeconds, ConstantKind::kAssumed, 0.3), 0.034}};
    p.step_node_hours = p.nodes * p.step_time_s / 3600;
    p.node_hours = p.step_node_hours;
    return point;
}

inline ScalingReport fixture_report() {
    ScalingReport report;
    report.title = "Mula-220B-A10B on Aurora, 384 to 12,288 tiles";
    report.mode = "weak";
    report.command =
        "auspex scale --machine machines/aurora.json --stack stacks/optimus.json --workload "
        "workloads/mula-220b-a10b.json "
        "--plan plans/mula-220b-a10b.json --tiles 384,768,1536,3072,6144,12288 --out reports/mula-220b-weak";
    report.machine = "Aurora";
    report.workload = "Mula-220B-A10B";
    report.stack = "Optimus";
    report.plan = "mula-220b-a10b";
    report.layout_lines = {
        "8 pipeline stages of 7 or 8 layers; the stages of one replica lie on consecutive nodes.",
        "The 240 experts of a layer are spread over the 12 tiles of one node (ep = 12): 20 experts a tile."};
    for (const char* role : {"machine", "stack", "workload", "plan"}) {
        report.inputs.push_back(
            {role, std::string(role) + "s/example.json", std::string(64, role[0] == 'm' ? 'a' : '7')});
    }
    const ConstantKind kinds[] = {ConstantKind::kMeasured, ConstantKind::kSpecified, ConstantKind::kDerived,
                                  ConstantKind::kAssumed, ConstantKind::kFitted};
    for (int i = 0; i < 23; ++i) {
        report.constants.push_back(fixture_constant(("machine.node.part_" + std::to_string(i)).c_str(), 1e9 * (i + 1),
                                                    Dimension::kBytesPerSecond, kinds[i % 4 == 3 ? 3 + i % 2 : i % 3],
                                                    0.05));
    }
    for (int doublings = 0; doublings < 6; ++doublings) {
        ScalePoint point = fixture_point(doublings);
        const ScalePoint& first = doublings == 0 ? point : report.points.front();
        point.efficiency = point.prediction.tokens_per_s_per_tile / first.prediction.tokens_per_s_per_tile;
        const double lost = 1 - point.efficiency;
        point.efficiency_without_detour_delay = 1 - 0.55 * lost;
        point.efficiency_without_background = 1 - 0.8 * lost;
        point.efficiency_without_both = 1 - 0.4 * lost;
        point.efficiency_without_stragglers = 1 - 0.77 * lost;
        report.points.push_back(point);
    }
    return report;
}

}  // namespace auspex::report
