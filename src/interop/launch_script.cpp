/// @file Words of a launch script to arguments.
#include "interop/launch_script.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "interop/shell_words.hpp"

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostRanks = 16'777'216;
constexpr std::string_view kOfTorchrun[] = {"--nnodes",      "--nproc-per-node", "--node-rank",     "--master-addr",
                                            "--master-port", "--rdzv-backend",   "--rdzv-endpoint", "--rdzv-id"};

int whole_number(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::max(0, value) : 0;
}

/// NAME of "$NAME", "${NAME}", "${NAME[@]}", "$@"; none of another word.
std::optional<std::string> variable_of(const std::string& word) {
    if (!word.starts_with('$') || word.starts_with("$(")) {
        return std::nullopt;
    }
    std::string name = word.substr(word.starts_with("${") ? 2 : 1);
    return name.substr(0, name.find_first_of("[}:-=+?%#/"));
}

bool is_torchrun(const std::string& word) { return word == "torchrun" || word == "torch.distributed.run"; }

/// The word that names what is trained with: a file, or a module behind "python -m".
Words::const_iterator program_of(const Words& command) {
    bool has_python = false;
    for (auto word = command.begin(); word != command.end(); ++word) {
        const bool is_module = has_python && *(word - 1) == "-m" && !is_torchrun(*word);
        if (is_module || word->ends_with(".py")) {
            return word;
        }
        const std::string file = word->substr(word->rfind('/') + 1);
        has_python = has_python || file.starts_with("python") || is_torchrun(*word);
    }
    return command.end();
}

using Groups = std::map<std::string, std::vector<Words>>;

/// NAME and what follows of NAME=…, perhaps behind "export"; none of another word.
std::optional<std::pair<std::string, std::string>> assignment_of(const std::string& word) {
    const std::size_t equals = word.find('=');
    const bool is_name =
        equals != std::string::npos && equals > 0 && std::ranges::all_of(word.substr(0, equals), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '_' || c == '+';
        });
    if (!is_name) {
        return std::nullopt;
    }
    std::string name = word.substr(0, equals);
    return std::pair(name, word.substr(equals + 1));
}

/// NAME="--a 1 …"
bool holds_arguments(const std::string& value) {
    return value.starts_with("--") || value.find(" --") != std::string::npos || value.find("\n--") != std::string::npos;
}

/// ":=" in ": ${NAME:=default}" assigns, too.
std::string with_assignment(const std::string& word) {
    const std::size_t sign = word.find(":=");
    const bool assigns = word.starts_with("${") && word.ends_with('}') && sign != std::string::npos;
    return assigns ? word.substr(2, sign - 2) + "=" + word : word;
}

/// NAME=VALUE of all commands.
ShellValues values_of(const ShellText& shell) {
    ShellValues values;
    for (const Words& command : shell.commands) {
        for (const std::string& word : command) {
            if (const auto assigned = assignment_of(with_assignment(word))) {
                values.assign(assigned->first, assigned->second);
            }
        }
    }
    return values;
}

class Collector {
 public:
    Collector(const ShellText& shell, const std::string& name, ShellValues& values) : name_(name), values_(values) {
        for (const auto& [array, words] : shell.arrays) {
            name_group(array, words);
        }
        for (const Words& command : shell.commands) {
            read_assignments(command);
        }
        bool has_program = false;
        for (const Words& command : shell.commands) {
            has_program = add_program(command) || has_program;
        }
        if (!has_program) {
            for (const auto& [group, texts] : named_) {
                add_named(group);
            }
        }
        if (!has_program && named_.empty()) {
            for (const Words& command : shell.commands) {
                add(command);
            }
        }
    }

    std::map<std::string, std::string> take() { return std::move(arguments_); }

 private:
    /// `assigned`: NAME, or NAME+ for what is appended.
    void name_group(std::string assigned, const Words& words) {
        const bool appends = assigned.ends_with('+');
        if (appends) {
            assigned.pop_back();
        }
        if (!appends && named_.contains(assigned)) {
            throw InputError(
                name_ + ": " + printable(assigned),
                "found two assignments of arguments; expected one, for nothing here says which of them counts");
        }
        named_[assigned].push_back(words);
    }

    /// NAME="--a 1 …"
    void read_assignments(const Words& command) {
        for (const std::string& word : command) {
            const auto assigned = assignment_of(word);
            if (!assigned || !holds_arguments(assigned->second)) {
                continue;
            }
            Words words;
            for (const Words& part : shell_words(assigned->second, name_).commands) {
                words.insert(words.end(), part.begin(), part.end());
            }
            name_group(assigned->first, words);
        }
    }

