/// @file Starting mpirun, reading what it says, passing signals on, noticing hangs.
#include "launch/mpirun.hpp"

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
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "launch/child_process.hpp"
#include "launch/installation.hpp"
#include "launch/patience.hpp"
#include "launch/progress_line.hpp"
#include "launch/rank_processes.hpp"

namespace auspex::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;
/// Where Open MPI uses UCX, that would complain among what ranks print.
constexpr const char* kUcxLog = "UCX_LOG_FILE";
constexpr std::string_view kNoMpirun = "found no such program; expected Open MPI's mpirun in the PATH";

std::vector<std::string> command_of(const Launch& launch) {
    std::vector<std::string> words{"mpirun", "--oversubscribe", "--bind-to", "none"};
    words.insert(words.end(), {"--mca", "mpi_yield_when_idle", launch.waits_by_yielding ? "1" : "0"});
    words.insert(words.end(), {"-x", kRunFolderVariable, "-x", "OMP_NUM_THREADS", "-x", kUcxLog});
    if (std::getenv(kDataVariable) != nullptr) {
        words.insert(words.end(), {"-x", kDataVariable});
    }
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
[[noreturn]] void become(std::vector<std::string>& words, const Launch& launch, const RunFolder& folder, int output,
                         int errors, const SignalsBlocked& held) {
    held.restore_in_child();
    const std::vector<char*> argv = argv_of(words);
    setenv(kRunFolderVariable, folder.path().c_str(), 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv(kUcxLog, "stderr", 0);
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    if (launch.hostfile.empty() && !is_in_path("ssh") && !is_in_path("rsh")) {
        setenv("OMPI_MCA_plm_rsh_agent", "", 0);  // mpirun would refuse to start even where it needs neither
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execvp(argv.front(), argv.data());
    _exit(kNoProgram);
}

/// Both ends of a pipe that programs started later do not get.
struct Pipe {
    int from = -1, to = -1;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    }
    return {ends[0], ends[1]};
}

/// Writes to this program's own output. False where the system refuses, or a signal came while a reader let it wait.
bool pass_on(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (done < 0 && (errno != EINTR || caught_signal() != 0)) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
    return true;
}

/// What mpirun writes: its output is passed on as it is, its errors are taken line by line.
class Streams {
 public:
    Streams(int output, int errors) : pipes_{{{output, POLLIN, 0}, {errors, POLLIN, 0}}} {}
    ~Streams() {
        for (const pollfd& pipe : pipes_) {
            if (pipe.fd >= 0) {
                close(pipe.fd);
            }
        }
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// Waits up to 200 ms and takes what is there. False when both have ended.
    template <class Take>
    bool read(const Take& take) {
        constexpr int kPatience = 200;
        if (poll(pipes_.data(), pipes_.size(), kPatience) > 0) {
            if (const std::string output = take_from(pipes_[0]); !output.empty() && !is_output_lost_) {
                is_output_lost_ = !pass_on(output);
            }
            lines_ += take_from(pipes_[1]);
            for (std::size_t end = lines_.find('\n'); end != std::string::npos; end = lines_.find('\n')) {
                take(lines_.substr(0, end));
                lines_.erase(0, end + 1);
            }
        }
        return pipes_[0].fd >= 0 || pipes_[1].fd >= 0;
    }
    [[nodiscard]] bool is_output_lost() const { return is_output_lost_; }

 private:
    static std::string take_from(pollfd& pipe) {
        std::array<char, 4096> buffer{};
        if (pipe.fd < 0 || pipe.revents == 0) {
            return "";
        }
        const ssize_t count = ::read(pipe.fd, buffer.data(), buffer.size());
        if (count == 0 || (count < 0 && errno != EINTR)) {
            close(std::exchange(pipe.fd, -1));
        }
        return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    }

    std::array<pollfd, 2> pipes_;  ///< output, errors
    std::string lines_;
    bool is_output_lost_ = false;
};

/// What is done between lines: signals passed on, the line on the terminal, hangs ended.
class Watch {
 public:
    Watch(const Launch& launch, const RunFolder& folder, int process)
        : launch_(launch),
          folder_(folder),
          process_(process),
          hang_detector_(launch.hang_timeout_s, folder.progress(), Clock::now()) {}

    void check(LaunchOutcome& outcome) {
        if (const int signal = take_caught_signal(); signal != 0) {
            outcome.interrupted_by = signal;
            kill(process_, signal);
            hang_detector_.note_signal(Clock::now());
        }
        if (hang_detector_.takes_progress(folder_.progress(), Clock::now()) && shows_) {
            progress_.show(folder_.steps().size(), static_cast<std::size_t>(launch_.steps));
        }
        if (hang_detector_.finds_hang(Clock::now())) {
            outcome.hung = true;
            outcome.hung_rank = rank_that_hangs(folder_, launch_.ranks);
            kill(process_, SIGTERM);
            hang_detector_.note_end_of_hang(Clock::now());
        }
        if (hang_detector_.is_over(Clock::now())) {
            kill(-process_, SIGKILL);
        }
    }

 private:
    const Launch& launch_;
    const RunFolder& folder_;
    int process_;
    const bool shows_ = isatty(STDERR_FILENO) == 1;  ///< to count steps is to read all of them
    ProgressLine progress_{"steps done"};
    HangDetector hang_detector_;
};

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

std::optional<int> rank_of_launcher(int ranks) {
    const auto number = [](const char* name) -> std::optional<int> {
        const char* const text = std::getenv(name);
        return text == nullptr ? std::nullopt : std::optional(std::atoi(text));
    };
    if (const auto rank = number("OMPI_COMM_WORLD_RANK")) {
        return rank;
    }
    const auto slurm_rank = number("SLURM_PROCID"), tasks = number("SLURM_STEP_NUM_TASKS");
    if (slurm_rank && tasks) {
        return *tasks > 1 || ranks == 1 ? slurm_rank : std::nullopt;
    }
    const auto rank = number("PMIX_RANK");
    return rank ? rank : number("PMI_RANK");
}

void become_rank(const std::vector<std::string>& arguments) {
    const std::string program = mpi_program();
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::vector<char*> argv = argv_of(words);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(program.c_str(), argv.data());
    throw std::runtime_error("could not start " + program + ": " + std::strerror(errno));
}

void require_mpirun() {
    if (!is_in_path("mpirun")) {
        throw InputError("mpirun", std::string(kNoMpirun));
    }
    if (access(".", X_OK) != 0) {
        throw InputError(
            "the working directory",
            "found one that cannot be entered (" + std::string(std::strerror(errno)) +
                "); expected one that can, for mpirun starts the ranks in it; predict and scale need none");
    }
}

LaunchOutcome run_under_mpirun(const Launch& launch, const RunFolder& folder) {
    std::vector<std::string> words = command_of(launch);
    folder.forget_ranks(launch.ranks);
    const Pipe output = make_pipe(), errors = make_pipe();
    const SignalsCaught signals;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away does not end the run
    int process = 0;
    {
        const SignalsBlocked held;
        process = fork();
        if (process < 0) {
            throw std::runtime_error(std::string("mpirun could not be started: ") + std::strerror(errno));
        }
        if (process == 0) {
            become(words, launch, folder, output.to, errors.to, held);
        }
    }
    close(output.to);
    close(errors.to);
    Streams streams(output.from, errors.from);
    LaunchOutcome outcome;
    Watch watch(launch, folder, process);
    while (streams.read([&](std::string line) { parse_output_line(outcome, std::move(line)); })) {
        watch.check(outcome);
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        watch.check(outcome);
    }
    kill_orphaned_ranks(folder);
    outcome.exit_code = exit_code_of(status);
    if (outcome.exit_code == kNoProgram && folder.progress() == 0 && outcome.failure.empty()) {
        throw InputError("mpirun", std::string(kNoMpirun));
    }
    outcome.is_output_lost = streams.is_output_lost();
    return outcome;
}

}  // namespace auspex::launch
