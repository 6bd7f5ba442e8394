/// @file Ends of levels are sought one more at a time; each set of ends has the best heights that are no descents.
#include "compare/fit/cost_models/cache_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/units.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "compare/fit/cost_models/non_negative_fit.hpp"
#include "models/cpu/cache.hpp"
#include "models/cpu/cpu_model.hpp"

namespace auspex::fit {
namespace {

/// Ends are this far apart at least, and what lies beyond one is slower by this share.
constexpr double kApart = 4, kMinRise = 0.25;

struct Levels {
    std::vector<double> ends;
    std::vector<double> rises;                                 ///< what a byte beyond each end takes longer, s
    double squares = std::numeric_limits<double>::infinity();  ///< of relative errors, the mean
    bool are_distinct = true;                                  ///< each slower than the one before by kMinRise
};

Levels levels_ending_at(const std::vector<models::Measurement>& sweep, std::vector<double> ends) {
    std::ranges::sort(ends);
    std::vector<Observation> observations;
    for (const models::Measurement& row : sweep) {
        Observation& one = observations.emplace_back();
        one.y = row.seconds;
        one.sizes.push_back(row.bytes);
        for (const double end : ends) {
            one.sizes.push_back(row.bytes * models::miss_ratio(end, row.bytes));
        }
    }
    const NonNegativeFit fit = fit_non_negative(observations);
    Levels levels{std::move(ends), {}, 0, true};
    for (const double residual : fit.residuals) {
        levels.squares += residual * residual / static_cast<double>(sweep.size());
    }
    double height = fit.coefficients.front().value;
    for (std::size_t i = 1; i < fit.coefficients.size(); ++i) {
        levels.are_distinct = levels.are_distinct && fit.coefficients[i].value >= kMinRise * height;
        height += fit.coefficients[i].value;
        levels.rises.push_back(fit.coefficients[i].value);
    }
    return levels;
}

bool is_apart(double end, std::span<const double> others) {
    return std::ranges::all_of(others,
                               [end](double other) { return std::max(end, other) >= kApart * std::min(end, other); });
}

/// The best of the ends with one of all sizes added.
Levels with_one_more(const std::vector<models::Measurement>& sweep, const std::vector<double>& ends) {
    Levels best;
    for (const models::Measurement& row : sweep) {
        // Behind the last size nothing is slower.
        if (is_apart(row.bytes, ends) && 2 * row.bytes <= sweep.back().bytes) {
            std::vector<double> candidate = ends;
            candidate.push_back(row.bytes);
            Levels levels = levels_ending_at(sweep, std::move(candidate));
            if (levels.squares < best.squares) {
                best = std::move(levels);
            }
        }
    }
    return best;
}

/// Each end in its turn is sought anew beside the others, until none moves.
Levels refined(const std::vector<models::Measurement>& sweep, Levels levels) {
    constexpr int kMaxRounds = 8;
    for (int round = 0; round < kMaxRounds; ++round) {
        const double before = levels.squares;
        for (std::size_t i = 0; i < levels.ends.size(); ++i) {
            std::vector<double> others = levels.ends;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            Levels moved = with_one_more(sweep, others);
            if (moved.squares < levels.squares) {
                levels = std::move(moved);
            }
        }
        if (levels.squares >= before) {
            break;
        }
    }
    return levels;
}

/// Bayesian information criterion: an end and a height a level beside the first height. Timings are no better than 3 %.
double criterion(const Levels& levels, std::size_t rows) {
    constexpr double kMinSigma = 0.03;
    const double n = static_cast<double>(rows), parameters = 1 + 2 * static_cast<double>(levels.ends.size());
    return n * std::log(levels.squares + kMinSigma * kMinSigma) + parameters * std::log(n);
}

Levels levels_of(std::vector<models::Measurement> rows) {
    constexpr std::size_t kMaxLevels = 4, kMinRows = 8;
    if (rows.size() < kMinRows) {
        return {};
    }
    std::ranges::sort(rows, {}, &models::Measurement::bytes);
    Levels best = levels_ending_at(rows, {}), levels = best;
    for (std::size_t count = 1; count <= kMaxLevels; ++count) {
        levels = refined(rows, with_one_more(rows, levels.ends));
        if (levels.ends.size() < count) {
            break;
        }
        if (levels.are_distinct && criterion(levels, rows.size()) < criterion(best, rows.size())) {
            best = levels;
        }
    }
    return best;
}

double reported_bytes(const std::vector<models::Measurement>& rows, std::string_view name) {
    const std::vector<models::Measurement> found = rows_of(rows, "host", name);
    return found.empty() ? 0 : found.back().bytes;
}

/// Which end is that of a core's own caches: the one that is told; else the largest that a core's own have while
/// another lies beyond it; else the last but one.
std::optional<std::size_t> own_among(const std::vector<double>& ends, double told_bytes) {
    constexpr double kMaxOwn = 8.0 * 1024 * 1024;  // second levels of processors to 2026 have up to 4 MiB a core
    std::optional<std::size_t> own;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (told_bytes > 0 && are_within_factor_two(ends[i], told_bytes)) {
            return i;
        }
        if (i + 1 < ends.size() && (ends[i] <= kMaxOwn || !own)) {
            own = i;
        }
    }
    return own;
}

/// `use`: what is done with a size that copies show.
std::optional<std::string> note_of(const char* level, const CacheSize& size, double otherwise, const char* use) {
    const auto text = [](double bytes) { return format_quantity(bytes, Dimension::kBytes); };
    const std::string head = std::string(level) + ": ";
    if (size.is_contradicted()) {
        return head + "the system says " + text(size.reported_bytes) + ", copies take longer from " +
               text(size.measured_bytes) + " on: " + use;
    }
    if (size.reported_bytes <= 0 && size.measured_bytes > 0) {
        return head + "the system does not say how large it is, copies take longer from " + text(size.measured_bytes) +
               " on: " + use;
    }
    if (size.reported_bytes <= 0) {
        return head +
               "the system does not say how large it is, and copies do not show where it ends: " + text(otherwise) +
               " is assumed";
    }
    return std::nullopt;
}

}  // namespace

