/// @file Datasets: what goes in comes out, in any order, and nothing damaged passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "../file_fixture.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/rng.hpp"
#include "exec/data/learn_merges.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/prepare.hpp"
#include "exec/data/tokenizer.hpp"
#include "exec/data/words.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;
using file_fixture::bytes_of;
using file_fixture::message_of;
using Tokens = std::vector<std::int32_t>;

std::string random_bytes(std::uint64_t seed, std::size_t count, int kinds) {
    Rng rng(seed);
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
        bytes += static_cast<char>(rng.below(static_cast<std::uint64_t>(kinds)));
    }
    return bytes;
}

/// Sentences of a few words, by chance.
std::string sentences(std::uint64_t seed, int words) {
    constexpr const char* kWords[] = {"the ",      "token ",   "router ",     "chose 17 ",
                                      "experts, ", "twice.\n", "the  other ", "(a)\n\n"};
    Rng rng(seed);
    std::string text;
    for (int i = 0; i < words; ++i) {
        text += kWords[rng.below(std::size(kWords))];
    }
    return text;
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

void no_progress(const char*, std::size_t, std::size_t) {}

/// A scratch folder of the test, with two text files.
class Data : public testing::Test {
 protected:
    Data() {
        write_file(path("a.txt"), sentences(1, 700));
        write_file(path("b.txt"), sentences(2, 400) + random_bytes(3, 500, 256));
    }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] PrepareRequest request(const std::string& out) const {
        PrepareRequest request;
        request.inputs = {path("a.txt"), path("b.txt")};
        request.sequence_length = 16;
        request.shard_rows = 100;
        request.folder = path(out);
        return request;
    }
    DatasetInfo prepare(const PrepareRequest& request) const { return prepare_dataset(request, no_progress); }
    /// Prepared with bytes, in folder "data".
    [[nodiscard]] DatasetInfo prepare_bytes() const { return prepare(request("data")); }
    [[nodiscard]] std::string open_error() const {
        return message_of<InputError>([&] { static_cast<void>(Dataset::open(path("data"))); });
    }

    file_fixture::TestFolder scratch_;
    fs::path folder_ = scratch_.path();
};

std::vector<Tokens> rows_of(const Dataset& dataset) {
    std::vector<Tokens> rows(static_cast<std::size_t>(dataset.sequences()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        dataset.append_sequence(static_cast<std::int64_t>(i), rows[i]);
    }
    return rows;
}

TEST(Words, in_order_give_back_the_text_and_cut_it_where_gpt_2_does) {
    const auto words_of = [](std::string_view text) {
        std::vector<std::string> words;
        while (!text.empty()) {
            words.emplace_back(text.substr(0, first_word_length(text)));
            text.remove_prefix(words.back().size());
        }
        return words;
    };
    EXPECT_EQ(words_of("Hello  big world, 42!\n\n x "),
              (std::vector<std::string>{"Hello", " ", " big", " world", ",", " 42", "!", "\n\n", " x", " "}));
    EXPECT_EQ(words_of(std::string(600, 'a')).size(), 3U);
    for (int kinds = 2; kinds <= 256; kinds *= 2) {
        const std::string text = random_bytes(9, 2000, kinds);
        std::string joined;
        for (const std::string& word : words_of(text)) {
            joined += word;
        }
        EXPECT_EQ(joined, text);
    }
}

TEST(Merges, the_most_frequent_pair_first_and_the_lower_tokens_of_equals) {
    // ab occurs 5 times, bc and cd 3 times; then (ab)c and cd are equally frequent, and c is below ab = 257.
    const std::vector<Merge> merges = learn_merges({{"abcd", 3}, {"ab", 2}}, 3);
    EXPECT_EQ(merges, (std::vector<Merge>{{'a', 'b'}, {'c', 'd'}, {257, 258}}));
    EXPECT_TRUE(learn_merges({{"ab", 1}, {"cd", 1}}, 5).empty()) << "no pair occurs twice";
    EXPECT_EQ(learn_merges({{"aaaaa", 2}}, 5), (std::vector<Merge>{{'a', 'a'}, {257, 'a'}, {257, 258}}));
}

/// What learn_merges keeps up to date, counted anew for each merge.
std::vector<Merge> learn_naively(const WordCounts& counts, int merges) {
    std::vector<std::pair<Tokens, std::int64_t>> words;
    for (const auto& [text, count] : counts) {
        words.emplace_back(Tokens(), count);
        for (const char c : text) {
            words.back().first.push_back(static_cast<unsigned char>(c));
        }
    }
    std::vector<Merge> learned;
    while (static_cast<int>(learned.size()) < merges) {
        std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> pairs;
        for (const auto& [tokens, count] : words) {
            for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
                pairs[{tokens[i], tokens[i + 1]}] += count;
            }
        }
        const auto best = std::max_element(pairs.begin(), pairs.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (best == pairs.end() || best->second < 2) {
            break;
        }
        learned.push_back({best->first.first, best->first.second});
        for (auto& [tokens, count] : words) {
            apply_merge(learned.back(), Tokenizer::kFirstMerged + static_cast<std::int32_t>(learned.size()) - 1,
                        tokens);
        }
    }
    return learned;
}

TEST(Merges, counts_kept_up_to_date_are_counts_made_anew) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        WordCounts counts;
        for (std::uint64_t i = 0; i < 40; ++i) {
            std::string word = random_bytes(100 * seed + i, 3 + i % 11, 3);
            counts[word] += static_cast<std::int64_t>(1 + i % 7);
        }
        EXPECT_EQ(learn_merges(counts, 60), learn_naively(counts, 60)) << "seed " << seed;
    }
}

