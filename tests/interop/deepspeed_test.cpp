/// @file Plans to DeepSpeed's JSON with arguments, and back.
#include "interop/deepspeed/deepspeed.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interop_fixture.hpp"

namespace auspex::interop {
namespace {

using testing_interop::Case;
using testing_interop::case_of;
using testing_interop::difference;
using testing_interop::names_field;
using testing_interop::names_setting;
using testing_interop::workload_named;

constexpr const char* kFormat = "deepspeed";

std::string refusal(const Case& one) { return testing_interop::refusal(one, kFormat); }

/// 8 sequences a step: 2 x 2 x 2 replicas; with tp 2 and pp 2 on 8 ranks.
constexpr const char* kJson = R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 2,
"gradient_accumulation_steps": 2, "zero_optimization": {"stage": 1}, "bf16": {"enabled": true}, "steps_per_print": 10})";
constexpr const char* kArguments =
    "deepspeed pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --deepspeed "
    "--deepspeed_config ds.json --bf16 --checkpoint-activations --lr 1e-4";

ImportedPlan imported(const std::string& json, const std::string& arguments = kArguments, int ranks = 8) {
    PlanText from;
    from.text = json, from.name = "ds.json", from.ranks = ranks;
    from.arguments = arguments, from.arguments_name = "job.sh";
    return plan_of_deepspeed(from);
}
std::string refusal_of(const std::string& json, const std::string& arguments = kArguments, int ranks = 8) {
    try {
        static_cast<void>(imported(json, arguments, ranks));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}
std::string with(const std::string& was, const std::string& is) {
    std::string text = kJson;
    const std::size_t at = text.find(was);
    return at == std::string::npos ? "no such text" : text.replace(at, was.size(), is);
}

TEST(DeepSpeed, json_and_arguments_make_a_plan) {
    const ImportedPlan one = imported(kJson);
    EXPECT_EQ(one.plan.pp, 2);
    EXPECT_EQ(one.plan.tp, 2);
    EXPECT_EQ(one.plan.dp, 2);
    EXPECT_EQ(one.plan.micro_batch_size, 2);
    EXPECT_EQ(one.plan.micro_batches, 2);
    EXPECT_EQ(one.plan.optimizer, models::OptimizerSharding::kSharded);
    EXPECT_TRUE(one.plan.recompute.layer);
    EXPECT_EQ(one.plan.gradient_bytes, 2);  // ZeRO has the model's type where nothing else is said
    ASSERT_EQ(one.notes.size(), 2U);
    EXPECT_NE(one.notes[0].find("grad_accum_dtype"), std::string::npos);
    EXPECT_NE(one.notes[1].find("--hidden-dropout 0.1 (not set"), std::string::npos) << one.notes[1];
    EXPECT_EQ(tiles_of(imported(kJson, kArguments, 0).plan), 8);  // the ranks follow from the batch
    EXPECT_EQ(imported(kJson, "", 2).plan.pp, 1);
    EXPECT_NE(imported(kJson, "", 2).notes.back().find("--args"), std::string::npos);
}

// train_batch_size = micro-batch x accumulation x data-parallel ranks, of which one may be left out.
TEST(DeepSpeed, the_third_number_of_the_batch_follows) {
    const auto numbers = [](const std::string& json) {
        const models::Plan plan = imported(json).plan;
        return std::pair(plan.micro_batch_size, plan.micro_batches);
    };
    EXPECT_EQ(numbers(with("\"gradient_accumulation_steps\": 2, ", "")), std::pair(2, 2));
    EXPECT_EQ(numbers(with("\"train_micro_batch_size_per_gpu\": 2,", "")), std::pair(2, 2));
    EXPECT_EQ(numbers(with("\"train_batch_size\": 8, ", "")), std::pair(2, 2));
    EXPECT_PRED2(names_field, refusal_of(with("\"train_batch_size\": 8", "\"train_batch_size\": 12")),
                 "train_batch_size");
    EXPECT_PRED2(names_field,
                 refusal_of(with("\"train_micro_batch_size_per_gpu\": 2", "\"train_micro_batch_size_per_gpu\": 3")),
                 "train_batch_size");
    EXPECT_PRED2(names_setting, refusal_of(kJson, std::string(kArguments) + " --global-batch-size 16"),
                 "--global-batch-size");
    EXPECT_PRED2(names_setting, refusal_of(kJson, std::string(kArguments) + " --micro-batch-size 1"),
                 "--micro-batch-size");
    EXPECT_NE(refusal_of(with("\"train_batch_size\": 8", "\"train_batch_size\": \"auto\"")).find("auto"),
              std::string::npos);
    EXPECT_NE(refusal_of("{\"train_micro_batch_size_per_gpu\": 1}", "", 0).find("--tiles"), std::string::npos);
    EXPECT_NE(refusal_of("{\"train_batch_size\": 999999999999, \"train_micro_batch_size_per_gpu\": 1}", "", 0)
                  .find("expected"),
              std::string::npos);
}

TEST(DeepSpeed, what_is_not_modelled_is_refused_by_name) {
    const auto in_zero = [](const std::string& more) {
        return refusal_of(with("\"stage\": 1", "\"stage\": 1, " + more));
    };
    EXPECT_EQ(in_zero("\"reduce_bucket_size\": 500000000"), "accepted");
    EXPECT_PRED2(names_field, refusal_of(with("\"stage\": 1", "\"stage\": 3")), "zero_optimization.stage");
    EXPECT_PRED2(names_field, in_zero("\"offload_optimizer\": {\"device\": \"cpu\"}"),
                 "zero_optimization.offload_optimizer");
    EXPECT_PRED2(names_field, in_zero("\"zero_hpz_partition_size\": 8"), "zero_optimization.zero_hpz_partition_size");
    EXPECT_EQ(in_zero("\"zero_hpz_partition_size\": 1"), "accepted");
    EXPECT_PRED2(names_field, in_zero("\"reduce_scatter\": false"), "zero_optimization.reduce_scatter");
    EXPECT_PRED2(names_field, in_zero("\"mics_shard_size\": 8"), "zero_optimization.mics_shard_size");
    const auto beside = [](const std::string& more) { return refusal_of(with("\"steps_per_print\": 10", more)); };
    EXPECT_PRED2(names_field, beside("\"fp16\": {\"enabled\": true}"), "fp16");
    EXPECT_EQ(beside("\"fp16\": {\"enabled\": false}"), "accepted");
    EXPECT_PRED2(names_field, beside("\"autotuning\": {}"), "autotuning");
    EXPECT_PRED2(names_field, beside("\"activation_checkpointing\": {\"cpu_checkpointing\": true}"),
                 "activation_checkpointing.cpu_checkpointing");
    EXPECT_PRED2(names_field,
                 beside("\"data_types\": {\"grad_accum_dtype\": \"fp32\"}, \"communication_data_type\": \"bf16\""),
                 "communication_data_type");
    EXPECT_NE(refusal_of("{\n// HJSON\n\"train_batch_size\": 8}").find("ds.json"), std::string::npos);
    const auto argument = [](const std::string& more) {
        return refusal_of(kJson, std::string(kArguments) + " " + more);
    };
    EXPECT_PRED2(names_setting, argument("--num-experts 8"), "--tensor-model-parallel-size");
    EXPECT_PRED2(names_setting, argument("--num-experts 8 --enable-expert-tensor-parallelism"),
                 "--pipeline-model-parallel-size");
    EXPECT_PRED2(names_setting, argument("--ds-sequence-parallel-size 2"), "--ds-sequence-parallel-size");
    EXPECT_PRED2(names_setting, argument("--zero-stage 0"), "--zero-stage");
    EXPECT_PRED2(names_setting, argument("--recompute-granularity selective"), "--recompute-granularity");
    EXPECT_PRED2(names_setting, argument("--cpu-optimizer"), "--cpu-optimizer");
    EXPECT_PRED2(names_setting, refusal_of(kJson, "p.py --num-experts 8 --no-pipeline-parallel", 2),
                 "--expert-interval");
}

TEST(DeepSpeed, what_it_cannot_do_is_refused_by_the_plans_field) {
    const auto changed = [](const char* field, const char* value) {
        return refusal(case_of("agpt-70b", "agpt-70b", {{field, value}}));
    };
    EXPECT_EQ(changed("micro_batches", "8"), "accepted");
    EXPECT_PRED2(names_field, changed("schedule", "gpipe"), "schedule");
    EXPECT_PRED2(names_field, changed("optimizer", "fsdp"), "optimizer");
    EXPECT_PRED2(names_field, changed("overlap", R"(["dp"])"), "overlap");
    EXPECT_PRED2(names_field, changed("overlap", R"(["tp"])"), "overlap");
    EXPECT_PRED2(names_field, changed("recompute", R"(["norm"])"), "recompute");
    EXPECT_PRED2(names_field, changed("cp", "2"), "cp");
    EXPECT_PRED2(names_field, changed("stages", "even-with-head"), "stages");
    EXPECT_PRED2(names_field, changed("rank_order", R"(["dp", "pp", "ep", "tp"])"), "rank_order");
    EXPECT_PRED2(names_field, refusal(case_of("mula-20b-a2b", "mula-20b-a2b")), "qk_norm");
    Case predicting = case_of("mixtral-8x7b", "mixtral-8x7b");
    predicting.workload.mtp_layers = 1;
    EXPECT_PRED2(names_field, refusal(predicting), "mtp_layers");
    predicting.workload.mtp_layers = 0, predicting.workload.router_bias = true;
    EXPECT_PRED2(names_field, refusal(predicting), "router_bias");
    predicting.workload.router_bias = false, predicting.workload.capacity_factor = 1.5;
    EXPECT_PRED2(names_field, refusal(predicting), "pad_to_capacity");
    EXPECT_PRED2(names_field, refusal(case_of("deepseek-v3", "deepseek-v3")), "attention");
    const auto of_experts = [](const char* field, const char* value) {
        return refusal(case_of("mixtral-8x7b", "mixtral-8x7b",
                               {{"pp", "1"},
                                {"tp", "1"},
                                {"etp", "1"},
                                {"ep", "8"},
                                {"dp", "2"},
                                {"overlap", "[]"},
                                {"recompute", "[]"},
                                {"schedule", "1f1b"},
                                {"virtual_stages", "1"},
                                {"stages", "even"},
                                {"optimizer", "ep-aware"},
                                {"expert_kernels", "loop"},
                                {"routing", "learned"},
                                {"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                                {field, value}}));
    };
    EXPECT_EQ(of_experts("micro_batches", "32"), "accepted");
    EXPECT_PRED2(names_field, of_experts("optimizer", "sharded"), "optimizer");
    EXPECT_PRED2(names_field, of_experts("optimizer", "fsdp"), "optimizer");
    EXPECT_PRED2(names_field, of_experts("routing", "uniform"), "routing");
    EXPECT_PRED2(names_field, of_experts("expert_kernels", "grouped"), "expert_kernels");
    EXPECT_PRED2(names_field, of_experts("dispatch", "allgather-reducescatter"), "dispatch");
    EXPECT_PRED2(names_field, of_experts("pp", "2"), "pp");
}

// The message is that of the first; who asks what a change of the plan brings gets all of them.
TEST(DeepSpeed, all_that_it_cannot_do_is_known_at_once) {
    const Case one = case_of("mixtral-8x7b", "mixtral-8x7b");
    EXPECT_PRED2(names_field, refusal(one), "rank_order");
    EXPECT_EQ(refused_by(framework_named(kFormat, "--format"), one.workload, one.plan, 8),
              (std::vector<std::string>{R"(rank_order ["dp", "pp", "ep", "tp"])", "recompute parts of a layer",
                                        "pp 4 with experts", R"(expert_kernels "grouped")", R"(routing "uniform")"}));
    const Case dense = case_of("agpt-70b", "agpt-70b");
    EXPECT_TRUE(refused_by(framework_named(kFormat, "--format"), dense.workload, dense.plan, 12).empty());
}

TEST(DeepSpeed, weights_left_in_each_node_are_its_secondary_partition) {
    const Case one = case_of("agpt-70b", "agpt-70b",
                             {{"pp", "1"},
                              {"tp", "1"},
                              {"etp", "1"},
                              {"dp", "24"},
                              {"stages", "even"},
                              {"optimizer", "fsdp"},
                              {"reshard_after_forward", "12"}});
    const std::string text = testing_interop::text_of(one, kFormat);
    EXPECT_NE(text.find("\"zero_hpz_partition_size\": 12"), std::string::npos) << text;
    EXPECT_EQ(testing_interop::parsed(text, kFormat, one.workload).reshard_ranks, 12);
}

TEST(DeepSpeed, what_is_written_says_where_it_comes_from) {
    const std::string text = testing_interop::text_of(case_of("agpt-70b", "agpt-70b"), kFormat);
    EXPECT_NE(text.find("# zero_optimization.stage: plan.optimizer\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\"train_batch_size\": 96"), std::string::npos) << text;  // 1 x 16 x 6
    EXPECT_NE(text.find("--pipeline-model-parallel-size 8 "), std::string::npos) << text;
    const std::size_t begin = text.find("<<'END'\n") + 8;
    const std::string json = text.substr(begin, text.find("\nEND\n") - begin);
    EXPECT_EQ(JsonDocument::parse(json, "here").root().at("gradient_accumulation_steps").as_integer(1, 100), 16);
}

}  // namespace
}  // namespace auspex::interop
