#pragma once
/// @file What a search knows so far: from its threads, from earlier runs, from other processes.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "sim/search/leaders.hpp"
#include "sim/search/space/plan_space.hpp"
#include "sim/search/state/search_state.hpp"

namespace auspex::search {

/// All functions may be called from any thread. A plan counts once, however often it is brought.
class SearchBoard {
 public:
    /// The space must outlive it. `on_news` is called after something was added, in the thread that did.
    SearchBoard(const PlanSpace& space, std::size_t top, std::function<void()> on_news);

    /// Plans whose bound is above this are not among the best.
    [[nodiscard]] double cutoff_s() const;
    /// Elsewhere so many plans with at most this step were found that no slower one is among the best.
    void lower_cutoff(double told_s);
    /// False: the plan was looked at, or is being looked at. Else the caller is to add it.
    [[nodiscard]] bool take(std::uint64_t index);
    void take(const std::vector<std::uint64_t>& indices);
    void add(const EvaluatedPlan& plan);
    void add_unfit(const EvaluatedPlan& plan);
    /// Of a plan that is looked at only because nothing fits.
    void add_smallest(const EvaluatedPlan& plan) { leaders_.add_unfit(plan); }
    void finish(const DonePart& part);
    /// The plans that give a step to beat have been played.
    void note_first_plans();

    [[nodiscard]] bool has_first_plans();
    [[nodiscard]] bool is_finished(std::uint64_t first_shape);
    [[nodiscard]] std::uint64_t plans_finished();
    [[nodiscard]] double best_s() { return leaders_.best_s(); }
    [[nodiscard]] double least_unfit_bytes() { return leaders_.least_unfit_bytes(); }
    [[nodiscard]] bool may_be_unfit(double bound_s) { return leaders_.may_be_unfit(bound_s); }
    [[nodiscard]] bool is_behind(Picoseconds step, double memory_bytes, double bound_s) {
        return leaders_.is_behind(step, memory_bytes, bound_s);
    }
    /// Plans of these numbers that were looked at: from `first` on, below `end`.
    [[nodiscard]] std::vector<std::uint64_t> known_between(std::uint64_t first, std::uint64_t end);
    /// The best, the shortest step first.
    [[nodiscard]] std::vector<EvaluatedPlan> best() { return leaders_.best(); }
    /// Those that were simulated, in the order of the space.
    [[nodiscard]] std::vector<EvaluatedPlan> played();

    /// Adds what another has found. Throws InputError that names `name` where its plans are not of this space.
    void absorb(const SearchState& state, const std::string& name);
    /// Everything; nothing before the first plans have all been played.
    [[nodiscard]] SearchState state();
    /// What was added here since the last call.
    [[nodiscard]] SearchState take_news();

    /// Counts and lists of the result.
    void fill(SearchResult& result, bool exhaustive);

 private:
    bool add_locked(const PlayedPlan& played, const Candidate& candidate);
    bool add_locked(const UnfitPlan& unfit, const Candidate& candidate);
    bool finish_locked(const DonePart& part);

    const PlanSpace& space_;
    std::function<void()> on_news_;
    Leaders leaders_;
    std::atomic<double> told_s_ = std::numeric_limits<double>::infinity();
    std::mutex mutex_;
    bool has_first_plans_ = false;
    std::uint64_t plans_finished_ = 0;
    std::set<std::uint64_t> taken_, known_;
    std::map<std::uint64_t, DonePart> parts_;
    std::vector<PlayedPlan> played_;
    std::vector<UnfitPlan> unfit_;
    SearchState news_;
};

}  // namespace auspex::search
