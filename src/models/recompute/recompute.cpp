/// @file Words of a list, and those that exclude one another.
#include "models/recompute/recompute.hpp"

#include "base/json.hpp"

namespace auspex::models {

Recompute read_recompute(const JsonValue& list) {
    constexpr auto& kWords = kRecomputeWords;
    Recompute found;
    for (const JsonValue& element : list.elements()) {
        const std::size_t word =
            element.as_one_of({kWords[0].word, kWords[1].word, kWords[2].word, kWords[3].word, kWords[4].word,
                               kWords[5].word, kWords[6].word, kWords[7].word, kWords[8].word});
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
