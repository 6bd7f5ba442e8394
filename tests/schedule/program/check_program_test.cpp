/// @file The check of programs: what build_program makes passes, and each planted defect is found and named.
#include <gtest/gtest.h>

#include <stdexcept>

#include "../plan_fixture.hpp"
#include "schedule/inspection/text.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

Program program_of(const Case& c) { return build_program(c.workload, c.plan, c.stack, layout_of(c.plan)); }

Program toy(const std::string& plan_name, const std::string& workload_name) {
    const models::Workload model = workload(workload_name);
    return program_of({model, resolve_plan(plan(plan_name), model, 0), stack("optimus")});
}

std::string defect_of(const Program& program) {
    try {
        check_program(program);
    } catch (const std::logic_error& defect) {
        return defect.what();
    }
    return "none";
}

void expect_defect(const Program& program, const std::string& part) {
    const std::string defect = defect_of(program);
    EXPECT_NE(defect.find(part), std::string::npos) << defect << "\nlacks: " << part;
}

Operation& first_operation(Program& program, OpKind kind) {
    for (Operation& op : program.operations) {
        if (op.kind == kind) {
            return op;
        }
    }
    throw std::out_of_range("the program has no such operation");
}

TEST(CheckProgram, passes_for_every_shipped_plan) {
    for (const auto& [plan_name, workload_name] : shipped()) {
        EXPECT_EQ(defect_of(toy(plan_name, workload_name)), "none") << plan_name;
    }
}

TEST(CheckProgram, passes_for_300_random_plans_with_every_kind_of_overlap) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        EXPECT_EQ(defect_of(program_of(random_case(seed))), "none") << "seed " << seed;
    }
}

TEST(CheckProgram, finds_a_send_that_is_missing) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    Operation& send = first_operation(program, OpKind::kSendForward);
    send.comm = CommKind::kNone;
    send.message = -1;
    expect_defect(program, "forward message over boundary 0 of micro-batch 0: 0 sends and 1 receives");
}

TEST(CheckProgram, finds_a_message_that_is_received_twice) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    for (Block& block : program.blocks) {  // the operation after the receive becomes a second one
        if (block.kind == BlockKind::kBackward && program.operations_of(block)[0].kind == OpKind::kReceiveBackward) {
            Operation& extra = program.operations[block.op_begin + 1];
            extra.kind = OpKind::kReceiveBackward;
            extra.comm = CommKind::kReceive;
            extra.message = program.operations_of(block)[0].message;
            expect_defect(program, "backward message over boundary 0 of micro-batch 0: 1 sends and 2 receives");
            return;
        }
    }
    FAIL() << "no backward block receives";
}

TEST(CheckProgram, finds_an_operation_that_waits_for_a_later_one) {
    Program program = toy("toy-ep2-dp2", "toy-moe");
    for (Operation& op : program.operations) {
        if (op.dep_end > op.dep_begin) {
            program.dependencies[op.dep_begin] = 1'000;
            expect_defect(program, "depends on operation 1000, which does not come before it");
            return;
        }
    }
    FAIL() << "no operation has a dependency";
}

TEST(CheckProgram, finds_world_operations_in_another_order_on_one_stage) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    const Block& block = program.blocks[program.roles[1].order.back().block];
    Operation* barrier = nullptr;
    Operation* reduce = nullptr;
    for (std::uint32_t i = block.op_begin; i < block.op_end; ++i) {
        Operation& op = program.operations[i];
        if (op.kind == OpKind::kBarrier && barrier == nullptr) {
            barrier = &op;
        }
        if (op.kind == OpKind::kGradientNormAllReduce) {
            reduce = &op;
        }
    }
    ASSERT_TRUE(barrier != nullptr && reduce != nullptr);
    std::swap(barrier->kind, reduce->kind);
    std::swap(barrier->comm, reduce->comm);
    std::swap(barrier->bytes, reduce->bytes);
    expect_defect(program, "stage 1 does not run the same world operations as stage 0");
}

TEST(CheckProgram, finds_world_operations_of_another_size_on_one_stage) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    const Block& block = program.blocks[program.roles[1].order.back().block];
    for (std::uint32_t i = block.op_begin; i < block.op_end; ++i) {
        if (program.operations[i].kind == OpKind::kGradientNormAllReduce) {
            program.operations[i].bytes *= 2;
        }
    }
    expect_defect(program, "stage 1 does not run the same world operations as stage 0");
}

TEST(CheckProgram, finds_world_operations_that_carry_something_else_on_one_stage) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    const Block& block = program.blocks[program.roles[1].order.back().block];
    for (std::uint32_t i = block.op_begin; i < block.op_end; ++i) {
        if (program.operations[i].carries == Carries::kLoss) {
            program.operations[i].carries = Carries::kHealth;
        }
    }
    expect_defect(program, "stage 1 does not run the same world operations as stage 0");
}

TEST(CheckProgram, finds_a_pass_that_is_missing_and_one_that_runs_twice) {
    Program missing = toy("toy-dp4", "toy-dense");
    missing.roles[0].order.erase(missing.roles[0].order.begin());
    expect_defect(missing, "stage 0 runs micro-batch 0 of chunk 0 as B, not FB or FIW");
    Program twice = toy("toy-dp4", "toy-dense");
    twice.roles[0].order.push_back(twice.roles[0].order.front());
    expect_defect(twice, "stage 0 runs micro-batch 0 of chunk 0 as FBF, not FB or FIW");
}

TEST(CheckProgram, finds_a_deadlock_between_stages) {
    Program program = toy("toy-pp2-dp2", "toy-dense");
    auto& order = program.roles[0].order;  // stage 0 wants the gradient of a micro-batch that it has not sent
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (program.blocks[order[i].block].kind == BlockKind::kBackward) {
            std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                        order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            break;
        }
    }
    expect_defect(program, "deadlock");
}

}  // namespace
}  // namespace auspex::schedule
