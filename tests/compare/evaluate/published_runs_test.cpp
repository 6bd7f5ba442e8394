/// @file Published training runs: read, measured, mapped to workload and plan, judged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/node_names.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::evaluate {
namespace {

models::Workload workload_of(const PublishedRun& run) {
    return models::load_workload(JsonDocument::parse(run_inputs(run, framework()).workload, "workload"));
}
models::Plan plan_of(const PublishedRun& run) {
    return models::load_plan(JsonDocument::parse(run_inputs(run, framework()).plan, "plan"));
}
std::string fault_of(const PublishedRun& run) {
    try {
        static_cast<void>(run_inputs(run, framework()));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// 28 layers of 64 experts of 2,048 x 1,408 have 10.3 B in two matrices each, 15.5 B in three.
TEST(PublishedRuns, parameters_tell_how_many_matrices_an_expert_has) {
    EXPECT_TRUE(is_swiglu(run_with(kMixture, {}).model));
    EXPECT_FALSE(is_swiglu(run_with(kMixture, {{"model.params_b", "10.1"}}).model));
    EXPECT_TRUE(is_swiglu(run_with(kMixture, {{"model.params_b", "16"}}).model));
    EXPECT_TRUE(is_swiglu(run_with(kMixture, {{"model.params_b", "10.1"}, {"model.activation", "\"swiglu\""}}).model));
    EXPECT_EQ(workload_of(run_with(kMixture, {{"model.params_b", "10.1"}})).feed_forward, models::FeedForward::kGelu);
    EXPECT_FALSE(is_swiglu(run_with(kGpt, {}).model));  // of dense ones 4 h
    EXPECT_TRUE(is_swiglu(run_with(kGpt, {{"model.ffn", "28672"}, {"model.params_b", "1"}}).model));
}

/// Words and capacities of mixtures alone choose what the framework has for runs that drop tokens.
TEST(PublishedRuns, runs_that_drop_tokens_have_expert_kernels_of_their_own) {
    RunNames::Framework f = framework();
    f.expert_kernels = "fused", f.expert_kernels_dropping = "grouped";
    const auto kernels = [&f](const PublishedRun& run) {
        return models::load_plan(JsonDocument::parse(run_inputs(run, f).plan, "plan")).expert_kernels;
    };
    for (const auto& [path, value] : {std::pair("notes", "\"forced balance; token-drop\""),
                                      {"model.variant", "\"tokendrop\""},
                                      {"plan.capacity_factor", "1.5"}}) {
        EXPECT_EQ(kernels(run_with(kMixture, {{path, value}})), models::ExpertKernels::kGrouped) << path;
        EXPECT_EQ(kernels(run_with(kGpt, {{path, value}})), models::ExpertKernels::kFused) << path;
    }
    for (const char* const notes : {"\"tokens are dropped\"", "\"drops tokens\"", "\"token_dropping\""}) {
        EXPECT_EQ(kernels(run_with(kMixture, {{"notes", notes}})), models::ExpertKernels::kGrouped) << notes;
    }
    for (const char* const notes : {"\"dropless\"", "\"token-dropless\"", "\"no token-drop\"", "\"\""}) {
        EXPECT_EQ(kernels(run_with(kMixture, {{"notes", notes}})), models::ExpertKernels::kFused) << notes;
    }
    f.expert_kernels_dropping.clear();
    EXPECT_EQ(kernels(run_with(kMixture, {{"notes", "\"token-drop\""}})), models::ExpertKernels::kFused);
}

TEST(PublishedRuns, capacity_is_the_cases_or_else_the_frameworks) {
    RunNames::Framework f = framework();
    const auto workload = [&f](const PublishedRun& run) {
        return models::load_workload(JsonDocument::parse(run_inputs(run, f).workload, "workload"));
    };
    const PublishedRun open = run_with(kMixture, {}), stated = run_with(kMixture, {{"plan.capacity_factor", "1.25"}});
    EXPECT_EQ(workload(open).capacity_factor, 0);
    EXPECT_EQ(workload(stated).capacity_factor, 1.25);
    EXPECT_FALSE(workload(stated).pad_to_capacity);
    f.pads_to_capacity = true, f.capacity_unstated = 1;
    EXPECT_EQ(workload(open).capacity_factor, 1);
    EXPECT_TRUE(workload(open).pad_to_capacity);
    EXPECT_EQ(workload(stated).capacity_factor, 1.25);
    EXPECT_TRUE(workload(stated).pad_to_capacity);
    const std::vector<std::string> notes = run_inputs(open, f).notes;
    EXPECT_NE(std::ranges::find(notes, "capacity_factor 1 is assumed"), notes.end());
}

TEST(PublishedRuns, a_framework_that_says_so_is_compiled_unless_the_plan_has_other_words) {
    const auto compiled = [](const char* framework, const char* plan) {
        return run_with(kGpt, {{"framework", framework}, {"plan.compile", plan}}).plan.is_compiled;
    };
    EXPECT_TRUE(compiled("\"TorchTitan (compile)\"", "null"));
    EXPECT_TRUE(compiled("\"torchtitan + torch.compile\"", "null"));
    EXPECT_TRUE(compiled("\"TorchTitan\"", "true"));
    EXPECT_FALSE(compiled("\"TorchTitan\"", "null"));
    EXPECT_FALSE(compiled("\"TorchTitan (compile)\"", "false"));
    EXPECT_FALSE(compiled("\"TorchTitan (uncompiled)\"", "null"));
    EXPECT_FALSE(compiled("\"TorchTitan, no compile\"", "null"));
    EXPECT_TRUE(compiled("\"TorchTitan (Compile)\"", "null"));
    for (const char* const denied :
         {"\"TorchTitan (compile=False)\"", "\"TorchTitan (compile: off)\"", "\"TorchTitan (no-compile)\"",
          "\"TorchTitan, not yet compiled\"", "\"TorchTitan (torch.compile disabled)\""}) {
        EXPECT_FALSE(compiled(denied, "null")) << denied;
    }
}

TEST(PublishedRuns, a_gpt_of_megatron_is_one_here) {
    const PublishedRun run = run_with(kGpt, {});
    const models::Workload w = workload_of(run);
    EXPECT_EQ(w.layers, 96);
    EXPECT_EQ(w.kv_heads, 96);
    EXPECT_TRUE(w.biases && w.learned_positions && w.tied_embeddings);
    const models::Plan plan = plan_of(run);
    EXPECT_EQ(plan.dp, 8);
    EXPECT_EQ(plan.micro_batches, 1536 / 8);
    EXPECT_EQ(plan.virtual_stages, 3);
    EXPECT_TRUE(plan.sequence_parallel && plan.overlap_dp && plan.overlap_tp && plan.overlap_pp && !plan.overlap_ep);
    for (const char* const none : {"none (blocking)", "no overlap", "overlap off", "false"}) {
        EXPECT_FALSE(plan_of(run_with(kGpt, {{"plan.overlap", none}})).overlap_dp) << none;
    }
    EXPECT_FALSE(workload_of(run_with(kGpt, {{"model.position", "alibi"}})).learned_positions);
}

/// beside compute = what the case lists, else the framework's with what the case names and without what it denies.
TEST(PublishedRuns, streams_beside_compute_are_the_cases_and_the_frameworks) {
    const auto streams = [](const std::string& name, const std::string& overlap) {
        const PublishedRun run =
            run_with(kGpt, {{"framework", name}, {"plan.overlap", overlap}, {"hardware.gpu", "A100-SXM4-80GB"}});
        const models::Plan plan =
            models::load_plan(JsonDocument::parse(run_inputs(run, *framework_of(shipped(), run)).plan, "plan.json"));
        return std::string(plan.overlap_dp ? "d" : "") + (plan.overlap_tp ? "t" : "") + (plan.overlap_pp ? "p" : "");
    };
    EXPECT_EQ(streams("NeMo 24.07", "not stated"), "dtp");
    EXPECT_EQ(streams("NeMo 24.07", "no TP overlap"), "dp");
    EXPECT_EQ(streams("NeMo 24.07", "pp only"), "p");
    EXPECT_EQ(streams("Megatron-Core r0.8", "overlap-grad-reduce, tp-comm-overlap"), "dtp");
    EXPECT_EQ(streams("Megatron-Core r0.8", "dp"), "d");
    EXPECT_EQ(streams("Megatron-LM (2023)", "not stated"), "p");
    EXPECT_EQ(streams("Megatron-LM (2023)", "DP, TP"), "dt");
    EXPECT_EQ(streams("Megatron-LM (October 2024)", "not stated"), "dtp");
    EXPECT_EQ(streams("MegaScale", "not stated"), "dtp");
    EXPECT_EQ(streams("TorchTitan", "none (vanilla TP)"), "d");
    EXPECT_EQ(streams("TorchTitan", "async TP"), "dt");
    EXPECT_EQ(streams("NeMo 24.07", "none"), "");
}

TEST(PublishedRuns, what_a_case_says_is_corrected_by_its_id_or_source) {
    const RunNames names = load_run_names(JsonDocument::parse(
        R"({"hardware": [], "frameworks": [], "fitted": [], "corrections": [
            {"id": ["a", "b"], "set": ["plan.recompute=[]"], "why": "x"}, {"source": ["page"], "set": [], "why": "y"}]})",
        "names"));
    PublishedRun run;
    run.id = "b", run.source = "the page of it";
    ASSERT_EQ(corrections_of(names, run).size(), 2);
    EXPECT_EQ(corrections_of(names, run)[0]->set, std::vector<std::string>{"plan.recompute=[]"});
    run.id = "c";
    ASSERT_EQ(corrections_of(names, run).size(), 1);
    EXPECT_EQ(corrections_of(names, run)[0]->why, "y");
    const auto without =
        R"({"hardware": [], "frameworks": [], "fitted": [], "corrections": [{"set": [], "why": "x"}]})";
    EXPECT_THROW(static_cast<void>(load_run_names(JsonDocument::parse(without, "names"))), InputError);
}

