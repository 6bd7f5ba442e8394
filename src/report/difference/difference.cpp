/// @file Subtracting one prediction from the other.
#include "report/difference/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.hpp"

namespace auspex::report {
namespace {

using Numbers = std::map<std::string, double>;

/// Of what is in one of them, 0 in the other.
std::vector<NumberChange> changes_of(const Numbers& before, const Numbers& after) {
    std::map<std::string, NumberChange> rows;
    for (const auto& [name, value] : before) {
        rows[name].before = value;
    }
    for (const auto& [name, value] : after) {
        rows[name].after = value;
    }
    std::vector<NumberChange> changed;
    for (auto& [name, row] : rows) {
        row.name = name;
        if (row.change() != 0) {
            changed.push_back(row);
        }
    }
    std::ranges::stable_sort(changed, [](const NumberChange& a, const NumberChange& b) {
        return std::abs(a.change()) > std::abs(b.change());
    });
    return changed;
}

Numbers losses_of(const predict::Prediction& p) {
    Numbers numbers;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        numbers[to_string(static_cast<schedule::Loss>(loss))] = to_seconds(p.losses[loss]);
    }
    return numbers;
}

Numbers operations_of(const predict::Prediction& p) {
    Numbers numbers;
    for (const predict::OperationShare& one : p.operations_by_time) {
        numbers[one.name] = one.seconds;
    }
    return numbers;
}

std::vector<NamedText> names_of(const ComparedSide& side) {
    const predict::Prediction& p = side.prediction;
    std::vector<NamedText> names = side.names;
    names.push_back({"lens", json_quote(to_string(p.lens))});
    const std::pair<const char*, int> numbers[] = {
        {"tiles", p.tiles}, {"nodes", p.nodes}, {"pp", p.pp},
        {"dp", p.dp},       {"ep", p.ep},       {"etp", p.etp},
        {"tp", p.tp},       {"cp", p.cp},       {"global_batch", p.global_batch}};
    for (const auto& [name, value] : numbers) {
        names.push_back({name, std::to_string(value)});
    }
    return names;
}

std::vector<NumberChange> totals_of(const predict::Prediction& a, const predict::Prediction& b) {
    return {{"step_time_s", a.step_time_s, b.step_time_s},
            {"forward_backward_s", a.forward_backward_s, b.forward_backward_s},
            {"optimizer_s", a.optimizer_s, b.optimizer_s},
            {"tokens_per_s", a.tokens_per_s, b.tokens_per_s},
            {"tokens_per_s_per_tile", a.tokens_per_s_per_tile, b.tokens_per_s_per_tile},
            {"mfu", a.mfu, b.mfu},
            {"hfu", a.hfu, b.hfu},
            {"step_node_hours", a.step_node_hours, b.step_node_hours},
            {"node_hours", a.node_hours, b.node_hours},
            {"peak_bytes", a.memory.peak_bytes, b.memory.peak_bytes}};
}

}  // namespace

Difference difference_of(std::string role, ComparedSide before, ComparedSide after,
                         const std::vector<InputChange>& fields) {
    Difference difference;
    difference.role = std::move(role);
    const std::vector<NamedText> old_names = names_of(before), new_names = names_of(after);
    for (const NamedText& one : old_names) {
        const auto other = std::ranges::find(new_names, one.name, &NamedText::name);
        if (other != new_names.end() && other->text != one.text) {
            difference.inputs.push_back({one.name, one.text, other->text});
        }
    }
    difference.inputs.insert(difference.inputs.end(), fields.begin(), fields.end());
    const predict::Prediction &a = before.prediction, &b = after.prediction;
    difference.totals = totals_of(a, b);
    difference.losses = changes_of(losses_of(a), losses_of(b));
    difference.memory = changes_of({a.memory.by_label.begin(), a.memory.by_label.end()},
                                   {b.memory.by_label.begin(), b.memory.by_label.end()});
    difference.operations = changes_of(operations_of(a), operations_of(b));
    difference.before = std::move(before);
    difference.after = std::move(after);
    return difference;
}

}  // namespace auspex::report
