/// @file Names of slow parts, and what they mean.
#include "sim/engine/slow_parts.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/number_text.hpp"
#include "models/layout.hpp"
#include "sim/network/fabric/fabric.hpp"

namespace auspex::engine {
namespace {

using Words = std::vector<std::string>;

bool is_number(const std::string& word) { return std::isdigit(static_cast<unsigned char>(word.front())) != 0; }

/// Lower-case words and numbers; everything else separates.
Words words_of(const std::string& text) {
    Words words;
    bool open = false;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isalnum(u) == 0) {
            open = false;
            continue;
        }
        if (!open) {
            words.emplace_back();
        }
        words.back() += static_cast<char>(std::tolower(u));
        open = true;
    }
    return words;
}

/// "node 3 nic 2" -> "node 3", "nic 2".
std::vector<Words> phrases_of(const std::string& text) {
    std::vector<Words> phrases;
    bool after_number = true;
    for (const std::string& word : words_of(text)) {
        if (after_number && !is_number(word)) {
            phrases.emplace_back();
        }
        if (phrases.empty()) {
            phrases.emplace_back();
        }
        phrases.back().push_back(word);
        after_number = is_number(word);
    }
    return phrases;
}

/// How many of the phrases, from the first on, the link's name holds in order.
std::size_t phrases_met(const std::vector<Words>& phrases, const Words& link) {
    auto from = link.begin();
    std::size_t met = 0;
    for (const Words& phrase : phrases) {
        const auto found = std::search(from, link.end(), phrase.begin(), phrase.end());
        if (found == link.end()) {
            break;
        }
        from = found + static_cast<std::ptrdiff_t>(phrase.size());
        ++met;
    }
    return met;
}

struct Request {
    std::string where, name;
    Words words;  ///< of the name
    double factor = 1;
};

/// A number as long as int holds it.
std::optional<int> number_in(const std::string& word) {
    int number = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
    return status == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

double read_factor(const Request& request, const std::string& text) {
    double factor = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (status != std::errc() || end != text.data() + text.size() || !(factor >= kMinSlowFactor) || factor > 1) {
        throw InputError(request.where, "found the factor \"" + printable(text) +
                                            "\"; expected a number from 0.001 to 1, the share of its speed or "
                                            "capacity that the part has left");
    }
    return factor;
}

Request read_request(const std::string& text) {
    Request request;
    request.where = "--slow \"" + printable(text) + "\"";
    const std::size_t equals = text.rfind('=');
    const std::string expected = "expected NAME=FACTOR, such as \"tile 17=0.8\" or \"node 3 NIC 2=0.5\"";
    if (equals == std::string::npos) {
        throw InputError(request.where, "found no factor; " + expected);
    }
    request.name = text.substr(0, equals);
    request.words = words_of(request.name);
    if (request.words.empty()) {
        throw InputError(request.where, "found no name; " + expected);
    }
    request.factor = read_factor(request, text.substr(equals + 1));
    return request;
}

int stage_of(const models::Layout& layout, int rank) {
    return rank / layout.stride[static_cast<std::size_t>(models::Axis::kPp)] % layout.pp;
}

void slow_tile(const Request& request, const models::Layout& layout, SlowParts& parts) {
    const std::optional<int> rank = number_in(request.words[1]);
    if (!rank || *rank >= layout.tiles) {
        throw InputError(request.where, "found no tile " + printable(request.words[1]) + "; expected one from 0 to " +
                                            std::to_string(layout.tiles - 1));
    }
    parts.rank_factors.resize(static_cast<std::size_t>(layout.tiles), 1);
    for (const SlowRequest& earlier : parts.requests) {
        if (earlier.rank == *rank) {
            throw InputError(request.where, "found tile " + std::to_string(*rank) +
                                                " for the second time; expected every part once, with one factor");
        }
    }
    parts.rank_factors[static_cast<std::size_t>(*rank)] = request.factor;
    parts.requests.push_back({request.name, request.factor, *rank, 0});
    parts.notes.push_back("slow by request: tile " + std::to_string(*rank) + " at " + six_digits(request.factor) +
                          " (stage " + std::to_string(stage_of(layout, *rank)) + ", node " +
                          std::to_string(*rank / layout.tiles_per_node) + ")");
}

/// The numbers that follow a word in the names of links.
std::set<int> numbers_after(const std::string& word, const network::Fabric& fabric) {
    std::set<int> numbers;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        const Words words = words_of(fabric.name(link));
        for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            if (words[i] == word && is_number(words[i + 1])) {
                numbers.insert(number_in(words[i + 1]).value_or(0));
            }
        }
    }
    return numbers;
}

/// "node 3", "nodes 0 to 63", "groups 1, 4, 7".
std::string in_words(const std::string& word, const std::set<int>& numbers) {
    constexpr std::size_t kShown = 8;
    if (numbers.size() == 1) {
        return word + " " + std::to_string(*numbers.begin());
    }
    std::string text = word + "s";
    if (*numbers.rbegin() - *numbers.begin() + 1 == static_cast<int>(numbers.size())) {
        return text + " " + std::to_string(*numbers.begin()) + " to " + std::to_string(*numbers.rbegin());
    }
    std::size_t shown = 0;
    for (const int number : numbers) {
        if (shown++ == kShown) {
            return text + ", ...";
        }
        text += (shown == 1 ? " " : ", ") + std::to_string(number);
    }
    return text;
}

