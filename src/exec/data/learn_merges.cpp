/// @file Counts of pairs that follow the merges, and a queue whose stale entries are corrected when they come up.
#include "exec/data/learn_merges.hpp"

#include <queue>
#include <tuple>
#include <utility>

#include "exec/data/words.hpp"

namespace auspex::exec {
namespace {

struct Word {
    std::vector<std::int32_t> tokens;
    std::int64_t count = 0;
};

struct Pair {
    std::int64_t count = 0;
    std::vector<std::size_t> words;  ///< that had it once; some may have lost it
};

struct Candidate {
    std::int64_t count = 0;
    Merge pair;
    /// The queue's top is the largest: highest count, then lowest tokens.
    bool operator<(const Candidate& other) const {
        return std::tuple(count, -pair.left, -pair.right) <
               std::tuple(other.count, -other.pair.left, -other.pair.right);
    }
};

class PairTable {
 public:
    explicit PairTable(const WordCounts& counts) {
        for (const auto& [text, count] : counts) {
            Word& word = words_.emplace_back();
            word.count = count;
            for (const char c : text) {
                word.tokens.push_back(static_cast<unsigned char>(c));
            }
            for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
                Pair& pair = pairs_[key_of({word.tokens[i], word.tokens[i + 1]})];
                pair.count += count;
                pair.words.push_back(words_.size() - 1);
            }
        }
        for (const auto& [key, pair] : pairs_) {
            queue_.push({pair.count, pair_of(key)});
        }
    }

    /// The most frequent pair; its count is 0 if there is none.
    Candidate most_frequent() {
        while (!queue_.empty()) {
            Candidate best = queue_.top();
            queue_.pop();
            const std::int64_t count = pairs_[key_of(best.pair)].count;
            if (count == best.count) {
                return best;
            }
            if (count > 0) {
                queue_.push({count, best.pair});
            }
        }
        return {};
    }

    void merge(Merge pair, std::int32_t result) {
        const std::vector<std::size_t> touched = std::move(pairs_[key_of(pair)].words);
        pairs_.erase(key_of(pair));
        std::vector<Merge> born;
        for (const std::size_t index : touched) {
            std::vector<std::int32_t> before = words_[index].tokens;
            apply_merge(pair, result, words_[index].tokens);
            if (before.size() != words_[index].tokens.size()) {
                recount(index, before, result, born);
            }
        }
        pairs_.erase(key_of(pair));
        for (const Merge& each : born) {
            queue_.push({pairs_[key_of(each)].count, each});
        }
    }

 private:
    static Merge pair_of(std::uint64_t key) {
        return {static_cast<std::int32_t>(key >> 32), static_cast<std::int32_t>(key & 0xffffffffU)};
    }

    /// Takes the pairs of `before` out and puts those of the word as it is now in; `born` gains the ones that hold
    /// `result`.
    void recount(std::size_t index, const std::vector<std::int32_t>& before, std::int32_t result,
                 std::vector<Merge>& born) {
        const Word& word = words_[index];
        for (std::size_t i = 0; i + 1 < before.size(); ++i) {
            pairs_[key_of({before[i], before[i + 1]})].count -= word.count;
        }
        for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
            const Merge each{word.tokens[i], word.tokens[i + 1]};
            Pair& pair = pairs_[key_of(each)];
            pair.count += word.count;
            if (each.left == result || each.right == result) {
                if (pair.words.empty()) {
                    born.push_back(each);
                }
                if (pair.words.empty() || pair.words.back() != index) {
                    pair.words.push_back(index);
                }
            }
        }
    }

    std::vector<Word> words_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::priority_queue<Candidate> queue_;
};

}  // namespace

void count_words(std::string_view text, WordCounts& counts) {
    while (!text.empty()) {
        const std::string_view word = text.substr(0, first_word_length(text));
        text.remove_prefix(word.size());
        ++counts[std::string(word)];
    }
}

std::vector<Merge> learn_merges(const WordCounts& counts, int merges) {
    constexpr std::int64_t kMin = 2;
    PairTable table(counts);
    std::vector<Merge> learned;
    while (static_cast<int>(learned.size()) < merges) {
        const Candidate best = table.most_frequent();
        if (best.count < kMin) {
            break;
        }
        table.merge(best.pair, Tokenizer::kFirstMerged + static_cast<std::int32_t>(learned.size()));
        learned.push_back(best.pair);
    }
    return learned;
}

}  // namespace auspex::exec
