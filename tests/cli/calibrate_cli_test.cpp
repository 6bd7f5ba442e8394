/// @file auspex calibrate as people call it: what it refuses, and before it measures anything.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Background;
using testing_cli::text_of;

constexpr const char* kHeader =
    "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n";

class CalibrateCli : public testing::Test, protected testing_cli::Runner {
 protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal("calibrate " + arguments, words), "");
    }
    [[nodiscard]] std::string out() const { return "--out " + folder_ + "new.json "; }
};

TEST_F(CalibrateCli, flags_that_cannot_be_are_refused) {
    expect_refused(out() + "--max-ranks 1", {"--max-ranks", "2"});
    expect_refused(out() + "--max-ranks two", {"--max-ranks"});
    for (const char* seconds : {"0", "-5", "soon", "nan", "1e9"}) {
        expect_refused(out() + "--budget-s " + seconds, {"--budget-s", "5 to 86400"});
    }
    for (const char* precision : {"fp64", "fp32,fp32", "fp32;bf16", ","}) {
        expect_refused(out() + "--precision '" + precision + "'", {"--precision", "fp32,bf16"});
    }
    expect_refused(out() + "stray", {"stray"});
    expect_refused(out() + "--stack nope", {"nope", "auspex"});
}

TEST_F(CalibrateCli, rows_of_another_machine_need_the_machine_and_a_name) {
    const std::string rows = write("rows.csv", "kind\n");
    expect_refused(out() + "--machine aurora", {"--machine", "--from"});
    expect_refused(out() + "--from " + rows, {"--from", "--machine"});
    expect_refused("--from " + rows + " --machine aurora", {"--out"});
    expect_refused(out() + "--from " + rows + " --machine aurora --fresh", {"--from", "measuring"});
    for (const char* flag : {"--hostfile '" AUSPEX_SOURCE_DIR "/README.md'", "--mpirun=-v"}) {
        expect_refused(out() + "--from " + rows + " --machine aurora " + flag, {"--from", "measuring"});
    }
    expect_refused(out() + "--from " + rows + " --machine aurora", {"rows.csv:1", "the header"});
    expect_refused(out() + "--from nowhere.csv --machine aurora", {"--from nowhere.csv", "a CSV file"});
}

// A slip in a table is one line that names the place, and nothing is written.
TEST_F(CalibrateCli, a_slip_in_a_table_is_named_by_its_line) {
    const std::string header =
        "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n";
    const std::string good = "link,nic,,,,,,,1,2,2,1e9,0.05,,1,OSU\n";
    const auto expect = [&](const std::string& text, std::initializer_list<const char*> words) {
        expect_refused(out() + "--machine aurora --from " + write("rows.csv", text), words);
        EXPECT_FALSE(std::filesystem::exists(folder_ + "new.json")) << text;
    };
    expect("kind,name,speed\n" + good, {"rows.csv:1: ", "\"kind,name,speed\"", "the header"});
    expect(header, {"rows.csv: ", "no rows"});
    expect(header + good + "link,nic,,,,,,,1,2,2,1 GB,0.05,,1,OSU\n", {"rows.csv:3: ", "\"bytes\"", "\"1 GB\""});
    expect(header + good + "link,nic,,,,,,,1,2,2,1e9,50 ms,,1,OSU\n", {"rows.csv:3: ", "\"seconds\"", "\"50 ms\""});
    expect(header + good + "link,nic,,,,,,,1,2,2,1e9,-0.05,,1,OSU\n", {"rows.csv:3: ", "\"seconds\"", "\"-0.05\""});
    expect(header + good + "link,nic,,,,,,,1,2,2,1e9,nan,,1,OSU\n", {"rows.csv:3: ", "\"seconds\"", "\"nan\""});
    expect(header + good + "link,nic,,,,,,,1,2,2,1e9,0.0", {"rows.csv:3: ", "13 fields", "16"});
    expect(header + good + "link,nic,,,,,,,1,2,2,1e9,0.05,,1,\"OSU, 20", {"rows.csv:3: ", "quote"});
    expect(header + good + "link,wire,,,,,,,1,2,2,1e9,0.05,,1,OSU\n", {"rows.csv:3: ", "\"wire\"", "nic, rank"});
}

