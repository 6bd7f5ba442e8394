/// @file Plan files: what is read, the defaults, what is refused, and routing traces beside them.
#include "models/plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

Plan parsed(const std::string& text) { return load_plan(JsonDocument::parse(text, "p.json")); }

std::string load_error(const std::string& text) {
    try {
        static_cast<void>(parsed(text));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Plan, a_file_with_only_a_grid_gets_the_documented_defaults) {
    const Plan plan = parsed(R"({"tp": 2})");
    EXPECT_EQ(plan.dp, 0);
    EXPECT_EQ(plan.ep, 1);
    EXPECT_EQ(plan.etp, 2);
    EXPECT_FALSE(plan.etp_given);
    EXPECT_EQ(plan.pp, 1);
    EXPECT_EQ(plan.schedule, ScheduleKind::k1f1b);
    EXPECT_EQ(plan.optimizer, OptimizerSharding::kSharded);
    EXPECT_EQ(plan.dispatch, Dispatch::kAllToAll);
    EXPECT_EQ(plan.expert_kernels, ExpertKernels::kGrouped);
    EXPECT_EQ(plan.routing.kind, RoutingDistribution::kUniform);
    EXPECT_EQ(plan.weight_bytes, 2);
    EXPECT_EQ(plan.gradient_bytes, 2);
    EXPECT_EQ(plan.placement, PlacementKind::kContiguous);
    EXPECT_EQ(plan.rank_order, (std::array<Axis, 4>{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp}));
    EXPECT_FALSE(plan.recompute.norm || plan.recompute.attention || plan.recompute.expert);
    EXPECT_FALSE(plan.overlap_tp || plan.overlap_ep || plan.overlap_dp || plan.overlap_pp);
}

TEST(Plan, every_key_of_a_file_is_read) {
    const Plan plan = parsed(
        R"({"source": "s", "dp": 3, "ep": 4, "etp": 2, "tp": 8, "pp": 5, "cp": 3, "virtual_stages": 2, "sequence_parallel": true,
        "micro_batch_size": 6, "micro_batches": 10, "schedule": "interleaved-1f1b", "recompute": ["expert", "norm"], "precision": "fp32",
        "gradient_dtype": "bf16", "optimizer": "fsdp", "shard_replicas": 3, "reshard_after_forward": false, "prefetch": 0,
        "dispatch": "allgather-reducescatter", "expert_kernels": "loop",
        "routing": {"zipf": 1.1}, "overlap": ["pp", "tp"], "rank_order": ["ep", "pp", "dp", "tp"], "placement": [7, 0, 3]})");
    EXPECT_EQ(plan.dp, 3);
    EXPECT_EQ(plan.ep, 4);
    EXPECT_EQ(plan.etp, 2);
    EXPECT_TRUE(plan.etp_given);
    EXPECT_EQ(plan.tp, 8);
    EXPECT_EQ(plan.pp, 5);
    EXPECT_EQ(plan.cp, 3);
    EXPECT_EQ(plan.virtual_stages, 2);
    EXPECT_TRUE(plan.sequence_parallel);
    EXPECT_EQ(plan.micro_batch_size, 6);
    EXPECT_EQ(plan.micro_batches, 10);
    EXPECT_EQ(plan.schedule, ScheduleKind::kInterleaved1f1b);
    EXPECT_TRUE(plan.recompute.norm && plan.recompute.expert && !plan.recompute.attention);
    EXPECT_EQ(plan.precision, "fp32");
    EXPECT_EQ(plan.weight_bytes, 4);
    EXPECT_EQ(plan.gradient_bytes, 2);
    EXPECT_EQ(plan.optimizer, OptimizerSharding::kFsdp);
    EXPECT_EQ(plan.shard_replicas, 3);
    EXPECT_FALSE(plan.reshard_after_forward);
    EXPECT_EQ(plan.prefetch, 0);
    EXPECT_EQ(plan.dispatch, Dispatch::kAllGatherReduceScatter);
    EXPECT_EQ(plan.expert_kernels, ExpertKernels::kLoop);
    EXPECT_EQ(plan.routing.kind, RoutingDistribution::kZipf);
    EXPECT_EQ(plan.routing.parameter, 1.1);
    EXPECT_TRUE(plan.overlap_pp && plan.overlap_tp && !plan.overlap_ep && !plan.overlap_dp);
    EXPECT_EQ(plan.rank_order, (std::array<Axis, 4>{Axis::kEp, Axis::kPp, Axis::kDp, Axis::kTp}));
    EXPECT_EQ(plan.placement, PlacementKind::kList);
    EXPECT_EQ(plan.placement_nodes, (std::vector<int>{7, 0, 3}));
}