/// A table of two GPUs by their NICs, and of two frameworks.
RunNames small_table() {
    return load_run_names(JsonDocument::parse(
        R"({"hardware": [{"gpu": ["A100-SXM-80GB"], "machine": "m",
                          "node": {"gpus": 8, "nics": 8, "gbit_s": 200, "payload": 0.984, "gpus_per_socket": 4}}],
            "frameworks": [
              {"name": "Megatron", "texts": ["Megatron", "NeMo"], "stack": "new", "plan": {"gradient_dtype": "fp32",
               "expert_kernels": "loop", "dispatch": "alltoall", "recompute_unstated": "full"}},
              {"name": "Megatron-LM", "texts": ["Megatron-LM"], "like": "Megatron",
               "releases": [{"gpu": ["A100"], "stack": "old"}, {}]}],
            "fitted": []})",
        "names"));
}

TEST(PublishedRuns, names_are_compared_without_case_blanks_hyphens_and_makers) {
    const RunNames names = small_table();
    PublishedRun run;
    run.gpu = "NVIDIA A100 SXM 80GB", run.framework = "megatron lm", run.nics = "4 x 200 Gb/s";
    EXPECT_EQ(node_of_case(run, *hardware_of(names, run)).set, std::vector<std::string>{"machine.node.nic.count=4"});
    EXPECT_EQ(framework_of(names, run)->stack, "old");
    run.gpu = "A100-SXM-80GB HBM2e", run.nics = "8x200Gb/s", run.framework = "NVIDIA NeMo 24.07";
    EXPECT_TRUE(node_of_case(run, *hardware_of(names, run)).set.empty());
    EXPECT_EQ(framework_of(names, run)->stack, "new");
    run.framework = "our own Megatron-LM";
    EXPECT_EQ(framework_of(names, run)->stack, "old");
    run.gpu = "H100", run.framework = "Megatron-LM";
    EXPECT_FALSE(hardware_of(names, run));
    EXPECT_EQ(framework_of(names, run)->stack, "new");
}

