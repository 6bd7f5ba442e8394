/// @file Starting mpirun, reading what it says, passing signals on, noticing hangs.
#include "cli/train_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "cli/progress_line.hpp"

namespace auspex {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;

volatile std::sig_atomic_t received_signal = 0;
void note_signal(int signal) { received_signal = signal; }

/// While it lives, SIGINT and SIGTERM are noted instead of ending the program.
class SignalsNoted {
 public:
    SignalsNoted() {
        received_signal = 0;
        struct sigaction action {};
        action.sa_handler = note_signal;
        sigaction(SIGINT, &action, &before_[0]);
        sigaction(SIGTERM, &action, &before_[1]);
    }
    ~SignalsNoted() {
        sigaction(SIGINT, &before_[0], nullptr);
        sigaction(SIGTERM, &before_[1], nullptr);
    }
    SignalsNoted(const SignalsNoted&) = delete;
    SignalsNoted& operator=(const SignalsNoted&) = delete;

 private:
    std::array<struct sigaction, 2> before_{};
};

std::vector<std::string> command_of(const Launch& launch) {
    std::vector<std::string> words{
        "mpirun", "--oversubscribe",  "--bind-to", "none",           "--mca", "mpi_yield_when_idle", "1",
        "-x",     kRunFolderVariable, "-x",        "OMP_NUM_THREADS"};
    if (!launch.hostfile.empty()) {
        words.insert(words.end(), {"--hostfile", launch.hostfile, "--map-by", "slot"});
    }
    std::istringstream more(launch.mpirun_flags);
    for (std::string word; more >> word;) {
        words.push_back(word);
    }
    words.insert(words.end(), {"-np", std::to_string(launch.ranks), mpi_program()});
    words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
    return words;
}

/// In the child: becomes mpirun, in a process group of its own, so that signals come through this program only.
[[noreturn]] void become(const std::vector<std::string>& words, const RunFolder& folder, int error_pipe) {
    std::vector<char*> argv;
    for (const std::string& word : words) {
        argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    setenv(kRunFolderVariable, folder.path().c_str(), 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(error_pipe, STDERR_FILENO);
    execvp(argv.front(), argv.data());
    _exit(kNoProgram);
}

/// What comes through the pipe, line by line.
class Lines {
 public:
    explicit Lines(int pipe) : pipe_(pipe) {}
    ~Lines() { close(pipe_); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// Waits up to 200 ms and takes what is there. False at the end.
    template <class Take>
    bool read(const Take& take) {
        constexpr int kPatience = 200;
        pollfd waiting{pipe_, POLLIN, 0};
        if (poll(&waiting, 1, kPatience) <= 0) {
            return true;
        }
        std::array<char, 4096> buffer{};
        const ssize_t count = ::read(pipe_, buffer.data(), buffer.size());
        if (count < 0) {
            return errno == EINTR;
        }
        text_.append(buffer.data(), static_cast<std::size_t>(count));
        for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
            take(text_.substr(0, end));
            text_.erase(0, end + 1);
        }
        return count > 0;
    }

 private:
    int pipe_;
    std::string text_;
};

void take_line(LaunchOutcome& outcome, std::string line) {
    constexpr std::size_t kKept = 20;
    static const std::regex kKilled("process rank (\\d+) with PID .* exited on signal (\\d+)");
    std::erase(line, '\r');
    const auto behind = [&line](std::string_view head) { return line.substr(head.size()); };
    if (line.starts_with("auspex: error: ")) {
        outcome.error = outcome.error.empty() ? behind("auspex: error: ") : outcome.error;
    } else if (line.starts_with("auspex: failed: ")) {
        outcome.failure = outcome.failure.empty() ? behind("auspex: failed: ") : outcome.failure;
    } else if (line.starts_with("auspex: ")) {
        std::cerr << line << std::endl;
    } else {
        if (std::smatch match; std::regex_search(line, match, kKilled)) {
            outcome.killed_rank = std::stoi(match[1]);
            outcome.kill_signal = std::stoi(match[2]);
        }
        outcome.other_lines.push_back(line);
        if (outcome.other_lines.size() > kKept) {
            outcome.other_lines.erase(outcome.other_lines.begin());
        }
    }
}

/// Processor time of a process of this host, in clock ticks; none if it is not there.
std::optional<long> processor_ticks(int process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string word;
    long user = 0, system = 0;
    constexpr int kWordsBefore = 11;
    for (int i = 0; i < kWordsBefore; ++i) {
        words >> word;
    }
    return words >> user >> system ? std::optional<long>(user + system) : std::nullopt;
}

/// The rank that all others wait for: the only one that has not begun the newest step, or the only one that has used no
/// processor time for a while, as ranks that wait for messages keep looking for them.
std::optional<int> rank_that_hangs(const RunFolder& folder, int ranks) {
    constexpr std::chrono::seconds kWhile{2};
    std::vector<int> steps;
    std::vector<std::optional<long>> before;
    for (int rank = 0; rank < ranks; ++rank) {
        const RankStatus status = folder.status(rank).value_or(RankStatus{});
        steps.push_back(status.step);
        before.push_back(status.process > 0 ? processor_ticks(status.process) : std::nullopt);
    }
    const auto only = [](const std::vector<bool>& is_it) -> std::optional<int> {
        const auto first = std::find(is_it.begin(), is_it.end(), true);
        const bool is_one = std::count(is_it.begin(), is_it.end(), true) == 1;
        return is_one ? std::optional<int>(static_cast<int>(first - is_it.begin())) : std::nullopt;
    };
    std::vector<bool> is_behind, is_idle;
    const int newest = *std::max_element(steps.begin(), steps.end());
    for (const int step : steps) {
        is_behind.push_back(step < newest);
    }
    if (const auto rank = only(is_behind)) {
        return rank;
    }
    std::this_thread::sleep_for(kWhile);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& was = before[static_cast<std::size_t>(rank)];
        is_idle.push_back(was && processor_ticks(folder.status(rank).value_or(RankStatus{}).process) == was);
    }
    return only(is_idle);
}

/// What is done between lines: signals passed on, the line on the terminal, hangs ended.
class Watch {
 public:
    Watch(const Launch& launch, const RunFolder& folder, int process)
        : launch_(launch), folder_(folder), process_(process), seen_(folder.progress()) {}

    void look(LaunchOutcome& outcome) {
        if (const int signal = received_signal; signal != 0) {
            received_signal = 0;
            outcome.interrupted_by = signal;
            kill(process_, signal);
        }
        if (const std::size_t now = folder_.progress(); now != seen_) {
            seen_ = now;
            last_progress_ = Clock::now();
            progress_.show(folder_.steps().size(), static_cast<std::size_t>(launch_.steps));
        }
        const std::chrono::duration<double> silence = Clock::now() - last_progress_;
        if (launch_.hang_timeout_s > 0 && silence.count() > launch_.hang_timeout_s && !outcome.hung) {
            outcome.hung = true;
            outcome.hung_rank = rank_that_hangs(folder_, launch_.ranks);
            kill(process_, SIGTERM);
            terminated_ = Clock::now();
        }
        constexpr std::chrono::seconds kPatience{20};
        if (outcome.hung && Clock::now() - terminated_ > kPatience) {
            kill(-process_, SIGKILL);
        }
    }

 private:
    const Launch& launch_;
    const RunFolder& folder_;
    int process_;
    ProgressLine progress_{"steps done"};
    std::size_t seen_;
    Clock::time_point last_progress_ = Clock::now(), terminated_;
};

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

bool is_launched_by_mpi() {
    const auto has = [](const char* name) { return std::getenv(name) != nullptr; };
    return has("OMPI_COMM_WORLD_SIZE") || has("PMIX_RANK") || has("PMI_RANK") ||
           (has("SLURM_PROCID") && has("SLURM_STEP_ID"));
}

std::string mpi_program() {
    std::error_code status;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", status);
    const auto program = own.parent_path() / "auspex-mpi";
    if (status || !std::filesystem::exists(program, status)) {
        throw std::runtime_error("found no " + program.string() + "; it is built together with auspex");
    }
    return program.string();
}

LaunchOutcome run_under_mpirun(const Launch& launch, const RunFolder& folder) {
    const std::vector<std::string> words = command_of(launch);
    folder.forget_ranks(launch.ranks);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    }
    const SignalsNoted signals;
    const int process = fork();
    if (process < 0) {
        throw std::runtime_error(std::string("mpirun could not be started: ") + std::strerror(errno));
    }
    if (process == 0) {
        become(words, folder, ends[1]);
    }
    close(ends[1]);
    Lines lines(ends[0]);
    LaunchOutcome outcome;
    Watch watch(launch, folder, process);
    while (lines.read([&](std::string line) { take_line(outcome, std::move(line)); })) {
        watch.look(outcome);
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        watch.look(outcome);
    }
    outcome.exit_code = exit_code_of(status);
    if (outcome.exit_code == kNoProgram && folder.progress() == 0 && outcome.failure.empty()) {
        throw InputError("mpirun", "found no such program; expected Open MPI's mpirun in the PATH");
    }
    return outcome;
}

}  // namespace auspex
