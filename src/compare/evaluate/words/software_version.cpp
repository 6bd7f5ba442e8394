/// @file Digits, dots and names of months.
#include "compare/evaluate/words/software_version.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr int kFirstYear = 2015, kLastYear = 2040, kCentury = 2000, kMonths = 12, kDays = 31, kMiddle = 7;

bool is_year(int number) { return number >= kFirstYear && number <= kLastYear; }
bool is_month(int number) { return number >= 1 && number <= kMonths; }

std::string_view digits_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) {
        ++end;
    }
    return text.substr(at, end - at);
}

std::string_view letters_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_small_letter(text[end])) {
        ++end;
    }
    return text.substr(at, end - at);
}

/// A number that more than four digits have is none of a version.
int value_of(std::string_view digits) { return digits.size() > 4 ? -1 : number_in(digits).value_or(-1); }

/// "0.11.0", "2025-04-12", "20250412": digits at text[at] and what belongs to them.
class VersionReader {
 public:
    VersionReader(std::string_view text, std::size_t at) : text_(text), begin_(at), end_(at) {}

    std::optional<VersionInText> read() {
        begin_ = begin_of_prefix();
        if (begin_ == std::string_view::npos) {
            return std::nullopt;
        }
        const bool has_prefix = begin_ < end_;
        const std::string_view first = digits_at(text_, end_);
        end_ += first.size();
        std::optional<SoftwareVersion> version = date_in_one(first);
        if (!version) {
            version = of_groups(first, has_prefix);
        }
        return version && ends_here() ? std::optional(VersionInText{*version, begin_, end_}) : std::nullopt;
    }

 private:
    std::string_view text_;
    std::size_t begin_, end_;

    /// Where "v", "r" or nothing begins in front of the digits; npos: other letters do, or more of a number.
    [[nodiscard]] std::size_t begin_of_prefix() const {
        std::size_t begin = end_;
        while (begin > 0 && is_small_letter(text_[begin - 1])) {
            --begin;
        }
        const std::string_view prefix = text_.substr(begin, end_ - begin);
        const bool is_inside = begin > 0 && (is_digit(text_[begin - 1]) ||
                                             (text_[begin - 1] == '.' && begin > 1 && is_digit(text_[begin - 2])));
        return is_inside || !is_one_of(prefix, {"", "v", "r", "rel", "release", "version", "ver"})
                   ? std::string_view::npos
                   : begin;
    }

    /// 202504 and 20250412.
    [[nodiscard]] static std::optional<SoftwareVersion> date_in_one(std::string_view digits) {
        constexpr std::size_t kYear = 4, kWithMonth = 6, kWithDay = 8;
        if (digits.size() != kWithMonth && digits.size() != kWithDay) {
            return std::nullopt;
        }
        SoftwareVersion date{{value_of(digits.substr(0, kYear)), value_of(digits.substr(kYear, 2))}, true};
        if (digits.size() == kWithDay) {
            date.parts.push_back(value_of(digits.substr(kWithMonth)));
        }
        const bool is_date = is_year(date.parts[0]) && is_month(date.parts[1]) && date.parts.back() <= kDays;
        return is_date ? std::optional(date) : std::nullopt;
    }

    std::optional<SoftwareVersion> of_groups(std::string_view first, bool has_prefix) {
        std::vector<int> parts{value_of(first)};
        const bool begins_with_year = is_year(parts[0]);
        const auto goes_on = [&] {
            const bool is_between =
                end_ + 1 < text_.size() &&
                (text_[end_] == '.' || (begins_with_year && (text_[end_] == '-' || text_[end_] == '/')));
            return is_between && is_digit(text_[end_ + 1]);
        };
        while (goes_on()) {
            const std::string_view digits = digits_at(text_, end_ + 1);
            end_ += 1 + digits.size();
            constexpr std::size_t kLongest = 3;
            parts.push_back(digits.size() > kLongest ? -1 : value_of(digits));
        }
        if (std::ranges::find(parts, -1) != parts.end()) {
            return std::nullopt;
        }
        return of_parts(std::move(parts), has_prefix);
    }

    /// A year, 25.04 and 25.x are dates.
    std::optional<SoftwareVersion> of_parts(std::vector<int> parts, bool has_prefix) {
        constexpr int kFirstShort = 20, kLastShort = 35;
        const bool is_short = parts[0] >= kFirstShort && parts[0] <= kLastShort;
        const bool has_month = parts.size() > 1 && is_month(parts[1]);
        if (is_short && parts.size() == 1 && text_.substr(end_).starts_with(".x")) {
            end_ += text_.substr(end_).starts_with(".xx") ? 3U : 2U;
            return SoftwareVersion{{kCentury + parts[0], kMiddle}, true, true};
        }
        if (is_year(parts[0]) && parts.size() == 1) {
            return SoftwareVersion{{parts[0], kMiddle}, true};
        }
        if (has_month && (is_short || is_year(parts[0]))) {
            parts[0] += is_short ? kCentury : 0;
            return SoftwareVersion{std::move(parts), true, is_short};
        }
        return parts.size() > 1 || has_prefix ? std::optional(SoftwareVersion{std::move(parts), false}) : std::nullopt;
    }

    /// What may follow: no letters, but "rc1", "b2", "dev" and "post1"; no percent.
    [[nodiscard]] bool ends_here() const {
        const std::string_view letters = letters_at(text_, end_);
        const std::size_t behind = end_ + letters.size();
        const bool is_numbered = behind < text_.size() && is_digit(text_[behind]);
        return letters.empty() ? end_ >= text_.size() || text_[end_] != '%'
                               : is_one_of(letters, {"rc", "dev", "post", "beta", "alpha"}) ||
                                     (is_numbered && is_one_of(letters, {"a", "b"}));
    }
};

