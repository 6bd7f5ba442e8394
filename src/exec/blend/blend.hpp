#pragma once
/// @file A blend of datasets, as training reads it.
#include <memory>
#include <string>
#include <vector>

#include "exec/blend/blend_file.hpp"
#include "exec/data/dataset.hpp"
#include "exec/data/training_data.hpp"

namespace auspex::exec {

/// The index of the blend's file, and its sources, which lie where they lay from the file on. Each source is compared
/// with what it was.
class Blend final : public TrainingData {
 public:
    /// Throws InputError: no blend, a damaged one, a source that is not there or no longer has the same shards.
    static Blend open(const std::string& file);

    [[nodiscard]] int sequence_length() const override { return index_.info().sequence_length; }
    [[nodiscard]] int vocabulary() const override { return index_.info().vocabulary; }
    [[nodiscard]] std::int64_t sequences() const override { return index_.info().sequences; }
    [[nodiscard]] const std::string& path() const override { return file_; }
    void append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const override;
    void check_digests() const override;
    /// Of the index and of all sources.
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] std::string content_digest() const override { return index_.info().digest; }

    [[nodiscard]] const BlendInfo& info() const { return index_.info(); }
    [[nodiscard]] std::int64_t index_bytes() const { return index_.bytes(); }
    [[nodiscard]] const std::vector<Dataset>& sources() const { return sources_; }

 private:
    explicit Blend(const std::string& file) : file_(file), index_(file) {}

    std::string file_;
    BlendFile index_;
    std::vector<Dataset> sources_;
};

/// A regular file is a blend, all else is to be a dataset. Throws InputError as their open() do.
[[nodiscard]] std::unique_ptr<TrainingData> open_training_data(const std::string& path);

}  // namespace auspex::exec
