/// @file Rows of tables.
#include "report/validation/validation_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/number_text.hpp"
#include "base/text/text_list.hpp"
#include "compare/evaluate/runs/run_groups.hpp"
#include "report/parts/loss_words.hpp"

namespace auspex::report {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;
using schedule::Loss;

constexpr double kNinety = 1.645;  ///< standard deviations

std::string joined_or(const std::vector<std::string>& texts, const char* otherwise) {
    return texts.empty() ? otherwise : joined(texts, "; ");
}

/// n, mean |error| and bias; "-" of none.
std::vector<std::string> short_cells(const RunSummary& s) {
    return s.errors.n == 0 ? std::vector<std::string>{"0", "-", "-"}
                           : std::vector<std::string>{std::to_string(s.errors.n), percent(s.mape),
                                                      signed_percent(s.errors.mean_error)};
}

std::string slope_text(const std::optional<evaluate::ShareSlope>& slope) {
    return slope ? signed_percent(slope->value) + " ± " + percent(kNinety * slope->error) : "-";
}

/// "useful compute 45.1 %, exposed dp 30.2 %": of the predicted step, the largest first, down to a hundredth.
std::string parts_text(const ValidatedRun& one) {
    constexpr double kLeast = 0.01;
    std::vector<std::pair<double, Loss>> parts;
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        const Loss loss = static_cast<Loss>(i);
        if (const double share = share_of(one, loss); share >= kLeast) {
            parts.emplace_back(-share, loss);
        }
    }
    std::ranges::sort(parts);
    std::vector<std::string> texts;
    for (const auto& [share, loss] : parts) {
        texts.push_back(readable(loss) + " " + percent(-share));
    }
    return joined_or(texts, "-");
}

std::string id_text(const ValidatedRun& one) {
    return one.run.id + (one.is_fitted ? " (fitted)" : one.is_corrected ? " (corrected)" : "");
}

}  // namespace

const char* const kGroupsNote =
    "An error is predicted over measured time of a step, minus 1. Mean, median and 90 % (of the cases no larger) are "
    "of "
    "the errors' sizes, the bias is the mean with its sign: below 0 where predictions are too short. Fitted: the case, "
    "or its group, gave a constant; corrected: what it says was changed; verified: neither. A case's interval is of 90 "
    "%: the uncertainties of constants "
    "and the unexplained spread of other sources' "
    "cases, of the same stack and machine if there are five of two sources, else the stack, else the machine, else "
    "all; nothing of "
    "its own source is "
    "in it. Constants' alone know of no spread between frameworks and sites.";
const char* const kMechanismsNote =
    "Verified cases: those in which the part takes more than a tenth of the predicted step, from so many sources, "
    "against all others. A part that is predicted badly shows as a difference between the two; but sources differ in "
    "much else. The last column therefore compares cases of one source with one another: the slope of "
    "ln(predicted / measured) over the part's share of the predicted step, with the mean of each source taken out, "
    "± 90 %. +20 % there means about: this part is predicted 20 % too long for its share, if all others are right. It "
    "is left out where shares do not differ inside sources, and takes cases of one source as independent; parts "
    "that grow together, such as recompute and useful compute, cannot be told apart by it.";
const char* const kTraitsNote =
    "Verified cases by what the runs are like. A line whose cases are from one source says as much of that source as "
    "of "
    "the property.";

const char* const kAblationNote =
    "Verified cases of the stack or machine that has the constant, predicted once more with the value that it would "
    "have "
    "if no case had told it (machines/published/runs.json says which). None of these cases gave the constant.";

TextRows group_rows(const std::vector<ValidatedRun>& runs) {
    const std::map<std::string, RunSummary> groups = evaluate::summaries(runs);
    TextRows rows{{"group", "cases", "mean |error|", "median", "90 %", "bias", "intervals hold", "their ± (median)",
                   "constants' hold", "memory |error|"}};
    const auto add = [&rows](const std::string& group, const RunSummary& s) {
        rows.push_back({group, std::to_string(s.errors.n), percent(s.mape), percent(s.errors.median_abs_error),
                        percent(s.errors.p90_abs_error), signed_percent(s.errors.mean_error), percent(s.coverage),
                        percent(s.median_half_width), percent(s.constants_coverage),
                        s.memory_n > 0 ? percent(s.memory_mape) + " of " + std::to_string(s.memory_n) : "-"});
    };
    for (const char* const first : {"all", "verified", "fitted", "corrected"}) {
        if (const auto found = groups.find(first); found != groups.end()) {
            add(first, found->second);
        }
    }
    for (const char* const kind : {"machine ", "verified, machine ", "stack ", "source "}) {
        for (const auto& [group, summary] : groups) {
            const auto whole = groups.find(group.substr(std::min(group.find("machine "), group.size())));
            const bool is_repeated =
                group.starts_with("verified, ") && whole != groups.end() && whole->second.errors.n == summary.errors.n;
            if (group.starts_with(kind) && !is_repeated) {
                add(group, summary);
            }
        }
    }
    return rows;
}

