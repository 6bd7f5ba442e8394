/// @file A child process, its output in files, its JSON read.
#include "launch/train/child_run.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "launch/child_process.hpp"
#include "launch/messages.hpp"
#include "launch/patience.hpp"
#include "launch/train/setup.hpp"

namespace auspex::launch {
namespace {

[[noreturn]] void become_training(std::vector<std::string>& words, const std::string& out, const std::string& error,
                                  const SignalsBlocked& held) {
    held.restore_in_child();
    const std::vector<char*> argv = argv_of(words);
    constexpr int kMode = 0644;
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode);
    const int to_error = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode);
    if (to < 0 || to_error < 0) {
        _exit(1);
    }
    dup2(to, STDOUT_FILENO);
    dup2(to_error, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execv("/proc/self/exe", argv.data());
    _exit(1);
}

/// Exit status of the child.
int wait_for(pid_t child, const std::function<void()>& meanwhile) {
    constexpr std::chrono::milliseconds kPause{2};
    TerminationGrace grace;
    for (int status = 0;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return status;
        }
        if (ended < 0 && errno != EINTR) {
            throw std::runtime_error(std::string("training was lost: ") + std::strerror(errno));
        }
        if (grace.should_forward_signal(caught_signal(), std::chrono::steady_clock::now())) {
            kill(child, SIGTERM);
        }
        if (meanwhile) {
            meanwhile();
        }
        std::this_thread::sleep_for(kPause);
    }
}

/// The program's last message, without its prefix, and the last lines of mpirun, without those it draws between them.
std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    std::vector<std::string> others;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kMessagePrefix)) {
            last = line;
        } else {
            others.push_back(line);
        }
    }
    for (const std::string_view prefix : {kErrorPrefix, kFailurePrefix}) {
        if (last.starts_with(prefix)) {
            last.erase(0, prefix.size());
        }
    }
    if (last.ends_with(kNoCheckpoint)) {
        last.erase(last.size() - kNoCheckpoint.size());
    }
    const std::string words = last_lines(others);
    last += (last.empty() || words.empty() ? "" : ": ") + words;
    return last.empty() ? "it ended without a word" : last;
}

}  // namespace

void throw_if_interrupted() {
    if (const int signal = take_caught_signal(); signal != 0) {
        throw Interrupted(signal);
    }
}

TrainResult run_training(const TrainRequest& request, const std::string& scratch,
                         const std::function<void()>& meanwhile) {
    const std::string out = scratch + "/train-out", error = scratch + "/train-error";
    std::vector<std::string> words{"auspex", "train", "--json"};
    std::ranges::copy(to_arguments(request), std::back_inserter(words));
    const SignalsCaught signals;
    pid_t child = 0;
    {
        const SignalsBlocked held;
        child = fork();
        if (child < 0) {
            throw std::runtime_error(std::string("training could not be started: ") + std::strerror(errno));
        }
        if (child == 0) {
            become_training(words, out, error, held);
        }
    }
    const int status = wait_for(child, meanwhile);
    throw_if_interrupted();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        TrainResult failed;
        failed.error = last_words(read_input_file(error));
        return failed;
    }
    return read_train_result(JsonDocument::load(out));
}

exec::RunInputs inputs_of_training(const TrainRequest& request) { return load_train_setup(request, 0).run; }

}  // namespace auspex::launch
