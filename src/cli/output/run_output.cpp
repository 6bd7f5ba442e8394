/// @file JSON and tables of a run beside its prediction.
#include "cli/output/run_output.hpp"

#include "report/parts/text_table.hpp"
#include "report/run/run_tables.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kMostOperations = 30, kMostKernels = 15;

void write_ranks(JsonWriter& json, const kineto::RunDiff& diff) {
    json.key("ranks").begin_array();
    for (const kineto::RankRow& rank : diff.ranks) {
        json.begin_object().member("rank", rank.rank).member("stage", rank.stage).member("file", rank.file);
        json.member_or_null("step", rank.step_number < 0 ? std::nullopt : std::optional(rank.step_number));
        json.member("measured_s", rank.measured_s).member("predicted_s", rank.predicted_s);
        json.member("kernel_s", rank.kernel_s).member("matched_kernel_s", rank.matched_s);
        json.member("coverage", rank.coverage()).end_object();
    }
    json.end_array();
}

void write_losses(JsonWriter& json, const kineto::RunDiff& diff) {
    json.key("losses").begin_array();
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        json.begin_object().member("name", to_string(static_cast<kineto::Spent>(i)));
        json.member("measured_s", diff.measured[i]).member("predicted_s", diff.predicted[i]).end_object();
    }
    json.end_array();
}

void write_operations(JsonWriter& json, const kineto::RunDiff& diff) {
    json.key("operations").begin_array();
    for (const kineto::OperationRow& row : diff.operations) {
        json.begin_object().member("name", row.name).member("booked_as", to_string(row.spent));
        json.member("expected", row.expected).member("matched", row.matched);
        json.member("kernels", row.kernels).member("launches_expected", row.launches);
        json.member("measured_s", row.measured_s).member("predicted_s", row.predicted_s);
        json.member("predicted_of_all_s", row.all_predicted_s).end_object();
    }
    json.end_array();
    json.key("unmatched_kernels").begin_array();
    for (const kineto::UnmatchedKernel& kernel : diff.kernels) {
        json.begin_object().member("name", kernel.name).member("launched_by", kernel.op);
        json.member("taken_for", kernel.work).member("count", kernel.count);
        json.member("seconds", kernel.seconds).end_object();
    }
    json.end_array();
}

void write_constants(JsonWriter& json, const kineto::RunDiff& diff) {
    json.key("constants").begin_array();
    for (const kineto::ExplainingConstant& one : diff.constants) {
        json.begin_object().member("path", one.path).member("operations", one.operations);
        json.member("value", one.value).member("explaining", one.explaining);
        json.member("count", one.count).member("spread", one.spread);
        json.member("measured_s", one.measured_s).member("predicted_s", one.predicted_s);
        json.member_or_null("step_alone_s", one.step_alone_s).member("note", one.note).end_object();
    }
    json.end_array();
}

void print_table(std::ostream& out, const char* title, const std::vector<report::TextRow>& rows,
                 const std::vector<std::size_t>& left) {
    if (rows.size() > 1) {
        out << "\n" << title << "\n" << report::text_table(rows, left);
    }
}

}  // namespace

void write_run_diff(JsonWriter& json, const kineto::RunDiff& diff) {
    json.member("trace", diff.source).member("device", diff.device).member("tiles", diff.tiles);
    json.member("measured_s", diff.measured_s).member("predicted_s", diff.predicted_s);
    json.member_or_null("explained_s", diff.explained_s);
    write_ranks(json, diff);
    write_losses(json, diff);
    write_operations(json, diff);
    write_constants(json, diff);
    json.key("notes").begin_array();
    for (const std::string& note : diff.notes) {
        json.value(note);
    }
    json.end_array();
}

void print_run_diff(std::ostream& out, const kineto::RunDiff& diff) {
    for (const std::string& line : report::run_summary(diff)) {
        out << line << "\n";
    }
    if (diff.ranks.size() > 1) {
        print_table(out, "Ranks", report::rank_rows(diff), {5});
    }
    print_table(out, "Where the step goes, mean over ranks", report::spent_rows(diff), {0});
    print_table(out, "Operations, kernel time without launches, mean over ranks",
                report::operation_rows(diff, kMostOperations), {0});
    if (diff.operations.size() > kMostOperations) {
        out << "and " << diff.operations.size() - kMostOperations << " with less time (--out has all)\n";
    }
    print_table(out, "Kernels that match no operation of the plan", report::unmatched_rows(diff, kMostKernels),
                {0, 1, 2});
    print_table(out, "Constants that would explain the difference", report::constant_rows(diff), {0, 1});
    if (const std::string explained = report::explained_text(diff); !explained.empty()) {
        out << explained << "\n";
    }
    for (const std::string& note : diff.notes) {
        out << "note: " << note << "\n";
    }
}

}  // namespace auspex::cli
