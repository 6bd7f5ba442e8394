/// @file What is counted of an operation's calls.
#include <gtest/gtest.h>

#include <array>

#include "../exec_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

schedule::Operation operation(schedule::CommKind comm, models::GroupKind group) {
    schedule::Operation op;
    op.comm = comm, op.group = group;
    return op;
}

/// On each of two ranks that divide experts.
void on_two_ranks(const std::function<void(CountingCommunicator&)>& body) {
    models::Plan plan = single_plan();
    plan.ep = 2;
    const RunInputs run = run_inputs(mixture_model(), plan);
    run_in_process(run.layout, [&](Communicator& real) {
        CountingCommunicator counting(real);
        body(counting);
    });
}

void expect_count(const OperationCount& count, std::uint64_t operations, std::uint64_t messages, double bytes) {
    EXPECT_EQ(count.operations, operations);
    EXPECT_EQ(count.messages, messages);
    EXPECT_EQ(count.bytes, bytes);
}

/// All-reduce: the buffer; reduce-scatter: the input; all-gather: the output; all-to-all: everything sent.
TEST(Counting, bytes_are_those_of_the_arguments) {
    on_two_ranks([](CountingCommunicator& on) {
        std::array<double, 6> data{};
        const std::vector<std::size_t> offsets{0, 4, 6};
        on.begin(operation(schedule::CommKind::kAllReduce, models::GroupKind::kEp));
        on.all_reduce(models::GroupKind::kEp, data.data(), 3, ElementType::kBf16, ReduceOp::kSum);
        expect_count(on.end(), 1, 1, 3 * 2);
        on.begin(operation(schedule::CommKind::kReduceScatter, models::GroupKind::kEp));
        on.reduce_scatter(models::GroupKind::kEp, data.data(), offsets, ElementType::kDouble);
        expect_count(on.end(), 1, 1, 6 * 8);
        on.begin(operation(schedule::CommKind::kAllGather, models::GroupKind::kEp));
        on.all_gather(models::GroupKind::kEp, data.data(), offsets, ElementType::kFloat);
        expect_count(on.end(), 1, 1, 6 * 4);
        const auto own = static_cast<std::size_t>(on.group_rank(models::GroupKind::kEp));
        const std::vector<std::size_t> sent{1 + own, 1 + own}, received{1, 2};
        on.begin(operation(schedule::CommKind::kAllToAll, models::GroupKind::kEp));
        std::array<double, 6> arrived{};
        on.all_to_all(models::GroupKind::kEp, data.data(), sent, arrived.data(), received);
        static_cast<void>(on.all_to_all_begin(models::GroupKind::kEp, data.data(), sent));
        on.take_received(arrived.data());
        expect_count(on.end(), 1, 2, static_cast<double>(4 * (1 + own)));
        on.begin(operation(schedule::CommKind::kBarrier, models::GroupKind::kWorld));
        on.barrier(models::GroupKind::kWorld);
        expect_count(on.end(), 1, 1, 0);
    });
}

TEST(Counting, messages_between_stages_are_counted_by_who_sends_them) {
    models::Plan plan = single_plan();
    plan.pp = 2;
    const RunInputs run = run_inputs(dense_model(), plan);
    run_in_process(run.layout, [](Communicator& real) {
        CountingCommunicator on(real);
        std::array<std::byte, 5> data{};
        const std::span<const std::byte> parts[] = {std::span(data).first(2), std::span(data).last(3)};
        on.begin(operation(schedule::CommKind::kSend, models::GroupKind::kNextStage));
        on.send(models::GroupKind::kNextStage, parts, 7);
        expect_count(on.end(), 1, 1, 5);
        on.begin(operation(schedule::CommKind::kReceive, models::GroupKind::kPreviousStage));
        on.receive(models::GroupKind::kPreviousStage, data, 7);
        expect_count(on.end(), 1, 1, 0);
    });
}

TEST(Counting, a_communication_without_a_call_was_not_made) {
    on_two_ranks([](CountingCommunicator& on) {
        on.begin(operation(schedule::CommKind::kAllReduce, models::GroupKind::kEp));
        expect_count(on.end(), 0, 0, 0);
        schedule::Operation repeated = operation(schedule::CommKind::kAllReduce, models::GroupKind::kEp);
        repeated.repeat = 3;
        on.begin(repeated);
        float value = 1;
        on.all_reduce(models::GroupKind::kEp, &value, 1, ElementType::kFloat, ReduceOp::kSum);
        on.all_reduce(models::GroupKind::kEp, &value, 1, ElementType::kFloat, ReduceOp::kSum);
        expect_count(on.end(), 2, 2, 8);
        on.begin(schedule::Operation());
        expect_count(on.end(), 1, 0, 0);
    });
}

TEST(Counting, calls_between_operations_are_nobodys) {
    on_two_ranks([](CountingCommunicator& on) {
        float value = 1;
        on.all_reduce(models::GroupKind::kWorld, &value, 1, ElementType::kFloat, ReduceOp::kSum);
        EXPECT_EQ(value, 2);
        on.begin(operation(schedule::CommKind::kBarrier, models::GroupKind::kWorld));
        on.barrier(models::GroupKind::kWorld);
        expect_count(on.end(), 1, 1, 0);
    });
}

}  // namespace
}  // namespace auspex::exec
