/// @file What the rows say together.
#include "report/endurance/endurance_report.hpp"

#include <algorithm>
#include <cmath>

#include "report/parts/text.hpp"

namespace auspex::report {

bool EnduranceReport::passed() const { return !rows.empty() && std::ranges::all_of(rows, &EnduranceRow::passed); }

int EnduranceReport::kills() const {
    int sum = 0;
    for (const EnduranceRow& row : rows) {
        sum += row.kills;
    }
    return sum;
}

double of_replay(const EnduranceRow& row) { return row.replayed.goodput; }
double of_mean(const EnduranceRow& row) { return row.predicted.goodput; }
double of_closed_form(const EnduranceRow& row) { return row.closed_form; }

EnduranceBest best_of(const std::vector<EnduranceRow>& rows, double mtbf_s, double closed_form_steps) {
    EnduranceBest best{mtbf_s, 0, 0, closed_form_steps};
    double measured = -1, predicted = -1;
    for (const EnduranceRow& row : rows) {
        if (row.mtbf_s != mtbf_s || row.runs == 0) {
            continue;
        }
        if (row.measured.goodput > measured) {
            measured = row.measured.goodput, best.measured = row.every;
        }
        if (row.predicted.goodput > predicted) {
            predicted = row.predicted.goodput, best.predicted = row.every;
        }
    }
    return best;
}

EnduranceErrors errors_of(const EnduranceReport& report, double (*prediction)(const EnduranceRow& row)) {
    EnduranceErrors errors;
    double sum = 0;
    for (const EnduranceRow& row : report.rows) {
        if (row.runs == 0) {
            continue;
        }
        const double error = std::abs(prediction(row) - row.measured.goodput);
        errors.largest = std::max(errors.largest, error);
        errors.inside += error <= kAllowedGoodput ? 1 : 0;
        ++errors.all;
        sum += error;
    }
    errors.mean = errors.all > 0 ? sum / errors.all : 0;
    return errors;
}

double mean_wall_error(const EnduranceReport& report) {
    double sum = 0;
    int all = 0;
    for (const EnduranceRow& row : report.rows) {
        if (row.runs > 0) {
            sum += std::abs(row.replayed.wall_s / row.measured.wall_s - 1);
            ++all;
        }
    }
    return all > 0 ? sum / all : 0;
}

int rows_in_band(const EnduranceReport& report) {
    return static_cast<int>(std::ranges::count_if(report.rows, [](const EnduranceRow& row) {
        return row.runs > 0 && row.measured.goodput >= row.p10 && row.measured.goodput <= row.p90;
    }));
}

std::string points(double difference) {
    const double value = 100 * difference;
    return (value >= 0 ? "+" : "-") + fixed(std::abs(value), 1);
}

std::string verdict_of(const EnduranceReport& report) {
    const EnduranceErrors replay = errors_of(report, of_replay);
    const std::string head =
        counted(static_cast<double>(report.rows.size()), "setting") + ", " + counted(report.kills(), "kill") + ": ";
    if (replay.all == 0) {
        return head + "nothing could be compared, for runs failed.";
    }
    const std::string losses = report.passed() ? "All losses are those of a run that nothing happened to, bit for bit."
                                               : "NOT ALLOWED: runs failed, or their losses differ.";
    return head + "goodput is predicted within " + fixed(100 * replay.largest, 1) +
           " points where the kills that came are played again (all time within " + percent(mean_wall_error(report)) +
           " in the mean), and within " + fixed(100 * errors_of(report, of_mean).largest, 1) +
           " points in the mean over kills that could have come (" + std::to_string(rows_in_band(report)) + " of " +
           std::to_string(replay.all) + " measured within its 10 and 90 %). " + losses;
}

}  // namespace auspex::report
