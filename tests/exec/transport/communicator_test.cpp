/// @file Collectives against their definition, computed from everyone's data; messages; what happens when a rank
/// throws.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "communicator_cases.hpp"
#include "exec/transport/in_process.hpp"
#include "schedule/program/program.hpp"

namespace auspex::exec {
namespace {

using testing_exec::elements_of;
using testing_exec::grid;
using testing_exec::uneven_offsets;

/// Ranks of the group of a kind that a rank belongs to, in rank order.
std::vector<int> group_of(const models::Layout& layout, models::GroupKind kind, int rank) {
    for (int stage = 0; stage < layout.pp; ++stage) {
        for (const std::vector<int>& ranks : groups_of(layout, kind, stage)) {
            if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) {
                return ranks;
            }
        }
    }
    return {};
}

template <typename T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
}

std::vector<std::byte> joined(const std::vector<int>& ranks, std::uint64_t salt, std::size_t count) {
    std::vector<double> exact(count);
    for (const int rank : ranks) {
        const std::vector<float> part = as<float>(elements_of(rank, salt, count, ElementType::kFloat));
        std::transform(exact.begin(), exact.end(), part.begin(), exact.begin(), std::plus<double>());
    }
    const std::vector<float> sum(exact.begin(), exact.end());
    std::vector<std::byte> bytes(count * sizeof(float));
    if (!bytes.empty()) {
        std::memcpy(bytes.data(), sum.data(), bytes.size());
    }
    return bytes;
}

/// For every rank of some grids.
void on_all_ranks(const std::function<void(const models::Layout&, Communicator&)>& body) {
    for (const models::Layout& layout : {grid(2, 2, 2, 1), grid(1, 2, 2, 2), grid(2, 2, 2, 2), grid(1, 1, 1, 1)}) {
        run_in_process(layout, [&](Communicator& communicator) { body(layout, communicator); });
    }
}

// all-reduce: y_i = x_i of the first + x_i of the second + …, in double, rounded once, on every member.
TEST(Communicator, an_all_reduce_is_the_sum_in_rank_order) {
    on_all_ranks([](const models::Layout& layout, Communicator& communicator) {
        for (const models::GroupKind kind : testing_exec::kGroupsOfRank) {
            for (const std::size_t count : {1U, 5U, 2000U}) {
                const int rank = communicator.world_rank();
                const std::vector<int> ranks = group_of(layout, kind, rank);
                std::vector<std::byte> data = elements_of(rank, count, count, ElementType::kFloat);
                communicator.all_reduce(kind, data.data(), count, ElementType::kFloat, ReduceOp::kSum);
                EXPECT_EQ(data, joined(ranks, count, count)) << schedule::to_string(kind);
                EXPECT_EQ(ranks.at(static_cast<std::size_t>(communicator.group_rank(kind))), rank);
                EXPECT_EQ(static_cast<int>(ranks.size()), communicator.size(kind));
            }
        }
    });
}

// reduce-scatter leaves the sums of a member's own elements; an all-gather behind it makes an all-reduce of both.
TEST(Communicator, a_reduce_scatter_and_an_all_gather_make_an_all_reduce) {
    on_all_ranks([](const models::Layout& layout, Communicator& communicator) {
        for (const models::GroupKind kind : testing_exec::kGroupsOfRank) {
            for (const std::size_t count : {0U, 3U, 1001U}) {
                const int rank = communicator.world_rank();
                const auto offsets = uneven_offsets(count, static_cast<std::size_t>(communicator.size(kind)));
                std::vector<std::byte> data = elements_of(rank, count, count, ElementType::kFloat);
                communicator.reduce_scatter(kind, data.data(), offsets, ElementType::kFloat);
                communicator.all_gather(kind, data.data(), offsets, ElementType::kFloat);
                EXPECT_EQ(data, joined(group_of(layout, kind, rank), count, count));
            }
        }
    });
}

