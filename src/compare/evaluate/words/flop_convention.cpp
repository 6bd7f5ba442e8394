/// @file Coefficients and words of a convention.
#include "compare/evaluate/words/flop_convention.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>

#include "base/input_text.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr int kSix = 6, kEight = 8;  ///< FLOP of a parameter and token, without and with recomputation

/// In small letters, without signs of multiplication and the blanks about them: "6 * N" and "6·N" are 6n.
std::string without_signs(std::string_view text) {
    std::string out;
    const std::string small = lower_case(text);
    for (std::size_t i = 0; i < small.size();) {
        constexpr std::array<std::string_view, 3> kSigns{"*", "\u00b7", "\u00d7"};
        const auto sign = std::ranges::find_if(
            kSigns, [&](std::string_view s) { return std::string_view(small).substr(i).starts_with(s); });
        if (sign == kSigns.end()) {
            out += small[i++];
            continue;
        }
        out.erase(out.find_last_not_of(' ') + 1);
        i = std::min(small.find_first_not_of(' ', i + sign->size()), small.size());
    }
    return out;
}

bool is_letter_of(std::string_view text, std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
}

/// A whole number in front of the symbol, behind which no word goes on: of "6n + 12ld", n: 6, l: 12. "nd" and "n_a" are
/// n; "6 nodes" and "12 layers" have no coefficient. Nothing where there is none.
std::optional<int> coefficient_of(std::string_view text, char symbol) {
    constexpr std::string_view kDigits = "0123456789";
    for (std::size_t at = text.find_first_of(kDigits); at != text.npos; at = text.find_first_of(kDigits, at)) {
        const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
        const std::size_t next = std::min(text.find_first_not_of(" (", end), text.size());
        const bool is_part = at > 0 && (text[at - 1] == '.' || is_letter_of(text, at - 1));
        const std::string_view rest = text.substr(next);
        const bool is_word = rest.starts_with("node") || rest.starts_with("layer") || rest.starts_with("nvidia");
        if (!is_part && rest.starts_with(symbol) && !is_word) {
            return number_in(text.substr(at, end - at));
        }
        at = end;
    }
    return std::nullopt;
}

/// Of attention's scores, where no term of the text has them.
double scores_in_words(std::string_view text, bool is_of_parameters) {
    const auto says_any = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](std::string_view word) { return says(text, word); });
    };
    const bool has_attention = says_any({"attention", "attn"});
    const bool is_left_out = has_attention ? says_any({"attention excluded", "attention ignored", "ignoring attention",
                                                       "excluding attention", "excl. attention"})
                                           : is_of_parameters || said_of(text, "attention") == Said::kDenied;
    constexpr double kHalf = 0.5;
    return is_left_out ? 0 : says_any({"causal", "half"}) ? kHalf : 1;
}

/// Whether recomputation counts; nothing where the words do not tell.
std::optional<bool> counts_recomputation(std::string_view text, std::string_view kind, std::optional<int> parameters) {
    const bool is_hardware = says(text, "hardware flop") || says(text, "hfu") || has(text, "factor 4");
    const bool is_model = says(text, "model flop") || says(text, "mfu") || has(text, "megatron formula") ||
                          says(text, "active-parameter") || says(text, "active parameter");
    if (parameters != kSix && parameters != kEight && !is_hardware && !is_model) {
        return std::nullopt;
    }
    if (says(kind, "hardware") || says(kind, "model")) {
        return says(kind, "hardware");
    }
    if (parameters == kSix || parameters == kEight) {
        return parameters == kEight;
    }
    return is_hardware == is_model ? std::nullopt : std::optional(is_hardware);
}

}  // namespace

std::optional<FlopConvention> flop_convention_of(std::string_view how, std::string_view kind, bool is_recomputed) {
    constexpr double kForwardAndBackward = 3, kAgain = 4;
    constexpr int kNarayananOnce = 72, kNarayananAgain = 96;
    if (is_unstated(how)) {
        return std::nullopt;
    }
    const std::string text = without_signs(how);
    for (const char symbol : {'b', 'l'}) {
        if (const auto whole = coefficient_of(text, symbol); whole == kNarayananOnce || whole == kNarayananAgain) {
            const double passes = whole == kNarayananAgain ? kAgain : kForwardAndBackward;
            return FlopConvention{.passes = passes, .head_passes = kForwardAndBackward};
        }
    }
    const std::optional<int> parameters = coefficient_of(text, 'n'), layers = coefficient_of(text, 'l');
    const std::optional<bool> counted = counts_recomputation(text, kind, parameters);
    if (!counted) {
        return std::nullopt;
    }
    const bool is_again = *counted && (parameters == kEight || is_recomputed);
    const double passes = is_again ? kAgain : kForwardAndBackward;
    const double whole = 4 * (parameters == kEight ? kAgain : kForwardAndBackward);
    const bool is_of_parameters = parameters || says(text, "active-parameter") || says(text, "active parameter");
    const bool has_term = layers && *layers <= whole;
    const double scores = scores_in_words(text, is_of_parameters && !has_term);
    return FlopConvention{
        .passes = passes, .head_passes = passes, .scores = has_term ? std::min(scores, *layers / whole) : scores};
}

}  // namespace auspex::evaluate
