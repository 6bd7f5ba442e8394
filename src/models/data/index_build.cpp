/// @file Blocks over ranks, bytes over the file system.
#include "models/data/index_build.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace auspex::models {

IndexBuild index_of_tokens(double tokens, int sequence_length, int sources) {
    AUSPEX_CHECK(tokens > 0 && sequence_length > 0, "there are tokens, in sequences");
    IndexBuild build;
    build.sequences = std::ceil(tokens / sequence_length);
    build.sources = sources;
    return build;
}

IndexBuildTime index_build_time(const IndexBuild& build, int ranks, const IndexBuildRates& rates) {
    AUSPEX_CHECK(build.sequences > 0 && build.sources >= 1 && ranks >= 1, "somebody builds something");
    AUSPEX_CHECK(rates.write_bytes_per_s > 0, "the index can be written");
    constexpr auto kBlock = static_cast<double>(kIndexBlockSequences);
    const double sequence_s = build.sources * rates.choose_s + rates.place_s;
    const double written_s = build.sequences * build.bytes_per_sequence / rates.write_bytes_per_s;
    const double blocks = std::ceil(build.sequences / kBlock);
    const double most_sequences = std::min(build.sequences, std::ceil(blocks / ranks) * kBlock);
    return {std::max(build.sequences * sequence_s, written_s),
            rates.start_s + std::max(most_sequences * sequence_s, written_s)};
}

}  // namespace auspex::models
