/// @file Plans to arguments of Megatron-LM and back, and scripts of others.
#include "interop/megatron/megatron.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interop/launch_script.hpp"
#include "interop/megatron/stage_pattern.hpp"
#include "interop_fixture.hpp"

namespace auspex::interop {
namespace {

using testing_interop::Case;
using testing_interop::case_of;
using testing_interop::difference;
using testing_interop::names_field;
using testing_interop::names_setting;
using testing_interop::workload_named;

constexpr const char* kFormat = "megatron-lm";

models::Plan parsed(const std::string& text, const models::Workload& workload, int ranks) {
    return testing_interop::parsed(text, kFormat, workload, ranks);
}
std::string refusal(const Case& one) { return testing_interop::refusal(one, kFormat); }
std::string refusal_of_text(const std::string& text, int ranks) {
    return testing_interop::refusal_of_text(text, kFormat, ranks);
}

const std::vector<std::pair<const char*, const char*>> kStagesFirst{{"rank_order", R"(["pp", "dp", "ep", "tp"])"}};

TEST(Megatron, what_is_written_is_read_back_as_the_same_plan) {
    const std::vector<Case> cases{
        case_of("mixtral-8x22b", "mixtral-8x22b"),
        case_of("qwen2-57b-a14b", "qwen2-57b-a14b"),
        case_of("mixtral-8x7b", "mixtral-8x7b", kStagesFirst),
        case_of("deepseek-v3", "deepseek-v3", kStagesFirst),
        case_of("mula-220b-a10b", "mula-220b-a10b", kStagesFirst),
        case_of("agpt-70b", "agpt-70b"),
        case_of("llama3-70b", "llama3-70b"),
        case_of("agpt-20b", "agpt-20b"),
        case_of("toy-moe", "toy-interleaved", {{"overlap", R"(["dp", "pp"])"}}),
        case_of("toy-moe", "toy-pp2-ep2", {{"recompute", R"(["expert"])"}, {"expert_kernels", "loop"}}),
        case_of("llama3-70b", "llama3-70b", {{"stages", "even-with-both"}, {"sequence_parallel", "true"}}),
        case_of("toy-dense", "toy-pp2-dp2", {{"stages", "[1, 3]"}, {"recompute", R"(["norm", "expert"])"}}),
        case_of("mula-20b-a2b", "mula-20b-a2b", {{"cp", "2"}, {"precision", "fp32"}, {"gradient_dtype", "fp32"}}),
        case_of("llama3-70b", "llama3-70b", {{"stages", "even-with-embedding"}, {"pp", "7"}, {"overlap", R"(["dp"])"}}),
        case_of("mixtral-8x22b", "mixtral-8x22b", {{"overlap", R"(["dp", "pp", "ep"])"}}),
        case_of("mula-20b-a2b", "mula-20b-a2b",
                {{"cp", "4"}, {"context_parallel", "two-level"}, {"context_all_to_all", "2"}, {"fp8", "blockwise"}}),
        case_of("qwen3-30b-a3b", "qwen3-30b-a3b", kStagesFirst),
        case_of("llama3-70b", "llama3-70b",
                {{"rank_order", R"(["pp", "dp", "ep", "tp"])"},
                 {"cp", "2"},
                 {"context_parallel", "ring"},
                 {"fp8", "tensorwise"}}),
        case_of("llama3-70b", "llama3-70b",
                {{"rank_order", R"(["pp", "dp", "ep", "tp"])"}, {"cp", "2"}, {"context_parallel", "all-to-all"}}),
        case_of("llama3-70b", "llama3-70b", {{"fp8", "nvfp4"}}),
        case_of("llama3-70b", "llama3-70b", {{"fp8", "tensorwise"}, {"fp8_weights", "only"}}),
        case_of("toy-moe", "toy-tp2-dp2", {{"sequence_parallel", "true"}})};
    for (const Case& one : cases) {
        const std::string text = testing_interop::text_of(one, kFormat);
        const models::Plan back = parsed(text, one.workload, tiles_of(one.plan));
        EXPECT_EQ(difference(back, one.plan, one.workload), "") << one.plan.name << "\n" << text;
    }
}

/// toy-moe with prediction modules, a bias and a capacity, on two stages of one and three layers.
Case balanced() {
    Case one = case_of("toy-moe", "toy-pp2-ep2", {{"stages", "[1, 3]"}, {"dispatch", "alltoall"}});
    one.workload.mtp_layers = 2, one.workload.router_bias = true;
    one.workload.capacity_factor = 1.25, one.workload.pad_to_capacity = true;
    return one;
}

TEST(Megatron, predictions_bias_and_capacity_are_written_and_compared_when_read) {
    const Case one = balanced();
    const std::string text = testing_interop::text_of(one, kFormat);
    for (const char* word :
         {"--mtp-num-layers 2", "--moe-router-enable-expert-bias", "--moe-router-score-function sigmoid",
          "--moe-expert-capacity-factor 1.25", "--moe-pad-expert-input-to-capacity", "Et*1|t*3mmL"}) {
        EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
    }
    EXPECT_EQ(difference(parsed(text, one.workload, tiles_of(one.plan)), one.plan, one.workload), "");
    const auto refusal_with = [&](auto&& change) {
        Case other = one;
        change(other.workload);
        try {
            static_cast<void>(parsed(text, other.workload, tiles_of(one.plan)));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_PRED2(names_setting, refusal_with([](models::Workload& w) { w.mtp_layers = 1; }), "--mtp-num-layers");
    EXPECT_PRED2(names_setting, refusal_with([](models::Workload& w) { w.router_bias = false; }),
                 "--moe-router-enable-expert-bias");
    EXPECT_PRED2(names_setting, refusal_with([](models::Workload& w) { w.capacity_factor = 1; }),
                 "--moe-expert-capacity-factor");
    EXPECT_PRED2(names_setting, refusal_with([](models::Workload& w) { w.pad_to_capacity = false; }),
                 "--moe-pad-expert-input-to-capacity");
}

TEST(Megatron, tokens_are_dropped_by_its_all_to_all_dispatcher_only) {
    Case one = balanced();
    one.plan.dispatch = models::Dispatch::kAllGatherReduceScatter;
    EXPECT_PRED2(names_field, refusal(one), "dispatch");
}

TEST(Megatron, what_it_cannot_do_is_refused_by_the_plans_field) {
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"schedule", "gpipe"}})), "schedule");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"optimizer", "sharded"}})), "optimizer");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"recompute", R"(["attention"])"}})),
                 "recompute");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"routing", R"({"zipf": 1})"}})), "routing");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"overlap", R"(["pp"])"}})), "overlap");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-pp2-ep2", {{"overlap", R"(["ep"])"}})), "overlap");
    EXPECT_PRED2(names_field, refusal(case_of("toy-moe", "toy-tp2-dp2")), "sequence_parallel");
    EXPECT_PRED2(names_field,
                 refusal(case_of("toy-moe", "toy-ep2-dp2", {{"rank_order", R"(["ep", "dp", "pp", "tp"])"}})),
                 "rank_order");
    EXPECT_PRED2(names_field,
                 refusal(case_of("toy-moe", "toy-pp2-ep2", {{"rank_order", R"(["ep", "pp", "dp", "tp"])"}})),
                 "rank_order");
}

