/// @file Sequences by way of the index.
#include "exec/blend/blend.hpp"

#include <filesystem>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

/// Of a source that is what it was.
Dataset open_source(const std::string& file, const BlendSource& source) {
    std::error_code status;
    const fs::path from = fs::weakly_canonical(fs::absolute(file, status), status).parent_path();
    const std::string folder = (from / source.folder).lexically_normal().string();
    if (!fs::exists(fs::path(folder) / "dataset.json", status)) {
        throw InputError(file, "found no dataset in " + folder +
                                   ", one of its sources; expected it where it was when the blend was made");
    }
    Dataset dataset = Dataset::open(folder);
    if (dataset.content_digest() != source.digest || dataset.sequences() != source.rows) {
        throw InputError(file, "found another dataset in " + folder + " (" + std::to_string(dataset.sequences()) +
                                   " rows, content " + dataset.content_digest() + "); expected " +
                                   std::to_string(source.rows) + " rows, content " + source.digest +
                                   ", or a new blend");
    }
    return dataset;
}

}  // namespace

Blend Blend::open(const std::string& file) {
    Blend blend(file);
    for (const BlendSource& source : blend.info().sources) {
        blend.sources_.push_back(open_source(file, source));
    }
    return blend;
}

void Blend::append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const {
    AUSPEX_CHECK(index >= 0, "sequences are counted from 0");
    const BlendPlace place = index_.at(index % sequences());
    sources_[place.source].append_sequence(place.row, tokens);
}

void Blend::check_digests() const {
    index_.check_blocks();
    for (const Dataset& source : sources_) {
        source.check_digests();
    }
}

std::int64_t Blend::bytes() const {
    std::int64_t sum = index_.bytes();
    for (const Dataset& source : sources_) {
        sum += source.bytes();
    }
    return sum;
}

std::unique_ptr<TrainingData> open_training_data(const std::string& path) {
    std::error_code status;
    if (fs::is_regular_file(path, status)) {
        return std::make_unique<Blend>(Blend::open(path));
    }
    return std::make_unique<Dataset>(Dataset::open(path));
}

}  // namespace auspex::exec
