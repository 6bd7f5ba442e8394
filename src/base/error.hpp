#pragma once
/// @file The two kinds of failure: bad input (thrown, exit code 2) and a broken invariant (abort).
#include <stdexcept>
#include <string>

namespace auspex {

/// Bad input: a file, a flag, a unit, a grid that cannot be. Thrown where it is found, caught once in main, exit
/// code 2. The message is one line: "<where>: <what was found>; <what is allowed>".
class InputError : public std::runtime_error {
 public:
    InputError(const std::string& where, const std::string& what)
        : std::runtime_error(where + ": " + what), where_size_(where.size()) {}
    /// "machines/aurora.json: $.node.tiles", "--tiles".
    [[nodiscard]] std::string where() const { return std::string(what()).substr(0, where_size_); }
    /// What follows it: "found …; expected …".
    [[nodiscard]] std::string found() const { return std::string(what()).substr(where_size_ + 2); }

 private:
    std::size_t where_size_;
};

/// Prints the broken invariant and aborts. Use through AUSPEX_CHECK.
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

/// A broken invariant, where a program that others run in asked for this instead of its end.
class InternalFault : public std::logic_error {
 public:
    using std::logic_error::logic_error;
};
/// From now on check_failed throws InternalFault. Where nothing may be thrown the program ends all the same.
void throw_broken_invariants();

}  // namespace auspex

/// An invariant of the program itself, always on. User input must never be able to trigger it.
#define AUSPEX_CHECK(condition, why) \
    ((condition) ? static_cast<void>(0) : ::auspex::check_failed(#condition, why, __FILE__, __LINE__))
