/// @file Graphs on a node of 8 tiles, ports of 400 GB/s each way; numbers by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "graph_fixture.hpp"

namespace auspex {
namespace {

using schedule::CommKind;
using testing_graph::add_group;
using testing_graph::add_rank;
using testing_graph::collective;
using testing_graph::compute;
using testing_graph::GraphJob;
using testing_graph::message;
using testing_graph::NodeKind;
using testing_graph::play_on;

constexpr double kBytes = 400e6;  // 1 ms on a port

models::Machine machine() {
    models::Machine machine = testing_network::switch_machine();
    machine.noise = {};
    machine.tile.collective_compute_share = 0;
    return machine;
}
graph::GraphResult played(const GraphJob& job, const graph::PlayOptions& options = {}) {
    return play_on(machine(), testing_network::plain_stack(), job, options);
}
Picoseconds us(double microseconds) { return to_picoseconds(microseconds * 1e-6); }

/// An all-gather of B among two, by a ring: launch 4 us, one round of wire 1 us + message 1 us + (B / 2) / 400 GB/s =
/// 506 us. It begins when the later one is there: 3 ms + 506 us + 1 ms.
TEST(Graph, a_collective_begins_with_the_last_of_its_group) {
    GraphJob job;
    add_group(job, {0, 1});
    for (const double seconds : {1e-3, 3e-3}) {
        add_rank(job, {compute(seconds), collective(CommKind::kAllGather, 0, kBytes), compute(1e-3)}, {{}, {0}, {1}},
                 {0});
    }
    const graph::GraphResult result = played(job);
    EXPECT_EQ(result.step, us(4506));
    EXPECT_EQ(result.ranks[0].compute, us(2000));
    EXPECT_EQ(result.ranks[0].communication, us(506));
    EXPECT_EQ(result.ranks[0].idle, us(2000));
    EXPECT_EQ(result.ranks[1].idle, 0);
}

/// Wire 1 us, message 1 us, 1 ms of bytes; what waits for the message then computes 1 ms.
TEST(Graph, a_receive_ends_when_the_message_is_there) {
    GraphJob job;
    add_rank(job, {message(NodeKind::kSend, 0, kBytes)}, {{}}, {}, {1});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes), compute(1e-3)}, {{}, {0}}, {}, {0});
    EXPECT_EQ(played(job).step, us(2002));
}

TEST(Graph, messages_of_a_tag_meet_in_order) {
    GraphJob job;
    add_rank(job, {message(NodeKind::kSend, 0, kBytes, 5), message(NodeKind::kSend, 0, 2 * kBytes, 5)}, {{}, {0}}, {},
             {1});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes, 5), message(NodeKind::kReceive, 0, 2 * kBytes, 5)}, {{}, {0}},
             {}, {0});
    EXPECT_EQ(played(job).step, us(1002 + 2002));
}

/// Two messages to one rank share its port: 2 ms of bytes for both.
TEST(Graph, transfers_share_links) {
    GraphJob job;
    add_rank(job, {message(NodeKind::kSend, 0, kBytes)}, {{}}, {}, {2});
    add_rank(job, {message(NodeKind::kSend, 0, kBytes)}, {{}}, {}, {2});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes), message(NodeKind::kReceive, 1, kBytes)}, {{}, {}}, {},
             {0, 1});
    const graph::GraphResult result = played(job);
    EXPECT_EQ(result.step, us(2002));
    // The port into rank 2 carries 800 MB at 400 GB/s: 2 of 2.002 ms.
    EXPECT_NEAR(result.link_use.front().busiest_share, 2000.0 / 2002, 1e-9);
    EXPECT_NEAR(result.link_use.front().bytes, 4 * kBytes, 1);  // out of one port and into another, each
}

/// One after the other each has the port to itself.
TEST(Graph, one_communication_at_a_time) {
    GraphJob job;
    add_rank(job, {message(NodeKind::kSend, 0, kBytes), message(NodeKind::kSend, 1, kBytes)}, {{}, {}}, {}, {1, 2});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes)}, {{}}, {}, {0});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes)}, {{}}, {}, {0});
    EXPECT_EQ(played(job).step, us(2002));
    EXPECT_EQ(played(job, {.one_communication = true}).step, us(2 * 1002));
}

/// 506 us of half pace do 253 us of work; 2000 - 253 are left.
TEST(Graph, compute_is_slower_beside_a_collective) {
    GraphJob job;
    add_group(job, {0, 1});
    for (int rank = 0; rank < 2; ++rank) {
        add_rank(job, {compute(2e-3), collective(CommKind::kAllGather, 0, kBytes)}, {{}, {}}, {0});
    }
    models::Machine slowed = machine();
    slowed.tile.collective_compute_share = 0.5;
    EXPECT_EQ(play_on(slowed, testing_network::plain_stack(), job).step, us(506 + 2000 - 253));
    EXPECT_EQ(played(job).step, us(2000));
}

