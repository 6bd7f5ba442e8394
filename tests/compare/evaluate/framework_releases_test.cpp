/// @file The shipped table: which release of a stack a framework's version is, wherever the case says it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"

namespace auspex::evaluate {
namespace {

constexpr const char *kHopper = "NVIDIA H100-SXM5 80GB", *kAmpere = "A100-SXM4-40GB", *kBlackwell = "B200-180GB",
                     *kMi300 = "AMD MI300X", *kMax = "Intel Data Center GPU Max 1550 tile";

PublishedRun run_of(const std::string& framework, const std::string& gpu, const std::string& source = "",
                    const std::string& notes = "") {
    PublishedRun run;
    run.id = "case", run.framework = framework, run.gpu = gpu, run.source = source, run.notes = notes;
    return run;
}

/// "megatron-core eager-2025"; "megatron-lm" where no release is taken.
std::string taken(const PublishedRun& run) {
    const std::optional<RunNames::Framework> found = framework_of(shipped(), run);
    if (!found) {
        return "";
    }
    const std::string use = "stack.releases.use=";
    const std::string release = found->set.empty() || !found->set[0].starts_with(use) ? "" : found->set[0];
    return found->stack + (release.empty() ? "" : " " + release.substr(use.size()));
}

std::string why(const PublishedRun& run) { return framework_of(shipped(), run)->notes.back(); }

/// Frameworks as papers, tables and people write them.
TEST(FrameworkReleases, versions_on_hopper) {
    const std::string old = "megatron-core mcore-2024", eager = "megatron-core eager-2025",
                      graphs = "megatron-core graphs-2026";
    const std::vector<std::array<std::string, 2>> expected{
        {"Megatron-Core r0.8.0", old},
        {"Megatron-LM (core_v0.8.0)", old},
        {"TransformerEngine + Megatron-LM core_r0.9", old},
        {"MCore 0.4", old},
        {"Megatron-LM v23.06", old},
        {"Megatron-LM (commit 3fb4a2c, Aug 2024)", old},
        {"Megatron-LM 2024", old},
        {"Megatron-LM core_r0.8 (run in March 2025)", old},
        {"megatron-lm@core_v0.9.0 (Oct 2025)", old},
        {"nemo_toolkit[all]==2.0.0", old},
        {"Megatron-LM 2.5, Megatron-Core 0.8", old},
        {"Megatron Core 0.10.0 / TE 1.13", old},
        {"Megatron-LM, core release 0.8", old},
        {"Megatron-LM w/o TE, ver. 0.9.1", old},
        {"Megatron-LM Q3 2024", old},
        {"NeMo24.09", old},
        {"FSDP2 via torchtitan 0.2", "pytorch-fsdp torchtitan-2024"},
        {"Megatron/DeepSpeed", "megatron-lm deepspeed-2022"},
        {"Alibaba Pai-Megatron-Patch (Megatron-LM 0.7)", old},
        {"megatron core v0.11.0", eager},
        {"Megatron-LM, release core_r0.13.0", eager},
        {"Megatron-LM @ core_v0.12.1", eager},
        {"mcore==0.13.0", eager},
        {"Megatron-Core 0.17.0rc1", graphs},
        {"Megatron-Core + Transformer Engine 2.1", graphs},
        {"NeMo Framework 24.09", old},
        {"NVIDIA NeMo Framework (v24.05)", old},
        {"NeMo 2.0 (24.12)", old},
        {"NeMo 2.0", old},
        {"NeMo 1.23", old},
        {"NeMo-Megatron 23.08", old},
        {"NeMo Framework container 24.05, Megatron-Core 0.7", old},
        {"MLPerf v4.0 NeMo 24.04", old},
        {"Megatron-Core 0.8 (NeMo)", old},
        {"nvcr.io/nvidia/nemo:25.02", eager},
        {"NeMo 25.xx", eager},
        {"NeMo (r2.3.0)", eager},
        {"NeMo 26.06", graphs},
        {"MLPerf Training v4.1, NVIDIA NeMo", graphs},
        {"Megatron-Bridge 26.02", eager},
        {"Megatron-Bridge v0.2.1", eager},
        {"Megatron-Bridge (main, Jan 2026)", eager},
        {"Megatron-Bridge", graphs},
        {"dgxc-benchmarking 24.11", old},
        {"dgxc 24.11", old},
        {"DGXC 25.04", eager},
        {"dgxc-benchmarking v25.01", old},
        {"dgxc-benchmarking 25.05.01", eager},
        {"DGX Cloud Benchmarking Recipes 25.02", eager},
        {"DGXC", eager},
        {"MegaScale", old},
        {"torchtitan @ 2025-04", "pytorch-fsdp torchtitan-2024"},
        {"Composer 0.17 + FSDP", "pytorch-fsdp llm-foundry-2023"},
        {"PyTorch 2.5 FSDP2", "pytorch-fsdp torchtitan-2024"},
        {"Megatron-LM + DeepSpeed", "megatron-lm deepspeed-2022"},
        {"not NeMo but Megatron-Core 0.8", old},
    };
    for (const auto& [framework, release] : expected) {
        EXPECT_EQ(taken(run_of(framework, kHopper)), release) << framework;
    }
}

/// A version in the framework's words goes first, then the source's, then that of the notes.
TEST(FrameworkReleases, a_version_is_looked_for_where_the_case_may_say_it) {
    EXPECT_EQ(taken(run_of("NeMo", kHopper, "performance, 24.07 NeMo container")), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("NeMo", kHopper, "User Guide, Performance, 24.07 release")), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("NeMo", kHopper, "performance summary, release 25.02")), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("Megatron-Core", kHopper, "Megatron-LM README @ core_r0.7.0")), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("Megatron-LM", kHopper, "github.com/NVIDIA/Megatron-LM/blob/core_v0.15.0/README.md")),
              "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("NeMo", kHopper, "blog, 2024-07-12")), "megatron-core graphs-2026");
    EXPECT_EQ(taken(run_of("Megatron-Bridge/Megatron-Core", kHopper, "summary.md, 26.04.01 NeMo container")),
              "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("Megatron-Bridge/Megatron-Core", kHopper, "summary.md, 26.06 NeMo container")),
              "megatron-core graphs-2026");
    EXPECT_EQ(taken(run_of("Megatron-Bridge", kHopper, "guide for 25.09.00 container")), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("NeMo", kHopper, "", "container nvcr.io/nvidia/nemo:25.04")), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("NeMo 24.09", kHopper, "NeMo 25.04 docs")), "megatron-core mcore-2024");
}

