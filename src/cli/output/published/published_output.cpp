/// @file Output of `auspex collective --against`.
#include "cli/output/published/published_output.hpp"

#include <algorithm>
#include <ostream>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using evaluate::ErrorSummary;
using evaluate::PredictedCollective;
using evaluate::PublishedJudgement;

constexpr std::size_t kWorstRows = 10;

void write_row(JsonWriter& json, const PredictedCollective& one) {
    json.begin_object().member("place", one.row.place).member("machine", one.row.machine);
    json.member("library", one.row.library).member("kind", one.row.kind).member("algorithm", one.row.algorithm);
    json.member("nodes", one.query.nodes).member("ranks", one.query.ranks).member("bytes", whole(*one.row.bytes));
    json.member("buffer_bytes", whole(one.query.bytes)).member("machine_file", one.query.machine);
    json.member("stack", one.query.stack).member("played", one.algorithm);
    json.member("measured_s", one.query.measured_s).member("predicted_s", one.predicted_s);
    json.member("error", one.error()).member("fitted", one.query.fitted).end_object();
}

void write_errors(JsonWriter& json, const ErrorSummary& summary) {
    const auto of_some = [&](double value) { return summary.n > 0 ? std::optional(value) : std::nullopt; };
    json.member("n", summary.n).member_or_null("median_abs_error", of_some(summary.median_abs_error));
    json.member_or_null("p90_abs_error", of_some(summary.p90_abs_error));
    json.member_or_null("median_error", of_some(summary.median_error));
}

std::string text_of(const std::string& name) { return name; }
std::string text_of(evaluate::SizeClass size) { return to_string(size); }

template <typename Key>
void write_by(JsonWriter& json, const char* name, const std::map<Key, ErrorSummary>& summaries) {
    json.key(name).begin_object();
    for (const auto& [key, summary] : summaries) {
        json.key(text_of(key)).begin_object();
        write_errors(json, summary);
        json.end_object();
    }
    json.end_object();
}

void write_part(JsonWriter& json, const PublishedJudgement::Part& part) {
    write_errors(json, part.all);
    write_by(json, "by_machine", part.by_machine);
    write_by(json, "by_library", part.by_library);
    write_by(json, "by_kind", part.by_kind);
    write_by(json, "by_size", part.by_size);
}

std::vector<std::string> error_cells(const ErrorSummary& summary) {
    return {std::to_string(summary.n), signed_percent(summary.median_error), percent(summary.median_abs_error),
            percent(summary.p90_abs_error)};
}

void print_cells(std::ostream& out, const char* title, const std::map<PublishedJudgement::Cell, ErrorSummary>& cells,
                 const ErrorSummary& all) {
    if (cells.empty()) {
        return;
    }
    std::vector<report::TextRow> table{
        {"machine", "library", "kind", "size", "n", "median error", "median |error|", "90 %"}};
    const auto add = [&](report::TextRow row, const ErrorSummary& summary) {
        std::ranges::copy(error_cells(summary), std::back_inserter(row));
        table.push_back(std::move(row));
    };
    for (const auto& [cell, summary] : cells) {
        const auto& [machine, library, kind, size] = cell;
        add({machine, library, kind, to_string(size)}, summary);
    }
    add({"all", "", "", ""}, all);
    out << title << "\n\n" << report::text_table(table, {0, 1, 2, 3}) << "\n";
}

void print_worst(std::ostream& out, const std::vector<PredictedCollective>& rows,
                 const std::vector<std::size_t>& worst) {
    if (worst.empty()) {
        return;
    }
    std::vector<report::TextRow> table{{"error", "measured", "predicted", "row", "machine", "library", "kind", "ranks",
                                        "nodes", "bytes", "published as", "played"}};
    for (std::size_t i = 0; i < std::min(kWorstRows, worst.size()); ++i) {
        const PredictedCollective& one = rows[worst[i]];
        table.push_back({signed_percent(one.error()), duration(one.query.measured_s), duration(one.predicted_s),
                         one.row.place, one.row.machine, one.row.library, one.row.kind, std::to_string(one.query.ranks),
                         std::to_string(one.query.nodes), format_quantity(*one.row.bytes, Dimension::kBytes),
                         one.row.algorithm, one.algorithm + (one.query.fitted ? " (fitted)" : "")});
    }
    out << "The rows with the largest errors\n\n" << report::text_table(table, {3, 4, 5, 6, 10, 11}) << "\n";
}

}  // namespace

void write_published(JsonWriter& json, const std::vector<PredictedCollective>& rows,
                     const PublishedJudgement& judgement) {
    json.key("rows").begin_array();
    for (const PredictedCollective& one : rows) {
        if (one.query.refused.empty()) {
            write_row(json, one);
        }
    }
    json.end_array().key("not_predicted").begin_object();
    for (const auto& [reason, count] : judgement.not_predicted) {
        json.member(reason, count);
    }
    json.end_object().key("summary").begin_object();
    write_part(json, judgement.all);
    for (const auto& [name, part] : {std::pair{"not_fitted", &judgement.not_fitted}, {"fitted", &judgement.fitted}}) {
        json.key(name).begin_object();
        write_part(json, *part);
        json.end_object();
    }
    json.end_object();
}

void print_published(std::ostream& out, const std::vector<PredictedCollective>& rows,
                     const PublishedJudgement& judgement) {
    print_cells(out, "Rows that gave no constant", judgement.not_fitted_cells, judgement.not_fitted.all);
    print_cells(out, "Rows that gave a constant (fitted)", judgement.fitted_cells, judgement.fitted.all);
    print_worst(out, rows, judgement.worst);
    out << "error: predicted over measured time, minus 1\n";
    for (const auto& [reason, count] : judgement.not_predicted) {
        out << "not predicted, " << counted(count, "row") << ": " << reason << "\n";
    }
}

}  // namespace auspex::cli
