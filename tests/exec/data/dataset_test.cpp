/// @file Datasets: what goes in comes out, in any order, and nothing damaged passes.
#include <gtest/gtest.h>

#include <algorithm>

#include "data_fixture.hpp"
#include "exec/data/tokenizer.hpp"

namespace auspex::exec {
namespace {

using file_fixture::bytes_of;
using namespace testing_data;

class Datasets : public testing::Test, protected DataFolder {};

TEST(Shuffled, is_a_permutation_and_depends_on_the_seed_alone) {
    for (const std::int64_t count : {0, 1, 2, 1000}) {
        std::vector<std::int64_t> order = shuffled(count, 7);
        EXPECT_EQ(order, shuffled(count, 7));
        std::sort(order.begin(), order.end());
        for (std::int64_t i = 0; i < count; ++i) {
            EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
        }
    }
    EXPECT_NE(shuffled(1000, 7), shuffled(1000, 8));
}

TEST_F(Datasets, every_token_is_in_a_row_or_counted_as_dropped) {
    const DatasetInfo info = prepare_bytes();
    const std::string a = bytes_of(path("a.txt"));
    const std::string b = bytes_of(path("b.txt"));
    EXPECT_EQ(info.documents, 2);
    EXPECT_EQ(info.tokens, static_cast<std::int64_t>(a.size() + b.size()) + info.documents);
    EXPECT_EQ(info.rows * 17 + info.dropped_tokens, info.tokens);
    EXPECT_GT(info.shards.size(), 2U);

    Tokens all;
    for (const std::string& text : {a, b}) {
        for (const char c : text) {
            all.push_back(static_cast<unsigned char>(c));
        }
        all.push_back(256);
    }
    const std::vector<std::int64_t> order = shuffled(info.rows, 1);
    const std::vector<Tokens> rows = rows_of(Dataset::open(path("data")));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto begin = all.begin() + 17 * order[i];
        ASSERT_EQ(rows[i], Tokens(begin, begin + 17)) << "row " << i;
    }
    Tokens again;
    Dataset::open(path("data")).append_sequence(info.rows + 3, again);
    EXPECT_EQ(again, rows[3]) << "after the last row the first follows";
}

TEST_F(Datasets, the_same_seed_gives_the_same_bytes_and_another_seed_the_same_rows) {
    for (const bool learns : {false, true}) {
        const std::string kind = learns ? "bpe" : "bytes";
        PrepareRequest first = request(kind + "1");
        first.learns_merges = learns;
        first.vocabulary = 280;
        PrepareRequest second = first;
        second.folder = path(kind + "2");
        PrepareRequest third = first;
        third.folder = path(kind + "3");
        third.seed = 2;
        const DatasetInfo info = prepare(first);
        prepare(second);
        prepare(third);
        for (const fs::directory_entry& entry : fs::directory_iterator(first.folder)) {
            const std::string name = entry.path().filename().string();
            EXPECT_EQ(bytes_of(entry.path().string()), bytes_of((fs::path(second.folder) / name).string())) << name;
        }
        EXPECT_EQ(std::distance(fs::directory_iterator(first.folder), fs::directory_iterator()),
                  static_cast<std::ptrdiff_t>(info.shards.size() + 2))
            << "shards, dataset.json, tokenizer.json and nothing else";
        std::vector<Tokens> rows = rows_of(Dataset::open(first.folder));
        std::vector<Tokens> others = rows_of(Dataset::open(third.folder));
        EXPECT_NE(rows, others);
        std::sort(rows.begin(), rows.end());
        std::sort(others.begin(), others.end());
        EXPECT_EQ(rows, others);
    }
}

TEST_F(Datasets, a_separator_ends_documents_and_empty_ones_do_not_count) {
    write_file(path("a.txt"), "one||two||||three||");
    PrepareRequest wanted = request("data");
    wanted.inputs = {path("a.txt")};
    wanted.document_separator = "||";
    wanted.sequence_length = 4;
    const DatasetInfo info = prepare(wanted);
    EXPECT_EQ(info.documents, 3);
    EXPECT_EQ(info.tokens, 3 + 3 + 5 + 3);
}

TEST_F(Datasets, what_cannot_become_a_dataset_is_refused) {
    write_file(path("empty.txt"), "");
    PrepareRequest wanted = request("data");
    wanted.inputs = {path("a.txt"), path("empty.txt")};
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { prepare(wanted); }), "empty.txt: found an empty file"), "");
    wanted.inputs = {path("nowhere.txt")};
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { prepare(wanted); }), "nowhere.txt: found no file"), "");
    wanted.inputs = {folder_.string()};
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { prepare(wanted); }), "no regular file"), "");
    wanted = request("data");
    wanted.sequence_length = 1'000'000;
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { prepare(wanted); }), "expected at least 1000001"), "");
    EXPECT_TRUE(fs::is_empty(path("data"))) << "nothing is left behind";
    EXPECT_EQ(fault_of_message(open_error(), "found no dataset.json"), "");
    static_cast<void>(prepare_bytes());
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { static_cast<void>(prepare_bytes()); }),
                               "found a dataset there already"),
              "");
    wanted = request("a.txt");
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { prepare(wanted); }), "found no folder"), "");
}