/// DeepSpeed's engine sums gradients in buckets; what does not is Megatron's own.
TEST(FrameworkReleases, deepspeeds_engine_is_told_by_its_buckets) {
    PublishedRun run = run_of("Megatron-DeepSpeed", "A100 80GB");
    EXPECT_EQ(taken(run), "megatron-lm deepspeed-2022");
    run.plan.overlap = "none (no gradient bucketing)";
    EXPECT_EQ(taken(run), "megatron-lm megatron-2021");
    EXPECT_EQ(taken(run_of("Megatron-DeepSpeed", "A100 80GB", "", "without gradient buckets")),
              "megatron-lm megatron-2021");
    EXPECT_EQ(taken(run_of("Megatron-LM v2", "A100 80GB")), "megatron-lm megatron-2021");
    EXPECT_EQ(taken(run_of("Megatron-DeepSpeed", "Max 1550")), "megatron-deepspeed");
}

/// Weight gradients are added inside their products from v3 on.
TEST(FrameworkReleases, megatron_on_a100s_is_of_its_year) {
    const auto of = [](const char* framework, const char* source = "") {
        return taken(run_of(framework, "A100-SXM-80GB", source));
    };
    EXPECT_EQ(of("Megatron-LM"), "megatron-lm megatron-2021");
    EXPECT_EQ(of("Megatron-LM v2.5"), "megatron-lm megatron-2021");
    EXPECT_EQ(of("Megatron-LM v3.0"), "megatron-lm megatron-2022");
    EXPECT_EQ(of("Megatron-LM", "Narayanan et al. 2021, Table 1"), "megatron-lm megatron-2021");
    EXPECT_EQ(of("Megatron-LM", "Korthikanti et al. 2022, Table 5"), "megatron-lm megatron-2022");
    EXPECT_EQ(of("Megatron-LM", "Korthikanti 2022"), "megatron-lm megatron-2022");
    EXPECT_EQ(of("Megatron-LM", "Table 5 of arXiv:2205.05198"), "megatron-lm megatron-2022");
    EXPECT_EQ(of("Megatron-LM", "https://arxiv.org/abs/2104.04473v5"), "megatron-lm megatron-2021");
    EXPECT_EQ(of("Megatron-LM", "arXiv:2402.15627, Table 2"), "megatron-core mcore-2024");
    EXPECT_EQ(of("Megatron-LM", "README, May 2023"), "megatron-core mcore-2024");
    EXPECT_EQ(of("Megatron-LM core_r0.8", "README, May 2022"), "megatron-core mcore-2024");
}

