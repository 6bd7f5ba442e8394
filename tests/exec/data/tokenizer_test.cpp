/// @file Words, merges learned from them, and texts as tokens and back.
#include "exec/data/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "data_fixture.hpp"
#include "exec/data/learn_merges.hpp"
#include "exec/data/words.hpp"

namespace auspex::exec {
namespace {

using namespace testing_data;

class Tokenizers : public testing::Test, protected DataFolder {};

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

TEST_F(Tokenizers, decoding_gives_back_any_bytes) {
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

TEST_F(Tokenizers, a_tokenizer_comes_back_from_its_file_and_a_wrong_file_is_refused) {
    const Tokenizer tokenizer({{'a', 'b'}, {257, 'c'}, {258, 258}});
    tokenizer.save(path("t.json"));
    EXPECT_EQ(Tokenizer::load(path("t.json")).merges(), tokenizer.merges());
    EXPECT_EQ(Tokenizer::load(path("t.json")).vocabulary(), 260);
    const auto error = [&](const std::string& vocabulary, const std::string& merges) {
        write_file(path("t.json"), "{\"auspex_tokenizer\": 1, \"vocabulary\": " + vocabulary +
                                       ", \"end_of_document\": 256, \"merges\": " + merges + "}");
        return message_of<InputError>([&] { static_cast<void>(Tokenizer::load(path("t.json"))); });
    };
    EXPECT_EQ(fault_of_message(error("258", "[[97, 98], [97, 98]]"),
                               "t.json: $.merges[1]: found [97,98]; expected each pair once"),
              "");
    EXPECT_EQ(fault_of_message(error("258", "[[97, 257]]"), "$.merges[0][1]: found 257"), "");
    EXPECT_EQ(fault_of_message(error("258", "[[256, 97]]"), "$.merges[0][0]: found 256"), "");
    EXPECT_EQ(fault_of_message(error("258", "[[97]]"), "expected two tokens"), "");
    EXPECT_EQ(fault_of_message(error("300", "[[97, 98]]"), "$.vocabulary: found 300; expected 258"), "");
    std::string doubling = "[[97, 97]";
    for (int token = 257; token < 265; ++token) {
        doubling += ", [" + std::to_string(token) + ", " + std::to_string(token) + "]";
    }
    EXPECT_EQ(fault_of_message(error("266", doubling + "]"), "at most 256 bytes"), "");
}

}  // namespace
}  // namespace auspex::exec
