#pragma once
/// @file Where what lies in a blend's file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/data/index_build.hpp"

namespace auspex::exec {

/// "AUSBLND1"; u64 sequences; blocks of kBlockSequences sequences, the last one shorter: u64 row of each, then u16
/// source of each; the SHA-256 of each block, 64 hexadecimal digits; the description (blend_info.hpp); u64 bytes of it;
/// its SHA-256, 64 digits; "AUSBLND1". All little-endian.
struct BlendLayout {
    static constexpr std::string_view kMagic = "AUSBLND1";
    static constexpr std::int64_t kBlockSequences = models::kIndexBlockSequences;
    static constexpr std::int64_t kSequenceBytes = 10, kDigestBytes = 64;
    static constexpr std::int64_t kHeadBytes = 16, kTailBytes = 8 + kDigestBytes + 8;

    std::int64_t sequences = 0;

    [[nodiscard]] std::int64_t blocks() const { return (sequences + kBlockSequences - 1) / kBlockSequences; }
    [[nodiscard]] std::int64_t sequences_of(std::int64_t block) const {
        return std::min(kBlockSequences, sequences - block * kBlockSequences);
    }
    [[nodiscard]] std::int64_t begin_of(std::int64_t block) const {
        return kHeadBytes + block * kBlockSequences * kSequenceBytes;
    }
    [[nodiscard]] std::int64_t digests_begin() const { return kHeadBytes + sequences * kSequenceBytes; }
    [[nodiscard]] std::int64_t info_begin() const { return digests_begin() + blocks() * kDigestBytes; }
};

}  // namespace auspex::exec
