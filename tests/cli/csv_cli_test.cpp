/// @file --csv of the commands that have it: every number of the answer, one a row.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

constexpr const char* kInputs =
    " --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b --set plan.micro_batches=2 ";

class CsvCli : public testing::Test, protected testing_cli::Runner {
 protected:
    using Row = std::map<std::string, std::string>;

    /// Rows of the table that a command leaves, by the names of columns.
    std::vector<Row> table_of(const std::string& command) {
        const std::string file = folder_ + "table.csv";
        std::filesystem::remove(file);
        answer_ = run(command + " --json --csv '" + file + "'");
        EXPECT_EQ(answer_.exit_code, 0) << answer_.error;
        const std::string text = testing_cli::text_of(file);
        std::vector<std::string> columns;
        std::vector<Row> rows;
        std::set<std::string> seen;
        for (const CsvLine& line : csv_lines(text, "table")) {
            const std::vector<std::string> fields = csv_fields(line.text, line.place);
            if (columns.empty()) {
                columns = fields;
                continue;
            }
            EXPECT_EQ(fields.size(), columns.size()) << line.text;
            Row row;
            std::string key;
            for (std::size_t i = 0; i < columns.size(); ++i) {
                row[columns[i]] = fields.at(i);
                key += i + 2 < columns.size() ? fields[i] + "|" : "";  // without value and unit
            }
            EXPECT_TRUE(seen.insert(key).second) << "twice: " << line.text;
            rows.push_back(row);
        }
        return rows;
    }
    static std::string value(const std::vector<Row>& rows, const std::string& table, const std::string& name,
                             const std::string& quantity, const std::string& tiles = "") {
        for (const Row& row : rows) {
            if (row.at("table") == table && row.at("name") == name && row.at("quantity") == quantity &&
                (tiles.empty() || row.at("tiles") == tiles)) {
                return row.at("value") + (row.at("unit").empty() ? "" : " " + row.at("unit"));
            }
        }
        return "none";
    }

    Outcome answer_;
};

TEST_F(CsvCli, a_prediction_has_its_inputs_in_every_row) {
    const std::vector<Row> rows = table_of(std::string("predict --tiles 96") + kInputs);
    ASSERT_GT(rows.size(), 100U);
    for (const Row& row : rows) {
        EXPECT_EQ(row.at("machine"), "aurora");
        EXPECT_EQ(row.at("overrides"), "plan.micro_batches=2");
        EXPECT_EQ(row.at("tiles"), "96");
        EXPECT_EQ(row.at("nodes"), "8");
        EXPECT_EQ(row.at("ep"), "12");
        EXPECT_EQ(row.at("dp"), "8");
        EXPECT_FALSE(row.at("version").empty());
    }
    const JsonDocument json = JsonDocument::parse(answer_.out, "out");
    const JsonValue root = json.root();
    EXPECT_EQ(value(rows, "result", "", "step_time_s"), root.at("step_time_s").excerpt() + " s");
    EXPECT_EQ(value(rows, "losses", "exposed_dp", "time"), root.at("losses").at("exposed_dp").excerpt() + " s");
    EXPECT_EQ(value(rows, "memory.by_label", "weights", "bytes"),
              root.at("memory").at("by_label").at("weights").excerpt() + " B");
    EXPECT_EQ(value(rows, "waterfall", "peak", "mfu"), "1");
}

TEST_F(CsvCli, sizes_have_grids_of_their_own) {
    const std::vector<Row> rows = table_of(std::string("scale --tiles 96,192") + kInputs);
    EXPECT_EQ(value(rows, "points", "1", "efficiency", "96"), "1");
    EXPECT_NE(value(rows, "points", "2", "step_time_s", "192"), "none");
    EXPECT_EQ(value(rows, "points", "1", "step_time_s", "192"), "none");
}

TEST_F(CsvCli, others_have_their_tables) {
    EXPECT_NE(value(table_of(std::string("ablate --tiles 96") + kInputs), "rows", "baseline", "step_time_s", "96"),
              "none");
    std::vector<Row> rows = table_of(std::string("memory --tiles 96") + kInputs);
    EXPECT_NE(value(rows, "memory.by_stage.by_label", "0/weights", "bytes", "96"), "none");
    EXPECT_EQ(rows.front().at("dp"), "8");
    rows = table_of(std::string("place --tiles 96 --placements contiguous,scattered") + kInputs);
    EXPECT_NE(value(rows, "placements", "scattered", "step_time_s", "96"), "none");
    rows = table_of("collective --machine aurora --stack optimus --kind all-reduce --ranks 24 --bytes 8,64KiB");
    EXPECT_EQ(value(rows, "sweep", "2", "bytes", "24"), "65536 B");
    rows = table_of("plan --machine aurora --stack optimus --workload toy-moe --tiles 12 --global-batch 12 --top 2");
    EXPECT_NE(value(rows, "best", "1", "step_time_s", "12"), "none");
    EXPECT_EQ(value(rows, "best.plan", "1", "precision", "12"), "bf16");
    for (const char* file : {"a", "b"}) {
        const std::string more = std::string(file) == "a" ? "" : " --set plan.recompute=[\\\"norm\\\"]";
        std::ofstream(folder_ + file) << run(std::string("predict --json --tiles 96") + kInputs + more).out;
    }
    rows = table_of("diff '" + folder_ + "a' '" + folder_ + "b'");
    EXPECT_NE(value(rows, "losses", "recompute", "after"), "none");
}

TEST_F(CsvCli, what_cannot_be_written_is_said) {
    EXPECT_EQ(fault_of_refusal(std::string("predict --tiles 96 --csv /nowhere/at/all.csv") + kInputs,
                               {"--csv", "/nowhere/at", "folder"}),
              "");
    EXPECT_EQ(fault_of_refusal("plan --machine aurora --stack optimus --workload toy-moe --tiles 12 --csv /tmp",
                               {"--csv", "directory"}),
              "");
    EXPECT_EQ(fault_of_refusal("collective --against tests/published/slingshot-collectives.json --csv x.csv",
                               {"--csv", "--against"}),
              "");
}

}  // namespace
}  // namespace auspex::cli
