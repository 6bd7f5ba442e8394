/// @file Published rows of collectives: what is read, what it means here, what is refused, how errors are gathered.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published_judgement.hpp"

namespace auspex::evaluate {
namespace {

const std::string kNames = R"({
    "machines": [{"text": "Moon", "machine": "moon"},
                 {"text": "Moon (host", "machine": "moon", "set": ["stack.transport.use=host"]}],
    "libraries": [{"text": "XCCL", "stack": "xccl", "algorithms": {"*": "rules", "ring_x": "ring"},
                   "cases": [{"kinds": ["all_gather"], "up_to_nodes": 2, "up_to_bytes_a_rank": 10, "set": ["a"]},
                             {"machine": "Moon", "kinds": ["all_gather"], "set": ["b"], "algorithm": "bruck"}]},
                  {"text": "XMPI on XCCL", "stack": "xmpi", "algorithms": {"tree": "double-binary-tree"}}],
    "sizes": [{"note": "OSU size", "times_ranks": ["all_gather", "all_to_all"]},
              {"note": "total buffer", "times_ranks": []}],
    "fitted": [{"library": "XCCL", "ranks": 64}],
    "node_sets": [{"machine": "Moon", "algorithm": "one switch", "nodes": 2},
                  {"machine": "Moon", "algorithm": "two groups", "nodes": 8, "placement": "0-3,64-67"}]})";

/// A row with members behind those that every row has; the last of two with one name is what JSON refuses, so that
/// the caller names those that differ.
std::string row_of(const std::string& members) { return R"({"unit": "us", "kind": "all_reduce", )" + members + "}"; }
const std::string kJob =
    R"("machine": "Moon", "library": "XCCL 2.1", "nodes": 2, "ranks": 16, "bytes": 1000, "value": 20)";

PublishedCollective read_one(const std::string& row) { return parse_published_collectives("[" + row + "]", "r").at(0); }

PublishedQuery query_of_row(const std::string& row) {
    return query_of(read_one(row), read_published_names(JsonDocument::parse(kNames, "names")));
}

std::string refusal(const std::string& row) {
    try {
        static_cast<void>(read_one(row));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(PublishedCollectives, a_row_is_a_time_of_a_collective_on_a_machine) {
    const PublishedCollective row = read_one(row_of(kJob + R"(, "algorithm": "ring_x", "page": 7)"));
    EXPECT_EQ(row.place, "$[0]");
    EXPECT_TRUE(row.is_collective);
    EXPECT_FALSE(row.fitted);
    EXPECT_DOUBLE_EQ(*row.measured_s, 20e-6);
    const PublishedQuery query = query_of_row(row_of(kJob + R"(, "algorithm": "ring_x")"));
    EXPECT_EQ(query.refused, "");
    EXPECT_EQ(query.machine + " " + query.stack + " " + query.algorithm, "moon xccl ring");
    EXPECT_EQ(query.bytes, 1000);
    EXPECT_TRUE(query.set.empty());
    EXPECT_EQ(query_of_row(row_of(kJob)).algorithm, "") << "the stack's rules";
}

TEST(PublishedCollectives, the_longest_text_that_a_name_begins_with_counts) {
    const PublishedQuery query = query_of_row(row_of(
        R"json("machine": "Moon (host buffers)", "library": "XMPI on XCCL", "algorithm": "tree", "nodes": 2, "ranks": 2,
           "bytes": 8, "value": 3)json"));
    EXPECT_EQ(query.refused, "");
    EXPECT_EQ(query.set, std::vector<std::string>{"stack.transport.use=host"});
    EXPECT_EQ(query.stack + " " + query.algorithm, "xmpi double-binary-tree");
}

// 16 ranks: of 160 bytes 10 a rank. A word of the row's own goes before the case's.
TEST(PublishedCollectives, the_first_case_of_a_library_that_fits_counts) {
    const auto of = [](int nodes, int bytes, const std::string& more) {
        const PublishedQuery query = query_of_row(
            R"({"unit": "us", "kind": "all_gather", "machine": "Moon", "library": "XCCL", "ranks": 16, "value": 3,
                "nodes": )" +
            std::to_string(nodes) + R"(, "bytes": )" + std::to_string(bytes) + more + "}");
        return query.set.at(0) + " " + query.algorithm;
    };
    EXPECT_EQ(of(2, 160, ""), "a ");
    EXPECT_EQ(of(2, 161, ""), "b bruck");
    EXPECT_EQ(of(3, 160, ""), "b bruck");
    EXPECT_EQ(of(3, 160, R"(, "algorithm": "ring_x")"), "b ring");
    EXPECT_TRUE(query_of_row(row_of(kJob)).set.empty()) << "no case of an all-reduce";
}

TEST(PublishedCollectives, bytes_count_what_the_note_says) {
    const auto bytes = [](const std::string& kind, const std::string& note) {
        return query_of_row(R"({"unit": "ms", "kind": ")" + kind + "\", " + kJob + R"(, "note": ")" + note + "\"}");
    };
    EXPECT_EQ(bytes("all_to_all", "OSU size: per pair").bytes, 16000) << "of a pair, times 16 ranks";
    EXPECT_EQ(bytes("all_gather", "OSU size").bytes, 16000) << "of a rank, times 16 ranks";
    EXPECT_EQ(bytes("all_reduce", "OSU size").bytes, 1000);
    EXPECT_EQ(bytes("all_to_all", "bytes=total buffer").bytes, 1000);
    EXPECT_EQ(bytes("all_gather", "").bytes, 1000) << "the output";
    EXPECT_NE(bytes("all_to_all", "").refused.find("a pair or of a rank"), std::string::npos);
}