TEST(PublishedRuns, what_a_framework_makes_of_words_is_in_the_table_of_names) {
    RunNames::Framework f = framework();
    f.selective = {"alternate_products"}, f.sharded_with_stages = "ep-aware";
    const PublishedRun run = run_with(kGpt, {{"plan.zero", R"j("3 (FSDP2)")j"}, {"plan.recompute", R"("selective")"}});
    const auto plan = [&f](const PublishedRun& of) {
        return models::load_plan(JsonDocument::parse(run_inputs(of, f).plan, "plan"));
    };
    EXPECT_TRUE(plan(run).recompute.alternate_products);
    EXPECT_EQ(plan(run).optimizer, models::OptimizerSharding::kEpAware);
    // An interleaved schedule has two virtual stages a rank, 1f1b one, where the case does not say.
    const PublishedRun interleaved =
        run_with(kGpt, {{"plan.vpp", "null"}, {"plan.schedule", R"("int1f1b")"}, {"plan.zero", R"("1")"}});
    EXPECT_EQ(plan(interleaved).virtual_stages, 2);
    EXPECT_EQ(plan(run_with(kGpt, {{"plan.vpp", "null"}, {"plan.schedule", R"("1f1b")"}})).virtual_stages, 1);
    f.most_virtual_stages = 8;  // 126 layers and both ends are 128 parts, but there are no more stages than layers
    EXPECT_EQ(plan(run_with(kGpt, {{"plan.vpp", "null"}, {"model.layers", "126"}})).virtual_stages, 4);
    // 17 layers a rank divide into 17 parts or into none, 37 into too many; micro-batches have to be a multiple of pp.
    EXPECT_EQ(plan(run_with(kGpt, {{"plan.vpp", "null"}, {"model.layers", "272"}})).virtual_stages, 17);
    EXPECT_EQ(plan(run_with(kGpt, {{"plan.vpp", "null"}, {"model.layers", "592"}})).virtual_stages, 1);
    const PublishedRun few =
        run_with(kGpt, {{"plan.vpp", "null"}, {"model.layers", "272"}, {"plan.global_batch", "8"}});
    EXPECT_EQ(plan(few).virtual_stages, 1);
}