// Begun, they bring the same; meanwhile other calls over the same group are made.
TEST(Communicator, collectives_that_are_begun_bring_what_those_that_are_waited_for_bring) {
    on_all_ranks([](const models::Layout& layout, Communicator& communicator) {
        for (const models::GroupKind kind : testing_exec::kGroupsOfRank) {
            for (const std::size_t count : {0U, 3U, 5000U}) {
                const int rank = communicator.world_rank();
                const auto offsets = uneven_offsets(count, static_cast<std::size_t>(communicator.size(kind)));
                std::vector<std::byte> data = elements_of(rank, count, count, ElementType::kFloat);
                const auto scattered =
                    communicator.begin_reduce_scatter(kind, data.data(), offsets, ElementType::kFloat);
                std::vector<std::byte> other = elements_of(rank, 7, 3000, ElementType::kFloat);
                communicator.all_reduce(kind, other.data(), 3000, ElementType::kFloat, ReduceOp::kSum);
                EXPECT_EQ(other, joined(group_of(layout, kind, rank), 7, 3000));
                while (!scattered->advance()) {
                    std::this_thread::yield();
                }
                const auto gathered = communicator.begin_all_gather(kind, data.data(), offsets, ElementType::kFloat);
                gathered->finish();
                EXPECT_TRUE(gathered->advance());
                EXPECT_EQ(data, joined(group_of(layout, kind, rank), count, count));
                data = elements_of(rank, count, count, ElementType::kFloat);
                communicator.begin_all_reduce(kind, data.data(), count, ElementType::kFloat, ReduceOp::kSum)->finish();
                EXPECT_EQ(data, joined(group_of(layout, kind, rank), count, count));
            }
        }
    });
}

// (m, s, x) joined: m = max m_i, s = sum s_i exp(m_i - m), x = sum x_i; here s_i = 1, so that m + log s is the
// log-sum-exp of all m_i, and a member without terms (m_i = -inf, s_i = 0) adds nothing.
TEST(Communicator, log_sum_exps_are_joined) {
    const models::Layout layout = grid(1, 4, 1, 1);
    run_in_process(layout, [](Communicator& communicator) {
        const double m = 100.0 * communicator.world_rank();
        std::array<double, 6> data{m, 1, 0.5, -std::numeric_limits<double>::infinity(), 0, 1};
        if (communicator.world_rank() == 2) {
            data[3] = -3, data[4] = 2;
        }
        communicator.all_reduce(models::GroupKind::kWorld, data.data(), data.size(), ElementType::kDouble,
                                ReduceOp::kLogSumExp);
        EXPECT_EQ(data[0], 300);
        EXPECT_DOUBLE_EQ(data[1], 1 + std::exp(-100.0) + std::exp(-200.0) + std::exp(-300.0));
        EXPECT_EQ(data[2], 2);
        EXPECT_EQ(data[3], -3);
        EXPECT_EQ(data[4], 2);
        EXPECT_EQ(data[5], 4);
    });
}

TEST(Communicator, a_maximum_keeps_a_nan) {
    run_in_process(grid(1, 4, 1, 1), [](Communicator& communicator) {
        const auto rank = static_cast<float>(communicator.world_rank());
        std::array<float, 2> data{rank, rank == 1 ? std::nanf("") : rank};
        communicator.all_reduce(models::GroupKind::kWorld, data.data(), 2, ElementType::kFloat, ReduceOp::kMax);
        EXPECT_EQ(data[0], 3);
        EXPECT_TRUE(std::isnan(data[1]));
    });
}

// Member j gets from member i the bytes that i meant for j, in the members' order, whether it knows the sizes or not.
TEST(Communicator, an_all_to_all_transposes) {
    run_in_process(grid(2, 1, 4, 1), [](Communicator& communicator) {
        const auto mine = static_cast<std::size_t>(communicator.group_rank(models::GroupKind::kEp));
        std::vector<std::size_t> leave, arrive;
        std::vector<std::byte> send, expected;
        for (std::size_t i = 0; i < 4; ++i) {
            leave.push_back(testing_exec::part_bytes(mine, i, 3));
            arrive.push_back(testing_exec::part_bytes(i, mine, 3));
            send.insert(send.end(), leave.back(), static_cast<std::byte>(16 * mine + i));
            expected.insert(expected.end(), arrive.back(), static_cast<std::byte>(16 * i + mine));
        }
        std::vector<std::byte> received(expected.size());
        communicator.all_to_all(models::GroupKind::kEp, send.data(), leave, received.data(), arrive);
        EXPECT_EQ(received, expected);
        received.assign(expected.size(), std::byte{0});
        EXPECT_EQ(communicator.all_to_all_begin(models::GroupKind::kEp, send.data(), leave), arrive);
        communicator.take_received(received.data());
        EXPECT_EQ(received, expected);
        EXPECT_GE(communicator.peak_transport_bytes(), expected.size());
    });
}

