#pragma once
/// @file The two kinds of failure: bad input (thrown, exit code 2) and a broken invariant (abort).
#include <stdexcept>
#include <string>

namespace auspex {

/// Bad input: a file, a flag, a unit, a grid that cannot be. Thrown where it is found, caught once in main, exit
/// code 2. The message is one line: "<where>: <what was found>; <what is allowed>".
class InputError : public std::runtime_error {
 public:
    InputError(const std::string& where, const std::string& what) : std::runtime_error(where + ": " + what) {}
};

/// Prints the broken invariant and aborts. Use through AUSPEX_CHECK.
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace auspex

/// An invariant of the program itself, always on. User input must never be able to trigger it.
#define AUSPEX_CHECK(condition, why) \
    ((condition) ? static_cast<void>(0) : ::auspex::check_failed(#condition, why, __FILE__, __LINE__))
