/// @file The command line, parsed and explained.
#include "cli/flags/command_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "base/closest_word.hpp"
#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/flag_values.hpp"

namespace auspex::cli {
namespace {

namespace po = boost::program_options;

bool takes(const Command& command, Flag flag) {
    const auto has = [flag](const std::vector<Flag>& flags) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    return has(command.required) || has(command.optional);
}

po::options_description describe(const Command& command) {
    po::options_description description("Flags", 110, 60);
    for (const CommandFlag& flag : flags_of(command)) {
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
    const bool searches = takes(command, Flag::kGlobalBatch) && !options.tiles.empty();
    if (searches && options.search.global_batch == 0) {
        options.search.global_batch = options.tiles.back();
    }
}

std::string first_example(const Command& command) {
    const std::string examples = command.example;
    return examples.substr(0, examples.find('\n'));
}

po::variables_map read_arguments(const Command& command, const std::vector<std::string>& arguments) {
    const std::string where = std::string("auspex ") + command.name;
    const po::options_description description = describe(command);
    auto operand = command.operands.begin();
    po::variables_map values;
    try {
        namespace style = po::command_line_style;
        auto parsed = po::command_line_parser(with_long_names(command, arguments))
                          .options(description)
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
            option.string_key = text_of(*operand++).name;
        }
        po::store(parsed, values);
    } catch (const po::unknown_option& error) {
        std::vector<std::string> flags;
        for (const CommandFlag& flag : flags_of(command)) {
            flags.push_back("--" + std::string(flag.text.name));
        }
        throw InputError(where, "found the unknown flag " + error.get_option_name() + "; --help lists the flags" +
                                    did_you_mean(error.get_option_name(), flags));
    } catch (const po::error& error) {
        throw InputError(where, std::string(error.what()) + "; --help lists the flags");
    }
    return values;
}

}  // namespace

Options parse_options(const Command& command, const std::vector<std::string>& arguments) {
    Options options;
    options.search.tiles_flag = written_tiles_flag(command, arguments);
    const po::variables_map values = read_arguments(command, arguments);
    const bool has_alone = command.alone && values.count(text_of(*command.alone).name) > 0;
    for (const CommandFlag& flag : flags_of(command)) {
        const FlagText& text = flag.text;
        if (values.count(text.name) == 0) {
            if (flag.is_required && !has_alone) {
                throw InputError(std::string("auspex ") + command.name,
                                 std::string("found no --") + text.name + "; for example: " + first_example(command));
            }
            continue;
        }
        const boost::any& value = values[text.name].value();
        const auto* const one = boost::any_cast<std::string>(&value);
        const auto* const many = boost::any_cast<std::vector<std::string>>(&value);
        if (text.value != nullptr && one != nullptr && one->empty()) {
            throw InputError(flag.flag == Flag::kTilesRange ? options.search.tiles_flag : std::string("--") + text.name,
                             std::string("found an empty value; expected ") + text.value + ": " + text.meaning);
        }
        store_flag(options, flag.flag,
                   many != nullptr  ? *many
                   : one != nullptr ? std::vector<std::string>{*one}
                                    : std::vector<std::string>{});
    }
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
    out << "\n\n" << describe(command) << "\nExample:\n  " << command.example << "\n";
    return out.str();
}

}  // namespace auspex::cli
