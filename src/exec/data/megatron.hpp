#pragma once
/// @file Megatron-LM's indexed datasets: PREFIX.bin holds tokens, PREFIX.idx says where sequences begin.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.hpp"
#include "exec/data/mapped_file.hpp"

namespace auspex::exec {

/// PREFIX.idx, all little-endian: "MMIDIDX\0\0", u64 version 1, u8 type of a token (8: u16, 4: i32), u64 sequences,
/// u64 documents + 1, i32 tokens of each sequence, i64 first byte of each in PREFIX.bin, i64 first sequence of each
/// document and the number of sequences at the end.
class MegatronDataset {
 public:
    /// Throws InputError: a missing, short, long or inconsistent file, another type of token.
    explicit MegatronDataset(const std::string& prefix);

    [[nodiscard]] std::int64_t sequences() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
    [[nodiscard]] std::int64_t documents() const { return documents_; }
    [[nodiscard]] std::int64_t tokens() const { return starts_.back(); }
    [[nodiscard]] int token_bytes() const { return token_bytes_; }
    [[nodiscard]] std::int64_t tokens_of(std::int64_t sequence) const;
    /// Throws InputError for a token that is not below `vocabulary`.
    void append_sequence(std::int64_t sequence, int vocabulary, std::vector<std::int32_t>& tokens) const;
    /// PREFIX.bin and what it holds.
    [[nodiscard]] const std::string& token_file() const { return token_file_; }
    [[nodiscard]] std::string_view bytes() const { return tokens_.bytes(); }

 private:
    std::string token_file_;
    MappedFile tokens_;
    int token_bytes_ = 2;
    std::int64_t documents_ = 0;
    std::vector<std::int64_t> starts_;  ///< first token of each sequence, and the number of tokens
};

/// Writes such a pair of files, each sequence a document of its own.
class MegatronWriter {
 public:
    /// token_bytes: 2 or 4.
    MegatronWriter(const std::string& prefix, int token_bytes);
    void add_sequence(const std::vector<std::int32_t>& tokens);
    /// Without it neither file appears. Throws InputError where they cannot be written.
    void commit();

 private:
    OutputFile tokens_, index_;
    int token_bytes_;
    std::vector<std::int32_t> sizes_;
};

}  // namespace auspex::exec
