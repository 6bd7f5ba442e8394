/// @file auspex schedule: an order of pipeline passes, played with given times.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "cli/commands/commands.hpp"
#include "launch/output_locks.hpp"
#include "report/orders/order_chart.hpp"
#include "report/parts/text.hpp"
#include "schedule/orders/order_csv.hpp"
#include "schedule/orders/orders.hpp"
#include "sim/orders/play_order.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kMostPasses = 2'000'000;

bool is_file(const ScheduleFlags& flags) {
    return flags.order.ends_with(".csv") || flags.order.find('/') != std::string::npos;
}

schedule::PipelineOrder order_of_file(const ScheduleFlags& flags) {
    schedule::PipelineOrder order =
        schedule::read_order_csv(read_input_file(flags.order, "a file of passes"), flags.order);
    const auto check = [&](const char* flag, int given, std::size_t found) {
        if (given > 0 && static_cast<std::size_t>(given) != found) {
            throw InputError(flag, "found " + std::to_string(given) + " with " + flags.order + ", which has " +
                                       std::to_string(found) + "; expected the same, or no such flag");
        }
    };
    check("--pp", flags.ranks, order.ranks.size());
    check("--micro-batches", flags.micro_batches, static_cast<std::size_t>(order.micro_batches));
    check("--virtual-stages", flags.virtual_stages, static_cast<std::size_t>(order.stages) / order.ranks.size());
    return order;
}

schedule::PipelineOrder order_of(const ScheduleFlags& flags) {
    if (is_file(flags)) {
        return order_of_file(flags);
    }
    if (flags.ranks == 0 || flags.micro_batches == 0) {
        throw InputError("auspex schedule", std::string("found no ") + (flags.ranks == 0 ? "--pp" : "--micro-batches") +
                                                "; expected both with an order by its name");
    }
    const int own = flags.order == "interleaved-1f1b" ? 2 : 1;
    const int chunks = flags.virtual_stages > 0 ? flags.virtual_stages : own;
    if (std::size_t{4} * static_cast<std::size_t>(flags.ranks) * static_cast<std::size_t>(flags.micro_batches) *
            static_cast<std::size_t>(chunks) >
        kMostPasses) {
        throw InputError("--micro-batches", "found " + std::to_string(flags.micro_batches) + " on " +
                                                std::to_string(flags.ranks) + " ranks; expected at most " +
                                                thousands(kMostPasses) + " passes");
    }
    const PassTimeFlags& t = flags.times;
    return schedule::make_order(
        {flags.order,
         flags.ranks,
         flags.micro_batches,
         chunks,
         {t.forward_s, t.input_s, t.weight_s, std::max(t.send_s, 0.0), flags.in_flight, flags.kept_for_weights}});
}

orders::PassTimes times_of(const ScheduleFlags& flags) {
    const PassTimeFlags& given = flags.times;
    for (const auto& [name, value] : {std::pair("F", given.forward_s), {"B", given.input_s}, {"W", given.weight_s}}) {
        if (value <= 0) {
            throw InputError("--times", std::string("found ") + (value < 0 ? "no " : "0 s for ") + name +
                                            "; expected F, B and W above 0, such as F=18.5ms,B=18.1ms,W=9.3ms");
        }
    }
    for (const double value : {given.forward_s, given.input_s, given.weight_s, given.pair_s}) {
        if (value >= 0 && to_picoseconds(value) == 0) {
            throw InputError(value == given.pair_s ? "--overlap" : "--times",
                             "found less than the clock's picosecond; expected more");
        }
    }
    const double whole_s = given.forward_s + given.input_s + given.weight_s;
    return {given.forward_s, given.input_s, given.weight_s, std::max(given.send_s, 0.0),
            given.pair_s > 0 ? given.pair_s : whole_s};
}

/// Only zb-auto has limits.
void check_limits(const ScheduleFlags& flags) {
    const bool has_limit = flags.in_flight > 0;
    if (flags.order != "zb-auto" && (has_limit || flags.kept_for_weights != 1)) {
        throw InputError(has_limit ? "--in-flight" : "--kept-for-weights",
                         "found with --order " + flags.order + "; expected zb-auto, or no such flag");
    }
}

bool has_pairs(const schedule::PipelineOrder& order) {
    return std::ranges::any_of(
        order.ranks, [](const auto& passes) { return std::ranges::any_of(passes, &schedule::StagePass::beside_next); });
}

