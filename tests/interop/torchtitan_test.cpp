/// @file Plans to configurations of torchtitan and back.
#include "interop/torchtitan/torchtitan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interop/torchtitan/python_text.hpp"
#include "interop_fixture.hpp"

namespace auspex::interop {
namespace {

using testing_interop::Case;
using testing_interop::case_of;
using testing_interop::difference;
using testing_interop::names_field;
using testing_interop::names_setting;
using testing_interop::workload_named;

constexpr const char* kFormat = "torchtitan";

std::string refusal(const Case& one) { return testing_interop::refusal(one, kFormat); }
std::string refusal_of_text(const std::string& text, int ranks = 0) {
    return testing_interop::refusal_of_text(text, kFormat, ranks, "llama3-70b");
}
ImportedPlan imported(const std::string& text, const std::string& function = "") {
    PlanText from;
    from.text = text, from.name = "config.py", from.configuration = function;
    return plan_of_torchtitan(from);
}

// embedding and head count as layers: 80 + 1 + 1 on 4 stages are 21, 21, 20, 20, less one in front and one behind.
TEST(Torchtitan, layers_are_dealt_with_embedding_and_head_counted) {
    EXPECT_EQ(torchtitan_layers(80, 4, 1, 1), (std::vector<int>{20, 21, 20, 19}));
    EXPECT_EQ(torchtitan_layers(80, 4, 0, 0), (std::vector<int>{20, 20, 20, 20}));
    EXPECT_EQ(torchtitan_layers(10, 4, 0, 3), (std::vector<int>{4, 3, 3, 0}));
    EXPECT_EQ(torchtitan_layers(10, 1, 1, 1), (std::vector<int>{10}));
    EXPECT_TRUE(torchtitan_layers(2, 4, 0, 0).empty());  // a stage without a layer
    EXPECT_TRUE(torchtitan_layers(8, 4, 0, 4).empty());  // the head counts for more than a stage
    for (int stages = 2; stages <= 16; ++stages) {       // ours, which counts as it does
        for (const auto& [deal, weights] : {std::pair(models::StageDeal::kEven, std::pair(0, 0)),
                                            {models::StageDeal::kWithEmbedding, {1, 0}},
                                            {models::StageDeal::kWithHead, {0, 1}},
                                            {models::StageDeal::kWithBoth, {1, 1}}}) {
            const models::Workload workload = workload_named("llama3-70b");
            EXPECT_EQ(torchtitan_layers(workload.layers, stages, weights.first, weights.second),
                      layers_dealt(workload, deal, stages))
                << stages;
        }
    }
}

Case without_predictions(Case one) {
    one.workload.mtp_layers = 0;
    return one;
}

TEST(Torchtitan, prediction_modules_and_capacity_are_refused_by_name) {
    Case one =
        case_of("deepseek-v3", "deepseek-v3", {{"optimizer", "fsdp"}, {"rank_order", R"(["pp", "dp", "ep", "tp"])"}});
    const auto names = [&](const char* field) { return names_field(refusal(one), field); };
    EXPECT_TRUE(names("mtp_layers"));
    one.workload.mtp_layers = 0, one.workload.capacity_factor = 1.5;
    EXPECT_TRUE(names("capacity_factor"));
    one.workload.capacity_factor = 0;
    EXPECT_EQ(refusal(one), "accepted");
}

TEST(Torchtitan, shipped_plans_are_read_back) {
    const std::vector<Case> cases{
        case_of("agpt-2b", "agpt-2b"),
        case_of("agpt-20b", "agpt-20b", {{"optimizer_states", "bf16"}}),
        case_of("agpt-30b", "agpt-30b"),
        case_of("llama3-70b", "llama3-70b",
                {{"optimizer", "fsdp"},
                 {"overlap", R"(["dp"])"},
                 {"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                 {"stages", "even-with-both"}}),
        case_of("llama3-70b", "llama3-70b",
                {{"optimizer", "fsdp"},
                 {"overlap", R"(["dp"])"},
                 {"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                 {"stages", "[9, 11, 11, 11, 11, 10, 10, 7]"}}),
        without_predictions(
            case_of("deepseek-v3", "deepseek-v3",
                    {{"optimizer", "fsdp"}, {"overlap", R"(["dp"])"}, {"rank_order", R"(["pp", "dp", "ep", "tp"])"}})),
        case_of("mixtral-8x7b", "mixtral-8x7b",
                {{"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                 {"optimizer", "fsdp"},
                 {"etp", "1"},
                 {"tp", "2"},
                 {"ep", "4"},
                 {"pp", "4"},
                 {"dp", "2"},
                 {"schedule", "interleaved-1f1b"},
                 {"virtual_stages", "4"},
                 {"recompute", "[]"},
                 {"overlap", R"(["dp"])"},
                 {"routing", "learned"}})};
    for (const Case& one : cases) {
        ASSERT_EQ(refusal(one), "accepted") << one.plan.name;
        const std::string text = testing_interop::text_of(one, kFormat);
        EXPECT_EQ(difference(testing_interop::parsed(text, kFormat, one.workload), one.plan, one.workload), "") << text;
    }
}

TEST(Torchtitan, options_of_a_script_are_read) {
    const models::Workload workload = workload_named("llama3-70b");
    const models::Plan plan = testing_interop::parsed(R"(
torchrun --nproc_per_node=8 --nnodes 16 -m torchtitan.train --module llama3 --config llama3_70b \
    --parallelism.data_parallel_shard_degree=-1 --parallelism.tensor-parallel-degree 4 \
    --parallelism.pipeline_parallel_degree 4 --parallelism.pipeline_parallel_schedule Interleaved1F1B \
    --parallelism.pipeline_parallel_layers_per_stage 7 --parallelism.fsdp_reshard_after_forward always \
    --parallelism.no_enable_sequence_parallel --parallelism.num_pp_microbatches 8 \
    --training.max_context_length 8192 --training.num_tokens_per_microbatch_per_dp_rank 16384 \
    --training.num_tokens_per_train_step 1048576 --activation_checkpoint.mode full --training.steps 10
)",
                                                      kFormat, workload);
    EXPECT_EQ(tiles_of(plan), 128);
    EXPECT_EQ(plan.tp, 4);
    EXPECT_EQ(plan.etp, 4);             // a dense model
    EXPECT_EQ(plan.dp * plan.etp, 32);  // 128 / 4 stages: 8 shards x tp 4
    EXPECT_EQ(plan.virtual_stages, 3);  // (80 + 1 + 1) / 7, rounded up: 12 stages on 4 ranks
    EXPECT_EQ(plan.micro_batch_size, 2);
    EXPECT_EQ(plan.micro_batches, 8);  // 1,048,576 / (16,384 x 8)
    EXPECT_FALSE(plan.sequence_parallel);
    EXPECT_TRUE(plan.recompute.layer);
    EXPECT_EQ(plan.optimizer, models::OptimizerSharding::kFsdp);
    EXPECT_EQ(plan.stages, models::StageDeal::kWithBoth);
}

constexpr const char* kTwoFunctions = R"(
from torchtitan.trainer import Trainer

def small(scale=(1, 2)) -> "Trainer.Config":
    """parallelism=Config(tensor_parallel_degree=16) in a text"""
    return Trainer.Config(
        hf_assets_path="./assets",  # parallelism=Config(tensor_parallel_degree=8)
        optimizer=Optimizers.Config(lr=3e-4, name='AdamW'),
        training=TrainingConfig(max_context_length=4_096, num_tokens_per_microbatch_per_dp_rank=4096),
        parallelism=ParallelismConfig(tensor_parallel_degree=2, data_parallel_shard_degree=4,
                                      enable_sequence_parallel=True, pipeline_parallel_layers_per_stage=None),
        activation_checkpoint=AC(mode="none"),
    )

def large():
    config = small()
    config.parallelism.tensor_parallel_degree = 8
    config.training.max_context_length = 4096
    return config
)";

TEST(Torchtitan, functions_of_python_are_read_without_running_them) {
    const models::Plan plan = imported(kTwoFunctions, "small").plan;
    EXPECT_EQ(plan.tp, 2);
    EXPECT_EQ(plan.dp, 4);
    EXPECT_EQ(plan.micro_batch_size, 1);
    EXPECT_EQ(plan.recompute, models::Recompute{});
    EXPECT_EQ(plan.optimizer, models::OptimizerSharding::kFsdp);
    const auto fault = [](const std::string& text, const std::string& function = "") {
        try {
            static_cast<void>(imported(text, function));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_NE(fault(kTwoFunctions).find("several configurations: small, large"), std::string::npos)
        << fault(kTwoFunctions);
    EXPECT_NE(fault(kTwoFunctions, "large").find("data_parallel_shard_degree"), std::string::npos);
    EXPECT_NE(fault("def f():\n    return C(parallelism=P(tensor_parallel_degree=8 // 2))\n")
                  .find("tensor_parallel_degree: found \"8 // 2\""),
              std::string::npos);
    EXPECT_NE(fault("def f():\n    return C(parallelism=P(tensor_parallel_degree=8, tensor_parallel_degree=4))\n")
                  .find("found twice"),
              std::string::npos);
    EXPECT_NE(fault("def f(:\n").find("bracket"), std::string::npos);
    EXPECT_NE(fault("def f():\n    x = 'no end\n").find("text in quotes"), std::string::npos);
    EXPECT_NE(fault("[parallelism]\ntensor_parallel_degree = 2\n").find("TOML"), std::string::npos);
}

TEST(Torchtitan, what_it_cannot_do_is_refused_by_the_plans_field) {
    const auto changed = [](const char* field, const char* value) {
        return refusal(case_of("agpt-20b", "agpt-20b", {{field, value}}));
    };
    EXPECT_EQ(changed("micro_batches", "4"), "accepted");
    EXPECT_PRED2(names_field, changed("optimizer", "sharded"), "optimizer");
    EXPECT_PRED2(names_field, changed("gradient_dtype", "bf16"), "gradient_dtype");
    EXPECT_PRED2(names_field, changed("recompute", R"(["norm"])"), "recompute");
    EXPECT_PRED2(names_field, changed("overlap", R"(["pp"])"), "overlap");
    EXPECT_EQ(changed("overlap", R"(["dp"])"), "accepted");
    EXPECT_PRED2(names_field, changed("pp", "2"), "rank_order");
    const auto of_experts = [](const char* field, const char* value) {
        return refusal(case_of("mixtral-8x7b", "mixtral-8x7b",
                               {{"optimizer", "fsdp"},
                                {"etp", "1"},
                                {"tp", "1"},
                                {"overlap", "[]"},
                                {"recompute", "[]"},
                                {"schedule", "1f1b"},
                                {"virtual_stages", "1"},
                                {"stages", "even"},
                                {"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                                {"gradient_dtype", "fp32"},
                                {field, value}}));
    };
    EXPECT_EQ(of_experts("micro_batches", "32"), "accepted");
    EXPECT_PRED2(names_field, of_experts("dispatch", "allgather-reducescatter"), "dispatch");
    EXPECT_PRED2(names_field, of_experts("expert_kernels", "loop"), "expert_kernels");
    EXPECT_PRED2(names_field, of_experts("etp", "2"), "etp");
    EXPECT_PRED2(names_field, of_experts("optimizer", "replicated"), "optimizer");
    EXPECT_PRED2(names_field, of_experts("routing", R"({"zipf": 1})"), "routing");
    EXPECT_PRED2(names_field,
                 refusal(case_of("llama3-70b", "llama3-70b",
                                 {{"optimizer", "fsdp"},
                                  {"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                                  {"stages", "[20, 0, 10, 10, 10, 10, 10, 10]"}})),
                 "stages");
}

TEST(Torchtitan, options_that_are_missing_or_not_understood_are_named) {
    const std::string batch =
        "--training.max_context_length=8192 --training.num_tokens_per_microbatch_per_dp_rank=8192 "
        "--parallelism.data_parallel_shard_degree=8 ";
    EXPECT_EQ(refusal_of_text(batch), "accepted");
    const auto names = [&](const std::string& more, const char* option, int ranks = 0) {
        const std::string message = refusal_of_text(batch + more, ranks);
        EXPECT_PRED2(names_setting, message, option);
    };
    names("--parallelism.expert_tensor_parallel_degree=2", "parallelism.expert_tensor_parallel_degree");
    names("--training.local_batch_size=2", "training.local_batch_size");
    names("--parallelism.pipeline_parallel_schedule=LoopedBFS", "parallelism.pipeline_parallel_schedule");
    names("--parallelism.fsdp_reshard_after_forward=sometimes", "parallelism.fsdp_reshard_after_forward");
    names("--training.num_tokens_per_train_step=10000", "training.num_tokens_per_train_step");
    names("--training.enable_cpu_offload", "training.enable_cpu_offload");
    names("--parallelism.module_fqns_per_model_part=x", "parallelism.module_fqns_per_model_part");
    names("--quantize.linear.float8", "quantize.linear.float8");
    names("--activation_checkpoint.mode=selective", "activation_checkpoint.mode");
    names("--parallelism.tensor_parallel_degree=2", "ranks", 8);  // 8 shards x tp 2
    EXPECT_PRED2(names_setting, refusal_of_text("--training.max_context_length=8192"),
                 "parallelism.data_parallel_shard_degree");
    EXPECT_PRED2(names_setting, refusal_of_text("--parallelism.data_parallel_shard_degree=8"),
                 "training.num_tokens_per_microbatch_per_dp_rank");
    PlanText from;  // without the model
    from.text = batch +
                "--parallelism.pipeline_parallel_degree=2 --parallelism.fsdp_reshard_after_forward=always "
                "--parallelism.pipeline_parallel_schedule=Interleaved1F1B "
                "--parallelism.pipeline_parallel_layers_per_stage=4";
    from.name = "job.sh";
    try {
        static_cast<void>(plan_of_torchtitan(from));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("--workload"), std::string::npos) << error.what();
    }
}

TEST(Torchtitan, names_of_functions_are_pythons) {
    EXPECT_EQ(python_name("mula-20b-a2b"), "mula_20b_a2b");
    EXPECT_EQ(python_name("70b"), "model_70b");
    EXPECT_EQ(python_name("Qwen3.5 \"x\""), "Qwen3_5__x_");
}

}  // namespace
}  // namespace auspex::interop
