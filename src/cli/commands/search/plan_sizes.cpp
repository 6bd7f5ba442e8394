/// @file auspex plan for several sizes: a table, a pick, or the smallest that is in time.
#include "cli/commands/search/plan_sizes.hpp"

#include <iostream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/commands/search/size_finishes.hpp"
#include "cli/commands/search/sizes_page.hpp"
#include "cli/flags/job_size.hpp"
#include "cli/output/campaign/finish_output.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/output/prediction_output.hpp"
#include "cli/plans/finish_by.hpp"
#include "cli/plans/plan_checkpoint.hpp"
#include "cli/plans/plan_request.hpp"
#include "launch/child_process.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "sim/search/answers/nearest.hpp"
#include "sim/search/answers/sizes.hpp"

namespace auspex::cli {
namespace {

std::string time_text(double seconds) { return format_quantity(seconds, Dimension::kSeconds); }

bool picks_cheapest(const Options& options) { return options.search.objective == "tokens-per-node-hour"; }

void write_head(JsonWriter& json, const models::Inputs& inputs, const Options& options) {
    json.member("machine", inputs.machine.name).member("stack", inputs.stack.name);
    json.member("workload", inputs.workload.name).member("version", AUSPEX_VERSION);
    json.member("global_batch", options.global_batch).member("run_tokens", options.tokens);
}

void write_point(JsonWriter& json, const search::SizePoint& point, double run_tokens) {
    json.begin_object().member("tiles", point.tiles).member("space", point.space);
    if (!point.best) {
        json.member("why_no_plan", why_no_plan(point)).end_object();
        return;
    }
    const predict::Prediction& p = point.prediction;
    json.member("nodes", p.nodes).member("step_time_s", p.step_time_s).member("tokens_per_s", p.tokens_per_s);
    json.member("mfu", p.mfu).member("memory_peak_bytes", whole(p.memory.peak_bytes));
    json.member("tokens_per_node_hour", point.tokens_per_node_hour());
    json.member_or_null("marginal_speedup", point.marginal_speedup);
    if (run_tokens > 0) {
        json.member("run_time_s", p.run_time_s).member("node_hours", p.node_hours);
    }
}

void write_plan_of(JsonWriter& json, const models::Inputs& inputs, const search::SizePoint& point) {
    json.key("plan").begin_object();
    write_plan(json, plan_of(point.best->candidate, inputs.plan));
    json.end_object();
}

void write_sizes(std::ostream& out, const models::Inputs& inputs, const Options& options,
                 const std::vector<search::SizePoint>& points, const search::SizePoint& pick,
                 const std::optional<SizeFinishes>& finishes) {
    JsonWriter json(out);
    json.begin_object();
    write_head(json, inputs, options);
    json.member("objective", options.search.objective.empty() ? "step-time" : options.search.objective);
    json.member("cut", points.size() < options.tiles.size());
    json.member("picked_tiles", pick.tiles);
    if (finishes) {
        write_size_finishes(json, *finishes, points);
    }
    json.key("sizes").begin_array();
    for (const search::SizePoint& point : points) {
        write_point(json, point, options.tokens);
        if (point.best) {
            if (finishes) {
                write_plan_finish(json, *finishes->of_sizes[static_cast<std::size_t>(&point - points.data())]);
            }
            write_plan_of(json, inputs, point);
            json.end_object();
        }
    }
    const search::PayingSize paying = last_that_pays(points);
    json.end_array().member("speedup_that_pays", search::kSpeedupThatPays);
    json.member("pays_up_to_tiles", paying.point->tiles).member("stops_paying", paying.ends).end_object();
}

void print_row(const models::Inputs& inputs, const search::SizePoint& point, bool with_run) {
    std::cout << right(thousands(point.tiles), 8);
    if (!point.best) {
        std::cout << "  " << why_no_plan(point) << "\n";
        return;
    }
    const predict::Prediction& p = point.prediction;
    std::cout << right(thousands(p.nodes), 8) << right(duration(p.step_time_s), 10)
              << right(short_count(p.tokens_per_s), 10) << right(percent(p.mfu), 8)
              << right(point.marginal_speedup ? percent(*point.marginal_speedup, 0) : "", 10)
              << right(short_count(point.tokens_per_node_hour()), 15);
    if (with_run) {
        std::cout << right(time_text(p.run_time_s), 11) << right(thousands(p.node_hours), 12);
    }
    std::cout << "  " << plan_line(plan_of(point.best->candidate, inputs.plan), inputs.workload.num_experts > 0)
              << "\n";
}

void print_sizes(const models::Inputs& inputs, const Options& options, const std::vector<search::SizePoint>& points,
                 const search::SizePoint& pick, const std::optional<SizeFinishes>& finishes) {
    const bool with_run = options.tokens > 0;
    std::cout << inputs.workload.name << " on " << inputs.machine.name << " with " << inputs.stack.name << ", "
              << thousands(options.global_batch) << " sequences a step at every size: the best plan of each"
              << overrides_line(options) << "\n\n"
              << right("tiles", 8) << right("nodes", 8) << right("step", 10) << right("tokens/s", 10) << right("MFU", 8)
              << right("marginal", 10) << right("tokens/node-h", 15)
              << (with_run ? right("run time", 11) + right("node-hours", 12) : std::string()) << "  plan\n";
    for (const search::SizePoint& point : points) {
        print_row(inputs, point, with_run);
    }
    if (points.size() < options.tiles.size()) {
        std::cout << "\nCut: " << points.size() << " of " << options.tiles.size() << " sizes were searched.\n";
    }
    if (with_run) {
        std::cout << "\nRun time and node-hours: of " << short_count(options.tokens)
                  << " tokens, without checkpoints, failures and queueing.";
    }
    const search::PayingSize paying = last_that_pays(points);
    std::cout << "\nmarginal: what the tiles beyond the size before add, of what they could; 100 %: twice the tiles, "
                 "twice the tokens/s. More tiles pay as long as it is at least "
              << percent(search::kSpeedupThatPays, 0) << ": "
              << (paying.ends ? "up to " + thousands(paying.point->tiles) + " tiles" : std::string("at all of these"))
              << ".\n";
    if (finishes) {
        print_size_finishes(options, *finishes, points);
        return;
    }
    std::cout << (picks_cheapest(options) ? "Most tokens per node-hour: " : "The shortest step: ")
              << thousands(pick.tiles) << " tiles.\n";
}

void refuse_flags(const Options& options) {
    const auto refuse = [](const char* flag, const char* found, const char* expected) {
        throw InputError(flag, std::string("found ") + found + "; expected " + expected);
    };
    refuse_of_one_search(options, "several --tiles or --deadline");
    if (options.search.top > 0) {
        refuse("--top", "with several --tiles or --deadline, where the best plan of each size is shown",
               "one number of tiles, or no --top");
    }
    if (writes_folder(options) && !ranks_by_finish(options)) {
        throw InputError("--out " + options.out,
                         "found with several --tiles or --deadline, of which a page is written with --objective "
                         "finish-by alone; expected that, or the name of a plan file, NAME.json");
    }
    if (options.search.deadline_s > 0 && options.tokens == 0) {
        refuse("--deadline", "without --tokens", "both: what is to be trained, and in which time");
    }
    if (options.search.deadline_s > 0 && !options.search.objective.empty()) {
        refuse("--objective", "with --deadline, which picks the smallest size", "one of them");
    }
    if (options.search.deadline_s > 0 && options.search.exhaustive) {
        refuse("--exhaustive", "with --deadline", "one of them");
    }
}

[[noreturn]] void refuse_sizes(const models::Inputs& inputs, const Options& options,
                               const search::SpaceRequest& request) {
    const models::Machine& machine = inputs.machine;
    const int unit = size_unit(options, machine);
    const std::optional<int> tiles =
        has_plans(inputs, request) ? nearest_tiles_that_fit(inputs, request) : nearest_tiles(inputs, request, unit);
    throw InputError(
        size_flag(options, machine, options.tiles) + " with --global-batch " + std::to_string(options.global_batch),
        "found no size with a plan that divides them and fits" +
            (tiles ? "; the nearest to " + std::to_string(request.tiles / unit) +
                         " that works: " + size_flag(options, machine, {*tiles})
                   : std::string()));
}

/// All whole nodes' tiles between the first and the last that were given, and these.
std::vector<int> sizes_of_range(const Options& options, int tiles_per_node) {
    std::vector<int> sizes{options.tiles.front()};
    for (int tiles = (sizes.front() / tiles_per_node + 1) * tiles_per_node; tiles < options.tiles.back();
         tiles += tiles_per_node) {
        sizes.push_back(tiles);
    }
    if (options.tiles.back() > sizes.back()) {
        sizes.push_back(options.tiles.back());
    }
    return sizes;
}

/// Nothing is in time: the fastest of the sizes that were given.
[[noreturn]] void refuse_late(const models::Inputs& inputs, const Options& options, const search::SpaceRequest& request,
                              const search::SizeProgress& progress) {
    const std::vector<search::SizePoint> points =
        search_sizes(inputs, request, search_options(options), options.tiles, options.tokens, progress);
    const search::SizePoint* fastest = fastest_size(points);
    if (fastest == nullptr) {
        refuse_sizes(inputs, options, request);
    }
    throw InputError("--deadline " + time_text(options.search.deadline_s),
                     "found no size that trains " + short_count(options.tokens) +
                         " tokens in this time; the nearest that works, the fastest of " +
                         size_flag(options, inputs.machine, options.tiles) + ": " + std::to_string(fastest->tiles) +
                         " tiles in " + time_text(fastest->prediction.run_time_s));
}

void write_deadline(std::ostream& out, const models::Inputs& inputs, const Options& options,
                    const search::DeadlineResult& result) {
    JsonWriter json(out);
    json.begin_object();
    write_head(json, inputs, options);
    json.member("deadline_s", options.search.deadline_s).member("sizes_with_plans", result.with_plans);
    json.key("smallest");
    write_point(json, *result.smallest, options.tokens);
    write_plan_of(json, inputs, *result.smallest);
    json.end_object().end_object();
}

void print_deadline(const models::Inputs& inputs, const Options& options, const search::DeadlineResult& result) {
    const predict::Prediction& p = result.smallest->prediction;
    std::cout << inputs.workload.name << " on " << inputs.machine.name << " with " << inputs.stack.name << ", "
              << thousands(options.global_batch) << " sequences a step" << overrides_line(options) << "\n\n"
              << "The smallest that trains " << short_count(options.tokens) << " tokens within "
              << time_text(options.search.deadline_s) << ": " << counted(p.tiles, "tile") << ", "
              << counted(p.nodes, "node") << ", in " << time_text(p.run_time_s) << " and " << thousands(p.node_hours)
              << " node-hours, without checkpoints, failures and queueing.\n  "
              << plan_line(plan_of(result.smallest->best->candidate, inputs.plan), inputs.workload.num_experts > 0)
              << "\n  " << duration(p.step_time_s) << " a step, " << short_count(p.tokens_per_s) << " tokens/s, "
              << percent(p.mfu) << " MFU, " << format_quantity(p.memory.peak_bytes, Dimension::kBytes) << " of "
              << format_quantity(p.memory.capacity_bytes, Dimension::kBytes) << "\n";
    if (const int smaller = result.with_plans - 1; smaller > 0) {
        std::cout << counted(smaller, "smaller size") << " with plans " << (smaller == 1 ? "takes" : "take")
                  << " longer.\n";
    }
}

}  // namespace

void run_plan_sizes(const Options& options) {
    refuse_flags(options);
    launch::OutputLocks locks(options.command_line);
    if (writes_folder(options)) {
        locks.take_folder("--out", options.out);
    }
    const models::Inputs inputs = search_inputs(options);
    warn_of_machine(inputs.machine);
    const search::SpaceRequest request = search_request(options, options.tiles.front());
    launch::ProgressLine line("sizes searched");
    std::vector<search::SizePoint> points;
    {
        const launch::SignalsCaught signals;
        points = search_sizes(
            inputs, request, search_options(options), options.tiles, options.tokens,
            [&line](std::size_t done, std::size_t all) { line.show(done, all); },
            ranks_by_finish(options) ? kFinalistsOfSize : 1);
    }
    const int signal = launch::take_caught_signal();
    const search::SizePoint* pick = picks_cheapest(options) ? cheapest_size(points) : fastest_size(points);
    std::optional<SizeFinishes> finishes;
    if (pick != nullptr && ranks_by_finish(options)) {
        finishes = play_sizes(options, inputs, points);
        pick = &points[finishes->first];
    }
    if (pick == nullptr) {
        if (signal != 0) {
            throw launch::Interrupted(signal);
        }
        refuse_sizes(inputs, options, request);
    }
    const auto answer = [&](std::ostream& out) { write_sizes(out, inputs, options, points, *pick, finishes); };
    if (writes_folder(options)) {
        write_sizes_folder(inputs, options, points, *finishes, answer);
    } else if (!options.out.empty()) {
        write_plan_file(options, options.out, plan_of(pick->best->candidate, inputs.plan));
    }
    CsvFile(options).write(answer);
    if (options.json) {
        answer(answer_stream(options));
    } else {
        print_sizes(inputs, options, points, *pick, finishes);
        if (writes_folder(options)) {
            std::cout << "The page is in " << options.out << ": " << kSizesFiles << "\n";
        }
    }
    if (signal != 0) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

void run_plan_deadline(const Options& options) {
    refuse_flags(options);
    const models::Inputs inputs = search_inputs(options);
    warn_of_machine(inputs.machine);
    const search::SpaceRequest request = search_request(options, options.tiles.front());
    launch::ProgressLine line("sizes searched");
    const auto progress = [&line](std::size_t done, std::size_t all) { line.show(done, all); };
    const std::vector<int> sizes =
        options.search.is_tiles_range ? sizes_of_range(options, inputs.machine.node.tiles) : options.tiles;
    search::DeadlineResult result;
    {
        const launch::SignalsCaught signals;
        result = smallest_in_time(inputs, request, search_options(options), sizes, options.tokens,
                                  options.search.deadline_s, progress);
    }
    if (const int signal = launch::take_caught_signal(); result.was_cut) {
        throw launch::Interrupted(signal);
    }
    if (!result.smallest) {
        refuse_late(inputs, options, request, progress);
    }
    if (!options.out.empty()) {
        write_plan_file(options, options.out, plan_of(result.smallest->best->candidate, inputs.plan));
    }
    const auto answer = [&](std::ostream& out) { write_deadline(out, inputs, options, result); };
    CsvFile(options).write(answer);
    if (options.json) {
        answer(answer_stream(options));
    } else {
        print_deadline(inputs, options, result);
    }
}

}  // namespace auspex::cli