TEST(Plan, gradients_take_the_precision_unless_they_have_their_own) {
    EXPECT_EQ(parsed(R"({"tp": 1, "precision": "fp32"})").gradient_bytes, 4);
    EXPECT_EQ(parsed(R"({"tp": 1, "gradient_dtype": "fp32"})").gradient_bytes, 4);
}

TEST(Plan, weights_in_8_bits_need_products_of_them_and_states_in_bf16_weights_that_are) {
    const Plan plan = parsed(R"({"tp": 1, "fp8": "blockwise", "fp8_weights": "only", "optimizer_states": "bf16"})");
    EXPECT_TRUE(plan.fp8_weights_only && plan.bf16_states);
    EXPECT_EQ(master_bytes(plan), 0);
    EXPECT_EQ(moment_bytes(plan), 4);
    EXPECT_EQ(master_bytes(parsed(R"({"tp": 1})")), 4);
    EXPECT_EQ(moment_bytes(parsed(R"({"tp": 1})")), 8);
    EXPECT_EQ(parsed(R"({"tp": 1, "fp8": "nvfp4"})").fp8, Fp8::kNvfp4);
    EXPECT_THROW(parsed(R"({"tp": 1, "fp8_weights": "only"})"), InputError);
    EXPECT_THROW(parsed(R"({"tp": 1, "fp8": "tensorwise", "fp8_weights": "only", "optimizer": "fsdp"})"), InputError);
    EXPECT_THROW(parsed(R"({"tp": 1, "precision": "fp32", "optimizer_states": "bf16"})"), InputError);
}

TEST(Plan, words_print_as_they_are_read) {
    for (const char* word : {"gpipe", "1f1b"}) {
        EXPECT_STREQ(to_string(parsed(std::string(R"({"pp": 2, "schedule": ")") + word + "\"}").schedule), word);
    }
    for (const char* word : {"replicated", "sharded", "ep-aware", "zero-2", "fsdp"}) {
        EXPECT_STREQ(to_string(parsed(std::string(R"({"pp": 2, "optimizer": ")") + word + "\"}").optimizer), word);
    }
    for (const char* word : {"allgather-reducescatter", "alltoall"}) {
        EXPECT_STREQ(to_string(parsed(std::string(R"({"pp": 2, "dispatch": ")") + word + "\"}").dispatch), word);
    }
    for (const char* word : {"loop", "grouped", "fused"}) {
        EXPECT_STREQ(to_string(parsed(std::string(R"({"pp": 2, "expert_kernels": ")") + word + "\"}").expert_kernels),
                     word);
    }
    EXPECT_STREQ(to_string(ScheduleKind::kInterleaved1f1b), "interleaved-1f1b");
}

