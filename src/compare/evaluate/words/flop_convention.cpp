/// @file Coefficients of terms, and clauses about attention and recomputation.
#include "compare/evaluate/words/flop_convention.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "base/input_text.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

using Words = std::vector<std::string>;

/// In small letters; signs of multiplication are blanks, abbreviations have no dots.
std::string in_plain_words(std::string_view text) {
    std::string out = lower_case(text.substr(0, kLongestText));
    const std::array<std::array<const char*, 2>, 6> replaced{{{"\\*|\u00b7|\u00d7| x ", " "},
                                                              {"\u00b2", "^2"},
                                                              {"excl\\.", "excl "},
                                                              {"incl\\.", "incl "},
                                                              {"i\\.e\\.", "ie "},
                                                              {" +", " "}}};
    for (const auto& [from, to] : replaced) {
        out = std::regex_replace(out, std::regex(from), to);
    }
    return out;
}

std::optional<int> number_by(const std::string& text, const char* pattern) {
    std::smatch found;
    return std::regex_search(text, found, std::regex(pattern)) ? number_in(found[1].str()) : std::nullopt;
}

/// 6 or 8 of "6n", "6 nd", "8 n_active", "6(n - n_embed)"; not of "8 nodes", "6n(1 + s / 6h)".
std::optional<int> parameters_coefficient(const std::string& text) {
    return number_by(text, "(?:^|[^a-z0-9.])([68]) ?(?:\\( ?)?n(?: ?[dt])?(?:_[a-z]+)?(?![a-z0-9(])");
}

/// 72 or 96 of "96 b s l h^2", "96bslh^2", "96 l h^2".
std::optional<int> narayanan_coefficient(const std::string& text) {
    return number_by(text, "(?:^|[^a-z0-9.])(72|96) ?(?:[bsl] ?){1,3}h ?\\^? ?2");
}

/// A factor of the term that grows with the sequence: a name, or letters of several.
struct Factor {
    bool is_known = false, has_layers = false, has_tokens = false;
};
Factor factor_of(const std::string& word) {
    if (is_one_of(word, {"layers", "n_layers", "n_layer", "num_layers", "nlayers"})) {
        return {.is_known = true, .has_layers = true};
    }
    if (is_one_of(word, {"seq", "seq_len", "seqlen", "sequence", "n_ctx", "context"})) {
        return {.is_known = true, .has_tokens = true};
    }
    const bool is_width =
        is_one_of(word, {"hidden", "d_model", "heads", "n_heads", "num_heads", "head_dim", "hd", "dim"});
    const bool is_letters = !word.empty() && word.find_first_not_of("lhdqtsb") == word.npos;
    return {.is_known = is_width || is_letters,
            .has_layers = is_letters && word.find('l') != word.npos,
            .has_tokens = is_letters && word.find_first_of("sqt") != word.npos};
}

/// The coefficient of a term with layers and tokens: 12 of "12lhqt", "12 s h l", "12 n_layers d_model seq_len".
std::optional<int> scores_coefficient(const std::string& text) {
    const std::regex term("(?:^|[^a-z0-9.^])(\\d+) ?([a-z_][a-z_ ]*)");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), term); at != std::sregex_iterator(); ++at) {
        Words factors = words_in((*at)[2].str());
        factors.erase(std::ranges::find(factors, "per"), factors.end());
        bool is_term = true, has_layers = false, has_tokens = false;
        for (const std::string& word : factors) {
            const Factor factor = factor_of(word);
            is_term = is_term && factor.is_known;
            has_layers = has_layers || factor.has_layers;
            has_tokens = has_tokens || factor.has_tokens;
        }
        if (is_term && has_layers && has_tokens) {
            return number_in((*at)[1].str());
        }
    }
    return std::nullopt;
}

bool is_of_active_parameters(const std::string& text) {
    return has(text, "active-parameter") || has(text, "active parameter");
}

/// What lies between signs of punctuation.
std::vector<Words> clauses_of(const std::string& text) {
    std::vector<Words> clauses;
    const std::regex signs("[^,;:.()]+");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), signs); at != std::sregex_iterator(); ++at) {
        clauses.push_back(words_in(at->str()));
    }
    return clauses;
}

bool has_any(const Words& clause, const std::vector<std::string_view>& words) {
    return std::ranges::any_of(clause, [&](const std::string& word) { return is_one_of(word, words); });
}

bool leaves_out(const Words& clause) {
    return has_any(clause, {"no",        "not",       "without",    "excl",     "exclude",  "excludes", "excluded",
                            "excluding", "ignore",    "ignores",    "ignored",  "ignoring", "omits",    "omitted",
                            "omitting",  "neglected", "neglecting", "neglects", "w",        "left",     "unexploited"});
}

/// The word behind words[at]; empty: none.
std::string word_behind(const Words& words, std::size_t at) { return at + 1 < words.size() ? words[at + 1] : ""; }

/// Whether the clause speaks of attention's FLOP: not of flash attention, its projections or what is made again.
bool is_of_attention(const Words& clause) {
    for (std::size_t i = 0; i < clause.size(); ++i) {
        const bool is_kind = i > 0 && is_one_of(clause[i - 1], {"flash", "query", "latent", "linear", "sliding"});
        const bool is_part =
            is_one_of(word_behind(clause, i), {"projection", "projections", "parameters", "weights", "recompute",
                                               "recomputation", "kernel", "kernels", "heads"});
        if (is_one_of(clause[i], {"attention", "attn"}) && !is_kind && !is_part) {
            return true;
        }
    }
    return false;
}

