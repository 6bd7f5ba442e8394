/// @file Whole steps on a made-up CPU machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "cpu_fixture.hpp"
#include "schedule/kernel_calls/kernel_calls.hpp"
#include "sim/cpu/least_step.hpp"
#include "sim/cpu/program_actions.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::testing_cpu {
namespace {

cpu::CpuStep play_toy(const models::Inputs& inputs, bool timeline = false) {
    return cpu::play_on_cpus(inputs, prepare_step(inputs, testing_steps::plain_options()), timeline);
}

/// Seconds alone of what rank 0 does in a step.
double work_of_first_rank(const models::Inputs& inputs) {
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    cpu::ProgramActions rows(inputs, step);
    double seconds = 0;
    for (cpu::OperationActions row; rows.next(0, row); row = {}) {
        for (const cpu::RankAction& action : row.actions) {
            seconds += action.work.seconds;
        }
    }
    return seconds;
}

/// Every kernel call of rank 0 in a step, one after another.
template <typename Visit>
void for_all_calls(const models::Inputs& inputs, const predict::SimulatedStep& step, const Visit& visit) {
    std::ranges::for_each(schedule::step_start_calls(inputs.workload, step.plan, step.layout, 0), visit);
    for (const schedule::BlockUse& use : step.program.roles[0].order) {
        for (const schedule::Operation& op : step.program.operations_of(step.program.blocks[use.block])) {
            const schedule::OperationCalls calls =
                kernel_calls(inputs.workload, step.plan, inputs.stack, step.layout, 0, op);
            std::ranges::for_each(calls.before, visit);
            std::ranges::for_each(calls.after, visit);
        }
    }
}

TEST(CpuStep, one_rank_takes_the_sum_of_its_calls) {
    // Nothing is shared, sent or missed: no other rank, no message, a cache for everything.
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    inputs.plan.dp = 1;
    inputs.machine.cpu.cache_bytes = 1e30;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    double seconds = 0;
    for_all_calls(inputs, step, [&](const models::CpuCall& call) {
        seconds += cpu_seconds(inputs.machine.cpu, call, schedule::cpu_precision(step.plan)) * call.repeat;
    });
    EXPECT_NEAR(to_seconds(play_toy(inputs).step) / seconds, 1, 1e-6);
}

TEST(CpuStep, four_ranks_on_two_cores_without_messages_take_twice_as_long) {
    models::Machine machine = bare_machine();
    give_laws(machine.cpu, 1e-6, 1e-11);
    const models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", machine);
    const double alone = work_of_first_rank(inputs);
    EXPECT_NEAR(to_seconds(play_toy(inputs).step) / (2 * alone), 1, 0.01);
    machine.cpu.cores = 4;
    EXPECT_NEAR(to_seconds(play_toy(toy_inputs("toy-dp4", "toy-dense", machine)).step) / alone, 1, 0.001);
}

TEST(CpuStep, far_bytes_that_no_cache_holds_come_from_memory) {
    // One rank, no messages: 40 ps more for every far byte of every call. A cache for all costs nothing.
    models::Machine machine = bare_machine();
    give_laws(machine.cpu, 1e-6, 1e-11);
    for (auto& laws : machine.cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : laws) {
            cost.miss_byte_s = 40e-12;
        }
    }
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", machine);
    inputs.plan.dp = 1;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    double far_bytes = 0;
    for_all_calls(inputs, step, [&](const models::CpuCall& call) { far_bytes += call.cold_bytes * call.repeat; });
    const Picoseconds cached = play_toy(inputs).step;
    inputs.machine.cpu.cache_bytes = 1;
    EXPECT_GT(far_bytes, 0);
    EXPECT_NEAR(to_seconds(play_toy(inputs).step - cached), 40e-12 * far_bytes, 1e-9);
}

/// A cache of 1 byte holds nothing of any working set: all bytes of a message go to memory, and those of the optimizer,
/// gradients and parameters, come from there too.
TEST(CpuStep, bytes_of_a_message_go_through_memory_once_in_the_passes_and_twice_in_the_optimizer) {
    models::Inputs inputs = toy_inputs("toy-pp2-dp2", "toy-dense", plausible_machine());
    inputs.machine.cpu.cache_bytes = 1;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    cpu::ProgramActions rows(inputs, step);
    int in_passes = 0, in_optimizer = 0;
    for (cpu::OperationActions row; rows.next(0, row); row = {}) {
        for (const cpu::RankAction& action : row.actions) {
            if (action.type != cpu::RankAction::Type::kSend || action.bytes == 0) {
                continue;
            }
            const schedule::Operation& op = step.program.operations[row.operation_index];
            const bool optimizes = op.phase == schedule::Phase::kOptimizer;
            EXPECT_DOUBLE_EQ(action.memory_bytes, (optimizes ? 2 : 1) * action.bytes) << to_string(op.kind);
            ++(optimizes ? in_optimizer : in_passes);
        }
    }
    EXPECT_GE(in_passes, 4) << "an activation of each of 4 micro-batches";
    EXPECT_GE(in_optimizer, 2) << "gradients, and parameters";
}