TEST(PublishedRuns, latent_attention_and_experts) {
    const PublishedRun run = run_with(
        kGpt, {{"model", R"({"layers": 61, "hidden": 7168, "heads": 128, "attention": "MLA", "q_lora_rank": 1536,
                            "kv_lora_rank": 512, "qk_nope_dim": 128, "qk_rope_dim": 64, "v_head_dim": 128,
                            "ffn": 18432, "vocab": 129280, "experts": 256, "topk": 8, "moe_ffn": 2048,
                            "shared_experts": 1, "dense_layers": 3, "activation": "swiglu", "seq": 4096})"},
               {"plan", R"j({"tp": 2, "pp": 8, "ep": 64, "vpp": 4, "micro_batch": 1, "global_batch": 8192,
                           "zero": "distributed_optimizer (ZeRO-1)", "recompute": "see recipe"})j"},
               {"precision", "FP8 finer granularity (MX 1x32 on Blackwell, blockwise on H100)"}});
    const models::Workload w = workload_of(run);
    EXPECT_EQ(w.q_rank, 1536);
    EXPECT_EQ(w.value_head_size, 128);
    EXPECT_EQ(w.num_experts, 256);
    EXPECT_EQ(w.first_dense_layers, 3);
    const models::Plan plan = plan_of(run);
    EXPECT_EQ(plan.etp, 1);
    EXPECT_EQ(plan.dp, 2);  // 1,024 over pp 8, ep 64
    EXPECT_EQ(plan.fp8, models::Fp8::kBlockwise);
    EXPECT_EQ(plan.micro_batches, 8192 / 64);
    // States of what ep replicates are sharded over it, too, but by a framework that has them over dp alone.
    EXPECT_EQ(plan.optimizer, models::OptimizerSharding::kEpAware);
    RunNames::Framework f = framework();
    f.sharded_with_experts = "sharded", f.fp8_weights_only = {"blockwise"};
    const models::Plan plain = models::load_plan(JsonDocument::parse(run_inputs(run, f).plan, "plan"));
    EXPECT_EQ(plain.optimizer, models::OptimizerSharding::kSharded);
    EXPECT_TRUE(plain.fp8_weights_only && !plan.fp8_weights_only);
}

