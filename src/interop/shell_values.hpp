#pragma once
/// @file What variables of shell text stand for, where that is written out.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::interop {

/// NAME=… of a script. Nothing is run: a variable has a value where the text gives it one, and one alone.
class ShellValues {
 public:
    /// Of NAME=text. A variable that is its own default, NAME=${NAME:-4}, keeps what it had before.
    void assign(const std::string& name, const std::string& text);

    [[nodiscard]] std::vector<std::string> names() const;
    /// With $NAME, ${NAME}, ${NAME:-default}, ${NAME-default}, ${NAME:=default} and whole numbers in $(( … )) written
    /// out; nothing where a part of it is not known, or has two values.
    [[nodiscard]] std::optional<std::string> expanded(std::string_view word) { return expanded(word, 0); }
    /// As expanded("$NAME").
    [[nodiscard]] std::optional<std::string> value(const std::string& name) { return value(name, 0); }

    /// Of all that was expanded, the defaults that were taken because the text sets no such variable; none: no notes.
    [[nodiscard]] std::vector<std::string> notes() const;

 private:
    struct Assigned {
        std::string text;
        bool is_default = false;  ///< for where the environment does not set it
        bool has_two = false;
    };

    std::optional<std::string> expanded(std::string_view word, int depth);
    std::optional<std::string> value(const std::string& name, int depth);
    /// What stands in ${ … }.
    std::optional<std::string> parameter(std::string_view inside, int depth);
    /// What stands in $(( … )).
    std::optional<std::string> arithmetic(std::string_view inside, int depth);
    std::optional<std::string> take_part(std::string_view& rest, int depth);

    std::map<std::string, Assigned> assigned_;
    std::map<std::string, std::optional<std::string>> known_;  ///< expanded before; nothing while it is being expanded
    std::set<std::string> defaults_;                           ///< taken: "NAME 4"
};

}  // namespace auspex::interop
