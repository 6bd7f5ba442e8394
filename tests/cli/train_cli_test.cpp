/// @file auspex train: what is refused before anything starts, and small runs under mpirun.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cmath>
#include <filesystem>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
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
    expect_refused(kToy + data_ + "--set plan.dispatch=hierarchical-alltoall",
                   {"the trainer does not run this: operation token_communication",
                    "(auspex program --check-executor lists all)"});
    expect_refused(kToy + data_ + "--set machine.node=1", {"machine", "stack, workload, plan"});
}

TEST_F(TrainCli, flags_that_mean_nothing_alone_are_refused) {
    expect_refused(kToy + data_ + "--resume", {"--resume", "--checkpoint"});
    expect_refused(kToy + data_ + "--supervise", {"--supervise", "--checkpoint"});
    expect_refused(kToy + data_ + "--buffer-ranks 1", {"--buffer-ranks", "--supervise"});
    expect_refused(kToy + data_ + "--inject nan:rank=1", {"--inject", "kill:rank=1,step=5"});
    expect_refused(kToy + data_ + "--inject nan:rank=4,step=1", {"--inject", "rank 4"});
    expect_refused(kToy + data_ + "--inject kill:rank=1,step=3", {"--inject", "step 3", "before 3", "--steps"});
    expect_refused(kToy + data_ + "--plot x.png", {"--plot x.png", ".svg"});
    expect_refused(kToy + data_ + "--plot /no/such/x.svg", {"--plot", "/no/such"});
    expect_refused(kToy + data_ + "--hang-timeout never", {"--hang-timeout", "never"});
    expect_refused(kToy + data_ + "--hostfile /no/such", {"--hostfile /no/such"});
}

TEST_F(TrainCli, checkpoints_go_to_a_folder_that_can_be_written_to_and_that_no_other_run_uses) {
    const std::string file = write("file", "x");
    expect_refused(kToy + data_ + "--checkpoint " + file, {"--checkpoint", "found a file"});
    expect_refused(kToy + data_ + "--checkpoint " + file + "/x", {"file/x", "Not a directory"});
    const std::string used = folder_ + "used", of_the_other = used + "/auspex-run-other";
    std::filesystem::create_directories(of_the_other);
    const int lock = open((used + "/.auspex-lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    expect_refused(kToy + data_ + "--checkpoint " + used, {"--checkpoint", "another command that writes there"});
    EXPECT_TRUE(std::filesystem::exists(of_the_other));
    close(lock);
}

// Where a launcher has started the ranks, flags that are for starting them mean nothing.
TEST_F(TrainCli, flags_for_mpirun_are_refused_in_a_rank) {
    const auto refused_with = [&](const char* variable, const std::string& flag) {
        setenv(variable, "0", 1);
        expect_refused(kToy + data_ + flag, {flag.substr(0, flag.find('=')).c_str(), "MPI launcher"});
        unsetenv(variable);
    };
    refused_with("OMPI_COMM_WORLD_RANK", "--hang-timeout=1");
    refused_with("PMIX_RANK", "--mpirun=x");
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    refused_with("SLURM_PROCID", "--supervise");
    unsetenv("SLURM_STEP_NUM_TASKS");
}

TEST_F(TrainCli, a_named_pipe_is_no_weights_file) {
    const std::string pipe = folder_ + "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_refused(kToy + data_ + "--weights " + pipe, {"pipe", "no regular file"});
}

TEST_F(TrainCli, a_small_run_prints_steps_and_writes_what_was_asked_for) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome = run(kToy + data_ + "-n 4 --trace " + folder_ + "trace.json --plot " + folder_ + "loss.svg");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "");
    for (const char* text : {"step 0  loss 6.", "step 2  loss ", "3 steps: loss", "tokens/s after the first step",
                             "activations", "trace written to ", "plot written to "}) {
        EXPECT_NE(outcome.out.find(text), std::string::npos) << outcome.out;
    }
    EXPECT_NE(text_of(folder_ + "trace.json").find("rank 3"), std::string::npos);
    EXPECT_NE(text_of(folder_ + "loss.svg").find("<svg"), std::string::npos);
}

TEST_F(TrainCli, weights_of_no_step_are_confirmed) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string file = folder_ + "initial.safetensors";
    const Outcome outcome =
        run("train --workload toy-moe --plan toy-pp2-ep2 --steps 0 --export-weights " + file + " " + data_);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, "weights written to " + file + "\n");
}