TEST_F(Data, decoding_gives_back_any_bytes) {
    WordCounts counts;
    count_words(sentences(1, 700), counts);
    const std::vector<Merge> merges = learn_merges(counts, 40);
    ASSERT_GT(merges.size(), 20U);
    for (Tokenizer tokenizer : {Tokenizer(), Tokenizer(merges)}) {
        for (const std::string& text :
             {sentences(5, 300), random_bytes(4, 5000, 256), std::string(1000, 'e'), std::string()}) {
            Tokens tokens;
            tokenizer.encode(text, tokens);
            EXPECT_EQ(tokenizer.decode(tokens), text);
            EXPECT_LE(tokens.size(), text.size());
        }
    }
    Tokenizer tokenizer(merges);
    Tokens tokens;
    tokenizer.encode("the router chose", tokens);
    EXPECT_LT(tokens.size(), 10U) << "words that were learned are short";
}

TEST_F(Data, a_tokenizer_comes_back_from_its_file_and_a_wrong_file_is_refused) {
    const Tokenizer tokenizer({{'a', 'b'}, {257, 'c'}, {258, 258}});
    tokenizer.save(path("t.json"));
    EXPECT_EQ(Tokenizer::load(path("t.json")).merges(), tokenizer.merges());
    EXPECT_EQ(Tokenizer::load(path("t.json")).vocabulary(), 260);
    const auto error = [&](const std::string& vocabulary, const std::string& merges) {
        write_file(path("t.json"), "{\"auspex_tokenizer\": 1, \"vocabulary\": " + vocabulary +
                                       ", \"end_of_document\": 256, \"merges\": " + merges + "}");
        return message_of<InputError>([&] { static_cast<void>(Tokenizer::load(path("t.json"))); });
    };
    expect_contains(error("258", "[[97, 98], [97, 98]]"),
                    "t.json: $.merges[1]: found [97,98]; expected each pair once");
    expect_contains(error("258", "[[97, 257]]"), "$.merges[0][1]: found 257");
    expect_contains(error("258", "[[256, 97]]"), "$.merges[0][0]: found 256");
    expect_contains(error("258", "[[97]]"), "expected two tokens");
    expect_contains(error("300", "[[97, 98]]"), "$.vocabulary: found 300; expected 258");
    std::string doubling = "[[97, 97]";
    for (int token = 257; token < 265; ++token) {
        doubling += ", [" + std::to_string(token) + ", " + std::to_string(token) + "]";
    }
    expect_contains(error("266", doubling + "]"), "at most 256 bytes");
}

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