// 4 ranks a node send 1,000 bytes to each of the others, or to one of them; a node sends 2 GB/s.
TEST(PublishedCollectives, a_bandwidth_of_a_node_is_an_exchange_of_all_or_of_pairs_on_the_nodes_that_it_names) {
    const auto query = [](const std::string& kind, const std::string& nodes) {
        return query_of_row(
            R"json({"machine": "Moon", "library": "XCCL", "nodes": 16, "ranks": 64, "bytes": 1000, "value": 2,
                    "unit": "GB/s per node (median)", "kind": ")json" +
            kind + R"(_bw_per_node", "algorithm": ")" + nodes + "\"}");
    };
    const PublishedQuery all = query("all_to_all", "two groups, at once"), pairs = query("bisection", "one switch");
    EXPECT_EQ(all.refused + pairs.refused, "");
    EXPECT_EQ(all.kind + " " + all.algorithm + " " + all.placement, "all_to_all pairwise 0-3,64-67");
    EXPECT_EQ(all.ranks, 32);
    EXPECT_EQ(all.group_size, 32);
    EXPECT_EQ(all.bytes, 32 * 1000);
    EXPECT_DOUBLE_EQ(all.measured_s, 4 * 31 * 1000 / 2e9);
    EXPECT_EQ(pairs.kind + " " + pairs.algorithm + " " + pairs.placement, "all_to_all direct ");
    EXPECT_EQ(pairs.ranks, 8);
    EXPECT_EQ(pairs.group_size, 2);
    EXPECT_EQ(pairs.bytes, 2 * 1000);
    EXPECT_DOUBLE_EQ(pairs.measured_s, 4 * 1000 / 2e9);
    EXPECT_NE(query("bisection", "anywhere").refused.find("which nodes acted together"), std::string::npos);
    EXPECT_NE(refusal(R"({"kind": "bisection_bw_per_node", "machine": "Moon", "unit": "GB/s", "value": 1})")
                  .find("GB/s per node"),
              std::string::npos);
}

TEST(PublishedCollectives, rows_that_gave_a_constant_say_so_or_are_listed) {
    EXPECT_FALSE(query_of_row(row_of(kJob)).fitted);
    EXPECT_TRUE(query_of_row(row_of(kJob + R"(, "fitted": true)")).fitted);
    const std::string job = R"("machine": "Moon", "nodes": 8, "ranks": 64, "bytes": 8, "value": 1, "library": )";
    EXPECT_TRUE(query_of_row(row_of(job + R"("XCCL")")).fitted);
    EXPECT_FALSE(query_of_row(row_of(job + R"("XCCL 2.1")")).fitted) << "another library than the listed one";
}

