/// @file Samples side by side, summed up in their order.
#include "campaign/campaign.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "campaign/player.hpp"

namespace auspex::campaign {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// By nearest rank, so that infinite values can stand beside others.
double ranked(const std::vector<double>& sorted, double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

Quantiles quantiles_of(std::vector<double> values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    std::ranges::sort(values);
    return {ranked(values, 0.1), ranked(values, 0.5), ranked(values, 0.9), sum / static_cast<double>(values.size())};
}

double standard_error(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (const double value : values) {
        mean += value / count;
    }
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return count > 1 ? std::sqrt(squares / (count - 1) / count) : kInfinite;
}

std::int64_t quantile_of_counts(const std::vector<std::int64_t>& windows_by_count, double share) {
    std::int64_t all = 0, so_far = 0;
    for (const std::int64_t windows : windows_by_count) {
        all += windows;
    }
    for (std::size_t count = 0; count < windows_by_count.size(); ++count) {
        so_far += windows_by_count[count];
        if (static_cast<double>(so_far) >= share * static_cast<double>(all)) {
            return static_cast<std::int64_t>(count);
        }
    }
    return 0;
}

/// Sums over samples, in whole nanoseconds where they could overflow as nothing else does: as doubles, in order.
class Sums {
 public:
    explicit Sums(const Setting& setting) : setting_(setting) { result_.sources.resize(setting.failures.size()); }

    void add(const Outcome& one) {
        const double node_hours = to_hours(one.held) * (setting_.nodes.count + setting_.nodes.spares.value_or(0));
        result_.samples_elapsed_s.push_back(one.is_finished ? to_seconds(one.elapsed) : kInfinite);
        result_.samples_node_hours.push_back(one.is_finished ? node_hours : kInfinite);
        result_.given_up += one.is_finished ? 0 : 1;
        double interruptions = 0;
        for (std::size_t i = 0; i < result_.sources.size(); ++i) {
            interruptions += static_cast<double>(one.interruptions[i]);
            result_.sources[i].interruptions += static_cast<double>(one.interruptions[i]);
            result_.sources[i].lost_share += to_seconds(one.lost_to[i]);
        }
        result_.samples_interruptions.push_back(interruptions);
        std::array<double, kSpentCount>& shares = result_.samples_shares.emplace_back();
        for (std::size_t i = 0; i < kSpentCount; ++i) {
            result_.shares[i] += to_seconds(one.spent[i]);
            shares[i] = to_seconds(one.spent[i]) / to_seconds(one.elapsed);
        }
        elapsed_s_ += to_seconds(one.elapsed);
        result_.checkpoints += static_cast<double>(one.checkpoints);
        result_.blocks += static_cast<double>(one.blocks);
        result_.requeues += static_cast<double>(one.requeues);
        result_.ends_corrupt += one.ends_corrupt ? 1 : 0;
        result_.lost_steps += static_cast<double>(one.lost_steps);
        for (const std::int64_t count : one.windows) {
            windows_.resize(std::max(windows_.size(), static_cast<std::size_t>(count) + 1));
            ++windows_[static_cast<std::size_t>(count)];
        }
    }

    Result finish() {
        const auto count = static_cast<double>(result_.samples_elapsed_s.size());
        result_.samples = static_cast<int>(count);
        for (SourceResult& source : result_.sources) {
            source.interruptions /= count;
            source.lost_share /= elapsed_s_;
        }
        for (double& share : result_.shares) {
            share /= elapsed_s_;
        }
        for (double* const mean :
             {&result_.checkpoints, &result_.blocks, &result_.requeues, &result_.lost_steps, &result_.ends_corrupt}) {
            *mean /= count;
        }
        result_.goodput = result_.shares[static_cast<std::size_t>(Spent::kWork)];
        result_.elapsed_s = quantiles_of(result_.samples_elapsed_s);
        result_.node_hours = quantiles_of(result_.samples_node_hours);
        result_.interruptions = quantiles_of(result_.samples_interruptions);
        result_.elapsed_error_s = standard_error(result_.samples_elapsed_s);
        result_.spares_needed_p99 = quantile_of_counts(windows_, 0.99);
        return std::move(result_);
    }

 private:
    const Setting& setting_;
    Result result_;
    std::vector<std::int64_t> windows_;  ///< by the nodes that failed in them
    double elapsed_s_ = 0;
};

}  // namespace

Result play_campaign(const Setting& setting, const Samples& samples) {
    AUSPEX_CHECK(samples.count > 0 && setting.steps > 0, "a sample at least, and a step");
    std::vector<Outcome> outcomes(static_cast<std::size_t>(samples.count));
    tbb::parallel_for(std::size_t{0}, outcomes.size(), [&](std::size_t i) {
        outcomes[i] = play_sample(setting, {samples.seed, i});
    });
    Sums sums(setting);
    for (const Outcome& outcome : outcomes) {
        sums.add(outcome);
    }
    return sums.finish();
}

double share_by(const Result& result, double elapsed_s) {
    const auto over = std::ranges::count_if(result.samples_elapsed_s, [&](double value) { return value <= elapsed_s; });
    return static_cast<double>(over) / result.samples;
}

double mtbf_s(const Setting& setting) {
    double rate = 0;
    for (const FailureSource& source : setting.failures) {
        rate += source.spacing == Spacing::kTrace || source.mean_s <= 0 ? 0 : 1 / source.mean_s;
    }
    return rate > 0 ? 1 / rate : kInfinite;
}

}  // namespace auspex::campaign
