/// @file Tables of fits and constants; the page around the residual charts.
#include "report/calibration/calibration_report.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/statistics/interval.hpp"
#include "base/statistics/quantiles.hpp"
#include "base/units.hpp"
#include "compare/fit/table_calibration.hpp"
#include "report/calibration/residual_chart.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::report {
namespace {

constexpr const char* kResiduals =
    "Predicted over measured time of every measurement, against the measured one. A good law has its marks close to 1 "
    "at all times; marks that rise or fall together from left to right show a term that is missing, single ones a "
    "disturbed measurement. The lines next to 1 are 5 % off. Marks beyond a factor of two stand at the edge.";

/// The worst of all points, and where there are outliers what is worst without them.
std::string worst_text(const fit::FitQuality& fit) {
    const double worst = std::max(fit.worst_error, fit.farthest_error);
    return percent(worst) +
           (fit.outliers > 0 ? " (" + percent(fit.worst_error) + " without " + counted(fit.outliers, "outlier") + ")"
                             : "");
}

std::vector<TextRow> fit_rows(const fit::Calibration& calibration) {
    std::vector<TextRow> rows{{"fit", "precision", "points", "typical error", "worst", "verdict"}};
    for (const fit::FitQuality& fit : calibration.fits) {
        const bool is_checked = fit.verdict != fit::kOneRow;
        rows.push_back({fit.name, fit.precision.empty() ? fit.kind : fit.precision, std::to_string(fit.points.size()),
                        is_checked ? percent(fit.typical_error) : "-", is_checked ? worst_text(fit) : "-",
                        fit.verdict});
    }
    return rows;
}

std::vector<TextRow> constant_rows(const std::vector<Constant>& constants) {
    std::vector<TextRow> rows{{"constant", "value", "from", "to", "kind"}};
    for (const Constant& constant : constants) {
        const auto text = [&](double value) { return format_quantity(value, constant.dimension); };
        const Estimate estimate = estimate_of_95(constant.value, constant.relative_uncertainty * constant.value);
        rows.push_back(
            {constant.path, text(estimate.value), text(estimate.low), text(estimate.high), to_string(constant.kind)});
    }
    return rows;
}

std::vector<TextRow> change_rows(const std::vector<fit::ConstantChange>& changes) {
    std::vector<TextRow> rows{{"constant", "before", "now", "from", "to", "rows", "verdict"}};
    for (const fit::ConstantChange& change : changes) {
        const auto text = [&](double value) { return format_quantity(value, change.now.dimension); };
        const bool has_interval = change.verdict != fit::kOneRow;
        rows.push_back({change.now.path, text(change.before.value), text(change.now.value),
                        has_interval ? text(change.interval.low) : "-", has_interval ? text(change.interval.high) : "-",
                        change.rows, change.verdict});
    }
    return rows;
}

std::string what_stayed(const CalibrationReport& report) {
    if (report.calibration.changes.empty()) {
        return "No row determines a constant of the machine: all " +
               counted(static_cast<double>(report.constants_of_machine), "constant") + " stayed.";
    }
    const std::size_t stayed = report.constants_of_machine - report.calibration.changes.size();
    return counted(static_cast<double>(stayed), "other constant") + " of the machine stayed: no row determines " +
           (stayed == 1 ? "it." : "them.");
}

std::string terms_table(const fit::Calibration& calibration) {
    std::vector<TextRow> rows{{"fit", "precision", "term", "value", "from", "to"}};
    for (const fit::FitQuality& fit : calibration.fits) {
        for (const fit::FitQuality::Term& term : fit.terms) {
            const auto text = [](double s) { return significant(s * 1e9, 4) + " ns"; };
            rows.push_back({fit.name, fit.precision, term.name, text(term.value), text(term.low), text(term.high)});
        }
    }
    return html_table(cells_of(rows, 3), "Seconds for each unit of a term.") +
           html_paragraph(
               "Units: a call, a row, an element, a multiply-add of a product, a byte. Intervals are 95 %, from "
               "fits to resampled measurements.",
               "note");
}

/// The words in which all names begin; of a single name all of it. Requires that the first word is the same.
std::string common_head(const std::vector<const fit::FitQuality*>& fits) {
    std::string head = fits.front()->name;
    for (const fit::FitQuality* fit : fits) {
        while (fit->name != head && !fit->name.starts_with(head + "_")) {
            head.erase(std::min(head.rfind('_'), head.size()));
        }
    }
    return head;
}

/// "kernel copy", "kernels gemm_…", "kernels sum_rows, …"; of other kinds the kind.
std::string title_of(const std::vector<const fit::FitQuality*>& fits) {
    if (fits.front()->kind != "kernel") {
        return fits.front()->kind;
    }
    const std::string head = common_head(fits);
    const auto named = std::ranges::count_if(fits, [&](const fit::FitQuality* fit) { return fit->name == head; });
    return named == std::ssize(fits) ? "kernel " + head : "kernels " + head + (named > 0 ? ", …" : "_…");
}

/// Those that are a law's, or of a table's collectives those that are only checked.
std::vector<fit::FitQuality> fits_of(const CalibrationReport& report, bool are_checks) {
    std::vector<fit::FitQuality> some;
    std::ranges::copy_if(report.calibration.fits, std::back_inserter(some), [&](const fit::FitQuality& fit) {
        return (report.is_from && fit.kind == fit::kCollective) == are_checks;
    });
    return some;
}

std::string counted_fits(const CalibrationReport& report) {
    return counted(static_cast<double>(fits_of(report, false).size()), "fit");
}

auto poor_of(const std::vector<fit::FitQuality>& fits) {
    return std::ranges::count_if(fits, [](const fit::FitQuality& fit) { return fit.is_poor; });
}

/// "24 rows of collectives checked, not fitted: typically 13 % off, at most 41 %"; "" without such rows.
std::string checks_text(const CalibrationReport& report) {
    std::vector<double> errors;
    for (const fit::FitQuality& check : fits_of(report, true)) {
        for (std::size_t i = 0; i < check.points.size(); ++i) {
            errors.push_back(std::abs(check.predicted[i] / check.points[i].seconds - 1));
        }
    }
    return errors.empty() ? ""
                          : counted(static_cast<double>(errors.size()), "row") +
                                " of collectives checked, not fitted: typically " + percent(median(errors)) +
                                " off, at most " + percent(std::ranges::max(errors));
}

/// Of the fits' typical errors.
double median_error(const CalibrationReport& report) {
    std::vector<double> errors;
    for (const fit::FitQuality& fit : fits_of(report, false)) {
        if (fit.verdict != fit::kOneRow) {
            errors.push_back(fit.typical_error);
        }
    }
    return errors.empty() ? 0 : median(errors);
}

std::string residual_figure(const CalibrationReport& report, const std::string& title,
                            std::span<const fit::FitQuality* const> fits, double wide) {
    return html_figure(picture_of([&](double width) { return residual_chart(title, fits, width); }, wide),
                       {title, wide < kPagePicture ? kResiduals : "", source_line(report.command, {})});
}

/// The fits whose typical error is largest, as far as a chart has colours.
std::string worst_figure(const CalibrationReport& report) {
    std::vector<const fit::FitQuality*> fits;
    for (const fit::FitQuality& fit : report.calibration.fits) {
        if (!fit.points.empty()) {
            fits.push_back(&fit);
        }
    }
    std::ranges::stable_sort(fits, [](const auto* a, const auto* b) { return a->typical_error > b->typical_error; });
    fits.resize(std::min(fits.size(), kMaxResiduals));
    return fits.empty() ? "" : residual_figure(report, "Residuals of the worst fits", fits, kColumnPicture);
}

/// Kernels by the first word of their names, so that forward and backward are neighbours; messages, collectives.
std::string charts(const CalibrationReport& report) {
    std::map<std::string, std::vector<const fit::FitQuality*>> families;
    for (const fit::FitQuality& fit : report.calibration.fits) {
        const std::string head = fit.name.substr(0, fit.name.find('_'));
        families[fit.kind == "kernel" ? fit.kind + " " + head : fit.kind].push_back(&fit);
    }
    std::string out;
    for (const auto& [family, fits] : families) {
        for (std::size_t first = 0; first < fits.size(); first += kMaxResiduals) {
            const std::size_t count = std::min(kMaxResiduals, fits.size() - first);
            out += residual_figure(report, title_of(fits), std::span(fits).subspan(first, count), kPagePicture);
        }
    }
    return out;
}

std::vector<Card> cards_of(const CalibrationReport& report) {
    const std::vector<fit::FitQuality> fits = fits_of(report, false);
    const auto poor = poor_of(fits);
    std::size_t points = 0;
    double worst = 0;
    for (const fit::FitQuality& fit : fits) {
        points += fit.points.size();
        worst = std::max(worst, fit.worst_error);
    }
    return {{thousands(static_cast<double>(fits.size())), "fits"},
            {thousands(static_cast<double>(poor)), "of them poor", poor > 0},
            {percent(median_error(report)), "typical error of the fit in the middle"},
            {percent(worst), "worst error, outliers apart"},
            {thousands(static_cast<double>(points)), "measurements"},
            {thousands(static_cast<double>(report.constants.size())), "constants"}};
}

std::string changes_section(const CalibrationReport& report) {
    if (!report.is_from) {
        return "";
    }
    const fit::Calibration& calibration = report.calibration;
    std::string out = html_table(cells_of(change_rows(calibration.changes), 1), "Constants that the rows change.") +
                      html_paragraph("From and to: about 95 % of a law's, the smallest and largest of single rows. " +
                                         what_stayed(report) + " Sources stand in the machine file.",
                                     "note");
    if (!calibration.advice.empty()) {
        out += html_table(cells_of(change_rows(calibration.advice), 1),
                          "Constants of the stack of which the rows speak; its file stays as it is.");
    }
    return out;
}

std::string fits_section(const CalibrationReport& report) {
    TableSkills skills{.row_name = "fits", .filter_example = "gemm, or verdict=good"};
    return html_table(cells_of(fit_rows(report.calibration), 2), "Fits and how good they are.", skills) +
           html_paragraph(
               "A fit is good if its typical error (the median) is at most 5 % and its worst, outliers apart, at most "
               "20 %, with an outlier in ten points at most; the column has the worst of all. Collectives are not "
               "fitted "
               "but predicted from the costs of messages.",
               "note");
}

std::string render_html(const CalibrationReport& report) {
    FirstScreen first;
    first.title = first.kind = "Calibration of " + report.machine;
    first.headline = calibration_headline(report);
    first.cards = cards_of(report);
    first.figure = worst_figure(report);
    first.remarks = html_paragraph(verdict_of(report));
    const std::string constants =
        html_table(cells_of(constant_rows(report.constants), 1),
                   report.is_from ? "All that are measured or fitted, with intervals of 95 %, assumed ones apart."
                                  : "With intervals of 95 %, assumed ones apart; laws of kernels stand below.");
    const std::string provenance = html_paragraph("Measurements are in " + report.measurements_file +
                                                  ", the machine file is " + report.machine_file + ".") +
                                   html_provenance(report.command, {}, {});
    return html_page(first, {{"warnings", "Warnings",
                              report.calibration.warnings.empty() ? "" : html_list(report.calibration.warnings)},
                             {"fits", "Fits", fits_section(report)},
                             {"residuals", "Residuals", charts(report)},
                             {"changes", "Changed constants", changes_section(report)},
                             {"constants", "Constants", constants},
                             {"terms", "Terms", report.is_from ? "" : terms_table(report.calibration)},
                             {"provenance", "Provenance", provenance}});
}

}  // namespace

