#pragma once
/// @file From datasets and weights to a blend's file, on one rank or many.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/blend/blend_info.hpp"
#include "exec/transport/communicator.hpp"

namespace auspex::exec {

struct BlendRequest {
    struct Source {
        std::string folder;  ///< of a dataset
        double weight = 0;
    };
    std::vector<Source> sources;
    /// Either is given; of tokens as many sequences as have them all.
    std::int64_t sequences = 0, tokens = 0;
    std::uint64_t seed = 1;
    std::string file;
};

/// What the blend will be, without what its index decides. Reads each source's dataset.json. Throws InputError: sources
/// that are missing, twice, of another sequence length, vocabulary or tokenizer; a weight that is not positive and
/// finite; more sequences or sources than a blend can have.
[[nodiscard]] BlendInfo describe_blend(const BlendRequest& request);

/// Blocks done of those that rank 0 writes.
using BlendProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Writes the index: of sequence i the source by BlendOrder and its row, which for the source's k-th sequence is
/// KeyedShuffle(rows, seed, source, epoch k / rows) at k mod rows. Each rank writes a range of blocks, begins it with
/// likely_counts, and does it again where its predecessor ended with others: the file has the same bytes whatever the
/// number of ranks. A rank holds a block and the checksums of its own, and the counts with which each rank begins and
/// ends. Collective over the world; all ranks must see the file. Throws InputError and std::runtime_error on all ranks
/// alike.
BlendInfo build_blend(const BlendRequest& request, Communicator& communicator, const BlendProgress& progress);
/// The same on this process alone.
BlendInfo build_blend(const BlendRequest& request, const BlendProgress& progress);

}  // namespace auspex::exec
