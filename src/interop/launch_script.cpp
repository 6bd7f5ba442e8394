/// @file Words of a launch script to arguments.
#include "interop/launch_script.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "base/error.hpp"
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
    return name.substr(0, name.find_first_of("[}:"));
}

class Collector {
 public:
    Collector(const ShellText& shell, const std::string& name) : name_(name) {
        for (const auto& [array, words] : shell.arrays) {
            written_out_.insert(array);
            groups_.push_back(words);
        }
        for (const Words& command : shell.commands) {
            add_text(command);
            add_behind_program(command);
        }
        if (groups_.empty()) {
            groups_ = shell.commands;
        }
    }

    std::map<std::string, std::string> run() {
        for (const Words& words : groups_) {
            add(words);
        }
        return std::move(arguments_);
    }

 private:
    /// NAME="--a 1 …", perhaps behind "export".
    void add_text(const Words& command) {
        for (const std::string& word : command) {
            const std::size_t equals = word.find('=');
            if (equals != std::string::npos && equals > 0 && !word.starts_with("--") &&
                word.find("--", equals) != std::string::npos) {
                written_out_.insert(word.substr(0, equals));
                for (const Words& words : shell_words(word.substr(equals + 1), name_).commands) {
                    groups_.push_back(words);
                }
            }
        }
    }

    void add_behind_program(const Words& command) {
        const auto program =
            std::ranges::find_if(command, [](const std::string& word) { return word.ends_with(".py"); });
        if (program != command.end()) {
            groups_.emplace_back(program + 1, command.end());
        }
        const auto torchrun = std::ranges::find(command, "torchrun");
        if (torchrun != command.end()) {  // its own arguments
            groups_.emplace_back(torchrun + 1, program);
        }
    }

    void add(const Words& words) {
        std::string* value = nullptr;
        std::string argument;
        for (const std::string& word : words) {
            const std::optional<std::string> variable = variable_of(word);
            if (word.size() > 2 && word.starts_with("--")) {
                const std::size_t equals = word.find('=');
                argument = word.substr(0, equals);
                std::ranges::replace(argument, '_', '-');
                value = &arguments_[argument];
                *value = equals == std::string::npos ? "" : word.substr(equals + 1);
            } else if (variable && (*variable == "@" || *variable == "*" || written_out_.contains(*variable))) {
                value = nullptr;
            } else if (variable && (value == nullptr || !value->empty())) {
                throw InputError(
                    name_ + ": " + word,
                    "found a variable that may hold arguments; expected them written out, in an array or text "
                    "of the script");
            } else if (value != nullptr) {
                *value += (value->empty() ? "" : " ") + word;
            }
        }
    }

    const std::string& name_;
    std::set<std::string> written_out_;  ///< names of arrays and texts that are read
    std::vector<Words> groups_;
    std::map<std::string, std::string> arguments_;
};

/// Of "mpiexec -n 384", "srun --ntasks=384", "srun -n384".
int launched_ranks(const std::vector<Words>& commands) {
    for (const Words& words : commands) {
        auto word = std::ranges::find_if(
            words, [](const std::string& w) { return w == "mpiexec" || w == "mpirun" || w == "srun"; });
        for (; word != words.end(); ++word) {
            const bool has_next = word + 1 != words.end();
            if (has_next && (*word == "-n" || *word == "-np" || *word == "--ntasks")) {
                return whole_number(*(word + 1));
            }
            if (word->starts_with("--ntasks=")) {
                return whole_number(word->substr(word->find('=') + 1));
            }
            if (word->starts_with("-n") && whole_number(word->substr(2)) > 0) {
                return whole_number(word->substr(2));
            }
        }
    }
    return 0;
}

bool uses_torchrun(const ShellText& shell, const std::map<std::string, std::string>& arguments) {
    return arguments.contains("--nproc-per-node") || std::ranges::any_of(shell.commands, [](const Words& words) {
               return std::ranges::find(words, "torchrun") != words.end();
           });
}

}  // namespace

LaunchScript read_launch_script(std::string_view text, const std::string& name) {
    const ShellText shell = shell_words(text, name);
    LaunchScript script;
    script.arguments = Collector(shell, name).run();
    if (uses_torchrun(shell, script.arguments)) {
        const auto nodes = script.arguments.find("--nnodes");
        const std::int64_t ranks = std::int64_t{nodes == script.arguments.end() ? 1 : whole_number(nodes->second)} *
                                   whole_number(script.arguments["--nproc-per-node"]);
        script.ranks = ranks <= kMostRanks ? static_cast<int>(ranks) : 0;
    } else {
        script.ranks = launched_ranks(shell.commands);
    }
    for (const std::string_view argument : kOfTorchrun) {
        script.arguments.erase(std::string(argument));
    }
    return script;
}

}  // namespace auspex::interop
