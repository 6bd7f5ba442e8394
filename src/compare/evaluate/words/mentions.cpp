/// @file Names, and what lies between them and versions.
#include "compare/evaluate/words/mentions.hpp"

#include <algorithm>

#include "base/input_text.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/spelling.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr std::string_view kBetweenWords = " +/(),;:&[]{}|@='\"\t\n";

/// The longest spelling that the text begins with as whole words; of size 0: none.
Mention longest_at(std::string_view text, const std::vector<std::vector<std::string>>& spellings) {
    Mention longest;
    constexpr std::size_t kLongest = 80;  // no name is longer, whatever blanks and hyphens it has
    const std::string_view window = text.substr(0, kLongest);
    for (std::size_t i = 0; i < spellings.size(); ++i) {
        for (const std::string& spelling : spellings[i]) {
            const std::size_t end = begins_with_any(window, {spelling}) ? end_of_beginning(window, spelling) : 0;
            if (end > longest.end && is_end_of_word(text, end)) {
                longest.name = i, longest.end = end;
            }
        }
    }
    return longest;
}

/// Nothing that parts a name from its version.
bool is_nothing(std::string_view between) {
    constexpr std::string_view kSigns = " -_/:=@()[]~<>#.'\"";
    for (const char c : between) {
        const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool is_plain = static_cast<unsigned char>(c) < 0x80;  // not of a trade mark
        if (is_plain && !is_word && kSigns.find(c) == std::string_view::npos) {
            return false;
        }
    }
    std::string apart(between);
    std::ranges::replace(apart, '_', ' ');
    return std::ranges::all_of(words_in(apart), [](std::string_view word) {
        return is_one_of(word, {"framework", "container", "containers", "image",  "release", "releases",     "version",
                                "ver",       "v",         "r",          "core",   "toolkit", "launcher",     "library",
                                "recipes",   "recipe",    "repo",       "branch", "tag",     "main",         "nightly",
                                "from",      "of",        "as",         "at",     "in",      "dated",        "the",
                                "dev",       "commit",    "software",   "stack",  "public",  "benchmarking", "all",
                                "readme",    "tree",      "blob",       "tags"});
    });
}

/// Behind a name, and behind one another: "NeMo 2.0 (24.12)".
void take_those_behind(std::string_view text, std::vector<VersionInText>& versions, std::size_t end, Mention& mention) {
    std::size_t at = mention.end;
    for (auto version = versions.begin(); version != versions.end();) {
        if (version->begin < at) {
            ++version;
            continue;
        }
        if (version->end > end || !is_nothing(text.substr(at, version->begin - at))) {
            return;
        }
        at = version->end;
        mention.versions.push_back(*version);
        version = versions.erase(version);
    }
}

/// A word in front of it, in the same clause, has the version: "MLPerf v4.1", "Transformer Engine release 1.9"; not
/// "NVIDIA", "et al.", nor words that stand between a name and its version.
bool has_owner(std::string_view text, std::size_t begin) {
    const std::size_t sign = text.substr(0, begin).find_last_of(",;()[]/+:");
    const std::size_t clause = sign == std::string_view::npos ? 0 : sign + 1;
    std::vector<std::string> words = words_in(text.substr(clause, begin - clause));
    while (!words.empty() && is_nothing(words.back())) {
        words.pop_back();
    }
    return !words.empty() && !is_one_of(words.back(), {"nvidia", "amd", "rocm", "with", "and", "on", "for", "al"});
}

void take_one_in_front(std::string_view text, std::vector<VersionInText>& versions, std::size_t begin,
                       Mention& mention) {
    for (auto version = versions.begin(); version != versions.end(); ++version) {
        if (version->begin >= begin && version->end <= mention.begin && !has_owner(text, version->begin) &&
            is_nothing(text.substr(version->end, mention.begin - version->end))) {
            mention.versions.push_back(*version);
            versions.erase(version);
            return;
        }
    }
}

std::vector<Mention> names_in(std::string_view text, const std::vector<std::vector<std::string>>& spellings) {
    std::vector<Mention> mentions;
    for (std::size_t at = 0; at < text.size();) {
        if (Mention one = longest_at(text.substr(at), spellings); one.end > 0) {
            one.begin = at, one.end += at;
            at = one.end;
            mentions.push_back(std::move(one));
        }
        at = std::min(text.find_first_of(kBetweenWords, at), text.size());
        at = std::min(text.find_first_not_of(kBetweenWords, at), text.size());
    }
    return mentions;
}

}  // namespace

Mentions mentions_in(std::string_view text, const std::vector<std::vector<std::string>>& spellings) {
    Mentions found{names_in(text, spellings), {}};
    std::vector<Mention>& names = found.names;
    std::string without_names(text);  // "NeMo24.09"
    for (const Mention& one : names) {
        std::fill_n(without_names.begin() + static_cast<std::ptrdiff_t>(one.begin), one.end - one.begin, ' ');
    }
    found.rest = versions_in(without_names);
    for (std::size_t i = 0; i < names.size(); ++i) {
        take_those_behind(text, found.rest, i + 1 < names.size() ? names[i + 1].begin : text.size(), names[i]);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].versions.empty()) {
            take_one_in_front(text, found.rest, i > 0 ? names[i - 1].end : 0, names[i]);
        }
    }
    std::erase_if(names, [&](const Mention& one) { return is_denied(text, one.begin, one.end); });
    constexpr std::size_t kYear = 4;  // "Narayanan 2021": a year alone is no version of the word in front of it
    std::erase_if(found.rest, [&](const VersionInText& one) {
        const bool is_year = one.version.is_date && !one.version.is_container && one.end - one.begin == kYear;
        return !is_year && has_owner(text, one.begin);
    });
    return found;
}

}  // namespace auspex::evaluate
