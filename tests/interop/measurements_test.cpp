/// @file What benchmarks of communication print, as rows of measurements. The texts are written for these tests, in the
/// columns that the programs have.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/measurements/measured_text.hpp"

namespace auspex::interop {
namespace {

/// Two hosts of four devices each. 1 MiB in 100 us are 10.49 GB/s; all-reduce over 8 ranks: 2 x 7/8 = 1.75 times it.
constexpr const char* kHead =
    "# nccl-tests version 2.17.1\n# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid    100 on     hostA device  0 [0x07] Some GPU\n"
    "#  Rank  1 Group  0 Pid    101 on     hostA device  1 [0x08] Some GPU\n"
    "#  Rank  2 Group  0 Pid    102 on     hostA device  2 [0x09] Some GPU\n"
    "#  Rank  3 Group  0 Pid    103 on     hostA device  3 [0x0a] Some GPU\n"
    "#  Rank  4 Group  0 Pid    200 on     hostB device  0 [0x07] Some GPU\n"
    "#  Rank  5 Group  0 Pid    201 on     hostB device  1 [0x08] Some GPU\n"
    "#  Rank  6 Group  0 Pid    202 on     hostB device  2 [0x09] Some GPU\n"
    "#  Rank  7 Group  0 Pid    203 on     hostB device  3 [0x0a] Some GPU\n#\n";
constexpr const char* kColumns =
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";
constexpr const char* kTable =
    "           8             2     float     sum      -1    20.00    0.00    0.00      0    21.00    0.00    0.00     "
    " 0\n"
    "hostA:100:110 [0] NCCL INFO comm 0x1 done\n"
    "     1048576        262144     float     sum      -1   100.00   10.49   18.35      0   105.00    9.99   17.48     "
    " 0\n";
constexpr const char* kTail = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 8.95\n#\n";

std::string whole() { return std::string(kHead) + kColumns + kTable + kTail; }
std::string whole_with(const std::string& was, const std::string& is) {
    std::string text = whole();
    const std::size_t at = text.find(was);
    return at == std::string::npos ? "no such text" : text.replace(at, was.size(), is);
}

MeasuredText text_of(const std::string& text) {
    MeasuredText from;
    from.text = text, from.name = "out.txt";
    return from;
}
std::string refusal(const MeasuredText& from, MeasuredRows (*read)(const MeasuredText&)) {
    try {
        static_cast<void>(read(from));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}
std::string refusal(const std::string& text) { return refusal(text_of(text), rows_of_nccl_tests); }
bool has(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

TEST(NcclTests, both_columns_are_rows) {
    const MeasuredRows measured = rows_of_nccl_tests(text_of(whole()));
    ASSERT_EQ(measured.rows.size(), 4U);
    const models::Measurement& row = measured.rows[2];
    EXPECT_EQ(row.kind, "collective");
    EXPECT_EQ(row.name, "all-reduce");
    EXPECT_EQ(row.ranks, 8);
    EXPECT_EQ(row.nodes, 2);
    EXPECT_EQ(row.active, 1);
    EXPECT_EQ(row.bytes, 1048576);
    EXPECT_DOUBLE_EQ(row.seconds, 100e-6);
    EXPECT_EQ(row.count, 20);
    EXPECT_PRED2(has, row.source, "out of place");
    EXPECT_DOUBLE_EQ(measured.rows[3].seconds, 105e-6);
    EXPECT_PRED2(has, measured.rows[3].source, "in place");
    MeasuredText large = text_of(whole());
    large.min_bytes = 1024;
    EXPECT_EQ(rows_of_nccl_tests(large).rows.size(), 2U);
    EXPECT_EQ(models::parse_measurements(measurement_table(measured.rows), "rows.csv").size(), 4U);
}

// Older releases: no root, "error" instead of "#wrong", and no word of the collective. 3/4 of all-gathers' algbw.
TEST(NcclTests, older_tables_need_the_collective) {
    const std::string text =
        "# nThread: 1 nGpus: 4 minBytes: 1024 maxBytes: 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
        "#       size         count      type     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "#        (B)    (elements)               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
        "     4000000        250000     float    400.0   10.00    7.50  0e+00    400.0   10.00    7.50  1e-06\n"
        "# Avg bus bandwidth    : 7.5\n";
    MeasuredText from = text_of(text);
    EXPECT_PRED2(has, refusal(from, rows_of_nccl_tests), "--kind");
    from.kind = "all-gather";
    EXPECT_PRED2(has, refusal(from, rows_of_nccl_tests), "--ranks");
    from.ranks = 4;
    EXPECT_PRED2(has, refusal(from, rows_of_nccl_tests), "--nodes");
    from.nodes = 1;
    EXPECT_EQ(rows_of_nccl_tests(from).rows.size(), 2U);
    from.kind = "all-reduce";  // would be 1.5 times
    EXPECT_PRED2(has, refusal(from, rows_of_nccl_tests), "out.txt:4: found busbw 7.5 beside algbw 10");
    from.kind = "all-gather", from.ranks = 8;
    EXPECT_PRED2(has, refusal(from, rows_of_nccl_tests), "all-gather over 8 ranks");
}

TEST(NcclTests, several_runs_and_groups_in_a_file) {
    const std::string two = whole() + whole_with("all_reduce_perf", "all_reduce_perf");
    EXPECT_EQ(rows_of_nccl_tests(text_of(two)).rows.size(), 8U);
    std::string groups = whole();
    for (std::size_t at = groups.find("Rank  "); at != std::string::npos; at = groups.find("Rank  ", at + 1)) {
        const char rank = groups[at + 6];
        groups[at + 15] = rank >= '4' ? '1' : '0';  // two groups of four, one on each host
    }
    EXPECT_PRED2(has, refusal(groups), "over 4 ranks");  // busbw is that of 8
}

TEST(NcclTests, what_is_damaged_or_contradicts_itself_is_refused) {
    EXPECT_EQ(refusal(whole()), "accepted");
    EXPECT_PRED2(has, refusal(std::string(kHead) + kColumns + kTable), "without its end");
    EXPECT_PRED2(has, refusal(whole_with("18.35      0", "18.35      3")), "3 wrong results");
    EXPECT_PRED2(has, refusal(whole_with("100.00   10.49", "200.00   10.49")), "expected size over time, 5.24");
    EXPECT_PRED2(has, refusal(whole_with("10.49   18.35", "10.49   10.49")), "1.75 times it");
    EXPECT_PRED2(has, refusal(whole_with("   21.00    0.00    0.00      0", "   21.00")),
                 "found 10 columns; expected 13");
    EXPECT_PRED2(has, refusal(whole_with("(us)  (GB/s)", "(ms)  (GB/s)")), "other units");
    EXPECT_PRED2(has, refusal(whole_with("#wrong     time", "#wrong     tide")), "other columns");
    EXPECT_PRED2(has, refusal(whole_with("1048576  ", "1e6x  ")), "column \"size\"");
    EXPECT_PRED2(has, refusal(whole_with("all_reduce_perf", "sendrecv_perf")), "sendrecv_perf");
    EXPECT_PRED2(has, refusal(whole_with("hostA:100:110 [0] NCCL INFO comm 0x1 done", "Segmentation fault")),
                 "found 2 columns");
    EXPECT_PRED2(has, refusal(""), "found no table");
    EXPECT_PRED2(has, refusal(kTail), "no beginning");
    MeasuredText other = text_of(whole());
    other.ranks = 16;
    EXPECT_PRED2(has, refusal(other, rows_of_nccl_tests), "--ranks: found 16");
    other.ranks = 0, other.kind = "broadcast";
    EXPECT_PRED2(has, refusal(other, rows_of_nccl_tests), "--kind: found broadcast");
}

constexpr const char* kOsuAllreduce =
    "\n# OSU MPI-CUDA Allreduce Latency Test v7.2\n# Datatype: MPI_FLOAT.\n"
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
    "4                      10.00              9.00             11.00        1000\n"
    "1048576               250.00            240.00            260.00         100\n";

TEST(Osu, collectives_are_rows_of_their_mean) {
    MeasuredText from = text_of(kOsuAllreduce);
    EXPECT_PRED2(has, refusal(from, rows_of_osu), "--ranks");
    from.ranks = 8;
    EXPECT_PRED2(has, refusal(from, rows_of_osu), "--nodes");
    from.nodes = 2;
    const MeasuredRows measured = rows_of_osu(from);
    ASSERT_EQ(measured.rows.size(), 2U);
    EXPECT_EQ(measured.rows[1].name, "all-reduce");
    EXPECT_EQ(measured.rows[1].bytes, 1048576);
    EXPECT_DOUBLE_EQ(measured.rows[1].seconds, 250e-6);
    EXPECT_EQ(measured.rows[1].count, 100);
    EXPECT_EQ(measured.rows[1].ranks, 8);
    EXPECT_EQ(measured.rows[1].nodes, 2);
}

// What one rank gives to an all-gather, and what goes to one rank in an all-to-all: times the ranks. Short columns.
TEST(Osu, sizes_of_one_rank_are_multiplied) {
    const std::string columns = "# Size       Avg Latency(us)\n1024    10.0\n";
    for (const auto& [title, name, factor] : {std::tuple("Allgather Latency", "all-gather", 8),
                                              {"All-to-All Personalized Exchange Latency", "all-to-all", 8},
                                              {"Reduce_scatter Latency", "reduce-scatter", 1},
                                              {"Broadcast Latency", "broadcast", 1}}) {
        MeasuredText from = text_of("# OSU MPI " + std::string(title) + " Test v5.8\n" + columns);
        from.ranks = 8, from.nodes = 1;
        const MeasuredRows measured = rows_of_osu(from);
        ASSERT_EQ(measured.rows.size(), 1U);
        EXPECT_EQ(measured.rows[0].name, name);
        EXPECT_EQ(measured.rows[0].bytes, 1024.0 * factor);
    }
}

// seconds = bytes / (MB/s x 1e6); of many messages under way only large ones tell what a link carries.
TEST(Osu, messages_of_two_ranks_are_rows_of_a_link) {
    MeasuredText rate = text_of(
        "# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n"
        "1024                1000.00\n1048576            20000.00\n4194304            25000.00\n");
    EXPECT_PRED2(has, refusal(rate, rows_of_osu), "--link: found no such flag");
    rate.link = "wire";
    EXPECT_PRED2(has, refusal(rate, rows_of_osu), "found wire");
    rate.link = "nic";
    MeasuredRows measured = rows_of_osu(rate);
    ASSERT_EQ(measured.rows.size(), 2U);
    EXPECT_EQ(measured.rows[0].kind, "link");
    EXPECT_EQ(measured.rows[0].name, "nic");
    EXPECT_EQ(measured.rows[0].nodes, 2);
    EXPECT_DOUBLE_EQ(measured.rows[1].seconds, 4194304 / 25e9);
    EXPECT_EQ(measured.notes.size(), 1U);
    rate.min_bytes = 0;
    EXPECT_EQ(rows_of_osu(rate).rows.size(), 3U);
    MeasuredText latency =
        text_of("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0      1.5\n8      1.6\n65536   6.0\n");
    latency.link = "pair";
    measured = rows_of_osu(latency);
    ASSERT_EQ(measured.rows.size(), 2U);  // not that of no bytes
    EXPECT_EQ(measured.rows[0].nodes, 1);
    EXPECT_DOUBLE_EQ(measured.rows[1].seconds, 6e-6);
}

TEST(Osu, what_is_damaged_or_not_known_is_refused) {
    const auto fault = [](const std::string& was, const std::string& is) {
        std::string text = kOsuAllreduce;
        MeasuredText from = text_of(text.replace(text.find(was), was.size(), is));
        from.ranks = 8, from.nodes = 2;
        return refusal(from, rows_of_osu);
    };
    EXPECT_EQ(fault("v7.2", "v7.3"), "accepted");
    EXPECT_PRED2(has, fault("Allreduce Latency", "Barrier Latency"), "the test \"Barrier Latency\"");
    EXPECT_PRED2(has, fault("Allreduce Latency", "Bi-Directional Bandwidth"), "Bi-Directional Bandwidth");
    EXPECT_PRED2(has, fault("Avg Latency(us)", "Avg Latency(ms)"), "other columns");
    EXPECT_PRED2(has, fault("1048576  ", "2        "), "found size 2 after 4");
    EXPECT_PRED2(has, fault("260.00         100\n", "260.00"), "no end of the line");
    EXPECT_PRED2(has, fault("10.00              9.00", "10.00"), "found 4 columns");
    EXPECT_PRED2(has, fault("250.00", "2,50"), "plain number");
    EXPECT_PRED2(has, refusal(text_of("hello\n"), rows_of_osu), "found no table");
    EXPECT_PRED2(has, refusal(text_of("# Size   Latency (us)\n"), rows_of_osu), "columns of no test");
    MeasuredText failed = text_of(
        "# OSU MPI Broadcast Latency Test v7.2\n# Size       Avg Latency(us)  Validation\n"
        "8    1.0   Fail\n");
    failed.ranks = 4, failed.nodes = 1;
    EXPECT_PRED2(has, refusal(failed, rows_of_osu), "Fail");
}

TEST(Measured, published_rows_count_whole_buffers) {
    const JsonDocument rows =
        JsonDocument::parse(published_table(rows_of_nccl_tests(text_of(whole())).rows, "A", "B"), "rows");
    const JsonValue row = rows.root().elements().at(2);
    EXPECT_EQ(row.at("kind").as_string(), "all_reduce");
    EXPECT_EQ(row.at("bytes").as_integer(1, 1 << 30), 1048576);
    EXPECT_DOUBLE_EQ(row.at("value").as_number(0, 1), 100e-6);
    EXPECT_TRUE(row.at("note").as_string().starts_with("total buffer"));
}

}  // namespace
}  // namespace auspex::interop
