#pragma once
/// @file Token shards, memory-mapped: sequences that were shuffled once, read in order.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/data/dataset_info.hpp"
#include "exec/data/training_data.hpp"

namespace auspex::exec {

/// DIR/dataset.json (sizes, vocabulary, tokenizer, checksums; docs/formats-training.md) and DIR/shard-NNNNN.bin: rows
/// of sequence_length + 1 tokens, 16 or 32 bits, little-endian. The last token of a row is the target of the one
/// before.
class Dataset final : public TrainingData {
 public:
    /// Throws InputError: no dataset, a shard that is missing, cut short or too long, a token beyond the vocabulary
    /// (checked as rows are read).
    static Dataset open(const std::string& folder);
    Dataset(Dataset&&) noexcept;
    Dataset& operator=(Dataset&&) noexcept;
    ~Dataset() override;

    [[nodiscard]] int sequence_length() const override;
    [[nodiscard]] int vocabulary() const override;
    [[nodiscard]] std::int64_t sequences() const override;
    [[nodiscard]] const std::string& path() const override;
    [[nodiscard]] const DatasetInfo& info() const;
    void append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const override;
    void check_digests() const override;
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] std::string content_digest() const override;

 private:
    struct Impl;
    explicit Dataset(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex::exec
