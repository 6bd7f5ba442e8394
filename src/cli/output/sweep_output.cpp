/// @file Output of `auspex plan --against`.
#include "cli/output/sweep_output.hpp"

#include <ostream>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

std::string layout_text(const evaluate::SweepRow& row) {
    return "tp " + std::to_string(row.tp) + " pp " + std::to_string(row.pp) + " dp " + std::to_string(row.dp) +
           " zero " + std::to_string(row.zero_stage) + ", " + std::to_string(row.micro_batches) + " x " +
           std::to_string(row.micro_batch_size);
}

const char* word_of(evaluate::SweepStatus status) {
    switch (status) {
        case evaluate::SweepStatus::kOk: return "ok";
        case evaluate::SweepStatus::kOutOfMemory: return "oom";
        case evaluate::SweepStatus::kOther: break;
    }
    return "other";
}

void write_layout(JsonWriter& json, const evaluate::SweepRow& row) {
    json.member("tp", row.tp).member("pp", row.pp).member("dp", row.dp).member("zero_stage", row.zero_stage);
    json.member("micro_batch_size", row.micro_batch_size).member("micro_batches", row.micro_batches);
}

void write_cell(JsonWriter& json, const evaluate::SweepCell& cell, const std::vector<evaluate::SweepRow>& rows) {
    json.begin_object().member("params_b", cell.params_b).member("nodes", cell.nodes).member("n", cell.n);
    json.member_or_null("regret", cell.regret).member_or_null("kendall_tau", cell.kendall_tau);
    json.member_or_null("oom_accuracy", cell.oom_accuracy()).member("verdicts", cell.verdicts);
    json.member("said_fits_but_oom", cell.said_fits_but_oom).member("said_oom_but_fits", cell.said_oom_but_fits);
    json.member_or_null("median_speed_ratio", cell.median_ratio);
    json.member("rows", cell.rows).member("refused", cell.refused);
    for (const auto& [name, row] :
         {std::pair{"measured_best", cell.measured_best}, {"predicted_best", cell.predicted_best}}) {
        if (cell.n == 0) {
            json.member_or_null(name, std::optional<double>());
            continue;
        }
        json.key(name).begin_object();
        write_layout(json, rows[row]);
        json.member("measured_tokens_per_s_per_tile", rows[row].tokens_per_s_per_tile).end_object();
    }
    json.end_object();
}

void write_row(JsonWriter& json, const evaluate::SweepRow& row, const evaluate::SweepPrediction& prediction) {
    json.begin_object().member("place", row.place).member("params_b", row.params_b).member("nodes", row.nodes);
    write_layout(json, row);
    json.member("status", word_of(row.status)).member("speed_counts", row.speed_counts);
    const bool ran = row.status == evaluate::SweepStatus::kOk;
    json.member_or_null("measured_tokens_per_s_per_tile",
                        ran ? std::optional(row.tokens_per_s_per_tile) : std::nullopt);
    json.member_or_null("measured_reserved_bytes", row.reserved_bytes);
    if (!prediction.refused.empty()) {
        json.member("refused", prediction.refused).end_object();
        return;
    }
    json.member("predicted_tokens_per_s_per_tile", predicted_tokens_per_s_per_tile(row, prediction));
    json.member("predicted_memory_bytes", whole(prediction.memory_peak_bytes));
    json.member("predicted_fits", prediction.fits).end_object();
}

std::string share(const std::optional<double>& value, int digits = 1) { return value ? percent(*value, digits) : "-"; }
std::string number(const std::optional<double>& value) { return value ? fixed(*value, 2) : "-"; }

}  // namespace

void write_sweep(JsonWriter& json, const std::vector<evaluate::SweepRow>& rows,
                 const std::vector<evaluate::SweepPrediction>& predictions, const evaluate::SweepJudgement& judgement) {
    json.key("cells").begin_array();
    for (const evaluate::SweepCell& cell : judgement.cells) {
        write_cell(json, cell, rows);
    }
    json.end_array().member_or_null("median_regret", judgement.median_regret);
    json.member_or_null("worst_regret", judgement.worst_regret)
        .member_or_null("median_kendall_tau", judgement.median_tau);
    json.member_or_null("worst_kendall_tau", judgement.worst_tau);
    json.member_or_null("oom_accuracy", judgement.accuracy());
    json.member_or_null("worst_oom_accuracy", judgement.worst_accuracy).member("verdicts", judgement.verdicts);
    json.member("said_fits_but_oom", judgement.said_fits_but_oom);
    json.member("said_oom_but_fits", judgement.said_oom_but_fits).key("refused").begin_object();
    for (const auto& [reason, count] : judgement.refusals) {
        json.member(reason, count);
    }
    json.end_object().key("rows").begin_array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        write_row(json, rows[i], predictions[i]);
    }
    json.end_array();
}

void print_sweep(std::ostream& out, const std::vector<evaluate::SweepRow>& rows,
                 const evaluate::SweepJudgement& judgement) {
    std::vector<report::TextRow> table{{"model", "nodes", "runs", "n", "regret", "tau", "speed", "memory", "fits, oom",
                                        "oom, fits", "predicted best", "measured best"}};
    for (const evaluate::SweepCell& cell : judgement.cells) {
        table.push_back({json_number(cell.params_b) + "B", std::to_string(cell.nodes), std::to_string(cell.rows),
                         std::to_string(cell.n), share(cell.regret), number(cell.kendall_tau),
                         number(cell.median_ratio), share(cell.oom_accuracy(), 0),
                         std::to_string(cell.said_fits_but_oom), std::to_string(cell.said_oom_but_fits),
                         cell.n > 0 ? layout_text(rows[cell.predicted_best]) : "-",
                         cell.n > 0 ? layout_text(rows[cell.measured_best]) : "-"});
    }
    out << report::text_table(table, {10, 11});
    out << "\nregret: measured tokens/s of the fastest run over those of the run with the fastest prediction, minus 1; "
           "median "
        << share(judgement.median_regret) << ", worst " << share(judgement.worst_regret) << "\n"
        << "tau: Kendall's, of measured and predicted tokens/s; median " << number(judgement.median_tau) << ", worst "
        << number(judgement.worst_tau) << "\n"
        << "speed: median of predicted over measured tokens/s\n"
        << "memory: verdicts that are right, " << judgement.right << " of " << judgement.verdicts << " ("
        << share(judgement.accuracy()) << "); predicted to fit, but out of memory: " << judgement.said_fits_but_oom
        << "; predicted not to fit, but ran: " << judgement.said_oom_but_fits << "\n";
    for (const auto& [reason, count] : judgement.refusals) {
        out << "no plan, " << count << (count == 1 ? " row: " : " rows: ") << reason << "\n";
    }
}

}  // namespace auspex::cli
