/// @file Ranks on cores, against closed forms.
#include <gtest/gtest.h>

#include "cpu_fixture.hpp"

namespace auspex::testing_cpu {
namespace {

constexpr double kTick = 1e-9;  // rounding of a few events to the clock
constexpr cpu::WaitPolicy kSpinning{.yields = false};
constexpr cpu::WaitPolicy kUnbound{.bound = false};

TEST(CpuPlayer, one_rank_takes_the_sum_of_its_work) {
    EXPECT_NEAR(step_s(bare_machine(), {{work(0.5), work(0.25), work(0.125)}}), 0.875, kTick);
}

TEST(CpuPlayer, four_ranks_on_two_cores_take_twice_as_long) {
    const Ranks ranks(4, {work(kSecond)});
    EXPECT_NEAR(step_s(bare_machine(), ranks), 2, kTick) << "turns";
    EXPECT_NEAR(step_s(bare_machine(), ranks, kUnbound), 2, kTick) << "turns, not bound";
    models::Machine fluid = bare_machine();
    fluid.cpu.quantum_s = 0;
    EXPECT_NEAR(step_s(fluid, ranks), 2, kTick) << "shared continuously";
    EXPECT_NEAR(step_s(fluid, ranks, kUnbound), 2, kTick) << "shared continuously, not bound";
}

TEST(CpuPlayer, ranks_are_bound_to_cores_in_turn) {
    // Ranks 0 and 2 share core 0: 1 s + 1 s. Unbound, no core is idle but at the very end: 2.1 s / 2.
    const Ranks ranks{{work(1)}, {work(0.1)}, {work(1)}};
    EXPECT_NEAR(step_s(bare_machine(), ranks), 2, kTick);
    EXPECT_NEAR(step_s(bare_machine(), ranks, kUnbound), 1.05, kSlice);
}

TEST(CpuPlayer, shared_continuously_each_has_its_fair_part) {
    // Two on one core, 1 s and 3 s of work: halves until the shorter has ended at 2 s, then the longer alone to 4 s.
    models::Machine machine = bare_machine(1);
    machine.cpu.quantum_s = 0;
    const cpu::CpuPlayResult played = play_ranks(machine, {{work(1)}, {work(3)}});
    EXPECT_NEAR(to_seconds(played.ends[0]), 2, kTick);
    EXPECT_NEAR(to_seconds(played.ends[1]), 4, kTick);
}

TEST(CpuPlayer, turns_are_slices_in_order) {
    // On one core 25 ms and 25 ms in slices of 10 ms: ends at 10+10+10+10+5 = 45 ms and 50 ms, and every change of the
    // four costs 1 ms more.
    models::Machine machine = bare_machine(1);
    const Ranks ranks(2, {work(0.025)});
    const cpu::CpuPlayResult free = play_ranks(machine, ranks);
    EXPECT_NEAR(to_seconds(free.ends[0]), 0.045, kTick);
    EXPECT_NEAR(to_seconds(free.ends[1]), 0.050, kTick);
    machine.cpu.context_switch_s = 0.001;
    const cpu::CpuPlayResult costly = play_ranks(machine, ranks);
    EXPECT_NEAR(to_seconds(costly.ends[0]), 0.049, kTick);
    EXPECT_NEAR(to_seconds(costly.ends[1]), 0.055, kTick);
}

TEST(CpuPlayer, others_take_their_turns) {
    // 95 ms of work on a core that another process wants too, slices of 10 ms: 10 turns of its own, 9 of the other's
    // between them. With two others 18. A rank that waits gives its core away for a whole turn: the message of a rank
    // that has a core of its own comes at once, and is seen when the other's slice ends.
    models::Machine machine = bare_machine(1);
    cpu::RankLocations locations = rank_places(machine, 1);
    const Ranks one{{work(0.095)}};
    add_background_processes(locations, {1});
    EXPECT_NEAR(to_seconds(play_ranks_at(machine, locations, one).step), 0.185, kTick);
    add_background_processes(locations, {1});
    EXPECT_NEAR(to_seconds(play_ranks_at(machine, locations, one).step), 0.275, kTick);

    machine = bare_machine(2);
    locations = rank_places(machine, 2);
    add_background_processes(locations, {0, 1});
    const Ranks talk{{work(0.003), send(1, 8)}, {receive(0, 8), wait()}};
    const cpu::CpuPlayResult played = play_ranks_at(machine, locations, talk);
    EXPECT_NEAR(to_seconds(played.ends[0]), 0.003, kTick);
    EXPECT_NEAR(to_seconds(played.ends[1]), kSlice, kTick);
    EXPECT_EQ(played.ends.size(), 2U) << "others are no ranks";
}

TEST(CpuPlayer, busy_cores_are_slower) {
    models::Machine machine = bare_machine();
    machine.cpu.busy_speed = 0.8;
    EXPECT_NEAR(step_s(machine, {{work(1)}}), 1, kTick);
    EXPECT_NEAR(step_s(machine, {{work(1)}, {work(1)}}), 1 / 0.8, kTick);
}

TEST(CpuPlayer, work_that_needs_more_memory_than_there_is_shares_it) {
    // Each needs 20 GB/s alone; the computer has 30: rate 30 / 40. Alone neither waits.
    models::Machine machine = bare_machine();
    machine.cpu.memory_bytes_per_s = 30e9;
    EXPECT_NEAR(step_s(machine, {{work(1, 0, 20e9)}}), 1, kTick);
    EXPECT_NEAR(step_s(machine, {{work(1, 0, 20e9)}, {work(1, 0, 20e9)}}), 4.0 / 3, kTick);
    machine = bare_machine();
    machine.cpu.cache_bytes_per_s = 30e9;
    EXPECT_NEAR(step_s(machine, {{work(1, 20e9)}, {work(1, 20e9)}}), 4.0 / 3, kTick);
    EXPECT_NEAR(step_s(machine, {{work(1, 90e9)}}), 1, kTick) << "the law of work alone has its cache in it";
}

TEST(CpuPlayer, work_takes_no_more_than_there_is) {
    // Each says 90 GB/s, of 30: alone it had 30, so two have a half each, and no work waits alone.
    models::Machine machine = bare_machine();
    machine.cpu.memory_bytes_per_s = 30e9;
    EXPECT_NEAR(step_s(machine, {{work(1, 0, 90e9)}}), 1, kTick);
    EXPECT_NEAR(step_s(machine, {{work(1, 0, 90e9)}, {work(1, 0, 90e9)}}), 2, kTick);
    machine = bare_machine();
    machine.cpu.cache_bytes_per_s = 30e9;
    EXPECT_NEAR(step_s(machine, {{work(1, 90e9)}, {work(1, 90e9)}}), 2, kTick);
}

TEST(CpuPlayer, a_message_takes_its_sender_then_its_receiver) {
    // send 1 ms + 1000 B x 1 us, receive 2 ms + 1000 B x 2 us; who waits on an idle core sees it after poll / 2.
    models::Machine machine = bare_machine();
    machine.cpu.intra_node = {1e-3, 2e-3, 1e-6, 2e-6, 1e9, 0, 0};
    machine.cpu.poll_s = 1e-4;
    const cpu::CpuPlayResult played = play_ranks(machine, {{send(1, 1000), wait()}, {receive(0, 1000), wait()}});
    EXPECT_NEAR(to_seconds(played.ends[0]), 2e-3, kTick);
    EXPECT_NEAR(to_seconds(played.ends[1]), 2e-3 + 0.5e-4 + 4e-3, kTick);
}

TEST(CpuPlayer, a_receiver_takes_longer_for_bytes_from_memory) {
    // receive 2 ms, and 500 B at 1 us more each by the law of copies; the sender does not.
    models::Machine machine = bare_machine();
    machine.cpu.intra_node = {1e-3, 2e-3, 0, 0, 1e9, 0, 0};
    machine.cpu.kernel_costs.front()[static_cast<std::size_t>(models::CpuKernel::kCopy)].miss_byte_s = 1e-6;
    cpu::RankAction far = send(1, 1000);
    far.memory_bytes = 500;
    const cpu::CpuPlayResult played = play_ranks(machine, {{far, wait()}, {receive(0, 1000), wait()}});
    EXPECT_NEAR(to_seconds(played.ends[0]), 1e-3, kTick);
    EXPECT_NEAR(to_seconds(played.ends[1]), 1e-3 + 2.5e-3, kTick);
}

TEST(CpuPlayer, a_long_message_holds_its_sender_until_it_is_taken) {
    // Beyond eager: 3 ms more at the receiver, and the sender waits for the receiver, who works for 0.1 s first.
    models::Machine machine = bare_machine();
    machine.cpu.intra_node = {1e-3, 2e-3, 0, 0, 100, 3e-3, 0};
    const Ranks ranks{{send(1, 1000), wait()}, {work(0.1), receive(0, 1000), wait()}};
    const cpu::CpuPlayResult played = play_ranks(machine, ranks);
    EXPECT_NEAR(to_seconds(played.ends[1]), 0.1 + 5e-3, kTick);
    EXPECT_NEAR(to_seconds(played.ends[0]), 0.1 + 5e-3, kTick);
    machine.cpu.intra_node.eager_bytes = 1000;
    EXPECT_NEAR(to_seconds(play_ranks(machine, ranks).ends[0]), 1e-3, kTick) << "an eager one is done for its sender";
}

TEST(CpuPlayer, only_a_message_up_to_eager_costs_its_sender_its_bytes) {
    // send 1 ms, and 1 us a byte of an eager one; receive 2 ms + 2 us a byte, and 3 ms for a long one.
    models::Machine machine = bare_machine();
    machine.cpu.intra_node = {1e-3, 2e-3, 1e-6, 2e-6, 100, 3e-3, 0};
    EXPECT_NEAR(step_s(machine, {{send(1, 100), wait()}, {receive(0, 100), wait()}}), 1.1e-3 + 2.2e-3, kTick);
    EXPECT_NEAR(step_s(machine, {{send(1, 1000), wait()}, {receive(0, 1000), wait()}}), 1e-3 + 7e-3, kTick);
}

TEST(CpuPlayer, beyond_at_once_a_sender_waits_until_its_receiver_looks) {
    // The receiver works for 0.1 s, looks for another message until 0.2 s, and takes the first one at 0.5 s.
    models::Machine machine = bare_machine(3);
    machine.cpu.intra_node.buffered_bytes = 100;
    const auto sender_s = [&](double bytes) {
        const Ranks ranks{{send(1, bytes, 0), wait()},
                          {work(0.1), receive(2, 1, 1), wait(), work(0.3), receive(0, bytes, 0), wait()},
                          {work(0.2), send(1, 1, 1), wait()}};
        return to_seconds(play_ranks(machine, ranks).ends[0]);
    };
    EXPECT_NEAR(sender_s(100), 0, kTick);
    EXPECT_NEAR(sender_s(1000), 0.1, kTick);
    machine.cpu.intra_node.eager_bytes = 100;
    EXPECT_NEAR(sender_s(1000), 0.5, kTick) << "a long one waits until it is taken";
}

TEST(CpuPlayer, a_message_that_was_seen_is_taken_before_the_next_send) {
    // Rank 1 sees the long message at 0.1 s while it waits for rank 2; asking for it takes 0.2 s, then it sends.
    models::Machine machine = bare_machine(3);
    machine.cpu.intra_node.receive_byte_s = 1e-3;
    machine.cpu.intra_node.eager_bytes = 100;
    const Ranks ranks{{send(1, 200, 0)},
                      {work(0.1), receive(2, 0, 1), wait(), receive(0, 200, 0), send(2, 0, 2), wait()},
                      {work(0.1), send(1, 0, 1), receive(1, 0, 2), wait()}};
    EXPECT_NEAR(to_seconds(play_ranks(machine, ranks).ends[2]), 0.3, kTick);
}

TEST(CpuPlayer, messages_between_nodes_flow_over_their_nics) {
    // One rank a node. 1e9 bytes at 1e9 B/s and 10 ms; two into one node share its NIC; two pairs do not.
    models::Machine machine = bare_machine(2, 1);
    machine.node.nic_bytes_per_s = 1e9;
    machine.cpu.inter_node.latency_s = 0.01;
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9)}, {receive(0, 1e9), wait()}}), 1.01, kTick);
    EXPECT_NEAR(step_s(machine, {{receive(1, 1e9), receive(2, 1e9), wait()}, {send(0, 1e9)}, {send(0, 1e9)}}), 2.01,
                kTick);
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9)}, {receive(0, 1e9), wait()}, {send(3, 1e9)}, {receive(2, 1e9), wait()}}),
                1.01, kTick);
}

