#include "cli/flags/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace auspex {
namespace {

namespace po = boost::program_options;

constexpr int kMostTiles = 10'000'000;

bool takes(const Command& command, Flag flag) {
    const auto has = [flag](const std::vector<Flag>& flags) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    return has(command.required) || has(command.optional);
}

FlagText text_of(Flag flag) {
    switch (flag) {
        case Flag::kMachine: return {"machine", "FILE", "machine file, or the name of one in machines/", "machine"};
        case Flag::kStack: return {"stack", "FILE", "software stack file, or the name of one in stacks/", "stack"};
        case Flag::kWorkload:
            return {"workload", "FILE", "workload (model) file, or the name of one in workloads/", "workload"};
        case Flag::kPlan: return {"plan", "FILE", "parallel plan file, or the name of one in plans/", "plan"};
        case Flag::kSet:
            return {"set", "ROLE.PATH=VALUE",
                    "override a field; ROLE is machine, stack, workload or plan; may be repeated"};
        case Flag::kTiles:
            return {"tiles", "N", "tiles (accelerators) of the job; without it what the plan's dp gives"};
        case Flag::kTilesList:
            return {"tiles", "N,N,...", "numbers of tiles, smallest first; the first is the reference"};
        case Flag::kPlacements:
            return {"placements", "WORD,WORD,...",
                    "contiguous, scattered, random[:SEED], scheduled[:FREE[:SEED]]; the first is what the others are "
                    "compared with"};
        case Flag::kMode:
            return {"mode", "weak|strong", "weak: the batch grows with the tiles (default); strong: the batch is kept"};
        case Flag::kOut:
            return {"out", "DIR", "write the report there: index.html, report.md, points.csv, efficiency.svg"};
        case Flag::kTrace: return {"trace", "FILE", "write a Chrome trace of the step, for ui.perfetto.dev"};
        case Flag::kTokens: return {"tokens", "COUNT", "length of the training run: adds its time and node-hours"};
        case Flag::kLens:
            return {"lens", "folded|unfolded",
                    "folded (default): one actor a pipeline stage; unfolded: every tile, NIC and link"};
        case Flag::kSeed: return {"seed", "N", "unfolded: number of the first draw of tiles and noise (default 1)"};
        case Flag::kSamples: return {"samples", "N", "unfolded: draws to play (default 5)"};
        case Flag::kSlow:
            return {"slow", "NAME=FACTOR",
                    "unfolded: a slow part, \"tile 84=0.8\" or a link, \"node 3 NIC 2=0.5\"; factors from 0.001 to 1; "
                    "may be repeated"};
        case Flag::kKind:
            return {"kind", "WORD", "all-reduce, reduce-scatter, all-gather, all-to-all, broadcast or barrier"};
        case Flag::kBytes:
            return {"bytes", "SIZE",
                    "buffer of a rank (all-gather: the output), such as \"1 GiB\"; several: 8,64KiB; all powers of two "
                    "between: 8:1GiB"};
        case Flag::kRanks: return {"ranks", "N", "ranks (tiles) of the job"};
        case Flag::kAlgorithm:
            return {"algorithm", "WORD", "ring, direct, ...; auto: the fastest; without it what the stack's rules say"};
        case Flag::kLevels:
            return {"levels", "1|2|3", "1: the whole group; 2: nodes, then between them; 3: also groups of nodes"};
        case Flag::kGroupsOf: return {"groups-of", "K", "groups of K ranks, all at once; without it one of all ranks"};
        case Flag::kStride: return {"stride", "S", "members of a group are S ranks apart (default 1)"};
        case Flag::kAlone: return {"alone", nullptr, "only the first of the groups acts"};
        case Flag::kZipf:
            return {"zipf", "S", "all-to-all: place i of a group receives a share that falls as (i + 1)^-S"};
        case Flag::kPlacement: return {"placement", "WORD", "contiguous (default), scattered, random or scheduled"};
        case Flag::kInput: return {"input", "FILE...", "text files; a file is a document"};
        case Flag::kMegatron:
            return {"megatron", "PREFIX", "instead of text: PREFIX.bin and PREFIX.idx, tokens taken as they are"};
        case Flag::kDocumentSeparator:
            return {"document-separator", "TEXT",
                    "a document ends wherever this stands, not only at the end of a file"};
        case Flag::kTokenizer: return {"tokenizer", "bytes|bpe", "bpe: merges learned from the files; default: bytes"};
        case Flag::kVocabSize: return {"vocab-size", "N", "tokens to learn with bpe, or those of the Megatron dataset"};
        case Flag::kSequenceLength: return {"sequence-length", "S", "a row has S + 1 tokens (default 1024)"};
        case Flag::kShardRows: return {"shard-rows", "N", "rows of a shard (default 65536)"};
        case Flag::kRowSeed: return {"seed", "N", "of the order of rows (default 1)"};
        case Flag::kData: return {"data", "DIR", "dataset that \"auspex data prepare\" has written"};
        case Flag::kDatasetOut: return {"out", "DIR", "folder of the new dataset"};
        case Flag::kMegatronOut: return {"out", "PREFIX", "writes PREFIX.bin and PREFIX.idx"};
        case Flag::kRole: return {"role", "ROLE", "machine, stack, workload, plan, layouts or measurements"};
        case Flag::kManualOut: return {"out", "DIR", "folder of the pages"};
        case Flag::kCheckExecutor:
            return {"check-executor", nullptr,
                    "instead of the program: what of it the trainer cannot run; exit code 1 if anything"};
        case Flag::kMaxRanks: return {"max-ranks", "N", "leave out layouts of more ranks (default 16)"};
        case Flag::kLayouts: return {"layouts", "N", "only the first N of the layouts"};
        case Flag::kKills: return {"kills", "K", "runs in which a rank is killed (default 10); 0: none"};
        case Flag::kPlans:
        case Flag::kWorkloads:
        case Flag::kLayoutsFile:
        case Flag::kRepeat: return compare_flag_text(flag);
        case Flag::kJson: return {"json", nullptr, "print JSON"};
        default: return is_calibrate_flag(flag) ? calibrate_flag_text(flag) : train_flag_text(flag);
    }
}

/// Several values behind one flag, as a shell's pattern gives them.
bool takes_many(Flag flag) { return flag == Flag::kInput || flag == Flag::kPlans || flag == Flag::kWorkloads; }

const char* meaning_for_verify(Flag flag, const char* meaning) {
    switch (flag) {
        case Flag::kWorkload: return "model with experts, or the name of one in workloads/ (default toy-moe)";
        case Flag::kData: return "dataset that \"auspex data prepare\" has written; without it a text is made up";
        case Flag::kSteps: return "of every run (default 50)";
        case Flag::kOut: return "write the report there: index.html, report.md, layouts.csv, recovery.csv, loss.svg";
        default: return meaning;
    }
}

/// What --out writes is the command's own; a flag that two commands read differently says what this one does.
const char* meaning_for(const Command& command, Flag flag, const char* meaning) {
    if (takes(command, Flag::kKills)) {
        return meaning_for_verify(flag, meaning);
    }
    if (takes(command, Flag::kFrom)) {
        return meaning_for_calibrate(flag, meaning);
    }
    if (takes(command, Flag::kPlans)) {
        return meaning_for_compare(flag, meaning);
    }
    if (flag == Flag::kSet && takes(command, Flag::kTrainStack)) {
        return "override a field; ROLE is stack, workload or plan; may be repeated";
    }
    if (flag == Flag::kSet && !takes(command, Flag::kMachine)) {
        return "override a field; ROLE is workload or, with --plan, plan; may be repeated";
    }
    if (flag == Flag::kSet && !takes(command, Flag::kStack)) {
        return "override a field; ROLE is machine; may be repeated";
    }
    if (flag == Flag::kSet && !takes(command, Flag::kWorkload)) {
        return "override a field; ROLE is machine or stack; may be repeated";
    }
    if (flag == Flag::kSeed && takes(command, Flag::kPlacement)) {
        return "number of the draw of a random or scheduled placement (default 1)";
    }
    if (flag != Flag::kOut || takes(command, Flag::kTilesList)) {
        return meaning;
    }
    return takes(command, Flag::kPlacements) ? "write the comparison there: report.md, placements.csv, losses.svg"
           : takes(command, Flag::kBytes)    ? "write table, points and curves there: sweep.csv, sweep.md, sweep.svg"
                                             : "write a drawing of one node and the network there: fabric.svg";
}

/// Of the flag as this command takes it.
FlagText text_for(const Command& command, Flag flag) {
    FlagText text = text_of(flag);
    text.meaning = meaning_for(command, flag, text.meaning);
    return text;
}

po::options_description describe(const Command& command) {
    po::options_description description("Flags", 110, 60);
    for (const CommandFlag& flag : flags_of(command)) {
        const FlagText& text = flag.text;
        if (text.value == nullptr) {
            description.add_options()(text.name, text.meaning);
        } else if (flag.takes_many) {
            description.add_options()(
                text.name, po::value<std::vector<std::string>>()->multitoken()->value_name(text.value), text.meaning);
        } else if (flag.is_repeatable) {
            description.add_options()(text.name, po::value<std::vector<std::string>>()->value_name(text.value),
                                      text.meaning);
        } else {
            description.add_options()(text.name, po::value<std::string>()->value_name(text.value), text.meaning);
        }
    }
    return description;
}

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
        if (!reads_as(part, count) || count < 1 || count > kMostTiles) {
            throw InputError("--tiles",
                             "found \"" + part + "\"; expected a whole number from 1 to " + std::to_string(kMostTiles));
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

PlacementWord parse_placement(const std::string& text) {
    const std::vector<std::string> parts = split(text, ':');
    PlacementWord word{text};
    const auto fail = [&] {
        throw InputError("--placements", "found \"" + text +
                                             "\"; expected contiguous, scattered, random, random:SEED, scheduled, "
                                             "scheduled:FREE or scheduled:FREE:SEED (FREE from 0.001 to 1)");
    };
    const std::optional<PlacementKind> kind = placement_named(parts.front());
    if (!kind) {
        fail();
    }
    word.kind = *kind;
    std::size_t taken = 1;
    if (word.kind == PlacementKind::kScheduled && parts.size() > taken &&
        (!reads_as(parts[taken++], word.free) || word.free < 0.001 || word.free > 1)) {
        fail();
    }
    if (draws_nodes(word.kind) && parts.size() > taken && !reads_as(parts[taken++], word.seed)) {
        fail();
    }
    if (parts.size() > taken) {
        fail();
    }
    return word;
}

std::vector<PlacementWord> parse_placements(const std::string& text) {
    std::vector<PlacementWord> words;
    for (const std::string& part : split(text, ',')) {
        words.push_back(parse_placement(part));
        const auto same = [&](const PlacementWord& other) { return other.text == part; };
        if (std::count_if(words.begin(), words.end(), same) > 1) {
            throw InputError("--placements", "found \"" + part + "\" twice; expected each placement once");
        }
    }
    return words;
}

int parse_count(const char* flag, const std::string& text) {
    int count = 0;
    if (!reads_as(text, count) || count < 1 || count > kMostTiles) {
        throw InputError(std::string("--") + flag,
                         "found \"" + text + "\"; expected a whole number from 1 to " + std::to_string(kMostTiles));
    }
    return count;
}

int parse_levels(const std::string& text) {
    constexpr int kMostLevels = 3;
    int levels = 0;
    if (!reads_as(text, levels) || levels < 1 || levels > kMostLevels) {
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
    constexpr int kMostSamples = 10'000;
    int samples = 0;
    if (!reads_as(text, samples) || samples < 1 || samples > kMostSamples) {
        throw InputError("--samples",
                         "found \"" + text + "\"; expected a whole number from 1 to " + std::to_string(kMostSamples));
    }
    return samples;
}

int parse_kills(const std::string& text) {
    constexpr int kMostKills = 10'000;
    int kills = 0;
    if (!reads_as(text, kills) || kills < 0 || kills > kMostKills) {
        throw InputError("--kills",
                         "found \"" + text + "\"; expected a whole number from 0 to " + std::to_string(kMostKills));
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

void store(Options& options, Flag flag, const po::variable_value& value) {
    const auto text = [&] { return value.as<std::string>(); };
    switch (flag) {
        case Flag::kMachine: options.machine = text(); break;
        case Flag::kStack: options.stack = text(); break;
        case Flag::kWorkload: options.workload = text(); break;
        case Flag::kPlan: options.plan = text(); break;
        case Flag::kSet: options.overrides = value.as<std::vector<std::string>>(); break;
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
        case Flag::kSlow: options.slow = value.as<std::vector<std::string>>(); break;
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
        case Flag::kInput: options.inputs = value.as<std::vector<std::string>>(); break;
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
        case Flag::kPlans: options.compare.plans = value.as<std::vector<std::string>>(); break;
        case Flag::kWorkloads: options.compare.workloads = value.as<std::vector<std::string>>(); break;
        case Flag::kLayoutsFile: options.compare.layouts = text(); break;
        case Flag::kRepeat: options.compare.repeat = parse_count("repeat", text()); break;
        case Flag::kJson: options.json = true; break;
        default:
            (is_calibrate_flag(flag) ? store_calibrate_flag : store_train_flag)(
                options, flag, value.empty() || value.value().type() != typeid(std::string) ? "" : text());
    }
}

/// The only short flag: `-n N`, as with mpirun.
std::vector<std::string> without_short_flags(const Command& command, std::vector<std::string> arguments) {
    if (takes(command, Flag::kTrainRanks)) {
        std::replace(arguments.begin(), arguments.end(), std::string("-n"), std::string("--ranks"));
    }
    return arguments;
}

po::variables_map read_arguments(const Command& command, const std::vector<std::string>& arguments) {
    const std::string where = std::string("auspex ") + command.name;
    const po::options_description description = describe(command);
    po::variables_map values;
    try {
        namespace style = po::command_line_style;
        const auto parsed = po::command_line_parser(without_short_flags(command, arguments))
                                .options(description)
                                .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                                .run();
        for (const auto& option : parsed.options) {
            if (option.position_key >= 0) {
                throw InputError(where, "found the stray argument \"" + option.value.at(0) +
                                            "\"; expected flags only (--help lists them)");
            }
        }
        po::store(parsed, values);
    } catch (const po::error& error) {
        throw InputError(where, std::string(error.what()) + "; --help lists the flags");
    }
    return values;
}

}  // namespace

std::string quoted_for_shell(const std::string& word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,/:@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
        return word;
    }
    std::string out = "'";
    for (const char c : word) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

Options parse_options(const Command& command, const std::vector<std::string>& arguments) {
    const po::variables_map values = read_arguments(command, arguments);
    Options options;
    const auto take = [&](Flag flag) {
        const FlagText text = text_for(command, flag);
        const po::variable_value& value = values[text.name];
        if (text.value != nullptr && value.value().type() == typeid(std::string) && value.as<std::string>().empty()) {
            throw InputError(std::string("--") + text.name,
                             std::string("found an empty value; expected ") + text.value + ": " + text.meaning);
        }
        store(options, flag, value);
    };
    for (const Flag flag : command.required) {
        if (const char* const name = text_of(flag).name; values.count(name) == 0) {
            throw InputError(std::string("auspex ") + command.name,
                             std::string("found no --") + name + "; for example: " + command.example);
        }
        take(flag);
    }
    for (const Flag flag : command.optional) {
        if (values.count(text_of(flag).name) > 0) {
            take(flag);
        }
    }
    options.arguments = arguments;
    options.command_line = std::string("auspex ") + command.name;
    for (const std::string& argument : arguments) {
        options.command_line += " " + quoted_for_shell(argument);
    }
    return options;
}

std::vector<CommandFlag> flags_of(const Command& command) {
    std::vector<CommandFlag> flags;
    const auto add = [&](Flag flag, bool is_required) {
        flags.push_back(
            {text_for(command, flag), is_required, takes_many(flag), flag == Flag::kSet || flag == Flag::kSlow});
    };
    std::for_each(command.required.begin(), command.required.end(), [&](Flag flag) { add(flag, true); });
    std::for_each(command.optional.begin(), command.optional.end(), [&](Flag flag) { add(flag, false); });
    return flags;
}

std::string help_of(const Command& command) {
    std::ostringstream out;
    out << "auspex " << command.name << ": " << command.summary << (command.required.empty() ? "" : "\n\nRequired:");
    for (const Flag flag : command.required) {
        out << " --" << text_of(flag).name;
    }
    out << "\n\n" << describe(command) << "\nExample:\n  " << command.example << "\n";
    return out.str();
}

}  // namespace auspex
