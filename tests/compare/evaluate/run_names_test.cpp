/// @file The shipped table of names: which stack a framework's name is, however it is spelt, and what is said of
/// others.
#include "compare/evaluate/names/run_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "models/stack.hpp"

namespace auspex::evaluate {
namespace {

const std::string kRoot = AUSPEX_SOURCE_DIR;

PublishedRun run_of(const std::string& framework, const std::string& gpu, const std::string& source = "") {
    PublishedRun run;
    run.id = "case", run.framework = framework, run.gpu = gpu, run.source = source;
    return run;
}

std::string stack_of(const std::string& framework, const std::string& gpu) {
    const std::optional<RunNames::Framework> found = framework_of(shipped(), run_of(framework, gpu));
    return found ? found->stack : "";
}

constexpr const char *kHopper = "NVIDIA H100-SXM5 80GB", *kAmpere = "A100-SXM4-40GB", *kGcd = "AMD Instinct MI250X GCD",
                     *kMi300 = "AMD MI300X", *kMax = "Intel Data Center GPU Max 1550 tile";

/// Names, GPUs, stacks.
TEST(RunNames, a_framework_is_known_by_any_spelling_of_its_name) {
    const std::vector<std::array<std::string, 3>> expected{
        {"X-MoE", kGcd, "x-moe"},
        {"x-moe", kGcd, "x-moe"},
        {"XMoE (SC25)", kHopper, "x-moe"},
        {"Tutel", kGcd, "tutel"},
        {"tutel 0.3", kAmpere, "tutel"},
        {"DeepSpeed-MoE + Tutel", kGcd, "tutel"},
        {"DeepSpeed-MoE", kGcd, "deepspeed-moe"},
        {"deepspeed moe v0.15", kAmpere, "deepspeed-moe"},
        {"DeepSpeed-TED", kGcd, "deepspeed-moe"},
        {"DeepSpeed ZeRO-3", kMax, "megatron-deepspeed"},
        {"DeepSpeed ZeRO-3", kHopper, "pytorch-fsdp"},
        {"Megatron-DeepSpeed", kGcd, "megatron-deepspeed"},
        {"megatron_deepspeed", kAmpere, "megatron-lm"},
        {"ALCF Megatron-DeepSpeed", kMax, "megatron-deepspeed"},
        {"NeMo 25.04", kHopper, "megatron-core"},
        {"NVIDIA NeMo 24.07", kHopper, "megatron-core"},
        {"nemo framework / dgxc-benchmarking", kHopper, "megatron-core"},
        {"DGXC", kHopper, "megatron-core"},
        {"NeMo / DGX Cloud benchmarking", kHopper, "megatron-core"},
        {"DGX Cloud benchmarking (NeMo)", kHopper, "megatron-core"},
        {"Megatron-Bridge", kHopper, "megatron-core"},
        {"megatron bridge 0.2", kHopper, "megatron-core"},
        {"Megatron-Core (NeMo)", kHopper, "megatron-core"},
        {"MCore r0.8", kHopper, "megatron-core"},
        {"Megatron-LM", kAmpere, "megatron-lm"},
        {"ROCm Megatron-LM", kMi300, "megatron-core"},
        {"Primus (Megatron)", kMi300, "megatron-core"},
        {"Primus (TorchTitan backend)", kMi300, "pytorch-fsdp"},
        {"torchtitan", kHopper, "pytorch-fsdp"},
        {"TorchTitan (compile)", kHopper, "pytorch-fsdp"},
        {"TorchTitan + ezpz, XCCL", kMax, "torchtitan"},
        {"FSDP2", kHopper, "pytorch-fsdp"},
        {"PyTorch FSDP2 + torch.compile", kHopper, "pytorch-fsdp"},
        {"Lightning (FSDP2)", kHopper, "pytorch-fsdp"},
        {"nanotron", kHopper, "nanotron"},
        {"PyTorch Lightning", kHopper, "pytorch-fsdp"},
        {"lit-gpt", kHopper, "pytorch-fsdp"},
        {"torchtune", kHopper, "pytorch-fsdp"},
        {"Axolotl", kHopper, "pytorch-fsdp"},
        {"Hugging Face Trainer", kHopper, "pytorch-fsdp"},
        {"Transformers + TRL", kHopper, "pytorch-fsdp"},
        {"metaseq (FairScale)", kAmpere, "pytorch-fsdp"},
        {"nemo-automodel", kHopper, "pytorch-fsdp"},
        {"NeMo AutoModel", kHopper, "pytorch-fsdp"},
        {"MegaScale", kAmpere, "megatron-core"},
        {"HAI-LLM (DualPipe)", kHopper, "megatron-core"},
        {"MegatronLM", kHopper, "megatron-core"},
        {"megatronlm", kHopper, "megatron-core"},
        {"FSDPv2", kHopper, "pytorch-fsdp"},
        {"Megatron-LM", "A800-SXM4-80GB", "megatron-lm"},
        // No names inside words.
        {"Nemotron", kHopper, ""},
        {"Megatrons", kHopper, ""},
        {"optimuses", kHopper, ""},
        {"fsdpish", kHopper, ""},
    };
    for (const auto& [framework, gpu, stack] : expected) {
        EXPECT_EQ(stack_of(framework, gpu), stack) << framework << " on " << gpu;
    }
}

/// NeMo and Megatron-Bridge reduce gradients in bf16, Megatron-Core by itself in fp32.
TEST(RunNames, recipes_of_nemo_are_told_from_megatron_core) {
    for (const auto& [framework, dtype] : std::map<std::string, std::string>{{"Megatron-Core (NeMo)", "bf16"},
                                                                             {"Megatron-LM r0.8, NeMo", "bf16"},
                                                                             {"NeMo 25.04", "bf16"},
                                                                             {"Megatron-Core r0.8.0", "fp32"}}) {
        EXPECT_EQ(framework_of(shipped(), run_of(framework, kHopper))->gradient_dtype, dtype) << framework;
    }
}

TEST(RunNames, baselines_of_deepspeed_pad_to_their_capacity_and_x_moe_does_not) {
    const auto of = [](const char* framework) { return *framework_of(shipped(), run_of(framework, kGcd)); };
    EXPECT_FALSE(of("X-MoE").pads_to_capacity);
    EXPECT_EQ(of("X-MoE").capacity_unstated, 0);
    EXPECT_EQ(of("X-MoE").dispatch_between_nodes, "hierarchical-alltoall");
    for (const char* const framework : {"Tutel", "DeepSpeed-MoE", "DeepSpeed-TED"}) {
        EXPECT_TRUE(of(framework).pads_to_capacity) << framework;
        EXPECT_EQ(of(framework).capacity_unstated, 1) << framework;
        EXPECT_EQ(of(framework).dispatch_between_nodes, "") << framework;
    }
}

/// RCCL over TCP where the case denies its plug-in and nowhere says it.
TEST(RunNames, rccl_runs_over_tcp_where_the_case_says_so) {
    const auto libraries = [](const std::string& framework, const std::string& gpu, const std::string& notes = "") {
        PublishedRun run = run_of(framework, gpu);
        run.notes = notes;
        std::vector<std::string> set = framework_of(shipped(), run)->set;
        std::erase_if(set, [](const std::string& text) { return !text.starts_with("stack.communication="); });
        return set;
    };
    const std::vector<std::string> sockets{"stack.communication=rccl/sockets"};
    for (const char* const framework : {"FSDP", "Accelerate FSDP", "Megatron-DeepSpeed", "Megatron-Core"}) {
        EXPECT_TRUE(libraries(framework, "MI250X GCD").empty()) << framework;
        EXPECT_EQ(libraries(framework, "MI250X GCD", "no aws-ofi-rccl"), sockets) << framework;
    }
    for (const char* const notes :
         {"without the aws-ofi-rccl plugin", "aws-ofi-rccl was not installed", "NCCL_NET=Socket", "no network plug-in",
          "w/o AWS-OFI-RCCL", "aws-ofi-rccl missing"}) {
        EXPECT_EQ(libraries("FSDP", "MI250X", notes), sockets) << notes;
    }
    for (const char* const notes : {"with aws-ofi-rccl", "aws-ofi-rccl plugin enabled", "bootstrap over TCP sockets",
                                    "no aws-ofi-rccl bug was seen with aws-ofi-rccl 1.4"}) {
        EXPECT_TRUE(libraries("FSDP", "MI250X", notes).empty()) << notes;
    }
    EXPECT_TRUE(libraries("FSDP", kAmpere, "no aws-ofi-rccl").empty());
    EXPECT_EQ(framework_of(shipped(), run_of("Accelerate FSDP", "MI250X"))->gradient_dtype, "bf16");
}

/// What an entry takes for granted, its stack has.
TEST(RunNames, every_stack_of_the_table_is_there_and_offers_what_its_entry_asks_for) {
    for (const RunNames::NamedFramework& named : shipped().frameworks) {
        const RunNames::Framework& one = named.framework;
        const models::Stack stack = models::load_stack(JsonDocument::load(kRoot + "/stacks/" + one.stack + ".json"));
        EXPECT_NE(std::ranges::find(stack.offers_expert_kernels, one.expert_kernels), stack.offers_expert_kernels.end())
            << one.stack << " " << one.expert_kernels;
        EXPECT_NE(std::ranges::find(stack.offers_dispatches, one.dispatch), stack.offers_dispatches.end())
            << one.stack << " " << one.dispatch;
    }
}

std::string refusal_of(const PublishedRun& run) {
    try {
        if (!hardware_of(shipped(), run)) {
            refuse_hardware(shipped(), run);
        }
        EXPECT_FALSE(framework_of(shipped(), run)) << run.framework;
        refuse_framework(shipped(), run);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(RunNames, what_no_stack_is_is_said_with_the_reason_or_with_what_is_known) {
    // Not the FSDP behind it, which is another one's.
    const std::string xla = refusal_of(run_of("MaxText (JAX, FSDP)", kHopper));
    EXPECT_NE(xla.find("\"MaxText (JAX, FSDP)\""), std::string::npos) << xla;
    EXPECT_NE(xla.find("XLA"), std::string::npos) << xla;
    EXPECT_NE(refusal_of(run_of("FSDP (via MaxText)", kHopper)).find("XLA"), std::string::npos);
    const std::string unknown = refusal_of(run_of("Megatonne", kHopper));
    for (const char* const word :
         {"case", "\"Megatonne\"", "NeMo,", "X-MoE,", "TorchTitan,", "did you mean Megatron?"}) {
        EXPECT_NE(unknown.find(word), std::string::npos) << unknown;
    }
    PublishedRun gpu = run_of("Abacus", "TPU v5p");
    const std::string machine = refusal_of(gpu);
    EXPECT_NE(machine.find("\"TPU v5p\""), std::string::npos) << machine;
    EXPECT_NE(machine.find("\"MI300X\""), std::string::npos) << machine;
}

/// Megatron-LM of 2021 and 2022 keeps scores; a case may say that it had flash attention.
TEST(RunNames, megatron_lm_on_an_a100_is_as_old_as_its_case_says) {
    const auto stack = [](PublishedRun run, const std::string& notes = "") {
        run.notes = notes;
        return framework_of(shipped(), run)->stack;
    };
    EXPECT_EQ(stack(run_of("Megatron-LM", kAmpere, "Korthikanti et al. 2022")), "megatron-lm");
    EXPECT_EQ(stack(run_of("Megatron-LM", kAmpere), "without flash attention"), "megatron-lm");
    EXPECT_EQ(stack(run_of("Megatron-LM", kAmpere), "--use-flash-attn"), "megatron-core");
    EXPECT_EQ(stack(run_of("Megatron-LM", kAmpere), "with FlashAttention; activations are recomputed, offload none"),
              "megatron-core");
    EXPECT_EQ(stack(run_of("Megatron-LM (FlashAttention-2)", kAmpere)), "megatron-core");
    EXPECT_EQ(framework_of(shipped(), run_of("HAI-LLM", "H800"))->fp8, "blockwise");
}

TEST(RunNames, some_frameworks_are_known_with_sharded_weights_only) {
    PublishedRun run = run_of("InternEvo", kHopper);
    EXPECT_EQ(framework_of(shipped(), run)->stack, "pytorch-fsdp");
    run.plan.zero = "FSDP";
    EXPECT_EQ(framework_of(shipped(), run)->stack, "pytorch-fsdp");
    run.plan.zero = "ZeRO-1";
    EXPECT_NE(refusal_of(run).find("sharded weights"), std::string::npos);
}

TEST(RunNames, bad_entries_are_refused_by_path) {
    const auto fault = [](const std::string& plan, const std::string& more = "") {
        try {
            static_cast<void>(load_run_names(JsonDocument::parse(
                R"({"hardware": [], "fitted": [], "frameworks": [{"name": "a", "texts": ["a"], "stack": "s", )" + more +
                    R"("plan": {"gradient_dtype": "fp32", "expert_kernels": "grouped", "dispatch": "alltoall",
                                "recompute_unstated": "none", )" +
                    plan + "}}]}",
                "names")));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(fault(R"("capacity_unstated": 0)").find("capacity_unstated"), std::string::npos);
    EXPECT_NE(fault(R"("pads_to_capacity": 1)").find("pads_to_capacity"), std::string::npos);
    EXPECT_EQ(fault(R"("capacity_unstated": 1.25)"), "");
    EXPECT_NE(fault(R"("fp8": "narrow")").find("fp8"), std::string::npos);
    EXPECT_NE(fault(R"("fp8": "none")", R"("note": "", )").find("note"), std::string::npos);
    const auto fault_of = [&fault](const char* more) { return fault(R"("fp8": "tensorwise")", more); };
    EXPECT_EQ(fault_of(""), "");
    EXPECT_NE(fault_of(R"("like": "b", )").find("framework in front"), std::string::npos);
    EXPECT_NE(fault_of(R"("over": ["b"], )").find("\"b\""), std::string::npos);
    // Bounds of versions are two, and dates and numbers are not mixed.
    EXPECT_NE(fault_of(R"("releases": [{"numbers": ["0.5"]}], )").find("two bounds"), std::string::npos);
    EXPECT_NE(fault_of(R"("releases": [{"numbers": ["0.5", "25.04"]}], )").find("0.11"), std::string::npos);
    EXPECT_NE(fault_of(R"("releases": [{"dates": [null, "0.9"]}], )").find("2025-04"), std::string::npos);
    // Something is left for cases without a version.
    EXPECT_NE(fault_of(R"("releases": [{"numbers": [null, "0.9"]}], )").find("unstated"), std::string::npos);
    EXPECT_EQ(fault_of(R"("releases": [{"numbers": [null, "0.9"], "unstated": true}], )"), "");
    EXPECT_THROW(static_cast<void>(load_run_names(JsonDocument::parse(
                     R"({"hardware": [], "fitted": [], "frameworks": [], "unmapped": [{"why": "w"}]})", "names"))),
                 InputError);
}

}  // namespace
}  // namespace auspex::evaluate