TEST_F(Datasets, a_shard_that_is_not_as_dataset_json_says_is_refused_by_name) {
    static_cast<void>(prepare_bytes());
    const std::string shard = path("data/shard-00001.bin");
    const std::string whole = bytes_of(shard);
    Dataset::open(path("data")).check_digests();

    write_file(shard, whole.substr(0, whole.size() - 1));
    EXPECT_EQ(fault_of_message(open_error(), "shard-00001.bin: found 3399 bytes; expected 3400 (100 rows)"), "");
    write_file(shard, whole + "x");
    EXPECT_EQ(fault_of_message(open_error(), "shard-00001.bin: found 3401 bytes"), "");
    fs::remove(shard);
    EXPECT_EQ(fault_of_message(open_error(), "shard-00001.bin: found no file"), "");

    std::string flipped = whole;
    flipped[40] = static_cast<char>(flipped[40] ^ 1);
    write_file(shard, flipped);
    const Dataset dataset = Dataset::open(path("data"));
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { dataset.check_digests(); }),
                               "shard-00001.bin: found a file with SHA-256"),
              "");
}

TEST_F(Datasets, a_token_beyond_the_vocabulary_is_refused_with_its_place) {
    static_cast<void>(prepare_bytes());
    std::string bytes = bytes_of(path("data/shard-00001.bin"));
    bytes[2 * (17 * 7 + 5) + 1] = '\x01';
    bytes[2 * (17 * 7 + 5)] = '\x01';
    write_file(path("data/shard-00001.bin"), bytes);
    const Dataset dataset = Dataset::open(path("data"));
    Tokens tokens;
    dataset.append_sequence(106, tokens);
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { dataset.append_sequence(107, tokens); }),
                               "shard-00001.bin: found token 257 at place 5 of row 7; expected 0 to 256"),
              "");
}

TEST_F(Datasets, a_dataset_json_that_contradicts_itself_is_refused) {
    static_cast<void>(prepare_bytes());
    const std::string text = bytes_of(path("data/dataset.json"));
    const auto error = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const std::size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        write_file(path("data/dataset.json"), changed.replace(at, from.size(), to));
        return open_error();
    };
    EXPECT_EQ(fault_of_message(error("\"auspex_dataset\": 1", "\"auspex_dataset\": 2"), "$.auspex_dataset: found 2"),
              "");
    EXPECT_EQ(fault_of_message(error("\"seed\"", "\"sead\""), "unknown key \"sead\""), "");
    EXPECT_EQ(fault_of_message(error("\"sequence_length\": 16", "\"sequence_length\": 17"), "$.tokens"), "");
    EXPECT_EQ(
        fault_of_message(error("\"vocabulary\": 257", "\"vocabulary\": 70000"), "$.token_bytes: found 2; expected 4"),
        "");
    EXPECT_EQ(fault_of_message(error("\"rows\": 100", "\"rows\": 99"), "$.shards"), "");
    EXPECT_EQ(fault_of_message(error("\"file\": \"shard-00000.bin\"", "\"file\": \"../x\""), "in the dataset's folder"),
              "");
    EXPECT_EQ(fault_of_message(error("{", "["), "dataset.json"), "");
    EXPECT_EQ(fault_of_message(error(text, ""), "dataset.json"), "");
}

}  // namespace
}  // namespace auspex::exec
