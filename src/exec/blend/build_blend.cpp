/// @file Ranges of blocks, written side by side and compared where they meet.
#include "exec/blend/build_blend.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "exec/blend/blend_layout.hpp"
#include "exec/blend/blend_order.hpp"
#include "exec/blend/keyed_shuffle.hpp"
#include "exec/blend/shared_file.hpp"
#include "exec/transport/agreement.hpp"
#include "exec/transport/in_process.hpp"
#include "exec/transport/one_group.hpp"

namespace auspex::exec {
namespace {

using Counts = std::vector<std::int64_t>;
constexpr auto kWorld = models::GroupKind::kWorld;

/// The rows of one source, in the order in which the blend takes them.
class SourceRows {
 public:
    SourceRows(std::int64_t rows, std::uint64_t seed, std::uint64_t source)
        : rows_(rows), seed_(seed), source_(source) {}

    /// Of the source's k-th sequence in the blend.
    std::int64_t row_of(std::int64_t k) {
        const std::int64_t epoch = k / rows_;
        if (!shuffle_ || epoch != epoch_) {
            epoch_ = epoch;
            shuffle_.emplace(rows_, seed_, source_, static_cast<std::uint64_t>(epoch));
        }
        return shuffle_->at(k - epoch * rows_);
    }

 private:
    std::int64_t rows_;
    std::uint64_t seed_, source_;
    std::int64_t epoch_ = 0;
    std::optional<KeyedShuffle> shuffle_;
};

/// The blocks of one rank.
class BlendPart {
 public:
    BlendPart(const BlendInfo& info, const Communicator& communicator)
        : info_(info), layout_{info.sequences}, repeats_from_(info.sources.size(), -1) {
        const std::int64_t rank = communicator.world_rank(), size = communicator.world_size();
        first_ = layout_.blocks() * rank / size;
        end_ = layout_.blocks() * (rank + 1) / size;
        for (const BlendSource& source : info.sources) {
            weights_.push_back(source.weight);
        }
        weights_ = megatron_weights(weights_);
    }

    [[nodiscard]] bool is_empty() const { return first_ == end_; }
    [[nodiscard]] Counts guessed_start() const {
        return likely_counts(weights_, first_ * BlendLayout::kBlockSequences);
    }
    [[nodiscard]] const std::string& digests() const { return digests_; }
    /// Of each source, the first sequence of its second epoch, where it is in these blocks; else -1.
    [[nodiscard]] const Counts& repeats_from() const { return repeats_from_; }

    /// Writes all blocks, with these counts in front of the first. Returns those behind the last.
    Counts write(Counts start, SharedFile& file, const BlendProgress& progress) {
        BlendOrder order(weights_, first_ * BlendLayout::kBlockSequences, std::move(start));
        std::vector<SourceRows> rows;
        for (const BlendSource& source : info_.sources) {
            rows.emplace_back(source.rows, info_.seed, rows.size());
        }
        std::ranges::fill(repeats_from_, -1);
        digests_.clear();
        std::string bytes;
        for (std::int64_t block = first_; block < end_; ++block) {
            fill_block(order, rows, layout_.sequences_of(block), bytes);
            digests_ += sha256_hex(bytes);
            file.write(layout_.begin_of(block), bytes);
            progress(static_cast<std::size_t>(block - first_ + 1), static_cast<std::size_t>(end_ - first_));
        }
        return order.counts();
    }

 private:
    void fill_block(BlendOrder& order, std::vector<SourceRows>& rows, std::int64_t sequences, std::string& bytes) {
        bytes.resize(static_cast<std::size_t>(sequences * BlendLayout::kSequenceBytes));
        char* row_place = bytes.data();
        char* source_place = bytes.data() + sequences * std::int64_t{sizeof(std::int64_t)};
        for (std::int64_t i = 0; i < sequences; ++i) {
            const std::size_t d = order.next();
            const std::int64_t k = order.counts()[d] - 1;
            if (k == info_.sources[d].rows) {
                repeats_from_[d] = order.sequence() - 1;
            }
            const std::int64_t row = rows[d].row_of(k);
            const auto source = static_cast<std::uint16_t>(d);
            std::memcpy(row_place, &row, sizeof row);
            std::memcpy(source_place, &source, sizeof source);
            row_place += sizeof row;
            source_place += sizeof source;
        }
    }

    const BlendInfo& info_;
    BlendLayout layout_;
    std::int64_t first_ = 0, end_ = 0;
    std::vector<double> weights_;
    std::string digests_;
    Counts repeats_from_;
};

/// Throws std::runtime_error on every rank if there is a problem on one.
void agree(Communicator& communicator, const std::function<void()>& work) {
    const std::string problem = first_problem(communicator, problem_of(work));
    if (!problem.empty()) {
        throw std::runtime_error(problem);
    }
}

/// Each rank's numbers, on every rank, in the order of the ranks.
Counts gathered(Communicator& communicator, const Counts& own) {
    const auto size = static_cast<std::size_t>(communicator.world_size());
    Counts all(own.size() * size);
    std::vector<std::size_t> offsets(size + 1);
    for (std::size_t rank = 0; rank <= size; ++rank) {
        offsets[rank] = rank * own.size();
    }
    std::ranges::copy(
        own, all.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(communicator.world_rank())]));
    communicator.all_gather(kWorld, all.data(), offsets, ElementType::kInt64);
    return all;
}

