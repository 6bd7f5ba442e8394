#pragma once
/// @file What training reads, whatever it lies in: sequences by number.
#include <cstdint>
#include <string>
#include <vector>

namespace auspex::exec {

/// A Dataset, or a Blend of several.
class TrainingData {
 public:
    TrainingData() = default;
    TrainingData(const TrainingData&) = delete;
    TrainingData& operator=(const TrainingData&) = delete;
    virtual ~TrainingData() = default;

    [[nodiscard]] virtual int sequence_length() const = 0;
    [[nodiscard]] virtual int vocabulary() const = 0;
    [[nodiscard]] virtual std::int64_t sequences() const = 0;
    /// Folder or file, as it was opened.
    [[nodiscard]] virtual const std::string& path() const = 0;
    /// sequence_length + 1 tokens of sequence (index mod sequences()): after the last one the first follows. Throws
    /// InputError for what is damaged.
    virtual void append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const = 0;
    /// Reads everything; throws InputError for the first file whose SHA-256 is not what it should be.
    virtual void check_digests() const = 0;
    /// That check_digests reads.
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
    /// SHA-256 that says which sequences these are, wherever they lie.
    [[nodiscard]] virtual std::string content_digest() const = 0;

 protected:
    TrainingData(TrainingData&&) noexcept = default;
    TrainingData& operator=(TrainingData&&) noexcept = default;
};

}  // namespace auspex::exec