TEST(Plan, each_wrong_value_is_refused_with_its_place_and_what_is_allowed) {
    const std::array<const char*, 3> cases[] = {
        {R"({})", "p.json: $", "at least one of the keys dp, ep, etp, tp, pp, cp"},
        {R"([])", "p.json: $", "an object"},
        {R"({"tp": 1, "nope": 1})", "p.json: $", "unknown key \"nope\""},
        {R"({"tp": 0})", "$.tp", "from 1"},
        {R"({"dp": -1})", "$.dp", "from 0"},
        {R"({"pp": 1e3})", "$.pp", "an integer"},
        {R"({"pp": 2, "micro_batches": 0})", "$.micro_batches", "from 1"},
        {R"({"pp": 2, "schedule": "zero-bubble"})", "$.schedule", "\"gpipe\", \"1f1b\", \"interleaved-1f1b\""},
        {R"({"pp": 2, "schedule": "interleaved-1f1b"})", "$.virtual_stages", "2 or more"},
        {R"({"pp": 2, "virtual_stages": 2})", "$.virtual_stages", "interleaved-1f1b"},
        {R"({"pp": 2, "optimizer": "zero-1"})", "$.optimizer", "\"ep-aware\""},
        {R"({"dp": 2, "shard_replicas": 2})", "$.shard_replicas", "\"ep-aware\", \"zero-2\" or \"fsdp\""},
        {R"({"dp": 2, "optimizer": "fsdp", "shard_replicas": 0})", "$.shard_replicas", "from 1"},
        {R"({"dp": 2, "optimizer": "zero-2", "prefetch": 2})", "$.prefetch", "1, or \"optimizer\": \"fsdp\""},
        {R"({"dp": 2, "optimizer": "fsdp", "prefetch": -1})", "$.prefetch", "from 0"},
        {R"({"dp": 2, "reshard_after_forward": false})", "$.reshard_after_forward", "true, or \"optimizer\": \"fsdp\""},
        {R"({"dp": 2, "reshard_after_forward": 2})", "$.reshard_after_forward", "true, or \"optimizer\": \"fsdp\""},
        {R"({"dp": 2, "optimizer": "fsdp", "reshard_after_forward": 1})", "$.reshard_after_forward", "from 2"},
        {R"({"dp": 2, "recompute": ["layer", "norm"]})", "$.recompute", "\"layer\" alone"},
        {R"({"dp": 2, "recompute": ["expert", "activation"]})", "$.recompute", "parts of it"},
        {R"({"dp": 2, "recompute_layers": 2})", "$.recompute_layers", "names nothing"},
        {R"({"pp": 2, "dispatch": "hierarchical"})", "$.dispatch", "\"alltoall\""},
        {R"({"pp": 2, "expert_kernels": "cutlass"})", "$.expert_kernels", "\"fused\""},
        {R"({"pp": 2, "recompute": ["everything"]})", "$.recompute[0]", "\"attention\""},
        {R"({"pp": 2, "recompute": ["norm", "norm"]})", "$.recompute[1]", "once"},
        {R"({"pp": 2, "recompute": "full"})", "$.recompute", "\"layer\", such as [\"norm\"] (in a shell '[\"norm\"]')"},
        {R"({"pp": 2, "overlap": "dp"})", "$.overlap", "such as [\"tp\"] (in a shell"},
        {R"({"pp": 2, "stages": "few"})", "$.stages", "or the layers of each stage, such as [3, 4, 4, 3]"},
        {R"({"pp": 2, "rank_order": "dp"})", "$.rank_order", "such as [\"pp\", \"dp\", \"ep\", \"tp\"]"},
        {R"({"pp": 2, "schedule": "zb-auto", "zb_auto": 3})", "$.zb_auto", "such as {\"F\": 1,"},
        {R"({"pp": 2, "overlap": ["cp"]})", "$.overlap[0]", "\"dp\""},
        {R"({"pp": 2, "precision": "fp8"})", "$.precision",
         "one of \"bf16\", \"fp32\", or for products in 8 or 4 bits the key \"fp8\" (--set plan.fp8="},
        {R"({"pp": 2, "gradient_dtype": 4})", "$.gradient_dtype", "\"bf16\", \"fp32\""},
        {R"({"pp": 2, "rank_order": ["dp", "pp", "ep"]})", "$.rank_order", "the four axes"},
        {R"({"pp": 2, "rank_order": ["dp", "dp", "ep", "tp"]})", "$.rank_order[1]", "once"},
        {R"({"pp": 2, "rank_order": ["tp", "pp", "ep", "dp"]})", "$.rank_order", "tp last (fastest): the tp ranks"},
        {R"({"pp": 2, "placement": "best"})", "$.placement", "\"scattered\""},
        {R"({"pp": 2, "placement": 3})", "$.placement", "a list of node numbers, such as [0, 1, 2]"},
        {R"({"pp": 2, "placement": "scattered", "placement_seed": 3})", "$.placement_seed", "\"scheduled\""},
        {R"({"pp": 2, "placement": "random", "placement_free": 0.5})", "$.placement_free", "\"scheduled\""},
        {R"({"pp": 2, "placement": "scheduled", "placement_free": 0})", "$.placement_free", "0.001"},
        {R"({"pp": 2, "placement": []})", "$.placement", "at least one"},
        {R"({"pp": 2, "placement": [4, 4]})", "$.placement[1]", "once"},
        {R"({"pp": 2, "placement": [-4]})", "$.placement[0]", "from 0"},
        {R"({"pp": 2, "routing": "skewed"})", "$.routing", "{\"zipf\": s}"},
        {R"({"pp": 2, "routing": 3})", "$.routing", "{\"zipf\": s}"},
        {R"({"pp": 2, "routing": {}})", "$.routing", "{\"zipf\": s}"},
        {R"({"pp": 2, "routing": {"zipf": 1, "dirichlet": 1}})", "$.routing", "{\"zipf\": s}"},
        {R"({"pp": 2, "routing": {"zipf": -1}})", "$.routing.zipf", "from 0"},
        {R"({"pp": 2, "routing": {"dirichlet": 0}})", "$.routing.dirichlet", "from 0.001"},
        {R"({"pp": 2, "routing": {"gauss": 1}})", "$.routing", "unknown key \"gauss\""},
        {R"({"pp": 2, "routing": {"trace": ""}})", "$.routing.trace", "a file name"},
        {R"({"pp": 2, "routing": {"trace": "no/such/file.json"}})", "no/such/file.json", "no such file"},
        {R"({"pp": 2, "source": ""})", "$.source", "not an empty string"},
    };
    for (const auto& [text, where, allowed] : cases) {
        const std::string error = load_error(text);
        expect_contains(error, where);
        expect_contains(error, allowed);
    }
}