// Which constants differ, from what, by which rows, how well; and what the stack's would be.
TEST_F(CalibrateCli, a_table_says_what_it_changes) {
    const std::string rows = write(
        "rows.csv",
        "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n"
        "link,nic,,,,,,,1,2,2,1e9,0.05,,1,OSU\nlink,rank,,,,,,,1,2,2,1e9,0.2,,1,oneCCL\n");
    const std::string arguments = "calibrate --machine aurora --from " + rows + " " + out();
    const testing_cli::Outcome text = run(arguments);
    EXPECT_EQ(text.exit_code, 0) << text.error;
    for (const char* words :
         {"machine.node.nic.bandwidth", "23 GB/s", "20 GB/s", "1 row of link nic", "one row, not checked",
          "none of them poor", "other constants of the", "Next: auspex predict --machine ",
          "stack.transport.entries.dlcomm-2026.rank_bandwidth", "6.2 GB/s", "=5 GB/s'"}) {
        EXPECT_NE(text.out.find(words), std::string::npos) << words << " is not in\n" << text.out;
    }
    const testing_cli::Outcome json = run(arguments + " --json");
    const JsonDocument document = JsonDocument::parse(json.out, "out");
    const JsonValue change = document.root().at("changes").elements().at(0);
    EXPECT_EQ(change.at("path").as_string(), "machine.node.nic.bandwidth");
    EXPECT_EQ(change.at("before").as_number(0, 1e12), 23e9);
    EXPECT_EQ(change.at("value").as_number(0, 1e12), 20e9);
    EXPECT_EQ(change.at("verdict").as_string(), "one row, not checked");
    EXPECT_EQ(change.at("source").as_string(), "OSU");
    const JsonValue advised = document.root().at("advice").elements().at(0);
    EXPECT_EQ(advised.at("path").as_string(), "stack.transport.entries.dlcomm-2026.rank_bandwidth");
    EXPECT_EQ(advised.at("value").as_number(0, 1e12), 5e9);
    EXPECT_EQ(document.root().at("changes").elements().size(), 1U);
    EXPECT_EQ(json.out.find("Next:"), std::string::npos);
}

