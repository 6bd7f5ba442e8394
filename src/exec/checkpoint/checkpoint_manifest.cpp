/// @file The manifest of a checkpoint, to and from JSON.
#include "exec/checkpoint/checkpoint_manifest.hpp"

#include <limits>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"

namespace auspex::exec {
namespace {

constexpr const char* kFormat = "auspex-checkpoint-2";
constexpr std::int64_t kMostInJson = std::int64_t{1} << 53;  ///< JSON numbers hold no more in many readers
constexpr int kMaxDimensions = 8;
constexpr const char* kDigestKey = "\"manifest_sha256\": ";

std::string digest_line(std::string_view before) { return kDigestKey + json_quote(sha256_hex(before)) + "\n}\n"; }

/// Every byte counts: those before the digest by the digest, the rest because it must be the digest's own line.
void check_digest(const std::string& text, const std::string& file) {
    const std::size_t at = text.rfind(kDigestKey);
    if (at == std::string::npos || text.substr(at) != digest_line(std::string_view(text).substr(0, at))) {
        throw InputError(file,
                         "found a manifest whose text does not have the digest that it ends with; expected one "
                         "as it was written");
    }
}

StoredPart read_stored_part(const JsonValue& value) {
    const std::vector<JsonValue> fields = value.elements();
    if (fields.size() != 6) {
        value.fail("[tensor, dimension, parts, part, begin, end]");
    }
    StoredPart stored;
    stored.tensor = fields[0].as_string();
    stored.split_dimension = static_cast<int>(fields[1].as_integer(0, kMaxDimensions)) - 1;
    stored.parts = static_cast<int>(fields[2].as_integer(1, std::numeric_limits<int>::max()));
    stored.part = static_cast<int>(fields[3].as_integer(0, stored.parts - 1));
    stored.begin = static_cast<std::size_t>(fields[4].as_integer(0, kMostInJson));
    stored.end = static_cast<std::size_t>(fields[5].as_integer(static_cast<std::int64_t>(stored.begin), kMostInJson));
    return stored;
}

PartFile read_part_entry(const JsonValue& value) {
    value.allow_only({"file", "bytes", "sha256", "tensors"});
    PartFile part{value.at("file").as_string(), 0, value.at("sha256").as_string()};
    if (part.name.find('/') != std::string::npos) {
        value.at("file").fail("a file of the manifest's folder");
    }
    part.bytes = static_cast<std::uint64_t>(value.at("bytes").as_integer(0, kMostInJson));
    for (const JsonValue& stored : value.at("tensors").elements()) {
        part.tensors.push_back(read_stored_part(stored));
    }
    return part;
}

std::string settings_text(const Settings& settings) {
    std::string text;
    for (const auto& [name, value] : settings) {
        text += (text.empty() ? "\n    " : ",\n    ") + json_quote(name) + ": " + json_quote(value);
    }
    return "{" + text + "\n}";
}

Settings read_settings(const JsonValue& object) {
    Settings settings;
    for (const std::string& name : object.keys()) {
        settings[name] = object.at(name).as_string();
    }
    return settings;
}

}  // namespace

std::string part_text(const PartFile& part) {
    std::string tensors;
    for (const StoredPart& t : part.tensors) {
        tensors += (tensors.empty() ? "\n        [" : ",\n        [") + json_quote(t.tensor) + ", " +
                   std::to_string(t.split_dimension + 1) + ", " + std::to_string(t.parts) + ", " +
                   std::to_string(t.part) + ", " + std::to_string(t.begin) + ", " + std::to_string(t.end) + "]";
    }
    return "{\"file\": " + json_quote(part.name) + ", \"bytes\": " + std::to_string(part.bytes) +
           ", \"sha256\": " + json_quote(part.sha256) + ", \"tensors\": [" + tensors + "]}";
}

PartFile parse_part(const std::string& text) {
    const JsonDocument document = JsonDocument::parse(text, "part");
    return read_part_entry(document.root());
}

std::string manifest_text(const Manifest& m) {
    std::string text = "{\n";
    const auto line = [&](const char* key, const std::string& json) { text += json_quote(key) + ": " + json + ",\n"; };
    line("format", json_quote(kFormat));
    line("serial", std::to_string(m.serial));
    line("step", std::to_string(m.step));
    line("sequences", std::to_string(m.sequences));
    line("workload", json_quote(m.workload));
    line("plan", json_quote(m.plan));
    line("model", settings_text(m.model));
    line("training", settings_text(m.settings));
    std::string parts;
    for (const PartFile& part : m.parts) {
        parts += (parts.empty() ? "\n    " : ",\n    ") + part_text(part);
    }
    line("parts", "[" + parts + "\n]");
    return text + digest_line(text);
}

Manifest parse_manifest(const std::string& text, const std::string& file) {
    check_digest(text, file);
    const JsonDocument document = JsonDocument::parse(text, file);
    const JsonValue root = document.root();
    root.allow_only(
        {"format", "serial", "step", "sequences", "workload", "plan", "model", "training", "parts", "manifest_sha256"});
    static_cast<void>(root.at("format").as_one_of({kFormat}));
    Manifest m;
    m.serial = root.at("serial").as_integer(0, kMostInJson);
    m.step = static_cast<int>(root.at("step").as_integer(0, std::numeric_limits<int>::max()));
    m.sequences = root.at("sequences").as_integer(0, kMostInJson);
    m.workload = root.at("workload").as_string();
    m.plan = root.at("plan").as_string();
    m.model = read_settings(root.at("model"));
    m.settings = read_settings(root.at("training"));
    for (const JsonValue& part : root.at("parts").elements()) {
        m.parts.push_back(read_part_entry(part));
    }
    return m;
}

Manifest load_manifest(const std::string& file) { return parse_manifest(read_input_file(file), file); }

}  // namespace auspex::exec
