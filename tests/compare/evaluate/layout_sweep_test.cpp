/// @file Tables of measured layouts: what is read, what is inferred, what is refused, how cells are judged.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "compare/evaluate/sweep_judgement.hpp"

namespace auspex::evaluate {
namespace {

const std::string kHeader =
    "params_b,nodes,hidden_size,layers,heads,kv_heads,vocab_size,tied_embeddings,tp,pp,dp,zero_stage,micro_batch_size,"
    "micro_batches,status,tokens_per_s_per_gpu,allocated_gb,reserved_gb,total_parameters,allreduce_gb_per_s,"
    "after_pp_fix\n";
const std::string kRow =
    "1.34,1,2048,16,32,32.0,131072,True,1,1,8,0,2,16.0,ok,40149.94,25.07,50.18,1.34G,425.34,True\n";

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(parse_layout_sweep(text, "s.csv"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(LayoutSweep, a_row_is_read_and_its_feed_forward_inferred) {
    const std::vector<SweepRow> rows = parse_layout_sweep(kHeader + kRow, "s.csv");
    ASSERT_EQ(rows.size(), 1U);
    const SweepRow& row = rows.front();
    EXPECT_EQ(row.place, "s.csv:2");
    EXPECT_EQ(row.tokens_per_step(), 8.0 * 2 * 16 * 4096);
    // 131072 x 2048 tied + 16 (4 x 2048^2 + 3 x 2048 f) = 1.34e9 for f = 8192: 268 M + 16 x 67.1 M.
    EXPECT_EQ(row.workload.intermediate_size, 8192);
    EXPECT_TRUE(row.speed_counts && row.after_pp_fix && row.workload.tied_embeddings);
    EXPECT_NEAR(*row.reserved_bytes, 50.18 * 1073741824.0, 1);
    const models::Plan plan = plan_of(row, {});
    EXPECT_EQ(plan.dp, 8);
    EXPECT_EQ(plan.micro_batches, 16);
    EXPECT_EQ(plan.optimizer, models::OptimizerSharding::kReplicated);
}

TEST(LayoutSweep, columns_are_known_by_their_names_in_any_order) {
    const auto reversed = [](std::string line) {
        line.pop_back();
        std::string fields;
        for (std::size_t end = line.size(), comma = 0; comma != std::string::npos; end = comma) {
            comma = line.rfind(',', end - 1);
            const std::size_t begin = comma == std::string::npos ? 0 : comma + 1;
            fields += (fields.empty() ? "" : ",") + line.substr(begin, end - begin);
        }
        return fields + "\n";
    };
    const std::vector<SweepRow> rows = parse_layout_sweep(reversed(kHeader) + reversed(kRow), "s.csv");
    EXPECT_EQ(rows.front().tokens_per_step(), 8.0 * 2 * 16 * 4096);
    EXPECT_EQ(rows.front().workload.intermediate_size, 8192);
}

TEST(LayoutSweep, speed_of_pipelines_counts_after_the_fix_only) {
    const auto counts = [](const char* pp, const char* fix) {
        return parse_layout_sweep(kHeader + "1.34,1,2048,16,32,32,131072,True,1," + pp +
                                      ",4,0,2,16,ok,40149.94,,,1.34G,," + fix + "\n",
                                  "s.csv")
            .front()
            .speed_counts;
    };
    EXPECT_TRUE(counts("1", "False"));
    EXPECT_TRUE(counts("2", "True"));
    EXPECT_FALSE(counts("2", "False"));
}

TEST(LayoutSweep, what_is_wrong_is_named_with_line_and_column) {
    EXPECT_NE(refusal("").find("s.csv: found no header"), std::string::npos);
    EXPECT_NE(refusal(kHeader).find("no rows"), std::string::npos);
    EXPECT_NE(refusal("tp,pp\n1,1\n").find("found a header without params_b"), std::string::npos);
    std::string unknown = kHeader;
    unknown.replace(unknown.find("reserved_gb"), 11, "reserved_gib");
    const std::string of_unknown = refusal(unknown + kRow);
    EXPECT_NE(of_unknown.find("s.csv:1: found the unknown column \"reserved_gib\"; expected columns of params_b, "),
              std::string::npos);
    EXPECT_NE(of_unknown.find(", reserved_gb, "), std::string::npos) << "what it may have been";
    EXPECT_NE(refusal(kHeader + "1,2\n").find("s.csv:2: found 2 fields; expected 21"), std::string::npos);
    const auto with = [](const std::string& from, const std::string& to) {
        std::string row = kRow;
        row.replace(row.find(from), from.size(), to);
        return kHeader + row;
    };
    EXPECT_NE(refusal(with(",ok,", ",fine,")).find("s.csv:2: column \"status\": found \"fine\"; expected one of ok"),
              std::string::npos);
    EXPECT_NE(refusal(with("1.34,1,2048", "1.34,0.5,2048")).find("column \"nodes\""), std::string::npos);
    EXPECT_NE(refusal(with("40149.94", "-3")).find("column \"tokens_per_s_per_gpu\""), std::string::npos);
    EXPECT_NE(refusal(with(",32,32.0", ",30,30")).find("column \"heads\""), std::string::npos);
}

TEST(LayoutSweep, models_that_no_width_explains_are_refused) {
    const auto with = [](const std::string& billions, const std::string& total) {
        return refusal(kHeader + billions + ",1,2048,16,32,32,131072,True,1,1,8,0,2,16,ok,40149.94,,," + total +
                       ",,True\n");
    };
    EXPECT_EQ(with("1.34", "1.34G"), "accepted");
    for (const char* total : {"inf", "nan", "1e300", "0.1G", "9000T"}) {
        EXPECT_NE(with("1.34", total).find("s.csv:2"), std::string::npos) << total;
    }
    EXPECT_NE(with("1000000", "").find("feed-forward"), std::string::npos);
}

SweepRow measured(double tokens_per_s) {
    SweepRow row;
    row.params_b = 1, row.nodes = 1, row.dp = 8, row.workload.sequence_length = 10;
    row.status = tokens_per_s > 0 ? SweepStatus::kOk : SweepStatus::kOutOfMemory;
    row.tokens_per_s_per_tile = tokens_per_s;
    row.speed_counts = tokens_per_s > 0;
    return row;
}

TEST(SweepJudgement, regret_is_of_the_fastest_that_is_said_to_fit_and_verdicts_are_counted) {
    // Three ran at 100, 80, 50 tokens/s; one was out of memory. Predicted steps 3, 2, 1 s: the last is said not to fit,
    // so the second is chosen: 100 / 80 - 1. All three pairs are in the wrong order: tau -1. Verdicts: 2 of 4 right.
    const std::vector<SweepRow> rows{measured(100), measured(80), measured(50), measured(0)};
    const std::vector<SweepPrediction> predictions{
        {"", 3, 0, true}, {"", 2, 0, true}, {"", 1, 0, false}, {"", 1, 0, true}};
    const SweepJudgement all = judge_sweep(rows, predictions);
    ASSERT_EQ(all.cells.size(), 1U);
    const SweepCell& cell = all.cells.front();
    EXPECT_EQ(cell.n, 3);
    EXPECT_NEAR(*cell.regret, 0.25, 1e-12);
    EXPECT_EQ(*cell.kendall_tau, -1);
    EXPECT_EQ(cell.predicted_best, 1U);
    EXPECT_EQ(cell.measured_best, 0U);
    EXPECT_EQ(cell.said_fits_but_oom, 1);
    EXPECT_EQ(cell.said_oom_but_fits, 1);
    EXPECT_EQ(*cell.oom_accuracy(), 0.5);
}

TEST(SweepJudgement, where_nothing_is_said_to_fit_all_are_offered_and_what_is_no_plan_counts_nowhere) {
    const std::vector<SweepRow> rows{measured(100), measured(80), measured(50)};
    const SweepJudgement all = judge_sweep(rows, {{"", 2, 0, false}, {"", 1, 0, false}, {"no plan", 0, 0, false}});
    const SweepCell& cell = all.cells.front();
    EXPECT_EQ(cell.n, 2);
    EXPECT_EQ(cell.refused, 1);
    EXPECT_NEAR(*cell.regret, 0.25, 1e-12);
    EXPECT_EQ(all.refusals.at("no plan"), 1);
}

}  // namespace
}  // namespace auspex::evaluate
