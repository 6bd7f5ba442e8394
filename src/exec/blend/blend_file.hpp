#pragma once
/// @file A blend's index, read from its file.
#include <cstdint>
#include <string>
#include <vector>

#include "exec/blend/blend_info.hpp"
#include "exec/blend/blend_layout.hpp"
#include "exec/data/mapped_file.hpp"

namespace auspex::exec {

/// A sequence of a blend.
struct BlendPlace {
    std::size_t source = 0;
    std::int64_t row = 0;  ///< of the source
};

/// Mapped into memory. A block's checksum is compared when its first sequence is asked for.
class BlendFile {
 public:
    /// Throws InputError: no blend, one of another length, one whose description or list of checksums is not what its
    /// checksum says.
    explicit BlendFile(const std::string& file);

    [[nodiscard]] const BlendInfo& info() const { return info_; }
    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(mapped_.bytes().size()); }
    /// Requires 0 <= sequence < info().sequences. Throws InputError for a damaged block, and for a row that no source
    /// has.
    [[nodiscard]] BlendPlace at(std::int64_t sequence) const;
    /// Compares the checksum of every block.
    void check_blocks() const;

 private:
    void check_block(std::int64_t block) const;
    [[nodiscard]] std::string_view part(std::int64_t begin, std::int64_t bytes) const;
    [[noreturn]] void fail(const std::string& found) const;

    std::string file_;
    MappedFile mapped_;
    BlendLayout layout_;
    BlendInfo info_;
    mutable std::vector<bool> checked_;  ///< blocks
};

}  // namespace auspex::exec