TEST_F(Data, every_token_is_in_a_row_or_counted_as_dropped) {
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

TEST_F(Data, the_same_seed_gives_the_same_bytes_and_another_seed_the_same_rows) {
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

TEST_F(Data, a_separator_ends_documents_and_empty_ones_do_not_count) {
    write_file(path("a.txt"), "one||two||||three||");
    PrepareRequest wanted = request("data");
    wanted.inputs = {path("a.txt")};
    wanted.document_separator = "||";
    wanted.sequence_length = 4;
    const DatasetInfo info = prepare(wanted);
    EXPECT_EQ(info.documents, 3);
    EXPECT_EQ(info.tokens, 3 + 3 + 5 + 3);
}

TEST_F(Data, what_cannot_become_a_dataset_is_refused) {
    write_file(path("empty.txt"), "");
    PrepareRequest wanted = request("data");
    wanted.inputs = {path("a.txt"), path("empty.txt")};
    expect_contains(message_of<InputError>([&] { prepare(wanted); }), "empty.txt: found an empty file");
    wanted.inputs = {path("nowhere.txt")};
    expect_contains(message_of<InputError>([&] { prepare(wanted); }), "nowhere.txt: found no file");
    wanted.inputs = {folder_.string()};
    expect_contains(message_of<InputError>([&] { prepare(wanted); }), "no regular file");
    wanted = request("data");
    wanted.sequence_length = 1'000'000;
    expect_contains(message_of<InputError>([&] { prepare(wanted); }), "expected at least 1000001");
    EXPECT_TRUE(fs::is_empty(path("data"))) << "nothing is left behind";
    expect_contains(open_error(), "found no dataset.json");
    static_cast<void>(prepare_bytes());
    expect_contains(message_of<InputError>([&] { static_cast<void>(prepare_bytes()); }),
                    "found a dataset there already");
    wanted = request("a.txt");
    expect_contains(message_of<InputError>([&] { prepare(wanted); }), "found no folder");
}

TEST_F(Data, a_shard_that_is_not_as_dataset_json_says_is_refused_by_name) {
    static_cast<void>(prepare_bytes());
    const std::string shard = path("data/shard-00001.bin");
    const std::string whole = bytes_of(shard);
    Dataset::open(path("data")).check_digests();

    write_file(shard, whole.substr(0, whole.size() - 1));
    expect_contains(open_error(), "shard-00001.bin: found 3399 bytes; expected 3400 (100 rows)");
    write_file(shard, whole + "x");
    expect_contains(open_error(), "shard-00001.bin: found 3401 bytes");
    fs::remove(shard);
    expect_contains(open_error(), "shard-00001.bin: found no file");

    std::string flipped = whole;
    flipped[40] = static_cast<char>(flipped[40] ^ 1);
    write_file(shard, flipped);
    const Dataset dataset = Dataset::open(path("data"));
    expect_contains(message_of<InputError>([&] { dataset.check_digests(); }),
                    "shard-00001.bin: found a file with SHA-256");
}

TEST_F(Data, a_token_beyond_the_vocabulary_is_refused_with_its_place) {
    static_cast<void>(prepare_bytes());
    std::string bytes = bytes_of(path("data/shard-00001.bin"));
    bytes[2 * (17 * 7 + 5) + 1] = '\x01';
    bytes[2 * (17 * 7 + 5)] = '\x01';
    write_file(path("data/shard-00001.bin"), bytes);
    const Dataset dataset = Dataset::open(path("data"));
    Tokens tokens;
    dataset.append_sequence(106, tokens);
    expect_contains(message_of<InputError>([&] { dataset.append_sequence(107, tokens); }),
                    "shard-00001.bin: found token 257 at place 5 of row 7; expected 0 to 256");
}

TEST_F(Data, a_dataset_json_that_contradicts_itself_is_refused) {
    static_cast<void>(prepare_bytes());
    const std::string text = bytes_of(path("data/dataset.json"));
    const auto error = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const std::size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        write_file(path("data/dataset.json"), changed.replace(at, from.size(), to));
        return open_error();
    };
    expect_contains(error("\"auspex_dataset\": 1", "\"auspex_dataset\": 2"), "$.auspex_dataset: found 2");
    expect_contains(error("\"seed\"", "\"sead\""), "unknown key \"sead\"");
    expect_contains(error("\"sequence_length\": 16", "\"sequence_length\": 17"), "$.tokens");
    expect_contains(error("\"vocabulary\": 257", "\"vocabulary\": 70000"), "$.token_bytes: found 2; expected 4");
    expect_contains(error("\"rows\": 100", "\"rows\": 99"), "$.shards");
    expect_contains(error("\"file\": \"shard-00000.bin\"", "\"file\": \"../x\""), "in the dataset's folder");
    expect_contains(error("{", "["), "dataset.json");
    expect_contains(error(text, ""), "dataset.json");
}

TEST_F(Data, rows_go_to_megatron_and_come_back) {
    static_cast<void>(prepare_bytes());
    const Dataset dataset = Dataset::open(path("data"));
    export_megatron(dataset, path("m"));
    const MegatronDataset megatron(path("m"));
    EXPECT_EQ(megatron.sequences(), dataset.sequences());
    EXPECT_EQ(megatron.documents(), dataset.sequences());
    EXPECT_EQ(megatron.token_bytes(), 2);
    const std::vector<Tokens> rows = rows_of(dataset);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Tokens sequence;
        megatron.append_sequence(static_cast<std::int64_t>(i), 257, sequence);
        ASSERT_EQ(sequence, rows[i]);
    }
    PrepareRequest back = request("back");
    back.inputs.clear();
    back.megatron = path("m");
    back.vocabulary = 257;
    const DatasetInfo info = prepare(back);
    EXPECT_EQ(info.rows, dataset.sequences());
    EXPECT_EQ(info.dropped_tokens, 0);
    EXPECT_FALSE(info.end_of_document.has_value());
    const std::vector<std::int64_t> order = shuffled(info.rows, 1);
    const std::vector<Tokens> shuffled_again = rows_of(Dataset::open(path("back")));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(shuffled_again[i], rows[static_cast<std::size_t>(order[i])]);
    }
}