// megatron/core/parallel_state.py: unless pp is outermost, replicas of experts, world / (etp ep pp), are as many as
// those of the dense part, world / (tp cp pp). mixtral-8x7b: etp ep = 8, tp cp = 1.
TEST(Megatron, replicas_outside_of_the_pipeline_are_as_many_of_experts_as_of_the_rest) {
    const std::string error = refusal(case_of("mixtral-8x7b", "mixtral-8x7b"));
    EXPECT_PRED2(names_field, error, "rank_order");
    EXPECT_NE(error.find(R"(--set 'plan.rank_order=["pp", "dp", "ep", "tp"]')"), std::string::npos) << error;
    EXPECT_PRED2(names_field, refusal(case_of("llama3-70b", "llama3-70b", {{"cp", "2"}})), "rank_order");  // 4, not 8
    EXPECT_EQ(refusal(case_of("llama3-70b", "llama3-70b")), "accepted");
    // One replica alone lies as with pp outermost.
    const Case one = case_of("mixtral-8x7b", "mixtral-8x7b", {{"dp", "1"}});
    EXPECT_EQ(testing_interop::text_of(one, kFormat).find("--use-tp-pp-dp-mapping"), std::string::npos);
}

TEST(Megatron, interleaved_stages_that_wait_for_messages_are_more_than_two) {
    const std::string error = refusal(case_of("toy-moe", "toy-interleaved"));
    EXPECT_PRED2(names_field, error, "overlap");
    EXPECT_NE(error.find(R"(plan.overlap=["pp"])"), std::string::npos) << error;
    EXPECT_EQ(refusal(case_of("toy-moe", "toy-interleaved", {{"overlap", R"(["pp"])"}})), "accepted");
    EXPECT_EQ(refusal(case_of("qwen2-57b-a14b", "qwen2-57b-a14b", {{"overlap", R"(["dp"])"}})), "accepted");  // pp 4
}

