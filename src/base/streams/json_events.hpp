#pragma once
/// @file JSON as a stream of events: for files that are too large to be held as a document.
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace auspex {

/// What a JSON text consists of, in its order. Texts are valid during the call only.
class JsonEvents {
 public:
    virtual ~JsonEvents() = default;
    virtual void begin_object() = 0;
    virtual void end_object() = 0;
    virtual void begin_array() = 0;
    virtual void end_array() = 0;
    virtual void key(std::string_view name) = 0;
    virtual void text(std::string_view value) = 0;
    /// A number as it is written: "1711000000000000.123" has more digits than a double keeps.
    virtual void number(double value, std::string_view digits) = 0;
    /// true, false, null: nullptr for null.
    virtual void word(const bool* value) = 0;
};

/// Reads one JSON value and calls `events` for all of it. Duplicate keys are not looked for. Throws InputError(name, …)
/// for bad or cut-off JSON (with the byte), more than 64 levels of nesting, and a single text or gap of more than
/// 64 MiB; passes on what `events` throws. Memory: that of the longest text.
void read_json_events(std::istream& in, const std::string& name, JsonEvents& events);

}  // namespace auspex
