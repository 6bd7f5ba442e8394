/// @file Searches that are cut and gone on with, and the files that they are kept in.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "search_fixture.hpp"
#include "sim/search/state/checkpoint_file.hpp"

namespace auspex::search {
namespace {

using testing_search::difference;
using testing_search::drawn_inputs;
using testing_search::small_request;

/// Searches on and on, each time until it has looked a drawn number of times whether it is cut, from what the last one
/// has kept, written to bytes and read back; how often it was cut.
int search_in_pieces(const models::Inputs& inputs, const SpaceRequest& request, Rng& rng, SearchResult& result) {
    constexpr int kMostPieces = 60;
    SearchState known;
    for (int piece = 0;; ++piece) {
        SearchOptions options;
        options.checks = 5;
        std::atomic<int> looks = 0;
        // Pieces grow: each of them has to get beyond the first plans once.
        const int most = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(20) << std::min(piece, 12)));
        options.is_cut = [&] { return piece < kMostPieces && ++looks > most; };
        options.keep = [&](const SearchState& state) { known = state_of(bytes_of(state), "bytes"); };
        const SearchState from = known;
        options.from = piece > 0 ? &from : nullptr;
        options.from_name = "pieces";
        result = search_plans(inputs, request, options);
        if (!result.was_cut) {
            return piece;
        }
    }
}

TEST(SearchResume, cut_at_random_places_and_gone_on_with_it_ends_as_one_that_was_not_cut) {
    int cuts = 0;
    std::uint64_t played = 0;
    Rng rng(7);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        const SearchResult whole = search_plans(inputs, request, {.checks = 0});
        SearchResult pieces;
        cuts += search_in_pieces(inputs, request, rng, pieces);
        EXPECT_EQ(difference(whole, pieces), "");
        played += whole.evaluated;
    }
    EXPECT_GT(cuts, 30);
    EXPECT_GT(played, 500U);
}

TEST(SearchResume, a_search_that_was_done_looks_at_no_plan_again) {
    const models::Inputs inputs = drawn_inputs(1);
    const SpaceRequest request = small_request(1);
    SearchState known;
    SearchOptions options;
    options.keep = [&](const SearchState& state) { known = state; };
    const SearchResult first = search_plans(inputs, request, options);
    SearchState from = known;
    from.elapsed_s = 1e6;
    options.from = &from;
    const SearchResult again = search_plans(inputs, request, options);
    EXPECT_EQ(difference(first, again), "");
    EXPECT_EQ(again.evaluated, first.evaluated);
    EXPECT_EQ(again.pruned_memory, first.pruned_memory);
    EXPECT_GE(again.elapsed_s, 1e6) << "of all its runs together";
}

TEST(SearchResume, plans_that_this_program_plays_otherwise_and_those_beyond_the_space_are_refused) {
    const models::Inputs inputs = drawn_inputs(1);
    const SpaceRequest request = small_request(1);
    SearchState known;
    SearchOptions options;
    options.keep = [&](const SearchState& state) { known = state; };
    const SearchResult first = search_plans(inputs, request, options);
    ASSERT_FALSE(first.best.empty());
    const auto refusal = [&](const SearchState& state) {
        options.from = &state;
        options.from_name = "kept.bin";
        try {
            static_cast<void>(search_plans(inputs, request, options));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    SearchState changed = known;
    for (PlayedPlan& plan : changed.played) {
        plan.step -= plan.index == first.best.front().index ? 1 : 0;
    }
    EXPECT_NE(refusal(changed).find("kept.bin: found a plan with a step of"), std::string::npos) << refusal(changed);
    SearchState beyond = known;
    beyond.unfit.push_back({.index = first.space});
    EXPECT_NE(refusal(beyond).find("kept.bin: found plans beyond the"), std::string::npos) << refusal(beyond);
}

class CheckpointFile : public testing::Test {
 protected:
    CheckpointFile() {
        state_.has_first_plans = true;
        state_.elapsed_s = 2.5;
        state_.parts = {{3, 40, 2}, {9, 17, 0}};
        state_.played = {{5, 1'000'000, 0.5, 3e9, {1, 2, 3}}};
        state_.unfit = {{6, 0.25, 7e10}, {8, 0.5, 8e10}};
    }
    ~CheckpointFile() override { static_cast<void>(std::remove(file_.c_str())); }
    [[nodiscard]] std::string refusal(const std::string& key) const {
        try {
            static_cast<void>(read_checkpoint("--resume", file_, key));
        } catch (const InputError& error) {
            return error.what();
        }
        return "none";
    }
    std::string file_ = testing::TempDir() + "auspex-search-" + std::to_string(::getpid());
    SearchState state_;
};

TEST_F(CheckpointFile, is_read_as_it_was_written) {
    write_checkpoint(file_, {"key", "auspex plan\n--top 3"}, state_);
    const SearchState read = read_checkpoint("--resume", file_, "key");
    EXPECT_EQ(bytes_of(read), bytes_of(state_));
    EXPECT_EQ(read.parts[1].plans, 17U);
    EXPECT_EQ(read.played.front().losses[2], 3);
    EXPECT_EQ(read.unfit[1].memory_peak_bytes, 8e10);
}

TEST_F(CheckpointFile, of_another_search_is_refused_with_its_command_line) {
    write_checkpoint(file_, {"key", "auspex plan\n--top 3"}, state_);
    const std::string text = refusal("other");
    for (const char* part : {"--resume ", "of another search (auspex plan --top 3)", "same inputs"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
}

TEST_F(CheckpointFile, cut_off_or_damaged_anywhere_is_refused) {
    write_checkpoint(file_, {"key", "auspex plan"}, state_);
    std::ifstream stream(file_, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    ASSERT_GT(whole.size(), 300U);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        write_file(file_, whole.substr(0, length));
        EXPECT_NE(refusal("key"), "none") << length;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        write_file(file_, damaged);
        EXPECT_NE(refusal("key"), "none") << i;
    }
    write_file(file_, whole);
    EXPECT_EQ(refusal("key"), "none");
    static_cast<void>(std::remove(file_.c_str()));
    EXPECT_NE(refusal("key").find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace auspex::search
