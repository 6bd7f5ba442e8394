#pragma once
/// @file What DIR/dataset.json says of a dataset.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auspex::exec {

struct DatasetShard {
    std::string file;  ///< in the dataset's folder
    std::int64_t rows = 0;
    std::string sha256;
};

struct DatasetSource {
    std::string file;
    std::int64_t bytes = 0;
    std::string sha256;
};

/// docs/formats-training.md describes the file.
struct DatasetInfo {
    int sequence_length = 0;
    int vocabulary = 0;
    int token_bytes = 2;                 ///< 2 or 4
    std::string tokenizer;               ///< "bytes", "bpe" or "megatron" (tokens that came as they are)
    std::optional<int> end_of_document;  ///< none with "megatron"
    std::uint64_t seed = 1;              ///< of the order of rows
    std::int64_t documents = 0, tokens = 0, dropped_tokens = 0, rows = 0;
    std::vector<DatasetSource> sources;
    std::vector<DatasetShard> shards;

    [[nodiscard]] std::int64_t row_bytes() const { return (std::int64_t{sequence_length} + 1) * token_bytes; }
};

/// Throws InputError: no dataset there, or a file that contradicts itself.
[[nodiscard]] DatasetInfo load_dataset_info(const std::string& folder);
/// Writes dataset.json, whole or not at all.
void save_dataset_info(const DatasetInfo& info, const std::string& folder);

/// SHA-256 of what is read of a dataset, wherever it lies: size and vocabulary of its rows, and its shards in order.
[[nodiscard]] std::string content_digest(const DatasetInfo& data);

/// Bytes that a token of this vocabulary takes: 2 up to 65,536 tokens, else 4.
[[nodiscard]] int token_bytes_of(int vocabulary);

}  // namespace auspex::exec