void write_times(JsonWriter& json, const orders::PassTimes& times) {
    json.key("times").begin_object().member("F", times.forward_s).member("B", times.input_s);
    json.member("W", times.weight_s).member("send", times.send_s).member("F&B", times.pair_s).end_object();
}

void print_json(std::ostream& out, const Options& options, const schedule::PipelineOrder& order,
                const orders::PassTimes& times, const orders::PlayedOrder& played) {
    JsonWriter json(out);
    json.begin_object().member("order", options.schedule.order).member("version", AUSPEX_VERSION);
    json.member("ranks", static_cast<std::int64_t>(order.ranks.size())).member("stages", order.stages);
    json.member("micro_batches", order.micro_batches);
    write_times(json, times);
    json.member("makespan_s", to_seconds(played.makespan)).member("span_s", to_seconds(played.span));
    json.member("bubble_rate", played.bubble_rate).key("in_flight").begin_array();
    for (const int passes : schedule::passes_in_flight(order, schedule::HeldUntil::kInputGradient)) {
        json.value(passes);
    }
    json.end_array().key("in_flight_until_weights").begin_array();
    for (const int passes : schedule::passes_in_flight(order, schedule::HeldUntil::kWeightGradient)) {
        json.value(passes);
    }
    json.end_array().end_object();
}

std::string numbers(const std::vector<int>& list) {
    std::string text;
    for (const int number : list) {
        text += (text.empty() ? "" : " ") + std::to_string(number);
    }
    return text;
}

void print_text(const Options& options, const schedule::PipelineOrder& order, const orders::PassTimes& times,
                const orders::PlayedOrder& played) {
    const std::vector<int> in_flight = passes_in_flight(order, schedule::HeldUntil::kInputGradient),
                           held = passes_in_flight(order, schedule::HeldUntil::kWeightGradient);
    std::cout << options.schedule.order << ": " << counted(static_cast<double>(order.ranks.size()), "rank") << ", "
              << counted(order.stages, "stage") << ", " << counted(order.micro_batches, "micro-batch", "es")
              << "\nof one through one stage: forward " << duration(times.forward_s) << ", gradient of its input "
              << duration(times.input_s) << ", of its weights " << duration(times.weight_s);
    if (has_pairs(order)) {
        std::cout << ", forward beside backward " << duration(times.pair_s);
    }
    std::cout << "; a message " << duration(times.send_s) << "\n\n  makespan      "
              << duration(to_seconds(played.makespan)) << "\n  longest span  " << duration(to_seconds(played.span))
              << " (of one rank, from its first pass to its last)\n  bubble        " << percent(played.bubble_rate, 2)
              << " of that span\n  in flight     " << numbers(in_flight)
              << " (by rank: passes of a stage that have gone forward and not backward, at most)\n";
    if (held != in_flight) {
        std::cout << "                " << numbers(held)
                  << " (with those whose gradient of weights is still to come, which hold a part)\n";
    }
}

}  // namespace

void run_schedule(const Options& options) {
    const ScheduleFlags& flags = options.schedule;
    const orders::PassTimes times = times_of(flags);
    check_limits(flags);
    const schedule::PipelineOrder order = order_of(flags);
    if (flags.times.pair_s > 0 && !has_pairs(order)) {
        throw InputError("--overlap", "found with " + flags.order +
                                          ", in which nothing runs side by side; expected dualpipe, dualpipev or no "
                                          "such flag");
    }
    launch::OutputLocks locks(options.command_line);
    for (const auto& [flag, file] : {std::pair("--svg ", flags.svg), {"--csv ", options.csv}}) {
        if (!file.empty()) {
            locks.take_file(flag + file, file);
        }
    }
    const orders::PlayedOrder played = play_order(order, times);
    if (!flags.svg.empty()) {
        const std::string title = flags.order + " on " + counted(static_cast<double>(order.ranks.size()), "rank") +
                                  ", " + counted(order.micro_batches, "micro-batch", "es") + ": bubble " +
                                  percent(played.bubble_rate, 2);
        write_file(flags.svg, report::standalone_svg(report::order_chart(played, title), title, options.command_line));
    }
    if (!options.csv.empty()) {
        write_file(options.csv, schedule::order_csv(order));
    }
    if (options.json) {
        print_json(answer_stream(options), options, order, times, played);
        return;
    }
    print_text(options, order, times, played);
    for (const auto& [what, file] : {std::pair("The picture", flags.svg), {"The order", options.csv}}) {
        std::cout << (file.empty() ? "" : std::string(what) + " is in " + file + ".\n");
    }
}

}  // namespace auspex::cli
