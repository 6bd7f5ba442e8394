/// @file From nested JSON to rows.
#include "report/parts/tidy_csv.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/csv.hpp"

namespace auspex::report {
namespace {

constexpr std::array<std::string_view, 8> kGridKeys{"tiles", "nodes", "pp", "dp", "ep", "etp", "tp", "cp"};
constexpr std::array<std::string_view, 4> kNameKeys{"machine", "stack", "workload", "plan"};
/// What tells elements of a list apart: the first that an element has.
constexpr std::array<std::string_view, 9> kIdentities{"name", "placement", "path", "cause", "what",
                                                      "kind", "stage",     "pass", "value"};
/// Objects whose keys are names of alike numbers.
struct LabelMap {
    std::string_view key, quantity, unit;
};
constexpr std::array<LabelMap, 7> kLabelMaps{{{"losses", "time", "s"},
                                              {"binds_s", "time", "s"},
                                              {"more_of_s", "time", "s"},
                                              {"by_label", "bytes", "B"},
                                              {"peak_by_label", "bytes", "B"},
                                              {"activations_at_peak", "bytes", "B"},
                                              {"rejected", "plans", ""}}};

/// By the end of the key, the longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kUnits{{{"bytes_per_s", "B/s"},
                                                                               {"flop_per_s", "FLOP/s"},
                                                                               {"tokens_per_s_per_tile", "1/s"},
                                                                               {"tflops_per_tile", "TFLOP/s"},
                                                                               {"_per_s", "1/s"},
                                                                               {"node_hours", "h"},
                                                                               {"bytes", "B"},
                                                                               {"seconds", "s"},
                                                                               {"_s", "s"}}};

std::string_view unit_of_key(std::string_view key) {
    for (const auto& [ending, unit] : kUnits) {
        if (key.ends_with(ending)) {
            return unit;
        }
    }
    return "";
}

/// Of `auspex diff`: rows have the unit of what they name, or of their table.
std::string_view unit_of_difference(std::string_view table, std::string_view name) {
    const std::string_view unit = unit_of_key(name);
    return !unit.empty() ? unit : table == "losses" || table == "operations" ? "s" : table == "memory" ? "B" : "";
}

bool is_scalar(const JsonValue& value) { return !value.is_object() && !value.is_array(); }

std::string text_of(const JsonValue& value) {
    return value.is_null() ? "" : value.is_string() ? value.as_string() : value.excerpt();
}

std::string joined(const std::string& parent, std::string_view own, char between) {
    return parent.empty() ? std::string(own) : parent + between + std::string(own);
}

using Grid = std::array<std::string, kGridKeys.size()>;

class Writer {
 public:
    Writer(const JsonValue& answer, const TidyGrid& grid) : answer_(answer) {
        for (const std::string_view key : kNameKeys) {
            const auto value = answer.find(key);
            names_.push_back(value && value->is_string() ? value->as_string() : "");
        }
        names_.push_back(list_text(answer.find("overrides")));
        const std::array<std::optional<int>, kGridKeys.size()> known{grid.tiles, grid.nodes, grid.pp, grid.dp,
                                                                     grid.ep,    grid.etp,   grid.tp, grid.cp};
        for (std::size_t i = 0; i < known.size(); ++i) {
            grid_.at(i) = known.at(i) ? std::to_string(*known.at(i)) : "";
        }
        if (const auto labels = answer.find("labels"); labels && labels->is_array()) {
            for (const JsonValue& label : labels->elements()) {
                labels_.push_back(text_of(label));
            }
        }
    }

    std::string run() {
        std::vector<std::string> header{kNameKeys.begin(), kNameKeys.end()};
        header.emplace_back("overrides");
        header.insert(header.end(), kGridKeys.begin(), kGridKeys.end());
        for (const char* column : {"version", "table", "name", "quantity", "value", "unit"}) {
            header.emplace_back(column);
        }
        csv_ = csv_line(header);
        write_object(answer_, grid_, "", "");
        return std::move(csv_);
    }

 private:
    static std::string list_text(const std::optional<JsonValue>& list) {
        std::string text;
        if (list && list->is_array()) {
            for (const JsonValue& one : list->elements()) {
                text = joined(text, text_of(one), ' ');
            }
        }
        return text;
    }

    /// Its own grid, where it has one, or its plan's.
    static Grid grid_of(const JsonValue& object, Grid grid) {
        const auto plan = object.find("plan");
        for (std::size_t i = 0; i < kGridKeys.size(); ++i) {
            const auto own = object.find(kGridKeys.at(i));
            const auto of_plan = plan && plan->is_object() ? plan->find(kGridKeys.at(i)) : std::nullopt;
            const auto& value = own ? own : of_plan;
            grid.at(i) = value && value->is_number() ? value->excerpt() : grid.at(i);
        }
        if (plan && plan->is_object() && !plan->find("etp") && plan->find("tp")) {
            grid.at(5) = plan->at("tp").excerpt();  // a plan without etp: the same
        }
        return grid;
    }

