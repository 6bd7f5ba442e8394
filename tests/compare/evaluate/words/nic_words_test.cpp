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

TEST(NicWords, counts_and_rates_are_read_in_any_order) {
    for (const char* const text : {"8x200Gb/s InfiniBand HDR (Selene DGX A100)", "8 x 200 Gb/s", "8\u00d7200 Gbps",
                                   "8x HDR", "8x HDR InfiniBand", "8 HDR NICs", "8x ConnectX-6 (200 Gbps)", "8x200G",
                                   "1600 Gb/s node-node RoCE (8x200Gb/s)", "8x25 GB/s", "8x200", "200 Gb/s per GPU",
                                   "8 x Slingshot-11", "8x200Gb/s Slingshot-11 (Cassini) per node", "8x NDR200"}) {
        EXPECT_EQ(read(text), "8x200") << text;
    }
    EXPECT_EQ(read("4x100Gb/s Omni-Path per node"), "4x100");
    EXPECT_EQ(read("4x Omni-Path"), "4x100");
    EXPECT_EQ(read("4x EFA 100 Gbps"), "4x100");
    EXPECT_EQ(read("32x100 Gb/s EFA"), "32x100");
    EXPECT_EQ(read("8x400Gb/s (ConnectX-7) InfiniBand"), "8x400");
    EXPECT_EQ(read("400Gb/s RDMA per GPU"), "8x400");
}

TEST(NicWords, a_rate_of_a_node_is_its_total) {
    EXPECT_EQ(read("800 Gb/s node bandwidth"), "800");
    EXPECT_EQ(read("3.2 Tb/s"), "3200");
    EXPECT_EQ(read("1.6Tbps in total"), "1600");
}

TEST(NicWords, what_does_not_tell_is_passed_over) {
    for (const char* const text : {"", "InfiniBand", "400 Gb/s InfiniBand", "ConnectX-7", "Slingshot-11", "n/a"}) {
        EXPECT_EQ(read(text), "0x0") << text;
    }
    EXPECT_EQ(read("8x"), "8x0");
}

}  // namespace
}  // namespace auspex::evaluate
