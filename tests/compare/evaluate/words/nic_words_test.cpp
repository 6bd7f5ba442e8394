/// @file NICs as people write them.
#include "compare/evaluate/words/nic_words.hpp"

#include <gtest/gtest.h>

#include <string>

namespace auspex::evaluate {
namespace {

/// "count x rate", or "total".
std::string read(const std::string& text) {
    const NicWords words = nics_in(text, 8);
    const auto number = [](double v) { return std::to_string(static_cast<int>(v)); };
    return words.total_gbit_s > 0 ? number(words.total_gbit_s) : number(words.count) + "x" + number(words.gbit_s);
}

TEST(NicWords, counts_and_rates_are_read) {
    for (const char* const text : {"8x200Gb/s InfiniBand HDR (Selene DGX A100)",
                                   "8 x 200 Gb/s",
                                   "8\u00d7200 Gbps",
                                   "8x HDR",
                                   "8x HDR InfiniBand",
                                   "8 HDR NICs",
                                   "8x ConnectX-6 (200 Gbps)",
                                   "8 ConnectX-6 (200 Gbps)",
                                   "8x200G",
                                   "8x200",
                                   "8x25 GB/s",
                                   "8x 25 GByte/s",
                                   "1600 Gb/s node-node RoCE (8x200Gb/s)",
                                   "200 Gb/s per GPU",
                                   "HDR per GPU",
                                   "8 x Slingshot-11",
                                   "8x200Gb/s Slingshot-11 (Cassini) per node",
                                   "8x NDR200",
                                   "8 NICs of 200 Gb/s",
                                   "PCIe 4.0 x16, 8x200Gb/s",
                                   "total 1.6 Tb/s per node, 200 Gb/s per GPU",
                                   "1600 Gb/s node (200 Gb/s per GPU)",
                                   "8 GPUs, 8 NICs 200Gb/s",
                                   "448 nodes, 200 Gb/s per GPU",
                                   "2-level fat tree, 200 Gb/s per GPU"}) {
        EXPECT_EQ(read(text), "8x200") << text;
    }
    EXPECT_EQ(read("4x100Gb/s Omni-Path per node"), "4x100");
    EXPECT_EQ(read("4x Omni-Path"), "4x100");
    EXPECT_EQ(read("4x EFA 100 Gbps"), "4x100");
    EXPECT_EQ(read("p4d.24xlarge, 4x100 Gbps EFA"), "4x100");
    EXPECT_EQ(read("32x100 Gb/s EFA"), "32x100");
    EXPECT_EQ(read("8x400Gb/s (ConnectX-7) InfiniBand"), "8x400");
    EXPECT_EQ(read("400Gb/s RDMA per GPU"), "8x400");
    EXPECT_EQ(read("8 GPUs, 4 NICs 200Gb/s"), "4x200");
    EXPECT_EQ(read("2x200 Gb/s per GPU"), "16x200");
    EXPECT_EQ(read("1 NIC per GPU, 400 Gb/s"), "8x400");
    EXPECT_EQ(read("8x"), "0x0");
}

TEST(NicWords, a_rate_of_a_node_is_its_total) {
    EXPECT_EQ(read("800 Gb/s node bandwidth"), "800");
    EXPECT_EQ(read("3.2 Tb/s"), "3200");
    EXPECT_EQ(read("1.6Tbps in total"), "1600");
    EXPECT_EQ(read("3,200 Gb/s per node"), "3200");
    EXPECT_EQ(read("AWS EFA 3,200 Gbps per instance"), "3200");
    EXPECT_EQ(read("p5.48xlarge, 3200 Gbps per node"), "3200");
}

TEST(NicWords, what_does_not_tell_is_passed_over) {
    for (const char* const text :
         {"", "InfiniBand", "400 Gb/s InfiniBand", "ConnectX-7", "Slingshot-11", "n/a", "p5.48xlarge, EFA", "100GbE",
          "3200 Gbps EFA (p5.48xlarge)", "InfiniBand 200 (8 HCAs", "1e-30 Tb/s"}) {
        EXPECT_FALSE(nics_in(text, 8).gbit_s > 0) << text;
    }
    for (const char* const unclear :
         {"8x300 Gb/s", "8x50000 Gb/s", "1000000x400", "3000000000x400Gb/s", "99999999999999999999x400Gb/s",
          "800 Gb/s bidirectional per GPU", "8x100 GB/s bidirectional", "8x1e300Tb/s"}) {
        EXPECT_EQ(read(unclear), "0x0") << unclear;
    }
    EXPECT_TRUE(nics_in("8x100 GB/s bidirectional", 8).is_unclear);
    EXPECT_EQ(read(std::string(100000, 'x')), "0x0");
    EXPECT_EQ(read(std::string(100000, '8')), "0x0");
}

}  // namespace
}  // namespace auspex::evaluate