TEST(PublishedRuns, latents_of_unknown_size_are_those_of_deepseek) {
    const auto latent = [](const char* words, const char* hidden) {
        return run_with(kGpt,
                        {{"model", std::string(R"({"layers": 8, "heads": 16, "ffn": 8192, "vocab": 32000, "seq": 4096,
                               "attention": ")") +
                                       words + R"(", "hidden": )" + hidden + "}"}});
    };
    for (const char* const words : {"MLA", "mla", "multi-head latent attention"}) {
        const models::Workload w = workload_of(latent(words, "7168"));
        EXPECT_EQ((std::vector{w.kv_rank, w.q_rank, w.head_size, w.rope_head_size, w.value_head_size}),
                  (std::vector{512, 1536, 128, 64, 128}))
            << words;
        const std::vector<std::string> notes = run_inputs(latent(words, "7168"), framework()).notes;
        EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
            return note.starts_with("latents as DeepSeek has them are assumed");
        }));
    }
    EXPECT_EQ(workload_of(latent("MLA", "2048")).q_rank, 0);
    for (const char* const other : {"no MLA", "GQA (unlike MLA)", "MLA-like GQA", "MLA in 4 of 8 layers, GQA else"}) {
        EXPECT_EQ(workload_of(latent(other, "2048")).kv_rank, 0) << other;
    }
}

TEST(PublishedRuns, what_is_or_is_not_may_be_a_word) {
    for (const char* const yes : {"true", R"("yes")", R"("On")"}) {
        EXPECT_EQ(run_with(kGpt, {{"plan.seq_parallel", yes}}).plan.sequence_parallel, true) << yes;
    }
    EXPECT_EQ(run_with(kGpt, {{"plan.seq_parallel", R"("no")"}}).plan.sequence_parallel, false);
    EXPECT_EQ(run_with(kGpt, {{"plan.seq_parallel", "null"}}).plan.sequence_parallel, std::nullopt);
    EXPECT_NE(run_with(kGpt, {{"plan.seq_parallel", R"("maybe")"}}).unreadable, "");
}

/// ZeRO++ keeps weights in each node, from which backward passes gather.
TEST(PublishedRuns, sharding_by_its_words) {
    const auto sharded = [](const char* zero) {
        return plan_of(run_with(kGpt, {{"plan.zero", json_quote(zero)},
                                       {"plan.tp", "1"},
                                       {"plan.pp", "1"},
                                       {"plan.vpp", "1"},
                                       {"plan.global_batch", "1024"}}));
    };
    EXPECT_EQ(sharded("3 (FSDP2)").optimizer, models::OptimizerSharding::kFsdp);
    const models::Plan hpz = sharded("3 + hierarchical partition (hpZ=8, one node)");
    EXPECT_EQ(hpz.reshard_ranks, 8);
    EXPECT_EQ(hpz.shard_replicas, 1);
    EXPECT_EQ(sharded("0").optimizer, models::OptimizerSharding::kReplicated);
    for (const char* const one : {"1", "ZeRO-1", "zero stage 1", "Stage 1", "Distributed Optimizer"}) {
        EXPECT_EQ(sharded(one).optimizer, models::OptimizerSharding::kSharded) << one;
    }
    EXPECT_EQ(sharded("ZeRO-2").optimizer, models::OptimizerSharding::kZero2);
    EXPECT_EQ(sharded("fsdp2").optimizer, models::OptimizerSharding::kFsdp);
    EXPECT_EQ(sharded("None").optimizer, models::OptimizerSharding::kReplicated);
}