TEST(Megatron, connections_of_a_device_are_one_unless_something_asserts_more) {
    const auto connections = [](const Case& one) {
        return testing_interop::emission_of(one, kFormat).cuda_environment.at(0).value;
    };
    EXPECT_EQ(connections(case_of("llama3-70b", "llama3-70b")), "1");
    EXPECT_EQ(connections(case_of("agpt-20b", "agpt-20b")), "32");  // fsdp
    EXPECT_EQ(connections(case_of("mixtral-8x22b", "mixtral-8x22b", {{"overlap", R"(["dp", "pp", "ep"])"}})), "32");
}

TEST(Megatron, dropout_is_written_as_none_and_noted_where_there_is_one) {
    const std::string text = testing_interop::text_of(case_of("llama3-70b", "llama3-70b"), kFormat);
    EXPECT_NE(text.find("--attention-dropout 0 "), std::string::npos);
    EXPECT_NE(text.find("--hidden-dropout 0 "), std::string::npos);
    const auto notes = [](const std::string& arguments) {
        PlanText from;
        from.text = arguments, from.name = "job.sh", from.ranks = 8;
        return plan_of_megatron(from).notes;
    };
    EXPECT_TRUE(notes("--attention-dropout 0 --hidden-dropout 0.0").empty());
    ASSERT_EQ(notes("--attention-dropout 0").size(), 1U);
    EXPECT_NE(notes("--attention-dropout 0")[0].find("--hidden-dropout 0.1 (not set"), std::string::npos);
    EXPECT_NE(notes("--attention-dropout 0.2 --hidden-dropout 0")[0].find("--attention-dropout 0.2"),
              std::string::npos);
    EXPECT_PRED2(names_setting, refusal_of_text("--hidden-dropout much", 8), "--hidden-dropout");
}

TEST(Megatron, what_is_a_default_says_so) {
    const auto from = [](const models::Workload& workload, const char* name) {
        const Settings settings = megatron_model(workload);
        return std::ranges::find(settings, name, &Setting::name)->from;
    };
    const models::Workload mixtral = workload_named("mixtral-8x7b"), mula = workload_named("mula-220b-a10b");
    EXPECT_EQ(from(mixtral, "--rotary-base"), "workload.training.rope_theta");
    EXPECT_EQ(from(mixtral, "--moe-aux-loss-coeff"), "workload.training.auxiliary_loss");
    EXPECT_EQ(from(mixtral, "--moe-z-loss-coeff"), "default of training.z_loss, the workload does not say");
    EXPECT_EQ(from(mula, "--rotary-base"), "default of training.rope_theta, the workload does not say");
    EXPECT_EQ(from(mula, "--moe-router-pre-softmax"), "default of training.normalize_top_k, the workload does not say");
    EXPECT_FALSE(testing_interop::emission_of(case_of("olmoe-1b-7b", "olmoe-1b-7b"), kFormat).notes.empty())
        << "norms of queries and keys over all heads";
}