TEST_F(CalibrateCli, a_table_of_collectives_changes_nothing_and_says_so) {
    const std::string rows = write(
        "rows.csv",
        "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n"
        "collective,all-reduce,,,,,,,1,8,1,1e9,0.01,,1,nccl-tests\n");
    const testing_cli::Outcome text = run("calibrate --machine dgx-h100 --from " + rows + " " + out());
    EXPECT_EQ(text.exit_code, 0) << text.error;
    for (const char* words : {"No constant was fitted; 1 row of collectives checked, not fitted: typically ",
                              "No row determines a constant", "with all constants as they were"}) {
        EXPECT_NE(text.out.find(words), std::string::npos) << words << " is not in\n" << text.out;
    }
    EXPECT_EQ(text.out.find("1 fit"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("Next:"), std::string::npos) << text.out;
}

TEST_F(CalibrateCli, a_file_that_it_has_not_written_is_left_alone) {
    const std::string mine = write("mine.json", text_of(std::string(AUSPEX_SOURCE_DIR) + "/machines/aurora.json"));
    expect_refused("--out " + mine, {"mine.json", "calibration has not written"});
    EXPECT_EQ(text_of(mine), text_of(std::string(AUSPEX_SOURCE_DIR) + "/machines/aurora.json"));
    expect_refused("--out " + folder_ + "machine.txt", {"machine.txt", ".json"});
    const std::string notes = write("notes.csv", "what I wanted to say\n");
    for (const char* flag : {"", " --fresh"}) {
        expect_refused(out() + "--measurements " + notes + flag, {"notes.csv:1", "the header"});
        EXPECT_EQ(text_of(notes), "what I wanted to say\n");
    }
}

TEST_F(CalibrateCli, what_cannot_be_written_is_found_at_the_start) {
    const std::string table = write("table.json", kHeader + std::string("link,nic,,,,,,,1,2,2,1e9,0.05,,1,OSU\n"));
    expect_refused("--out " + table + " --measurements " + folder_ + "./table.json", {"--out", "--measurements"});
    expect_refused("--out " + table + " --machine aurora --from " + table, {"--out", "--from"});
    EXPECT_TRUE(text_of(table).starts_with(kHeader));
    const std::string nowhere = folder_ + "nowhere/new.json";
    for (const std::string& way :
         {std::string(" --measurements ") + folder_ + "new.csv", " --machine aurora --from " + table}) {
        expect_refused("--out " + nowhere + way, {"--out", "nowhere/new.json", "cannot be written"});
        expect_refused(out() + "--report " + table + way, {"--report", "table.json", "not a folder"});
    }
    expect_refused(out() + "--measurements " + folder_ + "nowhere/new.csv", {"--measurements", "nowhere/new.csv"});
    EXPECT_FALSE(std::filesystem::exists(folder_ + "new.json"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "new.csv"));
}

/// What a calibration has measured, under conditions that are not those of here.
constexpr const char* kMeasured =
    "# conditions: cores=123456\n"
    "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n"
    "host,slice,,,,,,,2,4,1,,0.004,,1,this machine\n# done: 2 ranks\n";

TEST_F(CalibrateCli, beginning_anew_loses_nothing) {
    const std::string rows = write("rows.csv", kMeasured);
    const std::string arguments = out() + "--fresh --measurements " + rows;
    expect_refused(arguments + " --hostfile nowhere", {"--hostfile nowhere", "a list of hosts"});
    const auto refused_with = [&](const char* variable, const char* value, std::initializer_list<const char*> words) {
        const char* const old = std::getenv(variable);
        const std::string kept = old == nullptr ? "" : old;
        setenv(variable, value, 1);
        expect_refused(arguments, words);
        static_cast<void>(old == nullptr ? unsetenv(variable) : setenv(variable, kept.c_str(), 1));
    };
    refused_with("TMPDIR", "/nonexistent", {"TMPDIR=/nonexistent", "found no such folder"});
    refused_with("PATH", "/nonexistent", {"mpirun", "in the PATH"});
    EXPECT_EQ(text_of(rows), kMeasured);
    // Found out by mpirun only, if there is one: then the old table comes back.
    EXPECT_NE(run("calibrate " + arguments + " --mpirun=--no-such-flag").exit_code, 0);
    EXPECT_EQ(text_of(rows), kMeasured);
    EXPECT_FALSE(std::filesystem::exists(rows + ".before"));
    const std::string published = std::string(AUSPEX_SOURCE_DIR) + "/machines/measurements/aurora.csv";
    const std::string table = write("aurora.csv", text_of(published));
    for (const char* flag : {"", " --fresh"}) {
        expect_refused(out() + "--measurements " + table + flag, {"aurora.csv:3", "has not written", "--from"});
        EXPECT_EQ(text_of(table), text_of(published));
    }
}

// A signal while the probe looks at the machine: nothing is left behind, and what there is is named.
TEST_F(CalibrateCli, an_interrupted_calibration_says_what_there_is) {
    if (std::system("command -v mpirun >/dev/null") != 0) {
        GTEST_SKIP() << "no mpirun";
    }
    std::filesystem::create_directories(folder_ + "temporary");
    const std::string rows = folder_ + "rows.csv";
    Background command("TMPDIR='" + folder_ + "temporary' '" AUSPEX_BINARY "' calibrate --max-ranks 2 " + out() +
                           "--measurements " + rows,
                       folder_ + "error");
    ASSERT_EQ(command.fault_of_wait_for("test -s " + rows), "");
    // Meanwhile nobody else writes there.
    const std::string holder = "process " + std::to_string(command.process()) + " on ";
    expect_refused("--max-ranks 2 " + out() + "--measurements " + folder_ + "other.csv",
                   {"--out ", "new.json: found ", holder.c_str(), "auspex calibrate --max-ranks 2"});
    expect_refused("--max-ranks 2 --out " + folder_ + "other.json --measurements " + rows,
                   {"rows.csv: found ", holder.c_str()});
    EXPECT_FALSE(std::filesystem::exists(folder_ + "other.csv"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "other.json"));
    EXPECT_EQ(command.end(SIGTERM), 128 + SIGTERM);
    EXPECT_NE(command.said().find("auspex: failed: interrupted; "), std::string::npos) << command.said();
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "temporary")) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("auspex-")) << entry.path();  // mpirun may leave some
    }
    EXPECT_FALSE(std::filesystem::exists(rows + ".lock"));
}

TEST_F(CalibrateCli, measurements_of_another_computer_are_not_gone_on_with) {
    const std::string header =
        "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n";
    const std::string rows = write("rows.csv", header + "host,computer,,,,,,1,2,2,1,1e9,,,1,\"Abacus, 1642-01-01\"\n");
    expect_refused(out() + "--measurements " + rows, {"rows.csv", "Abacus", "--fresh"});
}

TEST_F(CalibrateCli, measurements_of_other_conditions_are_not_gone_on_with) {
    const std::string header =
        "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n";
    const std::string row = "host,probe,,,,,,,2,1,1,,0.0002,,1,this machine\n";
    const std::string unknown = write("unknown.csv", header + row);
    expect_refused(out() + "--measurements " + unknown, {"unknown.csv", "under what conditions", "--fresh"});
    const std::string other = write("other.csv", "# conditions: cores=123456\n" + header + row);
    expect_refused(out() + "--measurements " + other, {"other.csv", "cores \"123456\"", "--fresh"});
    EXPECT_EQ(text_of(other), "# conditions: cores=123456\n" + header + row);
}

}  // namespace
}  // namespace auspex::cli