TEST(PublishedRuns, words_count_in_any_case) {
    const auto fp8 = [](const char* precision) {
        return plan_of(run_with(kGpt, {{"precision", json_quote(precision)}})).fp8;
    };
    EXPECT_EQ(fp8("FP16"), models::Fp8::kNone);
    EXPECT_EQ(fp8("bfloat16 mixed"), models::Fp8::kNone);
    EXPECT_EQ(fp8("mxfp8"), models::Fp8::kBlockwise);
    EXPECT_EQ(fp8("fp8 (delayed-scaling)"), models::Fp8::kTensorwise);
    EXPECT_EQ(fp8("FP8-SC"), models::Fp8::kBlockwise);
    EXPECT_TRUE(plan_of(run_with(kGpt, {{"plan.recompute", R"("Full")"}})).recompute.layer);
    EXPECT_TRUE(is_recompute_unstated(run_with(kGpt, {{"plan.recompute", R"("Not stated")"}})));
    EXPECT_FALSE(is_recompute_unstated(run_with(kGpt, {{"plan.recompute", R"("None")"}})));
}

TEST(PublishedRuns, what_cannot_be_said_is_refused_by_name) {
    const auto expect_words = [](const PublishedRun& run, const std::vector<std::string>& words) {
        const std::string fault = fault_of(run);
        for (const std::string& word : words) {
            EXPECT_NE(fault.find(word), std::string::npos) << fault;
        }
    };
    expect_words(run_with(kGpt, {{"model.heads", "null"}}), {"gpt3", "heads"});
    expect_words(run_with(kGpt, {{"plan.zero", "some"}}), {"gpt3", "some", "distributed_optimizer"});
    expect_words(run_with(kGpt, {{"plan.recompute", "half"}}), {"gpt3", "half", "selective"});
    expect_words(run_with(kGpt, {{"precision", "int4"}}), {"gpt3", "int4", "fp8"});
    expect_words(run_with(kGpt, {{"gpus", "1000"}}), {"gpt3", "1000", "128"});
    expect_words(run_with(kGpt, {{"plan.global_batch", "1537"}}), {"gpt3", "1537", "8"});
    EXPECT_THROW(static_cast<void>(load_published_runs(cases(std::string(kGpt) + "," + kGpt))), InputError);
}

TEST(PublishedRuns, names_are_those_that_a_case_begins_with) {
    const RunNames names = load_run_names(JsonDocument::parse(
        R"({"hardware": [{"gpu": ["G"], "system": "LUMI", "machine": "a"}, {"gpu": ["G"], "machine": "b"}],
            "frameworks": [{"name": "F", "texts": ["F"], "stack": "s", "plan": {"gradient_dtype": "fp32",
                            "expert_kernels": "loop", "dispatch": "alltoall", "recompute_unstated": "full"}}],
            "fitted": [{"id": ["gpt2", "gpt3"], "what": "a rate"}]})",
        "names.json"));
    EXPECT_EQ(hardware_of(names, run_with(kGpt, {{"machine", "LUMI"}}))->machine, "a");
    EXPECT_EQ(hardware_of(names, run_with(kGpt, {}))->machine, "b");
    EXPECT_FALSE(hardware_of(names, run_with(kGpt, {{"hardware.gpu", "H"}})));
    EXPECT_EQ(framework_of(names, run_with(kGpt, {{"framework", "F 2.1"}}))->stack, "s");
    EXPECT_FALSE(framework_of(names, run_with(kGpt, {{"framework", "G"}})));
    EXPECT_TRUE(is_fitted(names, run_with(kGpt, {})));
    EXPECT_FALSE(is_fitted(names, run_with(kGpt, {{"id", "another"}})));
}

