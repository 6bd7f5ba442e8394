/// @file Constants with provenance.
#include "base/constant.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex {
namespace {

Constant read(const std::string& text) {
    const auto document = JsonDocument::parse("{\"nic\": {\"bw\": " + text + "}}", "f.json");
    std::vector<Constant> constants;
    const double value =
        read_constant(document.root().at("nic"), "bw", Dimension::kBytesPerSecond, 1, 1e15, "machine", constants);
    EXPECT_EQ(constants.size(), 1U);
    EXPECT_EQ(value, constants.at(0).value);
    return constants.at(0);
}

TEST(Constant, a_sourced_constant_keeps_source_and_kind) {
    const Constant constant = read(R"({"value": "25 GB/s", "source": "data sheet", "kind": "specified"})");
    EXPECT_EQ(constant.path, "machine.nic.bw");
    EXPECT_EQ(constant.value, 25e9);
    EXPECT_EQ(constant.source, "data sheet");
    EXPECT_EQ(constant.kind, ConstantKind::kSpecified);
    EXPECT_EQ(constant.relative_uncertainty, 0.02);
}

TEST(Constant, a_bare_value_is_assumed_and_uncertain_by_30_percent) {
    const Constant constant = read("\"25 GB/s\"");
    EXPECT_EQ(constant.kind, ConstantKind::kAssumed);
    EXPECT_EQ(constant.relative_uncertainty, 0.3);
    EXPECT_EQ(constant.source, "");
}

TEST(Constant, every_kind_has_its_uncertainty_unless_the_file_gives_one) {
    const auto uncertainty = [](const std::string& kind) {
        return read(R"({"value": "1 GB/s", "source": "s", "kind": ")" + kind + "\"}").relative_uncertainty;
    };
    EXPECT_EQ(uncertainty("measured"), 0.03);
    EXPECT_EQ(uncertainty("specified"), 0.02);
    EXPECT_EQ(uncertainty("derived"), 0.05);
    EXPECT_EQ(uncertainty("fitted"), 0.10);
    EXPECT_EQ(uncertainty("assumed"), 0.30);
    EXPECT_EQ(read(R"({"value": "1 GB/s", "source": "s", "kind": "fitted", "uncertainty": 0.4})").relative_uncertainty,
              0.4);
}

TEST(Constant, incomplete_or_strange_constants_are_refused) {
    for (const char* text :
         {R"({"value": "25 GB/s", "kind": "measured"})", R"({"value": "25 GB/s", "source": "", "kind": "measured"})",
          R"({"value": "25 GB/s", "source": "s"})", R"({"value": "25 GB/s", "source": "s", "kind": "guessed"})",
          R"({"source": "s", "kind": "measured"})",
          R"({"value": "25 GB/s", "source": "s", "kind": "measured", "unit": "GB/s"})",
          R"({"value": "25 GB/s", "source": "s", "kind": "measured", "uncertainty": -1})", "25", "[]", "null",
          "\"0 B/s\""}) {
        EXPECT_THROW(static_cast<void>(read(text)), InputError) << text;
    }
}

}  // namespace
}  // namespace auspex