TEST(CpuStep, same_inputs_give_the_same_step) {
    const models::Inputs inputs = toy_inputs("toy-ep2-dp2", "toy-moe", plausible_machine());
    const cpu::CpuStep first = play_toy(inputs, true), second = play_toy(inputs, true);
    EXPECT_EQ(first.step, second.step);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.losses, second.losses);
    ASSERT_EQ(first.timeline->spans.size(), second.timeline->spans.size());
    for (std::size_t i = 0; i < first.timeline->spans.size(); ++i) {
        const schedule::Span &a = first.timeline->spans[i], &b = second.timeline->spans[i];
        ASSERT_TRUE(a.track == b.track && a.name == b.name && a.start == b.start && a.end == b.end) << i;
    }
}

TEST(CpuStep, a_rank_has_a_span_for_every_operation_of_its_role) {
    const models::Inputs inputs = toy_inputs("toy-pp2-ep2", "toy-moe", plausible_machine());
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    const cpu::CpuStep played = cpu::play_on_cpus(inputs, step, true);
    std::size_t operations = 0;
    for (const schedule::Role& role : step.program.roles) {
        operations += totals_of(step.program, role).operations * static_cast<std::size_t>(step.layout.stage_ranks);
    }
    EXPECT_EQ(played.timeline->spans.size(), operations);
    EXPECT_EQ(played.timeline->tracks.size(), 4 * schedule::kStreamCount);
    EXPECT_EQ(played.timeline->tracks[schedule::kStreamCount].role, "rank 1");
}

/// Buckets of one unit leave while the last backward pass goes on, and have come when the optimizer waits for them;
/// what they cost cores they cost all the same. A span reaches from the beginning to the end, one after another.
TEST(CpuStep, sums_beside_the_backward_pass_hide_behind_it_what_wires_take) {
    models::Machine machine = plausible_machine(1, 1);
    machine.node.nic_bytes_per_s = 1e7;
    machine.cpu.inter_node.eager_bytes = 1e30;
    give_laws(machine.cpu, 1e-4, 1e-11);
    models::Inputs flat = toy_inputs("toy-dp4", "toy-dense", machine);
    flat.stack.bucket_bytes = 1;
    models::Inputs inputs = flat;
    inputs.plan.overlap_dp = true;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    const cpu::CpuStep overlapped = cpu::play_on_cpus(inputs, step, true), behind = play_toy(flat, true);
    EXPECT_LT(overlapped.step, behind.step);
    EXPECT_GT(to_seconds(overlapped.step), cpu::least_step_s(inputs, step));
    std::size_t operations = 0;
    for (const schedule::Role& role : step.program.roles) {
        operations += totals_of(step.program, role).operations * static_cast<std::size_t>(step.layout.stage_ranks);
    }
    EXPECT_EQ(overlapped.timeline->spans.size(), operations);
    Picoseconds end_of_passes = 0, first_sum = overlapped.step;
    for (const schedule::Span& span : overlapped.timeline->spans) {
        const std::string& name = overlapped.timeline->names[span.name];
        end_of_passes = name == "embedding.backward_weight" ? std::max(end_of_passes, span.end) : end_of_passes;
        first_sum = name.starts_with("gradient_reduce_dense") ? std::min(first_sum, span.start) : first_sum;
    }
    EXPECT_LT(first_sum, end_of_passes);
}

TEST(CpuStep, slower_wires_and_spinning_make_a_step_longer) {
    models::Machine machine = plausible_machine(2, 2);
    const Picoseconds fast = play_toy(toy_inputs("toy-dp4", "toy-dense", machine)).step;
    machine.node.nic_bytes_per_s = 1e7;
    EXPECT_GT(play_toy(toy_inputs("toy-dp4", "toy-dense", machine)).step, fast);
    models::Inputs crowded = toy_inputs("toy-pp2-dp2", "toy-dense", plausible_machine(1));
    const Picoseconds yielding = play_toy(crowded).step;
    crowded.stack.waits_by_yielding = false;
    EXPECT_GT(play_toy(crowded).step, yielding);
}

/// What playing the inputs is refused with.
std::string refusal_of(const models::Inputs& inputs) {
    try {
        static_cast<void>(play_toy(inputs));
    } catch (const InputError& error) {
        return error.what();
    }
    return "played";
}

void expect_refused(const models::Inputs& inputs, const std::string& reason) {
    EXPECT_NE(refusal_of(inputs).find(reason), std::string::npos) << refusal_of(inputs);
}