CacheSizes cache_sizes(const std::vector<models::Measurement>& rows) {
    const std::vector<models::Measurement> sweep = timed_cpu_rows(rows, "sweep");
    const Levels levels = levels_of(sweep);
    CacheSizes sizes{{reported_bytes(rows, "own_cache"), 0}, {reported_bytes(rows, "last_level_cache"), 0}};
    const std::optional<std::size_t> own = own_among(levels.ends, sizes.own.reported_bytes);
    const std::size_t beyond = own ? *own + 1 : 0;
    if (beyond < levels.ends.size()) {
        const auto first = levels.rises.begin() + static_cast<std::ptrdiff_t>(beyond);
        const auto steepest = std::max_element(first, levels.rises.end());
        sizes.own.measured_bytes = own ? levels.ends[*own] : 0;
        sizes.last_level.measured_bytes = levels.ends[static_cast<std::size_t>(steepest - levels.rises.begin())];
    } else if (own) {
        // Copies of no more than a last level that is very large, or of a small memory, end before it does.
        constexpr double kWellBeyond = 4;
        const double last = sizes.last_level.bytes(models::kAssumedLastLevelBytes);
        const bool is_last_unseen = largest_bytes(sweep) < kWellBeyond * last;
        (is_last_unseen ? sizes.own : sizes.last_level).measured_bytes = levels.ends[*own];
    }
    return sizes;
}

std::vector<std::string> notes_of(const CacheSizes& sizes) {
    std::vector<std::string> notes;
    for (const auto& note : {note_of("a core's own cache", sizes.own, models::kAssumedOwnCacheBytes, "that is taken"),
                             note_of("the last-level cache", sizes.last_level, models::kAssumedLastLevelBytes,
                                     "its end is fitted, to twice that at most")}) {
        if (note) {
            notes.push_back(*note);
        }
    }
    return notes;
}

}  // namespace auspex::fit
