/// @file auspex calibrate as people call it: what it refuses, and before it measures anything.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli_fixture.hpp"

namespace auspex {
namespace {

using testing_cli::text_of;

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
    expect_refused(out() + "--from " + rows + " --machine aurora", {"rows.csv:1", "the header"});
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
}  // namespace auspex
