/// @file Sets under one lock; the leaders have their own.
#include "sim/search/search_board.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace auspex::search {
namespace {

/// Of plans that fit, those that no other beats in both step and memory; shortest step first.
std::vector<PlayedPlan> front_of(std::vector<PlayedPlan> plans) {
    std::ranges::sort(plans, {}, [](const PlayedPlan& p) { return std::tie(p.step, p.memory_peak_bytes, p.index); });
    std::vector<PlayedPlan> front;
    for (const PlayedPlan& plan : plans) {
        if (front.empty() || plan.memory_peak_bytes < front.back().memory_peak_bytes) {
            front.push_back(plan);
        }
    }
    return front;
}

/// Candidates by number, for numbers that mostly follow one another.
class CandidateLookup {
 public:
    explicit CandidateLookup(const PlanSpace& space) : space_(space) {}
    const Candidate& of(std::uint64_t index) {
        if (index < first_ || index >= first_ + plans_.size()) {
            const auto shapes = std::views::iota(std::size_t{0}, space_.shapes().size());
            const std::size_t shape =
                *std::ranges::upper_bound(shapes, index, {}, [&](std::size_t s) { return space_.first_plan(s); }) - 1;
            first_ = space_.first_plan(shape);
            plans_ = space_.plans_of(shape);
        }
        return plans_[index - first_];
    }

 private:
    const PlanSpace& space_;
    std::uint64_t first_ = 0;
    std::vector<Candidate> plans_;
};

EvaluatedPlan evaluated(const PlayedPlan& plan, const Candidate& candidate) {
    return {candidate, plan.index, plan.step, plan.bound_s, plan.memory_peak_bytes, plan.losses};
}

}  // namespace

SearchBoard::SearchBoard(const PlanSpace& space, std::size_t top, std::function<void()> on_news)
    : space_(space), on_news_(std::move(on_news)), leaders_(top) {}

double SearchBoard::cutoff_s() const { return std::min(leaders_.cutoff_s(), told_s_.load(std::memory_order_relaxed)); }

void SearchBoard::lower_cutoff(double told_s) {
    const std::lock_guard lock(mutex_);
    told_s_ = std::min(told_s_.load(), told_s);
}

bool SearchBoard::take(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    return taken_.insert(index).second;
}

void SearchBoard::take(const std::vector<std::uint64_t>& indices) {
    const std::lock_guard lock(mutex_);
    taken_.insert(indices.begin(), indices.end());
}

bool SearchBoard::add_locked(const PlayedPlan& played, const Candidate& candidate) {
    taken_.insert(played.index);
    if (!known_.insert(played.index).second) {
        return false;
    }
    played_.push_back(played);
    leaders_.add(evaluated(played, candidate));
    return true;
}

bool SearchBoard::add_locked(const UnfitPlan& unfit, const Candidate& candidate) {
    taken_.insert(unfit.index);
    if (!known_.insert(unfit.index).second) {
        return false;
    }
    unfit_.push_back(unfit);
    leaders_.add_unfit({.candidate = candidate,
                        .index = unfit.index,
                        .bound_s = unfit.bound_s,
                        .memory_peak_bytes = unfit.memory_peak_bytes});
    return true;
}

bool SearchBoard::finish_locked(const DonePart& part) {
    const bool is_new = parts_.emplace(part.first_shape, part).second;
    plans_finished_ += is_new ? part.plans : 0;
    return is_new;
}

void SearchBoard::add(const EvaluatedPlan& plan) {
    {
        const PlayedPlan played{plan.index, plan.step, plan.bound_s, plan.memory_peak_bytes, plan.losses};
        const std::lock_guard lock(mutex_);
        if (add_locked(played, plan.candidate)) {
            news_.played.push_back(played);
        }
    }
    on_news_();
}

