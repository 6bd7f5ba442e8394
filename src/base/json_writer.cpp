/// @file Brackets, commas and line breaks.
#include "base/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex {
namespace {

/// Characters that are kept before the stream gets them: a write of each would cost more than the rest.
constexpr std::size_t kKept = 1U << 16U;

}  // namespace

std::int64_t whole(double count) { return std::llround(count); }

JsonWriter::JsonWriter(std::ostream& out, JsonLayout layout) : out_(out), layout_(layout) {}

JsonWriter::~JsonWriter() {
    text_ += '\n';
    flush();
}

void JsonWriter::flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
}

/// Between members, and beside the brackets of what has any.
void JsonWriter::new_line(bool after_member) {
    if (layout_ == JsonLayout::kIndented) {
        text_ += '\n';
        text_.append(2 * is_empty_.size(), ' ');
    } else if (after_member) {
        text_ += ' ';
    }
}

JsonWriter& JsonWriter::raw(std::string_view text) {
    if (!after_key_ && !is_empty_.empty()) {
        const bool after_member = !is_empty_.back();
        if (after_member) {
            text_ += ',';
        }
        new_line(after_member);
        is_empty_.back() = false;
    }
    after_key_ = false;
    if (text_.size() > kKept) {
        flush();
    }
    text_ += text;
    return *this;
}

JsonWriter& JsonWriter::begin(char bracket) {
    raw({&bracket, 1});
    is_empty_.push_back(true);
    return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
    AUSPEX_CHECK(!is_empty_.empty() && !after_key_, "JSON brackets are closed in pairs");
    const bool was_empty = is_empty_.back();
    is_empty_.pop_back();
    if (!was_empty) {
        new_line(false);
    }
    text_ += bracket;
    if (is_empty_.empty()) {
        flush();
    }
    return *this;
}

JsonWriter& JsonWriter::begin_object() { return begin('{'); }
JsonWriter& JsonWriter::end_object() { return end('}'); }
JsonWriter& JsonWriter::begin_array() { return begin('['); }
JsonWriter& JsonWriter::end_array() { return end(']'); }

JsonWriter& JsonWriter::key(std::string_view name) {
    value(name);
    text_ += ": ";
    after_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    // What answers are made of, keys and names, has nothing to escape.
    const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\'; };
    if (!std::ranges::all_of(text, is_plain)) {
        return raw(json_quote(text));
    }
    raw("\"");
    text_.append(text).append(1, '"');
    return *this;
}
JsonWriter& JsonWriter::value(double number) { return raw(json_number(number)); }
JsonWriter& JsonWriter::value(std::int64_t number) { return raw(std::to_string(number)); }
JsonWriter& JsonWriter::value(std::uint64_t number) { return raw(std::to_string(number)); }
JsonWriter& JsonWriter::value(bool flag) { return raw(flag ? "true" : "false"); }

JsonWriter& JsonWriter::member_or_text(std::string_view name, double number) {
    if (std::isfinite(number)) {
        return member(name, number);
    }
    return member(name, std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
}

}  // namespace auspex
