/// @file Rules of algorithms by size, ranks and nodes; ways in the node; costs of messages; what is refused.
#include "models/transport/collective_rules.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

std::vector<AlgorithmRule> rules_of(const std::string& list) {
    const JsonDocument document = JsonDocument::parse("{\"rules\": " + list + "}", "rules.json");
    return read_rules(document.root(), "rules", {"ring", "direct", "bruck"});
}

std::vector<MessageRule> messages_of(const std::string& list, std::vector<Constant>& constants) {
    const JsonDocument document = JsonDocument::parse("{\"messages\": " + list + "}", "messages.json");
    return read_message_rules(document.root().at("messages"), "stack", 10, constants);
}

template <class Read>
void expect_refused(Read read, const std::string& list, const std::string& expected) {
    try {
        static_cast<void>(read(list));
        ADD_FAILURE() << list << " was taken";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
}

TEST(CollectiveRules, each_limit_arrives_in_its_field) {
    const std::vector<AlgorithmRule> rules = rules_of(
        R"([{"up_to": "4 KiB", "up_to_a_rank": "1 KiB", "up_to_nodes": 16, "up_to_ranks": 99, "power_of_two": true,
             "algorithm": "bruck", "levels": 2}, {"up_to_nodes": 2, "algorithm": "direct"}, {"algorithm": "ring"}])");
    ASSERT_EQ(rules.size(), 3U);
    EXPECT_EQ(rules[0].max_bytes, 4096);
    EXPECT_EQ(rules[0].max_bytes_per_rank, 1024);
    EXPECT_EQ(rules[0].max_nodes, 16);
    EXPECT_EQ(rules[0].max_ranks, 99);
    EXPECT_TRUE(rules[0].power_of_two);
    EXPECT_EQ(rules[0].levels, 2);
    EXPECT_EQ(rules[1].max_nodes, 2);
    EXPECT_EQ(rules[1].max_bytes, kAnySize);
    EXPECT_EQ(rules[2].max_ranks, kAnyCount);
    EXPECT_FALSE(rules[2].power_of_two);
}

// A rule may begin again with small sizes where it holds for other groups than those before it.
TEST(CollectiveRules, every_rule_has_something_left_to_hold_for) {
    EXPECT_EQ(rules_of(R"([{"up_to": "1 MiB", "power_of_two": true, "algorithm": "bruck"},
                           {"up_to": "80 KiB", "algorithm": "direct"}, {"algorithm": "ring"}])")
                  .size(),
              3U);
    expect_refused(rules_of, R"([{"up_to": "1 MiB", "algorithm": "bruck"},
                                 {"up_to": "80 KiB", "power_of_two": true, "algorithm": "direct"},
                                 {"algorithm": "ring"}])",
                   "$.rules[1].up_to");
    expect_refused(rules_of, R"([{"up_to_nodes": 8, "algorithm": "bruck"}, {"up_to_nodes": 4, "algorithm": "direct"},
                                 {"algorithm": "ring"}])",
                   "$.rules[1]");
    expect_refused(rules_of, R"([{"algorithm": "bruck"}, {"algorithm": "ring"}])", "up_to");
    expect_refused(rules_of, R"([{"up_to_nodes": 4, "algorithm": "ring"}])", "$.rules[0].up_to_nodes");
    expect_refused(rules_of, R"([{"power_of_two": false, "algorithm": "bruck"}, {"algorithm": "ring"}])",
                   "$.rules[0].power_of_two");
    expect_refused(rules_of, R"([{"up_to_nodes": 0, "algorithm": "bruck"}, {"algorithm": "ring"}])",
                   "$.rules[0].up_to_nodes");
    expect_refused(rules_of, "[]", "$.rules");
}

