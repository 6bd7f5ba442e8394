#pragma once
/// @file Strict JSON: every read names file and path when it fails; nlohmann stays inside json.cpp.
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace auspex {

class JsonDocument;

/// A value inside a document: cheap to copy, valid while its document lives.
/// Every accessor throws InputError("<file>: <$.path>", "found …; expected …") when the value is not what is asked.
class JsonValue {
 public:
    [[nodiscard]] bool is_object() const;
    [[nodiscard]] bool is_array() const;
    [[nodiscard]] bool is_string() const;
    [[nodiscard]] bool is_number() const;
    [[nodiscard]] bool is_bool() const;
    [[nodiscard]] bool is_null() const;

    /// Required member; throws "missing key" naming the keys that are there.
    [[nodiscard]] JsonValue at(std::string_view key) const;
    [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> keys() const;
    [[nodiscard]] std::vector<JsonValue> elements() const;
    /// Throws for the first key that is not in the list, naming it and the keys allowed. Requires an object (throws).
    /// Keys that begin with "$" or equal "comment" are always allowed.
    void allow_only(std::span<const std::string_view> allowed) const;
    void allow_only(std::initializer_list<std::string_view> allowed) const {
        allow_only(std::span(allowed.begin(), allowed.size()));
    }

    [[nodiscard]] std::string as_string() const;
    /// One of the words given, else an error listing them; returns its index.
    [[nodiscard]] std::size_t as_one_of(std::span<const std::string_view> words) const;
    [[nodiscard]] std::size_t as_one_of(std::initializer_list<std::string_view> words) const {
        return as_one_of(std::span(words.begin(), words.size()));
    }
    [[nodiscard]] bool as_bool() const;
    [[nodiscard]] std::int64_t as_integer(std::int64_t low, std::int64_t high) const;
    [[nodiscard]] double as_number(double low, double high) const;
    /// A quantity: a string with a unit of `dimension` (a plain number only for Dimension::kNone), within [low, high]
    /// in SI.
    [[nodiscard]] double as_quantity(Dimension dimension, double low, double high) const;

    /// "machines/aurora.json: $.node.nic.bandwidth"
    [[nodiscard]] std::string where() const;
    /// "node.nic.bandwidth"
    [[nodiscard]] std::string path() const;
    /// The value as compact JSON.
    [[nodiscard]] std::string dump() const;
    /// The same, cut to 60 characters: for messages.
    [[nodiscard]] std::string excerpt() const;
    /// Throws InputError: found <excerpt>; expected <expected>.
    [[noreturn]] void fail(const std::string& expected) const;

 private:
    friend class JsonDocument;
    JsonValue(const JsonDocument* document, const void* node, std::string path);
    const JsonDocument* document_;
    const void* node_;
    std::string path_;
};

/// A parsed file. Duplicate keys, comments, trailing text, NaN and nesting deeper than 64 are refused.
class JsonDocument {
 public:
    /// Reads and parses a file. Throws InputError for a missing file, a directory, an empty file, more than 64 MiB, bad
    /// JSON (with line and column).
    static JsonDocument load(const std::string& file);
    static JsonDocument parse(std::string_view text, const std::string& name);
    /// The same file with other content, for one that is written in another project's format: name and checksum stay.
    [[nodiscard]] JsonDocument converted(std::string_view text) const;
    /// The same file with other content, some of which comes from `part`: sources() has that file, too.
    [[nodiscard]] JsonDocument joined(std::string_view text, const JsonDocument& part) const;
    JsonDocument(const JsonDocument&);
    JsonDocument& operator=(const JsonDocument&);
    JsonDocument(JsonDocument&&) noexcept;
    JsonDocument& operator=(JsonDocument&&) noexcept;
    ~JsonDocument();

    [[nodiscard]] JsonValue root() const;
    [[nodiscard]] const std::string& name() const;
    /// Replaces (or adds, for a key that the loader will then judge) the value at a dotted path, as `--set` does.
    /// `value_text` is JSON if it parses as JSON, else taken as a string, unless it begins with [, { or " (throws). If
    /// the present value is an object with a "value" key (a sourced constant) and the new one is not an object, only
    /// its "value" is replaced and its "source" becomes "set on the command line", "kind" "assumed". Throws InputError
    /// where a parent of the path does not exist or is no object, naming the keys there.
    void set(std::string_view dotted_path, const std::string& value_text);
    /// Replaces the number of a quantity at `path` for a sensitivity study; keeps kind and source.
    void set_quantity(std::string_view dotted_path, double value, Dimension dimension);
    [[nodiscard]] std::string dump() const;
    /// The same in lines, two spaces a level: for files that people read.
    [[nodiscard]] std::string indented() const;
    /// SHA-256 in hex of the text that was parsed, byte for byte (what sha256sum prints for the file); `set` does not
    /// change it.
    [[nodiscard]] const std::string& sha256() const;
    /// A file and its checksum.
    struct Source {
        std::string name, sha256;
    };
    /// The file, then those of the parts that were joined to it.
    [[nodiscard]] std::vector<Source> sources() const;

 private:
    struct Impl;
    explicit JsonDocument(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
    friend class JsonValue;
};

/// Text quoted as a JSON string, quotes included; invalid UTF-8 becomes U+FFFD. For the writers in report and cli.
[[nodiscard]] std::string json_quote(std::string_view text);
/// A double as JSON: shortest text that reads back the same; not-finite aborts (an invariant).
[[nodiscard]] std::string json_number(double value);

}  // namespace auspex
