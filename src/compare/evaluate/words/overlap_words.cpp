/// @file Finds names of streams in words of overlap.
#include "compare/evaluate/words/overlap_words.hpp"

#include <algorithm>

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

void add(std::vector<std::string>& streams, const std::string& stream) {
    if (std::ranges::find(streams, stream) == streams.end()) {
        streams.push_back(stream);
    }
}

/// Streams of the text, in `named` or `without`; one that is both is named.
void find_streams(std::string_view text, OverlapSaid& said) {
    const std::string letters = lower_case(text);
    for (std::size_t begin = 0; begin < letters.size();) {
        std::size_t end = begin;
        while (end < letters.size() && is_letter_or_digit(letters[end])) {
            ++end;
        }
        if (const std::string stream = stream_of(letters.substr(begin, end - begin)); !stream.empty()) {
            add(is_denied(letters, begin, end) ? said.without : said.named, stream);
        }
        begin = end + 1;
    }
    std::erase_if(said.without,
                  [&](const std::string& stream) { return std::ranges::find(said.named, stream) != said.named.end(); });
}

/// Nothing but names of streams, and words that say no more.
bool is_enumeration(std::string_view text) {
    return std::ranges::all_of(words_in(text), [](const std::string& word) {
        return !stream_of(word).empty() ||
               is_one_of(word, {"only", "and", "overlap", "overlaps", "overlapped", "comm", "communication"});
    });
}

}  // namespace

OverlapSaid overlap_said(std::string_view text) {
    const std::size_t bracket = std::min(text.find_first_of("(["), text.size());
    const std::string_view outside = text.substr(0, bracket);
    OverlapSaid said;
    find_streams(outside, said);
    const bool has_streams = !said.named.empty() || !said.without.empty();
    if (!has_streams && denies(outside, "overlap")) {
        OverlapSaid inside;
        find_streams(text.substr(bracket), inside);
        for (const std::vector<std::string>& streams : {inside.named, inside.without}) {
            std::ranges::for_each(streams, [&](const std::string& stream) { add(said.without, stream); });
        }
        said.is_none = said.without.empty();
    }
    said.is_list = said.without.empty() && !said.named.empty() && bracket == text.size() && is_enumeration(text);
    return said;
}

}  // namespace auspex::evaluate
