#include "cli/output/prediction_output.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "base/time.hpp"
#include "base/units.hpp"
#include "cli/flags/input_flags.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/spread_words.hpp"
#include "report/scaling/waterfall.hpp"

namespace auspex::cli {
namespace {

using Labels = std::vector<std::pair<std::string, double>>;

void write_labels(JsonWriter& json, const Labels& labels) {
    json.begin_object();
    for (const auto& [label, bytes] : labels) {
        json.member(label, whole(bytes));
    }
    json.end_object();
}

void write_causes(JsonWriter& json, const predict::Prediction& p) {
    json.key("top_constants").begin_array();
    for (const predict::ConstantSensitivity& sensitivity : p.top_constants) {
        json.begin_object()
            .member("path", sensitivity.constant.path)
            .member("kind", to_string(sensitivity.constant.kind));
        json.member("elasticity", sensitivity.elasticity).end_object();
    }
    json.end_array().key("operations_by_time").begin_array();
    for (const predict::OperationShare& share : p.operations_by_time) {
        json.begin_object()
            .member("name", share.name)
            .member("seconds", share.seconds)
            .member("count", share.count)
            .member("bound_by", share.bound_by)
            .end_object();
    }
    json.end_array().key("bound_by").begin_array();
    for (const predict::BoundShare& share : p.bound_by) {
        json.begin_object().member("what", share.limit).member("seconds", share.seconds).end_object();
    }
    json.end_array().key("link_use").begin_array();
    for (const engine::LinkUse& use : p.link_use) {
        json.begin_object().member("kind", use.kind).member("busiest", use.busiest);
        json.member("busiest_share", use.busiest_share).member("mean_share", use.mean_share);
        json.member("bytes", use.bytes).end_object();
    }
    json.end_array().key("notes").begin_array();
    for (const std::string& note : p.notes) {
        json.value(note);
    }
    json.end_array();
}

void write_unfolded(JsonWriter& json, const predict::UnfoldedReport& u) {
    json.member("seed", u.seed).key("samples").begin_array();
    for (const double sample_s : u.samples_s) {
        json.value(sample_s);
    }
    json.end_array().key("percentiles").begin_object();
    json.member("p5", u.p5_s).member("p25", u.p25_s).member("p50", u.p50_s).member("p75", u.p75_s);
    json.member("p95", u.p95_s).member("min", u.min_s).member("max", u.max_s).member("mean", u.mean_s).end_object();
    json.member("folded_step_time_s", u.folded_step_time_s).member("folded_error", u.folded_error);
    json.key("slowest_tiles").begin_array();
    for (const engine::SlowTile& tile : u.slowest) {
        json.begin_object().member("rank", tile.rank).member("node", tile.node).member("stage", tile.stage);
        json.member("speed", tile.speed).member("waited_s", tile.waited_s).member("share", tile.share).end_object();
    }
    json.end_array().key("slowest_links").begin_array();
    for (const engine::SlowLink& link : u.slowest_links) {
        json.begin_object().member("name", link.name).member("factor", link.factor);
        json.member("added_s", link.added_s).end_object();
    }
    json.end_array().key("slow").begin_array();
    for (const engine::SlowRequest& request : u.slow) {
        json.begin_object().member("name", request.name).member("factor", request.factor);
        if (request.rank >= 0) {
            json.member("rank", request.rank);
        } else {
            json.member("links", request.links);
        }
        json.member("added_s", request.added_s).end_object();
    }
    json.end_array();
}

void print_samples(std::ostream& out, const predict::UnfoldedReport& u) {
    out << "  unfolded          " << counted(static_cast<double>(u.samples_s.size()), "sample") << " from seed "
        << u.seed << ": " << duration(u.min_s) << " to " << duration(u.max_s) << ", mean " << duration(u.mean_s)
        << "; this page is of the median one\n"
        << "  folded            " << duration(u.folded_step_time_s) << ": off by "
        << signed_significant(100 * u.folded_error, 2) << " %"
        << "\n";
}

void print_slowest(std::ostream& out, const predict::UnfoldedReport& u) {
    constexpr std::size_t kShown = 5;
    if (u.slowest.empty()) {
        return;
    }
    out << "\nSlowest tiles: how long the others in their groups waited for their compute (mean over tiles)\n";
    for (std::size_t i = 0; i < std::min(kShown, u.slowest.size()); ++i) {
        const engine::SlowTile& tile = u.slowest[i];
        const std::string place = "rank " + std::to_string(tile.rank) + ", node " + std::to_string(tile.node) +
                                  ", stage " + std::to_string(tile.stage);
        out << "  " << left(place, 34) << "speed " << left(significant(tile.speed), 8)
            << right(duration(tile.waited_s), 10) << right(percent(tile.share, 2), 9) << " of all such waiting\n";
    }
}

void print_slow_requests(std::ostream& out, const predict::UnfoldedReport& u) {
    if (u.slow.empty()) {
        return;
    }
    out << "\nSlow by request: the step of this draw less that of the same with the part at its normal speed\n";
    for (const engine::SlowRequest& request : u.slow) {
        out << "  " << left(request.name, 48) << "at " << left(significant(request.factor), 8)
            << right(duration(request.added_s), 10) << "\n";
    }
}

void print_slowest_links(std::ostream& out, const predict::UnfoldedReport& u) {
    constexpr std::size_t kShown = 5;
    if (u.slowest_links.empty()) {
        return;
    }
    out << "\nSlow links: what they added to transfers and to waits for these (mean over tiles; in exposed_*)\n";
    for (std::size_t i = 0; i < std::min(kShown, u.slowest_links.size()); ++i) {
        const engine::SlowLink& link = u.slowest_links[i];
        out << "  " << left(link.name, 48) << "at " << left(significant(link.factor), 8)
            << right(duration(link.added_s), 10) << "\n";
    }
}

/// The loss as the table names it; the optimizer phase above is more than this loss.
std::string name_of(schedule::Loss loss) {
    return loss == schedule::Loss::kOptimizer ? "optimizer (update kernels)" : to_string(loss);
}

/// What a training process has: a tile, or cores that it shares.
std::string process_of(const predict::Prediction& p) { return p.lens == predict::Lens::kCpu ? "rank" : "tile"; }

void print_losses(std::ostream& out, const predict::Prediction& p) {
    out << "\nWhere the step goes (mean over " << process_of(p) << "s)\n";
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        if (p.losses[i] != 0) {
            const double seconds = to_seconds(p.losses[i]);
            out << "  " << left(name_of(static_cast<schedule::Loss>(i)), 28) << right(duration(seconds), 10)
                << right(percent(seconds / p.step_time_s), 10) << "\n";
        }
    }
}

void print_waterfall(std::ostream& out, const predict::Prediction& p) {
    out << "\nFrom the peak to MFU: seconds that each adds, and the MFU of a step without those below\n";
    for (const predict::WaterfallRow& row : p.waterfall) {
        const std::string words = (row.cause == "peak" ? "" : "+ ") + report::waterfall_words(row.cause, p);
        out << "  " << left(words, 41) << right(duration(row.seconds), 10) << right(percent(row.mfu), 10) << "\n";
    }
}

void print_memory(std::ostream& out, const predict::Prediction& p) {
    const predict::MemoryReport& memory = p.memory;
    out << "\nMemory of one " << process_of(p) << ": " << memory.verdict << "\n";
    Labels labels = memory.by_label;
    std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [label, bytes] : labels) {
        if (bytes > 0) {
            out << "  " << left(label, 26) << right(format_quantity(bytes, Dimension::kBytes), 12) << "\n";
        }
    }
}

