/// @file The two files of a routing record, checked against each other.
#include "models/routing_record.hpp"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/sha256.hpp"

namespace auspex::models {
namespace {

static_assert(std::endian::native == std::endian::little, "choices are written as they lie in memory");

constexpr std::int64_t kMaxExperts = 65'536;
constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr std::int64_t kMostRecordedLayers = 10'000;
constexpr std::int64_t kMaxTokens = std::numeric_limits<int>::max();
/// A terabyte of choices: beyond it the sizes of a damaged file are to blame.
constexpr std::int64_t kMaxChoices = std::int64_t{1} << 39;

std::vector<std::int64_t> count_experts(const std::uint16_t* begin, const std::uint16_t* end, int num_experts) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(num_experts), 0);
    for (const std::uint16_t* choice = begin; choice != end; ++choice) {
        ++counts[*choice];
    }
    return counts;
}

int read_size(const JsonValue& object, const char* key, std::int64_t low, std::int64_t high) {
    return static_cast<int>(object.at(key).as_integer(low, high));
}

RoutingRecord read_sizes(const JsonValue& choices) {
    RoutingRecord record;
    record.first_step = read_size(choices, "first_step", 0, kMaxSteps);
    record.steps = read_size(choices, "steps", 1, kMaxSteps);
    record.layers = read_size(choices, "layers", 1, kMostRecordedLayers);
    record.tokens = read_size(choices, "tokens", 1, kMaxTokens);
    record.num_experts = read_size(choices, "num_experts", 1, kMaxExperts);
    record.top_k = read_size(choices, "top_k", 1, record.num_experts);
    return record;
}

std::size_t choices_of(const RoutingRecord& record, const JsonValue& choices) {
    std::int64_t count = 1;
    for (const int factor : {record.steps, record.layers, record.tokens, record.top_k}) {
        if (count > kMaxChoices / factor) {
            choices.fail("sizes whose product is at most 2^39 choices");
        }
        count *= factor;
    }
    return static_cast<std::size_t>(count);
}

void read_choices(const std::string& file, std::vector<std::uint16_t>& choices, std::size_t count) {
    std::error_code status;
    const std::size_t expected = count * sizeof(std::uint16_t);
    if (!std::filesystem::is_regular_file(file, status)) {
        throw InputError(file, "found no such file; expected the choices of a routing record");
    }
    const std::uintmax_t found = std::filesystem::file_size(file, status);
    if (status || found != expected) {
        throw InputError(file, "found " +
                                   (status ? "a file whose size cannot be read" : std::to_string(found) + " bytes") +
                                   "; expected " + std::to_string(expected) + ", as the record's sizes say");
    }
    choices.resize(count);
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(choices.data()), static_cast<std::streamsize>(expected))) {
        throw InputError(file, "found a file that cannot be read; expected the choices of a routing record");
    }
}

std::string_view bytes_of(const std::vector<std::uint16_t>& choices) {
    return {reinterpret_cast<const char*>(choices.data()), choices.size() * sizeof(std::uint16_t)};
}

void check_experts(const RoutingRecord& record, const std::string& file) {
    for (std::size_t i = 0; i < record.choices.size(); ++i) {
        if (record.choices[i] >= record.num_experts) {
            throw InputError(file, "found expert " + std::to_string(record.choices[i]) + " at choice " +
                                       std::to_string(i) + "; expected 0 to " + std::to_string(record.num_experts - 1));
        }
    }
}

void check_shares(const RoutingRecord& record, const JsonValue& shares) {
    const std::vector<std::int64_t> counts =
        count_experts(record.choices.data(), record.choices.data() + record.choices.size(), record.num_experts);
    const std::vector<JsonValue> elements = shares.elements();
    if (elements.size() != counts.size()) {
        shares.fail(std::to_string(counts.size()) + " shares, one an expert");
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (elements[i].as_integer(0, std::numeric_limits<std::int64_t>::max()) != counts[i]) {
            elements[i].fail(std::to_string(counts[i]) + ", the choices that fell on expert " + std::to_string(i));
        }
    }
}

}  // namespace

void write_routing_record(const RoutingRecord& record, const std::string& file) {
    AUSPEX_CHECK(record.num_experts >= 1 && record.num_experts <= kMaxExperts && record.top_k >= 1,
                 "a record's experts have numbers of 16 bits");
    const std::string companion = file + ".choices";
    write_file(companion, bytes_of(record.choices));
    std::string text = "{\n  \"source\": \"recorded by auspex train\",\n  \"shares\": [";
    const std::vector<std::int64_t> counts =
        count_experts(record.choices.data(), record.choices.data() + record.choices.size(), record.num_experts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(counts[i]);
    }
    text += "],\n  \"choices\": {\n    \"file\": " + json_quote(std::filesystem::path(companion).filename().string());
    const std::pair<const char*, int> sizes[] = {
        {"first_step", record.first_step}, {"steps", record.steps}, {"layers", record.layers},
        {"tokens", record.tokens},         {"top_k", record.top_k}, {"num_experts", record.num_experts}};
    for (const auto& [key, size] : sizes) {
        text += std::string(",\n    \"") + key + "\": " + std::to_string(size);
    }
    write_file(file, text + ",\n    \"sha256\": \"" + sha256_hex(bytes_of(record.choices)) + "\"\n  }\n}\n");
}

RoutingRecord read_routing_record(const std::string& file) {
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    root.allow_only({"source", "shares", "choices"});
    const JsonValue choices = root.at("choices");
    choices.allow_only({"file", "first_step", "steps", "layers", "tokens", "top_k", "num_experts", "sha256"});
    const JsonValue name = choices.at("file");
    const std::filesystem::path path(name.as_string());
    if (path.empty() || path.filename() != path) {
        name.fail("the name of a file beside this one");
    }
    RoutingRecord record = read_sizes(choices);
    const std::string companion = (std::filesystem::path(file).parent_path() / path).string();
    read_choices(companion, record.choices, choices_of(record, choices));
    if (const std::string digest = sha256_hex(bytes_of(record.choices)); digest != choices.at("sha256").as_string()) {
        throw InputError(companion, "found a file with SHA-256 " + digest + "; expected " +
                                        choices.at("sha256").as_string() + ", as " + file + " says");
    }
    check_experts(record, companion);
    check_shares(record, root.at("shares"));
    return record;
}

std::vector<std::int64_t> choices_by_expert(const RoutingRecord& record, int step, int layer, std::int64_t first,
                                            std::int64_t count) {
    if (count == 0) {
        return std::vector<std::int64_t>(static_cast<std::size_t>(record.num_experts), 0);
    }
    const std::uint16_t* const begin = record.of_token(step, layer, first).data();
    return count_experts(begin, begin + count * record.top_k, record.num_experts);
}

}  // namespace auspex::models