// Routing learned, recorded, and replayed as the run says: the same losses. A relative name in --set is one of the
// working directory, which is the repository here, and not of the plan's folder.
TEST_F(TrainCli, recorded_routing_is_replayed_from_the_working_directory) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string file = (std::filesystem::relative(folder_, AUSPEX_SOURCE_DIR) / "routing.json").string();
    const Outcome recorded = run(kToy + data_ + "--record-routing " + file);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.error;
    const std::string head = "  to replay it, add: ";
    const std::size_t at = recorded.out.find(head);
    ASSERT_NE(at, std::string::npos) << recorded.out;
    const std::size_t begin = at + head.size();
    const std::string flag = recorded.out.substr(begin, recorded.out.find('\n', begin) - begin);
    EXPECT_EQ(flag, "--set 'plan.routing={\"trace\":\"" + file + "\"}'");
    EXPECT_EQ(losses(kToy + data_ + flag), losses(kToy + data_));
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

TEST_F(TrainCli, a_run_whose_output_is_lost_fails_and_one_that_is_past_its_steps_is_refused) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string saved = data_ + "--checkpoint " + folder_ + "saved ";
    const std::string command = std::string("cd '") + AUSPEX_SOURCE_DIR + "' && '" + AUSPEX_BINARY + "' " + kToy +
                                saved + "--json >/dev/full 2>'" + folder_ + "error'";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    EXPECT_EQ(text_of(folder_ + "error"), "auspex: failed: the output could not be written\n");
    expect_refused("train --workload toy-moe --plan toy-pp2-ep2 --steps 2 --resume " + saved,
                   {"--steps", "found 2", "after 3 steps"});
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

// Weights that are not finite fail in the same step on any slot: that is said, and not tried again and again.
TEST_F(TrainCli, a_run_that_diverges_is_not_blamed_on_slots) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string file = folder_ + "weights.safetensors";
    ASSERT_EQ(
        run("train --workload toy-moe --plan toy-pp2-ep2 --steps 0 --export-weights " + file + " " + data_).exit_code,
        0);
    std::string bytes = text_of(file);
    const std::string digest = "data_sha256", nan("\0\0\xc0\x7f", 4);
    ASSERT_NE(bytes.find(digest), std::string::npos);
    bytes.replace(bytes.find(digest), digest.size(), "made_by_who");
    bytes.replace(bytes.size() - nan.size(), nan.size(), nan);
    const std::string broken = write("broken.safetensors", bytes);
    const Outcome outcome = run(kToy + data_ + "--weights " + broken + " --supervise --buffer-ranks 4 --checkpoint " +
                                folder_ + "diverged");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.error.find("; step 0 fails on whatever slots: the run diverges there"), std::string::npos)
        << outcome.error;
    EXPECT_EQ(outcome.error.find("relaunching"), outcome.error.rfind("relaunching")) << outcome.error;
}

// A run whose launcher was killed leaves its folder behind; the next one removes it.
TEST_F(TrainCli, what_a_killed_launcher_left_is_removed) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string saved = folder_ + "saved";
    std::filesystem::create_directories(saved + "/auspex-run-left");
    std::ofstream(saved + "/auspex-run-left/rank-0") << "1 2 host\n";
    EXPECT_EQ(run(kToy + data_ + "--checkpoint " + saved).exit_code, 0);
    for (const auto& entry : std::filesystem::directory_iterator(saved)) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("auspex-run-")) << entry.path();
    }
}

// mpirun puts ranks where it likes among the lines of a hostfile; ranks say where they are.
TEST_F(TrainCli, a_line_of_the_host_of_the_rank_is_left_out) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const std::string hosts = write("hosts", "localhost\nlocalhost\nlocalhost\nlocalhost\n# spare\nlocalhost\n");
    const Outcome outcome = run(kToy + data_ + "--supervise --buffer-ranks 1 --inject kill:rank=3,step=1 --hostfile " +
                                hosts + " --checkpoint " + folder_ + "hosts-saved");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_NE(outcome.error.find("rank 3 died (signal 9) on slot 0 in step 1; relaunching on slots 1,2,3,4"),
              std::string::npos)
        << outcome.error;
}

}  // namespace
}  // namespace auspex::cli