// workloads/mixtral-8x7b.json and -8x22b.json: 32 and 56 layers, hidden 4,096 and 6,144, …
TEST(Megatron, arguments_of_another_model_than_the_workload_are_refused_with_both_values) {
    std::string small;
    for (const Setting& setting : megatron_model(workload_named("mixtral-8x7b"))) {
        small += setting.name + " " + setting.value + " ";
    }
    const auto refusal_for = [](const std::string& text, const char* workload) {
        return testing_interop::refusal_of_text(text, kFormat, 8, workload);
    };
    EXPECT_EQ(refusal_for(small, "mixtral-8x7b"), "accepted");
    EXPECT_EQ(refusal_for(small, "mixtral-8x22b"),
              "job.sh: --num-layers: found 32; expected 56, workload.layers of mixtral-8x22b");
    for (const auto& [arguments, workload] :
         {std::pair("--hidden-size 4096", "mixtral-8x22b"), std::pair("--num-attention-heads 32", "mixtral-8x22b"),
          std::pair("--num-query-groups 4", "mixtral-8x7b"), std::pair("--ffn-hidden-size 14336", "mixtral-8x22b"),
          std::pair("--moe-ffn-hidden-size 16384", "mixtral-8x7b"), std::pair("--num-experts 16", "mixtral-8x7b"),
          std::pair("--num-experts 8", "llama3-70b"), std::pair("--moe-router-topk 1", "mixtral-8x7b"),
          std::pair("--seq-length 2048", "mixtral-8x7b"), std::pair("--kv-channels 64", "mixtral-8x7b"),
          std::pair("--vocab-size 50257", "mixtral-8x7b"), std::pair("--normalization LayerNorm", "mixtral-8x7b"),
          std::pair("--multi-latent-attention", "mixtral-8x7b"), std::pair("--q-lora-rank 512", "deepseek-v3"),
          std::pair("--moe-layer-freq '([0]*1+[1]*60)'", "deepseek-v3"),
          std::pair("--moe-layer-freq 2", "mixtral-8x7b"),
          std::pair("--moe-shared-expert-intermediate-size 4096", "deepseek-v3"),
          std::pair("--position-embedding-type learned_absolute", "mixtral-8x7b")}) {
        const std::string argument = std::string(arguments).substr(0, std::string(arguments).find(' '));
        EXPECT_PRED2(names_setting, refusal_for(arguments, workload), argument.c_str());
    }
    EXPECT_EQ(refusal_for("--moe-layer-freq '[0,0,0]+[1]*58'", "deepseek-v3"), "accepted");
    EXPECT_EQ(refusal_for("--vocab-size 50257 --make-vocab-size-divisible-by 1024", "gpt3-175b"),
              "accepted");  // 51,200
    // A model of layers of which nothing says that they have experts has none.
    EXPECT_PRED2(names_setting, refusal_for("--num-layers 32 --hidden-size 4096 --num-query-groups 8", "mixtral-8x7b"),
                 "--num-experts");
}

TEST(Megatron, scripts_of_others_are_read) {
    const models::Workload workload = workload_named("mixtral-8x7b");
    const models::Plan plan = parsed(R"(#!/bin/bash
# --tensor-model-parallel-size 7 in a comment
GPUS_PER_NODE=8
DISTRIBUTED_ARGS=(
    --nproc_per_node 8
    --nnodes 4
    --master_addr "$MASTER_ADDR"
)
MODEL_ARGS=( --use-mcore-models --num-layers 32 --lr 1e-4 --train-iters 500000 )
MOE_ARGS=(
    --num-experts 8
    --moe-token-dispatcher-type=alltoall
    --moe-grouped-gemm
    --expert-model-parallel-size 8   # all in a node
    --expert-tensor-parallel-size 1
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${MODEL_ARGS[@]} ${MOE_ARGS[@]} ${MORE[@]}
MORE=(--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4
      --micro-batch-size 1 --global-batch-size 256 --bf16 --use-distributed-optimizer)
)",
                                     workload, 0);
    EXPECT_EQ(tiles_of(plan), 32);
    EXPECT_EQ(plan.ep, 8);
    EXPECT_EQ(plan.pp, 4);
    EXPECT_EQ(plan.tp, 1);
    EXPECT_EQ(plan.micro_batches, 32);  // 256 sequences over 8 data-parallel ranks
    EXPECT_EQ(plan.optimizer, models::OptimizerSharding::kEpAware);
    EXPECT_EQ(plan.routing.kind, models::RoutingDistribution::kLearned);
    EXPECT_EQ(plan.gradient_bytes, 4);
}

