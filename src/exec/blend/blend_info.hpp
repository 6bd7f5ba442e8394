#pragma once
/// @file What a blend says of itself.
#include <cstdint>
#include <string>
#include <vector>

namespace auspex::exec {

struct BlendSource {
    std::string folder;              ///< of the dataset, from the blend's folder on
    double weight = 0;               ///< as it was asked for
    std::int64_t rows = 0;           ///< of the dataset: an epoch
    std::string digest;              ///< content_digest() of the dataset
    std::int64_t sequences = 0;      ///< of the blend that are this source's
    std::int64_t repeats_from = -1;  ///< first sequence of the blend that is of the source's second epoch; -1: none is
};

/// docs/formats-training.md describes the file.
struct BlendInfo {
    int sequence_length = 0;
    int vocabulary = 0;
    std::string tokenizer;  ///< of every source: "bytes", "bpe" or "megatron"
    std::uint64_t seed = 1;
    std::int64_t sequences = 0;
    std::vector<BlendSource> sources;
    std::string index_digest;  ///< SHA-256 of the SHA-256 of its blocks
    std::string digest;        ///< SHA-256 of the text that says all this: of the order and of every source
};

/// More sequences, or sources, than a blend can have.
inline constexpr std::int64_t kMaxBlendSequences = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxBlendSources = 32'767;

/// As JSON; `digest` is not in it.
[[nodiscard]] std::string text_of(const BlendInfo& info);
/// Reads it; sets `digest`. Throws InputError, which names the file, for a text that contradicts itself.
[[nodiscard]] BlendInfo parse_blend_info(const std::string& text, const std::string& file);

}  // namespace auspex::exec
