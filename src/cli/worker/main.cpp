/// @file auspex-mpi: one rank of `auspex train`, started by mpirun with the same flags, one of those that measure for
/// `auspex calibrate`, one of those that search for `auspex plan`, or of those that build an index for `auspex data
/// blend`.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "cli/blends/blend_request.hpp"
#include "cli/flags/command_line.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/flags/train_flags.hpp"
#include "cli/output/train_output.hpp"
#include "cli/plans/plan_command.hpp"
#include "cli/worker/blend.hpp"
#include "cli/worker/measure.hpp"
#include "cli/worker/search.hpp"
#include "exec/mpi/mpi_communicator.hpp"
#include "exec/run/interpreter.hpp"
#include "exec/run/process_binding.hpp"
#include "launch/installation.hpp"
#include "launch/messages.hpp"
#include "launch/mpirun.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/run_journal.hpp"
#include "launch/train/setup.hpp"

namespace auspex::cli {
namespace {

/// A rank that misses another leaves it to mpirun to notice, and to say which.
constexpr std::chrono::seconds kMpirunFirst{5};

/// Ranks of a launch that has been broken off need a moment to notice.
constexpr std::chrono::seconds kPredecessorFirst{10};

std::optional<launch::RunFolder> run_folder() {
    const char* const folder = std::getenv(launch::kRunFolderVariable);
    return folder == nullptr ? std::nullopt : std::optional<launch::RunFolder>(folder);
}

/// On a terminal, about this many lines; else one a step.
bool shows_step(const exec::StepReport& step, int first, int last, bool on_terminal) {
    constexpr int kLines = 25;
    const int every = on_terminal ? std::max(1, (last - first) / kLines) : 1;
    return (step.step - first) % every == 0 || step.step == last - 1;
}

void run_rank(const Options& options, const exec::MpiSession& session, const std::optional<launch::RunFolder>& folder,
              std::unique_ptr<exec::Communicator>& communicator) {
    const int rank = session.rank();
    const std::string host = launch::own_host();
    std::optional<launch::RunJournal> journal;
    if (folder) {
        folder->write_status(rank, {getpid(), -1, host});
        if (rank == 0) {
            journal.emplace(*folder);
        }
    }
    const auto note = [&](launch::RunEvent::Kind kind, int number) {
        if (journal) {
            journal->note(kind, number);
        }
    };
    launch::TrainSetup setup = load_train_setup(train_request(options), session.size());
    launch::OutputLocks locks(options.command_line);
    if (rank == 0) {
        locks.take_folder("--checkpoint", setup.options.checkpoint_folder, launch::kWriterLock, kPredecessorFirst);
    }
    exec::bind_rank(setup.run.stack, rank);
    communicator = make_mpi_communicator(setup.run.layout, exec::transport_of(setup.run.stack));
    if (folder) {
        setup.options.on_begin_step = [&](int step) {
            folder->write_status(rank, {getpid(), step, host});
            note(launch::RunEvent::Kind::kStep, step);
        };
        setup.options.on_saved = [&](int steps) { note(launch::RunEvent::Kind::kSaved, steps); };
    }
    std::optional<int> first;
    const auto on_step = [&](const exec::StepReport& step) {
        first = first.value_or(step.step);
        if (folder) {
            folder->append_step(step);
            note(launch::RunEvent::Kind::kDone, step.step);
        }
        if (!options.json && shows_step(step, *first, setup.options.steps, folder && folder->is_on_terminal())) {
            std::cout << step_line(step) << std::endl;
        }
    };
    const auto on_note = [](const std::string& text) {
        std::cerr << launch::message_line("auspex: note: ", text) << std::endl;
    };
    const exec::RunReport report = train(setup.run, setup.options, *communicator, on_step, on_note);
    if (rank != 0) {
        return;
    }
    const launch::TrainResult result = launch::train_result(report, folder ? &*folder : nullptr);
    write_train_files(options, setup.run, result.steps, report.timeline);
    if (options.json) {
        write_train_json(std::cout, options, setup.run, result);
    } else {
        std::cout << summary_text(options, result);
    }
    std::cout.flush();
    if (!std::cout) {
        throw std::runtime_error("the output could not be written");
    }
    if (folder) {
        folder->mark_done();
    }
}

/// What a watcher may know before MPI is up, which takes most of a start: that this rank's process is there.
void say_started(const launch::RunFolder& folder) {
    if (const std::optional<int> rank = launch::rank_of_launcher(0)) {
        folder.write_status(*rank, {getpid(), -1, launch::own_host()});
        if (*rank == 0) {
            launch::RunJournal(folder).note(launch::RunEvent::Kind::kStarted);
        }
    }
}

/// Ends this rank when what has started it is gone: without that, nothing would end it when its peers do.
void end_with_parent() {
    std::thread([parent = getppid()] {
        constexpr std::chrono::seconds kPollInterval{1};
        while (getppid() == parent) {
            std::this_thread::sleep_for(kPollInterval);
        }
        raise(SIGKILL);
    }).detach();
}

/// Prints one line and ends the job.
[[noreturn]] void fail(const exec::MpiSession& session, std::chrono::seconds wait, int exit_code,
                       const std::string& text) {
    std::this_thread::sleep_for(wait);
    std::cout.flush();
    std::cerr << text + (session.rank() > 0 ? " (rank " + std::to_string(session.rank()) + ")\n" : "\n") << std::flush;
    exec::MpiSession::abort(exit_code);
}

int run_worker(int argc, char** argv) {
    try {
        launch::require_instruction_sets();
    } catch (const std::exception& error) {
        std::cerr << launch::message_line(launch::kFailurePrefix, error.what()) + "\n";
        return launch::kFailed;
    }
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    end_with_parent();
    const std::optional<launch::RunFolder> folder = run_folder();
    if (folder) {
        say_started(*folder);
    }
    const exec::MpiSession session(&argc, &argv);
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails like any other
    const std::chrono::seconds turn = session.rank() == 0 ? std::chrono::seconds{0} : launch::kRankZeroFirst;
    std::unique_ptr<exec::Communicator> communicator;
    Options options;
    try {
        if (!arguments.empty() && arguments.front() == workflows::kMeasureRole) {
            return run_measure_role({arguments.begin() + 1, arguments.end()}, session);
        }
        if (!arguments.empty() && arguments.front() == launch::kSearchRole) {
            options = parse_options(plan_command(nullptr), {arguments.begin() + 1, arguments.end()});
            return run_search_role(options, session);
        }
        if (!arguments.empty() && arguments.front() == launch::kBlendRole) {
            options = parse_options(blend_command(nullptr), {arguments.begin() + 1, arguments.end()});
            return run_blend_role(options, session, folder.has_value());
        }
        options = parse_options(train_command(nullptr), arguments);
        run_rank(options, session, folder, communicator);
        return 0;
    } catch (const InputError& error) {
        const InputError blamed = with_command_line_context(options, error);
        fail(session, turn, launch::kBadInput, launch::message_line(launch::kErrorPrefix, blamed.what()));
    } catch (const exec::SoftFailure& failure) {
        if (folder && session.rank() == 0) {
            folder->write_soft_failure(failure.step, failure.ranks);
        }
        fail(session, turn, launch::kFailed, launch::message_line(launch::kFailurePrefix, failure.what()));
    } catch (const exec::CommunicationError& error) {
        fail(session, kMpirunFirst, launch::kFailed, launch::message_line(launch::kFailurePrefix, error.what()));
    } catch (const std::exception& error) {
        fail(session, turn, launch::kFailed, launch::message_line(launch::kFailurePrefix, error.what()));
    }
}

}  // namespace
}  // namespace auspex::cli

int main(int argc, char** argv) { return auspex::cli::run_worker(argc, argv); }
