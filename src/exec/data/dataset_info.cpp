/// @file Strict reading and writing of dataset.json.
#include "exec/data/dataset_info.hpp"

#include <filesystem>
#include <limits>
#include <system_error>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/sha256.hpp"

namespace auspex::exec {
namespace {

constexpr std::int64_t kMostOfDataset = std::numeric_limits<std::int64_t>::max() / 8;
constexpr std::int64_t kMostTokensOfDataset = 100'000'000;

std::string file_of(const std::string& folder) { return (std::filesystem::path(folder) / "dataset.json").string(); }

std::string read_digest(const JsonValue& value) {
    const std::string digest = value.as_string();
    if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
        value.fail("a SHA-256 of 64 lower-case hexadecimal digits");
    }
    return digest;
}

std::vector<DatasetSource> read_sources(const JsonValue& list) {
    std::vector<DatasetSource> sources;
    for (const JsonValue& element : list.elements()) {
        element.allow_only({"file", "bytes", "sha256"});
        sources.push_back({element.at("file").as_string(), element.at("bytes").as_integer(0, kMostOfDataset),
                           read_digest(element.at("sha256"))});
    }
    return sources;
}

std::vector<DatasetShard> read_shards(const JsonValue& list, std::int64_t rows) {
    std::vector<DatasetShard> shards;
    std::int64_t sum = 0;
    for (const JsonValue& element : list.elements()) {
        element.allow_only({"file", "rows", "sha256"});
        const JsonValue file = element.at("file");
        if (std::filesystem::path(file.as_string()).filename() != file.as_string()) {
            file.fail("the name of a file in the dataset's folder");
        }
        shards.push_back(
            {file.as_string(), element.at("rows").as_integer(1, rows - sum), read_digest(element.at("sha256"))});
        sum += shards.back().rows;
    }
    if (sum != rows) {
        list.fail("shards whose rows sum to \"rows\" (" + std::to_string(rows) + "), not to " + std::to_string(sum));
    }
    return shards;
}

void read_counts(const JsonValue& root, DatasetInfo& info) {
    info.documents = root.at("documents").as_integer(1, kMostOfDataset);
    info.tokens = root.at("tokens").as_integer(1, kMostOfDataset);
    info.rows = root.at("rows").as_integer(1, kMostOfDataset / (std::int64_t{info.sequence_length} + 1));
    info.dropped_tokens = root.at("dropped_tokens").as_integer(0, info.sequence_length);
    const std::int64_t kept = info.rows * (std::int64_t{info.sequence_length} + 1);
    if (info.tokens != kept + info.dropped_tokens) {
        root.at("tokens").fail("rows * (sequence_length + 1) + dropped_tokens = " +
                               std::to_string(kept + info.dropped_tokens));
    }
}

std::string text_of(const DatasetSource& source) {
    return "{\"file\": " + json_quote(source.file) + ", \"bytes\": " + std::to_string(source.bytes) +
           ", \"sha256\": \"" + source.sha256 + "\"}";
}

std::string text_of(const DatasetShard& shard) {
    return "{\"file\": " + json_quote(shard.file) + ", \"rows\": " + std::to_string(shard.rows) + ", \"sha256\": \"" +
           shard.sha256 + "\"}";
}

template <typename Item>
std::string list_of(const std::vector<Item>& items) {
    std::string text = "[";
    for (const Item& item : items) {
        text += (text.size() == 1 ? "\n    " : ",\n    ") + text_of(item);
    }
    return text + "]";
}

}  // namespace

std::string content_digest(const DatasetInfo& data) {
    std::string text = std::to_string(data.sequence_length) + " " + std::to_string(data.vocabulary) + " " +
                       std::to_string(data.token_bytes) + "\n";
    for (const DatasetShard& shard : data.shards) {
        text += std::to_string(shard.rows) + " " + shard.sha256 + "\n";
    }
    return sha256_hex(text);
}

int token_bytes_of(int vocabulary) { return vocabulary <= 65'536 ? 2 : 4; }

DatasetInfo load_dataset_info(const std::string& folder) {
    const std::string file = file_of(folder);
    std::error_code status;
    if (!std::filesystem::exists(file, status)) {
        throw InputError(folder, "found no dataset.json; expected a folder that \"auspex data prepare\" has written");
    }
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    root.allow_only({"auspex_dataset", "sequence_length", "vocabulary", "token_bytes", "tokenizer", "end_of_document",
                     "seed", "documents", "tokens", "dropped_tokens", "rows", "sources", "shards"});
    static_cast<void>(root.at("auspex_dataset").as_integer(1, 1));
    DatasetInfo info;
    info.sequence_length = static_cast<int>(root.at("sequence_length").as_integer(1, kMostTokensOfDataset));
    info.vocabulary = static_cast<int>(root.at("vocabulary").as_integer(1, kMostTokensOfDataset));
    info.token_bytes = token_bytes_of(info.vocabulary);
    if (root.at("token_bytes").as_integer(2, 4) != info.token_bytes) {
        root.at("token_bytes").fail(std::to_string(info.token_bytes) + ", which this vocabulary takes");
    }
    const JsonValue tokenizer = root.at("tokenizer");
    static_cast<void>(tokenizer.as_one_of({"bytes", "bpe", "megatron"}));
    info.tokenizer = tokenizer.as_string();
    if (const auto end = root.find("end_of_document")) {
        info.end_of_document = static_cast<int>(end->as_integer(0, info.vocabulary - 1));
    }
    info.seed = static_cast<std::uint64_t>(root.at("seed").as_integer(0, std::numeric_limits<std::int64_t>::max()));
    read_counts(root, info);
    info.sources = read_sources(root.at("sources"));
    info.shards = read_shards(root.at("shards"), info.rows);
    return info;
}

void save_dataset_info(const DatasetInfo& info, const std::string& folder) {
    const auto number = [](const char* key, auto value) {
        return std::string("  \"") + key + "\": " + std::to_string(value) + ",\n";
    };
    std::string text = "{\n" + number("auspex_dataset", 1) + number("sequence_length", info.sequence_length) +
                       number("vocabulary", info.vocabulary) + number("token_bytes", info.token_bytes) +
                       "  \"tokenizer\": " + json_quote(info.tokenizer) + ",\n";
    if (info.end_of_document) {
        text += number("end_of_document", *info.end_of_document);
    }
    text += number("seed", info.seed) + number("documents", info.documents) + number("tokens", info.tokens) +
            number("dropped_tokens", info.dropped_tokens) + number("rows", info.rows) +
            "  \"sources\": " + list_of(info.sources) + ",\n  \"shards\": " + list_of(info.shards) + "\n}\n";
    write_file(file_of(folder), text);
}

}  // namespace auspex::exec
