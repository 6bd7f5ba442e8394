/// @file Blends built by any number of ranks: what is in them, and that their bytes are the same.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/rng.hpp"
#include "blend_fixture.hpp"
#include "exec/blend/blend_order.hpp"

namespace auspex::exec {
namespace {

using testing_blend::bytes_of;
using testing_blend::no_progress;

class BuildBlend : public testing::Test, protected testing_blend::BlendFolder {};

TEST_F(BuildBlend, has_megatrons_order_exact_counts_and_every_row_once_an_epoch) {
    const std::vector<int> rows{40, 7, 1200, 1};
    const std::vector<double> weights{3, 0.5, 6, 0.25};
    const BlendRequest request = request_of(rows, weights, 2000);
    const BlendInfo info = build_blend(request, no_progress);
    const Blend blend = Blend::open(request.file);
    const std::vector<Row> found = rows_of(blend);
    ASSERT_EQ(found.size(), 2000U);
    BlendOrder order(megatron_weights(weights));
    std::vector<std::set<int>> epoch(rows.size());
    std::vector<std::int64_t> counts(rows.size()), repeats_from(rows.size(), -1);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto d = static_cast<std::size_t>(found[i].source);
        ASSERT_EQ(order.next(), d) << i;
        if (counts[d] == rows[d]) {
            repeats_from[d] = static_cast<std::int64_t>(i);
        }
        if (counts[d]++ % rows[d] == 0) {
            epoch[d].clear();
        }
        EXPECT_TRUE(epoch[d].insert(found[i].number).second) << "row " << found[i].number << " of source " << d;
    }
    for (std::size_t d = 0; d < rows.size(); ++d) {
        EXPECT_EQ(info.sources[d].sequences, counts[d]);
        EXPECT_EQ(info.sources[d].repeats_from, repeats_from[d]);
        EXPECT_EQ(blend.info().sources[d].sequences, counts[d]);
    }
    EXPECT_EQ(repeats_from[2], 1951);  // 1200 of 1231 are taken
    EXPECT_EQ(blend.content_digest(), info.digest);
    blend.check_digests();
}

TEST_F(BuildBlend, an_epoch_has_an_order_of_its_own) {
    const BlendRequest request = request_of({50}, {1}, 150);
    build_blend(request, no_progress);
    const std::vector<Row> found = rows_of(Blend::open(request.file));
    std::vector<std::vector<int>> epochs(3);
    for (std::size_t i = 0; i < found.size(); ++i) {
        epochs[i / 50].push_back(found[i].number);
    }
    EXPECT_NE(epochs[0], epochs[1]);
    EXPECT_NE(epochs[1], epochs[2]);
    for (std::vector<int>& epoch : epochs) {
        std::ranges::sort(epoch);
        EXPECT_EQ(epoch.front(), 0);
        EXPECT_EQ(epoch.back(), 49);
    }
}

// 13 blocks of 65,536, so that 16 ranks leave some with nothing; and one block for all.
TEST_F(BuildBlend, has_the_same_bytes_whatever_the_number_of_ranks) {
    BlendRequest request = request_of({300, 2000, 11, 900}, {0.2, 0.5, 0.01, 0.29}, 800'000);
    for (const std::int64_t sequences : {800'000, 500}) {
        request.sequences = sequences;
        request.file = path("serial-" + std::to_string(sequences));
        const BlendInfo serial = build_blend(request, no_progress);
        const std::string expected = bytes_of(request.file);
        for (const int ranks : {1, 2, 3, 5, 8, 16}) {
            request.file = path(std::to_string(ranks) + "-" + std::to_string(sequences));
            EXPECT_EQ(built_by(ranks, request).digest, serial.digest);
            EXPECT_EQ(bytes_of(request.file) == expected, true) << ranks << " ranks";
        }
    }
}

// Weights so far apart that the counts of some ranks' first sequence are guessed wrong: they write their blocks again.
TEST_F(BuildBlend, ranks_that_guess_wrong_put_it_right) {
    Rng rng(2);
    std::vector<int> rows(40, 3);
    std::vector<double> weights;
    for (std::size_t d = 0; d < rows.size(); ++d) {
        weights.push_back(std::exp(6 * rng.normal()));
    }
    BlendRequest request = request_of(rows, weights, 800'000);
    build_blend(request, no_progress);
    const std::string expected = bytes_of(request.file);
    int wrong = 0;
    const std::vector<double> shares = megatron_weights(weights);
    BlendOrder order(shares);
    for (std::int64_t block = 1; block < 13; ++block) {
        while (order.sequence() < block * 65'536) {
            order.next();
        }
        wrong += likely_counts(shares, order.sequence()) == order.counts() ? 0 : 1;
    }
    EXPECT_GT(wrong, 0) << "weights that show nothing";
    for (const int ranks : {13, 16}) {
        request.file = path("by-" + std::to_string(ranks));
        built_by(ranks, request);
        EXPECT_EQ(bytes_of(request.file) == expected, true) << ranks << " ranks";
    }
}

TEST_F(BuildBlend, tokens_are_as_many_whole_sequences_as_have_them) {
    BlendRequest request = request_of({20, 30}, {1, 1}, 0);
    for (const auto& [tokens, sequences] : std::map<std::int64_t, std::int64_t>{{1, 1}, {2, 1}, {3, 2}, {100, 50}}) {
        request.tokens = tokens;
        request.file = path(std::to_string(tokens));
        EXPECT_EQ(build_blend(request, no_progress).sequences, sequences);
        EXPECT_EQ(Blend::open(request.file).sequences(), sequences);
    }
}

TEST_F(BuildBlend, after_the_last_sequence_the_first_follows) {
    const BlendRequest request = request_of({20, 30}, {1, 2}, 25);
    build_blend(request, no_progress);
    const Blend blend = Blend::open(request.file);
    std::vector<std::int32_t> first, again;
    blend.append_sequence(3, first);
    blend.append_sequence(28, again);
    EXPECT_EQ(first, again);
}

TEST_F(BuildBlend, moves_with_its_sources) {
    const BlendRequest request = request_of({20, 30}, {1, 2}, 25);
    build_blend(request, no_progress);
    const std::string moved = path("moved");
    std::filesystem::create_directory(moved);
    for (const char* name : {"a.blend", "source-0", "source-1"}) {
        std::filesystem::rename(path(name), moved + "/" + name);
    }
    EXPECT_EQ(Blend::open(moved + "/a.blend").sequences(), 25);
}

}  // namespace
}  // namespace auspex::exec
