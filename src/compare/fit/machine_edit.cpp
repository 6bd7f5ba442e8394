/// @file Writes sourced constants into a machine document.
#include "compare/fit/machine_edit.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/statistics/bootstrap.hpp"
#include "base/units.hpp"

namespace auspex::fit {
namespace {

/// No constant of a real machine is known better.
constexpr double kMinUncertainty = 0.002;

/// One standard deviation of an estimate: of the smallest and the largest of single rows, of what is between them.
double sigma_of(const FittedNumber& number, const std::vector<models::Measurement>& rows) {
    return number.kind == ConstantKind::kFitted || rows.size() < 2
               ? sigma_of_95(number.interval())
               : sigma_of_median(number.high - number.low, static_cast<int>(rows.size()));
}

/// Whether the object that opens at `begin` holds another one.
bool holds_object(const std::string& text, std::size_t begin) {
    bool in_string = false;
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (in_string) {
            in_string = text[i] != '"';
            if (text[i] == '\\') {
                ++i;
            }
        } else if (text[i] == '"') {
            in_string = true;
        } else if (text[i] == '{' || text[i] == '}') {
            return text[i] == '{';
        }
    }
    return false;
}

}  // namespace

std::string quantity_json(double value, Dimension dimension) {
    return dimension == Dimension::kNone ? six_digits(value) : json_quote(in_unit(value, dimension));
}

std::string sources_of(const std::vector<models::Measurement>& rows) {
    std::vector<std::string> seen;
    std::string text, head;
    for (const models::Measurement& row : rows) {
        if (std::find(seen.begin(), seen.end(), row.source) != seen.end()) {
            continue;
        }
        const std::size_t colon = row.source.find(": ");
        const std::string own_head = row.source.substr(0, colon);
        const bool is_same = !seen.empty() && colon != std::string::npos && own_head == head;
        text += (seen.empty() ? "" : "; ") + (is_same ? row.source.substr(colon + 2) : row.source);
        seen.push_back(row.source);
        head = own_head;
    }
    return text;
}

std::string rows_in_words(const std::vector<models::Measurement>& rows) {
    const models::Measurement& first = rows.front();
    const bool is_one =
        std::all_of(rows.begin(), rows.end(), [&](const models::Measurement& row) { return row.name == first.name; });
    return std::to_string(rows.size()) + (rows.size() == 1 ? " row of " : " rows of ") + first.kind +
           (is_one ? " " + first.name : "");
}

void replace_constant(JsonDocument& document, const std::string& path, Dimension dimension, double value,
                      const std::string& source, ConstantKind kind, double uncertainty) {
    std::string text = "{\"value\": " + quantity_json(value, dimension) + ", \"source\": " + json_quote(source) +
                       ", \"kind\": " + json_quote(to_string(kind));
    if (uncertainty > 0) {
        text += ", \"uncertainty\": " + six_digits(std::max(uncertainty, kMinUncertainty));
    }
    document.set(path, text + "}");
}

void replace_constant(JsonDocument& machine, const std::string& path, Dimension dimension, const FittedNumber& number,
                      const std::vector<models::Measurement>& rows) {
    JsonValue section = machine.root();
    for (const JsonPathStep& step : json_path_steps(path, "constant")) {
        section = section.at(step.key);
    }
    const bool has_interval = number.high > number.low && number.value > 0;
    replace_constant(machine, path, dimension, number.value, sources_of(rows), number.kind,
                     has_interval ? std::max(sigma_of(number, rows) / number.value, kMinUncertainty) : 0);
}

std::string laid_out(const std::string& compact_json) {
    std::string out;
    std::vector<bool> is_tall;  ///< of each open object or array
    bool in_string = false;
    const auto break_line = [&] { out += '\n' + std::string(2 * is_tall.size(), ' '); };
    for (std::size_t i = 0; i < compact_json.size(); ++i) {
        const char c = compact_json[i];
        if (in_string) {
            out += c;
            if (c == '\\') {
                out += compact_json[++i];
            } else {
                in_string = c != '"';
            }
            continue;
        }
        in_string = c == '"';
        if (c == '{' || c == '[') {
            out += c;
            is_tall.push_back(c == '{' && holds_object(compact_json, i));
            if (is_tall.back()) {
                break_line();
            }
        } else if (c == '}' || c == ']') {
            const bool was_tall = is_tall.back();
            is_tall.pop_back();
            if (was_tall) {
                break_line();
            }
            out += c;
        } else if (c == ',') {
            out += c;
            if (!is_tall.empty() && is_tall.back()) {
                break_line();
            } else {
                out += ' ';
            }
        } else {
            out += c;
            out += c == ':' ? " " : "";
        }
    }
    return out + '\n';
}

}  // namespace auspex::fit
