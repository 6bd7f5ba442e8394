/// @file What a page is told: the numbers of auspex predict and auspex scale, ranges of sliders, refusals by field.
#include "explore/answer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "base/units.hpp"
#include "campaign/campaign.hpp"
#include "campaign/finish/expected_finish.hpp"
#include "campaign/finish/machine_setting.hpp"
#include "explore/slider_range.hpp"
#include "explore_fixture.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::explore {
namespace {

double number_of(const JsonValue& object, std::string_view key) {
    return object.at(key).as_number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}

JsonDocument answered(Session& session, const std::string& request) {
    const Answer found = answer(session, request);
    EXPECT_EQ(found.status, 200) << found.body.substr(0, 400);
    return JsonDocument::parse(found.body, "answer");
}

/// As the command line loads and predicts them.
predict::Prediction predicted(const std::string& workload, int tiles, const std::vector<std::string>& overrides) {
    models::Inputs inputs = models::load_inputs(
        launch::load_document("machine", "aurora", overrides), launch::load_document("stack", "optimus", overrides),
        launch::load_document("workload", workload, overrides), launch::load_document("plan", workload, overrides));
    inputs.plan.dp = 0;
    return predict::predict(inputs, {.tiles = tiles, .sensitivity = false}).prediction;
}

/// The library of a stack is that of the machine, also once another one is chosen.
TEST(Answer, a_stack_is_what_it_is_on_the_machine) {
    Session session(library_of_the_repository());
    for (const char* const machine : {"lumi", "dgx-a100", "dgx-h100", "mi300x", "lumi"}) {
        State state;
        state.names = {machine, "megatron-deepspeed", "llama3-8b", "llama3-8b"};
        state.tiles = 64;
        const auto [machine_document, stack] = launch::load_machine_and_stack(machine, "megatron-deepspeed", {});
        const models::Stack expected = models::load_stack(stack, models::load_machine(machine_document));
        const models::Inputs found = session.inputs(state);
        EXPECT_EQ(found.stack.library + found.stack.transport_name, expected.library + expected.transport_name)
            << machine;
    }
}

TEST(Answer, of_a_step_is_what_predict_says_to_the_last_bit) {
    Session session(library_of_the_repository());
    const std::vector<std::vector<std::string>> cases{
        {},
        {"machine.tile.gemm_bf16=250 TF/s"},
        {"stack.kernels.launch=3.21 us", "machine.fabric.background_load=0.4"},
        {"plan.micro_batches=16", "plan.recompute=[]"},
        {},  // and back
        {"workload.sequence_length=8192", "machine.node.nic.bandwidth=12.5 GB/s"}};
    for (const auto& overrides : cases) {
        const predict::Prediction p = predicted("mula-220b-a10b", 3072, overrides);
        const JsonDocument found = answered(session, request_of("step", "mula-220b-a10b", 3072, set_of(overrides)));
        const JsonValue step = found.root().at("step");
        EXPECT_EQ(number_of(step, "step_time_s"), p.step_time_s);
        EXPECT_EQ(number_of(step, "mfu"), p.mfu);
        EXPECT_EQ(number_of(step, "tokens_per_s"), p.tokens_per_s);
        EXPECT_EQ(number_of(step.at("memory"), "peak_bytes"), std::round(p.memory.peak_bytes));
        EXPECT_EQ(step.at("memory").at("fits").as_bool(), p.memory.fits);
        const std::vector<JsonValue> losses = step.at("losses").elements();
        ASSERT_EQ(losses.size(), schedule::kLossCount);
        for (std::size_t i = 0; i < losses.size(); ++i) {
            EXPECT_EQ(number_of(losses[i], "seconds"), to_seconds(p.losses.at(i)));
        }
        EXPECT_EQ(number_of(found.root().at("timeline"), "length"), static_cast<double>(p.step / 1000));
    }
}

TEST(Answer, has_the_command_that_predicts_the_same) {
    Session session(library_of_the_repository());
    const JsonDocument found = answered(
        session, request_of("step", "mula-7b-a1b", 48, set_of({"machine.tile.gemm_bf16=250 TF/s", "plan.overlap=[]"})));
    EXPECT_EQ(found.root().at("command").as_string(),
              "auspex predict --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 48 "
              "--set 'machine.tile.gemm_bf16=250 TF/s' --set 'plan.overlap=[]'");
}

// The closed form of the same prediction; every slider moves it, tokens stretch it.
TEST(Answer, has_the_whole_run_in_closed_form) {
    Session session(library_of_the_repository());
    const auto run_of = [&](const std::string& tokens, const std::vector<std::string>& overrides) {
        const JsonDocument found = answered(
            session, request_of("step", "mula-220b-a10b", 12288, "\"tokens\":" + tokens + "," + set_of(overrides)));
        return JsonDocument::parse(found.root().at("run").dump(), "run");
    };
    const predict::Prediction p = predicted("mula-220b-a10b", 12288, {});
    const JsonDocument run = run_of("4e12", {});
    const auto steps = static_cast<std::int64_t>(std::ceil(4e12 / p.tokens_per_step));
    EXPECT_EQ(number_of(run.root(), "steps"), static_cast<double>(steps));
    const models::Inputs inputs =
        session.inputs({{"aurora", "optimus", "mula-220b-a10b", "mula-220b-a10b"}, 12288, {}});
    campaign::Setting setting =
        campaign::machine_setting(inputs, {p.nodes, p.tiles, p.dp, p.step_time_s, {1, 1}, steps, 0}, {}).setting;
    setting.checkpoints.every_steps = closed_form_steps(setting);
    const campaign::ExpectedFinish finish = expected_finish(setting);
    EXPECT_EQ(number_of(run.root(), "finish_s"), finish.elapsed_s);
    EXPECT_EQ(number_of(run.root(), "node_hours"), finish.node_hours);
    EXPECT_EQ(number_of(run.root(), "goodput"), finish.goodput);
    EXPECT_EQ(number_of(run.root(), "interruptions"), finish.interruptions);
    EXPECT_EQ(number_of(run.root(), "checkpoint_every_steps"), static_cast<double>(setting.checkpoints.every_steps));
    EXPECT_NEAR(finish.elapsed_s, play_campaign(setting, {200, 1}).elapsed_s.mean, 0.01 * finish.elapsed_s);
    EXPECT_EQ(run.root().at("command").as_string(),
              "auspex campaign --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b "
              "--tiles 12288 --tokens 4T");
    EXPECT_NEAR(number_of(run_of("8e12", {}).root(), "finish_s"), 2 * finish.elapsed_s, 0.01 * finish.elapsed_s);
    EXPECT_GT(number_of(run_of("4e12", {"machine.tile.gemm_bf16=150 TF/s"}).root(), "finish_s"), finish.elapsed_s);
    EXPECT_LT(number_of(run_of("4e12", {"machine.storage.checkpoint_write=5 TB/s"}).root(), "finish_s"),
              finish.elapsed_s);
}

TEST(Answer, has_no_whole_run_where_there_is_none) {
    Session session(library_of_the_repository());
    EXPECT_EQ(answered(session, request_of("step", "mula-7b-a1b", 48)).root().at("run").dump(), "null");
    const JsonDocument doomed =
        answered(session, request_of("step", "mula-220b-a10b", 12288,
                                     "\"tokens\":1e12," + set_of({"machine.storage.checkpoint_write=1 MB/s"})));
    EXPECT_EQ(doomed.root().at("run").at("finish_s").dump(), "null");  // no checkpoint is ever written
}

// megatron-lm's scores go through memory on A100s alone: a page that changes the machine reads the stack again.
TEST(Answer, of_another_machine_has_the_stack_as_it_runs_there) {
    Session session(library_of_the_repository());
    const auto passes_on = [&](const char* machine) {
        return session.inputs({{machine, "megatron-lm", "gpt3-175b", "gpt3-175b"}, 0, {}}).stack.kernels.attention;
    };
    EXPECT_EQ(passes_on("dgx-a100"), 4);
    EXPECT_EQ(passes_on("dgx-h100"), 1);
    EXPECT_EQ(passes_on("dgx-a100"), 4);
}

// A curve's point is the weak scaling of auspex scale: the same plan with dp = tiles / (pp ep etp).
TEST(Answer, of_a_curve_is_a_prediction_of_each_size) {
    Session session(library_of_the_repository());
    const std::vector<std::string> overrides{"machine.fabric.background_load=0.3"};
    const JsonDocument found = answered(
        session, request_of("curve", "mula-220b-a10b", 1536, "\"page\":\"a\",\"number\":1," + set_of(overrides)));
    std::vector<int> sizes;
    for (const JsonValue& point : found.root().at("points").elements()) {
        sizes.push_back(static_cast<int>(number_of(point, "tiles")));
        EXPECT_EQ(number_of(point, "step_time_s"), predicted("mula-220b-a10b", sizes.back(), overrides).step_time_s);
    }
    EXPECT_EQ(sizes, (std::vector<int>{96, 192, 384, 768, 1536, 3072}));  // a replica has 8 x 12 tiles
}

TEST(Answer, of_a_curve_ends_where_the_same_page_has_asked_for_another) {
    Session session(library_of_the_repository());
    const auto ask = [&](const std::string& page, int number) {
        return answer(session, request_of("curve", "mula-7b-a1b", 48,
                                          "\"page\":\"" + page + "\",\"number\":" + std::to_string(number)))
            .body;
    };
    EXPECT_NE(ask("a", 7).find("points"), std::string::npos);
    EXPECT_EQ(ask("a", 6), "{\"outdated\":true}");
    EXPECT_NE(ask("b", 6).find("points"), std::string::npos);  // another page's
    static_cast<void>(answer(session, request_of("step", "mula-7b-a1b", 48, "\"page\":\"b\",\"number\":8")));
    EXPECT_EQ(ask("b", 7), "{\"outdated\":true}");
}

TEST(Answer, of_fields_has_a_slider_for_every_constant) {
    Session session(library_of_the_repository());
    for (const std::string& machine : launch::input_names("machine")) {
        const std::string request = "{\"ask\":\"fields\",\"machine\":\"" + machine +
                                    "\",\"stack\":\"optimus\",\"workload\":\"mula-7b-a1b\",\"plan\":\"mula-7b-a1b\"}";
        const JsonDocument found = answered(session, request);
        const auto constants = found.root().at("constants").elements();
        const std::size_t of_files =
            models::load_machine(launch::load_document("machine", machine, {})).constants.size() +
            models::load_stack(launch::load_document("stack", "optimus", {})).constants.size();
        EXPECT_EQ(constants.size(), of_files);
        for (const JsonValue& one : constants) {
            const double value = number_of(one, "value"), from = number_of(one, "from"), to = number_of(one, "to");
            EXPECT_LT(from, to) << one.dump();
            EXPECT_TRUE(from <= value && value <= to) << one.dump();
            EXPECT_TRUE(number_of(one, "least") <= from && to <= number_of(one, "most")) << one.dump();
            EXPECT_TRUE(!one.at("log").as_bool() || from > 0) << one.dump();
        }
    }
}

// What a page sends back for a field that nobody touched changes nothing: its text is the file's.
TEST(Answer, of_fields_has_texts_that_give_the_file_again) {
    Session session(library_of_the_repository());
    const JsonDocument found = answered(session, request_of("fields", "mula-7b-a1b", 48));
    std::vector<std::string> overrides;
    for (const char* part : {"constants", "numbers", "plan"}) {
        for (const JsonValue& one : found.root().at(part).elements()) {
            const std::string text = one.at("text").as_string(), field = one.at("field").as_string();
            const bool is_of_chance = field.starts_with("plan.placement_");  // keys of some placements only
            if (!text.empty() && field != "plan.dp" && !is_of_chance) {
                overrides.push_back(field + "=" + text);
            }
        }
    }
    ASSERT_GT(overrides.size(), 60U);
    const JsonDocument step = answered(session, request_of("step", "mula-7b-a1b", 48, set_of(overrides)));
    EXPECT_EQ(number_of(step.root().at("step"), "step_time_s"), predicted("mula-7b-a1b", 48, {}).step_time_s);
}

TEST(SliderRange, goes_a_tenth_to_ten_times_within_what_files_may_say) {
    Constant constant;
    constant.dimension = Dimension::kBytesPerSecond;
    constant.value = 2e15, constant.low = 1e5, constant.high = 1e16;
    const SliderRange range = slider_range(constant);
    EXPECT_EQ(range.from, 2e14);
    EXPECT_EQ(range.to, 1e16);
    EXPECT_TRUE(range.is_logarithmic);
    constant.dimension = Dimension::kNone;
    constant.value = 0.82, constant.low = 0.01, constant.high = 1;
    EXPECT_EQ(slider_range(constant).from, 0.01);
    EXPECT_FALSE(slider_range(constant).is_logarithmic);
}

/// Message and field of a request that is refused with 400.
std::pair<std::string, std::string> refused(Session& session, const std::string& request) {
    const Answer found = answer(session, request);
    EXPECT_EQ(found.status, 400) << request;
    const JsonDocument document = JsonDocument::parse(found.body, "answer");
    const JsonValue error = document.root().at("error");
    const auto field = error.find("field");
    return {error.at("message").as_string(), field ? field->as_string() : ""};
}

TEST(Answer, refuses_a_bad_value_at_its_field) {
    Session session(library_of_the_repository());
    const auto field_of = [&](const std::string& override_text, int tiles = 3072) {
        return refused(session, request_of("step", "mula-220b-a10b", tiles, set_of({override_text}))).second;
    };
    EXPECT_EQ(field_of("machine.tile.gemm_bf16=250 GB/s"), "machine.tile.gemm_bf16.value");
    EXPECT_EQ(field_of("stack.kernels.gemm_efficiency=1.5"), "stack.kernels.gemm_efficiency.value");
    EXPECT_EQ(field_of("plan.schedule=2f2b"), "plan.schedule");
    EXPECT_EQ(field_of("plan.ep=7"), "plan.ep");
    EXPECT_EQ(field_of("plan.pp=8", 100), "tiles");
    EXPECT_EQ(field_of("plan.micro_batches=1000000"), "plan.micro_batches");
    EXPECT_EQ(refused(session, request_of("step", "mula-220b-a10b", -1)).second, "tiles");
    EXPECT_EQ(refused(session, request_of("step", "mula-7b-a1b", 48, "\"tokens\":-1")).second, "tokens");
    EXPECT_EQ(refused(session, request_of("step", "mula-7b-a1b", 48, "\"tokens\":1e18")).second, "tokens");
}

TEST(Answer, refuses_what_is_no_request) {
    Session session(library_of_the_repository());
    for (const char* text : {"", "{", "[]", "7", "{\"ask\":\"step\"}", "{\"ask\":\"shell\",\"machine\":\"aurora\"}"}) {
        EXPECT_NE(refused(session, text).first, "") << text;
    }
    EXPECT_NE(refused(session, request_of("step", "mula-7b-a1b", 48, "\"more\":1")).first.find("unknown key \"more\""),
              std::string::npos);
    EXPECT_NE(refused(session, request_of("step", "mula-7b-a1b", 48, set_of({"tool.x=1"}))).first.find("the role"),
              std::string::npos);
    EXPECT_EQ(refused(session, request_of("curve", "mula-7b-a1b", 48)).first.find("request: $"), 0U);
}

// Names only: what is no name of a data folder is not looked for, wherever it is; a plan's record of routing is its
// own.
TEST(Answer, reads_no_file_but_those_of_the_library) {
    Session session(library_of_the_repository());
    for (const char* name : {"../machines/aurora", "machines/aurora.json", "/etc/passwd", "..", ""}) {
        const std::string request = std::string("{\"ask\":\"step\",\"machine\":\"") + name +
                                    "\",\"stack\":\"optimus\",\"workload\":\"mula-7b-a1b\",\"plan\":\"mula-7b-a1b\"}";
        EXPECT_EQ(refused(session, request).second, "machine") << name;
    }
    for (const char* routing :
         {"plan.routing={\"trace\":\"/etc/passwd\"}", "plan.routing={\"trace\":\"../plans/x.json\"}"}) {
        const auto [message, field] = refused(session, request_of("step", "mula-7b-a1b", 48, set_of({routing})));
        EXPECT_EQ(field, "plan.routing.trace");
        EXPECT_EQ(message.find("no such file"), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace auspex::explore
