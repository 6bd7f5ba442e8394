/// @file Starts in closed form, and machines of which less is known.
#include "campaign/start/startup.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "campaign/start/environment_copy.hpp"

namespace auspex::campaign {
namespace {

models::Machine machine_of(const std::string& name) {
    return models::load_machine(JsonDocument::load("machines/" + name + ".json"));
}
models::Stack stack_of(const std::string& name) {
    return models::load_stack(JsonDocument::load("stacks/" + name + ".json"));
}
StartJob job_of(int nodes) {
    StartJob job;
    job.nodes = nodes;
    job.ranks = 12 * nodes;
    return job;
}
bool has_note(const Start& start, const std::string& words) {
    return std::any_of(start.notes.begin(), start.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

TEST(EnvironmentCopy, rounds_double_and_each_waits_for_its_slowest) {
    const models::EnvironmentFacts facts{8e9, 100, 4e8, 1e9, 3};
    const EnvironmentCopy one = environment_copy(facts, 2e9, 1);
    EXPECT_EQ(one.rounds, 0);
    EXPECT_DOUBLE_EQ(one.total_s(), 4 + 20);
    // 1, 2 and 2 copies: tails of 1, 1 + 1/2 and 1 + 1/2 times 3 s.
    const EnvironmentCopy five = environment_copy(facts, 2e9, 5);
    EXPECT_EQ(five.rounds, 3);
    EXPECT_DOUBLE_EQ(five.copy_s, 3 * 8);
    EXPECT_DOUBLE_EQ(five.tail_s, 3 * (1 + 1.5 + 1));
    // Sums and their expansion meet.
    EXPECT_NEAR(environment_copy(facts, 2e9, 256).tail_s - environment_copy(facts, 2e9, 128).tail_s, 3 * 5.433147,
                1e-5);
}

TEST(EnvironmentCopy, more_nodes_never_take_less) {
    const models::EnvironmentFacts facts{8e9, 100, 4e8, 1e9, 0};
    double before = 0;
    for (int nodes = 1; nodes < 3000; nodes += 7) {
        const double total_s = environment_copy(facts, 2e9, nodes).total_s();
        EXPECT_GE(total_s, before);
        before = total_s;
    }
}

TEST(Startup, phases_by_hand) {
    models::Machine machine = machine_of("aurora");
    machine.startup.storage = {2e9, 8e9, 1e10, 1e4, 2e4};
    machine.startup.environment = {8e9, 6000, 4e8, 1e9, 3};
    machine.startup.initialise = {10, 2e-3, 0, 0};
    machine.startup.compile = {50, 100, 0};
    machine.startup.index = {1e-5, 60, 100};
    StartJob job = job_of(8);
    job.queue_wait_s = 100;
    job.index_sequences = 6'553'600;  // 100 blocks: one a worker of 800
    job.first_step_s = 7;
    const Start start = start_of(machine, stack_of("torchtitan"), job);
    EXPECT_EQ(start.seconds_of(StartPhase::kQueue), 100);
    EXPECT_DOUBLE_EQ(start.seconds_of(StartPhase::kEnvironment),
                     4 + 24 + 3 * (1 + 1.5 + (1 + 1 / 2.0 + 1 / 3.0 + 0.25)) + 20);
    EXPECT_DOUBLE_EQ(start.seconds_of(StartPhase::kLibraries), 12 * 8e9 / 1e10);  // above 12 x 6000 / 20,000
    EXPECT_EQ(start.seconds_of(StartPhase::kDevices), 10);
    EXPECT_DOUBLE_EQ(start.seconds_of(StartPhase::kCommunicators), 96 * 2e-3);
    EXPECT_DOUBLE_EQ(start.seconds_of(StartPhase::kCompile), 50 + 96 * 100 / 1e4);
    EXPECT_DOUBLE_EQ(start.seconds_of(StartPhase::kIndex), 60 + 65'536 * 1e-5);
    EXPECT_EQ(start.seconds_of(StartPhase::kFirstStep), 7);
    double sum = 0;
    for (const PhaseTime& phase : start.phases) {
        EXPECT_FALSE(phase.bound_by.empty());
        sum += phase.seconds;
    }
    EXPECT_DOUBLE_EQ(start.total_s(), sum);
    const StartParts parts = parts_of(start);
    EXPECT_EQ(parts.environment_s, start.seconds_of(StartPhase::kEnvironment));
    EXPECT_DOUBLE_EQ(parts.environment_s + parts.restart_s + parts.initialise_s,
                     sum - 100 - 7 - start.seconds_of(StartPhase::kIndex));
    job.stages_environment = false;
    job.indexes_in_parallel = false;
    const Start bare = start_of(machine, stack_of("torchtitan"), job);
    EXPECT_EQ(bare.seconds_of(StartPhase::kEnvironment), 0);
    EXPECT_DOUBLE_EQ(bare.seconds_of(StartPhase::kLibraries), 96 * 6000 / 1e4);  // above 8 x 8 GB at 8 GB/s
    EXPECT_DOUBLE_EQ(bare.seconds_of(StartPhase::kIndex), 65.536);
}

TEST(Startup, more_nodes_never_start_sooner) {
    const models::Machine aurora = machine_of("aurora");
    const models::Stack stack = stack_of("torchtitan");
    double before = 0;
    for (const int nodes : {1, 2, 8, 64, 512, 2048, 9000, 10624}) {
        StartJob job = job_of(nodes);
        job.load = LoadSize{1e12, 1e11, nodes, 12.0 * nodes, 1, nodes, true, true};
        const double total_s = start_of(aurora, stack, job).total_s();
        EXPECT_GT(total_s, before * (nodes == 2 ? 0.5 : 1))
            << nodes;  // one node reads a checkpoint more slowly than two
        before = total_s;
    }
}

TEST(Startup, only_stacks_that_compile_do) {
    const models::Machine aurora = machine_of("aurora");
    EXPECT_EQ(start_of(aurora, stack_of("optimus"), job_of(128)).seconds_of(StartPhase::kCompile), 0);
    JsonDocument eager = JsonDocument::load("stacks/torchtitan.json");
    eager.set("releases.use", "torch-2-13-eager");
    EXPECT_EQ(start_of(aurora, models::load_stack(eager), job_of(128)).seconds_of(StartPhase::kCompile), 0);
    const Start unknown = start_of(aurora, stack_of("bare"), job_of(128));
    EXPECT_EQ(unknown.seconds_of(StartPhase::kCompile), 0);
    EXPECT_TRUE(has_note(unknown, "stack bare does not say how it starts"));
}

TEST(Startup, what_a_machine_does_not_know_is_said) {
    const models::Machine frontier = machine_of("frontier");
    StartJob job = job_of(100);
    job.ranks = 800;
    job.index_sequences = 1e6;
    job.load = LoadSize{1e12, 1e11, 100, 800, 10, 10, true, false};
    const Start start = start_of(frontier, stack_of("bare"), job);
    ASSERT_EQ(start.phases.size(), 1U);
    EXPECT_EQ(start.seconds_of(StartPhase::kRestart), frontier.reliability.restart_s);
    EXPECT_TRUE(has_note(start, "reliability.restart stands for"));
    EXPECT_TRUE(has_note(start, "index of data takes to build: left out"));
    models::Machine parts = frontier;
    parts.reliability.environment_s = 100;
    parts.reliability.initialise_s = 50;
    const Start two = start_of(parts, stack_of("bare"), job);
    EXPECT_EQ(two.seconds_of(StartPhase::kEnvironment), 100);
    EXPECT_EQ(two.seconds_of(StartPhase::kInitialise), 50);
    EXPECT_GT(two.seconds_of(StartPhase::kLoad), 0);
    EXPECT_TRUE(has_note(two, "its reliability.environment is taken"));
    EXPECT_TRUE(has_note(two, "its reliability.initialise is taken"));
}

TEST(Startup, walls_of_public_runs_are_said) {
    const models::Machine aurora = machine_of("aurora");
    const models::Stack optimus = stack_of("optimus"), torchtitan = stack_of("torchtitan");
    EXPECT_TRUE(start_of(aurora, optimus, job_of(511)).notes.empty());
    EXPECT_TRUE(
        has_note(start_of(aurora, optimus, job_of(512)), "some public runs that were launched bare on 6,144 ranks"));
    EXPECT_TRUE(has_note(start_of(aurora, optimus, job_of(1000)), "on 12,000 ranks or more all failed"));
    EXPECT_FALSE(has_note(start_of(aurora, optimus, job_of(512)), "compiling"));
    EXPECT_TRUE(has_note(start_of(aurora, torchtitan, job_of(512)), "never finished compiling"));
    EXPECT_FALSE(has_note(start_of(aurora, torchtitan, job_of(511)), "compiling"));
}

}  // namespace
}  // namespace auspex::campaign