    static bool is_left_out(std::string_view key, const JsonValue& value) {
        const bool is_name = std::ranges::find(kNameKeys, key) != kNameKeys.end() && value.is_string();
        const bool is_grid = std::ranges::find(kGridKeys, key) != kGridKeys.end() && value.is_number();
        const bool is_own_time = key.ends_with("elapsed_s") || key == "plans_per_s";  // else no two tables are equal
        return is_name || is_grid || is_own_time || key == "overrides" || key == "version" || key == "notes";
    }

    /// Without the key that gives the object its name.
    void write_object(const JsonValue& object, const Grid& outer, const std::string& table, const std::string& name,
                      std::string_view name_key = "") {
        const Grid grid = grid_of(object, outer);
        for (const std::string& key : object.keys()) {
            const JsonValue value = object.at(key);
            if (is_left_out(key, value) || key == name_key) {
                continue;
            }
            const auto* const map = std::ranges::find(kLabelMaps, key, &LabelMap::key);
            if (is_scalar(value)) {
                write_row(grid, table, name, key, text_of(value), "");
            } else if (value.is_object() && map != kLabelMaps.end()) {
                for (const std::string& label : value.keys()) {
                    write_row(grid, joined(table, key, '.'), joined(name, label, '/'), std::string(map->quantity),
                              text_of(value.at(label)), std::string(map->unit));
                }
            } else if (value.is_object()) {
                write_object(value, grid, joined(table, key, '.'), name);
            } else {
                write_list(value, grid, table, name, key);
            }
        }
    }

    void write_list(const JsonValue& list, const Grid& grid, const std::string& table, const std::string& name,
                    const std::string& key) {
        const std::vector<JsonValue> elements = list.elements();
        const bool are_words = std::ranges::all_of(elements, [](const JsonValue& one) { return one.is_string(); });
        if (are_words) {
            if (!elements.empty()) {
                write_row(grid, table, name, key, list_text(list), "");
            }
            return;
        }
        const bool is_interval = elements.size() == 2 && key.find("interval") != std::string::npos;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (elements[i].is_object()) {
                const std::string_view own = identity_key(elements[i]);
                const std::string which = own.empty() ? std::to_string(i + 1) : text_of(elements[i].at(own));
                write_object(elements[i], grid, joined(table, key, '.'), joined(name, which, '/'), own);
            } else if (is_scalar(elements[i])) {
                const std::string which = is_interval                         ? (i == 0 ? "low" : "high")
                                          : elements.size() == labels_.size() ? labels_[i]
                                                                              : std::to_string(i + 1);
                write_row(grid, table, joined(name, which, '/'), key, text_of(elements[i]), "");
            }
        }
    }

    static std::string_view identity_key(const JsonValue& element) {
        for (const std::string_view key : kIdentities) {
            if (const auto value = element.find(key); value && is_scalar(*value) && !value->is_null()) {
                return key;
            }
        }
        return "";
    }

    void write_row(const Grid& grid, const std::string& table, const std::string& name, const std::string& quantity,
                   const std::string& value, const std::string& unit) {
        const std::string of_table = table.empty() ? "result" : table;
        const bool is_difference = quantity == "before" || quantity == "after";
        const std::string_view known = !unit.empty()   ? std::string_view(unit)
                                       : is_difference ? unit_of_difference(table, name)
                                                       : unit_of_key(quantity);
        const int times = ++written_[{grid, of_table, name, quantity}];  // names may come twice: the second is NAME#2
        std::vector<std::string> fields = names_;
        fields.insert(fields.end(), grid.begin(), grid.end());
        const auto version = answer_.find("version");
        fields.push_back(version ? text_of(*version) : "");
        const std::string own = times > 1 ? name + "#" + std::to_string(times) : name;
        for (const std::string_view field : {std::string_view(of_table), std::string_view(own),
                                             std::string_view(quantity), std::string_view(value), known}) {
            fields.emplace_back(field);
        }
        csv_ += csv_line(fields);
    }

    const JsonValue& answer_;
    std::vector<std::string> names_;
    Grid grid_;
    std::vector<std::string> labels_;  ///< of lists of numbers by label
    std::map<std::tuple<Grid, std::string, std::string, std::string>, int> written_;
    std::string csv_;
};

}  // namespace

std::string tidy_csv(const JsonValue& answer, const TidyGrid& grid) { return Writer(answer, grid).run(); }

}  // namespace auspex::report
