/// @file auspex data blend as people call it, and what reads its file.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

/// Two datasets with one tokenizer, in folders "a" and "b".
class BlendCli : public testing::Test, protected testing_cli::Runner {
 protected:
    BlendCli() {
        for (const char* name : {"a", "b", "blend"}) {
            std::filesystem::remove_all(folder_ + name);
        }
        prepare("--input README.md --tokenizer bpe --vocab-size 300", "a");
        prepare("--input docs/why.md --tokenizer " + folder_ + "a/tokenizer.json", "b");
        blend_ = "data blend --source " + folder_ + "a=0.7 " + folder_ + "b=0.3 --out " + folder_ + "blend ";
    }
    void prepare(const std::string& how, const std::string& name) const {
        const Outcome done = run("data prepare " + how + " --sequence-length 64 --out " + folder_ + name);
        EXPECT_EQ(done.exit_code, 0) << done.error;
    }
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
        EXPECT_FALSE(std::filesystem::exists(folder_ + "blend.partial"));
    }
    std::string blend_;
};

/// With processes.
class BlendRanksCli : public BlendCli {
 protected:
    void SetUp() override {
        if (std::system("command -v mpirun >/dev/null 2>&1") != 0) {
            GTEST_SKIP() << "no mpirun";
        }
    }
};

