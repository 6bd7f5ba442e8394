/// @file Numbers, lists and words of flags.
#include "cli/flags/flag_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "cli/flags/flag_texts.hpp"

namespace auspex::cli {
namespace {

constexpr int kMaxTiles = 10'000'000;

template <typename Number>
bool reads_as(std::string_view text, Number& number) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && end == text.data() + text.size();
}

std::vector<int> parse_tiles(const std::string& text, bool is_list) {
    std::vector<int> tiles;
    std::istringstream stream(text + ",");
    for (std::string part; std::getline(stream, part, ',');) {
        int count = 0;
        if (!reads_as(part, count) || count < 1 || count > kMaxTiles) {
            throw InputError("--tiles",
                             "found \"" + part + "\"; expected a whole number from 1 to " + std::to_string(kMaxTiles));
        }
        if (!tiles.empty() && count <= tiles.back()) {
            throw InputError("--tiles", "found " + part + " after " + std::to_string(tiles.back()) +
                                            "; expected increasing numbers");
        }
        tiles.push_back(count);
    }
    if (!is_list && tiles.size() > 1) {
        throw InputError("--tiles", "found \"" + text + "\"; expected one number");
    }
    return tiles;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text + separator);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

PlacementArgument parse_placement(const std::string& text) {
    const std::vector<std::string> parts = split(text, ':');
    PlacementArgument placement{text};
    const auto fail = [&] {
        throw InputError("--placements", "found \"" + text +
                                             "\"; expected contiguous, scattered, random, random:SEED, scheduled, "
                                             "scheduled:FREE or scheduled:FREE:SEED (FREE from 0.001 to 1)");
    };
    const std::optional<models::PlacementKind> kind = models::placement_named(parts.front());
    if (!kind) {
        fail();
    }
    placement.kind = *kind;
    std::size_t taken = 1;
    if (placement.kind == models::PlacementKind::kScheduled && parts.size() > taken &&
        (!reads_as(parts[taken++], placement.free) || placement.free < 0.001 || placement.free > 1)) {
        fail();
    }
    if (draws_nodes(placement.kind) && parts.size() > taken && !reads_as(parts[taken++], placement.seed)) {
        fail();
    }
    if (parts.size() > taken) {
        fail();
    }
    return placement;
}

std::vector<PlacementArgument> parse_placements(const std::string& text) {
    std::vector<PlacementArgument> words;
    for (const std::string& part : split(text, ',')) {
        words.push_back(parse_placement(part));
        const auto same = [&](const PlacementArgument& other) { return other.text == part; };
        if (std::count_if(words.begin(), words.end(), same) > 1) {
            throw InputError("--placements", "found \"" + part + "\" twice; expected each placement once");
        }
    }
    return words;
}

int parse_count(const char* flag, const std::string& text) {
    int count = 0;
    if (!reads_as(text, count) || count < 1 || count > kMaxTiles) {
        throw InputError(std::string("--") + flag,
                         "found \"" + text + "\"; expected a whole number from 1 to " + std::to_string(kMaxTiles));
    }
    return count;
}

int parse_levels(const std::string& text) {
    constexpr int kMaxLevels = 3;
    int levels = 0;
    if (!reads_as(text, levels) || levels < 1 || levels > kMaxLevels) {
        throw InputError("--levels", "found \"" + text + "\"; expected 1, 2 or 3");
    }
    return levels;
}

double parse_zipf(const std::string& text) {
    double exponent = 0;
    if (!reads_as(text, exponent) || !(exponent > 0 && exponent <= 10)) {
        throw InputError("--zipf", "found \"" + text + "\"; expected a number above 0 and up to 10");
    }
    return exponent;
}

std::string parse_lens(const std::string& text) {
    if (text != "folded" && text != "unfolded") {
        throw InputError("--lens", "found \"" + text + "\"; expected folded or unfolded");
    }
    return text;
}

std::uint64_t parse_seed(const std::string& text) {
    std::uint64_t seed = 0;
    if (!reads_as(text, seed)) {
        throw InputError("--seed", "found \"" + text + "\"; expected a whole number of at most 64 bits");
    }
    return seed;
}

int parse_samples(const std::string& text) {
    constexpr int kMaxSamples = 10'000;
    int samples = 0;
    if (!reads_as(text, samples) || samples < 1 || samples > kMaxSamples) {
        throw InputError("--samples",
                         "found \"" + text + "\"; expected a whole number from 1 to " + std::to_string(kMaxSamples));
    }
    return samples;
}

int parse_kills(const std::string& text) {
    constexpr int kMaxKills = 10'000;
    int kills = 0;
    if (!reads_as(text, kills) || kills < 0 || kills > kMaxKills) {
        throw InputError("--kills",
                         "found \"" + text + "\"; expected a whole number from 0 to " + std::to_string(kMaxKills));
    }
    return kills;
}

double parse_tokens(const std::string& text) {
    double tokens = 0;
    if (!reads_as(text, tokens) || !std::isfinite(tokens) || tokens <= 0) {
        throw InputError("--tokens", "found \"" + text + "\"; expected a positive number such as 100e9");
    }
    return tokens;
}

}  // namespace

