/// @file Rows of a run and its prediction.
#include "report/run/run_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

/// 1.30 for a third more than predicted; "" where one of them is nothing.
std::string ratio_text(double measured, double predicted) {
    return measured > 0 && predicted > 0 ? fixed(measured / predicted, measured / predicted < 10 ? 2 : 1) : "";
}

std::string seconds_or_none(double seconds) { return seconds > 0 ? duration(seconds) : "-"; }

std::string change_text(double before, double after) {
    const double change = after - before;
    return change == 0 ? "0" : (change < 0 ? "−" : "+") + duration(std::abs(change));
}

std::string short_name(const std::string& name) {
    constexpr std::size_t kMost = 64;
    if (name.size() <= kMost) {
        return name;
    }
    std::size_t cut = kMost;  // not inside a character of several bytes
    while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) {
        --cut;
    }
    return name.substr(0, cut) + "…";
}

std::string count_text(double count) {
    return std::abs(count - std::round(count)) < 0.05 ? thousands(count) : fixed(count, 1);
}

}  // namespace

std::vector<std::string> run_summary(const kineto::RunDiff& diff) {
    const double error = diff.measured_s > 0 ? diff.predicted_s / diff.measured_s - 1 : 0;
    double kernels = 0, matched = 0;
    for (const kineto::RankRow& rank : diff.ranks) {
        kernels += rank.kernel_s;
        matched += rank.matched_s;
    }
    const std::int64_t number = diff.ranks.front().step_number;
    const std::string step = number < 0 ? "the whole trace" : "step " + std::to_string(number);
    std::vector<std::string> lines{step + " of " + counted(static_cast<double>(diff.ranks.size()), "rank") +
                                   (diff.device.empty() ? "" : " on " + diff.device) + ": measured " +
                                   duration(diff.measured_s) + ", predicted " + duration(diff.predicted_s) + " (" +
                                   signed_percent(error) + ")"};
    lines.push_back(percent(kernels > 0 ? matched / kernels : 0) + " of the time of all kernels and collectives (" +
                    duration(kernels / static_cast<double>(diff.ranks.size())) +
                    " a rank) matches operations of the plan");
    return lines;
}

std::vector<TextRow> spent_rows(const kineto::RunDiff& diff) {
    std::vector<TextRow> rows{{"part", "measured", "predicted", "difference", "share of it"}};
    const double whole = diff.measured_s - diff.predicted_s;
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        if (diff.measured[i] > 0 || diff.predicted[i] > 0) {
            const double change = diff.measured[i] - diff.predicted[i];
            rows.push_back({to_string(static_cast<kineto::Spent>(i)), seconds_or_none(diff.measured[i]),
                            seconds_or_none(diff.predicted[i]), change_text(diff.predicted[i], diff.measured[i]),
                            whole != 0 ? percent(change / whole, 0) : ""});
        }
    }
    rows.push_back({"step", duration(diff.measured_s), duration(diff.predicted_s),
                    change_text(diff.predicted_s, diff.measured_s), ""});
    return rows;
}

std::vector<TextRow> operation_rows(const kineto::RunDiff& diff, std::size_t most) {
    std::vector<TextRow> rows{{"operation", "measured", "predicted", "ratio", "matched", "of", "kernels", "expected"}};
    for (std::size_t i = 0; i < std::min(most, diff.operations.size()); ++i) {
        const kineto::OperationRow& row = diff.operations[i];
        rows.push_back({row.name, seconds_or_none(row.measured_s),
                        seconds_or_none(row.matched > 0 ? row.predicted_s : row.all_predicted_s),
                        ratio_text(row.measured_s, row.predicted_s), count_text(row.matched), count_text(row.expected),
                        count_text(row.kernels), row.communicates ? "" : count_text(row.launches)});
    }
    return rows;
}

std::vector<TextRow> unmatched_rows(const kineto::RunDiff& diff, std::size_t most) {
    std::vector<TextRow> rows{{"kernel", "launched by", "taken for", "times", "time"}};
    double count = 0, seconds = 0;
    for (std::size_t i = 0; i < diff.kernels.size(); ++i) {
        const kineto::UnmatchedKernel& kernel = diff.kernels[i];
        if (i < most) {
            rows.push_back({short_name(kernel.name), short_name(kernel.op), kernel.work, count_text(kernel.count),
                            duration(kernel.seconds)});
        } else {
            count += kernel.count;
            seconds += kernel.seconds;
        }
    }
    if (diff.kernels.size() > most) {
        rows.push_back({thousands(static_cast<double>(diff.kernels.size() - most)) + " others", "", "",
                        count_text(count), duration(seconds)});
    }
    return rows;
}

std::vector<TextRow> constant_rows(const kineto::RunDiff& diff) {
    std::vector<TextRow> rows{{"constant", "operations", "file", "explains", "behind it", "spread", "step with it"}};
    for (const kineto::ExplainingConstant& one : diff.constants) {
        rows.push_back({one.path, one.operations, in_unit(one.value, one.dimension),
                        in_unit(one.explaining, one.dimension), thousands(one.count), percent(one.spread),
                        one.step_alone_s ? duration(*one.step_alone_s) : "-"});
    }
    return rows;
}

std::vector<TextRow> rank_rows(const kineto::RunDiff& diff) {
    std::vector<TextRow> rows{{"rank", "stage", "measured", "predicted", "matched", "file"}};
    for (const kineto::RankRow& rank : diff.ranks) {
        rows.push_back({std::to_string(rank.rank), std::to_string(rank.stage), duration(rank.measured_s),
                        duration(rank.predicted_s), percent(rank.coverage()), rank.file});
    }
    return rows;
}

std::string explained_text(const kineto::RunDiff& diff) {
    if (!diff.explained_s) {
        return "";
    }
    const double error = *diff.explained_s / diff.measured_s - 1;
    return "With all of them the predicted step is " + duration(*diff.explained_s) + ", " + signed_percent(error) +
           " of the measured " + duration(diff.measured_s) + ".";
}

std::string operations_csv(const kineto::RunDiff& diff) {
    std::string out =
        "operation,booked_as,expected,matched,kernels_measured,launches_expected,measured_s,predicted_s,"
        "predicted_of_all_s\n";
    for (const kineto::OperationRow& row : diff.operations) {
        out += row.name + "," + to_string(row.spent);
        for (const double value : {row.expected, row.matched, row.kernels, row.launches, row.measured_s,
                                   row.predicted_s, row.all_predicted_s}) {
            out += "," + json_number(value);
        }
        out += "\n";
    }
    return out;
}

}  // namespace auspex::report
