/// @file The manifest of a checkpoint, to and from JSON.
#include "exec/checkpoint_manifest.hpp"

#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"

namespace auspex {
namespace {

constexpr const char* kFormat = "auspex-checkpoint-1";
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

/// JSON numbers hold 53 bits in many readers.
std::uint64_t read_seed(const JsonValue& value) {
    const std::string text = value.as_string();
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size()) {
        value.fail("a whole number of 64 bits, as a string");
    }
    return seed;
}

PartFile read_part_entry(const JsonValue& value) {
    value.allow_only({"file", "bytes", "sha256"});
    PartFile part{value.at("file").as_string(), 0, value.at("sha256").as_string()};
    if (part.name.find('/') != std::string::npos) {
        value.at("file").fail("a file of the manifest's folder");
    }
    part.bytes = static_cast<std::uint64_t>(value.at("bytes").as_integer(0, std::numeric_limits<std::int64_t>::max()));
    return part;
}

}  // namespace

std::string manifest_text(const Manifest& m) {
    std::string text = "{\n";
    const auto line = [&](const char* key, const std::string& json) { text += json_quote(key) + ": " + json + ",\n"; };
    line("format", json_quote(kFormat));
    line("serial", std::to_string(m.serial));
    line("step", std::to_string(m.step));
    line("seed", json_quote(std::to_string(m.seed)));
    line("workload", json_quote(m.workload));
    line("workload_digest", json_quote(m.workload_digest));
    line("plan", json_quote(m.plan));
    std::string parts;
    for (const PartFile& part : m.parts) {
        parts += (parts.empty() ? "\n" : ",\n") + ("    {\"file\": " + json_quote(part.name)) +
                 ", \"bytes\": " + std::to_string(part.bytes) + ", \"sha256\": " + json_quote(part.sha256) + "}";
    }
    line("parts", "[" + parts + "\n]");
    return text + digest_line(text);
}

Manifest load_manifest(const std::string& file) {
    const std::string text = read_input_file(file);
    check_digest(text, file);
    const JsonDocument document = JsonDocument::parse(text, file);
    const JsonValue root = document.root();
    root.allow_only(
        {"format", "serial", "step", "seed", "workload", "workload_digest", "plan", "parts", "manifest_sha256"});
    static_cast<void>(root.at("format").as_one_of({kFormat}));
    Manifest m;
    m.serial = root.at("serial").as_integer(0, std::numeric_limits<std::int64_t>::max());
    m.step = static_cast<int>(root.at("step").as_integer(0, std::numeric_limits<int>::max()));
    m.seed = read_seed(root.at("seed"));
    m.workload = root.at("workload").as_string();
    m.workload_digest = root.at("workload_digest").as_string();
    m.plan = root.at("plan").as_string();
    for (const JsonValue& part : root.at("parts").elements()) {
        m.parts.push_back(read_part_entry(part));
    }
    return m;
}

std::string shapes_digest(const Workload& w) {
    std::string text;
    const auto add = [&](const char* name, int value) {
        text += std::string(name) + "=" + std::to_string(value) + ";";
    };
    add("layers", w.layers), add("hidden_size", w.hidden_size), add("heads", w.heads), add("kv_heads", w.kv_heads);
    add("head_size", w.head_size), add("intermediate_size", w.intermediate_size), add("vocab_size", w.vocab_size);
    add("tied_embeddings", w.tied_embeddings), add("qk_norm", w.qk_norm), add("learned_positions", w.learned_positions);
    add("biases", w.biases), add("norm", static_cast<int>(w.norm)),
        add("feed_forward", static_cast<int>(w.feed_forward));
    add("attention", static_cast<int>(w.attention)), add("q_rank", w.q_rank), add("kv_rank", w.kv_rank);
    add("rope_head_size", w.rope_head_size), add("value_head_size", w.value_head_size);
    add("num_experts", w.num_experts), add("expert_size", w.expert_size), add("shared_experts", w.shared_experts);
    add("first_dense_layers", w.first_dense_layers);
    return sha256_hex(text);
}

}  // namespace auspex
