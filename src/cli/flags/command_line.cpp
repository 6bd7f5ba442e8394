/// @file The command line, parsed and explained.
#include "cli/flags/command_line.hpp"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/shell_word.hpp"
#include "base/text/closest_word.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/flags/job_size.hpp"
#include "launch/input_files.hpp"
#include "launch/scenario.hpp"

namespace auspex::cli {
namespace {

namespace po = boost::program_options;

/// What other programs call a flag.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kElsewhere{{{"--gpus", "--tiles"},
                                                                                   {"--ranks", "--tiles"},
                                                                                   {"--devices", "--tiles"},
                                                                                   {"--world-size", "--tiles"},
                                                                                   {"--model", "--workload"},
                                                                                   {"--system", "--machine"},
                                                                                   {"--framework", "--stack"},
                                                                                   {"--batch-size", "--global-batch"},
                                                                                   {"--output", "--out"}}};

/// "; did you mean --tiles?" of "--gpus", else of the flag with nearly the same letters.
std::string flag_meant(const std::string& name, const std::vector<std::string>& flags) {
    const auto* const known =
        std::ranges::find(kElsewhere, name, &std::pair<std::string_view, std::string_view>::first);
    const bool is_there = known != kElsewhere.end() && std::ranges::find(flags, known->second) != flags.end();
    return is_there ? "; did you mean " + std::string(known->second) + "?" : did_you_mean(name, flags);
}

bool takes(const Command& command, Flag flag) {
    const auto has = [flag](const std::vector<Flag>& flags) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    return has(command.required) || has(command.optional);
}

po::options_description describe(const std::vector<CommandFlag>& flags) {
    po::options_description description("Flags", 110, 60);
    for (const CommandFlag& flag : flags) {
        const FlagText& text = flag.text;
        if (text.value == nullptr) {
            description.add_options()(text.name, text.meaning.c_str());
        } else if (flag.takes_many) {
            description.add_options()(text.name,
                                      po::value<std::vector<std::string>>()->multitoken()->value_name(text.value),
                                      text.meaning.c_str());
        } else if (flag.is_repeatable) {
            description.add_options()(text.name, po::value<std::vector<std::string>>()->value_name(text.value),
                                      text.meaning.c_str());
        } else {
            description.add_options()(text.name, po::value<std::string>()->value_name(text.value),
                                      text.meaning.c_str());
        }
    }
    return description;
}

/// What a command takes, in our words and in Boost's.
struct Grammar {
    std::vector<CommandFlag> flags;
    po::options_description description;

    [[nodiscard]] bool takes_many(Flag flag) const {
        return std::ranges::any_of(flags,
                                   [flag](const CommandFlag& one) { return one.flag == flag && one.takes_many; });
    }
};

/// Made once for each command of commands(): callers of answer_of come often.
const Grammar& grammar_of(const Command& command) {
    static std::mutex mutex;
    static std::map<const Command*, Grammar> grammars;
    const std::scoped_lock lock(mutex);
    const auto found = grammars.find(&command);
    if (found != grammars.end()) {
        return found->second;
    }
    const std::vector<CommandFlag> flags = flags_of(command);
    return grammars.emplace(&command, Grammar{flags, describe(flags)}).first->second;
}

/// --tiles, --ranks or -n: what a search's number of tiles was given with. Throws InputError where two of them were.
std::string written_tiles_flag(const Command& command, const std::vector<std::string>& arguments) {
    std::string written;
    for (const std::string& argument : arguments) {
        const std::string name = argument.substr(0, argument.find('='));
        if (!takes(command, Flag::kTilesRange) || (name != "--tiles" && name != "--ranks" && argument != "-n")) {
            continue;
        }
        if (!written.empty() && name != written) {
            throw InputError(name, "found beside " + written + ", which is the same; expected one of them");
        }
        written = name;
    }
    return written.empty() ? "--tiles" : written;
}