/// A plan in a fresh folder beside a trace file of this content.
class PlanTrace : public ::testing::Test {
 protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] Plan load(const std::string& trace) const {
        std::ofstream(folder_ / "trace.json") << trace;
        return load_plan(JsonDocument::parse(R"({"ep": 2, "dp": 1, "routing": {"trace": "trace.json"}})",
                                             (folder_ / "p.json").string()));
    }
    [[nodiscard]] std::string error(const std::string& trace) const {
        try {
            static_cast<void>(load(trace));
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }
    // One folder a test: tests of one program may run side by side.
    std::filesystem::path folder_ =
        std::filesystem::path(::testing::TempDir()) / ("auspex-plan-trace-" + std::to_string(getpid()) +
                                                       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PlanTrace, counts_are_normalised_to_shares_and_the_path_is_relative_to_the_plan) {
    const Plan plan = load(R"({"source": "a run", "shares": [30, 10, 0, 60]})");
    EXPECT_EQ(plan.routing.kind, RoutingDistribution::kTrace);
    EXPECT_EQ(plan.routing.trace_shares, (std::vector<double>{0.3, 0.1, 0.0, 0.6}));
    EXPECT_EQ(plan.routing.trace_file, (folder_ / "trace.json").string());
}

TEST_F(PlanTrace, a_wrong_trace_is_refused_in_its_own_file) {
    expect_contains(error(R"({"shares": [1, -1]})"), "trace.json: $.shares[1]");
    expect_contains(error(R"({"shares": [0, 0]})"), "at least one above zero");
    expect_contains(error(R"({"shares": []})"), "at least one above zero");
    expect_contains(error(R"({"share": [1]})"), "unknown key \"share\"");
    expect_contains(error(R"({})"), "missing key \"shares\"");
}

TEST(Plan, the_router_may_choose_and_predictions_take_that_as_even) {
    const Plan plan = parsed(R"({"ep": 2, "routing": "learned"})");
    EXPECT_EQ(plan.routing.kind, RoutingDistribution::kLearned);
    EXPECT_FALSE(is_skewed(RoutingDistribution::kLearned));
    EXPECT_FALSE(is_skewed(RoutingDistribution::kUniform));
    EXPECT_TRUE(is_skewed(RoutingDistribution::kZipf));
    EXPECT_TRUE(is_skewed(RoutingDistribution::kDirichlet));
    EXPECT_TRUE(is_skewed(RoutingDistribution::kTrace));
}

TEST_F(PlanTrace, a_trace_must_have_one_share_per_expert) {
    const Plan plan = load(R"({"shares": [1, 2, 3, 4, 5, 6, 7]})");
    try {
        static_cast<void>(resolve_plan(
            plan, load_workload(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/toy-moe.json")), 0));
        FAIL() << "seven shares for eight experts";
    } catch (const InputError& error) {
        expect_contains(error.what(), "trace.json: $.shares: found 7 shares; expected 8, one per expert of toy-moe");
    }
}

}  // namespace
}  // namespace auspex::models
