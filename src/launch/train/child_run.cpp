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
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "launch/child_process.hpp"
#include "launch/messages.hpp"
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

/// Exit status of the child, which gets SIGINT from the terminal too, and ends by itself: a second signal within five
/// seconds would have mpirun leave its folders behind.
int wait_for(pid_t child, const std::function<void()>& meanwhile) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPause{2};
    constexpr std::chrono::seconds kPatience{6};
    std::optional<Clock::time_point> noted;
    int status = 0;
    for (bool told = false;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return status;
        }
        if (ended < 0 && errno != EINTR) {
            throw std::runtime_error(std::string("training was lost: ") + std::strerror(errno));
        }
        if (caught_signal() != 0 && !told) {
            noted = noted.value_or(Clock::now());
            told = caught_signal() != SIGINT || Clock::now() - *noted > kPatience;
            if (told) {
                kill(child, SIGTERM);
            }
        }
        if (meanwhile) {
            meanwhile();
        }
        std::this_thread::sleep_for(kPause);
    }
}

/// The program's last message, without its head, and the last lines of mpirun, without those it draws between them.
std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    std::vector<std::string> others;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kOwnHead)) {
            last = line;
        } else {
            others.push_back(line);
        }
    }
    for (const std::string_view head : {kErrorHead, kFailureHead}) {
        if (last.starts_with(head)) {
            last.erase(0, head.size());
        }
    }
    if (last.ends_with(kNoCheckpoint)) {
        last.erase(last.size() - kNoCheckpoint.size());
    }
    const std::string words = last_lines(others);
    last += (last.empty() || words.empty() ? "" : ": ") + words;
    return last.empty() ? "it ended without a word" : last;
}

void read_ranks(const JsonValue& root, TrainedRun& run) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const JsonValue memory = root.at("memory"), totals = root.at("memory_total");
    for (int rank = 0; const auto labels = memory.find(std::to_string(rank)); ++rank) {
        exec::RankReport& report = run.ranks.emplace_back();
        report.rank = rank;
        for (std::size_t i = 0; i < schedule::kMemoryLabelCount; ++i) {
            report.peaks[i] = static_cast<std::size_t>(
                labels->at(to_string(static_cast<schedule::MemoryLabel>(i))).as_integer(0, kMax));
        }
        report.peak_bytes =
            static_cast<std::size_t>(totals.at(std::to_string(rank)).at("peak_bytes").as_integer(0, kMax));
    }
}

void read_counts(const JsonValue& counts, TrainedRun& run) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    run.counts.resize(static_cast<std::size_t>(schedule::OpKind::kCount));
    for (std::size_t kind = 0; kind < run.counts.size(); ++kind) {
        if (const auto count = counts.find(to_string(static_cast<schedule::OpKind>(kind)))) {
            run.counts[kind].operations = static_cast<std::uint64_t>(count->at("operations").as_integer(0, kMax));
            run.counts[kind].bytes = static_cast<double>(count->at("bytes").as_integer(0, kMax));
        }
    }
}

TrainedRun read_run(const std::string& file) {
    constexpr double kMax = std::numeric_limits<double>::max();
    const auto number_or_nan = [](const JsonValue& value) {
        return value.is_number() ? value.as_number(-kMax, kMax) : std::numeric_limits<double>::quiet_NaN();
    };
    const JsonDocument document = JsonDocument::load(file);
    const JsonValue root = document.root();
    TrainedRun run;
    for (const JsonValue& step : root.at("steps").elements()) {
        run.losses.push_back(number_or_nan(step.at("loss")));
        run.gradient_norms.push_back(number_or_nan(step.at("grad_norm")));
        run.step_times_s.push_back(step.at("step_time_s").as_number(0, kMax));
        if (const auto probe = step.find("probe_s")) {
            run.probes_s.push_back(probe->as_number(0, kMax));
        }
    }
    read_ranks(root, run);
    read_counts(root.at("counts"), run);
    run.first_step = static_cast<int>(root.at("first_step").as_integer(0, std::numeric_limits<int>::max()));
    run.restarts = static_cast<int>(root.at("restarts").elements().size());
    for (const JsonValue& note : root.at("notes").elements()) {
        run.notes.push_back(note.as_string());
    }
    return run;
}

}  // namespace

void throw_if_interrupted() {
    if (const int signal = take_caught_signal(); signal != 0) {
        throw Interrupted(signal);
    }
}

TrainedRun run_training(const TrainRequest& request, const std::string& scratch,
                        const std::function<void()>& meanwhile) {
    const std::string out = scratch + "/train-out", error = scratch + "/train-error";
    std::vector<std::string> words{"auspex", "train", "--json"};
    std::ranges::copy(words_of(request), std::back_inserter(words));
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
        TrainedRun failed;
        failed.error = last_words(read_input_file(error));
        return failed;
    }
    return read_run(out);
}

exec::RunInputs inputs_of_training(const TrainRequest& request) { return load_train_setup(request, 0).run; }

}  // namespace auspex::launch