/// Of several that could run, the first in the program does.
TEST(Graph, computes_one_node_at_a_time_and_the_first_first) {
    GraphJob job;
    add_rank(job, {compute(1e-3), compute(2e-3), message(NodeKind::kSend, 0, kBytes)}, {{}, {}, {0}}, {}, {1});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes), compute(5e-3)}, {{}, {0}}, {}, {0});
    EXPECT_EQ(played(job).step, us(1000 + 1002 + 5000));
}

TEST(Graph, the_host_works_beside_the_device) {
    GraphJob job;
    testing_graph::GraphNode host = compute(3e-3);
    host.kind = NodeKind::kHost;
    add_rank(job, {compute(2e-3), host}, {{}, {}});
    EXPECT_EQ(played(job).step, us(3000));
    EXPECT_EQ(played(job).ranks[0].compute, us(2000));
}

/// d (1 - exp(-rate n t)) after compute t, for a group of n.
TEST(Graph, the_machines_expected_noise_is_added) {
    GraphJob job;
    add_group(job, {0, 1});
    for (int rank = 0; rank < 2; ++rank) {
        add_rank(job, {compute(1e-3), collective(CommKind::kAllGather, 0, kBytes)}, {{}, {0}}, {0});
    }
    models::Machine noisy = machine();
    noisy.noise.os_event_s = 100e-6;
    noisy.noise.os_events_per_s = 200;
    const double noise_s = 100e-6 * (1 - std::exp(-200 * 2 * 1e-3));
    EXPECT_EQ(play_on(noisy, testing_network::plain_stack(), job).step, us(1506) + to_picoseconds(noise_s));
}

TEST(Graph, a_recording_has_lanes_for_what_runs_side_by_side) {
    GraphJob job;
    add_rank(job, {compute(1e-3), message(NodeKind::kSend, 0, kBytes), message(NodeKind::kSend, 0, kBytes, 1)},
             {{}, {0}, {0}}, {}, {1});
    add_rank(job, {message(NodeKind::kReceive, 0, kBytes), message(NodeKind::kReceive, 0, kBytes, 1)}, {{}, {}}, {},
             {0});
    const schedule::Timeline timeline = played(job, {.recorded = {0}}).timeline;
    ASSERT_EQ(timeline.spans.size(), 3U);
    std::vector<std::string> streams;
    for (const schedule::Span& span : timeline.spans) {
        streams.push_back(timeline.tracks[span.track].stream);
    }
    EXPECT_EQ(streams, (std::vector<std::string>{"compute", "communication", "communication 2"}));
    EXPECT_EQ(timeline.spans[1].start, us(1000));
}

