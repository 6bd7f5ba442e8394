/// @file Files of measurements: what is written is read back, and a slip is refused by line and column.
#include "models/measurement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace auspex::models {
namespace {

const std::string kHeader =
    "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source\n";
const std::string kKernel = "kernel,copy,fp32,cache,1,65536,1,1,1,1,1,,1.5e-06,0.01,31,this machine\n";

/// The message with which a text is refused; empty when it is read.
std::string refusal(const std::string& text) {
    try {
        static_cast<void>(parse_measurements(text, "m.csv"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// Expects that the row, in line 2, is refused with a message that names the place and what is expected.
void expect_refused(const std::string& row, const std::string& column, const std::string& expected) {
    const std::string message = refusal(kHeader + row + "\n");
    EXPECT_EQ(message.rfind("m.csv:2: ", 0), 0U) << row << " gave: " << message;
    EXPECT_NE(message.find(column), std::string::npos) << row << " gave: " << message;
    EXPECT_NE(message.find(expected), std::string::npos) << row << " gave: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Measurements, a_row_is_read_field_by_field) {
    const std::vector<Measurement> rows = parse_measurements(
        kHeader + "kernel,gemm_forward,bf16,memory,64,128,256,2,4,5,3,8192,0.00125,0.02,31,this machine\n", "m.csv");
    ASSERT_EQ(rows.size(), 1U);
    const Measurement& row = rows.front();
    EXPECT_EQ(row.kind, "kernel");
    EXPECT_EQ(row.name, "gemm_forward");
    EXPECT_EQ(row.precision, "bf16");
    EXPECT_EQ(row.where, "memory");
    EXPECT_EQ(row.rows, 64);
    EXPECT_EQ(row.columns, 128);
    EXPECT_EQ(row.depth, 256);
    EXPECT_EQ(row.groups, 2);
    EXPECT_EQ(row.active, 4);
    EXPECT_EQ(row.ranks, 5);
    EXPECT_EQ(row.nodes, 3);
    EXPECT_EQ(row.bytes, 8192);
    EXPECT_EQ(row.seconds, 0.00125);
    EXPECT_EQ(row.spread, 0.02);
    EXPECT_EQ(row.count, 31);
    EXPECT_EQ(row.source, "this machine");
    EXPECT_EQ(line_of(row), "m.csv:2");
    Measurement made;
    made.source = "by hand";
    EXPECT_EQ(line_of(made), "by hand");  // read from no file
}

// What a row leaves empty is what the struct has by itself: no size, one rank on one node, measured once.
TEST(Measurements, empty_fields_are_the_defaults) {
    const std::vector<Measurement> rows =
        parse_measurements(kHeader + "host,last_level_cache,,,,,,,,,,33554432,,,,sysfs\n", "m.csv");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].precision, "");
    EXPECT_EQ(rows[0].where, "");
    EXPECT_EQ(rows[0].rows + rows[0].columns + rows[0].depth + rows[0].groups, 0);
    EXPECT_EQ(rows[0].active, 1);
    EXPECT_EQ(rows[0].ranks, 1);
    EXPECT_EQ(rows[0].nodes, 1);
    EXPECT_EQ(rows[0].bytes, 33554432);
    EXPECT_EQ(rows[0].seconds, 0);
    EXPECT_EQ(rows[0].count, 1);
}

TEST(Measurements, what_is_written_is_read_back_to_the_bit) {
    Measurement kernel;
    kernel.kind = "kernel";
    kernel.name = "attention_forward";
    kernel.precision = "fp32";
    kernel.where = "cache";
    kernel.rows = 96;
    kernel.columns = 1;
    kernel.depth = 24;
    kernel.groups = 12;
    kernel.seconds = 1.0 / 3e5;
    kernel.spread = 0.1 + 0.2;
    kernel.count = 77;
    kernel.source = "this machine";
    Measurement link;
    link.kind = "link";
    link.name = "nic, \"one way\"";
    link.ranks = 2;
    link.nodes = 2;
    link.bytes = 1 << 20;
    link.seconds = 4.5e-5;
    link.source = R"(A. Author, "A title, long", table 3)";
    const std::vector<Measurement> written{kernel, link};
    const std::string text = measurement_header() + "\n" + to_csv(kernel) + "\n" + to_csv(link) + "\n";
    const std::vector<Measurement> rows = parse_measurements(text, "m.csv");
    ASSERT_EQ(rows.size(), written.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].kind, written[i].kind);
        EXPECT_EQ(rows[i].name, written[i].name);
        EXPECT_EQ(rows[i].precision, written[i].precision);
        EXPECT_EQ(rows[i].where, written[i].where);
        EXPECT_EQ(rows[i].rows, written[i].rows);
        EXPECT_EQ(rows[i].depth, written[i].depth);
        EXPECT_EQ(rows[i].groups, written[i].groups);
        EXPECT_EQ(rows[i].nodes, written[i].nodes);
        EXPECT_EQ(rows[i].bytes, written[i].bytes);
        EXPECT_EQ(rows[i].seconds, written[i].seconds);
        EXPECT_EQ(rows[i].spread, written[i].spread);
        EXPECT_EQ(rows[i].count, written[i].count);
        EXPECT_EQ(rows[i].source, written[i].source);
        EXPECT_EQ(to_csv(rows[i]), to_csv(written[i]));
    }
}

// Attention has a kernel there, by whatever name; of a message "cudnn" is no place.
TEST(Measurements, where_of_attention_is_the_name_of_a_kernel) {
    const auto row = [](const std::string& kind, const std::string& where) {
        return kHeader + kind + ",forward,bf16," + where + ",4096,,128,64,,,,4096,0.001,,,test\n";
    };
    EXPECT_EQ(parse_measurements(row("attention", "flash-attention-2"), "m.csv").front().where, "flash-attention-2");
    EXPECT_EQ(parse_measurements(row("attention", ""), "m.csv").front().where, "");
    EXPECT_THROW(static_cast<void>(parse_measurements(row("attention", "flash attention"), "m.csv")), InputError);
    EXPECT_THROW(static_cast<void>(parse_measurements(row("message", "cudnn"), "m.csv")), InputError);
}

TEST(Measurements, a_text_with_a_line_break_stays_on_one_line) {
    Measurement row;
    row.kind = "start";
    row.name = "kernel";
    row.seconds = 3e-6;
    row.source = "first\nsecond";
    EXPECT_EQ(to_csv(row).find('\n'), std::string::npos);
    EXPECT_EQ(parse_measurements(kHeader + to_csv(row), "m.csv").front().source, "first?second");
}

TEST(Measurements, comments_empty_lines_and_line_ends_of_other_systems_are_passed_over) {
    std::string header = kHeader;
    header.insert(header.size() - 1, "\r");
    const std::vector<Measurement> rows =
        parse_measurements("# one core\n\n" + header + "# a kernel\n" + kKernel + "\r\n" + kKernel, "m.csv");
    EXPECT_EQ(rows.size(), 2U);
    EXPECT_TRUE(parse_measurements(kHeader, "m.csv").empty());
    EXPECT_EQ(parse_measurements(kHeader + kKernel.substr(0, kKernel.size() - 1), "m.csv").size(), 1U);
}

TEST(Measurements, the_header_must_be_there) {
    EXPECT_EQ(measurement_header() + "\n", kHeader);
    EXPECT_NE(refusal("").find("m.csv: found no line"), std::string::npos) << refusal("");
    EXPECT_NE(refusal("# only this\n").find("expected the header kind,name"), std::string::npos);
    EXPECT_EQ(refusal("# a\nname,kind\n").rfind("m.csv:2: found \"name,kind\"; expected the header", 0), 0U);
    EXPECT_EQ(refusal(kKernel).rfind("m.csv:1: ", 0), 0U);
}

TEST(Measurements, lines_are_counted_with_comments_and_empty_ones) {
    const std::string message = refusal("# a\n" + kHeader + "\n" + kKernel + "cores,x\n");
    EXPECT_EQ(message.rfind("m.csv:5: found 2 fields; expected 16", 0), 0U) << message;
}

TEST(Measurements, quotes_must_close_and_stand_round_a_whole_field) {
    expect_refused("start,\"kernel,,,,,,,,,,,,3e-6,,,x", "quote", "its end on the same line");
    expect_refused("start,kernel,,,,,,,,,,,3e-6,,,a \"b\"", "field 16", "quotes round the whole field");
    expect_refused("start,\"ker\"nel,,,,,,,,,,,3e-6,,,x", "field 2", "quotes round the whole field");
    EXPECT_EQ(parse_measurements(kHeader + R"(start,kernel,,,,,,,,,,,3e-6,,,"a ""b"", c")", "m.csv").front().source,
              R"(a "b", c)");
    EXPECT_EQ(refusal(kHeader + "start,kernel,,,,,,,,,,,3e-6,,,\"\"").rfind("m.csv:2: column \"source\"", 0), 0U);
}

TEST(Measurements, words_are_refused_with_those_that_are_allowed) {
    expect_refused("kernels,copy,fp32,cache,1,1,1,1,1,1,1,,1e-6,,,x", "\"kind\"", "\"kernel\", \"message\"");
    expect_refused("kernel,memcpy,fp32,cache,1,1,1,1,1,1,1,,1e-6,,,x", "\"name\"", "gemm_forward");
    expect_refused("kernel,,fp32,cache,1,1,1,1,1,1,1,,1e-6,,,x", "\"name\"", "not empty");
    expect_refused("kernel,copy,fp16,cache,1,1,1,1,1,1,1,,1e-6,,,x", "\"precision\"", "\"fp32\", \"bf16\"");
    expect_refused("kernel,copy,,cache,1,1,1,1,1,1,1,,1e-6,,,x", "\"precision\": found nothing", "\"fp32\", \"bf16\"");
    expect_refused("kernel,copy,fp32,near,1,1,1,1,1,1,1,,1e-6,,,x", "\"where\"", "\"cache\", \"memory\"");
    expect_refused("kernel,copy,fp32,disk,1,1,1,1,1,1,1,,1e-6,,,x", "\"where\"", "\"cache\", \"memory\"");
    expect_refused("message,send,,cache,,,,,1,2,1,8,1e-6,,,x", "\"where\"", "\"near\", \"shared\", \"far\"");
    expect_refused("gemm,large,,,8,8,8,,,,,,1e-6,,,x", "\"precision\"", "\"fp32\", \"bf16\"");
    expect_refused("start,kernel,,,,,,,,,,,1e-6,,,", "\"source\"", "not empty");
}

TEST(Measurements, numbers_must_be_numbers_of_their_range) {
    for (const std::string bad : {"abc", "-1", "1 s", " 1", "1e", "nan", "inf", "0x10", "1e300"}) {
        expect_refused("kernel,copy,fp32,cache," + bad + ",1,1,1,1,1,1,,1e-6,,,x", "\"rows\"", "a plain number from 0");
        expect_refused("start,kernel,,,,,,,,,,," + bad + ",,,x", "\"seconds\"", "a plain number from 0");
        expect_refused("start,kernel,,,,,,,,,,,1e-6," + bad + ",,x", "\"spread\"", "a plain number from 0");
    }
    for (const std::string bad : {"0", "1.5"}) {
        expect_refused("collective,all_reduce,,,,,,," + bad + ",2,1,8,1e-6,,,x", "\"active\"", "a whole number");
        expect_refused("collective,all_reduce,,,,,,,1," + bad + ",1,8,1e-6,,,x", "\"ranks\"", "a whole number");
        expect_refused("collective,all_reduce,,,,,,,1,2," + bad + ",8,1e-6,,,x", "\"nodes\"", "a whole number");
        expect_refused("collective,all_reduce,,,,,,,1,2,1,8,1e-6,," + bad + ",x", "\"count\"", "a whole number");
    }
    expect_refused("collective,all_reduce,,,,,,,1,2,3,8,1e-6,,,x", "\"nodes\"", "not more nodes than ranks, 2");
}

TEST(Measurements, every_kind_has_numbers_that_it_cannot_leave_out) {
    expect_refused("kernel,copy,fp32,cache,,1,1,1,1,1,1,,1e-6,,,x", "\"rows\"", "above 0 in a row of kind \"kernel\"");
    expect_refused("kernel,copy,fp32,cache,1,0,1,1,1,1,1,,1e-6,,,x", "\"columns\"", "above 0");
    expect_refused("kernel,copy,fp32,cache,1,1,,1,1,1,1,,1e-6,,,x", "\"depth\"", "above 0");
    expect_refused("kernel,copy,fp32,cache,1,1,1,,1,1,1,,1e-6,,,x", "\"groups\"", "above 0");
    expect_refused("kernel,copy,fp32,cache,1,1,1,1,1,1,1,,0,,,x", "\"seconds\"", "above 0");
    expect_refused("gemm,large,bf16,,8,8,,,,,,,1e-6,,,x", "\"depth\"", "above 0 in a row of kind \"gemm\"");
    for (const std::string start : {"message,send,,near", "collective,all_gather,,", "link,nic,,", "memory,triad,,"}) {
        expect_refused(start + ",,,,,1,2,1,,1e-6,,,x", "\"bytes\": found nothing", "above 0");
        expect_refused(start + ",,,,,1,2,1,8,,,,x", "\"seconds\": found nothing", "above 0");
        EXPECT_EQ(refusal(kHeader + start + ",,,,,1,2,1,8,1e-6,,,x"), "");
    }
    expect_refused("host,slice,,,,,,,,,,,,,,x", "\"seconds\"", "here, or as bytes");
    EXPECT_EQ(refusal(kHeader + "host,slice,,,,,,,2,2,1,,0.003,,,x"), "");
}

TEST(Measurements, a_file_is_loaded_by_name) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / ("auspex-measurements-" + std::to_string(getpid()) + ".csv");
    std::ofstream(file) << kHeader << kKernel;
    EXPECT_EQ(load_measurements(file.string()).size(), 1U);
    std::ofstream(file) << kHeader << "kernel\n";
    try {
        static_cast<void>(load_measurements(file.string()));
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).rfind(file.string() + ":2: found 1 fields", 0), 0U) << error.what();
    }
    std::filesystem::remove(file);
    EXPECT_THROW(static_cast<void>(load_measurements(file.string())), InputError);
    EXPECT_THROW(static_cast<void>(load_measurements(testing::TempDir())), InputError);
}

}  // namespace
}  // namespace auspex::models
