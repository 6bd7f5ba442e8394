/// @file Reads rules of algorithms, of ways inside nodes, and of messages.
#include "models/transport/collective_rules.hpp"

#include <algorithm>
#include <cstdint>

#include "base/json.hpp"

namespace auspex::models {
namespace {

/// In the order of CollectiveAlgorithm.
constexpr std::array kAlgorithmWords{"auto",     "ring",  "recursive-doubling", "rabenseifner", "direct",
                                     "pairwise", "bruck", "double-binary-tree", "multi-ring"};
constexpr double kMostBytes = 1e18;
constexpr std::int64_t kMostRanks = 10'000'000;

CollectiveAlgorithm algorithm_of(std::string_view word) {
    const auto found = std::find(kAlgorithmWords.begin(), kAlgorithmWords.end(), word);
    return static_cast<CollectiveAlgorithm>(found - kAlgorithmWords.begin());
}

double size_or_any(const JsonValue& entry, std::string_view key) {
    const auto value = entry.find(key);
    return value ? value->as_quantity(Dimension::kBytes, 1, kMostBytes) : kAnySize;
}

int count_or_any(const JsonValue& entry, std::string_view key) {
    const auto value = entry.find(key);
    return value ? static_cast<int>(value->as_integer(1, kMostRanks)) : kAnyCount;
}

/// A limit that is there or not.
bool flag_or_none(const JsonValue& entry, std::string_view key) {
    const auto value = entry.find(key);
    if (value && !value->as_bool()) {
        value->fail("true, or no such key");
    }
    return value.has_value();
}

/// The keys that limit a rule.
constexpr std::array kLimits{"up_to", "up_to_a_rank", "up_to_nodes", "up_to_ranks", "power_of_two"};

AlgorithmRule read_rule(const JsonValue& entry, std::initializer_list<std::string_view> algorithms) {
    entry.allow_only({"up_to", "up_to_a_rank", "up_to_nodes", "up_to_ranks", "power_of_two", "algorithm", "levels"});
    AlgorithmRule rule;
    const JsonValue algorithm = entry.at("algorithm");
    static_cast<void>(algorithm.as_one_of(algorithms));
    rule.algorithm = algorithm_of(algorithm.as_string());
    rule.levels = rule.algorithm == CollectiveAlgorithm::kAuto ? 0 : 1;
    if (const auto levels = entry.find("levels")) {
        const bool one_level = rule.algorithm == CollectiveAlgorithm::kMultiRing;
        rule.levels = static_cast<int>(levels->as_integer(1, one_level ? 1 : 3));
    }
    rule.max_bytes = size_or_any(entry, "up_to");
    rule.max_bytes_per_rank = size_or_any(entry, "up_to_a_rank");
    rule.max_nodes = count_or_any(entry, "up_to_nodes");
    rule.max_ranks = count_or_any(entry, "up_to_ranks");
    rule.power_of_two = flag_or_none(entry, "power_of_two");
    return rule;
}

/// True if `first` holds wherever `second` does.
bool covers(const AlgorithmRule& first, const AlgorithmRule& second) {
    return first.max_bytes >= second.max_bytes && first.max_bytes_per_rank >= second.max_bytes_per_rank &&
           first.max_nodes >= second.max_nodes && first.max_ranks >= second.max_ranks &&
           (!first.power_of_two || second.power_of_two);
}

/// True if `first` holds for every message for which `second` does.
bool covers(const MessageRule& first, const MessageRule& second) {
    const bool kinds = std::equal(first.of.begin(), first.of.end(), second.of.begin(),
                                  [](bool of_first, bool of_second) { return of_first || !of_second; });
    return kinds && (first.of_others || !second.of_others) && first.max_nodes >= second.max_nodes &&
           first.max_bytes >= second.max_bytes;
}

/// True if `first` holds for every group for which `second` does.
bool covers(const NodePathRule& first, const NodePathRule& second) {
    return first.max_ranks >= second.max_ranks && (!first.every_card || second.every_card);
}

NodePathRule read_node_path_rule(const JsonValue& entry) {
    entry.allow_only({"up_to_ranks", "every_card", "path"});
    NodePathRule rule;
    rule.max_ranks = count_or_any(entry, "up_to_ranks");
    rule.every_card = flag_or_none(entry, "every_card");
    rule.by_host = entry.at("path").as_one_of({"links", "host"}) == 1;
    return rule;
}

void read_collectives(const JsonValue& named, MessageRule& rule) {
    if (named.elements().empty()) {
        named.fail("at least one collective, or no such key");
    }
    rule.of.fill(false);
    rule.of_others = false;
    for (const JsonValue& word : named.elements()) {
        rule.of.at(word.as_one_of({"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"})) = true;
    }
}

MessageRule read_message_rule(const JsonValue& entry, const std::string& role, double most_seconds,
                              std::vector<Constant>& constants) {
    entry.allow_only({"collectives", "up_to_nodes", "up_to", "scale_up_message", "scale_out_message",
                      "software_bandwidth", "pipelined"});
    const auto seconds = [&](std::string_view key) {
        return entry.find(key)
                   ? std::optional(read_constant(entry, key, Dimension::kSeconds, 0, most_seconds, role, constants))
                   : std::nullopt;
    };
    MessageRule rule;
    if (const auto named = entry.find("collectives")) {
        read_collectives(*named, rule);
    }
    rule.max_nodes = count_or_any(entry, "up_to_nodes");
    rule.max_bytes = size_or_any(entry, "up_to");
    rule.scale_up_message_s = seconds("scale_up_message");
    rule.scale_out_message_s = seconds("scale_out_message");
    if (entry.find("software_bandwidth")) {
        rule.bytes_per_s =
            read_constant(entry, "software_bandwidth", Dimension::kBytesPerSecond, 1e5, 1e16, role, constants);
    }
    if (const auto pipelined = entry.find("pipelined")) {
        for (const JsonValue& word : pipelined->elements()) {
            (word.as_one_of({"rings", "trees"}) == 0 ? rule.pipelined_rings : rule.pipelined_trees) = true;
        }
    }
    return rule;
}

/// Of rules that each stand for themselves; the first that holds counts.
template <class Rule, class Read>
std::vector<Rule> read_list(const JsonValue& list, Read&& read) {
    std::vector<Rule> rules;
    for (const JsonValue& entry : list.elements()) {
        const Rule rule = read(entry);
        if (std::any_of(rules.begin(), rules.end(), [&](const Rule& one) { return covers(one, rule); })) {
            entry.fail("something that an entry before it leaves over");
        }
        rules.push_back(rule);
    }
    return rules;
}

[[noreturn]] void fail_covered(const JsonValue& entry, const AlgorithmRule& before) {
    if (const auto up_to = entry.find("up_to")) {
        up_to->fail("more than the rule before, " + format_quantity(before.max_bytes, Dimension::kBytes));
    }
    entry.fail("something that a rule before it leaves over");
}

}  // namespace

const char* to_string(CollectiveAlgorithm algorithm) { return kAlgorithmWords.at(static_cast<std::size_t>(algorithm)); }

std::vector<AlgorithmRule> read_rules(const JsonValue& collectives, std::string_view key,
                                      std::initializer_list<std::string_view> algorithms) {
    const JsonValue list = collectives.at(key);
    const std::vector<JsonValue> entries = list.elements();
    if (entries.empty()) {
        list.fail("at least one rule, such as [{\"algorithm\": \"auto\"}]");
    }
    std::vector<AlgorithmRule> rules;
    for (const JsonValue& entry : entries) {
        const AlgorithmRule rule = read_rule(entry, algorithms);
        const bool is_last = rules.size() + 1 == entries.size();
        const auto* const limit =
            std::find_if(kLimits.begin(), kLimits.end(), [&](const char* one) { return entry.find(one).has_value(); });
        if (is_last && limit != kLimits.end()) {
            entry.at(*limit).fail("no " + std::string(*limit) + " in the last rule: it holds for " +
                                  (limit == kLimits.begin() ? "every larger size" : "all that is left"));
        }
        if (!is_last && limit == kLimits.end()) {
            static_cast<void>(entry.at("up_to"));
        }
        const auto before =
            std::find_if(rules.begin(), rules.end(), [&](const AlgorithmRule& one) { return covers(one, rule); });
        if (before != rules.end()) {
            fail_covered(entry, *before);
        }
        rules.push_back(rule);
    }
    return rules;
}

std::vector<NodePathRule> read_node_path_rules(const JsonValue& list) {
    return read_list<NodePathRule>(list, read_node_path_rule);
}

std::vector<MessageRule> read_message_rules(const JsonValue& list, const std::string& role, double most_seconds,
                                            std::vector<Constant>& constants) {
    return read_list<MessageRule>(
        list, [&](const JsonValue& entry) { return read_message_rule(entry, role, most_seconds, constants); });
}

}  // namespace auspex::models
