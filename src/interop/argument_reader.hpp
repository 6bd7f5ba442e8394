#pragma once
/// @file Arguments or variables of a framework, read one by one.
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace auspex::interop {

/// Remembers what was read, so that the rest can be refused by its name. Throws InputError as "FILE: NAME: found …".
class ArgumentReader {
 public:
    ArgumentReader(const std::map<std::string, std::string>& values, const std::string& file)
        : values_(values), file_(file) {}

    [[nodiscard]] bool has(const std::string& name);
    [[nodiscard]] std::string word(const std::string& name, const std::string& otherwise);
    /// Refuses any other word; the first is taken where there is none.
    std::string one_of(const std::string& name, std::initializer_list<const char*> words);
    /// Whole, from 1 to `most`.
    [[nodiscard]] std::int64_t whole(const std::string& name, std::int64_t otherwise, std::int64_t most);
    /// Whole, from 1 to ten million.
    [[nodiscard]] int number(const std::string& name, int otherwise);
    /// From 0 to 1.
    [[nodiscard]] double share(const std::string& name, double otherwise);
    /// 1 or 0, or in words true or false, in capitals or not.
    [[nodiscard]] bool truth(const std::string& name, bool otherwise);
    /// Of a switch, which has no value.
    [[nodiscard]] bool is_switched_on(const std::string& name);

    [[noreturn]] void refuse(const std::string& name, const std::string& found, const std::string& expected) const;
    /// Refuses the first name that was not read and does not pass: it may change what a step costs.
    template <typename Passes>
    void refuse_unread(Passes passes) const {
        for (const auto& [name, value] : values_) {
            if (!read_.contains(name) && !passes(name)) {
                refuse_unknown(name);
            }
        }
    }

 private:
    [[noreturn]] void refuse_unknown(const std::string& name) const;

    const std::map<std::string, std::string>& values_;
    const std::string& file_;
    std::set<std::string, std::less<>> read_;
};

}  // namespace auspex::interop
