/// @file Numbers of layers, and numbers that are none.
#include "compare/evaluate/words/layer_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

/// "count of": 1 of 2, 50 of 100, 20 of 80; of 0: of each stage. Empty: nothing is said.
std::string said(const char* text) {
    const auto layers = layers_said(words_in(text));
    return layers ? std::to_string(layers->count) + " " + std::to_string(layers->of) : "";
}

TEST(LayerWords, every_nth_and_shares_and_numbers) {
    const std::vector<std::pair<const char*, const char*>> expected{{"every 2nd layer", "1 2"},
                                                                    {"each fourth layer", "1 4"},
                                                                    {"every other transformer block", "1 2"},
                                                                    {"every two layers", "1 2"},
                                                                    {"selective, every 4 layers", "1 4"},
                                                                    {"alternate layers", "1 2"},
                                                                    {"selective 2", "1 2"},
                                                                    {"selective 1", "1 1"},
                                                                    {"selective 50 percent", "50 100"},
                                                                    {"25 percent layers", "25 100"},
                                                                    {"20 80 layers", "20 80"},
                                                                    {"20 layers", "20 0"},
                                                                    {"first 08 layers", "8 0"},
                                                                    {"full, 20 layers", "20 0"}};
    for (const auto& [text, layers] : expected) {
        EXPECT_EQ(said(text), layers) << text;
    }
}

TEST(LayerWords, other_numbers_are_no_layers) {
    for (const char* const text : {"layers 1-8",
                                   "1 of every 4 layers",
                                   "20 layers full",
                                   "4 layers of 32",
                                   "every layer of the first 4",
                                   "4 layers each",
                                   "layer 5",
                                   "first and second layers",
                                   "12.5 percent layers",
                                   "selective 150 percent",
                                   "selective 0 percent",
                                   "20 of 32 layers (63 percent)",
                                   "40 20 layers",
                                   "0 layers",
                                   "50 percent",
                                   "full, 1 layer",
                                   "every 99999999999 layers",
                                   "selective, 2 layers",
                                   "every layer",
                                   ""}) {
        EXPECT_EQ(said(text), "") << text;
    }
}

}  // namespace
}  // namespace auspex::evaluate
