/// @file Two JSON files, field by field.
#include <algorithm>

#include "base/json.hpp"
#include "report/difference/difference.hpp"

namespace auspex::report {
namespace {

/// What a reader reads, and no prediction.
bool is_words(const std::string& key) {
    return key == "source" || key == "comment" || key == "description" || key == "url" || key == "$schema";
}

bool is_constant(const JsonValue& value) { return value.is_object() && value.find("value").has_value(); }

/// Collects what differs below a path.
class Walk {
 public:
    void compare(const std::string& path, const std::optional<JsonValue>& before,
                 const std::optional<JsonValue>& after) {
        if (!before || !after) {
            changes_.push_back({path, before ? value_text(*before) : "", after ? value_text(*after) : ""});
        } else if (is_constant(*before) || is_constant(*after)) {
            compare_constants(path, *before, *after);
        } else if (before->is_object() && after->is_object()) {
            compare_objects(path, *before, *after);
        } else if (before->is_array() && after->is_array()) {
            compare_arrays(path, *before, *after);
        } else if (!same(*before, *after)) {
            changes_.push_back({path, before->excerpt(), after->excerpt()});
        }
    }
    [[nodiscard]] std::vector<InputChange> changes() && { return std::move(changes_); }

 private:
    /// Of a constant its value.
    static std::string value_text(const JsonValue& value) {
        return is_constant(value) ? value.at("value").excerpt() : value.excerpt();
    }
    /// Of values that are neither objects nor arrays; excerpts of long texts are cut.
    static bool same(const JsonValue& before, const JsonValue& after) {
        return before.is_string() && after.is_string() ? before.as_string() == after.as_string()
                                                       : before.excerpt() == after.excerpt();
    }
    /// A constant may be a bare value in one of the files.
    void compare_constants(const std::string& path, const JsonValue& before, const JsonValue& after) {
        const auto value_of = [](const JsonValue& constant) {
            return is_constant(constant) ? constant.at("value") : constant;
        };
        const auto part_of = [](const JsonValue& constant, const char* key) {
            return is_constant(constant) ? constant.find(key) : std::nullopt;
        };
        compare(path, value_of(before), value_of(after));
        for (const char* key : {"kind", "uncertainty"}) {
            const auto old_part = part_of(before, key), new_part = part_of(after, key);
            if (old_part || new_part) {
                compare(path + "." + key, old_part, new_part);
            }
        }
    }
    void compare_objects(const std::string& path, const JsonValue& before, const JsonValue& after) {
        std::vector<std::string> keys = before.keys();
        for (const std::string& key : after.keys()) {
            if (std::ranges::find(keys, key) == keys.end()) {
                keys.push_back(key);
            }
        }
        for (const std::string& key : keys) {
            if (!is_words(key)) {
                compare(path + "." + key, before.find(key), after.find(key));
            }
        }
    }
    void compare_arrays(const std::string& path, const JsonValue& before, const JsonValue& after) {
        const std::vector<JsonValue> old_elements = before.elements(), new_elements = after.elements();
        if (old_elements.size() != new_elements.size()) {
            changes_.push_back({path, before.excerpt(), after.excerpt()});
            return;
        }
        for (std::size_t i = 0; i < old_elements.size(); ++i) {
            compare(path + "[" + std::to_string(i) + "]", old_elements[i], new_elements[i]);
        }
    }

    std::vector<InputChange> changes_;
};

}  // namespace

std::vector<InputChange> changed_fields(const std::string& role, const JsonValue& before, const JsonValue& after) {
    Walk walk;
    walk.compare(role, before, after);
    return std::move(walk).changes();
}

}  // namespace auspex::report
