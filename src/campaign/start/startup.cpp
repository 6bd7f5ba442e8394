/// @file Phases of a start: operations and bytes over what nodes and the shared file system do of them.
#include "campaign/start/startup.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "campaign/start/environment_copy.hpp"
#include "campaign/start/startup_notes.hpp"
#include "models/data/index_build.hpp"

namespace auspex::campaign {
namespace {

struct PhaseWords {
    const char *key, *words;
};
constexpr std::array<PhaseWords, 11> kWords{{{"queue", "queue"},
                                             {"restart", "start of the job"},
                                             {"environment", "environment to the nodes"},
                                             {"libraries", "libraries into processes"},
                                             {"initialise", "initialisation"},
                                             {"devices", "devices"},
                                             {"communicators", "communicators"},
                                             {"compile", "compilation"},
                                             {"index", "data index"},
                                             {"load", "checkpoint load"},
                                             {"first_step", "first step"}}};

/// The parts of a phase that go on at once, or one after another, and which of them is the longest.
struct Part {
    double seconds;
    const char* bound_by;
};
const Part& longest(const std::vector<Part>& parts) {
    return *std::ranges::max_element(parts, {}, [](const Part& part) { return part.seconds; });
}

constexpr const char* kMetadata = "metadata of the shared file system";
constexpr const char* kSharedRead = "bandwidth of the shared file system";
constexpr const char* kFile = "the machine's file: one number for all sizes";

PhaseTime in_turn(StartPhase phase, const std::vector<Part>& parts) {
    PhaseTime time{phase, 0, longest(parts).bound_by};
    for (const Part& part : parts) {
        time.seconds += part.seconds;
    }
    return time;
}
PhaseTime at_once(StartPhase phase, const std::vector<Part>& parts) {
    return {phase, longest(parts).seconds, longest(parts).bound_by};
}

class StartBuilder {
 public:
    StartBuilder(const models::Machine& machine, const models::Stack& stack, const StartJob& job)
        : machine_(machine), stack_(stack), facts_(machine.startup), job_(job) {}

    [[nodiscard]] std::vector<PhaseTime> phases() const {
        std::vector<PhaseTime> phases;
        const auto add = [&](bool is_there, auto phase) {
            if (is_there) {
                phases.push_back(phase());
            }
        };
        const bool has_parts = knows_environment(machine_) && knows_initialisation(machine_);
        add(job_.queue_wait_s > 0, [&] { return PhaseTime{StartPhase::kQueue, job_.queue_wait_s, "as given"}; });
        add(!has_parts, [&] { return PhaseTime{StartPhase::kRestart, machine_.reliability.restart_s, kFile}; });
        add(has_parts && (!facts_.environment || job_.stages_environment), [&] { return environment(); });
        add(has_parts && facts_.environment.has_value(), [&] { return libraries(); });
        add(has_parts && !facts_.initialise, [&] {
            return PhaseTime{StartPhase::kInitialise, machine_.reliability.initialise_s, kFile};
        });
        add(has_parts && facts_.initialise.has_value(), [&] { return devices(); });
        add(has_parts && facts_.initialise.has_value(), [&] { return communicators(); });
        add(has_parts && compiles(machine_, stack_), [&] { return compilation(); });
        add(job_.index_sequences > 0 && facts_.index.has_value(), [&] { return index(); });
        add(has_parts && job_.load.has_value(), [&] { return load(); });
        add(job_.first_step_s > 0, [&] { return PhaseTime{StartPhase::kFirstStep, job_.first_step_s, "the step"}; });
        return phases;
    }

 private:
    [[nodiscard]] double lookup_time(double names) const { return names / facts_.storage->lookups_per_s; }

    [[nodiscard]] PhaseTime environment() const {
        if (!facts_.environment) {
            return {StartPhase::kEnvironment, machine_.reliability.environment_s, kFile};
        }
        const EnvironmentCopy copy =
            environment_copy(*facts_.environment, facts_.storage->node_read_bytes_per_s, job_.nodes);
        return in_turn(StartPhase::kEnvironment, {{copy.read_s, "one node's reading of the archive"},
                                                  {copy.copy_s, "copies from node to node"},
                                                  {copy.tail_s, "the slowest copy of each round"},
                                                  {copy.unpack_s, "unpacking on the nodes"}});
    }