TEST(Megatron, texts_and_words_behind_the_program_count_too) {
    const models::Workload workload = workload_named("mixtral-8x7b");
    const models::Plan plan = parsed(R"(export GPT_ARGS="--tensor-model-parallel-size 2 \
  --sequence-parallel --bf16"
MORE=(--train-samples $((1000 * (3 + 4))) --pipeline-model-parallel-size 2 --data-path $(cat blend.txt))
torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py $GPT_ARGS ${MORE[@]} --recompute-granularity full --num-experts 8
)",
                                     workload, 0);
    EXPECT_EQ(tiles_of(plan), 32);
    EXPECT_EQ(plan.tp, 2);
    EXPECT_EQ(plan.pp, 2);
    EXPECT_TRUE(plan.recompute.layer);
}

TEST(Megatron, only_what_reaches_the_program_counts) {
    const models::Workload workload = workload_named("llama3-70b");
    const models::Plan plan = parsed(R"(
GPUS=8
TP=2
OLD=( --tensor-model-parallel-size 4 )
MODEL=( --tensor-model-parallel-size $TP --sequence-parallel )
ARGS=( --micro-batch-size 1 --global-batch-size 64 --bf16 )
ARGS+=( "${MODEL[@]}" )
torchrun --nnodes 2 --nproc_per_node $GPUS pretrain_gpt.py ${ARGS[@]}
)",
                                     workload, 0);
    EXPECT_EQ(tiles_of(plan), 16);
    EXPECT_EQ(plan.tp, 2);
    EXPECT_TRUE(plan.sequence_parallel);
    const auto is_refused = [](const std::string& text, const char* words) {
        return refusal_of_text(text, 8).find(words) != std::string::npos;
    };
    EXPECT_PRED2(is_refused, "MP=( --bf16 )\nMP=( --tp-comm-overlap )\npython p.py ${MP[@]}",
                 "MP: found two assignments");
    EXPECT_PRED2(is_refused, "TP=2\nTP=4\npython p.py --tensor-model-parallel-size $TP", "found \"$TP\"");
}

TEST(Megatron, ranks_are_those_of_torchrun_before_those_of_its_launcher) {
    const auto ranks = [](const std::string& text) { return read_launch_script(text, "job.sh").ranks; };
    EXPECT_EQ(ranks("srun --ntasks=4 --ntasks-per-node=1 torchrun --nproc_per_node 8 --nnodes 4 p.py --bf16"), 32);
    EXPECT_EQ(ranks("torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES p.py --bf16"), 0);
    EXPECT_EQ(ranks("torchrun --nproc_per_node 8 p.py --bf16"), 8);
    EXPECT_EQ(ranks("srun -n32 python p.py --bf16"), 32);
    EXPECT_EQ(ranks("mpiexec -n 24 --ppn 12 python p.py --bf16"), 24);
    EXPECT_EQ(ranks("mpiexec -n -4 python p.py --bf16"), 0);
    EXPECT_EQ(ranks("A=(--bf16)"), 0);
}

