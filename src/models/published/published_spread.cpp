/// @file Spreads, read and found.
#include "models/published/published_spread.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace auspex::models {
namespace {

std::string name_of(const JsonValue& v, std::string_view key) {
    const std::optional<JsonValue> name = v.find(key);
    if (!name) {
        return "";
    }
    std::string text = name->as_string();
    if (text.empty()) {
        name->fail("a name, or no such key: any");
    }
    return text;
}

PublishedSpread read_spread(const JsonValue& v) {
    constexpr int kMostRuns = 1'000'000;
    constexpr double kLargest = 10;
    v.allow_only({"stack", "machine", "runs", "sources", "sigma"});
    return {name_of(v, "stack"), name_of(v, "machine"),
            static_cast<int>(v.at("runs").as_integer(kLeastRunsOfSpread, kMostRuns)),
            static_cast<int>(v.at("sources").as_integer(1, kMostRuns)), v.at("sigma").as_number(0, kLargest)};
}

}  // namespace

std::optional<PublishedSpread> find_spread(const std::vector<PublishedSpread>& spreads, const std::string& stack,
                                           const std::string& machine) {
    const auto of = [&spreads](const std::string& s, const std::string& m) -> std::optional<PublishedSpread> {
        const auto found = std::ranges::find_if(
            spreads, [&](const PublishedSpread& one) { return one.stack == s && one.machine == m; });
        return found == spreads.end() ? std::nullopt : std::optional(*found);
    };
    if (const auto both = of(stack, machine)) {
        return both;
    }
    const auto of_stack = of(stack, ""), of_machine = of("", machine);
    if (of_stack && of_machine) {
        return of_machine->sigma > of_stack->sigma ? of_machine : of_stack;
    }
    if (of_stack || of_machine) {
        return of_stack ? of_stack : of_machine;
    }
    std::optional<PublishedSpread> all = of("", "");
    if (all) {  // nothing is known of it: no group is a better guide than the widest
        all->sigma = std::ranges::max_element(spreads, {}, &PublishedSpread::sigma)->sigma;
    }
    return all;
}

std::vector<PublishedSpread> load_spreads(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"comment", "command", "spreads"});
    std::vector<PublishedSpread> spreads;
    for (const JsonValue& value : root.at("spreads").elements()) {
        spreads.push_back(read_spread(value));
        const PublishedSpread& last = spreads.back();
        const auto is_same = [&](const PublishedSpread& one) {
            return one.stack == last.stack && one.machine == last.machine;
        };
        if (std::ranges::count_if(spreads, is_same) > 1) {
            value.fail("stack and machine of its own: another entry has them");
        }
    }
    return spreads;
}

}  // namespace auspex::models