TextRows mechanism_rows(const std::vector<ValidatedRun>& runs) {
    TextRows rows{{"part of the step", "cases above 10 %", "mean |error|", "bias", "sources", "cases below",
                   "mean |error|, below", "bias, below", "slope within sources"}};
    for (const evaluate::MechanismErrors& one : errors_by_mechanism(evaluate::verified(runs))) {
        std::vector<std::string> row{readable(one.loss)};
        const std::vector<std::string> more = short_cells(one.more), less = short_cells(one.less);
        row.insert(row.end(), more.begin(), more.end());
        row.push_back(std::to_string(one.more_sources));
        row.insert(row.end(), less.begin(), less.end());
        row.push_back(slope_text(one.slope));
        rows.push_back(std::move(row));
    }
    return rows;
}

TextRows trait_rows(const std::vector<ValidatedRun>& runs) {
    TextRows rows{{"property", "cases", "mean |error|", "bias", "sources", "intervals hold"}};
    for (const evaluate::TraitErrors& one : errors_by_trait(evaluate::verified(runs))) {
        std::vector<std::string> row{one.of + ": " + one.trait};
        const std::vector<std::string> cells = short_cells(one.errors);
        row.insert(row.end(), cells.begin(), cells.end());
        row.insert(row.end(), {std::to_string(one.sources), percent(one.errors.coverage)});
        rows.push_back(std::move(row));
    }
    return rows;
}

TextRows worst_rows(const std::vector<ValidatedRun>& runs) {
    TextRows rows{{"case", "error", "measured, s", "predicted, s", "parts of the predicted step", "assumed of the case",
                   "reason"}};
    for (const ValidatedRun* const one : evaluate::worst_first(runs)) {
        if (rows.size() > kWorstCases) {
            break;
        }
        rows.push_back({id_text(*one), signed_percent(one->error()), significant(one->measured.seconds),
                        significant(one->predicted_s), parts_text(*one), joined_or(one->notes, "nothing"),
                        one->why.empty() ? "not found yet" : one->why});
    }
    return rows;
}

TextRows case_rows(const std::vector<ValidatedRun>& runs) {
    TextRows rows{
        {"case", "machine", "stack", "GPUs", "measured, s", "predicted, s", "90 % interval, s", "error", "interval"}};
    for (const ValidatedRun* const one : evaluate::worst_first(runs)) {
        rows.push_back({id_text(*one), one->machine, one->stack, std::to_string(one->run.gpus),
                        significant(one->measured.seconds), significant(one->predicted_s),
                        significant(one->low_s) + " to " + significant(one->high_s), signed_percent(one->error()),
                        one->interval_holds() ? "holds" : "misses"});
    }
    return rows;
}

namespace {

/// "ID: found …" and "ID (plan): $.pp: found …" begin with the case's name.
std::string without_id(const ValidatedRun& one) {
    for (const char* const end : {": ", " "}) {
        if (const std::string place = one.run.id + end; one.why_unmapped.starts_with(place)) {
            return one.why_unmapped.substr(place.size());
        }
    }
    return one.why_unmapped;
}

}  // namespace

TextRows unmapped_rows(const std::vector<ValidatedRun>& runs) {
    TextRows rows{{"case", "why not"}};
    for (const ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty()) {
            rows.push_back({one.run.id, without_id(one)});
        }
    }
    return rows;
}

TextRows ablation_rows(const ValidationReport& report) {
    TextRows rows{{"constant", "of", "without it", "cases", "mean |error|", "mean |error|, without", "bias",
                   "bias, without", "all verified", "all verified, without"}};
    for (const evaluate::ConstantAblation& one : report.ablations) {
        rows.push_back({one.constant, one.stack.empty() ? "machine " + one.machine : "stack " + one.stack,
                        one.without.substr(one.constant.size() + 1), std::to_string(one.with_it.errors.n),
                        percent(one.with_it.mape), percent(one.without_it.mape),
                        signed_percent(one.with_it.errors.mean_error), signed_percent(one.without_it.errors.mean_error),
                        percent(one.all_mape), percent(one.all_mape_without)});
    }
    return rows;
}

TextRows fitted_rows(const ValidationReport& report) {
    TextRows rows{{"constants", "given by"}};
    for (const evaluate::RunNames::Fitted& one : report.names.fitted) {
        std::vector<std::string> which;
        const std::string ids = joined_or(one.id, "");
        for (const auto& [name, text] : {std::pair("", ids), std::pair("source ", one.source_key),
                                         std::pair("framework ", one.framework), std::pair("of ", one.source)}) {
            if (!text.empty()) {
                which.push_back(name + text);
            }
        }
        rows.push_back({one.what, joined_or(which, "all")});
    }
    return rows;
}

}  // namespace auspex::report
