/// @file Words that follow one another by a rule and by chance.
#include "exec/data/synthetic_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/output_file.hpp"
#include "base/rng.hpp"
#include "exec/data/prepare.hpp"

namespace auspex::exec {

std::string synthetic_text(std::size_t bytes, std::uint64_t seed) {
    constexpr std::array<std::string_view, 64> kWords{
        "the",   "river",  "carries", "small",  "stones", "from",   "a",        "mountain", "towards", "its",
        "quiet", "valley", "where",   "people", "build",  "wooden", "houses",   "and",      "watch",   "clouds",
        "over",  "fields", "of",      "wheat",  "every",  "summer", "children", "count",    "birds",   "near",
        "an",    "old",    "bridge",  "while",  "rain",   "falls",  "on",       "narrow",   "roads",   "that",
        "lead",  "to",     "towns",   "beyond", "hills",  "many",   "lights",   "shine",    "at",      "night",
        "as",    "trains", "pass",    "along",  "coast",  "with",   "letters",  "for",      "distant", "friends",
        "in",    "other",  "slow",    "places"};
    constexpr std::size_t kFollowers = 4, kMultiplier = 5;
    constexpr std::size_t kShortest = 6, kSpread = 9;
    Rng rng(seed);
    std::string text;
    std::size_t word = 0;
    while (text.size() < bytes) {
        const std::size_t length = kShortest + rng.below(kSpread);
        for (std::size_t i = 0; i < length; ++i) {
            text += (i > 0 ? " " : "") + std::string(kWords[word]);
            word = (word * kMultiplier + 1 + rng.below(kFollowers)) % kWords.size();
        }
        text += rng.below(kFollowers) == 0 ? ".\n" : ". ";
    }
    return text;
}

std::string make_synthetic_dataset(int vocabulary, int sequence_length, const std::string& folder) {
    constexpr std::size_t kBytes = 200'000;
    constexpr int kVocabulary = 512;
    const std::string text = folder + "/text.txt";
    write_file(text, synthetic_text(kBytes, 1));
    PrepareRequest request;
    request.inputs = {text};
    request.learns_merges = vocabulary > kVocabulary / 2 + 1;
    request.vocabulary = std::min(vocabulary, kVocabulary);
    request.sequence_length = sequence_length;
    request.folder = folder + "/data";
    static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
    return request.folder;
}

}  // namespace auspex::exec
