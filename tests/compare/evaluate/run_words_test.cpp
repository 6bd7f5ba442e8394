/// @file Words of published runs, group by group, and the workload and plan that each must become.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "compare/evaluate/runs/run_schedule.hpp"
#include "compare/evaluate/runs/run_sharding.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::evaluate {
namespace {

using Words = std::vector<std::string>;
using Values = std::vector<std::pair<std::string, std::string>>;

/// 64 GPUs in nodes of 8, dense; and a mixture with latent attention and shared experts.
constexpr const char* kDense = R"({"id": "dense", "source": "made up", "hardware": {"gpu": "G", "gpus_per_node": 8},
  "gpus": 64, "precision": "bf16", "framework": "F",
  "model": {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocab": 32000, "seq": 4096},
  "plan": {"micro_batch": 1, "global_batch": 256, "zero": "none", "recompute": "none"}, "measured": {}})";
constexpr const char* kLatentMixture = R"({"id": "mixture", "source": "made up",
  "hardware": {"gpu": "G", "gpus_per_node": 8}, "gpus": 64, "precision": "bf16", "framework": "F",
  "model": {"layers": 28, "hidden": 2048, "heads": 16, "attention": "MLA", "q_lora_rank": 1536, "kv_lora_rank": 512,
            "qk_nope_dim": 128, "qk_rope_dim": 64, "v_head_dim": 128, "ffn": 10944, "experts": 64, "topk": 6,
            "moe_ffn": 1408, "shared_experts": 2, "dense_layers": 1, "vocab": 102400, "seq": 4096},
  "plan": {"ep": 8, "micro_batch": 1, "global_batch": 256, "zero": "1", "recompute": "none"}, "measured": {}})";

RunNames::Framework plain_framework() {
    RunNames::Framework f;
    f.gradient_dtype = "bf16", f.expert_kernels = "grouped", f.dispatch = "alltoall";
    f.recompute_unstated = "none", f.selective = {"core_attention"};
    return f;
}

