/// @file The shipped table: which machine a GPU is, by its name and memory, and what is said of others.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published_cases.hpp"

namespace auspex::evaluate {
namespace {

PublishedRun run_on(const std::string& gpu, const std::string& system = "") {
    PublishedRun run;
    run.id = "case", run.framework = "NeMo", run.gpu = gpu, run.system = system;
    return run;
}

std::string refusal_of(const std::string& gpu) {
    EXPECT_FALSE(hardware_of(shipped(), run_on(gpu))) << gpu;
    try {
        refuse_hardware(shipped(), run_on(gpu));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(HardwareNames, a_gpu_is_known_by_its_name_and_memory) {
    const std::vector<std::array<std::string, 2>> expected{
        {"A100 (40GB)", "dgx-a100-40"},
        {"A100-SXM4-40GB, 8x400Gb/s", "dgx-a100-40"},
        {"A100 80", "dgx-a100"},
        {"A100 SXM 80 GiB", "dgx-a100"},
        {"A100", "dgx-a100"},
        {"HGX A100 80GB", "dgx-a100"},
        {"A800-SXM4-80GB", "dgx-a100"},
        {"A800-40GB", "dgx-a100-40"},
        {"NVIDIA H100 80GB HBM3 (SXM5), 700 W", "dgx-h100"},
        {"8x H100 SXM5", "dgx-h100"},
        {"8xH100-SXM5-80GB", "dgx-h100"},
        {"Tesla A100 80GB", "dgx-a100"},
        {"H100 96GB HBM2e 2.4TB/s, 500W limit (Grand Teton)", "dgx-h100"},
        {"NVIDIA H20 96GB", "dgx-h100"},
        {"H20 141GB", "dgx-h100"},
        {"H200-SXM-141GB", "dgx-h200"},
        {"GH200 120GB", "gh200"},
        {"NVIDIA GH200 480GB", "gh200"},
        {"GH200 96 GB", "gh200"},
        {"B200 192 GB HBM3e", "dgx-b200"},
        {"GB200 NVL72 (186 GB)", "gb200-nvl72"},
        {"B300 288GB", "dgx-b300"},
        {"MI250", "frontier"},
        {"MI250X GCD (half a MI250X, 64 GB HBM)", "frontier"},
        {"MI300X 192GB", "mi300x"},
    };
    for (const auto& [gpu, machine] : expected) {
        const auto found = hardware_of(shipped(), run_on(gpu));
        EXPECT_EQ(found ? found->machine : "", machine) << gpu;
    }
    EXPECT_EQ(hardware_of(shipped(), run_on("A100 40GB", "Polaris"))->machine, "polaris");
    EXPECT_EQ(hardware_of(shipped(), run_on("A100", "Perlmutter"))->set.size(), 0U);
    EXPECT_EQ(hardware_of(shipped(), run_on("A100 80GB", "Perlmutter"))->set.size(), 2U);
}

/// An H20 with the memory of an H200.
TEST(HardwareNames, parts_that_are_nearly_another_are_that_with_changes_and_a_note) {
    const auto set_of = [](const std::string& gpu) {
        const RunNames::Hardware hardware = *hardware_of(shipped(), run_on(gpu));
        std::string all;
        for (const std::string& one : hardware.set) {
            all += one + ";";
        }
        return all;
    };
    EXPECT_NE(set_of("H20 141GB").find("machine.tile.hbm_bandwidth=4.8 TB/s;"), std::string::npos);
    EXPECT_NE(set_of("H20 141GB").find("machine.tile.gemm_bf16=133 TF/s;"), std::string::npos);
    EXPECT_NE(set_of("H20").find("machine.tile.hbm_bandwidth=4 TB/s;"), std::string::npos);
    EXPECT_EQ(set_of("A800-40GB"), "machine.node.switch_bandwidth=160 GB/s;");
    EXPECT_EQ(set_of("A800"), "machine.node.switch_bandwidth=160 GB/s;");
    for (const char* const gpu : {"MI250", "A800-SXM4-80GB", "A800-40GB", "H20", "H20 141GB", "GH200 480GB"}) {
        EXPECT_NE(hardware_of(shipped(), run_on(gpu))->note, "") << gpu;
    }
    EXPECT_EQ(hardware_of(shipped(), run_on("AMD Instinct MI250X GCD"))->note, "");
    EXPECT_NE(hardware_of(shipped(), run_on("A100"))->note_unstated, "");
    EXPECT_EQ(hardware_of(shipped(), run_on("A100 80GB"))->note_unstated, "");
}

/// Of a system that has other GPUs; one that nobody here knows is taken by the GPU.
TEST(HardwareNames, a_system_has_its_own_gpus) {
    EXPECT_FALSE(hardware_of(shipped(), run_on("A100 80GB", "Frontier")));
    EXPECT_EQ(hardware_of(shipped(), run_on("A100 80GB", "El Capitan"))->machine, "dgx-a100");
    // In any case, with words around it.
    EXPECT_EQ(hardware_of(shipped(), run_on("MI250X GCD", "lumi"))->machine, "lumi");
    EXPECT_EQ(hardware_of(shipped(), run_on("MI250X GCD", "LUMI-G"))->machine, "lumi");
    EXPECT_EQ(hardware_of(shipped(), run_on("A100-SXM4-40GB", "ALCF Polaris"))->machine, "polaris");
    EXPECT_EQ(hardware_of(shipped(), run_on("Intel Data Center GPU Max 1550", "SUNSPOT"))->machine, "sunspot");
    try {
        refuse_hardware(shipped(), run_on("A100 80GB", "Frontier"));
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("on machine \"Frontier\"; expected \"MI250X\""), std::string::npos);
    }
}

TEST(HardwareNames, parts_that_are_not_known_are_refused_with_the_reason) {
    for (const char* const card : {"A100 PCIe 80GB", "A100-80GB-PCIe", "NVIDIA H100 PCIe", "H100 NVL",
                                   "NVIDIA H100 80GB HBM3 PCIe", "A100 (PCIe, 80 GB)", "H100PCIe", "H200 NVL 141GB"}) {
        EXPECT_NE(refusal_of(card).find("a PCIe part"), std::string::npos) << card;
    }
    EXPECT_NE(refusal_of("H100 64GB").find("MareNostrum 5"), std::string::npos);
    EXPECT_NE(refusal_of("A100-SXM-64GB (Leonardo)").find("Leonardo"), std::string::npos);
    EXPECT_NE(refusal_of("H100 96GB").find("with 96 GB"), std::string::npos);
    EXPECT_NE(refusal_of("H100 96GB").find("79 to 81 GB, or \"H100 96GB HBM2e\""), std::string::npos);
    EXPECT_NE(refusal_of("GH200 144GB").find("with 144 GB"), std::string::npos);
    EXPECT_NE(refusal_of("H1000").find("\"MI300X\""), std::string::npos);
}

}  // namespace
}  // namespace auspex::evaluate
