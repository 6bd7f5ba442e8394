/// @file Lines and columns of a difference.
#include "report/difference/difference_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::report {
namespace {

std::string sign_of(double change) { return change < 0 ? "−" : "+"; }

/// The loss that a name of a file stands for, in words of a sentence.
std::string loss_in_words(const std::string& name) {
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        if (name == to_string(static_cast<schedule::Loss>(loss))) {
            return plain_name(static_cast<schedule::Loss>(loss));
        }
    }
    return name;
}

/// Rows under their title, indented; at most so many.
TextPart part_of(const std::string& title, const std::vector<NumberChange>& rows, std::size_t most,
                 std::string (*text)(const NumberChange&, double), std::string (*change)(const NumberChange&)) {
    TextPart part{title, {}, {}};
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
        const NumberChange& row = rows[i];
        part.rows.push_back({"  " + row.name, text(row, row.before), text(row, row.after),
                             row.change() == 0 ? "" : change(row), relative_change(row)});
    }
    if (rows.size() > most) {
        part.below = "  and " + std::to_string(rows.size() - most) + " with less change";
    }
    return part;
}

/// For a column of a terminal; a text that is not there is a dash.
std::string cut(const std::string& text) {
    constexpr std::size_t kMost = 34;
    std::size_t end = kMost;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
        --end;  // not within a character
    }
    return text.empty() ? "-" : text.size() > kMost ? text.substr(0, end) + "…" : text;
}

std::string inputs_text(const Difference& difference) {
    constexpr std::size_t kMost = 40;
    if (difference.inputs.empty()) {
        return difference.role == "result" ? "\nthe same inputs by name\n" : "\nthe same inputs\n";
    }
    std::vector<TextRow> table{{"Inputs that differ", "before", "after"}};
    for (std::size_t i = 0; i < std::min(kMost, difference.inputs.size()); ++i) {
        const InputChange& one = difference.inputs[i];
        table.push_back({"  " + one.path, cut(one.before), cut(one.after)});
    }
    return "\n" + text_table(table, {0, 1, 2}) +
           (difference.inputs.size() > kMost
                ? "  and " + std::to_string(difference.inputs.size() - kMost) + " more: --json has them\n"
                : "");
}

}  // namespace

std::string total_text(const std::string& key, double value) {
    if (key.ends_with("_bytes")) {
        return format_quantity(value, Dimension::kBytes);
    }
    if (key == "mfu" || key == "hfu") {
        return percent(value);
    }
    if (key.ends_with("node_hours")) {
        return significant(value);
    }
    return key.ends_with("_s") && !key.starts_with("tokens") ? duration(value) : short_count(value);
}

std::string change_of_total(const NumberChange& total) {
    const double size = std::abs(total.change());
    const bool is_share = total.name == "mfu" || total.name == "hfu";
    return sign_of(total.change()) + (is_share ? significant(100 * size, 2) + " points" : total_text(total.name, size));
}

std::string relative_change(const NumberChange& row) {
    if (row.change() == 0) {
        return "same";
    }
    return row.before == 0  ? "new"
           : row.after == 0 ? "gone"
                            : signed_significant(100 * (row.after / row.before - 1)) + " %";
}

std::string difference_headline(const Difference& difference) {
    constexpr double kSame = 5e-5;
    const predict::Prediction &a = difference.before.prediction, &b = difference.after.prediction;
    const std::string names = difference.after.label + " against " + difference.before.label + ": ";
    const NumberChange step{"step_time_s", a.step_time_s, b.step_time_s};
    if (std::abs(step.change()) < kSame * a.step_time_s) {
        return names + "the same " + duration(b.step_time_s) + " a step";
    }
    std::string out = names + duration(b.step_time_s) + " a step instead of " + duration(a.step_time_s) + " (" +
                      relative_change(step) + "), MFU " + percent(b.mfu) + " instead of " + percent(a.mfu);
    if (!b.memory.fits) {
        return out + "; it does not fit into memory";
    }
    for (const NumberChange& loss : difference.losses) {
        if ((loss.change() < 0) == (step.change() < 0)) {
            return out + "; most of the change is " + loss_in_words(loss.name) + " (" + sign_of(loss.change()) +
                   duration(std::abs(loss.change())) + ")";
        }
    }
    return out;
}

std::string difference_text(const Difference& difference) {
    constexpr std::size_t kAll = 100, kOperations = 12;
    const auto total = [](const NumberChange& row, double value) { return total_text(row.name, value); };
    const auto seconds = [](const NumberChange&, double value) { return duration(value); };
    const auto seconds_change = [](const NumberChange& row) {
        return sign_of(row.change()) + duration(std::abs(row.change()));
    };
    const auto bytes = [](const NumberChange&, double value) { return format_quantity(value, Dimension::kBytes); };
    const auto bytes_change = [](const NumberChange& row) {
        return sign_of(row.change()) + format_quantity(std::abs(row.change()), Dimension::kBytes);
    };
    std::vector<TextPart> parts{
        part_of("", difference.totals, kAll, total, change_of_total),
        part_of("Where the step goes, by change (mean over tiles)", difference.losses, kAll, seconds, seconds_change),
        part_of("Memory of the fullest tile at its peak, by change", difference.memory, kAll, bytes, bytes_change),
        part_of("Operations, by change (mean over tiles)", difference.operations, kOperations, seconds,
                seconds_change)};
    parts.front().rows.insert(parts.front().rows.begin(), {"Totals", "before", "after", "change", ""});
    std::erase_if(parts, [](const TextPart& part) { return part.rows.empty(); });
    return "before: " + difference.before.label + "\nafter:  " + difference.after.label + "\n" +
           inputs_text(difference) + text_parts(parts, {0});
}

}  // namespace auspex::report