void SearchBoard::add_unfit(const EvaluatedPlan& plan) {
    {
        const UnfitPlan unfit{plan.index, plan.bound_s, plan.memory_peak_bytes};
        const std::lock_guard lock(mutex_);
        if (add_locked(unfit, plan.candidate)) {
            news_.unfit.push_back(unfit);
        }
    }
    on_news_();
}

void SearchBoard::finish(const DonePart& part) {
    {
        const std::lock_guard lock(mutex_);
        if (finish_locked(part)) {
            news_.parts.push_back(part);
        }
    }
    on_news_();
}

void SearchBoard::note_first_plans() {
    const std::lock_guard lock(mutex_);
    has_first_plans_ = true;
}

bool SearchBoard::has_first_plans() {
    const std::lock_guard lock(mutex_);
    return has_first_plans_;
}

bool SearchBoard::is_finished(std::uint64_t first_shape) {
    const std::lock_guard lock(mutex_);
    return parts_.contains(first_shape);
}

std::uint64_t SearchBoard::plans_finished() {
    const std::lock_guard lock(mutex_);
    return plans_finished_;
}

std::vector<std::uint64_t> SearchBoard::known_between(std::uint64_t first, std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    return {known_.lower_bound(first), known_.lower_bound(end)};
}

std::vector<EvaluatedPlan> SearchBoard::played() {
    const std::lock_guard lock(mutex_);
    std::ranges::sort(played_, {}, &PlayedPlan::index);
    CandidateLookup candidates(space_);
    std::vector<EvaluatedPlan> plans;
    for (const PlayedPlan& plan : played_) {
        plans.push_back(evaluated(plan, candidates.of(plan.index)));
    }
    return plans;
}

void SearchBoard::absorb(const SearchState& state, const std::string& name) {
    const auto is_ours = [&](const auto& plan) { return plan.index < space_.size(); };
    if (!std::ranges::all_of(state.played, is_ours) || !std::ranges::all_of(state.unfit, is_ours)) {
        throw InputError(name, "found plans beyond the " + std::to_string(space_.size()) +
                                   " of this search; expected those of the same inputs and program");
    }
    {
        CandidateLookup candidates(space_);
        const std::lock_guard lock(mutex_);
        has_first_plans_ = has_first_plans_ || state.has_first_plans;
        for (const PlayedPlan& plan : state.played) {
            add_locked(plan, candidates.of(plan.index));
        }
        for (const UnfitPlan& plan : state.unfit) {
            add_locked(plan, candidates.of(plan.index));
        }
        for (const DonePart& part : state.parts) {
            finish_locked(part);
        }
    }
    on_news_();
}

SearchState SearchBoard::state() {
    const std::lock_guard lock(mutex_);
    SearchState state;
    if (!has_first_plans_) {
        return state;
    }
    state.has_first_plans = true;
    std::ranges::transform(parts_, std::back_inserter(state.parts), [](const auto& entry) { return entry.second; });
    state.played = played_;
    state.unfit = unfit_;
    std::ranges::sort(state.played, {}, &PlayedPlan::index);
    std::ranges::sort(state.unfit, {}, &UnfitPlan::index);
    return state;
}

SearchState SearchBoard::take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void SearchBoard::fill(SearchResult& result, bool exhaustive) {
    leaders_.take(result);
    const std::lock_guard lock(mutex_);
    result.pruned_memory = unfit_.size();
    for (const auto& [shape, part] : parts_) {
        result.pruned_memory += part.too_large;
    }
    result.evaluated = played_.size();
    // Of the others some were simulated and some not, by chance.
    std::vector<PlayedPlan> plans = played_;
    std::erase_if(plans, [&](const PlayedPlan& p) { return !exhaustive && p.bound_s > leaders_.cutoff_s(); });
    CandidateLookup candidates(space_);
    for (const PlayedPlan& plan : front_of(std::move(plans))) {
        result.pareto.push_back(evaluated(plan, candidates.of(plan.index)));
    }
}

}  // namespace auspex::search