TEST(CpuStep, a_rule_that_the_transport_does_not_know_is_refused) {
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    inputs.stack.all_gather[0].algorithm = models::CollectiveAlgorithm::kBruck;
    expect_refused(inputs, "$.collectives.all_gather[0]");
    inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    inputs.stack.has_processes = false;
    expect_refused(inputs, "$.processes");
    inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    inputs.machine.cpu.kernel_costs[0][static_cast<std::size_t>(models::CpuKernel::kAdamW)].known = false;
    inputs.machine.cpu.kernel_costs[1][static_cast<std::size_t>(models::CpuKernel::kAdamW)].known = false;
    expect_refused(inputs, "adamw");
}

TEST(CpuStep, a_plan_that_the_trainer_has_no_call_for_is_refused_by_what_it_asks_for) {
    const models::Inputs runs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    ASSERT_EQ(refusal_of(runs), "played");
    models::Inputs inputs = runs;
    inputs.plan.overlap_tp = inputs.stack.can_overlap_tp = true;
    expect_refused(inputs, "operation tp_all_reduce: overlap of tp beside compute is not bound");
    inputs = runs;
    inputs.plan.fp8 = models::Fp8::kTensorwise;
    expect_refused(inputs, "operation gate_up_projection: products of 8-bit operands are not bound");
    inputs = runs;
    inputs.plan.optimizer = models::OptimizerSharding::kFsdp;
    inputs.plan.overlap_dp = inputs.stack.can_overlap_dp = true;
    expect_refused(inputs, "operation gradient_reduce_dense: the sum of sharded gradients beside compute is not bound");
    inputs.plan.overlap_dp = false;
    inputs.plan.reshard_ranks = 2;
    expect_refused(inputs, "operation parameter_gather_dense: weights that stay sharded over neighbours");
    inputs = toy_inputs("toy-ep2-dp2", "toy-moe", plausible_machine());
    inputs.workload.head_size = 15;
    expect_refused(inputs, "operation rotary_embedding: head_size 15 is odd: dimensions are turned in pairs");
}

TEST(CpuStep, predict_takes_the_cpu_lens_by_the_machine) {
    const models::Inputs inputs = toy_inputs("toy-tp2-dp2", "toy-dense", plausible_machine());
    predict::PredictOptions options;
    const predict::Prediction p = predict::predict(inputs, options).prediction;
    EXPECT_EQ(p.lens, predict::Lens::kCpu);
    EXPECT_EQ(p.step, play_toy(inputs).step);
    EXPECT_LT(p.step_time_interval_s.low, p.step_time_s);
    EXPECT_GT(p.step_time_interval_s.high, p.step_time_s);
    double kernels = 0;
    for (const predict::ConstantSensitivity& one : p.top_constants) {
        kernels += one.constant.path.starts_with("machine.host.kernels.") ? one.elasticity : 0;
    }
    EXPECT_GT(kernels, 0.3);
    EXPECT_LT(kernels, 1.01);
    EXPECT_FALSE(p.operations_by_time.empty());
    EXPECT_GT(p.memory.peak_bytes, 0);
}

TEST(CpuCollective, a_broadcast_is_refused) {
    EXPECT_THROW((void)cpu::cpu_collective_s(plausible_machine(), testing_plans::stack("auspex"),
                                             schedule::CommKind::kBroadcast, 2, 8),
                 InputError);
}

TEST(CpuCollective, takes_its_messages_and_sums) {
    // Two ranks on two cores, 8e6 bytes: each sends half (1 ns a byte), takes half (2 ns a byte), adds 1e6 elements of
    // two parts (law: 1 us + 1e-9 for each of 2e6 + 1e6 sizes); an all-reduce sends and takes the sums once more.
    models::Machine machine = bare_machine();
    give_laws(machine.cpu, 1e-6, 1e-9);
    machine.cpu.intra_node.send_byte_s = 1e-9;
    machine.cpu.intra_node.receive_byte_s = 2e-9;
    const models::Stack stack = testing_plans::stack("auspex");
    const double exchange = 4e6 * 3e-9, sum = 1e-6 + 3e6 * 1e-9;
    EXPECT_NEAR(cpu::cpu_collective_s(machine, stack, schedule::CommKind::kReduceScatter, 2, 8e6), exchange + sum,
                1e-8);
    EXPECT_NEAR(cpu::cpu_collective_s(machine, stack, schedule::CommKind::kAllReduce, 2, 8e6), 2 * exchange + sum,
                1e-8);
    EXPECT_NEAR(cpu::cpu_collective_s(machine, stack, schedule::CommKind::kAllGather, 2, 8e6), exchange, 1e-8);
    EXPECT_NEAR(cpu::cpu_collective_s(machine, stack, schedule::CommKind::kAllReduce, 2, 4), 4 * 3e-9 + 1e-6 + 3e-9,
                1e-8);
}

}  // namespace
}  // namespace auspex::testing_cpu