TEST(Communicator, a_shift_brings_what_the_member_before_has_sent) {
    run_in_process(grid(2, 1, 4, 1), [](Communicator& communicator) {
        const int mine = communicator.group_rank(models::GroupKind::kEp);
        const std::vector<int> send{mine, 10 * mine};
        std::vector<int> received(2, -1);
        communicator.shift(models::GroupKind::kEp, send.data(), received.data(), sizeof(int) * send.size());
        const int before = (mine + 3) % 4;
        EXPECT_EQ(received, (std::vector<int>{before, 10 * before}));
        communicator.shift(models::GroupKind::kTp, send.data(), received.data(), sizeof(int) * send.size());
        EXPECT_EQ(received.front(), before) << "alone in its group a rank sends nothing";
    });
}

// With two stages the next is also the previous one: direction and tag tell messages apart, order does not matter.
TEST(Communicator, messages_are_told_apart_by_direction_and_tag) {
    for (const int stages : {1, 2, 3}) {
        run_in_process(grid(stages, 1, 1, 1), [&](Communicator& communicator) {
            const int rank = communicator.world_rank();
            const auto send = [&](models::GroupKind direction, int tag, int text) {
                const std::array<std::byte, 1> byte{static_cast<std::byte>(16 * rank + text)};
                const std::array<std::span<const std::byte>, 2> parts{byte, byte};
                communicator.send(direction, parts, tag);
            };
            const auto receive = [&](models::GroupKind direction, int tag) {
                std::array<std::byte, 2> data{};
                communicator.receive(direction, data, tag);
                EXPECT_EQ(data[0], data[1]);
                return static_cast<int>(data[0]);
            };
            send(models::GroupKind::kNextStage, 5, 1);
            send(models::GroupKind::kPreviousStage, 5, 2);
            send(models::GroupKind::kNextStage, 6, 3);
            const int previous = (rank + stages - 1) % stages, next = (rank + 1) % stages;
            EXPECT_EQ(receive(models::GroupKind::kPreviousStage, 6), 16 * previous + 3);
            EXPECT_EQ(receive(models::GroupKind::kNextStage, 5), 16 * next + 2);
            EXPECT_EQ(receive(models::GroupKind::kPreviousStage, 5), 16 * previous + 1);
        });
    }
}

TEST(Communicator, a_rank_that_throws_ends_the_others) {
    for (const int wait : {0, 1, 2}) {
        const auto body = [wait](Communicator& communicator) {
            if (communicator.world_rank() == 5) {
                throw std::runtime_error("rank 5 has had enough");
            }
            std::array<float, 4> data{};
            try {
                if (wait == 0) {
                    communicator.all_reduce(models::GroupKind::kWorld, data.data(), 4, ElementType::kFloat,
                                            ReduceOp::kSum);
                } else if (wait == 1) {
                    static_cast<void>(communicator.receive_bytes(5));
                } else {
                    communicator.receive(models::GroupKind::kPreviousStage, std::as_writable_bytes(std::span(data)), 1);
                }
                ADD_FAILURE() << "rank " << communicator.world_rank() << " did not notice";
            } catch (const CommunicationError&) {
                throw;
            }
        };
        try {
            run_in_process(grid(2, 2, 2, 2), body);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "rank 5 has had enough");
        }
    }
}

TEST(Communicator, a_rank_that_has_left_is_not_waited_for) {
    EXPECT_THROW(run_in_process(grid(1, 4, 1, 1),
                                [](Communicator& communicator) {
                                    if (communicator.world_rank() != 2) {
                                        communicator.barrier(models::GroupKind::kWorld);
                                    }
                                }),
                 CommunicationError);
}

// Whatever the interleaving of threads, a rank sees the same bits.
TEST(Communicator, runs_repeat_to_the_bit) {
    std::vector<std::vector<std::byte>> journals[2];
    for (auto& journal : journals) {
        journal.resize(16);
        run_in_process(grid(2, 2, 2, 2), [&](Communicator& communicator) {
            journal[static_cast<std::size_t>(communicator.world_rank())] = testing_exec::run_all_cases(communicator);
        });
    }
    EXPECT_EQ(journals[0], journals[1]);
}

}  // namespace
}  // namespace auspex::exec
