/// @file Plans to variables of Optimus-LM and back.
#include "interop/optimus/optimus.hpp"

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

constexpr const char* kFormat = "optimus";

std::string refusal(const Case& one) { return testing_interop::refusal(one, kFormat); }
std::string refusal_of_text(const std::string& text) {
    return testing_interop::refusal_of_text(text, kFormat, 0, "mula-220b-a10b");
}

/// The launch of Mula-220B on 256 nodes: DP 32 = 256 x 12 / (PP 8 x EP 12 x TP 1), BATCH_SIZE 8 for each of DP x EP
/// ranks, so 3,072 sequences a step (arXiv:2604.00785, launch script of its library).
std::string launch_of_220b(const std::string& more = "") {
    return "export NUM_NODES=256\nexport GPUS_PER_NODE=12\n"
           "MODEL_CHOICE=allenai/OLMoE-1B-7B-0924--SA1.5-SH1.5-SE3.75-SI1.5-L64\n"
           "export PP=8 EP=12 TP=1 VPP=1\nexport PP_SCHEME=1f1b BATCH_SIZE=8 MICRO_BATCH_SIZE=1\n"
           "export ENABLE_SAC=1 SAC_LEVEL=7 USE_FAST_MOE=1 FORCE_UNIFORM_ROUTING=0\n"
           "export USE_OM_PGSHARDED_OPTIMIZER=1 OPT_USE_FP32_FOR_GRAD_ACC=0\n"
           "export CCL_OP_SYNC=1 PATH=$HOME/bin:$PATH\n" +
           more + "bash run_experiment.sh\n";
}

TEST(Optimus, the_published_launch_is_the_shipped_plan) {
    const models::Workload workload = workload_named("mula-220b-a10b");
    PlanText from;
    from.text = launch_of_220b(), from.name = "job.sh";
    const ImportedPlan imported = plan_of_optimus(from);
    models::Plan shipped = case_of("mula-220b-a10b", "mula-220b-a10b", {{"routing", "learned"}}).plan;
    EXPECT_EQ(difference(resolve_plan(imported.plan, workload, 0), shipped, workload), "");
    ASSERT_EQ(imported.notes.size(), 1U);  // its products are not the grouped ones of Triton
    EXPECT_NE(imported.notes[0].find("USE_TRITON_PATH_FOR_GEMM_IN_FAST_MOE"), std::string::npos);
}

TEST(Optimus, the_model_is_the_workloads) {
    EXPECT_EQ(refusal_of_text(launch_of_220b("export CONTEXT_SIZE=2048\n")), "accepted");
    EXPECT_PRED2(names_setting, refusal_of_text(launch_of_220b("export CONTEXT_SIZE=8192\n")), "CONTEXT_SIZE");
    EXPECT_PRED2(names_setting, testing_interop::refusal_of_text(launch_of_220b(), kFormat, 0, "mula-100b-a7b"),
                 "MODEL_CHOICE");
}

