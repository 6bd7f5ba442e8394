/// @file The search repeated for each value; the first winner played under all of them.
#include "cli/commands/search/plan_vary.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/plans/plan_checkpoint.hpp"
#include "cli/plans/plan_request.hpp"
#include "launch/child_process.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/text_table.hpp"
#include "sim/predict/predict.hpp"
#include "sim/search/answers/sizes.hpp"

namespace auspex::cli {
namespace {

struct VariedField {
    std::string name;  ///< "machine.node.nic_bandwidth"
    std::vector<std::string> values;
};

/// At commas outside of brackets, braces and quotes.
std::vector<std::string> split_values(const std::string& text) {
    std::vector<std::string> values(1);
    int depth = 0;
    bool is_quoted = false;
    for (const char c : text) {
        is_quoted = is_quoted != (c == '"');
        depth += is_quoted ? 0 : (c == '[' || c == '{' ? 1 : 0) - (c == ']' || c == '}' ? 1 : 0);
        if (c == ',' && depth == 0 && !is_quoted) {
            values.emplace_back();
        } else {
            values.back() += c;
        }
    }
    return values;
}

/// Whether a search leaves the field of the plan alone; PATH of "plan.PATH".
bool is_kept(const std::string& path) {
    static constexpr std::array<std::string_view, 6> kKept{"placement", "placement_seed", "placement_free",
                                                           "precision", "gradient_dtype", "routing"};
    return std::ranges::find(kKept, std::string_view(path).substr(0, path.find('.'))) != kKept.end();
}

VariedField read_vary(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string role = text.substr(0, text.find('.'));
    const std::string path = role.size() < text.size() ? text.substr(role.size() + 1) : std::string();
    const bool may_vary =
        role == "machine" || role == "stack" || (role == "plan" && is_kept(path.substr(0, path.find('='))));
    const std::vector<std::string> values =
        equals == std::string::npos ? std::vector<std::string>() : split_values(text.substr(equals + 1));
    if (!may_vary || values.size() < 2 || std::ranges::find(values, "") != values.end()) {
        throw InputError("--vary",
                         "found \"" + text +
                             "\"; expected machine.PATH=VALUE,VALUE,..., stack.PATH=VALUE,VALUE,... or what a "
                             "search keeps of the plan (placement, placement_seed, placement_free, "
                             "precision, gradient_dtype, routing), such as "
                             "'machine.tile.hbm_capacity=32 GB,64 GB,128 GB'");
    }
    return {text.substr(0, equals), values};
}

/// One value of the field.
struct VariedPoint {
    std::string value;
    models::Inputs inputs;
    search::SizePoint point;
    models::Plan plan;                                     ///< of the best one
    std::optional<predict::Prediction> with_first_plan{};  ///< the first value's best plan here
};

VariedPoint search_with(const Options& options, const VariedField& field, const std::string& value,
                        const std::function<void()>& progress) {
    Options changed = options;
    changed.overrides.push_back(field.name + "=" + value);
    VariedPoint one{value, search_inputs(changed), {}, {}};
    const search::SpaceRequest request = search_request(changed, options.tiles.front());
    const std::vector<search::SizePoint> found =
        search_sizes(one.inputs, request, search_options(options), options.tiles, options.tokens,
                     [&progress](std::size_t, std::size_t) { progress(); });
    if (!found.empty()) {  // empty: a signal has ended it
        one.point = found.front();
        one.plan = one.point.best ? plan_of(one.point.best->candidate, one.inputs.plan) : models::Plan();
    }
    return one;
}

/// In order; fewer than there are values where a signal has ended it.
std::vector<VariedPoint> search_all(const Options& options, const VariedField& field) {
    const launch::SignalsCaught signals;
    launch::ProgressLine line("values searched");
    std::vector<VariedPoint> points;
    for (const std::string& value : field.values) {
        VariedPoint one = search_with(options, field, value, [&] { line.show(points.size(), field.values.size()); });
        if (one.point.tiles == 0) {
            break;
        }
        const auto first = std::ranges::find_if(points, [](const VariedPoint& p) { return p.point.best.has_value(); });
        if (first != points.end()) {
            models::Inputs own = one.inputs;
            own.plan = plan_of(first->point.best->candidate, one.inputs.plan);
            one.with_first_plan = predict::predict(own, {.sensitivity = false}).prediction;
        }
        points.push_back(std::move(one));
    }
    return points;
}

/// The best plan of the last value before that has one; null: of none.
const models::Plan* plan_before(const std::vector<VariedPoint>& points, std::size_t i) {
    while (i-- > 0) {
        if (points[i].point.best) {
            return &points[i].plan;
        }
    }
    return nullptr;
}

void write_json(std::ostream& out, const Options& options, const VariedField& field,
                const std::vector<VariedPoint>& points) {
    const models::Inputs& inputs = points.front().inputs;
    JsonWriter json(out);
    json.begin_object().member("machine", inputs.machine.name).member("stack", inputs.stack.name);
    json.member("workload", inputs.workload.name).member("version", AUSPEX_VERSION);
    json.member("tiles", options.tiles.front()).member("global_batch", options.global_batch);
    json.member("cut", points.size() < field.values.size());
    json.member("varied", field.name).key("values").begin_array();
    for (std::size_t i = 0; i < points.size(); ++i) {
        const VariedPoint& one = points[i];
        json.begin_object().member("value", one.value).member("space", one.point.space);
        if (one.point.best) {
            const predict::Prediction& p = one.point.prediction;
            json.member("step_time_s", p.step_time_s).member("tokens_per_s", p.tokens_per_s).member("mfu", p.mfu);
            json.member("memory_peak_bytes", whole(p.memory.peak_bytes)).key("plan").begin_object();
            write_plan(json, one.plan);
            json.end_object();
            if (const models::Plan* before = plan_before(points, i)) {
                json.key("differs_from_last").begin_object();
                for (const PlanDifference& difference : plan_differences(one.plan, *before)) {
                    json.member(difference.field, difference.value);
                }
                json.end_object();
            }
        }
        if (one.with_first_plan) {
            json.member("first_plan_step_time_s", one.with_first_plan->step_time_s);
            json.member("first_plan_fits", one.with_first_plan->memory.fits);
        }
        json.end_object();
    }
    json.end_array().end_object();
}

report::TextRow row_of(const std::vector<VariedPoint>& points, std::size_t i) {
    const VariedPoint& one = points[i];
    if (!one.point.best) {
        return {one.value, "-", "-", "-", "-", "-", one.point.space == 0 ? "no plan divides" : "no plan fits"};
    }
    const predict::Prediction& p = one.point.prediction;
    const models::Plan* before = plan_before(points, i);
    const std::string kept = !one.with_first_plan                ? ""
                             : !one.with_first_plan->memory.fits ? "too large"
                                                                 : duration(one.with_first_plan->step_time_s);
    return {one.value,
            duration(p.step_time_s),
            kept,
            short_count(p.tokens_per_s),
            percent(p.mfu),
            format_quantity(p.memory.peak_bytes, Dimension::kBytes),
            before == nullptr ? plan_line(one.plan, one.inputs.workload.num_experts > 0)
                              : differences_line(one.plan, *before)};
}

void print_text(const Options& options, const VariedField& field, const std::vector<VariedPoint>& points) {
    const models::Inputs& inputs = points.front().inputs;
    std::cout << inputs.workload.name << " on " << thousands(options.tiles.front()) << " tiles of "
              << inputs.machine.name << " with " << inputs.stack.name << ", " << thousands(options.global_batch)
              << " sequences a step" << overrides_line(options) << "\nthe best plan for each value of " << field.name
              << "\n\n";
    std::vector<report::TextRow> rows{{"value", "step", "first plan", "tokens/s", "MFU", "memory",
                                       "the best plan; below, what changes against the line above"}};
    std::size_t changes = 0, plans = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        rows.push_back(row_of(points, i));
        const models::Plan* before = plan_before(points, i);
        plans += points[i].point.best ? 1U : 0U;
        const bool has_both = points[i].point.best && before != nullptr;
        changes += has_both && !plan_differences(points[i].plan, *before).empty() ? 1U : 0U;
    }
    std::cout << report::text_table(rows, {0, 6});
    if (points.size() < field.values.size()) {
        std::cout << "\nCut: " << points.size() << " of " << field.values.size() << " values were searched.\n";
    }
    std::cout << "\nfirst plan: the step of the first line's plan at this value.\n"
              << (changes == 0
                      ? "The best plan is the same for all " + std::to_string(plans) + " values that have one."
                      : "The best plan changes " + std::to_string(changes) + (changes == 1 ? " time." : " times."))
              << "\n";
}

}  // namespace

void run_plan_vary(const Options& options) {
    const VariedField field = read_vary(options.search.vary);
    refuse_of_one_search(options, "--vary");
    if (options.tiles.size() > 1 || options.search.deadline_s > 0 || !options.out.empty() || options.search.top > 0) {
        throw InputError("--vary",
                         "found with several --tiles, --deadline, --out or --top; expected one number of tiles, and "
                         "none of these: the best plan of each value is shown");
    }
    const std::vector<VariedPoint> points = search_all(options, field);
    const int signal = launch::take_caught_signal();
    if (!points.empty()) {
        warn_of_machine(points.front().inputs.machine);
        const auto answer = [&](std::ostream& out) { write_json(out, options, field, points); };
        CsvFile(options).write(answer);
        if (options.json) {
            answer(answer_stream(options));
        } else {
            print_text(options, field, points);
        }
    }
    if (signal != 0) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

}  // namespace auspex::cli
