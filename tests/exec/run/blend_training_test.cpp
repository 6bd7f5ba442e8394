/// @file Training runs that read a blend: resumed in the middle of it, on another grid, and told when it is another.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../exec_fixture.hpp"
#include "../file_fixture.hpp"
#include "base/error.hpp"
#include "exec/blend/build_blend.hpp"
#include "exec/data/prepare.hpp"
#include "exec/run/trainer.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

/// With a blend of two datasets of bytes, the smaller of which is repeated within six steps.
class BlendTraining : public testing::Test {
 protected:
    BlendTraining() {
        BlendRequest request;
        request.sources = {{prepared("large", 500), 0.5}, {prepared("small", 6), 0.5}};
        request.sequences = 21;
        request.file = (folder_ / "a.blend").string();
        repeats_from_ = build_blend(request, [](std::size_t, std::size_t) {}).sources[1].repeats_from;
    }

    [[nodiscard]] std::string prepared(const std::string& name, int sentences) const {
        std::ofstream text(folder_ / (name + ".txt"));
        for (int i = 0; i < sentences; ++i) {
            text << name << " sentence " << i * i % 89 << ", ";
        }
        text.close();
        PrepareRequest request;
        request.inputs = {(folder_ / (name + ".txt")).string()};
        request.sequence_length = 20;
        request.folder = (folder_ / name).string();
        static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
        return request.folder;
    }
    /// Four sequences a step.
    [[nodiscard]] static RunInputs run_of(int pp, int dp) {
        models::Workload workload = exec_fixture::mixture_model();
        workload.vocab_size = 260, workload.sequence_length = 20;
        models::Plan plan = exec_fixture::single_plan();
        plan.pp = pp, plan.dp = dp, plan.micro_batch_size = 1, plan.micro_batches = 4 / dp;
        models::Training training = exec_fixture::still_training();
        training.learning_rate = 1e-3, training.decay_steps = 100;
        RunInputs run = exec_fixture::run_inputs(workload, plan, training);
        run.plan.routing.kind = models::RoutingDistribution::kUniform;
        return run;
    }
    [[nodiscard]] RunOptions options_of(int steps) const {
        RunOptions options;
        options.data = (folder_ / "a.blend").string();
        options.steps = steps;
        return options;
    }
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
    std::int64_t repeats_from_ = -1;
};

// Seven steps of four: beyond the end of the source that is repeated, and beyond the blend's own after 21.
TEST_F(BlendTraining, resumed_in_the_middle_goes_on_to_the_bit) {
    EXPECT_GT(repeats_from_, 0);
    EXPECT_LT(repeats_from_, 21);
    for (const auto& [pp, dp] : {std::pair(1, 1), std::pair(2, 2), std::pair(1, 4)}) {
        const RunInputs run = run_of(pp, dp);
        const std::vector<double> whole = losses(trained(run, options_of(7)));
        ASSERT_EQ(whole.size(), 7U);
        for (const int middle : {2, 5}) {
            RunOptions options = options_of(middle);
            options.checkpoint_folder =
                (folder_ / ("checkpoints-" + std::to_string(10 * pp + dp) + std::to_string(middle))).string();
            static_cast<void>(trained(run, options));
            options.steps = 7, options.resume = true;
            const RunReport rest = trained(run, options);
            EXPECT_EQ(losses(rest), std::vector<double>(whole.begin() + middle, whole.end()));
            EXPECT_EQ(rest.notes.size(), 1U) << "the blend is the one that the checkpoint knows";
        }
    }
}

TEST_F(BlendTraining, goes_on_with_another_dp) {
    const std::vector<double> whole = losses(trained(run_of(1, 1), options_of(6)));
    RunOptions options = options_of(2);
    options.checkpoint_folder = (folder_ / "checkpoints").string();
    std::vector<double> found = losses(trained(run_of(1, 2), options));
    options.resume = true;
    for (const auto& [steps, dp] : {std::pair(4, 4), std::pair(6, 1)}) {
        options.steps = steps;
        const std::vector<double> rest = losses(trained(run_of(1, dp), options));
        found.insert(found.end(), rest.begin(), rest.end());
    }
    ASSERT_EQ(found.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(found[i], whole[i], 1e-5 * whole[i]) << "step " << i;
    }
}

TEST_F(BlendTraining, says_where_the_blend_is_another) {
    RunOptions options = options_of(1);
    options.checkpoint_folder = (folder_ / "checkpoints").string();
    static_cast<void>(trained(run_of(1, 1), options));
    BlendRequest request;
    request.sources = {{(folder_ / "large").string(), 0.4}, {(folder_ / "small").string(), 0.6}};
    request.sequences = 21;
    request.file = options.data = (folder_ / "b.blend").string();
    build_blend(request, [](std::size_t, std::size_t) {});
    options.resume = true, options.steps = 2;
    const RunReport report = trained(run_of(1, 1), options);
    EXPECT_NE(report.notes.back().find("dataset "), std::string::npos) << report.notes.back();
}

TEST_F(BlendTraining, a_damaged_blend_is_found_on_every_rank) {
    std::fstream blend(folder_ / "a.blend", std::ios::binary | std::ios::in | std::ios::out);
    blend.seekp(40);
    blend.put('x');
    blend.close();
    const RunInputs run = run_of(2, 1);
    const RunOptions options = options_of(1);
    run_in_process(run.layout, [&](Communicator& communicator) {
        EXPECT_THROW(static_cast<void>(train(
                         run, options, communicator, [](const StepReport&) {}, [](const std::string&) {})),
                     InputError);
    });
}

}  // namespace
}  // namespace auspex::exec
