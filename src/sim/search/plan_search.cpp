/// @file Bounds of all plans in parallel, then grids in the order of their best bound.
#include "sim/search/plan_search.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/rng.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/step_bound.hpp"

namespace auspex::search {
namespace {

using Clock = std::chrono::steady_clock;

/// What a network depends on: plans with the same share one.
auto grid_of(const Candidate& c) { return std::tuple(c.dp, c.ep, c.etp, c.tp, c.cp, c.pp, c.rank_order); }

bool is_better(const EvaluatedPlan& a, const EvaluatedPlan& b) {
    return std::tie(a.step, a.index) < std::tie(b.step, b.index);
}

/// The plans kept, from all threads.
class Leaders {
 public:
    explicit Leaders(std::size_t top) : top_(top) {}

    /// Plans whose bound is above this are not among the best.
    [[nodiscard]] double cutoff_s() const { return cutoff_s_.load(std::memory_order_relaxed); }

    void add(const EvaluatedPlan& plan) {
        const std::lock_guard lock(mutex_);
        best_.insert(std::upper_bound(best_.begin(), best_.end(), plan, is_better), plan);
        if (best_.size() > top_) {
            best_.pop_back();
        }
        if (best_.size() == top_) {
            cutoff_s_ = to_seconds(best_.back().step);
        }
        add_to_front(plan);
    }
    void add_unfit(const EvaluatedPlan& plan) {
        const std::lock_guard lock(mutex_);
        if (!smallest_ || plan.memory_peak_bytes < smallest_->memory_peak_bytes) {
            smallest_ = plan;
        }
    }
    [[nodiscard]] double best_s() {
        const std::lock_guard lock(mutex_);
        return best_.empty() ? 0 : to_seconds(best_.front().step);
    }
    void take(SearchResult& result) {
        result.best = std::move(best_);
        result.pareto = std::move(front_);
        std::ranges::sort(result.pareto, is_better);
        result.smallest = smallest_.value_or(EvaluatedPlan{});
    }

 private:
    void add_to_front(const EvaluatedPlan& plan) {
        const auto dominates = [](const EvaluatedPlan& a, const EvaluatedPlan& b) {
            return a.step <= b.step && a.memory_peak_bytes <= b.memory_peak_bytes &&
                   (is_better(a, b) || a.memory_peak_bytes < b.memory_peak_bytes);
        };
        if (std::ranges::none_of(front_, [&](const EvaluatedPlan& other) { return dominates(other, plan); })) {
            std::erase_if(front_, [&](const EvaluatedPlan& other) { return dominates(plan, other); });
            front_.push_back(plan);
        }
    }

    std::size_t top_;
    std::mutex mutex_;
    std::vector<EvaluatedPlan> best_, front_;
    std::optional<EvaluatedPlan> smallest_;
    std::atomic<double> cutoff_s_ = std::numeric_limits<double>::infinity();
};

double peak_bytes(const models::Inputs& inputs, const predict::SimulatedStep& step) {
    double most = 0;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        most = std::max(most, stage_memory(inputs.workload, step.plan, inputs.stack, inputs.machine, step.layout,
                                           step.program, stage, step.load.heaviest_rank)
                                  .peak_bytes);
    }
    return most;
}

class Search {
 public:
    Search(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options)
        : inputs_(inputs),
          options_(options),
          own_inputs_(inputs),
          tables_([&inputs] { return LayerCostTable(inputs); }),
          space_(plan_space(inputs, request)),
          leaders_(options.top) {}

    SearchResult run() {
        const Clock::time_point begin = Clock::now();
        bound_all();
        const std::vector<std::vector<std::uint32_t>> grids = by_grid();
        if (!options_.exhaustive) {
            find_a_cutoff(grids);
        }
        // Grids are taken in the order of their best bounds, whichever thread is free.
        std::atomic<std::size_t> next = 0;
        tbb::parallel_for(std::size_t{0}, grids.size(), [&](std::size_t) { evaluate(grids[next++]); });
        SearchResult result;
        result.space = space_.candidates.size();
        result.rejected = space_.rejected;
        result.pruned_memory = pruned_memory_;
        result.pruned_bound = pruned_bound_;
        result.evaluated = evaluated_.size();
        result.was_cut = is_cut_;
        result.capacity_bytes = inputs_.machine.tile.hbm_bytes;
        leaders_.take(result);
        if (!is_cut_) {
            result.checked = check_some();
        }
        result.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
        return result;
    }

