/// @file The closed form of the run, as JSON.
#include "explore/whole_run.hpp"

#include <cmath>
#include <optional>
#include <sstream>

#include "base/json_writer.hpp"
#include "campaign/finish/expected_run.hpp"

namespace auspex::explore {
namespace {

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

void write_texts(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
    json.key(key).begin_array();
    for (const std::string& text : texts) {
        json.value(text);
    }
    json.end_array();
}

void write_run(JsonWriter& json, const campaign::ExpectedRun& run) {
    const campaign::Setting& setting = run.made.setting;
    const campaign::ExpectedFinish& finish = run.finish;
    json.member("steps", setting.steps);
    json.member("steps_alone_s", static_cast<double>(setting.steps) * setting.step_s);
    json.member_or_null("finish_s", finite(finish.elapsed_s)).member_or_null("node_hours", finite(finish.node_hours));
    json.member("goodput", finish.goodput).member_or_null("interruptions", finite(finish.interruptions));
    json.member_or_null("mtbf_s", finite(finish.mtbf_s));
    json.member("checkpoint_every_steps", setting.checkpoints.every_steps);
    json.member("checkpoint_interval_s", static_cast<double>(setting.checkpoints.every_steps) * setting.step_s);
    json.member("checkpoint_stall_s", setting.checkpoints.stall_s);
    write_texts(json, "left_out", finish.left_out);
    write_texts(json, "notes", run.made.notes);
}

}  // namespace

std::string whole_run_json(const models::Inputs& inputs, const State& state, const predict::Prediction& prediction) {
    if (state.tokens <= 0 || inputs.machine.cpu.cores > 0) {
        return "null";
    }
    const std::int64_t steps = campaign::steps_of_tokens(state.tokens, prediction.tokens_per_step, "request: $.tokens");
    const campaign::ExpectedRun run = campaign::expected_run(
        inputs, {prediction.nodes, prediction.tiles, prediction.dp, prediction.step_time_s, {}, steps, 0});
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("tokens", state.tokens);
        write_run(json, run);
        json.member("command", campaign_command_of(state)).end_object();
    }
    return out.str();
}

std::string campaign_command_of(const State& state) {
    return command_of("campaign", state) + " --tokens " + campaign::tokens_text(state.tokens);
}

}  // namespace auspex::explore
