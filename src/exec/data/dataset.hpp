#pragma once
/// @file Token shards, memory-mapped: sequences that were shuffled once, read in order.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/data/dataset_info.hpp"

namespace auspex::exec {

/// DIR/dataset.json (sizes, vocabulary, tokenizer, checksums; docs/formats-training.md) and DIR/shard-NNNNN.bin: rows
/// of sequence_length + 1 tokens, 16 or 32 bits, little-endian. The last token of a row is the target of the one
/// before.
class Dataset {
 public:
    /// Throws InputError: no dataset, a shard that is missing, cut short or too long, a token beyond the vocabulary
    /// (checked as rows are read).
    static Dataset open(const std::string& folder);
    Dataset(Dataset&&) noexcept;
    Dataset& operator=(Dataset&&) noexcept;
    ~Dataset();

    [[nodiscard]] int sequence_length() const;
    [[nodiscard]] int vocabulary() const;
    [[nodiscard]] std::int64_t sequences() const;
    [[nodiscard]] const std::string& folder() const;
    [[nodiscard]] const DatasetInfo& info() const;
    /// sequence_length + 1 tokens of row (index mod sequences()): after the last row the first follows.
    void append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const;
    /// Reads every shard; throws InputError for the first whose SHA-256 is not that of dataset.json.
    void check_digests() const;

 private:
    struct Impl;
    explicit Dataset(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex::exec
