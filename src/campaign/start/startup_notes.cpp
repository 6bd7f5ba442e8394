/// @file Notes of a start.
#include "campaign/start/startup_notes.hpp"

#include "base/number_text.hpp"
#include "base/units.hpp"

namespace auspex::campaign {
namespace {

std::string rate_text(double bytes_per_s) { return format_quantity(bytes_per_s, Dimension::kBytesPerSecond); }

void add_unknown(const models::Machine& machine, const models::Stack& stack, const StartJob& job,
                 std::vector<std::string>& notes) {
    const models::StartupFacts& facts = machine.startup;
    const std::string file = "machine " + machine.name;
    if (!knows_environment(machine) || !knows_initialisation(machine)) {
        notes.push_back(file +
                        " does not say what a start is made of: its reliability.restart stands for environment, "
                        "initialisation and load, at every size");
        return;
    }
    if (!facts.environment) {
        notes.push_back(file +
                        " does not say how the environment comes to the nodes: its reliability.environment is "
                        "taken at every size");
    }
    if (!facts.initialise) {
        notes.push_back(file +
                        " does not say what devices and communicators take: its reliability.initialise is taken "
                        "at every size, with compilation");
    }
    if (!stack.startup) {
        notes.push_back("stack " + stack.name +
                        " does not say how it starts: taken without compilation, with one reader of the model, with "
                        "ranks that look at their own files alone");
    } else if (stack.startup->compiles && !facts.compile && facts.initialise) {
        notes.push_back("stack " + stack.name + " compiles, and " + file + " does not say how long: left out");
    }
    if (job.load && !facts.storage) {
        notes.push_back(file + " does not say how fast files are found: looking them up is left out of the load");
    }
}

void add_walls(const models::Machine& machine, const models::Stack& stack, const StartJob& job,
               std::vector<std::string>& notes) {
    const PublicLimits limits = public_limits(machine, stack, job);
    const std::string comes_through = ": this is the time of a start that comes through";
    if (limits.is_wall) {
        notes.push_back("public runs that were launched bare on " + thousands(machine.startup.initialise->wall_ranks) +
                        " ranks or more all failed while communicators were made" + comes_through);
    } else if (limits.is_shaky) {
        notes.push_back("some public runs that were launched bare on " +
                        thousands(machine.startup.initialise->shaky_ranks) +
                        " ranks or more failed while communicators were made" + comes_through);
    }
    if (limits.is_unfinished) {
        notes.push_back(
            "public runs on " + thousands(machine.startup.compile->unfinished_nodes) +
            " nodes never finished compiling, or ran out of memory: the time of it is that of smaller jobs, "
            "carried on");
    }
}

void add_square(const models::Machine& machine, const StartJob& job, std::vector<std::string>& notes) {
    if (job.load && job.load->reads_all_shards && machine.startup.storage) {
        const double lookup_s = load_time(machine, *job.load).lookup_s;
        notes.push_back("every rank looks at the checkpoint's file of every rank: " +
                        format_quantity(lookup_s, Dimension::kSeconds) +
                        " of the load, which grow with the square of the ranks");
    }
}

void add_storm(const models::Machine& machine, const StartJob& job, std::vector<std::string>& notes) {
    const auto& storage = machine.startup.storage;
    if (!job.load || job.load->is_broadcast || job.load->replicas <= 1 || !storage) {
        return;
    }
    const double striped_s = load_time(with_parts_on_every_server(machine), *job.load).total_s();
    notes.push_back("that " + thousands(job.load->replicas) + " replicas read the same files at " +
                    rate_text(storage->shared_read_bytes_per_s) +
                    " together is assumed (startup.storage.shared_read); with a part of them on every server, " +
                    rate_text(machine.storage.read_bytes_per_s) + ", the load would take " +
                    format_quantity(striped_s, Dimension::kSeconds));
}

}  // namespace

bool knows_environment(const models::Machine& machine) {
    return machine.startup.environment || machine.reliability.environment_s > 0;
}
bool knows_initialisation(const models::Machine& machine) {
    return machine.startup.initialise || machine.reliability.initialise_s > 0;
}
bool compiles(const models::Machine& machine, const models::Stack& stack) {
    return stack.startup && stack.startup->compiles && machine.startup.compile && machine.startup.initialise;
}

PublicLimits public_limits(const models::Machine& machine, const models::Stack& stack, const StartJob& job) {
    const auto reaches = [](int count, int limit) { return limit > 0 && count >= limit; };
    PublicLimits limits;
    if (const auto& initialise = machine.startup.initialise) {
        limits.is_shaky = reaches(job.ranks, initialise->shaky_ranks);
        limits.is_wall = reaches(job.ranks, initialise->wall_ranks);
    }
    limits.is_unfinished = compiles(machine, stack) && reaches(job.nodes, machine.startup.compile->unfinished_nodes);
    return limits;
}

std::vector<std::string> start_notes(const models::Machine& machine, const models::Stack& stack, const StartJob& job) {
    std::vector<std::string> notes;
    add_unknown(machine, stack, job, notes);
    add_walls(machine, stack, job, notes);
    add_square(machine, job, notes);
    add_storm(machine, job, notes);
    if (job.index_sequences > 0 && !machine.startup.index) {
        notes.push_back("machine " + machine.name + " does not say what an index of data takes to build: left out");
    }
    return notes;
}

}  // namespace auspex::campaign