 private:
    void bound_all() {
        bounds_s_.resize(space_.candidates.size());
        tbb::parallel_for(std::size_t{0}, bounds_s_.size(), [&](std::size_t i) {
            const Candidate& candidate = space_.candidates[i];
            bounds_s_[i] =
                has_to_stop() ? 0 : compute_bound_s(inputs_.workload, candidate, tables_.local().of(candidate));
        });
    }

    /// Indices of plans by grid, the lowest bound first, in both.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> by_grid() const {
        std::map<decltype(grid_of(Candidate{})), std::vector<std::uint32_t>> plans;
        for (std::uint32_t i = 0; i < space_.candidates.size(); ++i) {
            plans[grid_of(space_.candidates[i])].push_back(i);
        }
        const auto is_lower = [&](std::uint32_t a, std::uint32_t b) {
            return std::tie(bounds_s_[a], a) < std::tie(bounds_s_[b], b);
        };
        std::vector<std::vector<std::uint32_t>> grids;
        for (auto& [grid, list] : plans) {
            std::ranges::sort(list, is_lower);
            grids.push_back(std::move(list));
        }
        std::ranges::sort(grids, [&](const auto& a, const auto& b) { return is_lower(a.front(), b.front()); });
        return grids;
    }

    bool has_to_stop() {
        if (!is_cut_ && options_.is_cut && options_.is_cut()) {
            is_cut_ = true;
        }
        return is_cut_;
    }

    /// A plan and its bound.
    struct Bounded {
        double bound_s = 0;
        std::uint32_t index = 0;
        auto operator<=>(const Bounded&) const = default;
    };

    /// Plays the most promising plans of all grids: of each grid one that recomputes nothing and one that recomputes
    /// everything, in the order of their bounds, until as many fit as are wanted.
    void find_a_cutoff(const std::vector<std::vector<std::uint32_t>>& grids) {
        std::vector<std::array<Bounded, 2>> firsts(grids.size());
        constexpr std::array<std::uint8_t, 2> kRecomputes{0, 7};
        tbb::parallel_for(std::size_t{0}, grids.size(), [&](std::size_t g) {
            std::optional<GridBound> bound;
            for (std::size_t i = 0; i < kRecomputes.size(); ++i) {
                firsts[g][i].bound_s = std::numeric_limits<double>::infinity();
                const auto found = std::ranges::find_if(grids[g], [&](std::uint32_t index) {
                    return space_.candidates[index].recompute == kRecomputes[i];
                });
                if (found != grids[g].end() && !has_to_stop()) {
                    make(bound, grids[g]);
                    firsts[g][i] = {bound->of(space_.candidates[*found]), *found};
                }
            }
        });
        std::vector<Bounded> order;
        for (const std::array<Bounded, 2>& pair : firsts) {
            std::ranges::copy_if(pair, std::back_inserter(order), [](const Bounded& b) { return b.bound_s < 1e300; });
        }
        std::ranges::sort(order);
        for (const Bounded& first : order) {
            if (first.bound_s > leaders_.cutoff_s() || has_to_stop()) {
                break;
            }
            std::optional<network::Network> own;
            evaluate(first, [&](const predict::SimulatedStep& step) -> network::Network& {
                return own.emplace(inputs_.machine, inputs_.stack, step.layout);
            });
        }
    }

    void make(std::optional<GridBound>& bound, const std::vector<std::uint32_t>& grid) {
        if (!bound) {
            bound.emplace(inputs_, tables_.local(), space_.candidates[grid.front()]);
        }
    }

    void evaluate(const std::vector<std::uint32_t>& grid) {
        std::optional<GridBound> bound;
        std::vector<Bounded> left;
        const auto may_lead = [&](double bound_s) { return options_.exhaustive || bound_s <= leaders_.cutoff_s(); };
        for (const std::uint32_t index : grid) {
            if (!may_lead(bounds_s_[index]) || has_to_stop()) {
                break;
            }
            make(bound, grid);
            if (const double bound_s = bound->of(space_.candidates[index]); may_lead(bound_s)) {
                left.push_back({bound_s, index});
            }
        }
        std::ranges::sort(left);
        std::size_t played = 0;
        for (const Bounded& plan : left) {
            if (!may_lead(plan.bound_s) || has_to_stop()) {
                break;
            }
            evaluate(plan, [&](const predict::SimulatedStep&) -> network::Network& { return bound->network(); });
            ++played;
            note_done(1);
        }
        pruned_bound_ += grid.size() - played;
        note_done(grid.size() - played);
    }