TEST(CpuPlayer, a_nic_that_has_rested_lets_a_burst_pass_at_once) {
    // 1e9 B/s, a burst of 2e8 bytes: the first message takes 0.8 s. One right behind it finds nothing saved up: 1 s
    // more. One that begins 0.1 s after the first has gone finds 1e8 bytes: 0.9 s.
    models::Machine machine = bare_machine(2, 1);
    machine.node.nic_bytes_per_s = 1e9;
    machine.cpu.inter_node.burst_bytes = 2e8;
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9)}, {receive(0, 1e9), wait()}}), 0.8, kTick);
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9, 0), work(0.8), send(1, 1e9, 1)},
                                 {receive(0, 1e9, 0), wait(), receive(0, 1e9, 1), wait()}}),
                1.8, kTick);
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9, 0), work(0.9), send(1, 1e9, 1)},
                                 {receive(0, 1e9, 0), wait(), receive(0, 1e9, 1), wait()}}),
                1.8, kTick);
}

TEST(CpuPlayer, a_long_message_between_nodes_flows_when_both_are_there) {
    models::Machine machine = bare_machine(2, 1);
    machine.node.nic_bytes_per_s = 1e9;
    machine.cpu.inter_node.eager_bytes = 100;
    // The receiver asks at 0.5 s, the sender waits since 0.
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9), wait()}, {work(0.5), receive(0, 1e9), wait()}}), 1.5, kTick);
    // The receiver asks at 0.5 s, the sender works until 2 s.
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9), work(2), wait()}, {work(0.5), receive(0, 1e9), wait()}}), 3, kTick);
    // Its offer, the answer and its bytes travel 10 ms each.
    machine.cpu.inter_node.latency_s = 0.01;
    EXPECT_NEAR(step_s(machine, {{send(1, 1e9), wait()}, {receive(0, 1e9), wait()}}), 1.03, kTick);
}

