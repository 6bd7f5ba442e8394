/// @file Errors of rows, gathered by what the rows have in common.
#include "compare/evaluate/published_judgement.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kKiB = 1024, kMiB = kKiB * kKiB;

using Rows = std::vector<const PredictedCollective*>;

/// Errors of the rows of every key.
template <typename KeyOf>
auto summaries_by(const Rows& rows, const KeyOf& key_of) {
    using Key = std::decay_t<decltype(key_of(*rows.front()))>;
    std::map<Key, std::vector<double>> errors;
    for (const PredictedCollective* const row : rows) {
        errors[key_of(*row)].push_back(row->error());
    }
    std::map<Key, ErrorSummary> summaries;
    for (const auto& [key, values] : errors) {
        summaries.emplace(key, summary_of(values));
    }
    return summaries;
}

PublishedJudgement::Part judge_part(const Rows& rows) {
    std::vector<double> errors;
    for (const PredictedCollective* const row : rows) {
        errors.push_back(row->error());
    }
    return {summary_of(errors), summaries_by(rows, [](const PredictedCollective& one) { return one.row.machine; }),
            summaries_by(rows, [](const PredictedCollective& one) { return one.row.library; }),
            summaries_by(rows, [](const PredictedCollective& one) { return one.row.kind; }),
            summaries_by(rows, [](const PredictedCollective& one) { return size_class_of(one.query.bytes); })};
}

std::map<PublishedJudgement::Cell, ErrorSummary> cells_of(const Rows& rows) {
    return summaries_by(rows, [](const PredictedCollective& one) {
        return PublishedJudgement::Cell{one.row.machine, one.row.library, one.row.kind, size_class_of(one.query.bytes)};
    });
}

}  // namespace

const char* to_string(SizeClass size) {
    switch (size) {
        case SizeClass::kSmall: return "up to 8 KiB";
        case SizeClass::kMedium: return "up to 1 MiB";
        case SizeClass::kLarge: return "up to 64 MiB";
        case SizeClass::kHuge: return "above 64 MiB";
    }
    check_failed("size", "unknown class of sizes", __FILE__, __LINE__);
}

SizeClass size_class_of(double buffer_bytes) {
    return buffer_bytes <= 8 * kKiB    ? SizeClass::kSmall
           : buffer_bytes <= kMiB      ? SizeClass::kMedium
           : buffer_bytes <= 64 * kMiB ? SizeClass::kLarge
                                       : SizeClass::kHuge;
}

PublishedJudgement judge_published(const std::vector<PredictedCollective>& rows) {
    PublishedJudgement judgement;
    Rows all, fitted, not_fitted;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PublishedQuery& query = rows[i].query;
        if (!query.refused.empty()) {
            ++judgement.not_predicted[query.refused];
            continue;
        }
        all.push_back(&rows[i]);
        (query.fitted ? fitted : not_fitted).push_back(&rows[i]);
        judgement.worst.push_back(i);
    }
    judgement.all = judge_part(all);
    judgement.fitted = judge_part(fitted);
    judgement.not_fitted = judge_part(not_fitted);
    judgement.fitted_cells = cells_of(fitted);
    judgement.not_fitted_cells = cells_of(not_fitted);
    std::ranges::stable_sort(judgement.worst, [&](std::size_t a, std::size_t b) {
        return std::abs(rows[a].error()) > std::abs(rows[b].error());
    });
    return judgement;
}

}  // namespace auspex::evaluate
