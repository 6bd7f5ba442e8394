#pragma once
/// @file Runs the program as people call it.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

namespace auspex::testing_cli {

struct Outcome {
    int exit_code = -1;
    std::string out, error;
};

inline std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A command of the shell, run in the repository's root beside the test, and killed with it. What it says on stderr is
/// kept in a file.
class Background {
 public:
    Background(const std::string& command, std::string said) : said_(std::move(said)), process_(fork()) {
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            const std::string line =
                std::string("cd '") + AUSPEX_SOURCE_DIR + "' && exec env " + command + " >/dev/null 2>'" + said_ + "'";
            execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
            _exit(1);
        }
    }
    ~Background() {
        if (process_ > 0) {
            static_cast<void>(end(SIGKILL));
        }
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    [[nodiscard]] pid_t process() const { return process_; }
    [[nodiscard]] std::string said() const { return text_of(said_); }

    /// Waits until the shell's command holds, for a minute at most, and no longer than this one lives: what went wrong,
    /// with what it said, or nothing.
    [[nodiscard]] std::string fault_of_wait_for(const std::string& condition) const {
        const std::string waited = said_ + ".waited";
        const std::string line = std::string(". '") + AUSPEX_SOURCE_DIR + "/tests/tools/wait_for.sh' && wait_for " +
                                 std::to_string(process_) + " '" + said_ + "' 60 " + condition + " 2>'" + waited + "'";
        const int status = std::system(line.c_str());
        return status == 0 ? "" : text_of(waited);
    }

    /// Sends the signal and waits for the end, for a minute at most: the exit code, or 128 and the signal that ended
    /// it.
    int end(int signal) {
        constexpr int kLooks = 3000;
        kill(process_, signal);
        int status = 0;
        for (int trial = 0; waitpid(process_, &status, trial < kLooks ? WNOHANG : 0) == 0; ++trial) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            if (trial == kLooks) {
                kill(process_, SIGKILL);
            }
        }
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

 private:
    std::string said_;
    pid_t process_;
};

/// With a scratch folder of this process, removed at the end.
class Runner {
 public:
    Runner()
        : folder_(std::filesystem::temp_directory_path().string() + "/auspex-cli-" + std::to_string(getpid()) + "/") {
        std::filesystem::create_directories(folder_);
    }
    ~Runner() {
        std::error_code ignored;  // what a killed command has started may still write there
        std::filesystem::remove_all(folder_, ignored);
    }
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
