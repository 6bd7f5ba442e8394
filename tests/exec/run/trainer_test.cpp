/// @file Whole runs on threads: the same losses under every plan, resumed runs, replayed routing, injected faults.
#include "exec/run/trainer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "../exec_fixture.hpp"
#include "../file_fixture.hpp"
#include "base/error.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "exec/data/prepare.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

/// With a dataset of bytes in a scratch folder.
class Trainer : public testing::Test {
 protected:
    Trainer() {
        std::ofstream text(folder_ / "text.txt");
        for (int i = 0; i < 800; ++i) {
            text << "sentence " << i * i % 89 << (i % 5 == 0 ? ".\n" : ", ");
        }
        text.close();
        PrepareRequest request;
        request.inputs = {(folder_ / "text.txt").string()};
        request.sequence_length = 6;
        request.folder = (folder_ / "data").string();
        static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
    }

    [[nodiscard]] static RunInputs run_of(const models::Plan& plan) {
        models::Workload workload = exec_fixture::mixture_model();
        workload.vocab_size = 260;
        models::Training training = exec_fixture::still_training();
        training.learning_rate = 1e-3, training.warmup_steps = 2, training.decay_steps = 100, training.clip = 1;
        RunInputs run = exec_fixture::run_inputs(workload, plan, training);
        run.plan.routing.kind = models::RoutingDistribution::kLearned;
        return run;
    }
    [[nodiscard]] RunOptions options_of(int steps) const {
        RunOptions options;
        options.data = (folder_ / "data").string();
        options.steps = steps;
        return options;
    }
    /// What rank 0 reports.
    [[nodiscard]] static RunReport trained(const RunInputs& run, const RunOptions& options) {
        RunReport report;
        run_in_process(run.layout, [&](Communicator& communicator) {
            RunReport own = train(
                run, options, communicator, [](const StepReport&) {}, [](const std::string&) {});
            if (communicator.world_rank() == 0) {
                report = std::move(own);
            }
        });
        return report;
    }
    [[nodiscard]] static std::vector<double> losses(const RunReport& report) {
        std::vector<double> losses;
        for (const StepReport& step : report.steps) {
            losses.push_back(step.loss);
        }
        return losses;
    }

    file_fixture::TestFolder scratch_;
    fs::path folder_ = scratch_.path();
};

/// Four sequences a step, whatever the grid.
models::Plan plan_of(int pp, int dp, int ep, int tp) {
    models::Plan plan = exec_fixture::single_plan();
    plan.pp = pp, plan.dp = dp, plan.ep = ep, plan.tp = tp;
    const int data_parallel = dp * ep;
    plan.micro_batch_size = 1;
    plan.micro_batches = 4 / data_parallel;
    return plan;
}

models::Plan dualpipe_plan() {
    models::Plan plan = plan_of(2, 1, 1, 1);
    plan.schedule = models::ScheduleKind::kDualPipe, plan.virtual_stages = 2;
    return plan;
}

/// Several grids, and everything that a grid may be cut by.
std::vector<models::Plan> layouts() {
    std::vector<models::Plan> plans{plan_of(2, 1, 1, 1), plan_of(1, 2, 1, 1), plan_of(1, 1, 2, 1),
                                    plan_of(1, 1, 1, 2), plan_of(2, 2, 2, 1), plan_of(1, 1, 4, 2)};
    plans[2].dispatch = models::Dispatch::kAllGatherReduceScatter,
    plans[2].expert_kernels = models::ExpertKernels::kLoop;
    plans[3].sequence_parallel = true, plans[3].recompute.expert = true;
    plans[4].optimizer = models::OptimizerSharding::kSharded;
    const auto add_sharded = [&](models::Plan plan, models::OptimizerSharding optimizer, int replicas) {
        plan.optimizer = optimizer;
        plan.shard_replicas = replicas;
        plans.push_back(plan);
    };
    add_sharded(plan_of(1, 4, 1, 1), models::OptimizerSharding::kFsdp, 2);
    add_sharded(plan_of(2, 2, 1, 1), models::OptimizerSharding::kFsdp, 1);
    plans.back().schedule = models::ScheduleKind::kZbH1;
    add_sharded(plan_of(1, 2, 2, 1), models::OptimizerSharding::kFsdp, 1);
    plans.back().reshard_after_forward = false;
    add_sharded(plan_of(1, 2, 2, 2), models::OptimizerSharding::kZero2, 2);
    plans.push_back(dualpipe_plan());
    return plans;
}

constexpr int kSteps = 24;

void expect_losses(const std::vector<double>& found, const std::vector<double>& expected, const models::Plan& plan) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-5 * expected[i])
            << "step " << i << ", pp " << plan.pp << " dp " << plan.dp << " ep " << plan.ep << " tp " << plan.tp;
    }
}

