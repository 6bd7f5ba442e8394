/// @file Checks from the ends of the file to its middle.
#include "exec/blend/blend_file.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/sha256.hpp"

namespace auspex::exec {
namespace {

template <typename Number>
Number number_at(std::string_view bytes, std::int64_t index) {
    Number number{};
    std::memcpy(&number, bytes.data() + static_cast<std::size_t>(index) * sizeof(Number), sizeof(Number));
    return number;
}

}  // namespace

BlendFile::BlendFile(const std::string& file) : file_(file), mapped_(file, "a blend of datasets") {
    using Layout = BlendLayout;
    constexpr auto kMagicBytes = static_cast<std::int64_t>(Layout::kMagic.size());
    if (!mapped_.bytes().starts_with(Layout::kMagic)) {
        fail("found a file that does not begin with " + std::string(Layout::kMagic));
    }
    if (bytes() < Layout::kHeadBytes + Layout::kTailBytes || !mapped_.bytes().ends_with(Layout::kMagic)) {
        fail("found " + std::to_string(bytes()) + " bytes that do not end with " + std::string(Layout::kMagic) +
             ": the file is cut short, or was written to");
    }
    const std::string_view tail = part(bytes() - Layout::kTailBytes, Layout::kTailBytes);
    layout_.sequences = number_at<std::int64_t>(part(kMagicBytes, sizeof(std::int64_t)), 0);
    const auto info_bytes = number_at<std::int64_t>(tail, 0);
    if (layout_.sequences < 1 || layout_.sequences > kMaxBlendSequences || info_bytes < 0 || info_bytes > bytes() ||
        layout_.info_begin() + info_bytes + Layout::kTailBytes != bytes()) {
        fail("found " + std::to_string(bytes()) + " bytes, which is not the length of " +
             std::to_string(layout_.sequences) + " sequences and a description of " + std::to_string(info_bytes) +
             " bytes");
    }
    const std::string text(part(layout_.info_begin(), info_bytes));
    if (sha256_hex(text) != tail.substr(sizeof(std::int64_t), Layout::kDigestBytes)) {
        fail("found a description whose SHA-256 is not the one behind it");
    }
    info_ = parse_blend_info(text, file);
    const std::string_view digests = part(layout_.digests_begin(), layout_.blocks() * Layout::kDigestBytes);
    if (info_.sequences != layout_.sequences || sha256_hex(digests) != info_.index_digest) {
        fail("found an index whose SHA-256 is not that of the description");
    }
    checked_.resize(static_cast<std::size_t>(layout_.blocks()));
}

std::string_view BlendFile::part(std::int64_t begin, std::int64_t bytes) const {
    return mapped_.bytes().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes));
}

void BlendFile::fail(const std::string& found) const {
    throw InputError(file_, found + "; expected a blend as \"auspex data blend\" has written it");
}

void BlendFile::check_block(std::int64_t block) const {
    const std::string_view digest =
        part(layout_.digests_begin() + block * BlendLayout::kDigestBytes, BlendLayout::kDigestBytes);
    const std::string found =
        sha256_hex(part(layout_.begin_of(block), layout_.sequences_of(block) * BlendLayout::kSequenceBytes));
    if (found != digest) {
        fail("found block " + std::to_string(block) + " with SHA-256 " + found + ", not " + std::string(digest));
    }
    checked_[static_cast<std::size_t>(block)] = true;
}

BlendPlace BlendFile::at(std::int64_t sequence) const {
    const std::int64_t block = sequence / BlendLayout::kBlockSequences;
    if (!checked_[static_cast<std::size_t>(block)]) {
        check_block(block);
    }
    const std::int64_t count = layout_.sequences_of(block), place = sequence % BlendLayout::kBlockSequences;
    const std::string_view bytes = part(layout_.begin_of(block), count * BlendLayout::kSequenceBytes);
    const auto row = number_at<std::int64_t>(bytes, place);
    const std::size_t source =
        number_at<std::uint16_t>(bytes.substr(static_cast<std::size_t>(count) * sizeof(std::int64_t)), place);
    if (source >= info_.sources.size() || row < 0 || row >= info_.sources[source].rows) {
        fail("found sequence " + std::to_string(sequence) + " as row " + std::to_string(row) + " of source " +
             std::to_string(source) + ", which is not there");
    }
    return {source, row};
}

void BlendFile::check_blocks() const {
    for (std::int64_t block = 0; block < layout_.blocks(); ++block) {
        check_block(block);
    }
}

}  // namespace auspex::exec
