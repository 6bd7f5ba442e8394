/// @file One line a case.
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/text/text_list.hpp"
#include "report/validation/case_inputs.hpp"
#include "report/validation/validation_report.hpp"

namespace auspex::report {
namespace {

using evaluate::ValidatedRun;

std::vector<std::string> head() {
    std::vector<std::string> names{"id",
                                   "source",
                                   "framework",
                                   "gpu",
                                   "gpus",
                                   "machine",
                                   "stack",
                                   "fitted",
                                   "corrected",
                                   "measured_from",
                                   "measured_step_s",
                                   "predicted_step_s",
                                   "error",
                                   "interval_low_s",
                                   "interval_high_s",
                                   "constants_low_s",
                                   "constants_high_s",
                                   "spread_sigma",
                                   "interval_holds",
                                   "predicted_memory_bytes",
                                   "measured_memory_bytes"};
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        names.push_back(std::string(to_string(static_cast<schedule::Loss>(i))) + "_s");
    }
    for (const char* const last : {"notes", "reason", "why_unmapped", "command"}) {
        names.emplace_back(last);
    }
    return names;
}

/// Empty where nothing was predicted.
std::vector<std::string> cells_of(const ValidatedRun& one, const std::string& command) {
    const bool is_there = one.why_unmapped.empty();
    const auto number = [is_there](double value) { return is_there ? json_number(value) : std::string(); };
    const auto flag = [is_there](bool value) { return std::string(!is_there ? "" : value ? "true" : "false"); };
    std::vector<std::string> cells{one.run.id,
                                   one.run.source_key,
                                   one.run.framework,
                                   one.run.gpu,
                                   std::to_string(one.run.gpus),
                                   one.machine,
                                   one.stack,
                                   flag(one.is_fitted),
                                   flag(one.is_corrected),
                                   one.measured.from,
                                   number(one.measured.seconds),
                                   number(one.predicted_s),
                                   is_there ? json_number(one.error()) : "",
                                   number(one.low_s),
                                   number(one.high_s),
                                   number(one.constants_s.low),
                                   number(one.constants_s.high),
                                   one.spread ? number(one.spread->sigma) : "",
                                   flag(one.interval_holds()),
                                   number(one.predicted_memory_bytes),
                                   one.memory_error() ? number(one.run.measured.peak_memory_bytes) : ""};
    for (const Picoseconds loss : one.losses) {
        cells.push_back(number(to_seconds(loss)));
    }
    cells.insert(cells.end(), {joined(one.notes, "; "), one.why, one.why_unmapped, command});
    return cells;
}

}  // namespace

std::string render_validation_csv(const ValidationReport& report) {
    const std::vector<std::string> folders = case_folders(report.runs);
    std::string out = csv_line(head());
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
        out += csv_line(cells_of(report.runs[i], case_command(report, i, folders)));
    }
    return out;
}

}  // namespace auspex::report