    /// `network_for` gives the network of a step that fits.
    template <class NetworkFor>
    void evaluate(const Bounded& bounded, const NetworkFor& network_for) {
        {
            const std::lock_guard lock(mutex_);
            if (!taken_.insert(bounded.index).second) {
                return;
            }
        }
        EvaluatedPlan plan;
        plan.candidate = space_.candidates[bounded.index];
        plan.index = bounded.index;
        plan.bound_s = bounded.bound_s;
        const models::Inputs& own = inputs_with(plan.candidate);
        predict::SimulatedStep step = predict::prepare_step(own, {});
        plan.memory_peak_bytes = peak_bytes(own, step);
        if (plan.memory_peak_bytes > inputs_.machine.tile.hbm_bytes) {
            ++pruned_memory_;
            leaders_.add_unfit(plan);
            return;
        }
        simulate_prepared(step, own, {}, false, &network_for(step));
        plan.step = step.step;
        plan.losses = step.losses;
        if (to_seconds(plan.step) < plan.bound_s) {
            throw std::logic_error("plan " + std::to_string(plan.index) + " of the space takes " +
                                   std::to_string(to_seconds(plan.step)) + " s, less than its bound " +
                                   std::to_string(plan.bound_s) + " s");
        }
        leaders_.add(plan);
        const std::lock_guard lock(mutex_);
        evaluated_.emplace_back(plan.index, plan.step);
    }

    /// The inputs with a plan; valid until the thread asks again.
    const models::Inputs& inputs_with(const Candidate& candidate) {
        models::Inputs& own = own_inputs_.local();
        own.plan = plan_of(candidate, inputs_.plan);
        return own;
    }

    void note_done(std::size_t count) {
        done_ += count;
        if (options_.progress) {
            const std::unique_lock lock(progress_mutex_, std::try_to_lock);
            if (lock) {
                options_.progress({done_, space_.candidates.size(), leaders_.best_s()});
            }
        }
    }

    /// What is shared must change nothing: some plans again, each with a network of its own.
    std::uint64_t check_some() {
        std::ranges::sort(evaluated_);
        Rng rng(options_.seed);
        std::set<std::size_t> chosen;
        while (chosen.size() < std::min(options_.checks, evaluated_.size())) {
            chosen.insert(rng.below(evaluated_.size()));
        }
        const std::vector<std::size_t> list(chosen.begin(), chosen.end());
        tbb::parallel_for(std::size_t{0}, list.size(), [&](std::size_t i) {
            const auto& [index, expected] = evaluated_[list[i]];
            const Picoseconds found = predict::simulate_step(inputs_with(space_.candidates[index]), {}, false).step;
            if (found != expected) {
                throw std::logic_error("plan " + std::to_string(index) + " of the space takes " +
                                       std::to_string(found) + " ps by itself, " + std::to_string(expected) +
                                       " ps within the search");
            }
        });
        return list.size();
    }

    const models::Inputs& inputs_;
    const SearchOptions& options_;
    tbb::enumerable_thread_specific<models::Inputs> own_inputs_;
    tbb::enumerable_thread_specific<LayerCostTable> tables_;
    PlanSpace space_;
    std::vector<double> bounds_s_;
    Leaders leaders_;
    std::mutex mutex_, progress_mutex_;
    std::set<std::uint32_t> taken_;  ///< looked at: played, or found too large
    std::vector<std::pair<std::uint32_t, Picoseconds>> evaluated_;
    std::atomic<std::uint64_t> pruned_memory_ = 0, pruned_bound_ = 0, done_ = 0;
    std::atomic<bool> is_cut_ = false;
};

}  // namespace

SearchResult search_plans(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options) {
    return Search(inputs, request, options).run();
}

}  // namespace auspex::search