TEST_F(BlendCli, has_help_with_an_example) {
    const Outcome help = run("data blend --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.out.find("Example:\n  auspex data blend --source"), std::string::npos) << help.out;
}

TEST_F(BlendCli, blends_and_shows_what_it_holds) {
    const Outcome blended = run(blend_ + "--tokens 100001 --json");
    ASSERT_EQ(blended.exit_code, 0) << blended.error;
    const JsonDocument json = JsonDocument::parse(blended.out, "out");
    EXPECT_EQ(json.root().at("sequences").as_integer(0, 10'000), 1563);
    EXPECT_EQ(json.root().at("tokens").as_integer(0, 1'000'000), 1563 * 64);
    std::int64_t sum = 0;
    for (const JsonValue& source : json.root().at("sources").elements()) {
        const std::int64_t sequences = source.at("sequences").as_integer(0, 1563);
        const double share = static_cast<double>(sequences) / 1563;
        EXPECT_NEAR(source.at("share").as_number(0, 1), share, 1e-12);
        EXPECT_NEAR(source.at("share_asked").as_number(0, 1), share, 1.0 / 1563);
        sum += sequences;
    }
    EXPECT_EQ(sum, 1563);
    EXPECT_EQ(run("data show --json --data " + folder_ + "blend").out, blended.out);
    const std::string shown = run("data show --data " + folder_ + "blend").out;
    EXPECT_NE(shown.find("repeats from"), std::string::npos);
    EXPECT_NE(shown.find("checksums"), std::string::npos);
}

TEST_F(BlendCli, wrong_words_are_refused) {
    expect_refused(blend_, {"neither --tokens nor --sequences"});
    expect_refused(blend_ + "--tokens 1k --sequences 5", {"both --tokens and --sequences"});
    expect_refused("data blend --tokens 1k --out x", {"no --source"});
    const std::string out = " --tokens 1k --out " + folder_ + "blend";
    for (const char* weight : {"0", "-1", "nan", "inf", "1e999", "half", ""}) {
        const std::string found = std::string("found \"") + weight + "\"";
        expect_refused("data blend --source " + folder_ + "a=" + weight + out,
                       {"--source", found.c_str(), "a weight above 0"});
    }
    expect_refused("data blend --source " + folder_ + "a" + out, {"--source", "DIR=WEIGHT"});
    expect_refused("data blend --source no/such=1" + out, {"no/such", "no dataset.json"});
    expect_refused("data blend --source no/such=1 -n 2" + out, {"no/such", "no dataset.json"});
    expect_refused(blend_ + "--tokens 0", {"--tokens", "more than zero"});
    expect_refused(blend_ + "--tokens nan", {"--tokens", "\"nan\""});
    expect_refused(blend_ + "--tokens 1.5", {"--tokens", "found 1.5", "whole number"});
    expect_refused(blend_ + "--tokens 9999999T", {"--tokens", "2^53"});
    expect_refused(blend_ + "--sequences 2T", {"--sequences", "found 2000000000000", "at most 1099511627776"});
    expect_refused(blend_ + "--tokens 1k --seed 18446744073709551615", {"--seed", "2^63"});
    expect_refused(blend_ + "--tokens 1k --ranks 0", {"--ranks", "\"0\""});
}

TEST_F(BlendCli, other_merges_are_refused) {
    std::filesystem::remove_all(folder_ + "b");
    prepare("--input docs/why.md --tokenizer bpe --vocab-size 300", "b");
    expect_refused(blend_ + "--tokens 1k", {"--source", "other merges", "--tokenizer FILE"});
    expect_refused("data prepare --input README.md --tokenizer words --out x", {"--tokenizer", "tokenizer.json"});
    expect_refused(
        "data prepare --input README.md --vocab-size 300 --out x --tokenizer " + folder_ + "a/tokenizer.json",
        {"--vocab-size", "which has its tokens"});
}

TEST_F(BlendCli, what_is_there_is_not_written_over) {
    ASSERT_EQ(run(blend_ + "--tokens 1k").exit_code, 0);
    const std::string before = text_of(folder_ + "blend");
    expect_refused(blend_ + "--tokens 2k", {"found something there already"});
    expect_refused(blend_ + "--tokens 2k -n 2", {"found something there already"});
    EXPECT_EQ(text_of(folder_ + "blend"), before);
}

TEST_F(BlendCli, a_full_disk_leaves_nothing) {
    const std::string command = std::string("cd '") + AUSPEX_SOURCE_DIR + "' && ulimit -f 8 && '" + AUSPEX_BINARY +
                                "' " + blend_ + " --sequences 10k 2>'" + folder_ + "error'";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(text_of(folder_ + "error").find("could not be written: File too large"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "blend"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "blend.partial"));
}

TEST_F(BlendCli, a_blend_that_was_cut_short_is_refused) {
    ASSERT_EQ(run(blend_ + "--tokens 100k").exit_code, 0);
    std::filesystem::resize_file(folder_ + "blend", 1000);
    const std::string data = "--data " + folder_ + "blend";
    expect_refused("data show " + data, {"blend: found 1000 bytes", "cut short"});
    expect_refused("train --workload toy-moe --plan toy-pp2-ep2 --steps 1 " + data, {"blend: found 1000 bytes"});
}

// 131,073 sequences are two blocks and one sequence.
TEST_F(BlendRanksCli, processes_write_the_bytes_of_one) {
    ASSERT_EQ(run(blend_ + "--sequences 131073").exit_code, 0);
    const std::string expected = text_of(folder_ + "blend");
    for (const char* ranks : {"2", "3", "5", "8", "16"}) {
        std::filesystem::remove(folder_ + "blend");
        const Outcome outcome = run(blend_ + "--sequences 131073 --ranks " + ranks);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
        EXPECT_EQ(text_of(folder_ + "blend") == expected, true) << ranks << " ranks";
    }
}

TEST_F(BlendRanksCli, the_trainer_reads_it_and_resumes_in_its_middle) {
    ASSERT_EQ(run(blend_ + "--tokens 1920").exit_code, 0);  // 30 sequences, 16 a step
    const auto losses = [&](const std::string& more) {
        const Outcome outcome =
            run("train --workload toy-moe --plan toy-pp2-ep2 --set workload.training.decay_steps=50 --json --data " +
                folder_ + "blend " + more);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        std::vector<double> found;
        if (outcome.exit_code == 0) {
            const JsonDocument document = JsonDocument::parse(outcome.out, "output");
            for (const JsonValue& step : document.root().at("steps").elements()) {
                found.push_back(step.at("loss").as_number(0, 100));
            }
        }
        return found;
    };
    const std::vector<double> whole = losses("--steps 5");
    ASSERT_EQ(whole.size(), 5U);
    const std::string checkpoint = "--checkpoint " + folder_ + "checkpoints ";
    const std::vector<double> begun = losses(checkpoint + "--steps 2");
    const std::vector<double> rest = losses(checkpoint + "--resume --steps 5");
    EXPECT_EQ(begun, std::vector<double>(whole.begin(), whole.begin() + 2));
    EXPECT_EQ(rest, std::vector<double>(whole.begin() + 2, whole.end()));
}

}  // namespace
}  // namespace auspex::cli
