#pragma once
/// @file The HTML page of a calibration: verdicts, residuals, constants with their intervals.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "compare/fit/calibration.hpp"

namespace auspex::report {

/// What the page and the terminal show of one calibration.
struct CalibrationReport {
    std::string machine;            ///< its name
    std::string machine_file;       ///< where it was written
    std::string measurements_file;  ///< file of its measurements
    std::string command;
    fit::Calibration calibration;
    std::vector<Constant> constants;       ///< of the machine file, without cost models of kernels
    bool is_from = false;                  ///< from a table of another machine: `calibration` has changes
    std::size_t constants_of_machine = 0;  ///< in its file, all of them
};

/// "local: 12 of 112 fits poor, typically 1.8 % off".
[[nodiscard]] std::string calibration_headline(const CalibrationReport& report);
/// How many fits are good, and what the others are; rows of a table's collectives, which are checked and not fitted.
[[nodiscard]] std::string verdict_of(const CalibrationReport& report);

/// One line a fit: "gemm_forward  fp32  24  1.2 %  8.1 %  good", below a head; kernels, messages, what cores share,
/// collectives. The worst is that of all points; what it is without outliers stands behind it where there are any.
[[nodiscard]] std::string fits_text(const fit::Calibration& calibration);
/// One line a constant: value, interval of 95 %, kind.
[[nodiscard]] std::string constants_text(const std::vector<Constant>& constants);
/// One line a constant that measurements have replaced: old and new value, interval, number of measurements, verdict;
/// then those of the stack that measurements concern, and how many constants stayed.
[[nodiscard]] std::string changes_text(const CalibrationReport& report);

/// Writes DIR/index.html. Throws InputError where it cannot.
void write_calibration_report(const CalibrationReport& report, const std::string& directory);

}  // namespace auspex::report
