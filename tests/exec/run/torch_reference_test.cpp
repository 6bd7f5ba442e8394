/// @file Loss and gradients of tiny models of every kind against those that PyTorch's automatic differentiation gives
/// from the same weights and tokens: tests/torch/tiny_models.py says what they are, tiny_models.json is what it wrote.
#include <gtest/gtest.h>

#include "base/mix64.hpp"
#include "layout_plans.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

const JsonDocument& reference() {
    static const JsonDocument kDocument =
        JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/tests/torch/tiny_models.json");
    return kDocument;
}

/// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::string& name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : name) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return hash;
}

/// Element of a tensor, as the script has it: in fp32, whatever the precision.
float weight_of(const Parameter& p, std::size_t element) {
    const double u = 2 * static_cast<double>(mix64(hash_of(p.name) + element) >> 11U) * 0x1.0p-53 - 1;
    const bool is_norm = p.shape.size() == 1 && !p.name.ends_with(".bias");
    return static_cast<float>(is_norm ? 1 + 0.3 * u : (p.shape.size() == 1 ? 0.2 : 0.4) * u);
}

/// Tokens of the script's sequence.
std::vector<std::int32_t> tokens_of_sequence(const models::Workload& w, int sequence) {
    std::vector<std::int32_t> tokens;
    for (int i = 0; i <= w.sequence_length; ++i) {
        const std::uint64_t word = mix64(hash_of("tokens") + static_cast<std::uint64_t>(1009 * sequence + i));
        tokens.push_back(static_cast<std::int32_t>(word % static_cast<std::uint64_t>(w.vocab_size)));
    }
    return tokens;
}

template <class P>
void take_weights_and_tokens(TestRank<P>& test) {
    Rank<P>& rank = test.rank;
    for (const bool is_expert : {false, true}) {
        auto& weights = is_expert ? rank.weights.experts : rank.weights.dense;
        for (const Parameter& p : is_expert ? rank.table.experts : rank.table.dense) {
            for_each_run(slice_of(p), 0, p.size, [&](std::size_t whole, std::size_t at, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                    weights[p.offset + at + i] = stored<typename P::Value>(weight_of(p, whole + i));
                }
            });
        }
    }
    const models::Plan& plan = rank.plan();
    for (int m = 0; m < plan.micro_batches; ++m) {
        MicroBatchTokens& tokens = rank.tokens[static_cast<std::size_t>(m)];
        tokens.clear();
        for (int i = 0; i < plan.micro_batch_size; ++i) {
            const int sequence = (rank.coordinates.data * plan.micro_batches + m) * plan.micro_batch_size + i;
            const std::vector<std::int32_t> more = tokens_of_sequence(rank.workload(), sequence);
            tokens.insert(tokens.end(), more.begin(), more.end());
        }
    }
}

double number(const JsonValue& value) {
    constexpr double kLarge = 1e6;
    return value.as_number(-kLarge, kLarge);
}
double number_or_zero(const JsonValue& object, const char* key) {
    const auto value = object.find(key);
    return value ? number(*value) : 0;
}

/// `floor`: of the scale that differences are measured by. A gradient may be 0 but for rounding, as that of a key's
/// bias is without rotation: it moves all scores of a query alike.
void expect_gradient(const std::vector<double>& found, const JsonValue& expected, double tolerance, double floor) {
    double squares = 0;
    for (const double g : found) {
        squares += g * g;
    }
    const double norm = number(expected.at("norm"));
    const double allowed = tolerance * std::max(norm, floor);
    EXPECT_NEAR(std::sqrt(squares), norm, allowed);
    const std::vector<JsonValue> elements = expected.at("elements").elements();
    const std::size_t last = std::max<std::size_t>(elements.size() - 1, 1);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        EXPECT_NEAR(found.at(i * (found.size() - 1) / last), number(elements[i]), allowed) << "sample " << i;
    }
}

template <class P>
void expect_reference(const RunInputs& run, const JsonValue& expected, double tolerance) {
    const StepResult result = one_step<P>(run, [](TestRank<P>& test) { take_weights_and_tokens(test); });
    const JsonValue loss = expected.at("loss");
    EXPECT_NEAR(result.loss.cross_entropy, number(loss.at("cross_entropy")), tolerance);
    EXPECT_NEAR(result.loss.auxiliary, number_or_zero(loss, "auxiliary"), tolerance);
    EXPECT_NEAR(result.loss.z, number_or_zero(loss, "z"), tolerance);
    const double norm = number(expected.at("gradient_norm"));
    EXPECT_NEAR(result.gradient_norm, norm, 1e-5 * norm);
    const JsonValue gradients = expected.at("gradients");
    EXPECT_EQ(result.gradients.size(), gradients.keys().size());
    for (const std::string& name : gradients.keys()) {
        SCOPED_TRACE(name);
        ASSERT_TRUE(result.gradients.contains(name));
        expect_gradient(result.gradients.at(name), gradients.at(name), tolerance, 1e-3 * norm);
    }
}

models::Plan learned(models::Plan plan) {
    plan.routing.kind = models::RoutingDistribution::kLearned;
    return plan;
}

/// Two ranks of each sequence, or four where its keys and values come from all of them in two levels.
models::Plan context_plan(models::ContextParallel kind) {
    models::Plan plan = single_plan();
    plan.context = kind;
    plan.cp = plan.dp = kind == models::ContextParallel::kTwoLevel ? 4 : 2;
    plan.context_all_to_all = kind == models::ContextParallel::kTwoLevel ? 2 : 1;
    return plan;
}

/// One rank, the same four sequences over tp, ep and pp, sliced and recomputed, and over cp by each way. The auxiliary
/// loss is of the tokens that a rank has: with experts only the single rank and the first spread have the reference's.
std::vector<models::Plan> plans_for(const models::Workload& w) {
    models::Plan spread = recomputed(split_plan(true));
    spread.pp = 2, spread.micro_batch_size = 1;
    if (w.num_experts > 0) {
        spread.ep = 2;
        spread.dispatch = models::Dispatch::kAllToAll;
    } else {
        spread.micro_batches = 4;
    }
    std::vector<models::Plan> plans{learned(single_plan()), learned(spread)};
    if (w.num_experts == 0) {
        using Kind = models::ContextParallel;
        for (const Kind kind : {Kind::kAllGather, Kind::kRing, Kind::kAllToAll, Kind::kTwoLevel}) {
            plans.push_back(learned(context_plan(kind)));
        }
    }
    return plans;
}

class TorchReference : public testing::TestWithParam<std::string> {};

TEST_P(TorchReference, has_the_trainers_loss_and_gradients) {
    const JsonValue model = reference().root().at("models").at(GetParam());
    const models::Workload workload =
        models::load_workload(JsonDocument::parse(model.at("workload").dump(), GetParam() + ".json"));
    ASSERT_EQ(model.at("sequences").as_integer(0, 100), 4);
    for (const models::Plan& plan : plans_for(workload)) {
        SCOPED_TRACE("tp " + std::to_string(plan.tp) + ", cp " + std::to_string(plan.cp) + " " +
                     std::string(to_string(plan.context)));
        const RunInputs run = run_inputs(workload, plan, workload.training);
        ASSERT_EQ(unbound_operations(run.workload, run.plan, run.stack, run.program), std::vector<std::string>{});
        expect_reference<Fp64>(run, model.at("fp64"), 1e-11);
        expect_reference<Fp32>(run, model.at("fp32"), 1e-5);
    }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Models, TorchReference, testing::ValuesIn(reference().root().at("models").keys()), name_of);

}  // namespace
}  // namespace auspex::exec
