#pragma once
/// @file Names matched by parts of them.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace auspex::kineto {

/// What a name that has this part is.
template <class Kind>
struct NamePart {
    std::string_view text;  ///< lower case; "=…": the whole name
    Kind kind;

    [[nodiscard]] bool is_in(std::string_view name) const {
        return text.front() == '=' ? name == text.substr(1) : name.find(text) != std::string_view::npos;
    }
};

/// The kind of the first part that is in the name.
template <class Kind, std::size_t N>
[[nodiscard]] std::optional<Kind> first_of(const std::array<NamePart<Kind>, N>& parts, std::string_view name) {
    const auto found =
        std::find_if(parts.begin(), parts.end(), [name](const NamePart<Kind>& part) { return part.is_in(name); });
    return found == parts.end() ? std::nullopt : std::optional(found->kind);
}

}  // namespace auspex::kineto
