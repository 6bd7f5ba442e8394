/// @file Distances between words.
#include "base/text/closest_word.hpp"

#include <algorithm>
#include <utility>

namespace auspex {

std::size_t letters_apart(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

namespace {

/// Letters of the words in front that both have, with the space behind: "import " of "import foo" and "import osu".
std::size_t shared_words(std::string_view a, std::string_view b) {
    std::size_t shared = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
        shared = a[i] == ' ' ? i + 1 : shared;
    }
    return shared;
}

/// Whether a word of three letters or more is that of a candidate with more words behind: micro_batch_size has
/// "micro_batch".
bool is_begin(std::string_view word, std::string_view candidate) {
    return word.size() >= 3 && candidate.size() > word.size() && candidate.starts_with(word) &&
           candidate[word.size()] == '_';
}

/// Whether a word of three letters or more stands between dashes of a candidate: "h100" in "dgx-h100".
bool is_part(std::string_view word, const std::string& candidate) {
    return word.size() >= 3 && ('-' + candidate + '-').find('-' + std::string(word) + '-') != std::string::npos;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t kLongest = 64;  // nobody mistypes more
    std::size_t least = word.size() + 1;
    std::string best;
    for (const std::string& candidate : candidates) {
        if (word.size() > kLongest || candidate.size() > kLongest) {
            continue;
        }
        const std::size_t allowed = (word.size() - shared_words(word, candidate)) / 3;
        const std::size_t apart = is_begin(word, candidate) ? 1 : letters_apart(word, candidate);
        if (apart <= allowed && apart < least) {
            least = apart;
            best = candidate;
        }
    }
    if (best.empty()) {
        const auto whole = std::ranges::find_if(candidates, [&](const auto& one) { return is_part(word, one); });
        best = whole == candidates.end() ? "" : *whole;
    }
    return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace auspex
