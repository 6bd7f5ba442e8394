/// @file What a step's time counts as, against sums that the player does not make: spans of a timeline, work of rows,
/// and a walk through the rows of two stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "cpu_fixture.hpp"
#include "sim/cpu/program_actions.hpp"

namespace auspex::testing_cpu {
namespace {

double loss_s(const cpu::CpuStep& played, schedule::Loss loss) {
    return to_seconds(played.losses[static_cast<std::size_t>(loss)]);
}

/// By loss, in seconds, means over ranks.
using LossSeconds = std::array<double, schedule::kLossCount>;
double& of(LossSeconds& seconds, schedule::Loss loss) { return seconds[static_cast<std::size_t>(loss)]; }

/// What an operation counts as: communication as that of its stream, or waiting if of all ranks; work as that of its
/// phase, or waiting if only the host has any.
schedule::Loss loss_of_operation(const schedule::Operation& op) {
    static const std::map<schedule::Stream, schedule::Loss> kOfStream{
        {schedule::Stream::kTp, schedule::Loss::kExposedTp}, {schedule::Stream::kEp, schedule::Loss::kExposedEp},
        {schedule::Stream::kDp, schedule::Loss::kExposedDp}, {schedule::Stream::kPp, schedule::Loss::kExposedPp},
        {schedule::Stream::kCp, schedule::Loss::kExposedCp}, {schedule::Stream::kCompute, schedule::Loss::kWaiting}};
    static const std::map<schedule::Phase, schedule::Loss> kOfPhase{
        {schedule::Phase::kRecompute, schedule::Loss::kRecompute},
        {schedule::Phase::kOptimizer, schedule::Loss::kOptimizer}};
    if (op.comm != schedule::CommKind::kNone) {
        return op.group == models::GroupKind::kWorld ? schedule::Loss::kWaiting : kOfStream.at(op.stream);
    }
    if (op.kind == schedule::OpKind::kHostSync || op.kind == schedule::OpKind::kStepHost) {
        return schedule::Loss::kWaiting;
    }
    const auto found = kOfPhase.find(op.phase);
    return found == kOfPhase.end() ? schedule::Loss::kUsefulCompute : found->second;
}

/// From the timeline: each rank's spans by what they are of; before its first span it prepares the optimizer, after its
/// last it waits for the last rank.
LossSeconds losses_of_timeline(const predict::SimulatedStep& step, const cpu::CpuStep& played) {
    // Choices are counted by kernels, and those of whole sequences over ranks: one name on two streams.
    std::map<std::pair<std::size_t, std::uint32_t>, schedule::Loss> loss_of_name;
    for (const schedule::Operation& op : step.program.operations) {
        loss_of_name[{static_cast<std::size_t>(op.stream),
                      static_cast<std::uint32_t>(operation_name_index(op.kind, op.phase))}] = loss_of_operation(op);
    }
    const auto ranks = static_cast<std::size_t>(step.layout.tiles);
    LossSeconds seconds{};
    std::vector<Picoseconds> first(ranks, std::numeric_limits<Picoseconds>::max()), last(ranks, 0);
    for (const schedule::Span& span : played.timeline->spans) {
        const std::size_t rank = span.track / schedule::kStreamCount;
        first[rank] = std::min(first[rank], span.start);
        last[rank] = std::max(last[rank], span.end);
        of(seconds, loss_of_name.at({span.track % schedule::kStreamCount, span.name})) +=
            to_seconds(span.end - span.start) / static_cast<double>(ranks);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        of(seconds, schedule::Loss::kOptimizer) += to_seconds(first[rank]) / static_cast<double>(ranks);
        of(seconds, schedule::Loss::kWaiting) += to_seconds(played.step - last[rank]) / static_cast<double>(ranks);
    }
    return seconds;
}

LossSeconds losses_of(const cpu::CpuStep& played) {
    LossSeconds seconds{};
    std::ranges::transform(played.losses, seconds.begin(), to_seconds);
    return seconds;
}

/// A wait for a message of another stage is a bubble until that is sent: a timeline does not show when. Bubble, waiting
/// and messages between stages are one here.
LossSeconds between_stages_as_one(LossSeconds seconds) {
    of(seconds, schedule::Loss::kWaiting) +=
        of(seconds, schedule::Loss::kBubble) + of(seconds, schedule::Loss::kExposedPp);
    of(seconds, schedule::Loss::kBubble) = of(seconds, schedule::Loss::kExposedPp) = 0;
    return seconds;
}

/// A row of a rank: its seconds alone, those of them that come after its first message, and what it counts as.
struct Work {
    schedule::Loss loss;
    double seconds, later_s;
    std::uint32_t operation;
    int micro_batch;
};

std::vector<Work> work_of_rows(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank) {
    cpu::ProgramActions rows(inputs, step);
    std::vector<Work> work;
    for (cpu::OperationActions row; rows.next(rank, row); row = {}) {
        work.push_back({row.loss, 0, 0, row.operation_index, row.micro_batch});
        bool is_later = false;
        for (const cpu::RankAction& action : row.actions) {
            work.back().seconds += action.work.seconds;
            work.back().later_s += is_later ? action.work.seconds : 0;
            is_later = is_later || action.type != cpu::RankAction::Type::kWork;
        }
    }
    return work;
}

constexpr double kRounding = 4e-12;  // means over ranks are in whole picoseconds; up to three are added up

TEST(CpuLosses, on_cores_of_their_own_they_are_the_spans_of_the_timeline) {
    for (const auto& [plan, workload] : toys()) {
        for (const int ranks_of_node : {16, 2}) {
            SCOPED_TRACE(plan + ", ranks of a node " + std::to_string(ranks_of_node));
            const models::Inputs inputs = toy_inputs(plan, workload, plausible_machine(16, ranks_of_node));
            const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
            const cpu::CpuStep played = cpu::play_on_cpus(inputs, step, true);
            const LossSeconds expected = between_stages_as_one(losses_of_timeline(step, played));
            const LossSeconds found = between_stages_as_one(losses_of(played));
            for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
                EXPECT_NEAR(found[loss], expected[loss], kRounding) << to_string(static_cast<schedule::Loss>(loss));
            }
            EXPECT_EQ(loss_s(played, schedule::Loss::kBubble) > 0, step.plan.pp > 1);
            EXPECT_GT(loss_s(played, schedule::Loss::kUsefulCompute), 0);
        }
    }
}

/// Work counts as work, however often a rank's turn ends within it; the rest of a step is waiting.
TEST(CpuLosses, of_work_are_the_seconds_of_its_kernels_on_however_few_cores) {
    for (const auto& [plan, workload] : toys()) {
        for (const int cores : {1, 2, 4}) {
            SCOPED_TRACE(plan + ", cores " + std::to_string(cores));
            models::Machine machine = bare_machine(cores);
            give_laws(machine.cpu, 1e-6, 1e-11);
            machine.cpu.quantum_s = 1e-4;
            const models::Inputs inputs = toy_inputs(plan, workload, machine);
            const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
            LossSeconds expected{};
            double all = 0;
            for (int rank = 0; rank < step.layout.tiles; ++rank) {
                for (const Work& row : work_of_rows(inputs, step, rank)) {
                    of(expected, row.loss) += row.seconds / step.layout.tiles;
                    all += row.seconds;
                }
            }
            const cpu::CpuStep played = cpu::play_on_cpus(inputs, step, false);
            for (const schedule::Loss loss :
                 {schedule::Loss::kUsefulCompute, schedule::Loss::kRecompute, schedule::Loss::kOptimizer}) {
                // Each of some thousand events of a rank is rounded to a picosecond.
                EXPECT_NEAR(loss_s(played, loss), of(expected, loss), 1e-8) << to_string(loss);
            }
            // No core does more than a second's work a second.
            EXPECT_GE(to_seconds(played.step) + 1e-8, all / std::min(cores, step.layout.tiles));
            EXPECT_EQ(cores<step.layout.tiles, loss_s(played, schedule::Loss::kWaiting)> 0.1 * to_seconds(played.step));
        }
    }
}

struct Walked {
    double passes_end_s = 0;  ///< of the last stage
    double idle_s = 0;        ///< all stages together, where a message has not been sent
};

/// Stages of one rank each, whose messages cost nothing: row after row, and a receive until its message was sent.
Walked walk(const models::Inputs& inputs, const predict::SimulatedStep& step) {
    const auto stages = static_cast<std::size_t>(step.plan.pp);
    std::vector<std::vector<Work>> work;
    for (std::size_t stage = 0; stage < stages; ++stage) {
        work.push_back(work_of_rows(inputs, step, static_cast<int>(stage)));
    }
    const auto message_of = [](const schedule::Operation& op, int micro_batch) {
        const bool is_backward =
            op.kind == schedule::OpKind::kSendBackward || op.kind == schedule::OpKind::kReceiveBackward;
        return std::tuple(op.message, micro_batch, is_backward);
    };
    Walked out;
    std::vector<double> clock(stages);
    std::vector<std::size_t> at(stages);
    std::map<std::tuple<int, int, bool>, double> sent;
    for (bool moves = true; moves;) {
        moves = false;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            for (; at[stage] < work[stage].size(); ++at[stage], moves = true) {
                const Work& row = work[stage][at[stage]];
                if (row.operation == cpu::ProgramActions::kNoOperation) {
                    clock[stage] += row.seconds;
                    continue;
                }
                const schedule::Operation& op = step.program.operations[row.operation];
                if (op.phase == schedule::Phase::kOptimizer) {
                    break;
                }
                if (op.comm == schedule::CommKind::kReceive) {
                    const auto message = sent.find(message_of(op, row.micro_batch));
                    if (message == sent.end()) {
                        break;
                    }
                    const double asks = clock[stage] + row.seconds - row.later_s;
                    out.idle_s += std::max(0.0, message->second - asks);
                    clock[stage] += std::max(0.0, message->second - asks);
                }
                clock[stage] += row.seconds;
                out.passes_end_s = std::max(out.passes_end_s, clock[stage]);
                if (op.comm == schedule::CommKind::kSend) {
                    sent[message_of(op, row.micro_batch)] = clock[stage] - row.later_s;
                }
            }
        }
    }
    return out;
}

