#pragma once
/// @file The best plans of a search so far, from all its threads.
#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/search/search_result.hpp"

namespace auspex::search {

/// Shorter steps first, ties in the order of the space.
[[nodiscard]] inline bool is_better(const EvaluatedPlan& a, const EvaluatedPlan& b) {
    return std::tie(a.step, a.index) < std::tie(b.step, b.index);
}

/// Lower bounds first, ties in the order of the space.
[[nodiscard]] inline bool has_lower_bound(const EvaluatedPlan& a, const EvaluatedPlan& b) {
    return std::tie(a.bound_s, a.index) < std::tie(b.bound_s, b.index);
}

/// Plans that do not fit, as many as are remembered.
inline constexpr std::size_t kUnfitKept = 64;

/// Longer than any step.
inline constexpr Picoseconds kNoCutoff = std::numeric_limits<Picoseconds>::max();

/// The plans kept, from all threads.
class Leaders {
 public:
    explicit Leaders(std::size_t top) : top_(top) {}

    /// Plans whose bound is above this are not among the best.
    [[nodiscard]] double cutoff_s() const { return to_seconds(cutoff()); }
    /// Plans whose step is longer are not among the best.
    [[nodiscard]] Picoseconds cutoff() const { return cutoff_.load(std::memory_order_relaxed); }

    void add(const EvaluatedPlan& plan) {
        const std::lock_guard lock(mutex_);
        best_.insert(std::upper_bound(best_.begin(), best_.end(), plan, is_better), plan);
        if (best_.size() > top_) {
            best_.pop_back();
        }
        if (best_.size() == top_) {
            cutoff_ = best_.back().step;
        }
        const Dominance own{plan.step, plan.memory_peak_bytes, plan.bound_s};
        if (!is_behind_locked(own)) {
            std::erase_if(front_, [&](const Dominance& other) { return own.dominates(other); });
            front_.push_back(own);
        }
    }
    /// Whether a plan is known that takes neither longer nor more memory, and whose bound is not higher: if the one
    /// that asks counts in the end, so does that.
    [[nodiscard]] bool is_behind(Picoseconds step, double memory_bytes, double bound_s) {
        const std::lock_guard lock(mutex_);
        return is_behind_locked({step, memory_bytes, bound_s});
    }
    /// Memory of the smallest plan that does not fit.
    [[nodiscard]] double least_unfit_bytes() {
        const std::lock_guard lock(mutex_);
        return smallest_ ? smallest_->memory_peak_bytes : std::numeric_limits<double>::infinity();
    }
    /// Whether one that does not fit, with such a bound, would be remembered.
    [[nodiscard]] bool may_be_unfit(double bound_s) {
        const std::lock_guard lock(mutex_);
        return unfit_.size() < kUnfitKept || bound_s <= unfit_.back().bound_s;
    }
    void add_unfit(const EvaluatedPlan& plan) {
        const std::lock_guard lock(mutex_);
        if (!smallest_ || plan.memory_peak_bytes < smallest_->memory_peak_bytes) {
            smallest_ = plan;
        }
        if (plan.bound_s > 0) {
            unfit_.insert(std::upper_bound(unfit_.begin(), unfit_.end(), plan, has_lower_bound), plan);
            unfit_.resize(std::min(unfit_.size(), kUnfitKept));
        }
    }
    [[nodiscard]] double best_s() {
        const std::lock_guard lock(mutex_);
        return best_.empty() ? 0 : to_seconds(best_.front().step);
    }
    [[nodiscard]] std::vector<EvaluatedPlan> best() {
        const std::lock_guard lock(mutex_);
        return best_;
    }
    void take(SearchResult& result) {
        result.best = std::move(best_);
        result.smallest = smallest_.value_or(EvaluatedPlan{});
        if (!result.best.empty()) {  // those with a higher bound were looked at or not, by chance
            std::erase_if(
                unfit_, [&](const EvaluatedPlan& plan) { return plan.bound_s > to_seconds(result.best.front().step); });
        }
        result.unfit = std::move(unfit_);
    }

 private:
    struct Dominance {
        Picoseconds step = 0;
        double memory_bytes = 0, bound_s = 0;
        [[nodiscard]] bool dominates(const Dominance& other) const {
            return step <= other.step && memory_bytes <= other.memory_bytes && bound_s <= other.bound_s;
        }
    };
    [[nodiscard]] bool is_behind_locked(const Dominance& one) const {
        return std::ranges::any_of(front_, [&](const Dominance& other) { return other.dominates(one); });
    }

    std::size_t top_;
    std::mutex mutex_;
    std::vector<EvaluatedPlan> best_, unfit_;
    std::vector<Dominance> front_;  ///< those that no other dominates
    std::optional<EvaluatedPlan> smallest_;
    std::atomic<Picoseconds> cutoff_ = kNoCutoff;
};

}  // namespace auspex::search