TEST_F(Trainer, every_layout_gives_the_losses_of_one_rank_where_routing_is_forced) {
    const auto trained_by = [&](const models::Plan& plan) {
        RunInputs run = run_of(plan);
        run.plan.routing.kind = models::RoutingDistribution::kUniform;
        return losses(trained(run, options_of(kSteps)));
    };
    const std::vector<double> expected = trained_by(plan_of(1, 1, 1, 1));
    ASSERT_EQ(expected.size(), std::size_t{kSteps});
    EXPECT_LT(expected.back(), expected.front());
    for (const models::Plan& plan : layouts()) {
        expect_losses(trained_by(plan), expected, plan);
    }
}

TEST_F(Trainer, every_layout_gives_the_losses_of_one_rank_where_its_choices_are_replayed) {
    RunOptions options = options_of(kSteps);
    options.record_routing = (folder_ / "routing.json").string();
    const std::vector<double> expected = losses(trained(run_of(plan_of(1, 1, 1, 1)), options));
    const auto record = std::make_shared<models::RoutingRecord>(models::read_routing_record(options.record_routing));
    for (const models::Plan& plan : layouts()) {
        RunInputs run = run_of(plan);
        run.plan.routing.kind = models::RoutingDistribution::kTrace;
        run.plan.routing.trace_file = options.record_routing;
        run.plan.routing.record = record;
        expect_losses(losses(trained(run, options_of(kSteps))), expected, plan);
    }
}

TEST_F(Trainer, a_resumed_run_goes_on_to_the_bit) {
    std::vector<models::Plan> plans{plan_of(2, 1, 2, 1), dualpipe_plan()};
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kZero2, models::OptimizerSharding::kFsdp}) {
        plans.push_back(plan_of(2, 2, 1, 1));
        plans.back().optimizer = optimizer;
        plans.push_back(plan_of(1, 2, 2, 1));
        plans.back().optimizer = optimizer;
        plans.back().shard_replicas = 2;
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const RunInputs run = run_of(plans[i]);
        const std::vector<double> whole = losses(trained(run, options_of(5)));
        RunOptions options = options_of(3);
        options.checkpoint_folder = (folder_ / ("checkpoints-" + std::to_string(i))).string();
        static_cast<void>(trained(run, options));
        EXPECT_THROW(static_cast<void>(trained(run, options)), InputError);
        options.steps = 5;
        options.resume = true;
        const RunReport rest = trained(run, options);
        EXPECT_EQ(rest.first_step, 3);
        EXPECT_EQ(losses(rest), std::vector<double>(whole.begin() + 3, whole.end()));
    }
}

TEST_F(Trainer, tied_embeddings_on_two_stages_go_on_from_a_checkpoint_on_one) {
    const auto tied = [](int pp, int tp) {
        models::Plan plan = plan_of(pp, pp == 2 ? 2 : 1, 1, tp);
        plan.optimizer = models::OptimizerSharding::kSharded;
        RunInputs run = run_of(plan);
        run.workload.tied_embeddings = true;
        run.plan.routing.kind = models::RoutingDistribution::kUniform;
        run.program = schedule::build_program(run.workload, run.plan, run.stack, run.layout);
        return run;
    };
    const std::vector<double> expected = losses(trained(tied(1, 1), options_of(6)));
    for (const auto& [first, second] : {std::pair(2, 1), std::pair(1, 2)}) {
        RunOptions options = options_of(3);
        options.checkpoint_folder = (folder_ / ("checkpoints-" + std::to_string(first))).string();
        expect_losses(losses(trained(tied(first, 1), options)), {expected.begin(), expected.begin() + 3},
                      plan_of(first, 1, 1, 1));
        options.resume = true;
        options.steps = 6;
        expect_losses(losses(trained(tied(second, 2), options)), {expected.begin() + 3, expected.end()},
                      plan_of(second, 1, 1, 2));
    }
}

TEST_F(Trainer, another_batch_goes_on_at_the_next_row) {
    // Weights stay as they are, so that a step's loss says which rows it read.
    const auto still = [](int micro_batches) {
        models::Plan plan = plan_of(1, 1, 1, 1);
        plan.micro_batches = micro_batches;
        RunInputs run = run_of(plan);
        run.training = exec_fixture::still_training();
        return run;
    };
    const std::vector<double> by_two = losses(trained(still(2), options_of(8)));
    RunOptions options = options_of(3);
    options.checkpoint_folder = (folder_ / "checkpoints").string();
    static_cast<void>(trained(still(4), options));  // rows 0 to 11
    options.resume = true;
    options.steps = 5;
    const RunReport report = trained(still(2), options);
    EXPECT_EQ(losses(report), (std::vector<double>{by_two.at(6), by_two.at(7)}));  // rows 12 to 15
    EXPECT_NE(report.notes.back().find("global_batch 4, now 2"), std::string::npos) << report.notes.back();
    EXPECT_EQ(load_manifest(options.checkpoint_folder + "/checkpoint-1/manifest.json").sequences, 16);
}

