/// @file Numbers, lists and words of flags.
#include "cli/flags/flag_values.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/flags/campaign_flags.hpp"
#include "cli/flags/flag_numbers.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/schedule_flags.hpp"
#include "cli/flags/trace_flags.hpp"
#include "interop/overrides.hpp"

namespace auspex::cli {
namespace {

constexpr int kMaxPort = 65'535, kMostAdvice = 100;
constexpr int kMaxCount = 10'000'000, kMaxRuns = 10'000, kMaxTraceSteps = 1'000'000'000;

std::vector<int> parse_tiles(const std::string& flag, const std::string& text, bool is_list) {
    std::vector<int> tiles;
    std::istringstream stream(text + ",");
    for (std::string part; std::getline(stream, part, ',');) {
        if (part.empty()) {
            throw InputError(flag, "found \"" + text + "\"; expected whole numbers, with commas between if several");
        }
        const int count = parse_whole_of(flag, part, 1, kMaxCount);
        if (!tiles.empty() && count <= tiles.back()) {
            throw InputError(
                flag, "found " + part + " after " + std::to_string(tiles.back()) + "; expected increasing numbers");
        }
        tiles.push_back(count);
    }
    if (!is_list && tiles.size() > 1) {
        throw InputError(flag, "found \"" + text + "\"; expected one number");
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

int parse_count(const char* flag, const std::string& text) { return parse_whole(flag, text, 1, kMaxCount); }

double parse_zipf(const std::string& text) {
    constexpr double kMaxExponent = 10;
    return parse_number("zipf", text, kLeastPositive, kMaxExponent, "a number above 0 and up to 10");
}

std::string parse_lens(const std::string& text) {
    if (text != "folded" && text != "unfolded") {
        throw InputError("--lens", "found \"" + text + "\"; expected folded or unfolded");
    }
    return text;
}

/// A quantity above zero.
double parse_positive(const char* flag, const std::string& text, Dimension dimension, const char* example) {
    const std::string name = std::string("--") + flag;
    const double value = parse_quantity(text, dimension, name, example);
    if (!(value > 0)) {
        throw InputError(name, "found \"" + text + "\"; expected more than zero, such as \"" + example + "\"");
    }
    return value;
}

/// Times, each longer than the one before.
std::vector<double> parse_kill_times(const std::string& text) {
    constexpr double kLeast_s = 0.1, kMost_s = 86'400;
    std::vector<double> times_s;
    for (const std::string& part : split(text, ',')) {
        const double time_s = parse_positive("mtbf", part, Dimension::kSeconds, "2 s");
        if (time_s < kLeast_s || time_s > kMost_s || (!times_s.empty() && time_s <= times_s.back())) {
            throw InputError("--mtbf", "found \"" + part + "\" in \"" + text +
                                           "\"; expected times from 0.1 s to 1 d, each longer than the one before");
        }
        times_s.push_back(time_s);
    }
    return times_s;
}

/// A, 2A, 4A, … up to B.
std::vector<int> parse_tiles_range(const std::string& flag, const std::string& text, std::size_t dots) {
    if (dots == 0 || dots + 2 == text.size()) {
        throw InputError(flag, "found \"" + text + "\"; expected A..B with both numbers");
    }
    const std::vector<int> first = parse_tiles(flag, text.substr(0, dots), false);
    const std::vector<int> last = parse_tiles(flag, text.substr(dots + 2), false);
    if (last.front() < first.front()) {
        throw InputError(flag, "found \"" + text + "\"; expected A..B with A at most B");
    }
    std::vector<int> tiles;
    for (std::int64_t size = first.front(); size <= last.front(); size *= 2) {
        tiles.push_back(static_cast<int>(size));
    }
    if (tiles.back() < last.front()) {
        tiles.push_back(last.front());
    }
    return tiles;
}

/// Sizes of a search: a list, or A..B.
std::vector<int> parse_sizes(Options& options, const std::string& flag, const std::string& text) {
    const std::size_t dots = text.find("..");
    options.search.is_tiles_range = dots != std::string::npos;
    return options.search.is_tiles_range ? parse_tiles_range(flag, text, dots) : parse_tiles(flag, text, true);
}

/// Each of --set may be several.
std::vector<std::string> split_all(const std::vector<std::string>& values) {
    std::vector<std::string> all;
    for (const std::string& text : values) {
        std::ranges::move(interop::split_overrides(text), std::back_inserter(all));
    }
    return all;
}

std::string parse_objective(const std::string& text) {
    if (text != "step-time" && text != "tokens-per-node-hour" && text != "finish-by") {
        throw InputError("--objective",
                         "found \"" + text + "\"; expected step-time, tokens-per-node-hour or finish-by");
    }
    return text;
}

}  // namespace

void store_flag(Options& options, Flag flag, const std::vector<std::string>& values) {
    const auto text = [&] { return values.empty() ? std::string() : values.front(); };
    switch (flag) {
        case Flag::kMachine: options.machine = text(); break;
        case Flag::kStack: options.stack = text(); break;
        case Flag::kWorkload: options.workload = text(); break;
        case Flag::kPlan: options.plan = text(); break;
        case Flag::kSet: options.overrides = split_all(values); break;
        case Flag::kTiles: options.tiles = parse_tiles("--tiles", text(), false); break;
        case Flag::kTilesList: options.tiles = parse_tiles("--tiles", text(), true); break;
        case Flag::kPlacements: options.placements = parse_placements(text()); break;
        case Flag::kMode: options.mode = text(); break;
        case Flag::kOut: options.out = text(); break;
        case Flag::kTrace: options.trace = text(); break;
        case Flag::kTilesRange: options.tiles = parse_sizes(options, options.search.tiles_flag, text()); break;
        case Flag::kNodes: options.nodes = parse_tiles("--nodes", text(), false); break;
        case Flag::kNodesList: options.nodes = parse_tiles("--nodes", text(), true); break;
        case Flag::kNodesRange: options.nodes = parse_sizes(options, "--nodes", text()); break;
        case Flag::kScenario: options.scenario = text(); break;  // parse_options takes what it gives as flags
        case Flag::kNoSensitivity: options.no_sensitivity = true; break;
        case Flag::kAdvice: options.predict.advice = parse_whole("advice", text(), 0, kMostAdvice); break;
        case Flag::kTokens: options.tokens = parse_positive("tokens", text(), Dimension::kCount, "100B"); break;
        case Flag::kLens: options.predict.lens = parse_lens(text()); break;
        case Flag::kSeed: options.seed = parse_seed(text()); break;
        case Flag::kSamples: options.predict.samples = parse_whole("samples", text(), 1, kMaxRuns); break;
        case Flag::kSlow: options.predict.slow = values; break;
        case Flag::kKind: options.collective.kind = text(); break;
        case Flag::kBytes: options.collective.bytes = text(); break;
        case Flag::kRanks: options.ranks = parse_count("ranks", text()); break;
        case Flag::kAlgorithm: options.collective.algorithm = text(); break;
        case Flag::kLevels: options.collective.levels = parse_number("levels", text(), 1, 3, "1, 2 or 3"); break;
        case Flag::kGroupsOf: options.collective.groups_of = parse_count("groups-of", text()); break;
        case Flag::kStride: options.collective.stride = parse_count("stride", text()); break;
        case Flag::kAlone: options.collective.alone = true; break;
        case Flag::kZipf: options.collective.zipf = parse_zipf(text()); break;
        case Flag::kPlacement: options.collective.placement = text(); break;
        case Flag::kInput: options.dataset.inputs = values; break;
        case Flag::kMegatron: options.dataset.megatron = text(); break;
        case Flag::kDocumentSeparator: options.dataset.document_separator = text(); break;
        case Flag::kTokenizer: options.dataset.tokenizer = text(); break;
        case Flag::kBlendSource: options.dataset.sources = values; break;
        case Flag::kBlendSequences:
            options.dataset.sequences = parse_positive("sequences", text(), Dimension::kCount, "500M");
            break;
        case Flag::kVocabSize: options.dataset.vocab_size = parse_count("vocab-size", text()); break;
        case Flag::kSequenceLength: options.dataset.sequence_length = parse_count("sequence-length", text()); break;
        case Flag::kShardRows: options.dataset.shard_rows = parse_count("shard-rows", text()); break;
        case Flag::kRowSeed: options.seed = parse_seed(text()); break;
        case Flag::kData: options.data = text(); break;
        case Flag::kDatasetOut:
        case Flag::kMegatronOut:
        case Flag::kBlendOut:
        case Flag::kWorkloadOut:
        case Flag::kManualOut: options.out = text(); break;
        case Flag::kRole: options.role = text(); break;
        case Flag::kListed: options.listed = values; break;
        case Flag::kFormat: options.emit.format = text(); break;
        case Flag::kJob: options.emit.job = text(); break;
        case Flag::kBefore: options.diff.before = text(); break;
        case Flag::kAfter: options.diff.after = text(); break;
        case Flag::kTraceStep: options.diff.step = parse_whole("step", text(), 0, kMaxTraceSteps); break;
        case Flag::kTraceRank: options.diff.rank = parse_whole("rank", text(), 0, kMaxCount); break;
        case Flag::kConfig: options.config = text(); break;
        case Flag::kTrainingLength: options.sequence_length = parse_count("sequence-length", text()); break;
        case Flag::kArguments: options.import.arguments = text(); break;
        case Flag::kFunction: options.import.function = text(); break;
        case Flag::kLink: options.import.link = text(); break;
        case Flag::kNodesOfRows: options.import.nodes = parse_count("nodes", text()); break;
        case Flag::kMinBytes:
            options.import.min_bytes = parse_positive("min-bytes", text(), Dimension::kBytes, "64 KiB");
            break;
        case Flag::kMachineText: options.import.machine = text(); break;
        case Flag::kLibrary: options.import.library = text(); break;
        case Flag::kCheckExecutor: options.check_executor = true; break;
        case Flag::kMaxRanks: options.max_ranks = parse_count("max-ranks", text()); break;
        case Flag::kLayouts: options.verify.layouts = parse_count("layouts", text()); break;
        case Flag::kKills: options.verify.kills = parse_whole("kills", text(), 0, kMaxRuns); break;
        case Flag::kIntervals: options.endure.intervals = parse_tiles("--intervals", text(), true); break;
        case Flag::kKillTimes: options.endure.mtbfs_s = parse_kill_times(text()); break;
        case Flag::kPlans: options.compare.plans = values; break;
        case Flag::kWorkloads: options.compare.workloads = values; break;
        case Flag::kLayoutsFile: options.compare.layouts = text(); break;
        case Flag::kRandomLayouts: options.compare.random = parse_count("random", text()); break;
        case Flag::kMechanisms: options.compare.mechanisms = true; break;
        case Flag::kRepeat: options.compare.repeat = parse_count("repeat", text()); break;
        case Flag::kJobBatch:
        case Flag::kGlobalBatch: options.global_batch = parse_count("global-batch", text()); break;
        case Flag::kWhere: options.search.where = text(); break;
        case Flag::kTop: options.search.top = parse_count("top", text()); break;
        case Flag::kExhaustive: options.search.exhaustive = true; break;
        case Flag::kWhatIf: options.search.what_if = true; break;
        case Flag::kVary: options.search.vary = text(); break;
        case Flag::kTimeLimit:
            options.search.time_limit_s = parse_positive("time-limit", text(), Dimension::kSeconds, "2 min");
            break;
        case Flag::kDeadline:
            options.search.deadline_s = parse_positive("deadline", text(), Dimension::kSeconds, "14 d");
            break;
        case Flag::kObjective: options.search.objective = parse_objective(text()); break;
        case Flag::kAgainst: options.search.against = text(); break;
        case Flag::kSearchCheckpoint: options.search.checkpoint = text(); break;
        case Flag::kSearchResume: options.search.resume = text(); break;
        case Flag::kCases: options.validate.cases = values; break;
        case Flag::kMachinesFolder: options.validate.machines = text(); break;
        case Flag::kStacksFolder: options.validate.stacks = text(); break;
        case Flag::kWriteSpread: options.validate.spread = text(); break;
        case Flag::kPort: options.explore.port = parse_whole("port", text(), 0, kMaxPort); break;
        case Flag::kOpen: options.explore.open = true; break;
        case Flag::kCsv: options.csv = text(); break;
        case Flag::kJson: options.json = true; break;
        default:
            (is_trace_flag(flag)       ? store_trace_flag
             : is_schedule_flag(flag)  ? store_schedule_flag
             : is_campaign_flag(flag)  ? store_campaign_flag
             : is_calibrate_flag(flag) ? store_calibrate_flag
                                       : store_train_flag)(options, flag, text());
    }
}

void refuse_given(std::initializer_list<GivenFlag> flags, const char* found) {
    for (const auto& [flag, given] : flags) {
        if (given) {
            throw InputError(flag, found);
        }
    }
}

}  // namespace auspex::cli