/// `-n N`, as with mpirun, is --ranks; a search's --ranks is its --tiles.
std::vector<std::string> with_long_names(const Command& command, std::vector<std::string> arguments) {
    static const std::string kRanks = "--ranks";
    const bool is_search = takes(command, Flag::kTilesRange);
    for (std::string& argument : arguments) {
        if (argument == "-n" && (is_search || takes(command, Flag::kTrainRanks))) {
            argument = kRanks;
        }
        if (is_search && (argument == kRanks || argument.starts_with(kRanks + "="))) {
            argument.replace(0, kRanks.size(), "--tiles");
        }
    }
    return arguments;
}

/// What follows from others where it is not given.
void fill_defaults(const Command& command, Options& options) {
    const bool searches = takes(command, Flag::kTilesRange) && !options.tiles.empty();
    if (searches && options.global_batch == 0) {
        options.global_batch = options.tiles.back();
    }
}

std::string first_example(const Command& command) {
    const std::string examples = command.example;
    return examples.substr(0, examples.find('\n'));
}

/// What is missing: "--plan", or "second FILE|DIR (--after)" of what may stand without its name.
std::string words_for(const Command& command, const CommandFlag& flag) {
    const std::string name = std::string("--") + flag.text.name;
    const auto operand = std::ranges::find(command.operands, flag.flag);
    if (operand == command.operands.end()) {
        return name;
    }
    const char* const place = command.operands.size() < 2           ? ""
                              : operand == command.operands.begin() ? "first "
                                                                    : "second ";
    return std::string(place) + flag.text.value + " (" + name + ")";
}

po::variables_map read_arguments(const Command& command, const std::vector<std::string>& arguments) {
    const std::string where = std::string("auspex ") + command.name;
    const Grammar& grammar = grammar_of(command);
    auto operand = command.operands.begin();
    po::variables_map values;
    try {
        namespace style = po::command_line_style;
        auto parsed = po::command_line_parser(with_long_names(command, arguments))
                          .options(grammar.description)
                          .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                          .run();
        for (po::option& option : parsed.options) {
            if (option.position_key < 0) {
                continue;
            }
            if (operand == command.operands.end()) {
                throw InputError(where, "found the stray argument \"" + option.value.at(0) +
                                            "\"; expected flags only (--help lists them)");
            }
            option.string_key = text_of(*operand).name;
            operand += grammar.takes_many(*operand) ? 0 : 1;
        }
        po::store(parsed, values);
    } catch (const po::unknown_option& error) {
        std::vector<std::string> flags;
        for (const CommandFlag& flag : grammar.flags) {
            flags.push_back("--" + std::string(flag.text.name));
        }
        throw InputError(where, "found the unknown flag " + error.get_option_name() + "; --help lists the flags" +
                                    flag_meant(error.get_option_name(), flags));
    } catch (const po::error& error) {
        throw InputError(where, std::string(error.what()) + "; --help lists the flags");
    }
    return values;
}

/// What was given: by the command line, else by the scenario that it names.
class GivenFlags {
 public:
    GivenFlags(const po::variables_map& line) : line_(line) {
        const std::string scenario = text_of(Flag::kScenario).name;
        if (line.count(scenario) > 0) {
            file_ = line[scenario].as<std::string>();
            for (launch::ScenarioFlag& flag : launch::load_scenario(file_)) {
                scenario_[flag.name] = std::move(flag.values);
            }
            // A size on the command line goes first, in whatever unit it is.
            if (line.count("tiles") > 0 || line.count("nodes") > 0) {
                scenario_.erase("tiles");
                scenario_.erase("nodes");
            }
        }
    }
    [[nodiscard]] bool has(const std::string& name) const { return line_.count(name) > 0 || scenario_.contains(name); }
    [[nodiscard]] bool is_of_scenario(const std::string& name) const {
        return line_.count(name) == 0 && scenario_.contains(name);
    }
    [[nodiscard]] const std::string& file() const { return file_; }
    /// Of both, the command line's last, where a flag may be repeated.
    [[nodiscard]] std::vector<std::string> values(const CommandFlag& flag) const {
        std::vector<std::string> values;
        if (const auto found = scenario_.find(flag.text.name);
            found != scenario_.end() && (flag.is_repeatable || is_of_scenario(flag.text.name))) {
            values = found->second;
        }
        if (line_.count(flag.text.name) > 0) {
            const boost::any& value = line_[flag.text.name].value();
            if (const auto* const one = boost::any_cast<std::string>(&value)) {
                values.push_back(*one);
            } else if (const auto* const many = boost::any_cast<std::vector<std::string>>(&value)) {
                values.insert(values.end(), many->begin(), many->end());
            }
        }
        return values;
    }