    /// The words behind a program, and torchrun's own in front of it.
    bool add_program(const Words& command) {
        const auto program = program_of(command);
        const auto torchrun = std::ranges::find_if(command, is_torchrun);
        if (torchrun < program) {
            const bool is_module = program != command.end() && *(program - 1) == "-m";
            add(Words(torchrun + 1, is_module ? program - 1 : program));
        }
        if (program != command.end()) {
            add(Words(program + 1, command.end()));
        }
        return program != command.end();
    }

    /// An array or text, once; with what is appended to it.
    void add_named(const std::string& group) {
        const std::vector<Words>& texts = named_.at(group);
        if (!added_.insert(group).second) {
            return;
        }
        constexpr int kDeepest = 100;
        if (++depth_ > kDeepest) {
            throw InputError(name_ + ": " + printable(group), "found an array within more than " +
                                                                  std::to_string(kDeepest) +
                                                                  " others; expected arguments written out");
        }
        for (const Words& words : texts) {
            add(words);
        }
        --depth_;
    }

    [[nodiscard]] std::string with_value(const std::string& word) { return values_.expanded(word).value_or(word); }

    void add(const Words& words) {
        std::string argument;
        for (const std::string& word : words) {
            const std::optional<std::string> variable = variable_of(word);
            std::string* const value = argument.empty() ? nullptr : &arguments_[argument];
            if (word.size() > 2 && word.starts_with("--")) {
                const std::size_t equals = word.find('=');
                argument = word.substr(0, equals);
                std::ranges::replace(argument, '_', '-');
                arguments_[argument] = equals == std::string::npos ? "" : with_value(word.substr(equals + 1));
            } else if (variable && (*variable == "@" || *variable == "*" || named_.contains(*variable))) {
                argument.clear();
                if (named_.contains(*variable)) {
                    add_named(*variable);
                }
            } else if (variable && (value == nullptr || !value->empty())) {
                throw InputError(name_ + ": " + printable(word),
                                 "found a variable that may hold arguments; expected them written out, in an array or "
                                 "text of the script");
            } else if (value != nullptr) {
                *value += (value->empty() ? "" : " ") + with_value(word);
            }
        }
    }

    const std::string& name_;
    Groups named_;  ///< arrays, and texts of arguments
    ShellValues& values_;
    std::set<std::string> added_;
    int depth_ = 0;  ///< of arrays in arrays
    std::map<std::string, std::string> arguments_;
};

/// Of "mpiexec -n 384", "srun --ntasks=384", "srun -n384".
int launched_ranks(const std::vector<Words>& commands, ShellValues& values) {
    const auto ranks_of = [&values](const std::string& word) {
        return whole_number(values.expanded(word).value_or(""));
    };
    for (const Words& words : commands) {
        auto word = std::ranges::find_if(
            words, [](const std::string& w) { return w == "mpiexec" || w == "mpirun" || w == "srun"; });
        for (; word != words.end(); ++word) {
            const bool has_next = word + 1 != words.end();
            if (has_next && (*word == "-n" || *word == "-np" || *word == "--ntasks")) {
                return ranks_of(*(word + 1));
            }
            if (word->starts_with("--ntasks=")) {
                return ranks_of(word->substr(word->find('=') + 1));
            }
            if (word->starts_with("-n") && ranks_of(word->substr(2)) > 0) {
                return ranks_of(word->substr(2));
            }
        }
    }
    return 0;
}

bool uses_torchrun(const ShellText& shell, const std::map<std::string, std::string>& arguments) {
    return arguments.contains("--nproc-per-node") || std::ranges::any_of(shell.commands, [](const Words& words) {
               return std::ranges::any_of(words, is_torchrun);
           });
}

}  // namespace

LaunchScript read_launch_script(std::string_view text, const std::string& name) {
    const ShellText shell = shell_words(text, name);
    LaunchScript script;
    ShellValues values = values_of(shell);
    script.arguments = Collector(shell, name, values).take();
    if (uses_torchrun(shell, script.arguments)) {
        const auto nodes = script.arguments.find("--nnodes");
        const std::int64_t ranks = std::int64_t{nodes == script.arguments.end() ? 1 : whole_number(nodes->second)} *
                                   whole_number(script.arguments["--nproc-per-node"]);
        script.ranks = ranks <= kMostRanks ? static_cast<int>(ranks) : 0;
    } else {
        script.ranks = launched_ranks(shell.commands, values);
    }
    for (const std::string_view argument : kOfTorchrun) {
        script.arguments.erase(std::string(argument));
    }
    script.notes = values.notes();
    return script;
}

ShellValues script_values(std::string_view text, const std::string& name) { return values_of(shell_words(text, name)); }

int ranks_of_script(const LaunchScript& script, const PlanText& from) {
    const int ranks = from.ranks > 0 ? from.ranks : script.ranks;
    if (ranks == 0) {
        throw InputError("--tiles", "found no such flag, and no ranks in " + from.name +
                                        "; expected the number of ranks of the job");
    }
    return ranks;
}

}  // namespace auspex::interop
