/// @file auspex scale: several sizes of one job, how efficiency falls, and the report.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/advice_output.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "cli/output/prediction_page.hpp"
#include "cli/output/published/published_training.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/spread_words.hpp"
#include "report/scaling/waterfall.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::cli {
namespace {

using MachineChange = void (*)(models::Machine&);

/// Tokens per second and tile at every size, on a changed machine. The sizes are independent: played side by side.
std::vector<double> throughputs(const std::vector<models::Inputs>& sizes, const std::vector<int>& tiles,
                                MachineChange change) {
    std::vector<double> rates(sizes.size());
    tbb::parallel_for(std::size_t{0}, sizes.size(), [&](std::size_t i) {
        launch::throw_if_interrupted();
        models::Inputs inputs = sizes[i];
        change(inputs.machine);
        rates[i] = predict::predict(inputs, {.tiles = tiles[i], .sensitivity = false}).prediction.tokens_per_s_per_tile;
    });
    return rates;
}

/// Efficiency over the first size, of the machine as it is and with one cause at a time taken away.
void fill_efficiencies(std::vector<report::ScalePoint>& points, const std::vector<models::Inputs>& sizes,
                       const std::vector<int>& tiles) {
    const auto without = [&](MachineChange change, double report::ScalePoint::*field) {
        const std::vector<double> rate = throughputs(sizes, tiles, change);
        for (std::size_t i = 0; i < points.size(); ++i) {
            points[i].*field = rate[i] / rate.front();
        }
    };
    for (report::ScalePoint& point : points) {
        point.efficiency = point.prediction.tokens_per_s_per_tile / points.front().prediction.tokens_per_s_per_tile;
    }
    static constexpr auto kDetourAtOnce = [](models::Machine& m) {
        m.fabric.detour_delay_s = m.fabric.local_detour_delay_s = 0;
    };
    without(kDetourAtOnce, &report::ScalePoint::efficiency_without_detour_delay);
    without([](models::Machine& m) { m.fabric.background_load = 0; },
            &report::ScalePoint::efficiency_without_background);
    without(
        [](models::Machine& m) {
            kDetourAtOnce(m);
            m.fabric.background_load = 0;
        },
        &report::ScalePoint::efficiency_without_both);
    without([](models::Machine& m) { m.tile.speed_sigma = 0; }, &report::ScalePoint::efficiency_without_stragglers);
}

std::vector<std::string> layout_lines(const models::Plan& plan, const predict::Prediction& first,
                                      const predict::Prediction& last, predict::ScaleMode mode) {
    const auto number = [](int value) { return thousands(value); };
    std::vector<std::string> lines;
    lines.push_back("pipeline stages pp = " + number(first.pp) + ", expert parallel ep = " + number(first.ep) +
                    ", expert tensor parallel etp = " + number(first.etp) +
                    ", tensor parallel tp = " + number(first.tp) + ", context parallel cp = " + number(first.cp));
    lines.push_back("replicas dp = " + number(first.dp) + " to " + number(last.dp) +
                    " (data-parallel ranks of the dense part: " + number(first.data_parallel) + " to " +
                    number(last.data_parallel) + ")");
    lines.push_back(std::string(to_string(plan.schedule)) + " schedule, " +
                    (mode == predict::ScaleMode::kWeak ? counted(plan.micro_batches, "micro-batch", "es") + " of "
                                                       : "micro-batches of ") +
                    counted(plan.micro_batch_size, "sequence") + ", global batch " + thousands(first.global_batch) +
                    " to " + thousands(last.global_batch) + " sequences");
    lines.push_back(std::string("optimizer ") + to_string(plan.optimizer) + ", token dispatch " +
                    to_string(plan.dispatch) + ", expert kernels " + to_string(plan.expert_kernels));
    return lines;
}

report::ScalingReport make_report(const Options& options, const models::Inputs& inputs, predict::ScaleMode mode,
                                  std::vector<report::ScalePoint> points) {
    report::ScalingReport report;
    report.title = inputs.workload.name + " on " + inputs.machine.name + ", " + thousands(options.tiles.front()) +
                   (options.tiles.size() > 1 ? " to " + thousands(options.tiles.back()) : std::string()) +
                   (options.tiles.back() == 1 ? " tile" : " tiles");
    report.mode = mode == predict::ScaleMode::kWeak ? "weak" : "strong";
    report.command = options.command_line;
    report.machine = inputs.machine.name;
    report.workload = inputs.workload.name;
    report.stack = inputs.stack.name;
    report.plan = inputs.plan.name;
    report.layout_lines = layout_lines(inputs.plan, points.front().prediction, points.back().prediction, mode);
    report.inputs = files_of(inputs);
    report.overrides = overrides_in_words(options);
    report.constants = constants_of(inputs);
    report.points = std::move(points);
    if (mode == predict::ScaleMode::kWeak && options.overrides.empty()) {
        add_published_points(report, inputs, load_published_training());
    }
    return report;
}

/// What would help the largest size.
struct ScaleAdvice {
    int most = 0;  ///< changes listed; 0: not looked for
    search::Advice advice;
    const models::Inputs* inputs = nullptr;  ///< of that size
};

constexpr int kListedChanges = 3;

void print_json(std::ostream& out, const report::ScalingReport& report, const models::Inputs& inputs,
                const Options& options, const ScaleAdvice& advice) {
    JsonWriter json(out);
    json.begin_object();
    write_names(json, inputs, options);
    json.member("mode", report.mode).key("points").begin_array();
    for (const report::ScalePoint& point : report.points) {
        json.begin_object();
        write_prediction(json, point.prediction);
        if (options.tokens > 0) {
            write_run(json, point.prediction);
        }
        json.member("efficiency", point.efficiency);
        json.member("efficiency_without_detour_delay", point.efficiency_without_detour_delay);
        json.member("efficiency_without_background", point.efficiency_without_background);
        json.member("efficiency_without_both", point.efficiency_without_both);
        json.member("efficiency_without_stragglers", point.efficiency_without_stragglers).end_object();
    }
    json.end_array();
    if (advice.most > 0) {
        const predict::Prediction& largest = report.points.back().prediction;
        json.member("advice_tiles", largest.tiles);
        write_advice(json, advice.advice, largest, *advice.inputs, advice.most);
    }
    json.end_object();
}

void print_waterfalls(const std::vector<report::ScalePoint>& points) {
    std::cout << "\nFrom the peak to MFU: what each cause takes of the step; the first line is MFU\n"
              << left("  tiles", 43);
    for (const report::ScalePoint& point : points) {
        std::cout << right(thousands(point.prediction.tiles), 9);
    }
    std::cout << "\n";
    for (const report::WaterfallBySize& row : report::waterfall_by_size(points)) {
        const std::string words = report::waterfall_words(row.cause, points.front().prediction);
        std::cout << "  " << left((row.cause == "peak" ? "" : "+ ") + words, 41);
        for (const double share : row.share) {
            std::cout << right(percent(share), 9);
        }
        std::cout << "\n";
    }
}

void print_table(const report::ScalingReport& report, const Options& options) {
    const bool with_run = options.tokens > 0;
    std::cout << report.title << ", " << report.mode << " scaling" << overrides_line(options) << "\n\n"
              << right("tiles", 8) << right("nodes", 8) << right("dp", 8) << right("step", 10) << right("interval", 20)
              << right("tokens/s", 11) << right("MFU", 8) << right("efficiency", 12) << right("memory", 10)
              << (with_run ? right("run time", 12) + right("node-hours", 14) : std::string()) << "\n";
    for (const report::ScalePoint& point : report.points) {
        const predict::Prediction& p = point.prediction;
        std::cout << right(thousands(p.tiles), 8) << right(thousands(p.nodes), 8) << right(thousands(p.dp), 8)
                  << right(duration(p.step_time_s), 10)
                  << right(p.has_interval
                               ? duration(p.step_time_interval_s.low) + " to " + duration(p.step_time_interval_s.high)
                               : "not asked for",
                           20)
                  << right(short_count(p.tokens_per_s), 11) << right(percent(p.mfu), 8)
                  << right(percent(point.efficiency), 12) << right(p.memory.fits ? "fits" : "too much", 10);
        if (with_run) {
            std::cout << right(format_quantity(p.run_time_s, Dimension::kSeconds), 12)
                      << right(thousands(p.node_hours), 14);
        }
        std::cout << "\n";
    }
    if (const predict::Prediction& last = report.points.back().prediction; last.published_spread) {
        std::cout << "\nOf the last size: " << report::spread_words(last) << ", together "
                  << duration(last.step_time_interval_with_spread_s.low) << " to "
                  << duration(last.step_time_interval_with_spread_s.high) << ".\n";
    }
    if (with_run) {
        std::cout << "\nRun time and node-hours: of " << short_count(options.tokens)
                  << " tokens, without checkpoints, failures and queueing.\n";
    }
}

predict::ScaleMode mode_of(const Options& options) {
    if (options.mode.empty() || options.mode == "weak") {
        return predict::ScaleMode::kWeak;
    }
    if (options.mode != "strong") {
        throw InputError("--mode", "found \"" + options.mode + "\"; expected weak or strong");
    }
    return predict::ScaleMode::kStrong;
}

/// Numbers of tiles around the one asked for that keep the batch whole, nearest first and at most six.
std::string tiles_that_would_do(const models::Inputs& inputs, int reference, int asked) {
    constexpr std::size_t kShown = 6;
    constexpr int kFarthest = 4;  // times the tiles asked for
    const auto replica = static_cast<int>(tiles_per_replica(inputs.plan));
    std::vector<int> found;
    for (int tiles = replica; tiles / kFarthest <= asked; tiles += replica) {
        try {
            static_cast<void>(at_scale(inputs, predict::ScaleMode::kStrong, reference, tiles));
            found.push_back(tiles);
        } catch (const InputError&) {
            continue;  // not this one: what is looked for is those that pass
        }
    }
    std::sort(found.begin(), found.end(), [asked](int a, int b) { return std::abs(a - asked) < std::abs(b - asked); });
    found.resize(std::min(found.size(), kShown));
    std::sort(found.begin(), found.end());
    std::string list;
    for (const int tiles : found) {
        list += (list.empty() ? "" : ", ") + std::to_string(tiles);
    }
    return list;
}

models::Inputs sized(const models::Inputs& inputs, predict::ScaleMode mode, int reference, int tiles) {
    try {
        return at_scale(inputs, mode, reference, tiles);
    } catch (const InputError& error) {
        const std::string others =
            mode == predict::ScaleMode::kStrong ? tiles_that_would_do(inputs, reference, tiles) : "";
        if (others.empty()) {
            throw;
        }
        const std::string message = error.what();
        const std::size_t colon = message.find(": ");
        throw InputError(message.substr(0, colon), message.substr(colon + 2) + "; these would do: " + others);
    }
}

/// Weak scaling lets dp follow the tiles; strong scaling takes the plan's dp for the batch that it keeps.
void refuse_dp(const Options& options, predict::ScaleMode mode) {
    const std::optional<std::string> dp = launch::value_set(options.overrides, "plan", "dp");
    if (dp && mode == predict::ScaleMode::kWeak) {
        throw InputError("--set plan.dp=" + *dp, "found a dp, but here dp follows --tiles; leave it out");
    }
}

}  // namespace

