#pragma once
/// @file What `auspex endure` has found, as pages, tables and a picture.
#include <cstdint>
#include <string>
#include <vector>

namespace auspex::report {

/// How far a predicted goodput may be off.
inline constexpr double kAllowedGoodput = 0.03;

/// Something that was timed by itself: mean, its standard error, of how many.
struct EndurancePiece {
    std::string key, meaning;
    double mean_s = 0, error_s = 0;
    int count = 0;
};

/// Of all runs of a setting.
struct EnduranceNumbers {
    double goodput = 0;  ///< steps x the time of one that nothing happens to, over all time
    double wall_s = 0;   ///< all time, from commands' begins to their ends
    double lost_steps = 0;
    double recovery_s = 0;  ///< from a kill to the next step, or the next kill, in the mean
};

/// A setting: measured, predicted in the mean, and predicted for the very kills that came.
struct EnduranceRow {
    int every = 0;  ///< steps between checkpoints
    double mtbf_s = 0;
    int runs = 0, steps = 0;  ///< steps of all runs
    int kills = 0;
    double predicted_kills = 0;
    EnduranceNumbers measured, predicted, replayed;
    double p10 = 0, p90 = 0;  ///< predicted, over campaigns as long as this one
    double closed_form = 0;
    double step_s = 0;          ///< of the runs before and behind, which nothing happened to
    double own_step_s = 0;      ///< that the killed runs had, and their measured goodput is of
    bool losses_equal = false;  ///< to those of the run that nothing happened to, bit for bit
    std::string error;          ///< of a run that failed

    [[nodiscard]] bool passed() const { return losses_equal && error.empty() && runs > 0; }
};

/// The best interval for one mean time between kills.
struct EnduranceBest {
    double mtbf_s = 0;
    int measured = 0, predicted = 0;  ///< of those that were run, in steps
    double closed_form_steps = 0;     ///< of all there could be
};

struct EnduranceReport {
    std::string command, computer, workload;
    std::string folder;  ///< in which checkpoints were
    int ranks = 0, calibrations = 0;
    std::uint64_t seed = 1;
    std::vector<EndurancePiece> pieces;
    std::vector<EnduranceRow> rows;
    std::vector<EnduranceBest> best;

    /// No run failed, and all losses are equal. Times are never judged.
    [[nodiscard]] bool passed() const;
    [[nodiscard]] int kills() const;
};

/// Of the rows with this mean time between kills; requires one.
[[nodiscard]] EnduranceBest best_of(const std::vector<EnduranceRow>& rows, double mtbf_s, double closed_form_steps);

/// How far predictions of goodput are off, over the rows that have runs; in shares of time.
struct EnduranceErrors {
    double largest = 0, mean = 0;  ///< sizes
    int inside = 0, all = 0;       ///< rows within kAllowedGoodput
};
[[nodiscard]] EnduranceErrors errors_of(const EnduranceReport& report, double (*prediction)(const EnduranceRow& row));
/// The mean size of the errors of all time with the kills that came, over the time itself.
[[nodiscard]] double mean_wall_error(const EnduranceReport& report);
[[nodiscard]] double of_replay(const EnduranceRow& row);
[[nodiscard]] double of_mean(const EnduranceRow& row);
[[nodiscard]] double of_closed_form(const EnduranceRow& row);
/// Rows whose measured goodput lies between p10 and p90.
[[nodiscard]] int rows_in_band(const EnduranceReport& report);

/// "8 settings, 214 kills: with the kills that came, goodput is predicted within 1.4 points …".
[[nodiscard]] std::string verdict_of(const EnduranceReport& report);
/// A difference of shares: "+1.3", "-0.4".
[[nodiscard]] std::string points(double difference);

/// Goodput by interval, a curve for each mean time between kills: predicted, and measured marks. Inline SVG; empty
/// where no setting has a run.
[[nodiscard]] std::string goodput_chart(const EnduranceReport& report, double width);

/// Writes DIR/index.html, report.md, settings.csv, pieces.csv and goodput.svg (creating DIR). Throws InputError when it
/// cannot.
void write_endurance_report(const EnduranceReport& report, const std::string& directory);

}  // namespace auspex::report