/// What is wrong with a name before any link is asked: words that lack their number, or have one that the job lacks.
void check_numbers(const Request& request, const network::Fabric& fabric) {
    for (std::size_t i = 0; i < request.words.size(); ++i) {
        const std::string& word = request.words[i];
        const bool numbered = i + 1 < request.words.size() && is_number(request.words[i + 1]);
        if (!numbered && (word == "tile" || word == "node")) {
            throw InputError(request.where, "found \"" + word + "\" without a number; expected one, such as \"" + word +
                                                " 3=" + six_digits(request.factor) + "\"");
        }
        if (!numbered || (word != "node" && word != "group")) {
            continue;
        }
        const std::set<int> there = numbers_after(word, fabric);
        const std::optional<int> number = number_in(request.words[i + 1]);
        if (!there.empty() && (!number || there.count(*number) == 0)) {
            throw InputError(request.where, "found no " + word + " " + printable(request.words[i + 1]) +
                                                " in this job; expected " + (there.size() == 1 ? "" : "one of ") +
                                                in_words(word, there) +
                                                (there.size() == 1 ? ", in which all of it lies" : ""));
        }
    }
}

/// How many of the words the link's name holds in this order; one that it lacks is left out.
std::size_t words_met(const Words& words, const Words& link) {
    auto from = link.begin();
    std::size_t met = 0;
    for (const std::string& word : words) {
        const auto found = std::find(from, link.end(), word);
        if (found != link.end()) {
            from = found + 1;
            ++met;
        }
    }
    return met;
}

std::string nearest_names(const std::string& wanted, const network::Fabric& fabric) {
    constexpr std::size_t kShown = 3;
    const Words words = words_of(wanted);
    const std::vector<Words> phrases = phrases_of(wanted);
    std::pair<std::size_t, std::size_t> most{0, 0};
    std::size_t shown = 0;
    std::string text;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        const std::string name = fabric.name(link);
        const Words link_words = words_of(name);
        const std::pair met{phrases_met(phrases, link_words), words_met(words, link_words)};
        if (met > most) {
            text.clear();
            shown = 0;
            most = met;
        }
        if (met == most && shown++ < kShown) {
            text += (text.empty() ? "\"" : ", \"") + name + "\"";
        }
    }
    return text;
}

/// "tile 17" where a rank was named, which is the same number.
std::string other_ways(const Request& request, const network::Fabric& fabric) {
    if (request.words.size() == 2 && request.words[0] == "rank" && is_number(request.words[1])) {
        return "; expected \"tile " + request.words[1] + "\" for the tile of rank " + request.words[1];
    }
    return "; the nearest of this job: " + nearest_names(request.name, fabric) + "; expected one of them or \"tile N\"";
}

/// A whole node: its tiles are no links.
bool is_node(const Words& words) { return words.size() == 2 && words[0] == "node"; }

void slow_links(const Request& request, const network::Fabric& fabric, std::vector<std::uint8_t>& named,
                SlowParts& parts) {
    check_numbers(request, fabric);
    const std::vector<Words> phrases = phrases_of(request.name);
    std::size_t count = 0;
    std::string first;
    parts.link_factors.resize(fabric.link_count(), 1);
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        const std::string name = fabric.name(link);
        if (phrases_met(phrases, words_of(name)) < phrases.size()) {
            continue;
        }
        if (named[link] != 0) {
            throw InputError(request.where, "found \"" + name +
                                                "\" for the second time; expected every part once, "
                                                "with one factor");
        }
        named[link] = 1;
        parts.link_factors[link] = request.factor;
        first = count++ == 0 ? name : first;
    }
    if (count == 0) {
        throw InputError(request.where, "found no link of this name" + other_ways(request, fabric));
    }
    parts.requests.push_back({request.name, request.factor, -1, count});
    const std::string more = count == 1   ? ""
                             : count == 2 ? " and 1 more link"
                                          : " and " + std::to_string(count - 1) + " more links";
    parts.notes.push_back(
        "slow by request: " + first + more + " at " + six_digits(request.factor) +
        (is_node(request.words) ? " (links only: the tiles of the node compute at their full speed)" : ""));
}

}  // namespace

bool matches_link_name(const std::string& name, const std::string& link_name) {
    const std::vector<Words> phrases = phrases_of(name);
    return !phrases.empty() && phrases_met(phrases, words_of(link_name)) == phrases.size();
}

SlowParts find_slow_parts(const std::vector<std::string>& requests, const network::Fabric& fabric,
                          const models::Layout& layout) {
    SlowParts parts;
    std::vector<std::uint8_t> named_links(fabric.link_count(), 0);
    for (const std::string& text : requests) {
        const Request request = read_request(text);
        if (request.words.size() == 2 && request.words[0] == "tile" && is_number(request.words[1])) {
            slow_tile(request, layout, parts);
        } else {
            slow_links(request, fabric, named_links, parts);
        }
    }
    return parts;
}

}  // namespace auspex::engine