    [[nodiscard]] PhaseTime libraries() const {
        const models::EnvironmentFacts& environment = *facts_.environment;
        const models::StartStorage& storage = *facts_.storage;
        const int node_ranks = (job_.ranks + job_.nodes - 1) / job_.nodes;
        if (job_.stages_environment) {
            return at_once(
                StartPhase::kLibraries,
                {{environment.lookups * node_ranks / storage.local_lookups_per_s, "names in a node's own storage"},
                 {local_read_time(machine_, environment.bytes, node_ranks), "bytes of a node's own storage"}});
        }
        const double nodes_rate = job_.nodes * storage.node_read_bytes_per_s;
        const bool is_of_nodes = nodes_rate < storage.shared_read_bytes_per_s;
        return at_once(StartPhase::kLibraries,
                       {{lookup_time(environment.lookups * job_.ranks), kMetadata},
                        {environment.bytes * job_.nodes / std::min(nodes_rate, storage.shared_read_bytes_per_s),
                         is_of_nodes ? "what a node reads" : kSharedRead}});
    }

    [[nodiscard]] PhaseTime devices() const {
        return {StartPhase::kDevices, facts_.initialise->device_s, "devices of a node"};
    }
    [[nodiscard]] PhaseTime communicators() const {
        return {StartPhase::kCommunicators, facts_.initialise->bootstrap_rank_s * job_.ranks,
                "the rank that all report to"};
    }
    [[nodiscard]] PhaseTime compilation() const {
        return in_turn(StartPhase::kCompile, {{facts_.compile->node_s, "the compiler on a node"},
                                              {lookup_time(facts_.compile->rank_lookups * job_.ranks), kMetadata}});
    }

    [[nodiscard]] PhaseTime index() const {
        const models::Storage& storage = machine_.storage;
        models::IndexBuild build;
        build.sequences = job_.index_sequences;
        models::IndexBuildRates rates;
        rates.place_s = facts_.index->sequence_s;
        rates.start_s = facts_.index->start_s;
        rates.write_bytes_per_s =
            storage.checkpoint_write_bytes_per_s > 0 ? storage.checkpoint_write_bytes_per_s : storage.write_bytes_per_s;
        const models::IndexBuildTime time =
            models::index_build_time(build, job_.nodes * facts_.index->node_workers, rates);
        if (!job_.indexes_in_parallel) {
            return {StartPhase::kIndex, time.serial_s, "one worker"};
        }
        const bool starts = rates.start_s > time.parallel_s - rates.start_s;
        return {StartPhase::kIndex, time.parallel_s, starts ? "start of the workers" : "sequences of a worker"};
    }

    [[nodiscard]] PhaseTime load() const {
        const LoadTime time = load_time(machine_, *job_.load);
        return in_turn(StartPhase::kLoad, {{time.read_s, time.is_of_nodes ? "what the nodes read" : kSharedRead},
                                           {time.lookup_s, kMetadata},
                                           {time.spread_s, "NICs of one replica"}});
    }

    const models::Machine& machine_;
    const models::Stack& stack_;
    const models::StartupFacts& facts_;
    const StartJob& job_;
};

}  // namespace

const char* key_of(StartPhase phase) { return kWords[static_cast<std::size_t>(phase)].key; }
const char* words_of(StartPhase phase) { return kWords[static_cast<std::size_t>(phase)].words; }

double Start::total_s() const {
    double sum = 0;
    for (const PhaseTime& phase : phases) {
        sum += phase.seconds;
    }
    return sum;
}

double Start::seconds_of(StartPhase phase) const {
    const auto found = std::ranges::find(phases, phase, &PhaseTime::phase);
    return found == phases.end() ? 0 : found->seconds;
}

Start start_of(const models::Machine& machine, const models::Stack& stack, const StartJob& job) {
    AUSPEX_CHECK(job.nodes >= 1 && job.ranks >= job.nodes, "a rank at least on every node");
    return {StartBuilder(machine, stack, job).phases(), start_notes(machine, stack, job)};
}

StartParts parts_of(const Start& start) {
    const auto sum = [&](std::initializer_list<StartPhase> phases) {
        double seconds = 0;
        for (const StartPhase phase : phases) {
            seconds += start.seconds_of(phase);
        }
        return seconds;
    };
    return {sum({StartPhase::kEnvironment}), sum({StartPhase::kRestart, StartPhase::kLibraries}),
            sum({StartPhase::kInitialise, StartPhase::kDevices, StartPhase::kCommunicators, StartPhase::kCompile}),
            sum({StartPhase::kLoad})};
}

}  // namespace auspex::campaign