models::Plan plan_of(const PublishedRun& run, const RunNames::Framework& f = plain_framework()) {
    return models::load_plan(JsonDocument::parse(run_inputs(run, f).plan, "plan"));
}
models::Workload workload_of(const PublishedRun& run) {
    return models::load_workload(JsonDocument::parse(run_inputs(run, plain_framework()).workload, "workload"));
}
bool has_note(const PublishedRun& run, const std::string& part) {
    const Words notes = run_inputs(run, plain_framework()).notes;
    return std::ranges::any_of(notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}
std::string fault_of(const PublishedRun& run) {
    try {
        static_cast<void>(run_inputs(run, plain_framework()));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

PublishedRun recomputing(const char* text, const std::string& json) {
    return run_with(text, {{"plan.recompute", json}});
}
Words recomputed(const char* text, const std::string& words) {
    return recompute_of(recomputing(text, json_quote(words)), plain_framework(), 1).words;
}

TEST(RunWords, recomputation_of_whole_layers_and_of_none) {
    for (const char* const all : {"full", "Full (uniform)", "uniform", "uniform 1", "True", "yes", "on", "every layer",
                                  "activation checkpointing", "gradient checkpointing", "AC: full", "checkpointing"}) {
        EXPECT_EQ(recomputed(kDense, all), Words{"layer"}) << all;
    }
    for (const char* const none : {"none", "off", "no", "False", "null", "no recompute", "activation checkpointing off",
                                   "no activation checkpointing", "AC=None"}) {
        EXPECT_EQ(recomputed(kDense, none), Words{}) << none;
    }
    EXPECT_TRUE(has_note(recomputing(kDense, R"("activation checkpointing")"), "taken as full"));
    EXPECT_TRUE(has_note(recomputing(kDense, R"("uniform 4")"), "groups of 4 layers"));
    EXPECT_TRUE(has_note(recomputing(kDense, "null"), "recompute none is assumed"));
    // As JSON has them, too.
    EXPECT_TRUE(plan_of(recomputing(kDense, "true")).recompute.layer);
    EXPECT_EQ(plan_of(recomputing(kDense, "false")).recompute, models::Recompute{});
    EXPECT_EQ(plan_of(recomputing(kDense, "[]")).recompute, models::Recompute{});
}

/// Megatron-LM's method "block" is the first N layers of each virtual stage; torchtitan's "selective 2" every second
/// layer, of which 32 have 16.
TEST(RunWords, recomputation_of_some_layers) {
    for (const char* const some :
         {"block 5", "full (block 5)", "block, 5 layers", "full, block, num_layers 5", "first 5 layers", "5 layers"}) {
        const models::Plan plan = plan_of(recomputing(kDense, json_quote(some)));
        EXPECT_TRUE(plan.recompute.layer) << some;
        EXPECT_EQ(plan.recompute_layers, 5) << some;
    }
    EXPECT_EQ(plan_of(recomputing(kDense, R"("full")")).recompute_layers, 0);
    EXPECT_EQ(plan_of(recomputing(kDense, R"("full, 1 layer")")).recompute_layers, 0) << "groups of one";
    EXPECT_EQ(plan_of(recomputing(kDense, R"("selective 50%")")).recompute_layers, 16);
    EXPECT_EQ(plan_of(recomputing(kDense, R"("32 layers")")).recompute_layers, 0);
    EXPECT_EQ(plan_of(recomputing(kDense, R"("block method, 7 layers")")).recompute_layers, 7);
    for (const char* const unsaid : {"block", "partial", "50 %", "layer 5", "selective 150%", "full, layers 10-20",
                                     "full 4 of 32", "full block"}) {
        EXPECT_NE(fault_of(recomputing(kDense, json_quote(unsaid))).find(json_quote(unsaid)), std::string::npos);
    }
}

/// The share of a stage is that of a virtual one, whoever says how many there are: 32 layers on 2 ranks.
TEST(RunWords, recomputation_of_some_layers_of_virtual_stages) {
    const auto layers_of = [](const char* words, const Values& more) {
        Values values{{"plan.recompute", json_quote(words)}, {"plan.pp", "2"}};
        values.insert(values.end(), more.begin(), more.end());
        return plan_of(run_with(kDense, values)).recompute_layers;
    };
    EXPECT_EQ(layers_of("20 layers", {}), 10) << "a stage has 16";
    EXPECT_EQ(layers_of("8 of 32 layers", {}), 4);
    EXPECT_EQ(layers_of("8 layers", {}), 8);
    EXPECT_EQ(layers_of("every 2nd layer", {{"plan.vpp", "4"}}), 2);
    EXPECT_EQ(layers_of("every 2nd layer", {{"plan.schedule", json_quote("interleaved, v=4")}}), 2);
    EXPECT_EQ(layers_of("every 2nd layer", {{"plan.schedule", json_quote("DualPipeV")}}), 4);
}

TEST(RunWords, full_recomputation_of_some_layers_is_not_that_of_all) {
    for (const char* const words : {"full for first 4 layers", "full, but not the last 2 layers"}) {
        EXPECT_NE(fault_of(run_with(kDense, {{"plan.recompute", json_quote(words)}})).find(words), std::string::npos);
    }
}

TEST(RunWords, recomputation_of_parts_in_words_of_megatron) {
    for (const char* const core : {"selective", "core_attn", "core attention", "Core-Attn", "selective (attn)"}) {
        EXPECT_EQ(recomputed(kDense, core), Words{"core_attention"}) << core;
    }
    EXPECT_EQ(recomputed(kDense, "layernorm, mlp"), (Words{"norm", "expert"}));
    EXPECT_EQ(recomputed(kDense, "selective: mlp"), Words{"expert"});
    EXPECT_EQ(recomputed(kLatentMixture, "mla_up_proj + moe_act / layernorm; shared_experts"),
              (Words{"norm", "latent_up", "activation", "shared_experts"}));
    EXPECT_EQ(recomputed(kLatentMixture, "RMSNorm and MLA up-projections"), (Words{"norm", "latent_up"}));
    EXPECT_EQ(recomputed(kLatentMixture, "RMS norm, up-projections, SwiGLU activation"),
              (Words{"norm", "latent_up", "activation"}));
    EXPECT_EQ(recomputed(kLatentMixture, "moe moe_act"), Words{"expert"});  // the second is a part of the first
    const models::Plan listed = plan_of(recomputing(kLatentMixture, R"(["moe_act", "core_attn"])"));
    EXPECT_EQ(listed.recompute, (models::Recompute{.core_attention = true, .activation = true}));
    // What a model does not have is left out, and said.
    EXPECT_EQ(recomputed(kDense, "layernorm, moe_act, mla_up_proj"), Words{"norm"});
    EXPECT_TRUE(has_note(recomputing(kDense, R"("layernorm, moe_act")"), "moe_act is left out"));
    EXPECT_EQ(recomputed(kLatentMixture, "mlp, layernorm"), Words{"norm"});
    EXPECT_TRUE(has_note(recomputing(kLatentMixture, R"("mlp")"), "mlp is left out"));
    // The plan's "expert" of a dense model is its feed-forward, Megatron-LM's "mlp".
    EXPECT_EQ(recomputed(kDense, "expert"), Words{"expert"});
    EXPECT_TRUE(has_note(recomputing(kDense, R"("expert")"), "taken as that of its feed-forward"));
    EXPECT_FALSE(has_note(recomputing(kDense, R"("mlp")"), "feed-forward"));
    EXPECT_FALSE(has_note(recomputing(kLatentMixture, R"("expert")"), "feed-forward"));
    EXPECT_NE(fault_of(recomputing(kDense, R"("layernorm, gizmo")")).find("gizmo"), std::string::npos);
}

PublishedRun sharded(const std::string& zero, const Values& more = {}) {
    Values values{{"plan.zero", zero}};
    values.insert(values.end(), more.begin(), more.end());
    return run_with(kDense, values);
}

TEST(RunWords, sharding_by_more_of_its_words) {
    using models::OptimizerSharding;
    const auto optimizer = [](const char* words) { return plan_of(sharded(json_quote(words))).optimizer; };
    for (const char* const nothing : {"ddp", "DDP", "PyTorch DDP", "none", "no", "off", "NO_SHARD", "data parallel"}) {
        EXPECT_EQ(optimizer(nothing), OptimizerSharding::kReplicated) << nothing;
    }
    for (const char* const states :
         {"dist-opt", "distopt", "Distributed Optimizer", "use_distributed_optimizer", "Megatron distributed optimizer",
          "DeepSpeed ZeRO-1", "zero1", "Z1", "DP 8 + ZeRO-1"}) {
        EXPECT_EQ(optimizer(states), OptimizerSharding::kSharded) << states;
    }
    for (const char* const weights : {"full_shard", "FULL_SHARD", "fully sharded", "ZeRO-3", "deepspeed stage 3"}) {
        EXPECT_EQ(optimizer(weights), OptimizerSharding::kFsdp) << weights;
        EXPECT_EQ(plan_of(sharded(json_quote(weights))).shard_replicas, 1) << weights;
    }
    // What is denied, and numbers that are no stage of ZeRO.
    EXPECT_EQ(optimizer("not FSDP, distributed optimizer"), OptimizerSharding::kSharded);
    EXPECT_EQ(optimizer("no ZeRO, FSDP"), OptimizerSharding::kFsdp);
    EXPECT_EQ(optimizer("distributed optimizer: no"), OptimizerSharding::kReplicated);
    EXPECT_EQ(optimizer("2D FSDP+TP"), OptimizerSharding::kFsdp);
    for (const char* const unknown : {"3D parallelism", "1-bit Adam", "10"}) {
        EXPECT_NE(fault_of(sharded(json_quote(unknown))).find(unknown), std::string::npos) << unknown;
    }
    EXPECT_EQ(plan_of(sharded("1")).optimizer, OptimizerSharding::kSharded);
    EXPECT_EQ(plan_of(sharded("2")).optimizer, OptimizerSharding::kZero2);
    EXPECT_EQ(plan_of(sharded("false")).optimizer, OptimizerSharding::kReplicated);
    EXPECT_TRUE(has_note(sharded(R"("not stated")"), "optimizer replicated is assumed"));
    // FSDP's SHARD_GRAD_OP has weights sharded between steps, and gathers them once a micro-batch.
    const models::Plan kept = plan_of(sharded(R"("FSDP SHARD_GRAD_OP")"));
    EXPECT_TRUE(kept.optimizer == OptimizerSharding::kFsdp && !kept.reshard_after_forward);
    EXPECT_NE(fault_of(sharded(R"("ZeRO-3 Offload")")).find("host memory"), std::string::npos);
    EXPECT_NE(fault_of(sharded(R"("ZeRO-Infinity")")).find("host memory"), std::string::npos);
    EXPECT_EQ(fault_of(sharded(R"("ZeRO-3, no offload")")), "");
    EXPECT_NE(fault_of(sharded("true")).find("\"true\""), std::string::npos);
}

/// 64 data-parallel ranks in nodes of 8: groups of s shard by themselves, 64 / s of them.
TEST(RunWords, hybrid_sharding_is_over_a_node_or_as_many_ranks_as_are_said) {
    const auto replicas = [](const char* words) { return plan_of(sharded(json_quote(words))).shard_replicas; };
    EXPECT_EQ(replicas("HSDP"), 8);
    EXPECT_EQ(replicas("hybrid_shard"), 8);
    EXPECT_EQ(replicas("HSDP 16"), 4);
    EXPECT_EQ(replicas("hybrid shard 16"), 4);
    EXPECT_EQ(replicas("hsdp (shard 32)"), 2);
    EXPECT_EQ(replicas("HSDP (replicate 4, shard 16)"), 4);
    EXPECT_EQ(replicas("HSDP 64"), 1);
    EXPECT_TRUE(has_note(sharded(R"("HSDP")"), "GPUs of a node are assumed"));
    EXPECT_FALSE(has_note(sharded(R"("HSDP 16")"), "GPUs of a node are assumed"));
    EXPECT_NE(fault_of(sharded(R"("HSDP 24")")).find("64 data-parallel ranks"), std::string::npos);
    // The ranks of a node that are data-parallel: 8 over tp.
    EXPECT_EQ(plan_of(sharded(R"("HSDP")", {{"plan.tp", "2"}})).shard_replicas, 8);
    // NVIDIA's tables: fsdp 0 is none, 1 all, more so many ranks.
    EXPECT_EQ(plan_of(sharded("null", {{"plan.fsdp", "0"}})).optimizer, models::OptimizerSharding::kReplicated);
    EXPECT_EQ(plan_of(sharded("null", {{"plan.fsdp", "1"}})).optimizer, models::OptimizerSharding::kFsdp);
    EXPECT_EQ(plan_of(sharded("null", {{"plan.fsdp", "true"}})).shard_replicas, 1);
    EXPECT_EQ(plan_of(sharded("null", {{"plan.fsdp", "16"}})).shard_replicas, 4);
    EXPECT_EQ(plan_of(sharded("3", {{"plan.fsdp", "64"}})).shard_replicas, 1);
}

/// fsdp above 0 shards weights; so do stage 3 and its kind, and nothing else.
TEST(RunWords, zero_and_fsdp_that_contradict_each_other_are_refused) {
    for (const auto& [zero, fsdp] : std::vector<std::pair<std::string, std::string>>{
             {"1", "8"}, {"none", "1"}, {"ddp", "true"}, {"2", "8"}, {"3", "0"}, {"FSDP", "false"}}) {
        const std::string fault = fault_of(sharded(json_quote(zero), {{"plan.fsdp", fsdp}}));
        EXPECT_NE(fault.find("zero " + json_quote(zero) + " beside fsdp"), std::string::npos) << zero << " " << fault;
    }
    for (const auto& [zero, fsdp] : std::vector<std::pair<std::string, std::string>>{
             {"1", "0"}, {"distributed optimizer (no FSDP)", "0"}, {"FSDP", "16"}, {"not stated", "8"}}) {
        EXPECT_EQ(fault_of(sharded(json_quote(zero), {{"plan.fsdp", fsdp}})), "") << zero;
    }
}

/// Without a node's GPUs it is not known how many ranks HSDP and hpZ shard over, unless the words say it.
TEST(RunWords, sharding_over_a_node_wants_its_gpus) {
    const Values no_node{{"hardware.gpus_per_node", "null"}};
    for (const char* const words : {"HSDP", "ZeRO++", "3 + hierarchical partition (hpZ)"}) {
        const std::string fault = fault_of(sharded(json_quote(words), no_node));
        EXPECT_NE(fault.find("hardware.gpus_per_node"), std::string::npos) << fault;
    }
    EXPECT_EQ(plan_of(sharded(R"("HSDP 16")", no_node)).shard_replicas, 4);
    EXPECT_EQ(plan_of(sharded(json_quote("3 (hpZ=16)"), no_node)).reshard_ranks, 16);
}

/// Megatron-Core refuses to train mixtures with tp above 1 without it.
TEST(RunWords, mixtures_with_tp_slice_sequences_where_the_framework_needs_it) {
    RunNames::Framework core = plain_framework();
    core.experts_need_sequence_parallel = true;
    const auto notes = [&core](const PublishedRun& run) {
        std::string all;
        for (const std::string& note : run_inputs(run, core).notes) {
            all += note + "; ";
        }
        return all;
    };
    const PublishedRun open = run_with(kLatentMixture, {{"plan.tp", "2"}}),
                       denied = run_with(kLatentMixture, {{"plan.tp", "2"}, {"plan.seq_parallel", "false"}}),
                       stated = run_with(kLatentMixture, {{"plan.tp", "2"}, {"plan.seq_parallel", "true"}});
    for (const PublishedRun& run : {open, denied, stated}) {
        EXPECT_TRUE(plan_of(run, core).sequence_parallel);
    }
    EXPECT_NE(notes(open).find("sequence parallelism is assumed, which the case does not state"), std::string::npos);
    EXPECT_NE(notes(denied).find("though the case denies it"), std::string::npos);
    EXPECT_EQ(notes(stated).find("sequence parallelism"), std::string::npos);
    EXPECT_FALSE(plan_of(open).sequence_parallel);  // of a framework that does not need it
    EXPECT_FALSE(plan_of(run_with(kLatentMixture, {}), core).sequence_parallel);
    EXPECT_FALSE(plan_of(run_with(kDense, {{"plan.tp", "2"}}), core).sequence_parallel);
}

TEST(RunWords, sequences_are_sliced_as_the_framework_does_where_the_case_does_not_say) {
    RunNames::Framework core = plain_framework();
    const PublishedRun open = run_with(kDense, {{"plan.tp", "2"}}),
                       denied = run_with(kDense, {{"plan.tp", "2"}, {"plan.seq_parallel", "false"}});
    const auto note = [&core](const PublishedRun& run) {
        const std::vector<std::string> notes = run_inputs(run, core).notes;
        const auto found = std::ranges::find_if(
            notes, [](const std::string& one) { return one.find("sequence parallelism") != one.npos; });
        return found == notes.end() ? "" : *found;
    };
    EXPECT_EQ(note(open), "no sequence parallelism is assumed");
    core.sequence_parallel_unstated = true;
    EXPECT_EQ(note(open), "sequence parallelism is assumed");
    EXPECT_TRUE(plan_of(open, core).sequence_parallel);
    EXPECT_FALSE(plan_of(denied, core).sequence_parallel);
    EXPECT_EQ(note(denied), "");
    EXPECT_EQ(note(run_with(kDense, {})), "");
    EXPECT_FALSE(plan_of(run_with(kDense, {}), core).sequence_parallel);
}

TEST(RunWords, a_mesh_of_replicas_and_shards_is_read_as_pytorchs) {
    for (const char* const words : {"HSDP (16, 4)", "HSDP mesh [16,4]", "HSDP 16x4"}) {
        EXPECT_EQ(plan_of(sharded(json_quote(words))).shard_replicas, 16) << words;
    }
}

TEST(RunWords, zero_plus_plus_keeps_a_copy_in_each_node) {
    EXPECT_EQ(plan_of(sharded(R"("ZeRO++")")).reshard_ranks, 8);
    EXPECT_EQ(plan_of(sharded(json_quote("3 (hpZ=16)"))).reshard_ranks, 16);
    EXPECT_TRUE(has_note(sharded(R"("ZeRO++")"), "narrow weights and gradients are left out"));
    EXPECT_FALSE(has_note(sharded(json_quote("3 (hpZ=16)")), "narrow weights"));
}

TEST(RunWords, precision_by_more_of_its_words) {
    const auto of = [](const char* words) { return run_with(kDense, {{"precision", json_quote(words)}}); };
    for (const char* const mixed : {"mixed", "mixed precision", "AMP"}) {
        EXPECT_EQ(plan_of(of(mixed)).precision, "bf16") << mixed;
        EXPECT_TRUE(has_note(of(mixed), "is taken as bf16")) << mixed;
    }
    EXPECT_FALSE(has_note(of("bf16 mixed (fp32 master)"), "is taken as bf16"));
    EXPECT_EQ(plan_of(of("bf16 mixed (fp32 master)")).precision, "bf16");
    for (const char* const wide : {"tf32", "FP32"}) {
        EXPECT_EQ(plan_of(of(wide)).precision, "fp32") << wide;
        EXPECT_EQ(plan_of(of(wide)).gradient_bytes, 4) << wide;
        EXPECT_TRUE(has_note(of(wide), "gemm_fp32")) << wide;
    }
    EXPECT_NE(fault_of(of("int4")).find("\"int4\""), std::string::npos);
    RunNames::Framework blocks = plain_framework();
    blocks.fp8 = "blockwise";
    EXPECT_EQ(plan_of(of("FP8"), blocks).fp8, models::Fp8::kBlockwise);
    EXPECT_EQ(plan_of(of("FP8")).fp8, models::Fp8::kTensorwise);
    for (const char* const wide : {"bf16, no FP8", "bf16 mixed, block sparse"}) {
        EXPECT_EQ(plan_of(of(wide)).fp8, models::Fp8::kNone) << wide;
    }
}

/// 8 stages of 4 layers.
PublishedRun staged(const std::string& words, const Values& more = {}) {
    Values values{{"plan.pp", "8"}, {"plan.schedule", json_quote(words)}};
    values.insert(values.end(), more.begin(), more.end());
    return run_with(kDense, values);
}

TEST(RunWords, schedules_by_their_names) {
    const auto schedule = [](const char* words) { return plan_of(staged(words)).schedule; };
    EXPECT_EQ(schedule("1F1B"), models::ScheduleKind::k1f1b);
    EXPECT_EQ(schedule("non-interleaved 1F1B"), models::ScheduleKind::k1f1b);
    EXPECT_EQ(schedule("Interleaved 1F1B"), models::ScheduleKind::kInterleaved1f1b);
    for (const char* const words : {"no interleaving", "1F1B (interleaving off)", "PipeDream-Flush"}) {
        EXPECT_EQ(schedule(words), models::ScheduleKind::k1f1b) << words;
    }
    EXPECT_EQ(schedule("GPipe"), models::ScheduleKind::kGpipe);
    EXPECT_EQ(schedule("AFAB"), models::ScheduleKind::kGpipe);
    for (const char* const words : {"zero-bubble", "zb", "ZB-H1", "Zero Bubble (ZB-H1)"}) {
        EXPECT_EQ(schedule(words), models::ScheduleKind::kZbH1) << words;
    }
    EXPECT_EQ(schedule("ZB-V"), models::ScheduleKind::kZbv);
    EXPECT_EQ(schedule("DualPipe"), models::ScheduleKind::kDualPipe);
    EXPECT_EQ(schedule("DualPipeV"), models::ScheduleKind::kDualPipeV);
    EXPECT_EQ(plan_of(staged("DualPipe")).virtual_stages, 2);
    // 32 layers on 8 ranks.
    for (const char* const words :
         {"interleaved (vpp 2)", "VPP=2", "interleaved 1F1B, 2 virtual stages", "vpp2", "interleaved, v=2",
          "interleaved 1F1B (2 model chunks per rank)", "interleaved, num_chunks 2"}) {
        EXPECT_EQ(plan_of(staged(words)).virtual_stages, 2) << words;
    }
    for (const char* const words : {"no virtual pipeline", "1F1B (v3)", "1F1B, chunks=10", "1F1B, chunked logits 8"}) {
        EXPECT_EQ(plan_of(staged(words)).virtual_stages, 1) << words;
    }
    EXPECT_TRUE(has_note(staged("zero-bubble"), "is taken as zb-h1"));
    EXPECT_TRUE(has_note(staged("our own"), "is taken as 1f1b"));
    // 256 / 8 are 32 micro-batches; of 8 there are fewer than 2 pp.
    EXPECT_NE(fault_of(staged("DualPipe", {{"plan.global_batch", "64"}})).find("at least 16"), std::string::npos);
    EXPECT_EQ(plan_of(run_with(kDense, {{"plan.schedule", R"("DualPipe")"}})).schedule, models::ScheduleKind::k1f1b);
}

TEST(RunWords, activations_have_a_gate_or_none_by_their_names) {
    const auto of = [](const char* words) { return run_with(kDense, {{"model.activation", json_quote(words)}}); };
    for (const char* const gated : {"swiglu", "SwiGLU", "fast-swiglu", "geglu", "ReGLU", "silu", "gated GELU"}) {
        EXPECT_EQ(workload_of(of(gated)).feed_forward, models::FeedForward::kSwiGlu) << gated;
    }
    for (const char* const plain :
         {"gelu", "quick_gelu", "relu", "squared_relu", "relu2", "relu²", "SiLU without gate", "xIELU"}) {
        EXPECT_EQ(workload_of(of(plain)).feed_forward, models::FeedForward::kGelu) << plain;
    }
    EXPECT_TRUE(has_note(of("geglu"), "geglu is taken as SwiGLU"));
    EXPECT_TRUE(has_note(of("relu2"), "relu2 is taken as GELU"));
    EXPECT_TRUE(has_note(of("snake"), "\"snake\" is not known: SwiGLU is assumed"));  // 14,336 is not 4 x 4,096
    // Models with squared ReLU have no biases, nor a table of positions, nor tied embeddings.
    const models::Workload squared = workload_of(of("squared_relu")), plain = workload_of(of("gelu"));
    EXPECT_FALSE(squared.biases || squared.learned_positions || squared.tied_embeddings);
    EXPECT_TRUE(plain.biases && plain.learned_positions && plain.tied_embeddings);
    // Biases are those of the case, or of gpt-oss.
    const auto named = [](const char* name, const char* biases) {
        return run_with(kDense, {{"model.name", name}, {"model.biases", biases}});
    };
    EXPECT_TRUE(workload_of(named("\"gpt-oss-120b\"", "null")).biases);
    EXPECT_TRUE(has_note(named("\"gpt-oss-120b\"", "null"), "biases are assumed"));
    EXPECT_TRUE(workload_of(named("\"openai/GPT_OSS 20B\"", "null")).biases);
    EXPECT_FALSE(workload_of(named("\"gpt-oss-120b\"", "false")).biases);
    EXPECT_TRUE(workload_of(named("\"llama\"", "true")).biases);
    EXPECT_FALSE(workload_of(named("\"llama\"", "null")).biases);
}

}  // namespace
}  // namespace auspex::evaluate