/// "causal attention", "counted causal", "(half)", "half of"; not "causal language model", "half precision".
bool is_half(const Words& clause) {
    for (std::size_t i = 0; i < clause.size() && !leaves_out(clause) && !has_any(clause, {"non"}); ++i) {
        const std::string next = word_behind(clause, i);
        if ((clause[i] == "causal" &&
             !is_one_of(next, {"lm", "language", "model", "models", "decoder", "transformer"})) ||
            (clause[i] == "half" && (is_one_of(next, {"of", "the"}) || clause.size() == 1 || is_of_attention(clause)) &&
             next != "precision")) {
            return true;
        }
    }
    return false;
}

/// Share of the scores where no term tells; of parameters nothing, unless attention is named.
double scores_in_words(const std::vector<Words>& clauses, bool is_of_parameters) {
    bool is_counted = false, is_left_out = false;
    for (const Words& clause : clauses) {
        if (is_of_attention(clause)) {
            (leaves_out(clause) ? is_left_out : is_counted) = true;
        }
    }
    return is_counted ? 1 : is_left_out || is_of_parameters ? 0 : 1;
}

bool counts_what_is_made_again(const Words& clause) {
    return has_any(clause, {"recompute", "recomputation", "rematerialisation", "rematerialization", "checkpointing",
                            "checkpoint"}) &&
           has_any(clause, {"incl", "including", "includes", "included", "counted", "counting", "with", "plus"}) &&
           !leaves_out(clause);
}

/// Whether what is made again counts; nothing where the words do not tell.
std::optional<bool> counts_hardware(const std::string& text, const std::string& kind, std::optional<int> parameters,
                                    const std::vector<Words>& clauses) {
    const bool is_formula = std::regex_search(text, std::regex("megatron(?:-lm)? formula"));
    const bool is_hardware = says(text, "hardware flop") || says(text, "hfu") || has(text, "factor 4") ||
                             ((is_formula || parameters) && std::ranges::any_of(clauses, counts_what_is_made_again));
    const bool is_model =
        says(text, "model flop") || says(text, "model-flop") || says(text, "model tflop") || says(text, "mfu");
    const bool is_plain = is_formula || parameters || is_of_active_parameters(text);
    if (!is_hardware && !is_model && !is_plain) {
        return std::nullopt;
    }
    if (says(kind, "hardware") || says(kind, "hfu")) {
        return true;
    }
    if (says(kind, "model") || says(kind, "mfu")) {
        return false;
    }
    if (parameters == 8 || (is_hardware && !is_model)) {
        return true;
    }
    return is_hardware && !parameters ? std::nullopt : std::optional(false);
}

}  // namespace

std::optional<FlopConvention> flop_convention_of(std::string_view how, std::string_view kind,
                                                 RecomputedShare recomputed) {
    constexpr double kForwardAndBackward = 3, kAgain = 4, kHalf = 0.5;
    constexpr int kNarayananAgain = 96, kEight = 8;
    if (is_unstated(how)) {
        return std::nullopt;
    }
    const std::string text = in_plain_words(how);
    if (const std::optional<int> whole = narayanan_coefficient(text)) {
        return FlopConvention{.passes = whole == kNarayananAgain ? kAgain : kForwardAndBackward,
                              .head_passes = kForwardAndBackward};
    }
    const std::optional<int> parameters = parameters_coefficient(text), term = scores_coefficient(text);
    const std::vector<Words> clauses = clauses_of(text);
    const std::optional<bool> hardware = counts_hardware(text, lower_case(kind), parameters, clauses);
    if (!hardware) {
        return std::nullopt;
    }
    const double term_passes = parameters == kEight ? kAgain : kForwardAndBackward;
    FlopConvention convention;
    if (*hardware) {
        convention.passes += parameters == kEight ? 1 : recomputed.layers;
        convention.head_passes = convention.passes;
    }
    const bool is_of_parameters = parameters || is_of_active_parameters(text);
    convention.scores = term ? std::min(1.0, *term / (4 * term_passes)) : scores_in_words(clauses, is_of_parameters);
    if (convention.scores == 1 && std::ranges::any_of(clauses, is_half)) {
        convention.scores = kHalf;
    }
    if (*hardware && recomputed.scores) {
        convention.scores *= kAgain / kForwardAndBackward;
    }
    return convention;
}

std::optional<double> peak_tflops_in(std::string_view how) {
    constexpr double kLeast = 40, kMost = 10000;  // a number of bits, of GPUs or in PFLOP/s is none
    const std::string text = in_plain_words(how);
    const std::size_t peak = text.find("peak ");
    if (peak == text.npos || text.substr(peak).starts_with("peak memory")) {
        return std::nullopt;
    }
    std::optional<double> stated;
    const std::string rest = text.substr(peak);
    const std::regex numbers("(?:^|[^a-z0-9.,])(\\d+(?:,\\d{3})*(?:\\.\\d+)?)(?![0-9e]| ?pflop)");
    for (auto at = std::sregex_iterator(rest.begin(), rest.end(), numbers); at != std::sregex_iterator(); ++at) {
        std::string digits = (*at)[1].str();
        std::erase(digits, ',');
        const double value = std::strtod(digits.c_str(), nullptr);
        if (stated || value < kLeast || value > kMost) {
            return std::nullopt;
        }
        stated = value;
    }
    return stated;
}

}  // namespace auspex::evaluate