TEST_F(Trainer, a_resumed_run_refuses_another_model_and_notes_other_settings) {
    RunInputs run = run_of(plan_of(1, 1, 1, 1));
    RunOptions options = options_of(1);
    options.checkpoint_folder = (folder_ / "checkpoints").string();
    static_cast<void>(trained(run, options));
    options.resume = true;
    EXPECT_EQ(trained(run, options).notes.size(), 1U);  // only where it goes on from
    run.training.rope_theta = 500;
    EXPECT_THROW(static_cast<void>(trained(run, options)), InputError);
    run.training.rope_theta = 10000;
    run.training.learning_rate = 2e-2, run.seed = 5;
    const RunReport report = trained(run, options);
    EXPECT_TRUE(report.notes.back().ends_with("learning_rate 0.001, now 0.02; seed 1, now 5")) << report.notes.back();
}

TEST_F(Trainer, a_changed_byte_of_the_data_is_found_on_every_rank) {
    std::fstream shard(folder_ / "data" / "shard-00000.bin", std::ios::binary | std::ios::in | std::ios::out);
    shard.put('x');
    shard.put('\0');
    shard.close();
    const RunInputs run = run_of(plan_of(2, 1, 1, 1));
    const RunOptions options = options_of(1);
    run_in_process(run.layout, [&](Communicator& communicator) {
        EXPECT_THROW(static_cast<void>(train(
                         run, options, communicator, [](const StepReport&) {}, [](const std::string&) {})),
                     InputError);
    });
}

TEST_F(Trainer, recorded_routing_replays_to_the_bit) {
    RunInputs run = run_of(plan_of(2, 1, 2, 1));
    RunOptions options = options_of(2);
    options.record_routing = (folder_ / "routing.json").string();
    const std::vector<double> recorded = losses(trained(run, options));
    const auto record = std::make_shared<models::RoutingRecord>(models::read_routing_record(options.record_routing));
    EXPECT_EQ(record->layers, 2);
    EXPECT_EQ(record->tokens, 4 * 6);
    run.plan.routing.kind = models::RoutingDistribution::kTrace;
    run.plan.routing.trace_file = options.record_routing;
    run.plan.routing.record = record;
    EXPECT_EQ(losses(trained(run, options_of(2))), recorded);
    EXPECT_THROW(static_cast<void>(trained(run, options_of(3))), InputError);
}

/// The number is in the middle of a pass: from there it gets to every rank.
TEST_F(Trainer, an_activation_that_is_not_a_number_names_step_and_rank) {
    for (int rank = 0; rank < 4; ++rank) {
        RunOptions options = options_of(3);
        options.fault = InjectedFault{InjectedFault::Kind::kNan, rank, 1};
        try {
            static_cast<void>(trained(run_of(plan_of(2, 1, 2, 1)), options));
            ADD_FAILURE() << "nothing was thrown";
        } catch (const SoftFailure& failure) {
            EXPECT_EQ(failure.step, 1);
            EXPECT_EQ(failure.ranks, std::vector<int>{rank});
        }
    }
}

TEST_F(Trainer, reports_cover_all_ranks) {
    RunOptions options = options_of(2);
    options.wants_trace = true;
    const RunReport report = trained(run_of(plan_of(2, 1, 2, 1)), options);
    ASSERT_EQ(report.ranks.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(report.ranks[i].rank, static_cast<int>(i));
        EXPECT_GT(report.ranks[i].peaks[static_cast<std::size_t>(schedule::MemoryLabel::kActivations)], 0U);
        EXPECT_GT(report.ranks[i].counts.at(static_cast<std::size_t>(schedule::OpKind::kAttention)).operations, 0U);
    }
    ASSERT_EQ(report.timeline.tracks.size(), 4 * schedule::kStreamCount);
    EXPECT_EQ(report.timeline.tracks.back().role, "rank 3");
    EXPECT_EQ(report.timeline.spans.back().track / schedule::kStreamCount, 3U);
}

TEST_F(Trainer, data_of_another_shape_is_refused) {
    RunInputs run = run_of(plan_of(1, 1, 1, 1));
    run.workload.vocab_size = 100;
    EXPECT_THROW(static_cast<void>(trained(run, options_of(1))), InputError);
    run = run_of(plan_of(1, 1, 1, 1));
    run.workload.sequence_length = 12;
    EXPECT_THROW(static_cast<void>(trained(run, options_of(1))), InputError);
}

}  // namespace
}  // namespace auspex::exec