void run_scale(const Options& options) {
    const predict::ScaleMode mode = mode_of(options);
    refuse_dp(options, mode);
    if (options.no_sensitivity && !options.out.empty()) {
        throw InputError("--no-sensitivity", "found with --out; expected one of them: the report shows the intervals");
    }
    const models::Inputs inputs = load_all(options);
    ScaleAdvice advice{changes_wanted(options, inputs.machine, kListedChanges), {}, nullptr};
    std::vector<models::Inputs> sizes;
    for (const int tiles : options.tiles) {
        sizes.push_back(sized(inputs, mode, options.tiles.front(), tiles));
    }
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const CsvFile csv(options);
    std::vector<report::ScalePoint> points;
    launch::ProgressLine progress("sizes predicted");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        progress.show(i, sizes.size());
        points.emplace_back().prediction = predict::predict(sizes[i], {.tiles = options.tiles[i],
                                                                       .run_tokens = options.tokens,
                                                                       .sensitivity = !options.no_sensitivity,
                                                                       .executor_runs = schedule::executor_runs})
                                               .prediction;
    }
    fill_efficiencies(points, sizes, options.tiles);
    progress.show(sizes.size(), sizes.size());

    if (advice.most > 0) {
        advice.inputs = &sizes.back();
        advice.advice = search::advise(sizes.back(), points.back().prediction,
                                       emitted_plans(sizes.back().stack.emit_format, "emit_format"));
    }
    report::ScalingReport report = make_report(options, inputs, mode, std::move(points));
    if (advice.most > 0) {
        const predict::Prediction& largest = report.points.back().prediction;
        report.advice = advice_line(advice_rows(advice.advice, largest, *advice.inputs, advice.most), largest.tiles);
    }
    if (!options.out.empty()) {
        write_scaling_report(report, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, report, inputs, options, advice); };
    csv.write(answer);
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    print_table(report, options);
    print_waterfalls(report.points);
    std::cout << (report.advice.empty() ? "" : "\n" + report.advice + "\n");
    if (!options.out.empty()) {
        std::cout << "\nThe report is in " << options.out << ": index.html, report.md, points.csv"
                  << (report.points.size() > 1 ? ", efficiency.svg\n" : "\n");
    }
}

}  // namespace auspex::cli
