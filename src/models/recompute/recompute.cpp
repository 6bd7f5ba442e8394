/// @file Words of a list, and those that exclude one another.
#include "models/recompute/recompute.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "models/flag_words.hpp"

namespace auspex::models {

Recompute read_recompute(const JsonValue& list) {
    constexpr auto& kWords = kRecomputeWords;
    Recompute found;
    std::array<std::string_view, kWords.size()> words;
    std::ranges::transform(kWords, words.begin(), &RecomputeWord::word);
    for (const JsonValue& element : elements_of(list, words)) {
        const std::size_t word = element.as_one_of(words);
        bool& flag = found.*kWords[word].part;
        if (flag) {
            element.fail("each word once");
        }
        flag = true;
    }
    if (found.alternate_products) {
        if (found.attention || found.expert) {
            list.fail("\"alternate_products\", or \"attention\" and \"expert\", of which it is a part");
        }
        found.norm = found.activation = true;
    }
    if (found.layer && found != Recompute{.layer = true}) {
        list.fail("\"layer\" alone: it is all of a layer");
    }
    if (found.attention && (found.core_attention || found.latent_up)) {
        list.fail("\"attention\" or parts of it, \"core_attention\" and \"latent_up\"");
    }
    if (found.expert && (found.activation || found.shared_experts)) {
        list.fail("\"expert\" or parts of it, \"activation\" and \"shared_experts\"");
    }
    return found;
}

}  // namespace auspex::models
