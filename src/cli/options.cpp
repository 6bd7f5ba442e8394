#include "cli/options.hpp"

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

struct FlagText {
    const char* name;
    const char* value;  ///< nullptr: takes none
    const char* meaning;
};

bool takes(const Command& command, Flag flag) {
    const auto has = [flag](const std::vector<Flag>& flags) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    return has(command.required) || has(command.optional);
}

FlagText text_of(Flag flag) {
    switch (flag) {
        case Flag::kMachine: return {"machine", "FILE", "machine file, or the name of one in machines/"};
        case Flag::kStack: return {"stack", "FILE", "software stack file, or the name of one in stacks/"};
        case Flag::kWorkload: return {"workload", "FILE", "workload (model) file, or the name of one in workloads/"};
        case Flag::kPlan: return {"plan", "FILE", "parallel plan file, or the name of one in plans/"};
        case Flag::kSet:
            return {"set", "ROLE.PATH=VALUE",
                    "override a field; ROLE is machine, stack, workload or plan; may be repeated"};
        case Flag::kTiles:
            return {"tiles", "N", "tiles (accelerators) of the job; without it what the plan's dp gives"};
        case Flag::kTilesList:
            return {"tiles", "N,N,...", "numbers of tiles, smallest first; the first is the reference"};
        case Flag::kMode:
            return {"mode", "weak|strong", "weak: the batch grows with the tiles (default); strong: the batch is kept"};
        case Flag::kOut:
            return {"out", "DIR", "write the report there: index.html, report.md, points.csv, efficiency.svg"};
        case Flag::kTrace: return {"trace", "FILE", "write a Chrome trace of the step, for ui.perfetto.dev"};
        case Flag::kTokens: return {"tokens", "COUNT", "length of the training run: adds its time and node-hours"};
        case Flag::kJson: return {"json", nullptr, "print JSON"};
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

po::options_description describe(const Command& command) {
    po::options_description description("Flags", 110, 60);
    const auto add = [&](Flag flag) {
        FlagText text = text_of(flag);
        if (flag == Flag::kSet && !takes(command, Flag::kMachine)) {
            text.meaning = "override a field; ROLE is workload or, with --plan, plan; may be repeated";
        }
        if (text.value == nullptr) {
            description.add_options()(text.name, text.meaning);
        } else if (flag == Flag::kSet) {
            description.add_options()(text.name, po::value<std::vector<std::string>>()->value_name(text.value),
                                      text.meaning);
        } else {
            description.add_options()(text.name, po::value<std::string>()->value_name(text.value), text.meaning);
        }
    };
    std::for_each(command.required.begin(), command.required.end(), add);
    std::for_each(command.optional.begin(), command.optional.end(), add);
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

double parse_tokens(const std::string& text) {
    double tokens = 0;
    if (!reads_as(text, tokens) || !std::isfinite(tokens) || tokens <= 0) {
        throw InputError("--tokens", "found \"" + text + "\"; expected a positive number such as 100e9");
    }
    return tokens;
}

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
        case Flag::kMode: options.mode = text(); break;
        case Flag::kOut: options.out = text(); break;
        case Flag::kTrace: options.trace = text(); break;
        case Flag::kTokens: options.tokens = parse_tokens(text()); break;
        case Flag::kJson: options.json = true; break;
    }
}

po::variables_map read_arguments(const Command& command, const std::vector<std::string>& arguments) {
    const std::string where = std::string("auspex ") + command.name;
    const po::options_description description = describe(command);
    po::variables_map values;
    try {
        namespace style = po::command_line_style;
        const auto parsed = po::command_line_parser(arguments)
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

Options parse_options(const Command& command, const std::vector<std::string>& arguments) {
    const po::variables_map values = read_arguments(command, arguments);
    Options options;
    const auto take = [&](Flag flag) {
        const FlagText text = text_of(flag);
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
    options.command_line = std::string("auspex ") + command.name;
    for (const std::string& argument : arguments) {
        options.command_line += " " + quoted_for_shell(argument);
    }
    return options;
}

std::string help_of(const Command& command) {
    std::ostringstream out;
    out << "auspex " << command.name << ": " << command.summary << "\n\nRequired:";
    for (const Flag flag : command.required) {
        out << " --" << text_of(flag).name;
    }
    out << "\n\n" << describe(command) << "\nExample:\n  " << command.example << "\n";
    return out.str();
}

}  // namespace auspex
