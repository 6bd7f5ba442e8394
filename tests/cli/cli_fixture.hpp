#pragma once
/// @file Runs the program as people call it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

namespace auspex::testing_cli {

struct Outcome {
    int exit_code = -1;
    std::string out, error;
};

inline std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// With a scratch folder of this process, removed at the end.
class Runner {
 public:
    Runner()
        : folder_(std::filesystem::temp_directory_path().string() + "/auspex-cli-" + std::to_string(getpid()) + "/") {
        std::filesystem::create_directories(folder_);
    }
    ~Runner() { std::filesystem::remove_all(folder_); }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Runs `auspex ARGUMENTS` in the repository's root.
    [[nodiscard]] Outcome run(const std::string& arguments) const {
        const std::string out = folder_ + "out";
        const std::string error = folder_ + "error";
        const std::string command = std::string("cd '") + AUSPEX_SOURCE_DIR + "' && '" + AUSPEX_BINARY + "' " +
                                    arguments + " >'" + out + "' 2>'" + error + "'";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(error)};
    }

    /// Bad input must give exit code 2, no output and one line with the words in it: what is wrong with that, or
    /// nothing.
    [[nodiscard]] std::string fault_of_refusal(const std::string& arguments,
                                               std::initializer_list<const char*> words) const {
        const Outcome outcome = run(arguments);
        std::string fault;
        const auto check = [&](bool holds, const std::string& what) { fault += holds ? "" : what + "; "; };
        check(outcome.exit_code == 2, "exit code " + std::to_string(outcome.exit_code));
        check(outcome.out.empty(), "an output");
        check(outcome.error.starts_with("auspex: error: "), "no \"auspex: error: \" in front");
        check(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1, "not one line");
        for (const char* word : words) {
            check(outcome.error.find(word) != std::string::npos, std::string("no \"") + word + "\"");
        }
        return fault.empty() ? "" : arguments + ": " + fault + "in\n" + outcome.error;
    }

    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + name, std::ios::binary) << text;
        return folder_ + name;
    }

 protected:
    std::string folder_;
};

}  // namespace auspex::testing_cli