void store_flag(Options& options, Flag flag, const std::vector<std::string>& values) {
    const auto text = [&] { return values.empty() ? std::string() : values.front(); };
    switch (flag) {
        case Flag::kMachine: options.machine = text(); break;
        case Flag::kStack: options.stack = text(); break;
        case Flag::kWorkload: options.workload = text(); break;
        case Flag::kPlan: options.plan = text(); break;
        case Flag::kSet: options.overrides = values; break;
        case Flag::kTiles: options.tiles = parse_tiles(text(), false); break;
        case Flag::kTilesList: options.tiles = parse_tiles(text(), true); break;
        case Flag::kPlacements: options.placements = parse_placements(text()); break;
        case Flag::kMode: options.mode = text(); break;
        case Flag::kOut: options.out = text(); break;
        case Flag::kTrace: options.trace = text(); break;
        case Flag::kTokens: options.tokens = parse_tokens(text()); break;
        case Flag::kLens: options.lens = parse_lens(text()); break;
        case Flag::kSeed: options.seed = parse_seed(text()); break;
        case Flag::kSamples: options.samples = parse_samples(text()); break;
        case Flag::kSlow: options.slow = values; break;
        case Flag::kKind: options.kind = text(); break;
        case Flag::kBytes: options.bytes = text(); break;
        case Flag::kRanks: options.ranks = parse_count("ranks", text()); break;
        case Flag::kAlgorithm: options.algorithm = text(); break;
        case Flag::kLevels: options.levels = parse_levels(text()); break;
        case Flag::kGroupsOf: options.groups_of = parse_count("groups-of", text()); break;
        case Flag::kStride: options.stride = parse_count("stride", text()); break;
        case Flag::kAlone: options.alone = true; break;
        case Flag::kZipf: options.zipf = parse_zipf(text()); break;
        case Flag::kPlacement: options.placement = text(); break;
        case Flag::kInput: options.inputs = values; break;
        case Flag::kMegatron: options.megatron = text(); break;
        case Flag::kDocumentSeparator: options.document_separator = text(); break;
        case Flag::kTokenizer: options.tokenizer = text(); break;
        case Flag::kVocabSize: options.vocab_size = parse_count("vocab-size", text()); break;
        case Flag::kSequenceLength: options.sequence_length = parse_count("sequence-length", text()); break;
        case Flag::kShardRows: options.shard_rows = parse_count("shard-rows", text()); break;
        case Flag::kRowSeed: options.seed = parse_seed(text()); break;
        case Flag::kData: options.data = text(); break;
        case Flag::kDatasetOut:
        case Flag::kMegatronOut:
        case Flag::kManualOut: options.out = text(); break;
        case Flag::kRole: options.role = text(); break;
        case Flag::kCheckExecutor: options.check_executor = true; break;
        case Flag::kMaxRanks: options.max_ranks = parse_count("max-ranks", text()); break;
        case Flag::kLayouts: options.layouts = parse_count("layouts", text()); break;
        case Flag::kKills: options.kills = parse_kills(text()); break;
        case Flag::kPlans: options.compare.plans = values; break;
        case Flag::kWorkloads: options.compare.workloads = values; break;
        case Flag::kLayoutsFile: options.compare.layouts = text(); break;
        case Flag::kRepeat: options.compare.repeat = parse_count("repeat", text()); break;
        case Flag::kGlobalBatch: options.search.global_batch = parse_count("global-batch", text()); break;
        case Flag::kWhere: options.search.where = text(); break;
        case Flag::kTop: options.search.top = parse_count("top", text()); break;
        case Flag::kExhaustive: options.search.exhaustive = true; break;
        case Flag::kWhatIf: options.search.what_if = true; break;
        case Flag::kJson: options.json = true; break;
        default: (is_calibrate_flag(flag) ? store_calibrate_flag : store_train_flag)(options, flag, text());
    }
}

}  // namespace auspex::cli