/// One line, of what all operations are bound by.
void print_bounds(std::ostream& out, const predict::Prediction& p) {
    constexpr std::size_t kShown = 6;
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, p.bound_by.size()); ++i) {
        text += (i == 0 ? "" : "; ") + p.bound_by[i].limit + " " + duration(p.bound_by[i].seconds);
    }
    out << (text.empty() ? "" : "  bound by (times of operations on all streams): " + text + "\n");
}

/// As %g: "12", "1.5".
std::string general(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
}

void print_causes(std::ostream& out, const predict::Prediction& p) {
    constexpr std::size_t kShown = 10;
    if (!p.operations_by_time.empty()) {
        out << "\nOperations that take most of it (mean over " << process_of(p) << "s)\n";
        for (std::size_t i = 0; i < std::min(kShown, p.operations_by_time.size()); ++i) {
            const predict::OperationShare& share = p.operations_by_time[i];
            out << "  " << left(share.name, 34) << right(duration(share.seconds), 10)
                << right(percent(share.seconds / p.step_time_s), 9) << right(general(share.count), 10) << " times a "
                << process_of(p) << (share.bound_by.empty() ? "" : ", by " + share.bound_by) << "\n";
        }
    }
    print_bounds(out, p);
    out << (p.notes.empty() ? "" : "\n");
    for (const std::string& note : p.notes) {
        out << "Note: " << note << "\n";
    }
    if (!p.top_constants.empty()) {
        out << "\nConstants that it leans on most (change of the step for one more percent of the constant)\n";
        for (std::size_t i = 0; i < std::min(kShown, p.top_constants.size()); ++i) {
            const Constant& constant = p.top_constants[i].constant;
            out << "  " << left(constant.path, 44) << right(format_quantity(constant.value, constant.dimension), 12)
                << "  " << left(to_string(constant.kind), 10)
                << right(signed_significant(p.top_constants[i].elasticity, 2), 8) << " %\n";
        }
    }
}

