/// @file Handlers and masks of signals; words for exec(3), words of what it ran.
#include "launch/child_process.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>

namespace auspex::launch {
namespace {

volatile std::sig_atomic_t last_signal = 0;
void note_signal(int signal) { last_signal = signal; }

// Threads may hold SignalsCaught at once and let go in any order: the first keeps what was, the last puts it back.
std::mutex catching_mutex;
int catching = 0;
std::array<struct sigaction, kEndSignals.size()> before_catching{};

}  // namespace

SignalsCaught::SignalsCaught() {
    const std::lock_guard lock(catching_mutex);
    if (catching++ > 0) {
        return;
    }
    struct sigaction action {};
    action.sa_handler = note_signal;
    for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
        sigaction(kEndSignals[i], &action, &before_catching[i]);
        if (before_catching[i].sa_handler == SIG_IGN) {  // as nohup asks for
            sigaction(kEndSignals[i], &before_catching[i], nullptr);
        }
    }
}

SignalsCaught::~SignalsCaught() {
    const std::lock_guard lock(catching_mutex);
    if (--catching > 0) {
        return;
    }
    for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
        sigaction(kEndSignals[i], &before_catching[i], nullptr);
    }
}

int caught_signal() { return last_signal; }

int take_caught_signal() {
    const int signal = last_signal;
    if (signal != 0) {
        last_signal = 0;
    }
    return signal;
}

SignalsBlocked::SignalsBlocked() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kEndSignals) {
        sigaddset(&held, signal);
    }
    sigprocmask(SIG_BLOCK, &held, &before_);
}

SignalsBlocked::~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

void SignalsBlocked::restore_in_child() const {
    for (const int signal : kEndSignals) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        if (now.sa_handler == note_signal) {
            std::signal(signal, SIG_DFL);
        }
    }
    std::signal(SIGXFSZ, SIG_DFL);
    std::signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::vector<char*> argv_of(std::vector<std::string>& words) {
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    return argv;
}

bool is_in_path(const char* program) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

std::string last_lines(const std::vector<std::string>& lines) {
    constexpr std::size_t kMax = 5;
    std::vector<std::string> words;
    for (const std::string& line : lines) {
        const std::size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
        if (line.find_first_not_of("-=*_# \t\r") != std::string::npos) {
            words.push_back(line.substr(begin, end + 1 - begin));
        }
    }
    std::string text;
    for (std::size_t i = words.size() - std::min(words.size(), kMax); i < words.size(); ++i) {
        text += (text.empty() ? "" : " / ") + words[i];
    }
    return text;
}

}  // namespace auspex::launch
