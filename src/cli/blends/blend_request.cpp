/// @file The flags of `auspex data blend`.
#include "cli/blends/blend_request.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "cli/flags/flag_numbers.hpp"
#include "cli/flags/flag_texts.hpp"

namespace auspex::cli {
namespace {

exec::BlendRequest::Source source_of(const std::string& text) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
        throw InputError("--source", "found \"" + text +
                                         "\"; expected DIR=WEIGHT, a dataset and its weight, such as build/data=0.3");
    }
    const double weight = parse_number_of("--source " + text.substr(0, equals), text.substr(equals + 1), kLeastPositive,
                                          kLargestNumber, "a weight above 0, such as 0.3");
    return {text.substr(0, equals), weight};
}

/// A whole number that a double has exactly.
std::int64_t whole_count(const char* flag, double count) {
    constexpr double kMax = 9007199254740992;  // 2^53
    if (count != std::floor(count) || count > kMax) {
        throw InputError(flag, "found " + six_digits(count) + "; expected a whole number up to 2^53");
    }
    return static_cast<std::int64_t>(count);
}

}  // namespace

Command blend_command(void (*run)(const Options&)) {
    return {"data blend",
            "blend datasets by weights, in Megatron-LM's order, into an index that training reads like a dataset",
            "auspex data blend --source build/data=0.7 build/more=0.3 --tokens 1M --out build/corpus.blend\n"
            "  auspex data blend --source build/data=0.7 build/more=0.3 --sequences 100000 --ranks 2 --out "
            "build/long.blend",
            {Flag::kBlendSource, Flag::kBlendOut},
            {Flag::kTokens, Flag::kBlendSequences, Flag::kRowSeed, Flag::kTrainRanks, Flag::kHostfile, Flag::kMpirun,
             Flag::kJson},
            run,
            {{Flag::kTokens, "tokens to train on, such as 2T: as many whole sequences as have them all"},
             {Flag::kRowSeed, "of the order of every source's rows" + by_default(exec::BlendRequest().seed)},
             {Flag::kTrainRanks, "or -n N: processes that build the index together (default 1, without MPI)"},
             {Flag::kHostfile, "hosts for mpirun, all of which see the sources and the new file"}}};
}

exec::BlendRequest blend_request(const Options& options) {
    exec::BlendRequest request;
    for (const std::string& text : options.dataset.sources) {
        request.sources.push_back(source_of(text));
    }
    if ((options.tokens > 0) == (options.dataset.sequences > 0)) {
        throw InputError("auspex data blend", std::string("found ") +
                                                  (options.tokens > 0 ? "both --tokens and" : "neither --tokens nor") +
                                                  " --sequences; expected one of the two");
    }
    request.tokens = whole_count("--tokens", options.tokens);
    request.sequences = whole_count("--sequences", options.dataset.sequences);
    request.seed = options.seed.value_or(request.seed);
    if (request.seed > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        throw InputError("--seed", "found " + std::to_string(request.seed) + "; expected at most 2^63 - 1");
    }
    request.file = options.out;
    return request;
}

}  // namespace auspex::cli