TEST_F(Data, megatron_files_have_the_bytes_that_megatron_writes) {
    MegatronWriter writer(path("m"), 4);
    writer.add_sequence({70'000, 1});
    writer.add_sequence({2});
    writer.commit();
    const auto u64 = [](int low) { return std::string(1, static_cast<char>(low)) + std::string(7, '\0'); };
    const auto i32 = [](int low) { return std::string(1, static_cast<char>(low)) + std::string(3, '\0'); };
    const std::string expected = std::string("MMIDIDX\0\0", 9) + u64(1) + '\x04' + u64(2) + u64(3) + i32(2) + i32(1) +
                                 u64(0) + u64(8) + u64(0) + u64(1) + u64(2);
    EXPECT_EQ(bytes_of(path("m.idx")), expected);
    EXPECT_EQ(bytes_of(path("m.bin")), std::string("\x70\x11\x01\0", 4) + i32(1) + i32(2));
    const MegatronDataset megatron(path("m"));
    Tokens tokens;
    megatron.append_sequence(0, 70'001, tokens);
    EXPECT_EQ(tokens, (Tokens{70'000, 1}));
    expect_contains(message_of<InputError>([&] { megatron.append_sequence(0, 70'000, tokens); }),
                    "m.bin: found token 70000 at place 0 of sequence 0; expected 0 to 69999");
}

TEST_F(Data, damaged_megatron_files_are_refused) {
    MegatronWriter writer(path("m"), 2);
    writer.add_sequence({5, 6, 7});
    writer.add_sequence({8});
    writer.commit();
    const std::string index = bytes_of(path("m.idx"));
    const std::string tokens = bytes_of(path("m.bin"));
    const auto error = [&](const std::string& changed) {
        write_file(path("m.idx"), changed);
        return message_of<InputError>([&] { MegatronDataset dataset(path("m")); });
    };
    const auto with = [&](std::size_t at, char byte) {
        std::string changed = index;
        changed[at] = byte;
        return changed;
    };
    for (std::size_t length = 0; length < index.size(); ++length) {
        expect_contains(error(index.substr(0, length)), "m.idx: found ");
    }
    expect_contains(error(index + "x"), "found 1 bytes behind the index");
    expect_contains(error(with(0, 'X')), "does not begin with MMIDIDX");
    expect_contains(error(with(9, 2)), "found version 2");
    expect_contains(error(with(17, 6)), "found tokens of type 6");
    expect_contains(error(with(25, '\x7f')), "ends too early");
    expect_contains(error(with(34, 2)), "found sequence 1 of 1 tokens at byte 6");
    expect_contains(error(with(50, 2)), "found sequence 1 of 1 tokens at byte 2; expected sequences one behind");
    expect_contains(error(with(58, 1)), "found document 0 at sequence 1");
    expect_contains(error(with(74, 1)), "found document 2 at sequence 1");
    EXPECT_EQ(error(index), "no such exception");
    write_file(path("m.bin"), tokens.substr(1));
    expect_contains(error(index), "m.bin: found 7 bytes; expected 8");
}

}  // namespace
}  // namespace auspex::exec
