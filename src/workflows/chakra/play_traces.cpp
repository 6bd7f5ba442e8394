/// @file Traces read, then played.
#include <chrono>
#include <numeric>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "sim/network/collective/collective_run.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex::workflows {
namespace {

/// Spans are at most so many: a GB or two as Chrome's JSON.
constexpr std::uint64_t kMostSpans = 10'000'000;

std::vector<int> recorded_ranks(const ChakraImport& request, const graph::GraphJob& job) {
    std::vector<int> ranks = request.recorded;
    if (request.record_all) {
        ranks.resize(job.ranks.size());
        std::iota(ranks.begin(), ranks.end(), 0);
    }
    std::uint64_t nodes = 0;
    for (const int rank : ranks) {
        if (rank < 0 || rank >= static_cast<int>(job.ranks.size())) {
            throw InputError("--trace-ranks", "found rank " + std::to_string(rank) + "; expected 0 to " +
                                                  std::to_string(job.ranks.size() - 1));
        }
        nodes += job.program_of(rank).nodes.size();
    }
    if (nodes > kMostSpans) {
        throw InputError("--trace-ranks", "found ranks with " + thousands(static_cast<double>(nodes)) +
                                              " nodes; expected at most " + thousands(double{kMostSpans}));
    }
    return ranks;
}

}  // namespace

PlayedTraces play_traces(const ChakraImport& request, const models::Machine& machine, const models::Stack& stack) {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    ReadTraces read = read_traces(request, machine, stack);
    const auto has_read = Clock::now();
    network::CollectiveJob tiles;
    tiles.ranks = static_cast<int>(read.job.ranks.size());
    const models::Layout layout = layout_of_job(tiles, machine);
    graph::GraphCosts costs(read.job, machine, stack, layout);
    PlayedTraces played;
    played.result =
        play(read.job, costs, machine,
             {.one_communication = request.one_communication, .recorded = recorded_ranks(request, read.job)});
    played.ranks = tiles.ranks;
    played.nodes_of_machine = layout.nodes;
    played.nodes = read.nodes;
    played.version = std::move(read.version);
    played.notes = std::move(read.notes);
    played.read_s = std::chrono::duration<double>(has_read - began).count();
    played.play_s = std::chrono::duration<double>(Clock::now() - has_read).count();
    return played;
}

}  // namespace auspex::workflows