/// Each rank writes its blocks; those that had begun with wrong counts do it again. Returns the counts of the whole
/// blend.
Counts write_parts(BlendPart& part, SharedFile& file, Communicator& communicator, const BlendProgress& progress) {
    Counts own = part.guessed_start();
    const std::size_t sources = own.size();
    agree(communicator, [&] {
        const Counts end = part.write(own, file, progress);
        own.insert(own.end(), end.begin(), end.end());
    });
    own.push_back(part.is_empty() ? 1 : 0);
    const Counts all = gathered(communicator, own);
    Counts counts(sources);
    for (int rank = 0; rank < communicator.world_size(); ++rank) {
        const auto begin = all.begin() + rank * static_cast<std::ptrdiff_t>(own.size());
        const auto end = begin + static_cast<std::ptrdiff_t>(sources);
        if (*(end + static_cast<std::ptrdiff_t>(sources)) == 1) {
            continue;
        }
        if (std::equal(begin, end, counts.begin())) {
            counts.assign(end, end + static_cast<std::ptrdiff_t>(sources));
            continue;
        }
        agree(communicator, [&] {
            if (rank == communicator.world_rank()) {
                counts = part.write(counts, file, progress);
            }
        });
        communicator.broadcast(kWorld, rank, counts.data(), counts.size() * sizeof(std::int64_t));
    }
    return counts;
}

/// The checksums of all blocks, on rank 0.
std::string collect_digests(const BlendPart& part, Communicator& communicator) {
    if (communicator.world_rank() != 0) {
        communicator.send_bytes(0, std::as_bytes(std::span(part.digests())));
        return "";
    }
    std::string digests = part.digests();
    for (int rank = 1; rank < communicator.world_size(); ++rank) {
        const std::vector<std::byte> more = communicator.receive_bytes(rank);
        digests.append(reinterpret_cast<const char*>(more.data()), more.size());
    }
    return digests;
}

template <typename Number>
std::string bytes_of(Number number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Everything but the blocks.
void write_frame(const std::string& digests, BlendInfo& info, SharedFile& file) {
    const BlendLayout layout{info.sequences};
    info.index_digest = sha256_hex(digests);
    const std::string text = text_of(info);
    info.digest = sha256_hex(text);
    const std::string magic(BlendLayout::kMagic);
    file.write(0, magic + bytes_of(info.sequences));
    file.write(layout.digests_begin(),
               digests + text + bytes_of(static_cast<std::int64_t>(text.size())) + info.digest + magic);
}

}  // namespace

BlendInfo build_blend(const BlendRequest& request, Communicator& communicator, const BlendProgress& progress) {
    const bool is_first = communicator.world_rank() == 0;
    const auto own_progress = [&](std::size_t done, std::size_t all) {
        if (is_first) {
            progress(done, all);
        }
    };
    std::string text;
    agree_on_input(communicator, is_first ? problem_of([&] { text = text_of(describe_blend(request)); }) : "");
    BlendInfo info = parse_blend_info(shared_text(communicator, 0, text), request.file);
    std::optional<SharedFile> file;
    const auto open_as = [&](SharedFile::Role role) {
        agree_on_input(communicator, is_first == (role == SharedFile::Role::kMaker) ? problem_of([&] {
                           file.emplace(request.file, role, BlendLayout{info.sequences}.info_begin());
                       })
                                                                                    : "");
    };
    open_as(SharedFile::Role::kMaker);
    open_as(SharedFile::Role::kHelper);
    BlendPart part(info, communicator);
    const Counts counts = write_parts(part, *file, communicator, own_progress);
    Counts repeats_from = part.repeats_from();
    communicator.all_reduce(kWorld, repeats_from.data(), repeats_from.size(), ElementType::kInt64, ReduceOp::kMax);
    for (std::size_t d = 0; d < counts.size(); ++d) {
        info.sources[d].sequences = counts[d];
        info.sources[d].repeats_from = repeats_from[d];
    }
    const std::string digests = collect_digests(part, communicator);
    agree(communicator, [&] {
        if (is_first) {
            write_frame(digests, info, *file);
        }
        file->close();
    });
    agree(communicator, [&] {
        if (is_first) {
            file->commit();
        }
    });
    info.index_digest = shared_text(communicator, 0, info.index_digest);
    info.digest = shared_text(communicator, 0, info.digest);
    return info;
}

BlendInfo build_blend(const BlendRequest& request, const BlendProgress& progress) {
    BlendInfo info;
    run_in_process(one_group(1, "a blend"),
                   [&](Communicator& communicator) { info = build_blend(request, communicator, progress); });
    return info;
}

}  // namespace auspex::exec
