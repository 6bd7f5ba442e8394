/// @file Forms in which a text gives counts and rates.
#include "compare/evaluate/words/nic_words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <regex>
#include <string>
#include <utility>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr int kMostNics = 72;

/// Without commas in numbers, signs of multiplication as x; in its own case, for GB/s are no Gb/s.
std::string with_plain_signs(std::string_view text) {
    std::string out(text.substr(0, kLongestText));
    out = std::regex_replace(out, std::regex("(\\d),(\\d{3})(?!\\d)"), "$1$2");
    out = std::regex_replace(out, std::regex("\u00d7|\\*"), "x");
    return std::regex_replace(out, std::regex("[ \\t~]+"), " ");
}

/// A number that begins no part of a word, and its unit.
constexpr std::string_view kNumber = "(?:^|[^\\w.-])";
constexpr std::string_view kRate =
    "(\\d+(?:\\.\\d+)?) ?-?"
    "(GB/s|GBps|GByte/s|GBytes/s|GiB/s|TB/s|[Gg]b/s|[Gg]bps|[Gg]bit/s|[Gg]bits?|[Tt]b/s|[Tt]bps|[Gg]b[Ee]|G)(?![\\w/"
    "])";

/// Gb/s of one unit.
double unit_gbit_s(const std::string& unit) {
    constexpr double kBits = 8, kTera = 1000;
    const bool is_bytes = unit.starts_with("GB") || unit == "GiB/s" || unit == "TB/s";
    return (is_bytes && unit != "GbE" ? kBits : 1) * (unit[0] == 'T' || unit[0] == 't' ? kTera : 1);
}

double rate_of_kind(const std::string& text) {
    const std::array<std::pair<const char*, double>, 9> kinds{{{"NDR-?200", 200},
                                                               {"HDR-?100", 100},
                                                               {"HDR-?200", 200},
                                                               {"XDR", 800},
                                                               {"NDR", 400},
                                                               {"HDR", 200},
                                                               {"EDR|Omni-?Path", 100},
                                                               {"Slingshot[- ]?11|Cassini", 200},
                                                               {"Slingshot[- ]?10", 100}}};
    const auto found = std::ranges::find_if(
        kinds, [&](const auto& kind) { return std::regex_search(text, std::regex(kind.first, std::regex::icase)); });
    return found == kinds.end() ? 0 : found->second;
}

using Match = std::smatch;
/// Parts of a form, one behind another.
std::optional<Match> match(const std::string& text, std::initializer_list<std::string_view> parts) {
    std::string form;
    for (const std::string_view part : parts) {
        form += part;
    }
    Match found;
    return std::regex_search(text, found, std::regex(form)) ? std::optional(found) : std::nullopt;
}
std::optional<Match> match(std::string&&, std::initializer_list<std::string_view>) = delete;  // a match points into it

double rate(const Match& found, std::size_t group) {
    return std::strtod(found[group].str().c_str(), nullptr) * unit_gbit_s(found[group + 1].str());
}

int count_in(const std::string& digits) {
    const std::optional<int> count = number_in(digits);
    return count && *count >= 1 && *count <= kMostNics ? *count : 0;
}

bool is_rate_of_nics(double gbit_s) {
    constexpr std::array kSold{25.0, 50.0, 100.0, 200.0, 400.0, 800.0};
    return std::ranges::find(kSold, gbit_s) != kSold.end();
}

/// "8x200Gb/s", "4 x HDR", "8x CX-7 400G", "8x200".
std::optional<NicWords> count_times_rate(const std::string& text) {
    constexpr std::string_view kCount = "(\\d+) ?[xX] ?", kBetween = "(?:[A-Za-z][\\w-]* )*\\(?";
    if (const auto found = match(text, {kNumber, kCount, kBetween, kRate})) {
        return NicWords{.count = count_in((*found)[1]), .gbit_s = rate(*found, 2)};
    }
    if (const auto found = match(text, {kNumber, kCount, "(\\d+)(?![\\w.])"})) {
        return NicWords{.count = count_in((*found)[1]), .gbit_s = std::strtod((*found)[2].str().c_str(), nullptr)};
    }
    if (const auto found = match(text, {kNumber, kCount, "([A-Za-z].*)"})) {
        return NicWords{.count = count_in((*found)[1]), .gbit_s = rate_of_kind((*found)[2])};
    }
    return std::nullopt;
}

constexpr std::string_view kOfEach = " ?(?:[A-Za-z]\\w* )*(?:per|a|/) ?(?:GPU|GCD|tile|device|accelerator)";

std::optional<NicWords> one_a_gpu(const std::string& text, int gpus) {
    if (const auto found = match(text, {kNumber, kRate, kOfEach})) {
        return NicWords{.count = gpus, .gbit_s = rate(*found, 1)};
    }
    const double kind = rate_of_kind(text);
    return kind > 0 && match(text, {kOfEach}) ? std::optional(NicWords{.count = gpus, .gbit_s = kind}) : std::nullopt;
}

std::optional<NicWords> total(const std::string& text) {
    constexpr std::string_view kOfNode =
        " ?(?:[A-Za-z(]\\w* )*(?:per |/|a )?(?:node|server|host|instance|total|aggregate|machine)";
    auto found = match(text, {kNumber, kRate, kOfNode});
    found = found ? found : match(text, {"(?:total|aggregate|node)[a-z ]*[:=]? ?", kRate});
    found = found ? found : match(text, {kNumber, "(\\d+(?:\\.\\d+)?) ?([Tt]b/s|[Tt]bps)"});
    return found ? std::optional(NicWords{.total_gbit_s = rate(*found, 1)}) : std::nullopt;
}

/// "8 ConnectX-7 (400 Gbps)", "8 HDR NICs", "4 NICs of 200 Gb/s".
std::optional<NicWords> count_of_nics(const std::string& text) {
    const auto found =
        match(text, {kNumber, "(\\d+) (?:[A-Za-z][\\w-]* )*", "(?:NICs?|HCAs?|adapters?|ports?|rails?|interfaces?|",
                     "ConnectX-?\\d|CX-?\\d|Cassini|HDR|NDR|EDR|XDR)(.*)"});
    if (!found) {
        return std::nullopt;
    }
    const std::string rest = (*found)[2];
    const auto behind = match(rest, {kNumber, kRate});
    return NicWords{.count = count_in((*found)[1]), .gbit_s = behind ? rate(*behind, 1) : rate_of_kind(text)};
}

}  // namespace

NicWords nics_in(std::string_view text, int gpus) {
    const std::string words = with_plain_signs(text);
    std::optional<NicWords> found = count_times_rate(words);
    found = found ? found : one_a_gpu(words, gpus);
    found = found ? found : total(words);
    found = found ? found : count_of_nics(words);
    if (!found) {
        return {};
    }
    constexpr int kMostOfEach = 2;
    if (found->count > 0 && found->count <= kMostOfEach && match(words, {kOfEach})) {
        found->count *= gpus;  // "2x200 Gb/s per GPU"
    }
    const bool is_of_both = match(words, {"[Bb]i-?dir|both (?:directions|ways)|duplex"}).has_value();
    const bool is_odd = (found->gbit_s > 0 && !is_rate_of_nics(found->gbit_s)) ||
                        (found->total_gbit_s == 0 && found->count == 0) ||
                        (found->total_gbit_s > 0 && !is_rate_of_nics(found->total_gbit_s) &&
                         static_cast<long>(found->total_gbit_s) % 100 != 0);
    return is_of_both || is_odd ? NicWords{.is_unclear = true} : *found;
}

}  // namespace auspex::evaluate