/// On a core for each stage and without cost of messages nothing but the order of passes makes a stage idle.
TEST(CpuLosses, a_bubble_is_what_the_passes_of_stages_leave_idle) {
    for (const models::ScheduleKind schedule :
         {models::ScheduleKind::kGpipe, models::ScheduleKind::k1f1b, models::ScheduleKind::kInterleaved1f1b}) {
        for (const int micro_batches : {2, 4, 8}) {
            SCOPED_TRACE(std::string(to_string(schedule)) + ", micro-batches " + std::to_string(micro_batches));
            models::Machine machine = bare_machine();
            give_laws(machine.cpu, 1e-6, 1e-11);
            models::Inputs inputs = toy_inputs("toy-interleaved", "toy-dense", machine);
            inputs.plan.virtual_stages = schedule == models::ScheduleKind::kInterleaved1f1b ? 2 : 1;
            inputs.plan.schedule = schedule;
            inputs.plan.micro_batches = micro_batches;
            const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
            const Walked expected = walk(inputs, step);
            const cpu::CpuStep played = cpu::play_on_cpus(inputs, step, false);
            EXPECT_NEAR(to_seconds(played.forward_backward), expected.passes_end_s, 1e-9);
            EXPECT_NEAR(2 * loss_s(played, schedule::Loss::kBubble), expected.idle_s, 1e-9);
            EXPECT_GT(expected.idle_s, 0);
        }
    }
}

