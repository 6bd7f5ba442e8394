/// @file Encoding, decoding, and tokenizer.json.
#include "exec/data/tokenizer.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "exec/data/words.hpp"

namespace auspex::exec {
namespace {

constexpr std::size_t kMaxKnownWords = 1 << 18;
constexpr std::int64_t kMostTokens = 10'000'000;

/// True for what may stand in merge number `index`.
bool may_merge(std::int32_t token, std::size_t index) {
    return token >= 0 && token != Tokenizer::kEndOfDocument &&
           token < Tokenizer::kFirstMerged + static_cast<std::int32_t>(index);
}

std::int32_t read_part(const JsonValue& value, std::size_t index) {
    const auto token = static_cast<std::int32_t>(value.as_integer(0, kMostTokens));
    if (!may_merge(token, index)) {
        value.fail("a byte (0 to 255) or the token of an earlier merge (257 to " +
                   std::to_string(Tokenizer::kFirstMerged + static_cast<std::int32_t>(index) - 1) + ")");
    }
    return token;
}

std::vector<Merge> read_merges(const JsonValue& list) {
    std::vector<Merge> merges;
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::size_t> lengths(Tokenizer::kFirstMerged, 1);
    for (const JsonValue& element : list.elements()) {
        const std::vector<JsonValue> parts = element.elements();
        if (parts.size() != 2) {
            element.fail("two tokens");
        }
        const Merge pair{read_part(parts[0], merges.size()), read_part(parts[1], merges.size())};
        if (!seen.insert(key_of(pair)).second) {
            element.fail("each pair once");
        }
        lengths.push_back(lengths[static_cast<std::size_t>(pair.left)] + lengths[static_cast<std::size_t>(pair.right)]);
        if (lengths.back() > kLongestWord) {
            element.fail("a token of at most " + std::to_string(kLongestWord) + " bytes, the longest word");
        }
        merges.push_back(pair);
    }
    return merges;
}

}  // namespace

void apply_merge(Merge pair, std::int32_t result, std::vector<std::int32_t>& tokens) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool is_pair = i + 1 < tokens.size() && tokens[i] == pair.left && tokens[i + 1] == pair.right;
        tokens[kept++] = is_pair ? result : tokens[i];
        i += is_pair ? 1 : 0;
    }
    tokens.resize(kept);
}

Tokenizer::Tokenizer(std::vector<Merge> merges) : merges_(std::move(merges)) {
    for (int byte = 0; byte < kEndOfDocument; ++byte) {
        texts_.emplace_back(1, static_cast<char>(byte));
    }
    texts_.emplace_back();
    for (std::size_t i = 0; i < merges_.size(); ++i) {
        const Merge pair = merges_[i];
        AUSPEX_CHECK(may_merge(pair.left, i) && may_merge(pair.right, i), "a merge joins what was there before it");
        const bool is_new = merged_.emplace(key_of(pair), static_cast<std::int32_t>(texts_.size())).second;
        AUSPEX_CHECK(is_new, "a pair merges once");
        texts_.push_back(texts_[static_cast<std::size_t>(pair.left)] + texts_[static_cast<std::size_t>(pair.right)]);
    }
}

Tokenizer Tokenizer::load(const std::string& file) {
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    root.allow_only({"auspex_tokenizer", "vocabulary", "end_of_document", "merges"});
    static_cast<void>(root.at("auspex_tokenizer").as_integer(1, 1));
    static_cast<void>(root.at("end_of_document").as_integer(kEndOfDocument, kEndOfDocument));
    Tokenizer tokenizer(read_merges(root.at("merges")));
    if (root.at("vocabulary").as_integer(0, std::numeric_limits<int>::max()) != tokenizer.vocabulary()) {
        root.at("vocabulary").fail(std::to_string(tokenizer.vocabulary()) + ", which is 257 and one a merge");
    }
    return tokenizer;
}

void Tokenizer::save(const std::string& file) const {
    std::string text = "{\n  \"auspex_tokenizer\": 1,\n  \"vocabulary\": " + std::to_string(vocabulary()) +
                       ",\n  \"end_of_document\": " + std::to_string(kEndOfDocument) + ",\n  \"merges\": [";
    for (std::size_t i = 0; i < merges_.size(); ++i) {
        text += std::string(i == 0 ? "\n    [" : ",\n    [") + std::to_string(merges_[i].left) + ", " +
                std::to_string(merges_[i].right) + "]";
    }
    write_file(file, text + "]\n}\n");
}

std::vector<std::int32_t> Tokenizer::encode_word(std::string_view word) const {
    std::vector<std::int32_t> tokens;
    for (const char c : word) {
        tokens.push_back(static_cast<unsigned char>(c));
    }
    while (tokens.size() > 1) {
        // Tokens count merges, so the earliest merge is the smallest result.
        std::int32_t best = std::numeric_limits<std::int32_t>::max();
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const auto found = merged_.find(key_of({tokens[i], tokens[i + 1]}));
            best = found == merged_.end() ? best : std::min(best, found->second);
        }
        if (best == std::numeric_limits<std::int32_t>::max()) {
            break;
        }
        apply_merge(merges_[static_cast<std::size_t>(best - kFirstMerged)], best, tokens);
    }
    return tokens;
}

void Tokenizer::encode(std::string_view text, std::vector<std::int32_t>& tokens) {
    while (!text.empty()) {
        const std::string_view word = text.substr(0, first_word_length(text));
        text.remove_prefix(word.size());
        auto known = known_words_.find(std::string(word));
        if (known == known_words_.end()) {
            if (known_words_.size() >= kMaxKnownWords) {
                known_words_.clear();
            }
            known = known_words_.emplace(word, encode_word(word)).first;
        }
        tokens.insert(tokens.end(), known->second.begin(), known->second.end());
    }
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) {
        AUSPEX_CHECK(token >= 0 && token < vocabulary(), "tokens to decode are of the vocabulary");
        text += texts_[static_cast<std::size_t>(token)];
    }
    return text;
}

}  // namespace auspex::exec
