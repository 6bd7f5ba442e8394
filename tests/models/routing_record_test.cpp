/// @file Routing records: what is written is read, a damaged one is not, and plans take them.
#include "models/routing_record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/rng.hpp"
#include "models/plan.hpp"
#include "models/routing.hpp"

namespace auspex::models {
namespace {

namespace fs = std::filesystem;

class Record : public testing::Test {
 protected:
    Record() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Record() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] std::string error() const {
        try {
            static_cast<void>(read_routing_record(path("r.json")));
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }

    fs::path folder_ = fs::path(testing::TempDir()) / ("auspex-record-" + std::to_string(getpid()) +
                                                       testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

RoutingRecord sample() {
    RoutingRecord record;
    record.first_step = 5;
    record.steps = 3;
    record.layers = 4;
    record.tokens = 50;
    record.top_k = 2;
    record.num_experts = 8;
    Rng rng(1);
    for (int i = 0; i < 3 * 4 * 50 * 2; ++i) {
        record.choices.push_back(static_cast<std::uint16_t>(rng.below(8)));
    }
    return record;
}

TEST_F(Record, comes_back_as_it_was_written) {
    const RoutingRecord record = sample();
    write_routing_record(record, path("r.json"));
    const RoutingRecord read = read_routing_record(path("r.json"));
    EXPECT_EQ(read.choices, record.choices);
    EXPECT_EQ(read.first_step, 5);
    EXPECT_EQ(read.steps, 3);
    EXPECT_EQ(read.layers, 4);
    EXPECT_EQ(read.tokens, 50);
    EXPECT_EQ(read.top_k, 2);
    EXPECT_EQ(read.num_experts, 8);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2) << "no temporary files";
}

TEST_F(Record, choices_of_a_token_lie_where_the_formula_says) {
    const RoutingRecord record = sample();
    // ((step * layers + layer) * tokens + token) * top_k, step counted from first_step
    EXPECT_EQ(record.of_token(6, 2, 7).data(), record.choices.data() + ((1 * 4 + 2) * 50 + 7) * 2);
    std::vector<std::int64_t> expected(8, 0);
    for (int token = 10; token < 30; ++token) {
        for (const std::uint16_t expert : record.of_token(7, 3, token)) {
            ++expected[expert];
        }
    }
    EXPECT_EQ(choices_by_expert(record, 7, 3, 10, 20), expected);
    EXPECT_EQ(choices_by_expert(record, 7, 3, 10, 0), std::vector<std::int64_t>(8, 0));
}

TEST_F(Record, damaged_choices_are_refused) {
    write_routing_record(sample(), path("r.json"));
    const std::string companion = path("r.json.choices");
    const std::string bytes = text_of(companion);
    write_file(companion, bytes.substr(0, bytes.size() - 2));
    expect_contains(error(), "r.json.choices: found 2398 bytes; expected 2400");
    write_file(companion, bytes + "ab");
    expect_contains(error(), "found 2402 bytes");
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, bytes.size() - 1}) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        write_file(companion, flipped);
        expect_contains(error(), "r.json.choices: found a file with SHA-256");
    }
    fs::remove(companion);
    expect_contains(error(), "r.json.choices: found no such file");
}

TEST_F(Record, sizes_that_contradict_the_choices_are_refused) {
    write_routing_record(sample(), path("r.json"));
    const std::string text = text_of(path("r.json"));
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const std::size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        write_file(path("r.json"), changed.replace(at, from.size(), to));
        return error();
    };
    expect_contains(with("\"steps\": 3", "\"steps\": 4"), "expected 3200");
    expect_contains(with("\"tokens\": 50", "\"tokens\": 0"), "$.choices.tokens");
    expect_contains(with("\"tokens\": 50", "\"tokens\": 2000000000"), "expected");
    expect_contains(with("\"top_k\": 2", "\"top_k\": 9"), "$.choices.top_k");
    expect_contains(with("\"num_experts\": 8", "\"num_experts\": 7"), "found expert 7 at choice");
    expect_contains(with("\"num_experts\": 8", "\"num_experts\": 9"), "$.shares");
    expect_contains(with("\"shares\": [", "\"shares\": [1"), "$.shares[0]");
    expect_contains(with("r.json.choices", "../r.json.choices"), "$.choices.file");
    expect_contains(with("\"steps\"", "\"stops\""), "unknown key \"stops\"");
    EXPECT_EQ(with("\"steps\": 3", "\"steps\": 3"), "accepted");
    expect_contains(with(text, "{\"shares\": [1, 2]}"), "missing key \"choices\"");
}

TEST_F(Record, where_nothing_can_be_written_says_so) {
    EXPECT_THROW(write_routing_record(sample(), path("nowhere/r.json")), InputError);
}

TEST_F(Record, a_plan_takes_it_as_a_trace_and_checks_it_against_the_model) {
    write_routing_record(sample(), path("r.json"));
    write_file(path("plan.json"), R"({"ep": 2, "dp": 1, "routing": {"trace": "r.json"}})");
    const Plan plan = load_plan(JsonDocument::load(path("plan.json")));
    ASSERT_TRUE(plan.routing.record);
    EXPECT_EQ(plan.routing.record->choices, sample().choices);
    const RoutingRecord& record = *plan.routing.record;
    std::vector<double> counts(8, 0);
    for (const std::uint16_t expert : record.choices) {
        counts[expert] += 1;
    }
    for (std::size_t expert = 0; expert < counts.size(); ++expert) {
        EXPECT_DOUBLE_EQ(plan.routing.trace_shares[expert], counts[expert] / 1200);
    }
    const double first_half = counts[0] + counts[1] + counts[2] + counts[3];
    EXPECT_NEAR(routing_load(plan.routing, 8, 2, 1).by_rank[0], 2 * first_half / 1200, 1e-12);

    JsonDocument workload = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/toy-moe.json");
    EXPECT_NO_THROW(static_cast<void>(resolve_plan(plan, load_workload(workload), 0)));
    workload.set("layers", "5");
    try {
        static_cast<void>(resolve_plan(plan, load_workload(workload), 0));
        FAIL() << "four recorded layers for five";
    } catch (const InputError& error) {
        expect_contains(error.what(), "r.json: $.choices.layers: found 4; expected 5, as toy-moe has");
    }
}

}  // namespace
}  // namespace auspex::models