/// torch 2.10 until April 2026, in its own words, by the date of the page, or by its jobs.
TEST(FrameworkReleases, torchtitan_with_ezpz_has_the_versions_of_torch) {
    for (const char* const source : {"weak scaling (torch 2.10)", "512 nodes (2026-04-16)", "/20260413-143400-n2.md",
                                     "experiment 2 (job 8441505)", "PyTorch 2.9"}) {
        EXPECT_EQ(taken(run_of("TorchTitan + ezpz, XCCL", kMax, source)), "torchtitan torch-2-10-eager") << source;
    }
    for (const char* const source : {"weak scaling (torch 2.13)", "a page", "(job 8528940)", "(2026-06-01)"}) {
        EXPECT_EQ(taken(run_of("TorchTitan + ezpz, XCCL", kMax, source)), "torchtitan torch-2-13-eager") << source;
    }
    EXPECT_EQ(framework_of(shipped(), run_of("ezpz", kMax, "(torch 2.10)"))->set.back(), "plan.optimizer_states=bf16");
    EXPECT_EQ(taken(run_of("TorchTitan (ezpz disabled)", kHopper)), "pytorch-fsdp torchtitan-2024");
}

/// The software is the same on all GPUs: what differs on them the stack's file has.
TEST(FrameworkReleases, versions_on_other_gpus) {
    EXPECT_EQ(taken(run_of("NeMo 24.09", kAmpere)), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("NeMo 24.09", kBlackwell)), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("NeMo 24.09", "8x H100 SXM5")), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("NeMo 25.04", kAmpere)), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("NeMo 25.04", kBlackwell)), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("Megatron-LM", kMi300, "rocm/megatron-lm:v25.5_py310")), "megatron-core eager-2025");
    EXPECT_EQ(taken(run_of("Megatron-LM v2.5", kAmpere)), "megatron-lm megatron-2021");
    EXPECT_EQ(taken(run_of("Megatron-LM (2022)", kAmpere)), "megatron-lm megatron-2022");
    EXPECT_EQ(taken(run_of("Megatron-LM core_r0.6", kAmpere)), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("Megatron-LM, FlashAttention", kAmpere)), "megatron-core mcore-2024");
    EXPECT_EQ(taken(run_of("MegaScale", kAmpere)), "megatron-core mcore-2024");
}

/// ZeRO-3 of 2021 on A100s moves shards rank by rank; what shards less, is later, or on other GPUs, does not.
TEST(FrameworkReleases, zero_3_of_2021_goes_rank_by_rank) {
    const auto goes_by_rank = [](const std::string& framework, const std::string& zero, const std::string& gpu,
                                 const std::string& source = "") {
        PublishedRun run = run_of(framework, gpu, source);
        run.plan.zero = zero;
        const std::vector<std::string> set = framework_of(shipped(), run)->set;
        const bool is_direct = std::ranges::any_of(set, [](const std::string& one) {
            return one.starts_with("stack.collectives.all_gather=") && one.find("direct") != std::string::npos;
        });
        EXPECT_TRUE(!is_direct || taken(run) == "megatron-lm deepspeed-2022") << framework << " " << zero;
        return is_direct;
    };
    EXPECT_TRUE(goes_by_rank("DeepSpeed", "3", kAmpere, "Table 2 of arXiv:2104.04473"));
    EXPECT_TRUE(goes_by_rank("DeepSpeed 0.5.1", "ZeRO-3", kAmpere));
    EXPECT_TRUE(goes_by_rank("DeepSpeed (2021)", "stage 3", kAmpere));
    EXPECT_FALSE(goes_by_rank("DeepSpeed", "3", kAmpere));
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.6.1", "3", kAmpere));
    EXPECT_FALSE(goes_by_rank("DeepSpeed", "3", kAmpere, "arXiv:2306.00001"));
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.5.1", "1", kAmpere));
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.5.1", "3", kHopper));
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.5.1", "3, hpZ=8", kAmpere));
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.5.1", "3, MiCS", kAmpere));
    // What is stated of the run goes before papers that are cited, and the paper of ZeRO is older than its third stage.
    EXPECT_FALSE(goes_by_rank("DeepSpeed 0.14.2", "3", kAmpere, "arXiv:2104.04473"));
    EXPECT_FALSE(goes_by_rank("DeepSpeed (2023)", "3", kAmpere, "arXiv:2104.04473"));
    EXPECT_FALSE(goes_by_rank("DeepSpeed", "3", kAmpere, "ours, ZeRO-3 (arXiv:1910.02054)"));
    PublishedRun undated = run_of("DeepSpeed", kAmpere);
    undated.plan.zero = "3";
    const std::vector<std::string> notes = framework_of(shipped(), undated)->notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& n) { return n.starts_with("ZeRO-3 is taken as"); }));
}