TEST(Optimus, models_are_named_by_what_is_scaled) {
    EXPECT_EQ(optimus_model(workload_named("mula-220b-a10b")),
              "allenai/OLMoE-1B-7B-0924--SA1.5-SH1.5-SE3.75-SI1.5-L64");
    EXPECT_EQ(optimus_model(workload_named("mula-100b-a7b")), "allenai/OLMoE-1B-7B-0924--SA1.5-SH1.5-SE2.25-SI1.5-L48");
    EXPECT_EQ(optimus_model(workload_named("mula-20b-a2b")), "allenai/OLMoE-1B-7B-0924--SE1.5-L32");
    EXPECT_EQ(optimus_model(workload_named("mula-7b-a1b")), "allenai/OLMoE-1B-7B-0924");
    EXPECT_EQ(optimus_model(workload_named("mula-1b")), "allenai/OLMo-1B-hf");
    models::Workload deepseek = workload_named("deepseek-v3");
    EXPECT_THROW(static_cast<void>(optimus_model(deepseek)), InputError) << "it has one loss, and no bias to move";
    deepseek.mtp_layers = 0, deepseek.router_bias = false;
    EXPECT_EQ(optimus_model(deepseek), "deepseek-ai/DeepSeek-V3");
    deepseek.layers = 96, deepseek.num_experts = 264;
    EXPECT_EQ(optimus_model(deepseek), "deepseek-ai/DeepSeek-V3--N264-L96");
    const auto fault = [](models::Workload workload) {
        try {
            return optimus_model(workload);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_PRED2(names_field, fault(workload_named("mixtral-8x7b")), "qk_norm");
    models::Workload grouped = workload_named("mula-20b-a2b");
    grouped.kv_heads = 4;
    EXPECT_NE(fault(grouped).find("$.kv_heads: found 4; expected 16"), std::string::npos);
    models::Workload odd = workload_named("mula-20b-a2b");
    odd.num_experts = 67;  // 67 / 64 = 1.046875
    EXPECT_PRED2(names_field, fault(odd), "num_experts");
    EXPECT_PRED2(names_field, fault(workload_named("llama3-70b")), "norm");
}

TEST(Optimus, shipped_plans_are_read_back) {
    for (const char* name : {"mula-1b", "mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b"}) {
        const Case one = case_of(name, name);
        const std::string text = testing_interop::text_of(one, kFormat);
        EXPECT_EQ(difference(testing_interop::parsed(text, kFormat, one.workload), one.plan, one.workload), "") << text;
    }
    const Case one = case_of("mula-100b-a7b", "mula-100b-a7b");
    const std::string text = testing_interop::text_of(one, kFormat);
    for (const char* line : {"export NUM_NODES=256 ", "export GPUS_PER_NODE=12 ", "export PP=4 ", "export EP=12 ",
                             "export BATCH_SIZE=4 ", "export SAC_LEVEL=1 ", "export USE_OM_PGSHARDED_OPTIMIZER=1 "}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
}

TEST(Optimus, what_it_cannot_do_is_refused_by_the_plans_field) {
    const auto changed = [](const char* field, const char* value) {
        return refusal(case_of("mula-20b-a2b", "mula-20b-a2b", {{field, value}}));
    };
    EXPECT_EQ(changed("micro_batches", "4"), "accepted");
    EXPECT_PRED2(names_field, changed("optimizer", "fsdp"), "optimizer");
    EXPECT_PRED2(names_field, changed("dispatch", "alltoall"), "dispatch");
    EXPECT_PRED2(names_field, changed("overlap", R"(["dp"])"), "overlap");
    EXPECT_PRED2(names_field, changed("recompute", R"(["norm"])"), "recompute");
    EXPECT_PRED2(names_field, changed("recompute", R"(["norm", "attention"])"), "recompute");
    EXPECT_PRED2(names_field, changed("cp", "2"), "cp");
    EXPECT_PRED2(names_field, changed("etp", "2"), "etp");
    EXPECT_PRED2(names_field, changed("precision", "fp32"), "precision");
    EXPECT_PRED2(names_field, changed("routing", R"({"zipf": 1})"), "routing");
    EXPECT_PRED2(names_field, refusal(case_of("mula-7b-a1b", "mula-7b-a1b", {{"dp", "13"}})), "dp");  // nodes of 12
    EXPECT_PRED2(names_field, refusal(case_of("mula-220b-a10b", "mula-220b-a10b", {{"pp", "7"}})), "stages");
    EXPECT_PRED2(names_field,
                 refusal(case_of("mula-220b-a10b", "mula-220b-a10b", {{"rank_order", R"(["pp", "dp", "ep", "tp"])"}})),
                 "rank_order");
}

TEST(Optimus, variables_that_are_missing_or_not_understood_are_named) {
    const auto with = [](const std::string& was, const std::string& is) {
        std::string text = launch_of_220b();
        return refusal_of_text(text.replace(text.find(was), was.size(), is));
    };
    EXPECT_EQ(refusal_of_text(launch_of_220b()), "accepted");
    EXPECT_PRED2(names_setting, with("SAC_LEVEL=7", "SAC_LEVEL=2"), "SAC_LEVEL");
    EXPECT_PRED2(names_setting, with(" BATCH_SIZE=8", ""), "BATCH_SIZE");
    EXPECT_PRED2(names_setting, with("PP=8 ", ""), "PP");
    EXPECT_PRED2(names_setting, with("USE_OM_PGSHARDED_OPTIMIZER=1", "USE_OM_PGSHARDED_OPTIMIZER=0"),
                 "USE_OM_PGSHARDED_OPTIMIZER");
    EXPECT_PRED2(names_setting, with("PP_SCHEME=1f1b", "PP_SCHEME=zero-bubble"), "PP_SCHEME");
    EXPECT_PRED2(names_setting, with("EP=12", "EP=twelve"), "EP");
    EXPECT_PRED2(names_setting, with("BATCH_SIZE=8 MICRO_BATCH_SIZE=1", "BATCH_SIZE=8 MICRO_BATCH_SIZE=3"),
                 "BATCH_SIZE");
    EXPECT_PRED2(names_setting, with("NUM_NODES=256", "NUM_NODES=255"), "ranks");
    for (const char* variable : {"USE_PP_FIRST", "USE_PT_OPTIMIZER", "USE_OM_OPTIMIZER", "USE_OM_SUBSHARDED_OPTIMIZER",
                                 "USE_WARP_DRIVE", "ENABLE_OFFLOAD"}) {
        const std::string named = std::string(variable) == "USE_OM_OPTIMIZER" ? "USE_OM_PGSHARDED_OPTIMIZER" : variable;
        EXPECT_PRED2(names_setting, refusal_of_text(launch_of_220b(std::string("export ") + variable + "=1\n")),
                     named.c_str());
    }
    EXPECT_PRED2(names_setting, refusal_of_text(launch_of_220b("export GRAD_ACC_STEPS=2\n")), "GRAD_ACC_STEPS");
    EXPECT_PRED2(names_setting, refusal_of_text(launch_of_220b("export USE_SP_IN_TP=yes\n")), "USE_SP_IN_TP");
    EXPECT_NE(refusal_of_text(launch_of_220b("export PP=4\n")).find("job.sh: PP: found several values"),
              std::string::npos);
    EXPECT_NE(refusal_of_text("export A=1\n").find("none of its variables"), std::string::npos);
}

}  // namespace
}  // namespace auspex::interop
