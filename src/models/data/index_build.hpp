#pragma once
/// @file What it takes to build the index of a training run's data before its first step.
#include <cstdint>

namespace auspex::models {

/// Sequences of a block of an index: what one rank writes at a time.
inline constexpr std::int64_t kIndexBlockSequences = 65'536;

/// Of a blend (`auspex data blend`): so many sequences out of so many sources.
struct IndexBuild {
    double sequences = 0;
    int sources = 1;
    double bytes_per_sequence = 10;  ///< a row of 64 bits and a source of 16
};

/// Sequences that have these tokens, and the index of them.
[[nodiscard]] IndexBuild index_of_tokens(double tokens, int sequence_length, int sources);

/// Of one rank, and of the file system that all ranks write to. `bench/blend_bench` measures the first two on the
/// machine it runs on (docs/training.md has some); nothing is assumed where it is not given.
struct IndexBuildRates {
    double choose_s = 0;           ///< a source's part of the choice of a sequence
    double place_s = 0;            ///< a sequence's row, its part of a checksum, its copy
    double write_bytes_per_s = 0;  ///< of all ranks together
    double start_s = 0;            ///< of the ranks' processes, once; 0 for one process
};

struct IndexBuildTime {
    double serial_s = 0;    ///< one rank
    double parallel_s = 0;  ///< `ranks` ranks
};

/// Time of a rank with n sequences: n (sources choose_s + place_s). One rank has all; of R ranks the slowest has
/// ceil(blocks / R) blocks. Both write bytes / write_bytes_per_s, after that time as pages are written behind the
/// ranks' back: t = start + max(ranks' time, written). Left out: a rank that guessed its start wrong and does its part
/// again (weights of very different sizes), gathering of counts and checksums, reading sources' descriptions.
/// Requires sequences > 0, ranks >= 1, sources >= 1, write_bytes_per_s > 0.
/// A published pair for comparison, of another builder (Megatron-DeepSpeed's of documents, samples and shuffles, on
/// Aurora): 2 T tokens, serial 3643 s, parallel 125 to 227 s on 1 to 16 nodes (ALCF, AuroraGPT talk of 2025-12-16,
/// figure data-processing.svg): a floor of minutes, not of ranks.
[[nodiscard]] IndexBuildTime index_build_time(const IndexBuild& build, int ranks, const IndexBuildRates& rates);

}  // namespace auspex::models
