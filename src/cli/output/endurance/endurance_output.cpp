/// @file Columns and members.
#include "cli/output/endurance/endurance_output.hpp"

#include "base/json_writer.hpp"
#include "cli/output/prediction_output.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

std::string goodput_table(const report::EnduranceReport& report) {
    std::string out = "\n" + right("every", 7) + right("kill each", 11) + right("kills", 7) + right("measured", 10) +
                      right("same kills", 12) + right("points", 8) + right("predicted", 11) + right("10 to 90 %", 19) +
                      right("points", 8) + right("closed form", 13) + "\n";
    for (const report::EnduranceRow& row : report.rows) {
        out += right(thousands(row.every), 7) + right(duration(row.mtbf_s), 11) + right(thousands(row.kills), 7);
        if (row.runs == 0) {
            out += "  FAILED: " + row.error + "\n";
            continue;
        }
        out += right(percent(row.measured.goodput), 10) + right(percent(row.replayed.goodput), 12) +
               right(report::points(row.replayed.goodput - row.measured.goodput), 8) +
               right(percent(row.predicted.goodput), 11) + right(percent(row.p10) + " … " + percent(row.p90), 21) +
               right(report::points(row.predicted.goodput - row.measured.goodput), 8) +
               right(percent(row.closed_form), 13) + (row.losses_equal ? "" : "  LOSSES DIFFER") +
               (row.error.empty() ? "" : "  FAILED: " + row.error) + "\n";
    }
    return out;
}

std::string recovery_table(const report::EnduranceReport& report) {
    std::string out = "\n" + right("every", 7) + right("kill each", 11) + right("all time", 10) +
                      right("same kills", 12) + right("predicted", 11) + right("lost steps", 12) +
                      right("same kills", 12) + right("predicted", 11) + right("recovery", 11) +
                      right("same kills", 12) + right("predicted", 11) + right("step", 10) + right("its own", 10) +
                      "\n";
    for (const report::EnduranceRow& row : report.rows) {
        out += right(thousands(row.every), 7) + right(duration(row.mtbf_s), 11) +
               right(duration(row.measured.wall_s), 10) + right(duration(row.replayed.wall_s), 12) +
               right(duration(row.predicted.wall_s), 11) + right(thousands(row.measured.lost_steps), 12) +
               right(thousands(row.replayed.lost_steps), 12) + right(thousands(row.predicted.lost_steps), 11) +
               right(duration(row.measured.recovery_s), 11) + right(duration(row.replayed.recovery_s), 12) +
               right(duration(row.predicted.recovery_s), 11) + right(duration(row.step_s), 10) +
               right(duration(row.own_step_s), 10) + "\n";
    }
    return out;
}

void write_numbers(JsonWriter& json, const char* key, const report::EnduranceNumbers& numbers) {
    json.key(key).begin_object().member("goodput", numbers.goodput);
    json.member("wall_s", numbers.wall_s)
        .member("lost_steps", numbers.lost_steps)
        .member("recovery_s", numbers.recovery_s)
        .end_object();
}

void write_settings(JsonWriter& json, const report::EnduranceReport& report) {
    json.key("settings").begin_array();
    for (const report::EnduranceRow& row : report.rows) {
        json.begin_object().member("every_steps", row.every).member("mtbf_s", row.mtbf_s);
        json.member("runs", row.runs).member("steps", row.steps).member("kills", row.kills);
        json.member("predicted_kills", row.predicted_kills);
        write_numbers(json, "measured", row.measured);
        write_numbers(json, "replayed", row.replayed);
        write_numbers(json, "predicted", row.predicted);
        json.member("predicted_p10", row.p10).member("predicted_p90", row.p90);
        json.member("closed_form", row.closed_form).member("step_s", row.step_s);
        json.member("own_step_s", row.own_step_s);
        json.member("losses_equal", row.losses_equal).member("error", row.error).end_object();
    }
    json.end_array();
}

}  // namespace

std::string endurance_text(const report::EnduranceReport& report) {
    std::string out = goodput_table(report) + recovery_table(report) + "\n";
    for (const report::EndurancePiece& piece : report.pieces) {
        out += left(piece.key, 12) + right(duration(piece.mean_s), 10) + " ± " + left(duration(piece.error_s), 10) +
               right(thousands(piece.count), 7) + "  " + piece.meaning + "\n";
    }
    out += "\n";
    for (const report::EnduranceBest& best : report.best) {
        out += "a kill each " + duration(best.mtbf_s) + ": best of these measured every " +
               counted(best.measured, "step") + ", predicted every " + counted(best.predicted, "step") +
               "; of all, by the closed form, every " + fixed(best.closed_form_steps, 1) + " steps\n";
    }
    return out;
}

void write_endurance_json(std::ostream& out, const report::EnduranceReport& report) {
    JsonWriter json(out);
    json.begin_object().member("version", AUSPEX_VERSION).member("workload", report.workload);
    json.member("computer", report.computer).member("ranks", report.ranks).member("seed", report.seed);
    json.member("kills", report.kills()).member("calibrations", report.calibrations);
    json.member("passed", report.passed());
    json.key("pieces").begin_object();
    for (const report::EndurancePiece& piece : report.pieces) {
        json.key(piece.key).begin_object().member("mean_s", piece.mean_s).member("error_s", piece.error_s);
        json.member("count", piece.count).end_object();
    }
    json.end_object();
    write_settings(json, report);
    json.key("best").begin_array();
    for (const report::EnduranceBest& best : report.best) {
        json.begin_object().member("mtbf_s", best.mtbf_s).member("measured_steps", best.measured);
        json.member("predicted_steps", best.predicted);
        json.member("closed_form_steps", best.closed_form_steps).end_object();
    }
    json.end_array().end_object();
}

}  // namespace auspex::cli
