#pragma once
/// @file Text to tokens and back: bytes, or byte-level byte-pair encoding.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace auspex::exec {

/// Two tokens that become one.
struct Merge {
    std::int32_t left = 0, right = 0;
    bool operator==(const Merge&) const = default;
};

/// Both tokens in one number, for tables.
[[nodiscard]] inline std::uint64_t key_of(Merge pair) {
    return std::uint64_t{static_cast<std::uint32_t>(pair.left)} << 32 | static_cast<std::uint32_t>(pair.right);
}

/// Replaces every occurrence of the pair by `result`, from the left.
void apply_merge(Merge pair, std::int32_t result, std::vector<std::int32_t>& tokens);

/// Tokens 0 to 255 are bytes, 256 ends a document, 257 + i is what merge i makes. Without merges: the tokenizer
/// "bytes".
class Tokenizer {
 public:
    static constexpr std::int32_t kEndOfDocument = 256;
    static constexpr std::int32_t kFirstMerged = 257;

    /// Requires that each merge joins bytes or results of earlier merges, no pair twice.
    explicit Tokenizer(std::vector<Merge> merges = {});

    /// Reads what save() wrote. Throws InputError for anything else, naming the place.
    static Tokenizer load(const std::string& file);
    void save(const std::string& file) const;

    [[nodiscard]] int vocabulary() const { return static_cast<int>(texts_.size()); }
    [[nodiscard]] const std::vector<Merge>& merges() const { return merges_; }

    /// Appends the tokens of a text; no end of document. Words are tokenised one by one (words.hpp): of the pairs in a
    /// word the one merged earliest in training first.
    void encode(std::string_view text, std::vector<std::int32_t>& tokens);
    /// decode(encode(text)) == text for any bytes; the end of a document is no text. Requires tokens of the vocabulary.
    [[nodiscard]] std::string decode(std::span<const std::int32_t> tokens) const;

 private:
    std::vector<std::int32_t> encode_word(std::string_view word) const;

    std::vector<Merge> merges_;
    std::unordered_map<std::uint64_t, std::int32_t> merged_;  ///< by pair
    std::vector<std::string> texts_;                          ///< by token
    std::unordered_map<std::string, std::vector<std::int32_t>> known_words_;
};

}  // namespace auspex::exec
