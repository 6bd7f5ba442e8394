/// @file Names of slow parts, and what they mean.
#include "sim/slow_parts.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex {
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
    double factor = 1;
};

Request read_request(const std::string& text) {
    Request request;
    request.where = "--slow \"" + printable(text) + "\"";
    const std::size_t equals = text.rfind('=');
    const std::string expected = "expected NAME=FACTOR, such as \"tile 17=0.8\" or \"node 3 NIC 2=0.5\"";
    if (equals == std::string::npos || words_of(text.substr(0, equals)).empty()) {
        throw InputError(request.where,
                         "found no " + std::string(equals == std::string::npos ? "factor" : "name") + "; " + expected);
    }
    request.name = text.substr(0, equals);
    const std::string factor = text.substr(equals + 1);
    const auto [end, status] = std::from_chars(factor.data(), factor.data() + factor.size(), request.factor);
    if (status != std::errc() || end != factor.data() + factor.size() || !(request.factor > 0) || request.factor > 1) {
        throw InputError(request.where,
                         "found the factor \"" + printable(factor) + "\"; expected a number above 0 and at most 1");
    }
    return request;
}

void slow_tile(const Request& request, const std::string& number, int tiles, SlowParts& parts) {
    int rank = -1;
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (status != std::errc() || end != number.data() + number.size() || rank >= tiles) {
        throw InputError(request.where, "found no tile " + printable(number) + "; expected one from 0 to " +
                                            std::to_string(tiles - 1));
    }
    parts.rank_factors.resize(static_cast<std::size_t>(tiles), 1);
    parts.rank_factors[static_cast<std::size_t>(rank)] *= request.factor;
    parts.notes.push_back("slow by request: tile " + std::to_string(rank));
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

std::string nearest_names(const std::string& wanted, const Fabric& fabric) {
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

void slow_links(const Request& request, const Fabric& fabric, SlowParts& parts) {
    const std::vector<Words> phrases = phrases_of(request.name);
    std::size_t count = 0;
    std::string first;
    parts.link_factors.resize(fabric.link_count(), 1);
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
        const std::string name = fabric.name(link);
        if (phrases_met(phrases, words_of(name)) == phrases.size()) {
            parts.link_factors[link] *= request.factor;
            first = count++ == 0 ? name : first;
        }
    }
    if (count == 0) {
        throw InputError(request.where,
                         "found no link of this name; the nearest of this job: " + nearest_names(request.name, fabric) +
                             "; expected one of them or \"tile N\"");
    }
    parts.notes.push_back("slow by request: " + first +
                          (count > 1 ? " and " + std::to_string(count - 1) + " more links" : ""));
}

}  // namespace

bool matches_link_name(const std::string& name, const std::string& link_name) {
    const std::vector<Words> phrases = phrases_of(name);
    return !phrases.empty() && phrases_met(phrases, words_of(link_name)) == phrases.size();
}

SlowParts find_slow_parts(const std::vector<std::string>& requests, const Fabric& fabric, int tiles) {
    SlowParts parts;
    for (const std::string& text : requests) {
        const Request request = read_request(text);
        const Words words = words_of(request.name);
        if (words.size() == 2 && words[0] == "tile" && is_number(words[1])) {
            slow_tile(request, words[1], tiles, parts);
        } else {
            slow_links(request, fabric, parts);
        }
    }
    return parts;
}

}  // namespace auspex