TEST(CpuPlayer, a_pipeline_of_two_stages_takes_one_pass_more) {
    // gpipe, two micro-batches, forward 1 s, backward 2 s on each stage: (m + pp - 1) (F + B) = 9 s.
    constexpr double kForward = 1, kBackward = 2;
    const Ranks ranks{{work(kForward), send(1, 1, 0), work(kForward), send(1, 1, 1), receive(1, 1, 2), wait(),
                       work(kBackward), receive(1, 1, 3), wait(), work(kBackward)},
                      {receive(0, 1, 0), wait(), work(kForward), receive(0, 1, 1), wait(), work(kForward),
                       work(kBackward), send(0, 1, 2), work(kBackward), send(0, 1, 3)}};
    EXPECT_NEAR(step_s(bare_machine(), ranks), 9, kTick);
    // On one core nothing is idle: m pp (F + B).
    EXPECT_NEAR(step_s(bare_machine(1), ranks), 12, kTick);
}

TEST(CpuPlayer, who_waits_by_spinning_takes_turns_from_those_who_work) {
    // One core: rank 0 works 0.1 s and sends; rank 1 waits. Yielding, rank 1 takes nothing; spinning, it burns a slice
    // after each of rank 0's ten, but the last.
    const Ranks ranks{{work(0.1), send(1, 1)}, {receive(0, 1), wait()}};
    const models::Machine machine = bare_machine(1);
    EXPECT_NEAR(step_s(machine, ranks), 0.1, kTick);
    EXPECT_NEAR(step_s(machine, ranks, kSpinning), 0.19, 1.1 * kSlice);
    models::Machine fluid = machine;
    fluid.cpu.quantum_s = 0;
    EXPECT_NEAR(step_s(fluid, ranks), 0.1, kTick);
    EXPECT_NEAR(step_s(fluid, ranks, kSpinning), 0.2, kTick);
    EXPECT_NEAR(step_s(bare_machine(2), ranks, kSpinning), 0.1, kTick) << "a core of its own";
}

TEST(CpuPlayer, time_without_a_core_and_after_the_end_is_waiting) {
    // One core, turns of 10 ms: rank 1 works 5 ms after waiting 10 ms for the core, rank 0 works 20 ms.
    const cpu::CpuPlayResult played = play_ranks(bare_machine(1), {{work(0.02)}, {work(0.005)}});
    const auto loss = [&](std::size_t rank, schedule::Loss name) {
        return to_seconds(played.losses[rank][static_cast<std::size_t>(name)]);
    };
    EXPECT_NEAR(loss(0, schedule::Loss::kExposedTp), 0.02, kTick);
    EXPECT_NEAR(loss(0, schedule::Loss::kWaiting), 0.005, kTick) << "while rank 1 had the core";
    EXPECT_NEAR(loss(1, schedule::Loss::kExposedTp), 0.005, kTick);
    EXPECT_NEAR(loss(1, schedule::Loss::kWaiting), 0.02, kTick) << "before its turn, and after its end";
}

}  // namespace
}  // namespace auspex::testing_cpu