/// Errors of +10, -20 and +30 %: mean size 20 %, median 20 %, bias 20 / 3 %; one interval holds.

}  // namespace
/// A key that nobody asks for is told, with the one that was meant where the case lacks that.
TEST(PublishedRuns, keys_that_are_passed_over_are_noted) {
    const auto notes = [](const std::string& path) { return run_with(kGpt, {{path, "2"}}).passed_over; };
    using Notes = std::vector<std::string>;
    EXPECT_EQ(notes("model.num_experts"), Notes{"model.num_experts is passed over; did you mean experts?"});
    EXPECT_EQ(notes("model.top_k"), Notes{"model.top_k is passed over"}) << "too short to tell slips from others";
    EXPECT_EQ(notes("model.headdim"), Notes{"model.headdim is passed over; did you mean head_dim?"});
    EXPECT_EQ(notes("plan.GA"), Notes{}) << "keys count in any case";
    EXPECT_EQ(run_with(kGpt, {{"plan.GA", "192"}}).plan.accumulation, 192);
    EXPECT_EQ(notes("measured.step_time_ms"), Notes{"measured.step_time_ms is passed over"}) << "of another unit";
    EXPECT_EQ(notes("measured.sample_per_s"),
              Notes{"measured.sample_per_s is passed over; did you mean samples_per_s?"});
    EXPECT_EQ(notes("how_flop_counted"), Notes{"how_flop_counted is passed over; did you mean how_flops_counted?"});
    EXPECT_EQ(notes("plan.microbatch"), Notes{"plan.microbatch is passed over"}) << "micro_batch is there";
    EXPECT_EQ(notes("plan.zero_stage"), Notes{"plan.zero_stage is passed over"});
    EXPECT_EQ(notes("plan.ddp_impl"), Notes{}) << "of the source, and known to say nothing that counts here";
}

TEST(PublishedRuns, what_contradicts_the_rest_is_noted) {
    const auto notes = [](const std::vector<std::pair<std::string, std::string>>& values) {
        return run_inputs(run_with(kGpt, values), framework()).notes;
    };
    const auto has_note = [](const std::vector<std::string>& all, const std::string& note) {
        return std::ranges::find(all, note) != all.end();
    };
    EXPECT_TRUE(has_note(notes({{"plan.dp", "13"}}), "dp 13 is passed over: 1024 GPUs make 8"));
    EXPECT_FALSE(has_note(notes({{"plan.dp", "8"}}), "dp 8 is passed over: 1024 GPUs make 8"));
    EXPECT_TRUE(has_note(notes({{"plan.vpp", "null"}}), "1 virtual stage a rank is assumed"));
    const char* const all_heads = "96 heads of keys and values, as of queries, are assumed";
    EXPECT_TRUE(has_note(notes({{"model.kv_heads", "null"}, {"model.activation", "\"swiglu\""}}), all_heads));
    EXPECT_FALSE(has_note(notes({{"model.kv_heads", "96"}, {"model.activation", "\"swiglu\""}}), all_heads));
    EXPECT_FALSE(has_note(notes({{"model.kv_heads", "null"}}), all_heads)) << "those of GPT are no others";
    const char* const gathered =
        "sharded weights with pp 16 are gathered, and their gradients summed, in every micro-batch";
    EXPECT_TRUE(has_note(notes({{"plan.zero", R"("fsdp")"}}), gathered));
    EXPECT_FALSE(has_note(notes({{"plan.zero", R"("1")"}}), gathered));
    EXPECT_TRUE(has_note(notes({{"plan.pp", "1"}, {"plan.vpp", "4"}}), "vpp 4 is passed over: there is one stage"));
    const char* const dense = "topk is passed over: without experts the model is dense";
    EXPECT_TRUE(has_note(notes({{"model.topk", "8"}}), dense));
    EXPECT_FALSE(has_note(notes({}), dense));
}

}  // namespace auspex::evaluate