TEST(Megatron, sizes_beyond_any_machine_are_refused) {
    for (const char* text : {"--pipeline-model-parallel-size 65536 --expert-model-parallel-size 65536",
                             "--micro-batch-size 536870912 --global-batch-size 8",
                             "--tensor-model-parallel-size 9999999 --context-parallel-size 9999999"}) {
        EXPECT_NE(refusal_of_text(text, 8).find("expected"), std::string::npos) << text;
    }
    EXPECT_THROW(static_cast<void>(layers_of_pattern("E" + std::string(100'000, '('), "layout")), InputError);
}

TEST(Megatron, a_model_says_how_it_is_trained) {
    const auto has = [](const Settings& settings, const char* name, const char* value) {
        return std::ranges::any_of(settings,
                                   [&](const Setting& one) { return one.name == name && one.value == value; });
    };
    models::Workload workload = workload_named("mixtral-8x7b");
    workload.training.rope_theta = 1e6;
    workload.training.normalize_top_k = true;
    EXPECT_TRUE(has(megatron_model(workload), "--rotary-base", "1000000"));
    EXPECT_FALSE(has(megatron_model(workload), "--moe-router-pre-softmax", ""));
    workload.training.normalize_top_k = false;
    EXPECT_TRUE(has(megatron_model(workload), "--moe-router-pre-softmax", ""));
    EXPECT_TRUE(has(megatron_model(workload_named("deepseek-v3")), "--qk-layernorm", ""));
    workload.norm = models::NormKind::kNonParametric;
    EXPECT_THROW(static_cast<void>(megatron_model(workload)), InputError);
}

TEST(Megatron, arguments_that_are_not_understood_are_refused_by_name) {
    EXPECT_PRED2(names_setting, refusal_of_text("--fp8-format hybrid", 8), "--fp8-recipe");
    EXPECT_PRED2(names_setting, refusal_of_text("--context-parallel-size 2 --cp-comm-type a2a+p2p", 8),
                 "--hierarchical-context-parallel-sizes");
    EXPECT_PRED2(names_setting, refusal_of_text("--moe-enable-deepep", 8), "--moe-enable-deepep");
    EXPECT_PRED2(names_setting, refusal_of_text("--tensor-model-parallel-size two", 8), "--tensor-model-parallel-size");
    EXPECT_PRED2(names_setting, refusal_of_text("--micro-batch-size 3 --global-batch-size 16", 8),
                 "--global-batch-size");
    EXPECT_PRED2(names_setting, refusal_of_text("--pipeline-model-parallel-size 3", 8), "ranks");
    EXPECT_PRED2(names_setting,
                 refusal_of_text("--recompute-granularity selective --recompute-modules gdn_norm_out", 8),
                 "--recompute-modules");
    EXPECT_TRUE(parsed("python p.py --bf16 --recompute-granularity selective", workload_named("llama3-70b"), 8)
                    .recompute.core_attention);
    EXPECT_PRED2(names_setting,
                 refusal_of_text("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*16|tm*16L", 8),
                 "--pipeline-model-parallel-layout");
    EXPECT_PRED2(names_setting, refusal_of_text("--bf16 ${TP_ARGS} --micro-batch-size 1 ${MORE}", 8), "${MORE}");
    EXPECT_PRED2(names_setting, refusal_of_text("--bf16 ${TP_ARGS} --micro-batch-size 1", 8), "--bf16");
    EXPECT_PRED2(names_setting, refusal_of_text("--optimizer muon", 8), "--optimizer");
    EXPECT_PRED2(names_setting, refusal_of_text("--train-sync-interval 1", 8), "--train-sync-interval");
    EXPECT_PRED2(names_setting, refusal_of_text("--use-distributed-optimizer --overlap-grad-reduce", 8),
                 "--overlap-grad-reduce");
    EXPECT_PRED2(names_setting,
                 refusal_of_text("--num-experts 8 --recompute-granularity selective --recompute-modules mlp", 8),
                 "--recompute-modules");
    EXPECT_NE(refusal_of_text("A=(--bf16", 8).find("does not end"), std::string::npos);
    EXPECT_NE(refusal_of_text("--bf16 'no end", 8).find("quote"), std::string::npos);
}

TEST(Megatron, patterns_of_stages_are_written_out) {
    const auto layers = [](const char* pattern) { return layers_of_pattern(pattern, "layout").layers; };
    EXPECT_EQ(layers("Et*3|t*2L"), (std::vector<int>{3, 2}));
    EXPECT_EQ(layers("Ett|(t|)*2,ttL"), (std::vector<int>{2, 1, 1, 2}));
    EXPECT_EQ(layers("E||ttL"), (std::vector<int>{0, 0, 2}));
    EXPECT_EQ(layers("E(tt|)*3L"), (std::vector<int>{2, 2, 2, 0}));
    EXPECT_EQ(layers("Et*2|tm*2L"), (std::vector<int>{2, 1}));
    EXPECT_EQ(layers_of_pattern("Et*2|tm*2L", "layout").predictions, 2);
    for (const char* wrong :
         {"", "tt", "EttLt", "Et*L", "E(ttL", "Ett)L", "Et*9999999L", "EtLL", "Exl", "EmtL", "Etm|tL"}) {
        EXPECT_THROW(static_cast<void>(layers(wrong)), InputError) << wrong;
    }
}

}  // namespace
}  // namespace auspex::interop