std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string blank(const std::string& text, std::size_t width) {
    const std::size_t used = characters(text);
    return std::string(used < width ? width - used : 0, ' ');
}

}  // namespace

void write_memory(JsonWriter& json, const predict::MemoryReport& memory) {
    json.key("memory").begin_object();
    json.member("peak_bytes", whole(memory.peak_bytes))
        .member("capacity_bytes", whole(memory.capacity_bytes))
        .member("fits", memory.fits);
    json.member("heaviest_stage", memory.heaviest_stage).member("verdict", memory.verdict);
    if (memory.reserved_bytes > 0) {
        json.member("reserved_bytes", whole(memory.reserved_bytes));
        json.member("allocated_bytes", whole(memory.allocated_bytes));
    }
    if (memory.host_bytes > 0) {
        json.key("host").begin_object();
        json.member("bytes", whole(memory.host_bytes)).member("bytes_per_node", whole(memory.host_bytes_per_node));
        if (memory.host_capacity_bytes > 0) {
            json.member("capacity_bytes", whole(memory.host_capacity_bytes));
        }
        json.end_object();
    }
    json.key("by_label");
    write_labels(json, memory.by_label);
    json.key("by_stage").begin_array();
    for (const schedule::StageMemory& stage : memory.by_stage) {
        json.begin_object().member("stage", stage.stage).member("peak_bytes", whole(stage.peak_bytes));
        if (stage.reserved_bytes > 0) {
            json.member("reserved_bytes", whole(stage.reserved_bytes));
            json.member("allocated_bytes", whole(stage.allocated_bytes));
        }
        json.member("peak_operation", stage.peak_operation).key("by_label");
        write_labels(json, stage.by_label);
        json.key("peak_by_label");
        write_labels(json, stage.peak_by_label);
        json.end_object();
    }
    json.end_array().end_object();
}

std::string right(const std::string& text, std::size_t width) { return blank(text, width) + text; }
std::string left(const std::string& text, std::size_t width) { return text + blank(text, width); }

void write_published_spread(JsonWriter& json, const models::PublishedSpread& spread) {
    json.key("published_spread").begin_object().member("of", report::spread_scope(spread));
    json.member("runs", spread.runs).member("sources", spread.sources).member("sigma", spread.sigma).end_object();
}

void write_prediction(JsonWriter& json, const predict::Prediction& p) {
    json.member("tiles", p.tiles).member("nodes", p.nodes).member("dp", p.dp).member("data_parallel", p.data_parallel);
    json.member("pp", p.pp).member("ep", p.ep).member("etp", p.etp).member("tp", p.tp).member("cp", p.cp);
    json.member("global_batch", p.global_batch).member("tokens_per_step", p.tokens_per_step);
    json.member("lens", to_string(p.lens)).member("step_time_s", p.step_time_s);
    if (p.has_interval) {
        json.key("step_time_interval_s").begin_array();
        json.value(p.step_time_interval_s.low).value(p.step_time_interval_s.high).end_array();
    }
    if (p.published_spread) {
        json.key("step_time_interval_with_spread_s").begin_array().value(p.step_time_interval_with_spread_s.low);
        json.value(p.step_time_interval_with_spread_s.high).end_array();
        write_published_spread(json, *p.published_spread);
    }
    if (p.unfolded) {
        write_unfolded(json, *p.unfolded);
    }
    json.member("tokens_per_s", p.tokens_per_s).member("tokens_per_s_per_tile", p.tokens_per_s_per_tile);
    json.member("tflops_per_tile", p.tflops_per_tile).member("mfu", p.mfu).member("hfu", p.hfu);
    json.member("peak_flop_per_s", p.peak_flop_per_s);
    write_memory(json, p.memory);
    json.key("losses").begin_object();
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        json.member(to_string(static_cast<schedule::Loss>(i)), to_seconds(p.losses[i]));
    }
    json.end_object().key("waterfall").begin_array();
    for (const predict::WaterfallRow& row : p.waterfall) {
        json.begin_object()
            .member("cause", row.cause)
            .member("seconds", row.seconds)
            .member("mfu", row.mfu)
            .end_object();
    }
    json.end_array();
    json.member("forward_backward_s", p.forward_backward_s).member("optimizer_s", p.optimizer_s);
    json.member("executor_proven", p.executor_proven).member("operations", p.operations).member("events", p.events);
    json.member("elapsed_s", p.elapsed_s).member("sensitivity_elapsed_s", p.sensitivity_elapsed_s);
    write_causes(json, p);
    json.member("step_node_hours", p.step_node_hours);
}