std::string refusal_of(const GraphJob& job) {
    try {
        static_cast<void>(played(job));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Graph, names_a_circle) {
    GraphJob job;
    try {
        add_rank(job, {compute(1), compute(1), compute(1), compute(1)}, {{}, {0, 3}, {1}, {2}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("in a circle of 3 nodes"), std::string::npos) << error.what();
    }
}

TEST(Graph, refuses_ranks_that_would_wait_forever) {
    GraphJob crossed;  // each receives before it sends
    for (int rank = 0; rank < 2; ++rank) {
        add_rank(crossed, {message(NodeKind::kReceive, 0, kBytes), message(NodeKind::kSend, 0, kBytes)}, {{}, {0}}, {},
                 {1 - rank});
    }
    EXPECT_NE(refusal_of(crossed).find("rank 0: found ranks that wait for one another forever: node id 1 for a message "
                                       "of rank 1 with tag 0"),
              std::string::npos)
        << refusal_of(crossed);

    GraphJob lonely;
    add_rank(lonely, {message(NodeKind::kSend, 0, kBytes, 3)}, {{}}, {}, {1});
    add_rank(lonely, {compute(1)}, {{}});
    EXPECT_NE(refusal_of(lonely).find("rank 0: node id 1: found a send with tag 3 without its receive"),
              std::string::npos);

    GraphJob absent;
    add_group(absent, {0, 1});
    add_rank(absent, {collective(CommKind::kAllGather, 0, kBytes)}, {{}}, {0});
    add_rank(absent, {compute(1)}, {{}});
    EXPECT_NE(refusal_of(absent).find("rank 1: found no collective of group \"1\""), std::string::npos);

    GraphJob unlike;
    add_group(unlike, {0, 1});
    add_rank(unlike, {collective(CommKind::kAllGather, 0, kBytes)}, {{}}, {0});
    add_rank(unlike, {collective(CommKind::kAllReduce, 0, kBytes)}, {{}}, {0});
    EXPECT_NE(refusal_of(unlike).find("rank 1: node id 1: found all_reduce of 400000000 bytes as collective number 0"),
              std::string::npos);

    GraphJob outside;
    add_group(outside, {0, 1});
    for (int rank = 0; rank < 3; ++rank) {
        add_rank(outside, {collective(CommKind::kAllGather, 0, kBytes)}, {{}}, {0});
    }
    EXPECT_NE(refusal_of(outside).find("on rank 2, which is not in it"), std::string::npos);
}

/// Two collectives of two groups, which two ranks may reach in different orders: with one at a time neither ends.
TEST(Graph, one_at_a_time_may_wait_forever_where_all_at_once_does_not) {
    GraphJob job;
    add_group(job, {0, 1});
    add_group(job, {0, 1});
    add_rank(job, {collective(CommKind::kAllGather, 0, kBytes), collective(CommKind::kAllGather, 1, kBytes)}, {{}, {}},
             {0, 1});
    add_rank(job, {collective(CommKind::kAllGather, 1, kBytes), collective(CommKind::kAllGather, 0, kBytes)}, {{}, {}},
             {0, 1});
    EXPECT_GT(played(job).step, 0);
    EXPECT_THROW(static_cast<void>(played(job, {.one_communication = true})), InputError);
}

/// Sends of different sizes, all at once, each of whose ends changes the rates of the others.
TEST(Graph, many_communications_at_a_time_take_no_longer_than_they_may) {
    GraphJob job;
    constexpr std::uint32_t kCount = 3000;
    std::vector<testing_graph::GraphNode> sends, receives;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        sends.push_back(message(NodeKind::kSend, 0, 1e3 * (i + 1), i));
        receives.push_back(message(NodeKind::kReceive, 0, 1e3 * (i + 1), i));
    }
    add_rank(job, sends, testing_graph::Before(kCount), {}, {1});
    add_rank(job, receives, testing_graph::Before(kCount), {}, {0});
    // All bytes through one port: 1e3 * 3000 * 3001 / 2 / 400 GB/s.
    EXPECT_NEAR(to_seconds(played(job).step), 1e3 * kCount * (kCount + 1) / 2 / 400e9, 100e-6);
}

GraphJob random_job(Rng& rng) {
    GraphJob job;
    add_group(job, {0, 1, 2, 3});
    add_group(job, {0, 1});
    add_group(job, {2, 3});
    const std::size_t count = 5 + rng.below(30);
    std::vector<int> kinds;
    for (std::size_t i = 0; i < count; ++i) {
        kinds.push_back(static_cast<int>(rng.below(4)));
    }
    for (int rank = 0; rank < 4; ++rank) {
        std::vector<testing_graph::GraphNode> nodes;
        testing_graph::Before before;
        for (std::size_t i = 0; i < count; ++i) {
            const auto bytes = static_cast<double>(1 + i) * 1e6;
            nodes.push_back(kinds[i] == 0   ? collective(CommKind::kAllGather, 0, bytes)
                            : kinds[i] == 1 ? collective(CommKind::kAllToAll, 1, bytes)
                                            : compute(static_cast<double>(rng.below(1000)) * 1e-6));
            std::vector<std::uint32_t>& on = before.emplace_back();
            for (std::size_t d = 0; d < i && on.size() < 2; ++d) {
                if (rng.below(4) == 0) {
                    on.push_back(static_cast<std::uint32_t>(d));
                }
            }
        }
        add_rank(job, nodes, before, {0, rank < 2 ? 1U : 2U});
    }
    return job;
}

/// Parts of a rank's time sum to the step, compute is what the nodes say, and the step is at least that.
TEST(Graph, times_of_random_graphs_add_up) {
    Rng rng(3);
    for (int i = 0; i < 50; ++i) {
        const GraphJob job = random_job(rng);
        const graph::GraphResult result = played(job), again = played(job);
        EXPECT_EQ(result.step, again.step);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            Picoseconds compute_time = 0;
            for (const testing_graph::GraphNode& node : job.programs[rank].nodes) {
                compute_time += to_picoseconds(node.seconds);
            }
            const graph::RankTimes& times = result.ranks[rank];
            EXPECT_EQ(times.compute, compute_time);
            EXPECT_EQ(times.compute + times.communication + times.idle, result.step);
        }
    }
}

}  // namespace
}  // namespace auspex