/// Its own kernels are no release of Megatron-Core's.
TEST(FrameworkReleases, hai_llm_is_held_up_by_no_host) {
    EXPECT_EQ(taken(run_of("HAI-LLM", "H800")), "megatron-core hai-llm-2024");
}

/// A conference's year is later than the runs of its paper; other years are not of an old paper that is cited.
TEST(FrameworkReleases, a_papers_month_goes_before_its_conferences_year) {
    EXPECT_NE(why(run_of("Megatron-LM", kAmpere, "NSDI 2024, arXiv:2402.15627")).find("arXiv:2402.15627"),
              std::string::npos);
    EXPECT_NE(why(run_of("Megatron-LM", kAmpere, "our run, 2024, as arXiv:2104.04473")).find("2024 (source)"),
              std::string::npos);
}

/// The collectives of its stack are those of one cluster.
TEST(FrameworkReleases, nanotron_has_nccl_where_it_is_not_on_its_cluster) {
    const auto set_of = [](const PublishedRun& run) { return framework_of(shipped(), run)->set; };
    using Set = std::vector<std::string>;
    EXPECT_EQ(set_of(run_of("nanotron", kHopper, "our job")), Set{"stack.communication=nccl/h100-2024"});
    EXPECT_EQ(set_of(run_of("nanotron", kAmpere, "our job")), Set{"stack.communication=nccl/a100-2021"});
    EXPECT_EQ(set_of(run_of("nanotron", kHopper, "Ultra-Scale Playbook, table 3")), Set{});
}

TEST(FrameworkReleases, notes_say_stack_release_and_why) {
    EXPECT_EQ(why(run_of("NeMo", kHopper, "page, 25.11 NeMo container")),
              "stack megatron-core, release eager-2025: NeMo 25.11 (source)");
    EXPECT_EQ(why(run_of("NeMo 2.0 (24.12)", kHopper)),
              "stack megatron-core, release mcore-2024: NeMo 24.12 (framework)");
    EXPECT_EQ(why(run_of("NeMo 25.04", "B200")), "stack megatron-core, release eager-2025: NeMo 25.04 (framework)");
    EXPECT_EQ(why(run_of("NeMo", kHopper)),
              "stack megatron-core, release graphs-2026: no version of NeMo found, the default");
    EXPECT_EQ(why(run_of("DGXC v3.1", kHopper)),
              "stack megatron-core, release eager-2025: DGXC v3.1 (framework) is none that is told apart, the default");
    EXPECT_EQ(why(run_of("nanotron 0.4", kHopper)), "stack nanotron: versions of nanotron are not told apart");
    PublishedRun compiled = run_of("TorchTitan", kHopper);
    compiled.plan.is_compiled = true;
    EXPECT_NE(why(compiled).find("torchtitan-2024-compiled"), std::string::npos);
}

TEST(FrameworkReleases, fsdp_of_2024_is_no_release_of_2023) {
    EXPECT_EQ(taken(run_of("PyTorch FSDP", kHopper)), "pytorch-fsdp llm-foundry-2023");
    EXPECT_EQ(taken(run_of("FSDP2, PyTorch 2.6", kHopper)), "pytorch-fsdp torchtitan-2024");
    EXPECT_EQ(taken(run_of("FSDPv2", kHopper)), "pytorch-fsdp torchtitan-2024");
    EXPECT_EQ(taken(run_of("Composer + PyTorch FSDP", kAmpere)), "pytorch-fsdp llm-foundry-2023");
    PublishedRun compiled = run_of("PyTorch FSDP", kHopper);
    compiled.plan.is_compiled = true;
    EXPECT_NE(why(compiled).find("torchtitan-2024-compiled"), std::string::npos);
}

TEST(FrameworkReleases, a_compiler_that_no_release_has_is_noted) {
    const auto notes_left_out = [](const std::string& framework) {
        PublishedRun run = run_of(framework, kHopper);
        run.plan.is_compiled = true;
        const std::vector<std::string> notes = framework_of(shipped(), run)->notes;
        return std::ranges::count_if(notes, [](const std::string& n) { return n.starts_with("compile is left out"); });
    };
    EXPECT_EQ(notes_left_out("TorchTitan"), 0);
    EXPECT_EQ(notes_left_out("PyTorch FSDP"), 0);
    EXPECT_EQ(notes_left_out("Megatron-Core 0.11"), 1);
}

}  // namespace
}  // namespace auspex::evaluate
