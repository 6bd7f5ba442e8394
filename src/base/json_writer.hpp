#pragma once
/// @file JSON, written in order: what `--json` prints, and lines of records.
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace auspex {

/// A count of bytes, to the nearest whole one.
[[nodiscard]] std::int64_t whole(double count);

enum class JsonLayout : std::uint8_t { kIndented, kOneLine };

/// Members are written as they come: the caller opens and closes objects and arrays in pairs. A line break ends it. The
/// stream has all of it once the outermost of them is closed, not before.
class JsonWriter {
 public:
    explicit JsonWriter(std::ostream& out, JsonLayout layout = JsonLayout::kIndented);
    /// Requires: everything opened was closed.
    ~JsonWriter();
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    JsonWriter& begin_object();
    JsonWriter& end_object();
    JsonWriter& begin_array();
    JsonWriter& end_array();
    JsonWriter& key(std::string_view name);
    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(double number);
    JsonWriter& value(int number) { return value(std::int64_t{number}); }
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(std::uint64_t number);
    JsonWriter& value(bool flag);

    template <typename Value>
    JsonWriter& member(std::string_view name, const Value& what) {
        return key(name).value(what);
    }
    /// null where there is none.
    template <typename Value>
    JsonWriter& member_or_null(std::string_view name, const std::optional<Value>& what) {
        return what ? member(name, *what) : key(name).raw("null");
    }
    /// A number that may not be finite, for which JSON has only texts: "nan", "inf", "-inf".
    JsonWriter& member_or_text(std::string_view name, double number);

 private:
    JsonWriter& begin(char bracket);
    JsonWriter& end(char bracket);
    JsonWriter& raw(std::string_view text);
    void new_line(bool after_member);
    void flush();

    std::ostream& out_;
    std::string text_;  ///< not yet in the stream
    JsonLayout layout_;
    std::vector<bool> is_empty_;  ///< of each open object or array
    bool after_key_ = false;
};

}  // namespace auspex