TEST(PublishedCollectives, what_cannot_be_predicted_says_why) {
    const auto why = [](const std::string& row) { return query_of_row(row).refused; };
    const std::string rest = R"(, "nodes": 2, "ranks": 16, "bytes": 8, "value": 1)";
    EXPECT_EQ(why(R"({"machine": "Sun", "kind": "power", "unit": "MW", "value": 0})"),
              "kind \"power\" is no collective that is simulated");
    EXPECT_EQ(why(row_of(R"("machine": "Sun", "library": "XCCL")" + rest)), "machine \"Sun\" is unknown");
    EXPECT_EQ(why(row_of(R"("machine": "Moon", "library": "YCCL")" + rest)), "library \"YCCL\" is unknown");
    EXPECT_EQ(why(row_of(R"("machine": "Moon")" + rest)), "the row is without a library");
    EXPECT_EQ(why(row_of(R"("machine": "Moon", "library": "XCCL", "ranks": 2, "bytes": 8, "value": 1)")),
              "the row is without nodes");
    EXPECT_EQ(why(row_of(R"("machine": "Moon", "library": "XMPI on XCCL", "algorithm": "star")" + rest)),
              "algorithm \"star\" of XMPI on XCCL is unknown");
    EXPECT_EQ(why(R"({"kind": "all_reduce", "unit": "GB/s", )" + kJob + "}"), "all_reduce in GB/s: times are compared");
}

TEST(PublishedCollectives, a_slip_is_refused_with_row_key_value_and_what_is_allowed) {
    const auto expect = [](const std::string& row, std::initializer_list<const char*> words) {
        const std::string text = refusal(row);
        for (const char* const word : words) {
            EXPECT_NE(text.find(word), std::string::npos) << row << "\n" << text;
        }
    };
    const std::string job = R"("machine": "Moon", "ranks": 16, )";
    expect(row_of(job + R"("value": -1)"), {"r: $[0].value", "found -1", "from 0"});
    expect(row_of(job + R"("value": 0)"), {"r: $[0].value", "found 0", "a time above 0"});
    expect(row_of(job + R"("value": "20")"), {"r: $[0].value", "found \"20\"", "number"});
    expect(row_of(job + R"("nodes": 2)"), {"r: $[0]", "value"});
    expect(row_of(job + R"("value": 1, "nodes": 2.5)"), {"r: $[0].nodes", "2.5"});
    expect(row_of(job + R"("value": 1, "bytes": 0.5)"), {"r: $[0].bytes", "0.5", "a whole number of bytes"});
    expect(R"({"kind": "all_reduce", "unit": "furlongs", )" + job + R"("value": 1})",
           {"r: $[0].unit", "furlongs", "ns, us, ms or s"});
    expect(R"(7)", {"r: $[0]", "7"});
    EXPECT_THROW(static_cast<void>(parse_published_collectives("{}", "r")), InputError);
    EXPECT_THROW(static_cast<void>(read_published_names(JsonDocument::parse("{}", "n"))), InputError);
}

PredictedCollective predicted(double bytes, double seconds, bool fitted) {
    PredictedCollective one;
    one.row = read_one(row_of(kJob));
    one.query.measured_s = 20e-6;
    one.query.bytes = bytes;
    one.query.fitted = fitted;
    one.predicted_s = seconds;
    return one;
}

TEST(PublishedCollectives, errors_are_gathered_by_size_and_fitted_rows_apart) {
    std::vector<PredictedCollective> rows{predicted(8, 22e-6, false), predicted(8192, 14e-6, false),
                                          predicted(8193, 50e-6, false), predicted(8, 20e-6, true)};
    rows.emplace_back().query.refused = "no reason";
    const PublishedJudgement judgement = judge_published(rows);
    // Errors +10 %, -30 %, +150 %; fitted 0.
    EXPECT_EQ(judgement.all.all.n, 4);
    EXPECT_NEAR(judgement.all.all.median_abs_error, 0.2, 1e-12);
    EXPECT_EQ(judgement.not_fitted.all.n, 3);
    EXPECT_NEAR(judgement.not_fitted.all.median_abs_error, 0.3, 1e-12);
    EXPECT_NEAR(judgement.not_fitted.all.median_error, 0.1, 1e-12);
    EXPECT_NEAR(judgement.not_fitted.all.p90_abs_error, 0.3 + 0.8 * (1.5 - 0.3), 1e-12);
    EXPECT_EQ(judgement.not_fitted.by_size.at(SizeClass::kSmall).n, 2);
    EXPECT_EQ(judgement.not_fitted.by_size.at(SizeClass::kMedium).n, 1);
    EXPECT_EQ(judgement.not_fitted.by_library.at("XCCL 2.1").n, 3);
    EXPECT_EQ(judgement.fitted.all.n, 1);
    EXPECT_EQ(judgement.not_fitted_cells.size(), 2U);
    EXPECT_EQ(judgement.worst, (std::vector<std::size_t>{2, 1, 0, 3}));
    EXPECT_EQ(judgement.not_predicted.at("no reason"), 1);
    EXPECT_EQ(judge_published({}).all.all.n, 0);
}

}  // namespace
}  // namespace auspex::evaluate
