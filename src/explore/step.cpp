/// @file One prediction with its timeline.
#include "explore/step.hpp"

#include <sstream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "explore/whole_run.hpp"
#include "report/parts/loss_words.hpp"
#include "report/timeline/timeline_data.hpp"
#include "schedule/bindings/bindings.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::explore {
namespace {

constexpr std::size_t kTimelineBytes = 48'000;  // more takes longer to send and draw than a slider may wait

void write_losses(JsonWriter& json, const predict::Prediction& p) {
    json.key("losses").begin_array();
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        const auto loss = static_cast<schedule::Loss>(i);
        json.begin_object().member("name", to_string(loss)).member("words", report::readable(loss));
        json.member("meaning", meaning_of(loss)).member("seconds", to_seconds(p.losses.at(i))).end_object();
    }
    json.end_array();
}

void write_memory(JsonWriter& json, const predict::MemoryReport& memory) {
    json.key("memory").begin_object().member("peak_bytes", whole(memory.peak_bytes));
    json.member("capacity_bytes", whole(memory.capacity_bytes)).member("fits", memory.fits);
    json.member("verdict", memory.verdict).key("by_label").begin_array();
    for (const auto& [label, bytes] : memory.by_label) {
        json.begin_object().member("name", label).member("bytes", whole(bytes)).end_object();
    }
    json.end_array().end_object();
}

std::string step_json(const predict::Prediction& p) {
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("tiles", p.tiles).member("nodes", p.nodes).member("dp", p.dp).member("pp", p.pp);
        json.member("ep", p.ep).member("etp", p.etp).member("tp", p.tp).member("cp", p.cp);
        json.member("data_parallel", p.data_parallel).member("global_batch", p.global_batch);
        json.member("tokens_per_step", p.tokens_per_step).member("step_time_s", p.step_time_s);
        json.member("tokens_per_s", p.tokens_per_s).member("tokens_per_s_per_tile", p.tokens_per_s_per_tile);
        json.member("tflops_per_tile", p.tflops_per_tile).member("mfu", p.mfu).member("hfu", p.hfu);
        json.member("forward_backward_s", p.forward_backward_s).member("optimizer_s", p.optimizer_s);
        json.member("step_node_hours", p.step_node_hours).member("operations", p.operations);
        json.member("elapsed_s", p.elapsed_s);
        write_losses(json, p);
        write_memory(json, p.memory);
        json.key("notes").begin_array();
        for (const std::string& note : p.notes) {
            json.value(note);
        }
        json.end_array().end_object();
    }
    return out.str();
}

}  // namespace

void require_playable(const models::Inputs& inputs, int tiles) {
    constexpr double kMostPasses = 50'000;
    const models::Plan plan = resolve_plan(inputs.plan, inputs.workload, tiles);
    const double ranks = inputs.machine.cpu.cores > 0 ? tiles_of(plan) : 1;  // of CPU cores every rank is played
    const double passes = ranks * inputs.workload.layers * plan.micro_batches;
    if (passes > kMostPasses) {
        throw InputError(inputs.plan.file + ": $.micro_batches",
                         "found a step of " + thousands(passes) + " passes of a micro-batch through a layer; a page " +
                             "follows at most " + thousands(kMostPasses) + "; auspex predict plays more");
    }
}

std::string step_answer(Session& session, const State& state) {
    const models::Inputs inputs = session.inputs(state);
    require_playable(inputs, state.tiles);
    predict::PredictOptions options;
    options.tiles = state.tiles;
    options.sensitivity = false;
    options.timeline = true;
    options.executor_runs = schedule::executor_runs;
    const predict::PredictResult result = predict::predict(inputs, options);
    const report::TimelineData timeline = report::timeline_data("Timeline of the step, a band for each pipeline stage",
                                                                {{"", &*result.timeline}}, kTimelineBytes);
    return "{\"command\":" + json_quote(command_of(state)) + ",\"step\":" + step_json(result.prediction) +
           ",\"run\":" + whole_run_json(inputs, state, result.prediction) +
           ",\"merged_below_s\":" + json_number(to_seconds(timeline.merged_below)) + ",\"timeline\":" + timeline.json +
           "}";
}

}  // namespace auspex::explore