constexpr std::array<std::string_view, kMonths> kMonthNames{"january",   "february", "march",    "april",
                                                            "may",       "june",     "july",     "august",
                                                            "september", "october",  "november", "december"};

/// The month that a word is, or the middle one of the quarter "q3"; 0: neither.
int month_of(std::string_view word, std::string_view digits_behind) {
    constexpr std::size_t kShort = 3;
    constexpr int kOfQuarter = 3;
    if (word == "q" && digits_behind.size() == 1 && digits_behind[0] >= '1' && digits_behind[0] <= '4') {
        return kOfQuarter * (digits_behind[0] - '0') - 1;
    }
    const auto* const month = std::ranges::find_if(kMonthNames, [&](std::string_view name) {
        return word == name || word == name.substr(0, kShort) || (word == "sept" && name == "september");
    });
    return month == kMonthNames.end() ? 0 : static_cast<int>(month - kMonthNames.begin()) + 1;
}

/// Where a date begins whose month does at `at`: at the day of "15 March 2024", if there is one.
std::size_t begin_with_day(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && text[begin - 1] == ' ') {
        --begin;
    }
    std::size_t day = begin;
    while (day > 0 && is_digit(text[day - 1])) {
        --day;
    }
    const bool is_day = begin < at && day < begin && begin - day <= 2 &&
                        (day == 0 || text[day - 1] == ' ' || text[day - 1] == '(' || text[day - 1] == ',');
    return is_day ? day : at;
}

/// "April 2025", "Apr. 12, 2025", "15 March 2024", "april2021", "Q3 2024": at the first letter.
std::optional<VersionInText> read_month(std::string_view text, std::size_t at) {
    const std::string_view word = letters_at(text, at);
    const int month = month_of(word, digits_at(text, at + word.size()));
    if (month == 0 || (at > 0 && (is_small_letter(text[at - 1]) || is_digit(text[at - 1])))) {
        return std::nullopt;
    }
    const auto digits_behind = [&](std::size_t from) {
        const std::size_t begin = std::min(text.find_first_not_of(" .,-", from), text.size());
        return std::pair(begin, digits_at(text, begin));
    };
    auto [begin, digits] = digits_behind(at + word.size());
    if (!digits.empty() && digits.size() <= 2) {  // a day, or a quarter
        std::tie(begin, digits) = digits_behind(begin + digits.size());
    }
    const int year = value_of(digits);
    return is_year(year)
               ? std::optional(VersionInText{{{year, month}, true}, begin_with_day(text, at), begin + digits.size()})
               : std::nullopt;
}

}  // namespace

std::strong_ordering order(const SoftwareVersion& a, const SoftwareVersion& b) {
    AUSPEX_CHECK(a.is_date == b.is_date, "a date is not compared with a number");
    for (std::size_t i = 0; i < std::max(a.parts.size(), b.parts.size()); ++i) {
        const int of_a = i < a.parts.size() ? a.parts[i] : 0, of_b = i < b.parts.size() ? b.parts[i] : 0;
        if (of_a != of_b) {
            return of_a <=> of_b;
        }
    }
    return std::strong_ordering::equal;
}

std::vector<VersionInText> versions_in(std::string_view text) {
    const std::string letters = lower_case(text);
    std::vector<VersionInText> found;
    for (std::size_t at = 0; at < letters.size();) {
        std::optional<VersionInText> one = is_digit(letters[at])          ? VersionReader(letters, at).read()
                                           : is_small_letter(letters[at]) ? read_month(letters, at)
                                                                          : std::nullopt;
        const std::size_t length = is_digit(letters[at]) ? digits_at(letters, at).size() : 1;
        at = one ? one->end : at + length;
        if (one) {
            found.push_back(std::move(*one));
        }
    }
    return found;
}

std::vector<VersionInText> papers_in(std::string_view text) {
    constexpr std::string_view kName = "arxiv";
    constexpr std::size_t kMonth = 4, kNumber = 5;
    const std::string letters = lower_case(text);
    std::vector<VersionInText> found;
    for (std::size_t at = letters.find(kName); at != std::string::npos; at = letters.find(kName, at + 1)) {
        std::size_t end = at + kName.size();
        for (const std::string_view between : {".org", "/", "abs", "pdf", "/", ":", " "}) {
            end += std::string_view(letters).substr(end).starts_with(between) ? between.size() : 0;
        }
        const std::string_view month = digits_at(letters, end);
        const bool has_number = month.size() == kMonth && letters.substr(end + kMonth, 1) == "." &&
                                digits_at(letters, end + kMonth + 1).size() == kNumber;
        const int year = has_number ? kCentury + value_of(month.substr(0, 2)) : 0;
        if (is_year(year) && is_month(value_of(month.substr(2)))) {
            found.push_back({{{year, value_of(month.substr(2))}, true}, at, end + kMonth + 1 + kNumber});
        }
    }
    return found;
}

std::optional<SoftwareVersion> version_of(std::string_view text) {
    const std::vector<VersionInText> found = versions_in(text);
    const bool is_whole = found.size() == 1 && found[0].begin == 0 && found[0].end == text.size();
    if (!is_whole) {
        const std::optional<int> number = number_in(text);  // "1", a bound of a table
        return number ? std::optional(SoftwareVersion{{*number}, false}) : std::nullopt;
    }
    return found[0].version;
}

}  // namespace auspex::evaluate
