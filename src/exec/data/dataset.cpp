/// @file Rows out of mapped shards.
#include "exec/data/dataset.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "exec/data/mapped_file.hpp"
#include "exec/data/token_bytes.hpp"

namespace auspex::exec {

struct Dataset::Impl {
    std::string folder;
    DatasetInfo info;
    std::vector<MappedFile> shards;
    std::vector<std::int64_t> ends;  ///< rows up to and with each shard

    [[nodiscard]] std::string file_of(std::size_t shard) const {
        return (std::filesystem::path(folder) / info.shards[shard].file).string();
    }
};

Dataset::Dataset(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Dataset Dataset::open(const std::string& folder) {
    auto impl = std::make_unique<Impl>();
    impl->folder = folder;
    impl->info = load_dataset_info(folder);
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < impl->info.shards.size(); ++i) {
        const std::int64_t expected = impl->info.shards[i].rows * impl->info.row_bytes();
        const MappedFile& shard = impl->shards.emplace_back(
            impl->file_of(i), "the shard of " + std::to_string(expected) + " bytes that dataset.json names");
        if (static_cast<std::int64_t>(shard.bytes().size()) != expected) {
            throw InputError(impl->file_of(i), "found " + std::to_string(shard.bytes().size()) + " bytes; expected " +
                                                   std::to_string(expected) + " (" +
                                                   std::to_string(impl->info.shards[i].rows) + " rows)");
        }
        rows += impl->info.shards[i].rows;
        impl->ends.push_back(rows);
    }
    return Dataset(std::move(impl));
}

int Dataset::sequence_length() const { return impl_->info.sequence_length; }
int Dataset::vocabulary() const { return impl_->info.vocabulary; }
std::int64_t Dataset::sequences() const { return impl_->info.rows; }
const std::string& Dataset::path() const { return impl_->folder; }
const DatasetInfo& Dataset::info() const { return impl_->info; }
std::int64_t Dataset::bytes() const { return impl_->info.rows * impl_->info.row_bytes(); }
std::string Dataset::content_digest() const { return exec::content_digest(impl_->info); }

void Dataset::append_sequence(std::int64_t index, std::vector<std::int32_t>& tokens) const {
    AUSPEX_CHECK(index >= 0, "sequences are counted from 0");
    const DatasetInfo& info = impl_->info;
    const std::int64_t row = index % info.rows;
    const auto end = std::upper_bound(impl_->ends.begin(), impl_->ends.end(), row);
    const auto shard = static_cast<std::size_t>(end - impl_->ends.begin());
    const std::int64_t row_of_shard = row - (*end - info.shards[shard].rows);
    const std::int64_t length = std::int64_t{info.sequence_length} + 1;
    for (std::int64_t i = 0; i < length; ++i) {
        const std::int32_t token = token_at(impl_->shards[shard].bytes(), row_of_shard * length + i, info.token_bytes);
        if (token < 0 || token >= info.vocabulary) {
            throw InputError(impl_->file_of(shard), "found token " + std::to_string(token) + " at place " +
                                                        std::to_string(i) + " of row " + std::to_string(row_of_shard) +
                                                        "; expected 0 to " + std::to_string(info.vocabulary - 1));
        }
        tokens.push_back(token);
    }
}

void Dataset::check_digests() const {
    for (std::size_t i = 0; i < impl_->shards.size(); ++i) {
        const std::string digest = sha256_hex(impl_->shards[i].bytes());
        if (digest != impl_->info.shards[i].sha256) {
            throw InputError(impl_->file_of(i), "found a file with SHA-256 " + digest + "; expected " +
                                                    impl_->info.shards[i].sha256 + ", as dataset.json says");
        }
    }
}

}  // namespace auspex::exec