 private:
    const po::variables_map& line_;
    std::string file_;
    std::map<std::string, std::vector<std::string>> scenario_;
};

/// True if something else that was given says what this flag does.
bool is_replaced(Flag flag, const GivenFlags& given) {
    return (flag == Flag::kTilesList || flag == Flag::kTilesRange) && given.has("nodes");
}

/// With --machine a missing stack is one for that.
InputError missing(const Command& command, const CommandFlag& flag, const Options& options) {
    const std::string found = "found no " + words_for(command, flag);
    const std::string where = std::string("auspex ") + command.name;
    if (flag.flag == Flag::kStack && !options.machine.empty()) {
        const JsonDocument machine = launch::load_document("machine", options.machine, {});
        return {where, found + "; expected " + stack_wish(models::load_machine(machine))};
    }
    return {where, found + "; for example: " + first_example(command)};
}

/// Stores the flag; what a scenario gives is blamed on its file.
void store_given(Options& options, const CommandFlag& flag, const GivenFlags& given) {
    const std::vector<std::string> values = given.values(flag);
    if (flag.text.value != nullptr && values.size() == 1 && values.front().empty()) {
        throw InputError(
            flag.flag == Flag::kTilesRange ? options.search.tiles_flag : std::string("--") + flag.text.name,
            std::string("found an empty value; expected ") + flag.text.value + ": " + flag.text.meaning);
    }
    if (!given.is_of_scenario(flag.text.name)) {
        store_flag(options, flag.flag, values);
        return;
    }
    try {
        store_flag(options, flag.flag, values);
    } catch (const InputError& error) {
        throw InputError("--scenario " + given.file(), error.what());
    }
}

}  // namespace

std::ostream& answer_stream(const Options& options) {
    return options.answers != nullptr ? *options.answers : std::cout;
}

Options parse_options(const Command& command, const std::vector<std::string>& arguments) {
    Options options;
    options.search.tiles_flag = written_tiles_flag(command, arguments);
    const po::variables_map values = read_arguments(command, arguments);
    const GivenFlags given(values);
    const bool has_alone = command.alone && given.has(text_of(*command.alone).name);
    for (const CommandFlag& flag : grammar_of(command).flags) {
        if (given.has(flag.text.name)) {
            store_given(options, flag, given);
        } else if (flag.is_required && !has_alone && !is_replaced(flag.flag, given)) {
            throw missing(command, flag, options);
        }
    }
    fill_tiles_of_nodes(options);
    fill_defaults(command, options);
    options.arguments = arguments;
    options.command_line = std::string("auspex ") + command.name;
    for (const std::string& argument : arguments) {
        options.command_line += " " + quoted_for_shell(argument);
    }
    return options;
}

std::string help_of(const Command& command) {
    std::ostringstream out;
    out << "auspex " << command.name << ": " << command.summary << (command.required.empty() ? "" : "\n\nRequired:");
    for (const Flag flag : command.required) {
        out << " --" << text_of(flag).name;
    }
    if (command.alone) {
        out << "; or --" << text_of(*command.alone).name << " alone";
    }
    out << "\n\n" << grammar_of(command).description << "\nExample:\n  " << command.example << "\n";
    return out.str();
}

}  // namespace auspex::cli