void write_run(JsonWriter& json, const predict::Prediction& p) {
    json.member("run_tokens", p.run_tokens).member("run_time_s", p.run_time_s).member("node_hours", p.node_hours);
}

void print_prediction(std::ostream& out, const predict::Prediction& p, const models::Plan& plan,
                      const std::string& title) {
    out << title << "\n"
        << counted(p.tiles, process_of(p)) << " on " << counted(p.nodes, "node") << ": pp " << p.pp << " x dp " << p.dp
        << " x ep " << p.ep << " x etp " << p.etp << "; tp " << p.tp << ", cp " << p.cp << ", data-parallel "
        << p.data_parallel << "\n"
        << to_string(plan.schedule) << ", " << counted(plan.micro_batches, "micro-batch", "es") << " of "
        << plan.micro_batch_size << ", global batch " << counted(p.global_batch, "sequence") << " ("
        << short_count(p.tokens_per_step) << " tokens)\n"
        << "optimizer " << to_string(plan.optimizer) << ", dispatch " << to_string(plan.dispatch) << ", expert kernels "
        << to_string(plan.expert_kernels)
        << (plan.fp8 == models::Fp8::kNone ? "" : std::string(", fp8 ") + to_string(plan.fp8))
        << (p.cp == 1 ? "" : std::string(", context parallelism by ") + to_string(plan.context)) << "\n\n";
    out << "  step time         " << duration(p.step_time_s)
        << (p.has_interval ? "   (90 % interval " + duration(p.step_time_interval_s.low) + " to " +
                                 duration(p.step_time_interval_s.high) + ")\n"
                           : std::string("\n"));
    if (p.published_spread) {
        out << "  published runs    "
            << (p.published_spread->sigma == 0
                    ? ""
                    : duration(p.step_time_interval_with_spread_s.low) + " to " +
                          duration(p.step_time_interval_with_spread_s.high) + " with their spread: ")
            << report::spread_words(p) << "\n";
    }
    if (p.unfolded) {
        print_samples(out, *p.unfolded);
    }
    out << "  forward-backward  " << duration(p.forward_backward_s) << "   optimizer phase " << duration(p.optimizer_s)
        << " (reduction, update, gather, barriers)\n"
        << "  tokens            " << short_count(p.tokens_per_s) << "/s   (" << thousands(p.tokens_per_s_per_tile)
        << "/s a " << process_of(p) << ")\n"
        << "  model TFLOP/s     " << significant(p.tflops_per_tile) << " a " << process_of(p) << "\n"
        << "  MFU               " << percent(p.mfu) << " of a peak of "
        << format_quantity(p.peak_flop_per_s, Dimension::kFlopPerSecond)
        << (p.hfu > p.mfu ? " (with recompute " + percent(p.hfu) + ")" : std::string()) << "\n";
    if (p.run_tokens > 0) {
        out << "  run               " << short_count(p.run_tokens) << " tokens in "
            << format_quantity(p.run_time_s, Dimension::kSeconds) << ", " << thousands(p.node_hours) << " node-hours\n";
    }
    print_losses(out, p);
    print_waterfall(out, p);
    if (p.unfolded) {
        print_slow_requests(out, *p.unfolded);
        print_slowest(out, *p.unfolded);
        print_slowest_links(out, *p.unfolded);
    }
    print_memory(out, p);
    print_causes(out, p);
    out << "\n"
        << "simulated: " << counted(static_cast<double>(p.operations), "operation") << ", "
        << counted(static_cast<double>(p.events), "event") << ", in " << duration(p.elapsed_s)
        << " of this computer's time\n";
}

}  // namespace auspex::cli