/// The later stage waits from 0 on; the message is sent at 0.1 s, travels 10 ms between nodes and costs its receiver 1
/// ms.
TEST(CpuLosses, a_bubble_ends_when_the_message_is_sent) {
    models::Machine machine = bare_machine(2, 1);
    machine.cpu.inter_node.latency_s = 0.01;
    machine.cpu.inter_node.receive_s = 0.001;
    const Ranks actions{{work(0.1), send(1, 8)}, {receive(0, 8), wait()}};
    std::array<bool, 2> begun{};
    const cpu::CpuProgram program{[&](int rank, cpu::OperationActions& row) {
                                      const auto group_rank = static_cast<std::size_t>(rank);
                                      if (std::exchange(begun[group_rank], true)) {
                                          return false;
                                      }
                                      row.actions = actions[group_rank];
                                      row.loss = schedule::Loss::kExposedPp;
                                      row.waits_for_sender = rank == 1;
                                      return true;
                                  },
                                  [](int, const cpu::OperationActions&, Picoseconds, Picoseconds) {}};
    const cpu::CpuPlayResult played = play_cpu_program(machine, rank_places(machine, 2), {}, program);
    const auto of_receiver = [&](schedule::Loss loss) {
        return to_seconds(played.losses[1][static_cast<std::size_t>(loss)]);
    };
    EXPECT_NEAR(of_receiver(schedule::Loss::kBubble), 0.1, 1e-9);
    EXPECT_NEAR(of_receiver(schedule::Loss::kExposedPp), 0.011, 1e-9);
    EXPECT_EQ(of_receiver(schedule::Loss::kWaiting), 0);
}

