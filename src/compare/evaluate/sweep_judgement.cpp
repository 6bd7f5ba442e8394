/// @file Cells of a sweep: who would have been chosen, in which order, and what fits.
#include "compare/evaluate/sweep_judgement.hpp"

#include <algorithm>
#include <limits>

#include "base/statistics/statistics.hpp"

namespace auspex::evaluate {
namespace {

/// A plan that is predicted not to fit would not be chosen: infinite, unless none fits.
std::vector<double> times_of_those_that_fit(std::vector<double> times, const std::vector<std::size_t>& rows,
                                            const std::vector<SweepPrediction>& predictions) {
    if (std::ranges::none_of(rows, [&](std::size_t i) { return predictions[i].fits; })) {
        return times;
    }
    for (std::size_t n = 0; n < rows.size(); ++n) {
        times[n] = predictions[rows[n]].fits ? times[n] : std::numeric_limits<double>::infinity();
    }
    return times;
}

void judge_speed(SweepCell& cell, const std::vector<std::size_t>& members, const std::vector<SweepRow>& rows,
                 const std::vector<SweepPrediction>& predictions) {
    // Seconds of a token on a tile: smaller is better, as steps of different batches would not be.
    std::vector<double> measured, predicted, ratios;
    std::vector<std::size_t> counted;
    for (const std::size_t i : members) {
        if (rows[i].speed_counts && predictions[i].refused.empty()) {
            counted.push_back(i);
            measured.push_back(1 / rows[i].tokens_per_s_per_tile);
            predicted.push_back(1 / predicted_tokens_per_s_per_tile(rows[i], predictions[i]));
            ratios.push_back(measured.back() / predicted.back());
        }
    }
    cell.n = static_cast<int>(counted.size());
    if (counted.empty()) {
        return;
    }
    const auto least = [&](const std::vector<double>& times) {
        return counted[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())];
    };
    const std::vector<double> offered = times_of_those_that_fit(predicted, counted, predictions);
    cell.measured_best = least(measured);
    cell.predicted_best = least(offered);
    cell.regret = regret_of_predicted_best(measured, offered);
    cell.median_ratio = median(ratios);
    const RankAgreement agreement = kendall_tau(measured, predicted, 0);
    cell.kendall_tau = agreement.pairs > 0 ? std::optional(agreement.tau) : std::nullopt;
}

void judge_memory(SweepCell& cell, const SweepRow& row, const SweepPrediction& prediction) {
    ++cell.rows;
    if (!prediction.refused.empty()) {
        ++cell.refused;
        return;
    }
    if (row.status == SweepStatus::kOther) {
        return;
    }
    const bool ran = row.status == SweepStatus::kOk;
    ++cell.verdicts;
    cell.right += ran == prediction.fits ? 1 : 0;
    cell.said_fits_but_oom += prediction.fits && !ran ? 1 : 0;
    cell.said_oom_but_fits += !prediction.fits && ran ? 1 : 0;
}

void sum_up(SweepJudgement& all) {
    std::vector<double> regrets, taus, accuracies;
    for (const SweepCell& cell : all.cells) {
        all.verdicts += cell.verdicts;
        all.right += cell.right;
        all.said_fits_but_oom += cell.said_fits_but_oom;
        all.said_oom_but_fits += cell.said_oom_but_fits;
        const auto add = [](std::vector<double>& list, const std::optional<double>& value) {
            if (value) {
                list.push_back(*value);
            }
        };
        add(regrets, cell.regret);
        add(taus, cell.kendall_tau);
        add(accuracies, cell.oom_accuracy());
    }
    if (!regrets.empty()) {
        all.median_regret = median(regrets);
        all.worst_regret = *std::ranges::max_element(regrets);
    }
    if (!taus.empty()) {
        all.median_tau = median(taus);
        all.worst_tau = *std::ranges::min_element(taus);
    }
    if (!accuracies.empty()) {
        all.worst_accuracy = *std::ranges::min_element(accuracies);
    }
}

}  // namespace

double predicted_tokens_per_s_per_tile(const SweepRow& row, const SweepPrediction& prediction) {
    return row.tokens_per_step() / prediction.step_time_s / (static_cast<double>(row.tp) * row.pp * row.dp);
}

SweepJudgement judge_sweep(const std::vector<SweepRow>& rows, const std::vector<SweepPrediction>& predictions) {
    SweepJudgement all;
    std::map<std::pair<double, int>, std::vector<std::size_t>> cells;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        cells[{rows[i].params_b, rows[i].nodes}].push_back(i);
        if (!predictions[i].refused.empty()) {
            ++all.refusals[predictions[i].refused];
        }
    }
    for (const auto& [key, members] : cells) {
        SweepCell& cell = all.cells.emplace_back();
        cell.params_b = key.first;
        cell.nodes = key.second;
        for (const std::size_t i : members) {
            judge_memory(cell, rows[i], predictions[i]);
        }
        judge_speed(cell, members, rows, predictions);
    }
    sum_up(all);
    return all;
}

}  // namespace auspex::evaluate
