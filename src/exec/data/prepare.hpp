#pragma once
/// @file From text, or tokens that somebody else made, to a dataset on disk.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/data/dataset.hpp"

namespace auspex::exec {

/// Either `inputs` or `megatron` is given.
struct PrepareRequest {
    std::vector<std::string> inputs;  ///< text files; a file is a document unless there is a separator
    std::string document_separator;   ///< ends a document wherever it stands; empty: none
    bool learns_merges = false;       ///< byte-pair encoding, learned from the inputs; else bytes
    std::string tokenizer_file;       ///< instead: merges that another dataset has learned; empty: none
    std::string megatron;             ///< prefix of a Megatron dataset, whose tokens are taken as they are
    int vocabulary = 0;               ///< to learn (257 or more), or of the Megatron dataset; not read for bytes
    int sequence_length = 1024;
    std::uint64_t seed = 1;            ///< of the order of rows
    std::int64_t shard_rows = 65'536;  ///< of a full shard
    std::string folder;
};

/// What is being done ("bytes tokenised"), how much of it, and how much there is.
using PrepareProgress = std::function<void(const char* what, std::size_t done, std::size_t all)>;

/// Tokens of all documents one after the other, each with an end of document behind it (Megatron: as they come), cut
/// into rows of sequence_length + 1, the rows shuffled by a permutation of the seed, written shard by shard. Merges are
/// learned from the first 256 MiB of text. Holds eight bytes a row in memory; the tokens wait in a file.
/// dataset.json comes last: a folder without it holds no dataset. Throws InputError, also where the folder has a
/// dataset already.
DatasetInfo prepare_dataset(const PrepareRequest& request, const PrepareProgress& progress);

/// A permutation of 0 .. count - 1 (Fisher-Yates).
[[nodiscard]] std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed);

/// The dataset's rows as PREFIX.bin and PREFIX.idx, each a document of sequence_length + 1 tokens.
void export_megatron(const Dataset& dataset, const std::string& prefix);

}  // namespace auspex::exec