std::string calibration_headline(const CalibrationReport& report) {
    const std::vector<fit::FitQuality> fits = fits_of(report, false);
    if (fits.empty()) {
        const std::string checks = checks_text(report);
        return report.machine + ": no constant fitted" + (checks.empty() ? "" : ", ") + checks;
    }
    const auto poor = poor_of(fits);
    const std::string all = counted_fits(report);
    return report.machine + ": " +
           (poor == 0 ? "none of " + all + " poor" : thousands(static_cast<double>(poor)) + " of " + all + " poor") +
           ", typically " + percent(median_error(report)) + " off";
}

std::string verdict_of(const CalibrationReport& report) {
    const std::vector<fit::FitQuality> fits = fits_of(report, false);
    const std::string checks = checks_text(report);
    if (fits.empty()) {
        return "No constant was fitted" + (checks.empty() ? "" : "; " + checks) + ".";
    }
    const auto poor = poor_of(fits);
    const auto unchecked =
        std::count_if(fits.begin(), fits.end(), [](const fit::FitQuality& fit) { return fit.verdict == fit::kOneRow; });
    const std::string some =
        poor == 0 ? (unchecked == 0 ? ", all good." : ", none of them poor.")
                  : ", " + thousands(static_cast<double>(poor)) + " of them poor: their verdicts say where.";
    return counted_fits(report) + some +
           (unchecked == 0 ? "" : " Of one row, and not checked: " + thousands(static_cast<double>(unchecked)) + ".") +
           (checks.empty() ? "" : " Besides, " + checks + ".");
}

std::string fits_text(const fit::Calibration& calibration) { return text_table(fit_rows(calibration), {0, 1, 5}); }

std::string constants_text(const std::vector<Constant>& constants) {
    return text_table(constant_rows(constants), {0, 4});
}

std::string changes_text(const CalibrationReport& report) {
    const std::vector<fit::ConstantChange>& changes = report.calibration.changes;
    const std::vector<fit::ConstantChange>& advice = report.calibration.advice;
    std::string text = changes.empty() ? "" : text_table(change_rows(changes), {0, 5, 6});
    if (!advice.empty()) {
        text += "\nOf the stack, whose file stays as it is:\n" + text_table(change_rows(advice), {0, 5, 6});
    }
    return text + (text.empty() ? "" : "\n") + what_stayed(report) + "\n";
}

void write_calibration_report(const CalibrationReport& report, const std::string& directory) {
    write_report_file(make_report_folder(directory, "index.html") / "index.html", render_html(report));
}

}  // namespace auspex::report
