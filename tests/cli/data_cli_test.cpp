/// @file auspex data as people call it.
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class DataCli : public testing::Test, protected testing_cli::Runner {
 protected:
    DataCli() : data_(folder_ + "data") { std::filesystem::remove_all(data_); }

    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
    std::string data_;
};

TEST_F(DataCli, every_verb_has_help_with_an_example) {
    for (const char* verb : {"prepare", "show", "export-megatron"}) {
        const Outcome help = run("data " + std::string(verb) + " --help");
        EXPECT_EQ(help.exit_code, 0);
        EXPECT_NE(help.out.find("Example:\n  auspex data " + std::string(verb)), std::string::npos) << help.out;
        EXPECT_NE(run("--help").out.find("data " + std::string(verb)), std::string::npos);
    }
}

TEST_F(DataCli, data_alone_lists_its_verbs) {
    const Outcome help = run("data --help");
    EXPECT_EQ(help.exit_code, 0) << help.error;
    for (const char* verb : {"data prepare", "data show", "data export-megatron"}) {
        EXPECT_NE(help.out.find(verb), std::string::npos) << help.out;
    }
    EXPECT_EQ(help.out.find("predict"), std::string::npos) << help.out;
    EXPECT_EQ(run("data").error.find("predict"), std::string::npos);
}

TEST_F(DataCli, prepares_shows_and_exports) {
    const std::string prepare =
        "data prepare --input README.md docs/physics.md --tokenizer bpe --vocab-size 300 "
        "--sequence-length 32 --seed 5 --json --out ";
    const Outcome prepared = run(prepare + data_);
    ASSERT_EQ(prepared.exit_code, 0) << prepared.error;
    const JsonDocument json = JsonDocument::parse(prepared.out, "out");
    EXPECT_EQ(json.root().at("vocabulary").as_integer(0, 1000), 300);
    EXPECT_EQ(json.root().at("documents").as_integer(0, 1000), 2);
    EXPECT_EQ(
        json.root().at("tokens").as_integer(0, 1'000'000),
        json.root().at("rows").as_integer(0, 1'000'000) * 33 + json.root().at("dropped_tokens").as_integer(0, 32));
    EXPECT_EQ(run("data show --json --data " + data_).out, prepared.out);
    EXPECT_NE(run("data show --data " + data_).out.find("shuffled with seed 5"), std::string::npos);
    const std::string prefix = data_ + "/m";
    EXPECT_EQ(run("data export-megatron --data " + data_ + " --out " + prefix).exit_code, 0);
    EXPECT_EQ(run("data prepare --megatron " + prefix + " --vocab-size 300 --sequence-length 32 --out " + data_ + "2")
                  .exit_code,
              0);
    expect_refused(prepare + data_, {"a dataset there already"});
}

TEST_F(DataCli, wrong_words_are_refused) {
    const std::string prepare = "data prepare --out " + data_ + " ";
    expect_refused("data", {"\"data\"", "data prepare", "data show"});
    expect_refused("data prapare", {"data prepare"});
    expect_refused(prepare, {"neither --input nor --megatron"});
    expect_refused(prepare + "--input README.md --megatron x", {"both --input and --megatron"});
    expect_refused(prepare + "--input README.md --tokenizer bpe", {"no --vocab-size"});
    expect_refused(prepare + "--input README.md --tokenizer bpe --vocab-size 257", {"--vocab-size", "257"});
    expect_refused(prepare + "--input README.md --vocab-size 300", {"--vocab-size"});
    expect_refused(prepare + "--input README.md --tokenizer words", {"--tokenizer", "words"});
    expect_refused(prepare + "--input README.md --sequence-length 0", {"--sequence-length"});
    expect_refused(prepare + "--input README.md --seed 18446744073709551615", {"--seed"});
    expect_refused(prepare + "--input no/such.txt", {"no/such.txt"});
    expect_refused(prepare + "--megatron x --vocab-size 300 --tokenizer bpe", {"--tokenizer"});
    expect_refused("data show --data " + folder_, {"no dataset.json"});
    expect_refused("data show --data " + std::string(300, 'a'), {"no dataset.json"});
}

// A named pipe that nobody writes to is refused, not waited for.
TEST_F(DataCli, what_is_no_file_is_refused) {
    const std::string pipe = folder_ + "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_refused("data prepare --out " + data_ + " --input " + pipe, {"pipe", "no regular file"});
}

// What was written before the disk was full is taken away again.
TEST_F(DataCli, a_full_disk_leaves_no_part_of_a_dataset) {
    const std::string command = std::string("cd '") + AUSPEX_SOURCE_DIR + "' && ulimit -f 8 && '" + AUSPEX_BINARY +
                                "' data prepare --sequence-length 64 --input README.md --shard-rows 10 --out '" +
                                data_ + "' 2>'" + folder_ + "error'";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(text_of(folder_ + "error").find("could not be written: File too large"), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(data_));
}

}  // namespace
}  // namespace auspex::cli
