/// @file Finds names of streams in words of overlap.
#include "compare/evaluate/words/overlap_words.hpp"

#include <algorithm>
#include <cstddef>

#include "base/input_text.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

/// The plan's word for a stream; empty for other words.
std::string stream_of(std::string_view word) {
    if (is_one_of(word, {"tp", "tensor"})) {
        return "tp";
    }
    if (is_one_of(word, {"dp", "ddp", "fsdp", "fsdp2"})) {
        return "dp";
    }
    if (is_one_of(word, {"pp", "p2p", "pipeline"})) {
        return "pp";
    }
    return is_one_of(word, {"ep", "expert"}) ? "ep" : "";
}

bool denies_overlap(std::string_view word) {
    return is_denial(word) || is_one_of(word, {"non", "nothing", "exposed", "blocking", "vanilla", "sync",
                                               "synchronous", "serial", "unoverlapped"});
}

struct Clause {
    std::vector<std::string> words, streams;
    bool is_denied = false;
    bool excepts = false;  ///< "off except dp", "nothing but dp"; "all but dp"

    /// "none", "yes": about another clause's streams.
    [[nodiscard]] bool is_answer() const {
        return words.size() == 1 && streams.empty() && (is_denied || is_one_of(words[0], {"yes", "on", "true"}));
    }
};

Clause clause_of(std::vector<std::string> words) {
    Clause clause;
    for (const std::string& word : words) {
        if (const std::string stream = stream_of(word);
            !stream.empty() && std::ranges::find(clause.streams, stream) == clause.streams.end()) {
            clause.streams.push_back(stream);
        }
        clause.is_denied = clause.is_denied || denies_overlap(word);
        clause.excepts = clause.excepts || is_one_of(word, {"except", "but"});
    }
    clause.words = std::move(words);
    return clause;
}

/// In small letters, with flags of Megatron and short forms in words: "--overlap-grad-reduce" is of dp.
std::string in_words(std::string_view text) {
    std::string letters = lower_case(text);
    std::ranges::replace(letters, '_', '-');
    const auto replace_all = [&](std::string_view part, std::string_view by) {
        for (std::size_t at = letters.find(part); at != std::string::npos; at = letters.find(part, at + by.size())) {
            letters.replace(at, part.size(), by);
        }
    };
    replace_all("w/o", "without");
    replace_all("--", ";");
    replace_all("grad-reduce", "dp");
    replace_all("param-gather", "dp");
    return letters;
}

std::vector<Clause> clauses_in(std::string_view text) {
    std::string letters = in_words(text);
    if (std::ranges::count(letters, '=') > 1) {
        std::ranges::replace(letters, ' ', ';');
    }
    std::vector<Clause> clauses;
    for (std::size_t begin = 0; begin < letters.size();) {
        const std::size_t end = std::min(letters.find_first_of(",;()[]+", begin), letters.size());
        if (std::vector<std::string> words = words_in(std::string_view(letters).substr(begin, end - begin));
            !words.empty()) {
            clauses.push_back(clause_of(std::move(words)));
        }
        begin = end + 1;
    }
    return clauses;
}

void add(std::vector<std::string>& streams, const std::vector<std::string>& more) {
    for (const std::string& stream : more) {
        if (std::ranges::find(streams, stream) == streams.end()) {
            streams.push_back(stream);
        }
    }
}

/// Nothing but names of streams and words that say no more; "comm" says that a flag is meant, unless it is the only
/// one.
bool is_enumeration(const std::vector<Clause>& clauses) {
    bool is_of_flags = false, says_only = false;
    for (const Clause& clause : clauses) {
        for (const std::string& word : clause.words) {
            is_of_flags = is_of_flags || is_one_of(word, {"comm", "communication"});
            says_only = says_only || word == "only";
            if (stream_of(word).empty() &&
                !is_one_of(word, {"only", "and", "overlap", "overlaps", "overlapped", "comm", "communication"})) {
                return false;
            }
        }
    }
    return !is_of_flags || says_only;
}

}  // namespace

OverlapSaid overlap_said(std::string_view text) {
    const std::vector<Clause> clauses = clauses_in(text);
    OverlapSaid said;
    bool denies_all = false;
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        const Clause& clause = clauses[i];
        const bool has_answer = i + 1 < clauses.size() && clauses[i + 1].is_answer();
        if (clause.streams.empty()) {
            const bool is_of_overlap =
                std::ranges::any_of(clause.words, [](const std::string& word) { return word.starts_with("overlap"); });
            const bool is_whole = i == 0 && denies_overlap(clause.words.front());
            denies_all = denies_all || (clause.is_denied && (is_whole || (i == 0 && is_of_overlap)));
        } else if (clause.excepts && clause.is_denied) {
            add(said.named, clause.streams);
            said.is_list = true;
        } else if (clause.excepts) {
            add(said.without, clause.streams);
        } else {
            add(clause.is_denied || (has_answer && clauses[i + 1].is_denied) ? said.without : said.named,
                clause.streams);
        }
    }
    std::erase_if(said.without,
                  [&](const std::string& stream) { return std::ranges::find(said.named, stream) != said.named.end(); });
    if (denies_all) {  // "none (vanilla TP)", "none (pp only)", but "none (DP in a later version)"
        said.is_list =
            said.without.empty() && !said.named.empty() && std::ranges::any_of(clauses, [](const Clause& one) {
                return !one.streams.empty() && std::ranges::find(one.words, "only") != one.words.end() &&
                       is_enumeration({one});
            });
        said.is_none = said.without.empty() && !said.is_list;
    } else if (said.without.empty() && !said.named.empty()) {
        said.is_list = said.is_list || is_enumeration(clauses);
    }
    return said;
}

}  // namespace auspex::evaluate
