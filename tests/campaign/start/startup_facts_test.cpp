/// @file What is published of starts on Aurora, beside what machines/aurora.json gives. A fitted fact is one that a
/// constant was made from; the others check.
#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "campaign/start/startup.hpp"
#include "models/data/index_build.hpp"

namespace auspex::campaign {
namespace {

models::Machine aurora() { return models::load_machine(JsonDocument::load("machines/aurora.json")); }

Start start_on(int nodes, const std::string& stack, double index_sequences = 0, bool in_parallel = true) {
    StartJob job;
    job.nodes = nodes;
    job.ranks = 12 * nodes;
    job.index_sequences = index_sequences;
    job.indexes_in_parallel = in_parallel;
    return start_of(aurora(), models::load_stack(JsonDocument::load("stacks/" + stack + ".json")), job);
}

/// Public logs of AuroraGPT: 70 to 420 s at 8 to 2,048 nodes (fitted: both ends); less than 13 min to the whole machine
/// (check).
TEST(StartFacts, environment_broadcast) {
    const auto seconds = [](int nodes) { return start_on(nodes, "optimus").seconds_of(StartPhase::kEnvironment); };
    EXPECT_NEAR(seconds(8), 70, 1);
    EXPECT_NEAR(seconds(2048), 420, 1);
    EXPECT_LT(seconds(10'624), 13 * 60);
    EXPECT_NEAR(seconds(10'624), 623, 1);  // what it is
}

/// Public logs of AuroraGPT: 3.5 min on 128 nodes, 4.5 to 7 min on 256 (fitted: the first, and the middle of the
/// second); not finished on 512, which the same law puts at ten minutes.
TEST(StartFacts, compilation) {
    const auto seconds = [](int nodes) { return start_on(nodes, "torchtitan").seconds_of(StartPhase::kCompile); };
    EXPECT_NEAR(seconds(128), 210, 1);
    EXPECT_NEAR(seconds(256), (270 + 420) / 2.0, 1);
    EXPECT_NEAR(seconds(512), 615, 2);
}

/// Public logs of AuroraGPT: a checkpoint of 3,072 shards in 545 s (fitted), one of 6,144 in more than 30 min (check).
/// The smaller one is taken for the 23 GB of the 2B model, whose bytes are six seconds of it.
TEST(StartFacts, shards_that_all_ranks_look_at) {
    const auto seconds = [](int ranks, double bytes) {
        return load_time(aurora(), {bytes, bytes, ranks / 12, static_cast<double>(ranks), 1, ranks / 12, false, true})
            .total_s();
    };
    EXPECT_NEAR(seconds(3072, 23e9), 545, 0.02 * 545);
    EXPECT_GT(seconds(6144, 23e9), 30 * 60);
    EXPECT_NEAR(seconds(6144, 232e9), 2241, 2);  // what it is
}

/// Public reports on AuroraGPT: 26B parameters by 12 readers, from Lustre 357 s, staged on the node 62 s (both fitted,
/// to a rate each).
TEST(StartFacts, twelve_readers_of_one_model) {
    const double bytes = 26e9 * 2;
    EXPECT_NEAR(load_time(aurora(), {bytes, bytes, 1, 12, 12, 1, false, false}).total_s(), 357, 2);
    EXPECT_NEAR(local_read_time(aurora(), bytes, 12), 62, 1);
}

/// Talk on AuroraGPT, 2025-12-16: an index of 2 T tokens, one process 3,272 to 3,972 s (fitted: 3,643 s, the first of
/// five); in parallel on 1, 2, 4, 8, 16 nodes 125, 227, 197, 191, 187 s (fitted: the last; the others check). On one
/// node the builder was quicker than this says: what starts workers on one node alone is not what starts them on many.
TEST(StartFacts, index_of_two_trillion_tokens) {
    const double sequences = models::index_of_tokens(2e12, 4096, 1).sequences;
    EXPECT_NEAR(start_on(1, "optimus", sequences, false).seconds_of(StartPhase::kIndex), 3643, 5);
    const double measured_mean = (3643 + 3272 + 3685 + 3972 + 3345) / 5.0;
    EXPECT_NEAR(start_on(1, "optimus", sequences, false).seconds_of(StartPhase::kIndex), measured_mean,
                0.02 * measured_mean);
    const auto parallel_s = [&](int nodes) {
        return start_on(nodes, "optimus", sequences).seconds_of(StartPhase::kIndex);
    };
    EXPECT_NEAR(parallel_s(16), 187, 1);
    EXPECT_NEAR(parallel_s(8), 191, 0.02 * 191);
    EXPECT_NEAR(parallel_s(4), 197, 0.03 * 197);
    EXPECT_NEAR(parallel_s(2), 227, 0.12 * 227);
    EXPECT_NEAR(parallel_s(1), 220, 1);  // measured: 125
}

/// arXiv:2402.15627: once each rank reports once, communicators of 2,048 GPUs take less than 5 s (fitted), those of
/// more than 10,000 less than 30 s (check).
TEST(StartFacts, communicators) {
    const double rank_s = aurora().startup.initialise->bootstrap_rank_s;
    EXPECT_NEAR(2048 * rank_s, 5, 0.1);
    EXPECT_LT(10'000 * rank_s, 30);
}

}  // namespace
}  // namespace auspex::campaign
