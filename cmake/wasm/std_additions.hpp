#pragma once
/// @file What of C++20's library the sources use and libc++ 13 (Debian 12's emscripten) lacks: algorithms over ranges, bit_cast, numbers from
/// and to characters. Included in front of every source of the page's engine.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000

// NOLINTBEGIN(cert-dcl58-cpp): they are where the sources look for them
namespace std {

/// Of what printf calls a number in the C locale; no white space, no plus sign, no hexadecimal.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
    const string text(first, last);
    const size_t length = text.find_first_not_of("+-.0123456789eEinfaINFA");
    const string number = text.substr(0, length);
    if (number.empty() || number.front() == '+') {
        return {first, errc::invalid_argument};
    }
    char* end = nullptr;
    const double found = strtod(number.c_str(), &end);
    if (end == number.c_str()) {
        return {first, errc::invalid_argument};
    }
    const char* const stop = first + (end - number.c_str());
    if (isinf(found) && number.find_first_of("iI") == string::npos) {
        return {stop, errc::result_out_of_range};
    }
    value = found;
    return {stop, errc()};
}

inline to_chars_result copy_text(const char* text, char* first, char* last) {
    const size_t length = strlen(text);
    if (length > static_cast<size_t>(last - first)) {
        return {last, errc::value_too_large};
    }
    memcpy(first, text, length);
    return {first + length, errc()};
}

/// As printf's %f, %e and %g.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format format, int precision) {
    const char* const how = format == chars_format::fixed ? "%.*f" : format == chars_format::scientific ? "%.*e" : "%.*g";
    char text[512];
    snprintf(text, sizeof text, how, precision, value);
    return copy_text(text, first, last);
}

/// The fewest digits that read back to the same number.
inline to_chars_result to_chars(char* first, char* last, double value) {
    char text[32];
    for (int digits = 1; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, nullptr) == value) {
            break;
        }
    }
    return copy_text(text, first, last);
}

template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
    return __builtin_bit_cast(To, from);
}

namespace ranges {

template <typename Range, typename Value, typename Of = identity>
constexpr auto find(Range&& range, const Value& value, Of of = {}) {
    return std::find_if(std::begin(range), std::end(range), [&](auto&& one) { return std::invoke(of, one) == value; });
}
template <typename Range, typename Test, typename Of = identity>
constexpr auto find_if(Range&& range, Test test, Of of = {}) {
    return std::find_if(std::begin(range), std::end(range), [&](auto&& one) { return std::invoke(test, std::invoke(of, one)); });
}
template <typename Range, typename Test, typename Of = identity>
constexpr bool any_of(Range&& range, Test test, Of of = {}) {
    return std::any_of(std::begin(range), std::end(range), [&](auto&& one) { return std::invoke(test, std::invoke(of, one)); });
}
template <typename Range, typename Test, typename Of = identity>
constexpr bool all_of(Range&& range, Test test, Of of = {}) {
    return std::all_of(std::begin(range), std::end(range), [&](auto&& one) { return std::invoke(test, std::invoke(of, one)); });
}
template <typename Range, typename Test, typename Of = identity>
constexpr bool none_of(Range&& range, Test test, Of of = {}) {
    return !ranges::any_of(range, test, of);
}
template <typename Range, typename Value, typename Of = identity>
constexpr auto count(Range&& range, const Value& value, Of of = {}) {
    return std::count_if(std::begin(range), std::end(range), [&](auto&& one) { return std::invoke(of, one) == value; });
}
template <typename Range, typename Value>
constexpr void replace(Range&& range, const Value& old, const Value& with) {
    std::replace(std::begin(range), std::end(range), old, with);
}
template <typename Range, typename Out, typename Test>
constexpr void copy_if(Range&& range, Out out, Test test) {
    std::copy_if(std::begin(range), std::end(range), out, [&](auto&& one) { return std::invoke(test, one); });
}
template <typename Range, typename Out, typename Make>
constexpr void transform(Range&& range, Out out, Make make) {
    std::transform(std::begin(range), std::end(range), out, [&](auto&& one) { return std::invoke(make, one); });
}
template <typename Range, typename Out>
constexpr void move(Range&& range, Out out) {
    std::move(std::begin(range), std::end(range), out);
}
template <typename Range, typename Less = std::less<>, typename Of = identity>
void stable_sort(Range&& range, Less is_less = {}, Of of = {}) {
    std::stable_sort(std::begin(range), std::end(range), [&](auto&& a, auto&& b) { return is_less(std::invoke(of, a), std::invoke(of, b)); });
}
template <typename Range, typename Less = std::less<>, typename Of = identity>
constexpr auto min_element(Range&& range, Less is_less = {}, Of of = {}) {
    return std::min_element(std::begin(range), std::end(range), [&](auto&& a, auto&& b) { return is_less(std::invoke(of, a), std::invoke(of, b)); });
}
template <typename Range, typename Less = std::less<>, typename Of = identity>
constexpr auto max_element(Range&& range, Less is_less = {}, Of of = {}) {
    return std::max_element(std::begin(range), std::end(range), [&](auto&& a, auto&& b) { return is_less(std::invoke(of, a), std::invoke(of, b)); });
}
template <typename Range, typename Less = std::less<>, typename Of = identity>
constexpr auto max(Range&& range, Less is_less = {}, Of of = {}) {
    return *ranges::max_element(range, is_less, of);
}

}  // namespace ranges
}  // namespace std
// NOLINTEND(cert-dcl58-cpp)

#endif
