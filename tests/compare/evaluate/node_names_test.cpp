/// @file Nodes of cases on the machines of the shipped table.
#include "compare/evaluate/names/node_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published_cases.hpp"
#include "models/machine.hpp"

namespace auspex::evaluate {
namespace {

PublishedRun run_on(const std::string& gpu, int gpus_per_node, const std::string& nics, int domain = 0) {
    PublishedRun run;
    run.id = "case", run.gpu = gpu, run.nics = nics;
    run.gpus_per_node = gpus_per_node, run.scale_up_gpus = domain > 0 ? domain : gpus_per_node;
    return run;
}

NodeOfCase node_of(const PublishedRun& run) { return node_of_case(run, *hardware_of(shipped(), run)); }

/// The note up to what the machine has.
std::string node(const std::string& gpu, int gpus_per_node, const std::string& nics, int domain = 0) {
    const std::string note = node_of(run_on(gpu, gpus_per_node, nics, domain)).note;
    return note.substr(0, note.find(", in place of"));
}

TEST(NodeNames, a_node_is_the_cases) {
    EXPECT_EQ(node("A100 80GB", 8, "8x200Gb/s"), "");
    EXPECT_EQ(node("A100 80GB", 8, ""), "");
    EXPECT_EQ(node("A100 80GB", 8, "4x200Gb/s HDR"), "nodes of 8 GPUs and 4 NICs of 200 Gb/s");
    EXPECT_EQ(node("A100 80GB", 8, "800 Gb/s node bandwidth"), "nodes of 8 GPUs and 4 NICs of 200 Gb/s");
    EXPECT_EQ(node("A100 80GB", 8, "4x100Gb/s Omni-Path"), "nodes of 8 GPUs and 4 NICs of 100 Gb/s");
    EXPECT_EQ(node("A100 40GB", 4, "4x HDR"), "nodes of 4 GPUs and 4 NICs of 200 Gb/s");
    EXPECT_EQ(node("A100 40GB", 4, ""), "nodes of 4 GPUs and 4 NICs of 200 Gb/s");
    EXPECT_EQ(node("H100 80GB", 8, "32x100 Gb/s EFA"), "");
    EXPECT_EQ(node("H100 80GB", 8, "3.2 Tb/s"), "");
    EXPECT_EQ(node("H100 80GB", 8, "8x200Gb/s"), "nodes of 8 GPUs and 8 NICs of 200 Gb/s");
    EXPECT_EQ(node("H100 80GB", 4, "4x NDR200"), "nodes of 4 GPUs and 4 NICs of 200 Gb/s");
    EXPECT_EQ(node("B300 288GB", 8, "8x400"), "nodes of 8 GPUs and 8 NICs of 400 Gb/s");
}

TEST(NodeNames, a_rack_is_its_nvlink_domain) {
    EXPECT_EQ(node("GB200", 4, "4x400Gb/s per node", 72), "");
    EXPECT_EQ(node("GB200", 4, "4x400Gb/s per node"), "");
    EXPECT_EQ(node("GB200", 0, "4x400Gb/s per tray"), "nodes of 64 GPUs and 4 NICs of 400 Gb/s");
    EXPECT_EQ(node("GB200", 72, ""), "");
    EXPECT_EQ(node("GB200", 4, "4x400Gb/s per node", 36), "nodes of 36 GPUs and 36 NICs of 400 Gb/s");
    EXPECT_EQ(node("GB300", 4, "4x400Gb/s per node", 72), "nodes of 64 GPUs and 64 NICs of 400 Gb/s");
    EXPECT_EQ(node("GB300", 4, "4x800Gb/s per node", 72), "");
}

/// 144 GPUs are two racks of 72; 128 two of 64, and 576 are taken as nine of 64.
TEST(NodeNames, a_job_may_fill_racks) {
    const auto gpus_of = [](int gpus) {
        PublishedRun run = run_on("GB200", 4, "", 72);
        run.gpus = gpus;
        const std::string note = node_of(run).note;
        return note.substr(0, note.find(", in place of"));
    };
    EXPECT_EQ(gpus_of(144), "nodes of 72 GPUs and 72 NICs of 400 Gb/s");
    EXPECT_EQ(gpus_of(128), "");
    EXPECT_EQ(gpus_of(576), "");
}

TEST(NodeNames, what_nics_do_not_tell_is_said) {
    EXPECT_EQ(node("H100 80GB", 8, "InfiniBand NDR"),
              "nics \"InfiniBand NDR\" do not say how many: those of dgx-h100 are taken");
    EXPECT_EQ(node("H100 80GB", 8, "8x300 Gb/s"),
              "nics \"8x300 Gb/s\" are not understood: those of dgx-h100 are taken");
    EXPECT_EQ(node("H100 80GB", 8, "32x EFA"), "nics \"32x EFA\" are not understood: those of dgx-h100 are taken");
    EXPECT_EQ(node("H100 80GB", 8, "n/a"), "");
    EXPECT_THROW(static_cast<void>(node("H100 80GB", 64, "")), InputError);
}

/// Headers of packets leave 98.4 % of InfiniBand, what MI300X's NICs carry is 96 % of 400 Gb/s.
TEST(NodeNames, rates_are_those_that_nics_carry) {
    EXPECT_EQ(
        node_of(run_on("A100 80GB", 8, "8x400Gb/s")).set,
        (std::vector<std::string>{"machine.node.nic.bandwidth=49.2 GB/s", "machine.fabric.link_bandwidth=50 GB/s"}));
    EXPECT_EQ(node_of(run_on("MI300X", 8, "8x200Gb/s")).set,
              std::vector<std::string>{"machine.node.nic.bandwidth=24 GB/s"});
}

/// A machine file accepts what is changed, whatever the number of GPUs.
TEST(NodeNames, every_node_is_one_that_machines_may_have) {
    for (const RunNames::Hardware& hardware : shipped().hardware) {
        for (int gpus = 1; hardware.node && gpus <= 16; ++gpus) {
            JsonDocument machine =
                JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/" + hardware.machine + ".json");
            PublishedRun run = run_on(hardware.gpu.front(), gpus, "2x100Gb/s", hardware.node->gpus > 16 ? 4 * gpus : 0);
            for (const std::string& text : node_of_case(run, hardware).set) {
                const std::size_t equals = text.find('=');
                const std::size_t begin = std::string("machine.").size();
                machine.set(text.substr(begin, equals - begin), text.substr(equals + 1));
            }
            EXPECT_NO_THROW(static_cast<void>(models::load_machine(machine))) << hardware.machine << " " << gpus;
        }
    }
}

}  // namespace
}  // namespace auspex::evaluate
