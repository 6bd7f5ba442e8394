/// @file auspex train: what is refused before anything starts, and small runs under mpirun.
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

const std::string kToy = "train --workload toy-moe --plan toy-pp2-ep2 --steps 3 ";

class TrainCli : public testing::Test, protected testing_cli::Runner {
 protected:
    /// A dataset of the sequences and vocabulary of the toy workloads.
    TrainCli() {
        std::string text;
        for (int i = 0; i < 4000; ++i) {
            text += "the " + std::to_string(i * i % 97) + (i % 7 == 0 ? ".\n" : " ");
        }
        const Outcome prepared =
            run("data prepare --input " + write("text.txt", text) + " --sequence-length 64 --out " + folder_ + "data");
        EXPECT_EQ(prepared.exit_code, 0) << prepared.error;
        data_ = "--data " + folder_ + "data ";
    }
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
    [[nodiscard]] static bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

    /// Losses by step of a run with --json, or none if it failed.
    [[nodiscard]] std::vector<double> losses(const std::string& arguments) const {
        const Outcome outcome = run(arguments + " --json");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        std::vector<double> losses;
        if (outcome.exit_code == 0) {
            const JsonDocument document = JsonDocument::parse(outcome.out, "output");
            for (const JsonValue& step : document.root().at("steps").elements()) {
                losses.push_back(step.at("loss").as_number(0, 100));
            }
        }
        return losses;
    }

    std::string data_;
};

TEST_F(TrainCli, ranks_that_the_plan_does_not_need_are_refused) {
    expect_refused(kToy + data_ + "-n 3", {"-n", "found 3", "expected 4", "pp 2", "ep 2"});
    expect_refused(kToy + data_ + "-n 8", {"-n", "found 8", "expected 4"});
    expect_refused(kToy + data_ + "-n 0", {"--ranks", "\"0\""});
    expect_refused(kToy + data_ + "-n 6 --set plan.dp=0", {"-n", "found 6", "multiple of 4"});
}

TEST_F(TrainCli, what_cannot_be_run_is_refused_before_it_starts) {
    expect_refused(kToy, {"no --data"});
    expect_refused(kToy + "--data /no/such", {"/no/such"});
    expect_refused(kToy + data_ + "--set workload.sequence_length=32", {"--data", "64", "32"});
    expect_refused(kToy + data_ + "--set workload.vocab_size=64", {"--data", "vocabulary", "64"});
    expect_refused("train --workload toy-moe --plan nope --steps 1 " + data_, {"--plan nope", "toy-pp2-ep2"});
    expect_refused(kToy + data_ + "--set plan.optimizer=fsdp", {"plan"});
    expect_refused(kToy + data_ + "--set machine.node=1", {"machine", "stack, workload, plan"});
}

TEST_F(TrainCli, flags_that_mean_nothing_alone_are_refused) {
    expect_refused(kToy + data_ + "--resume", {"--resume", "--checkpoint"});
    expect_refused(kToy + data_ + "--supervise", {"--supervise", "--checkpoint"});
    expect_refused(kToy + data_ + "--buffer-ranks 1", {"--buffer-ranks", "--supervise"});
    expect_refused(kToy + data_ + "--inject nan:rank=1", {"--inject", "kill:rank=1,step=5"});
    expect_refused(kToy + data_ + "--inject nan:rank=4,step=1", {"--inject", "rank 4"});
    expect_refused(kToy + data_ + "--plot /no/such/x.svg", {"--plot", "/no/such"});
    expect_refused(kToy + data_ + "--hang-timeout never", {"--hang-timeout", "never"});
}

TEST_F(TrainCli, a_small_run_prints_steps_and_writes_what_was_asked_for) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome = run(kToy + data_ + "-n 4 --trace " + folder_ + "trace.json --plot " + folder_ + "loss.svg");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "");
    for (const char* text : {"step 0  loss 6.", "step 2  loss 5.", "3 steps: loss", "tokens/s", "activations"}) {
        EXPECT_NE(outcome.out.find(text), std::string::npos) << outcome.out;
    }
    EXPECT_NE(text_of(folder_ + "trace.json").find("rank 3"), std::string::npos);
    EXPECT_NE(text_of(folder_ + "loss.svg").find("<svg"), std::string::npos);
}

// A run that lost a rank and went on from its checkpoint ends with the losses of one that lost none.
TEST_F(TrainCli, a_supervised_run_goes_on_without_the_rank_that_died) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string toy = "train --workload toy-moe --plan toy-pp2-ep2 --steps 6 " + data_;
    const std::vector<double> expected = losses(toy);
    ASSERT_EQ(expected.size(), 6U);
    const std::string supervised = "--supervise --buffer-ranks 1 --checkpoint-every 2 ";
    EXPECT_EQ(losses(toy + supervised + "--inject kill:rank=2,step=3 --checkpoint " + folder_ + "killed"), expected);
    EXPECT_EQ(losses(toy + supervised + "--inject nan:rank=1,step=3 --checkpoint " + folder_ + "nan"), expected);
    const Outcome alone = run(toy + "--supervise --inject kill:rank=2,step=3 --checkpoint " + folder_ + "alone");
    EXPECT_EQ(alone.exit_code, 1);
    EXPECT_NE(alone.error.find("auspex: failed: rank 2 died (signal 9) on slot 2 in step 3; fewer healthy slots"),
              std::string::npos)
        << alone.error;
}

TEST_F(TrainCli, a_failed_run_says_how_to_go_on) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome =
        run(kToy + data_ + "--inject nan:rank=1,step=2 --checkpoint-every 1 --checkpoint " + folder_ + "saved");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.error.find("not finite"), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("--resume goes on from the checkpoint after 2 steps"), std::string::npos)
        << outcome.error;
}

}  // namespace
}  // namespace auspex
