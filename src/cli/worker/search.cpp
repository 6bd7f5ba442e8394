/// @file Rank 0 leads; on each rank the search has threads of its own, beside the one that speaks MPI.
#include "cli/worker/search.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <thread>

#include "base/error.hpp"
#include "cli/plans/plan_answer.hpp"
#include "cli/plans/plan_checkpoint.hpp"
#include "cli/plans/plan_request.hpp"
#include "exec/mpi/mpi_mailbox.hpp"
#include "exec/system/cores.hpp"
#include "launch/child_process.hpp"
#include "launch/messages.hpp"
#include "launch/progress_line.hpp"
#include "sim/search/shared/shared_parts.hpp"

namespace auspex::cli {
namespace {

/// How often the thread that speaks MPI looks for messages.
constexpr std::chrono::microseconds kLook{500};
class SearchMailbox final : public search::Mailbox {
 public:
    [[nodiscard]] int rank() const override { return mpi_.rank(); }
    [[nodiscard]] int size() const override { return mpi_.size(); }
    void send(int to, std::string bytes) override { mpi_.send(to, std::move(bytes)); }
    [[nodiscard]] std::optional<search::Message> receive() override {
        auto found = mpi_.receive();
        return found ? std::optional(search::Message{found->first, std::move(found->second)}) : std::nullopt;
    }

 private:
    exec::MpiMailbox mpi_;
};

/// The cores that this process may use, divided by the ranks of its node.
int threads_of_rank() {
    const char* const ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    const int cores = static_cast<int>(exec::allowed_cores().size());
    return std::max(1, cores / std::max(1, ranks == nullptr ? 1 : std::atoi(ranks)));
}

/// The end of MPI would wait for ranks that are gone.
[[noreturn]] void leave_without_others() {
    constexpr std::chrono::milliseconds kOnTheWay{200};  // messages
    std::this_thread::sleep_for(kOnTheWay);
    std::_Exit(std::cout ? 0 : launch::kFailed);
}

/// Calls in another thread, and serves until it ends.
template <class Parts, class Call>
auto serve_beside(Parts& parts, const Call& call) {
    auto result = std::async(std::launch::async, call);
    while (result.wait_for(kLook) != std::future_status::ready) {
        parts.serve();
    }
    return result.get();
}

void refuse_several(const Options& options) {
    if (options.tiles.size() > 1 || !options.search.vary.empty() || options.search.deadline_s > 0) {
        throw InputError("auspex-mpi plan",
                         "found several --tiles, --vary or --deadline; expected one search: one number of --tiles");
    }
}

void lead(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
          search::SearchOptions how) {
    const std::string key = search_key(inputs, request, how);
    KeptSearch kept(options, key);
    kept.attach(how);
    launch::ProgressLine line("plans decided");
    how.progress = progress_on(line);
    SearchMailbox mailbox;
    search::LeadParts parts(mailbox, key, how.is_cut);
    how.parts = &parts;
    how.is_cut = [&parts] { return parts.is_cut(); };
    search::SearchResult result;
    {
        const launch::SignalsCaught signals;
        result = serve_beside(parts, [&] { return search_plans(inputs, request, how); });
    }
    const int signal = launch::take_caught_signal();
    serve_beside(parts, [&] { answer_search(options, inputs, request, result, signal); });
    std::cout.flush();
    while (!parts.is_alone()) {
        parts.serve();
        std::this_thread::sleep_for(kLook);
    }
    parts.release();
    if (parts.silent() == 0) {
        return;
    }
    std::cerr << launch::message_line("auspex: note: ", std::to_string(parts.silent()) +
                                                            " of the ranks fell silent; others did what they were at")
              << std::endl;
    leave_without_others();
}

void help(const models::Inputs& inputs, const search::SpaceRequest& request, search::SearchOptions how) {
    SearchMailbox mailbox;
    search::HelperParts parts(mailbox, search_key(inputs, request, how));
    how.parts = &parts;
    how.is_cut = [&parts] { return parts.is_over(); };
    serve_beside(parts, [&] { return search_plans(inputs, request, how); });
    parts.note_done();
    while (parts.phase() < search::SearchPhase::kLeave) {
        parts.serve();
        std::this_thread::sleep_for(kLook);
    }
    if (parts.phase() == search::SearchPhase::kLeaveWithoutOthers) {
        leave_without_others();
    }
}

}  // namespace

int run_search_role(const Options& options, const exec::MpiSession& session) {
    refuse_several(options);
    const models::Inputs inputs = search_inputs(options);
    const search::SpaceRequest request = search_request(options, options.tiles.front());
    search::SearchOptions how = search_options(options);
    how.threads = threads_of_rank();
    if (session.rank() == 0) {
        lead(options, inputs, request, how);
    } else {
        help(inputs, request, how);
    }
    return 0;
}

}  // namespace auspex::cli