/// The seed's plan on 1 to 3 cores and nodes of 3 ranks, with and without turns, long messages, spinning and
/// binding.
models::Inputs random_trainable(std::uint64_t seed) {
    models::Inputs inputs = trainable_inputs(seed, plausible_machine(1 + static_cast<int>(seed % 3), 3));
    inputs.stack.waits_by_yielding = seed % 2 == 0;
    inputs.stack.binds_ranks = seed % 3 != 0;
    models::CpuModel& cpu = inputs.machine.cpu;
    cpu.quantum_s = seed % 5 == 0 ? 0 : 1e-3;
    cpu.nodes_per_computer = 1 + static_cast<int>(seed % 2);
    cpu.intra_node.eager_bytes = cpu.inter_node.eager_bytes = seed % 7 < 4 ? 0 : 4096;
    return inputs;
}

/// On shared cores a rank's time in an operation is that operation's, or it waits for a core.
TEST(CpuLosses, of_100_random_plans_are_at_most_the_spans_and_waiting_is_what_they_leave) {
    double most_waiting = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const models::Inputs inputs = random_trainable(seed);
        SCOPED_TRACE("seed " + std::to_string(seed) + " " + inputs.workload.name);
        const predict::SimulatedStep step =
            prepare_step(inputs, testing_steps::plain_options(testing_plans::layout_of(inputs.plan).tiles));
        const cpu::CpuStep played = cpu::play_on_cpus(inputs, step, true);
        const LossSeconds spans = between_stages_as_one(losses_of_timeline(step, played));
        const LossSeconds found = between_stages_as_one(losses_of(played));
        for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
            EXPECT_GE(played.losses[loss], 0);
            if (loss == static_cast<std::size_t>(schedule::Loss::kWaiting)) {
                EXPECT_GE(found[loss] + kRounding, spans[loss]);
            } else {
                EXPECT_LE(found[loss], spans[loss] + kRounding) << to_string(static_cast<schedule::Loss>(loss));
            }
        }
        double most = 0;
        for (int rank = 0; rank < step.layout.tiles; ++rank) {
            double seconds = 0;
            for (const Work& row : work_of_rows(inputs, step, rank)) {
                seconds += row.seconds;
            }
            most = std::max(most, seconds);
        }
        EXPECT_GE(to_seconds(played.step), most) << "no step is shorter than the work of its busiest rank";
        most_waiting = std::max(most_waiting, loss_s(played, schedule::Loss::kWaiting) / to_seconds(played.step));
    }
    EXPECT_GT(most_waiting, 0.5) << "some of these plans share cores";
}

}  // namespace
}  // namespace auspex::testing_cpu
