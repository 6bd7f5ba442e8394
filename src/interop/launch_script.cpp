/// @file Words of a launch script to arguments.
#include "interop/launch_script.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "interop/shell_words.hpp"

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostRanks = 16'777'216;

int whole_number(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

std::map<std::string, std::string> arguments_of(const std::vector<std::string>& words) {
    std::map<std::string, std::string> arguments;
    std::string* value = nullptr;
    for (const std::string& word : words) {
        if (word.size() > 2 && word.starts_with("--")) {
            const std::size_t equals = word.find('=');
            std::string name = word.substr(0, equals);
            std::ranges::replace(name, '_', '-');
            value = &arguments[name];
            *value = equals == std::string::npos ? "" : word.substr(equals + 1);
        } else if (value != nullptr) {
            *value += (value->empty() ? "" : " ") + word;
        }
    }
    return arguments;
}

/// Of "mpiexec -n 384", "srun --ntasks=384", "srun --ntasks 384".
int launched_ranks(const std::vector<std::string>& words) {
    const auto is_launcher = [](const std::string& word) {
        return word == "mpiexec" || word == "mpirun" || word == "srun";
    };
    for (auto word = std::ranges::find_if(words, is_launcher); word != words.end(); ++word) {
        const bool has_next = word + 1 != words.end();
        if (has_next && (*word == "-n" || *word == "-np" || *word == "--ntasks")) {
            return whole_number(*(word + 1));
        }
        if (word->starts_with("--ntasks=")) {
            return whole_number(word->substr(word->find('=') + 1));
        }
    }
    return 0;
}

}  // namespace

LaunchScript read_launch_script(std::string_view text, const std::string& name) {
    const ShellWords words = shell_words(text, name);
    LaunchScript script;
    script.arguments = arguments_of(words.in_arrays.empty() ? words.all : words.in_arrays);
    script.ranks = launched_ranks(words.all);
    std::map<std::string, std::string> everywhere = arguments_of(words.all);
    if (script.ranks == 0) {
        const std::int64_t nodes = std::max(1, whole_number(everywhere["--nnodes"]));
        const std::int64_t ranks = nodes * whole_number(everywhere["--nproc-per-node"]);
        script.ranks = ranks <= kMostRanks ? static_cast<int>(ranks) : 0;
    }
    for (const char* of_torchrun : {"--nnodes", "--nproc-per-node", "--node-rank", "--master-addr", "--master-port",
                                    "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id"}) {
        script.arguments.erase(of_torchrun);
    }
    return script;
}

}  // namespace auspex::interop