TEST(CollectiveRules, ways_in_the_node_are_limited_by_ranks_and_cards) {
    const auto paths_of = [](const std::string& list) {
        return read_node_path_rules(JsonDocument::parse("{\"p\": " + list + "}", "paths.json").root().at("p"));
    };
    const std::vector<NodePathRule> rules =
        paths_of(R"([{"up_to_ranks": 2, "path": "links"}, {"every_card": true, "path": "links"}, {"path": "host"}])");
    ASSERT_EQ(rules.size(), 3U);
    EXPECT_EQ(rules[0].max_ranks, 2);
    EXPECT_FALSE(rules[0].every_card || rules[0].by_host);
    EXPECT_TRUE(rules[1].every_card && !rules[1].by_host);
    EXPECT_TRUE(rules[2].by_host && !rules[2].every_card);
    EXPECT_EQ(rules[2].max_ranks, kAnyCount);
    expect_refused(paths_of, R"([{"path": "host"}, {"up_to_ranks": 3, "path": "links"}])", "before it leaves over");
    expect_refused(paths_of, R"([{"every_card": true, "path": "host"}, {"every_card": true, "path": "links"}])", "[1]");
    expect_refused(paths_of, R"([{"path": "wires"}])", "\"links\", \"host\"");
    expect_refused(paths_of, R"([{"up_to_ranks": 0, "path": "host"}])", "up_to_ranks");
    expect_refused(paths_of, R"([{"every_card": false, "path": "host"}])", "true, or no such key");
}

TEST(CollectiveRules, costs_of_messages_have_limits_and_constants) {
    std::vector<Constant> constants;
    const std::vector<MessageRule> rules = messages_of(
        R"([{"collectives": ["all_gather", "broadcast"], "up_to_nodes": 16, "scale_out_message": "31 us",
             "pipelined": ["rings"]},
            {"up_to": "16 KiB", "scale_up_message": {"value": "4 us", "source": "here", "kind": "fitted"},
             "software_bandwidth": "30 GB/s", "pipelined": ["trees", "rings"]}])",
        constants);
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[0].of, (std::array{false, false, true, false, true}));
    EXPECT_FALSE(rules[0].of_others);
    EXPECT_EQ(rules[0].max_nodes, 16);
    EXPECT_EQ(rules[0].max_bytes, kAnySize);
    EXPECT_DOUBLE_EQ(*rules[0].scale_out_message_s, 31e-6);
    EXPECT_FALSE(rules[0].scale_up_message_s.has_value());
    EXPECT_EQ(rules[0].bytes_per_s, kAnySize);
    EXPECT_TRUE(rules[0].pipelined_rings);
    EXPECT_FALSE(rules[0].pipelined_trees);
    EXPECT_TRUE(rules[1].of_others);
    EXPECT_EQ(rules[1].max_bytes, 16384);
    EXPECT_DOUBLE_EQ(*rules[1].scale_up_message_s, 4e-6);
    EXPECT_DOUBLE_EQ(rules[1].bytes_per_s, 30e9);
    EXPECT_TRUE(rules[1].pipelined_rings && rules[1].pipelined_trees);
    ASSERT_EQ(constants.size(), 3U);
    EXPECT_EQ(constants[1].path, "stack.messages[1].scale_up_message");
}

TEST(CollectiveRules, costs_that_can_never_hold_or_are_none_are_refused) {
    const auto read = [](const std::string& list) {
        std::vector<Constant> constants;
        return messages_of(list, constants);
    };
    expect_refused(read, R"([{"cost": "1 us"}])", "cost");
    expect_refused(read, R"([{"collectives": ["send"]}])", "$.messages[0].collectives[0]");
    expect_refused(read, R"([{"collectives": []}])", "$.messages[0].collectives");
    expect_refused(read, R"([{"pipelined": ["pairs"]}])", "$.messages[0].pipelined[0]");
    expect_refused(read, R"([{"scale_out_message": "-1 us"}])", "$.messages[0].scale_out_message");
    expect_refused(read, R"([{"scale_out_message": "1 us"}, {"up_to": "1 KiB"}])", "$.messages[1]");
}

}  // namespace
}  // namespace auspex::models
