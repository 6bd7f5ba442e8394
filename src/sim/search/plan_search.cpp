/// @file Bounds of all plans in parallel, then grids in the order of their best bound.
#include "sim/search/plan_search.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/rng.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/grid_memory.hpp"
#include "sim/search/leaders.hpp"
#include "sim/search/step_bound.hpp"

namespace auspex::search {
namespace {

using Clock = std::chrono::steady_clock;

/// Two shapes of one grid share a network.
bool are_of_one_grid(const Candidate& a, const Candidate& b) {
    const auto grid = [](const Candidate& c) { return std::tie(c.dp, c.ep, c.etp, c.tp, c.cp, c.pp, c.rank_order); };
    return grid(a) == grid(b);
}

/// A plan, or a shape, and its bound.
struct Bounded {
    double bound_s = 0;
    std::uint64_t number = 0;
    Candidate plan;
    bool operator<(const Bounded& other) const {
        return std::tie(bound_s, number) < std::tie(other.bound_s, other.number);
    }
};

/// What is asked of the plans of a grid one by one.
struct GridLenses {
    GridBound bound;
    GridMemory memory;
    GridLenses(const models::Inputs& inputs, LayerCostTable& table, const Candidate& like)
        : bound(inputs, table, like), memory(inputs, like) {}
};

/// Shapes of one grid, the lowest bound first.
using Grid = std::vector<Bounded>;

class Search {
 public:
    Search(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options)
        : inputs_(inputs),
          options_(options),
          own_inputs_(inputs),
          tables_([&inputs] { return LayerCostTable(inputs); }),
          space_(inputs, request),
          leaders_(options.top) {}

    SearchResult run() {
        const Clock::time_point begin = Clock::now();
        const std::vector<Grid> grids = bounded_grids();
        if (!options_.exhaustive) {
            find_a_cutoff(grids);
        }
        // Grids are taken in the order of their best bounds, whichever thread is free.
        std::atomic<std::size_t> next = 0;
        tbb::parallel_for(std::size_t{0}, grids.size(), [&](std::size_t) { evaluate(grids[next++]); });
        if (leaders_.best_s() == 0 && !is_cut_ && std::isinf(options_.most_s)) {
            find_smallest(grids);
        }
        SearchResult result;
        result.space = space_.size();
        result.rejected = space_.rejected();
        result.pruned_memory = pruned_memory_ + too_large_;
        result.evaluated = evaluated_.size();
        result.was_cut = is_cut_;
        result.pruned_bound = is_cut_ ? 0 : result.space - result.pruned_memory - result.evaluated;
        result.capacity_bytes = inputs_.machine.tile.hbm_bytes;
        result.least_bound_left_s = is_cut_ ? least_left(grids) : 0;
        leaders_.take(result);
        if (!is_cut_) {
            result.checked = check_some();
        }
        result.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
        return result;
    }

 private:
    [[nodiscard]] std::vector<Grid> bounded_grids() {
        const std::vector<Candidate>& shapes = space_.shapes();
        std::vector<std::size_t> firsts;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (i == 0 || !are_of_one_grid(shapes[i - 1], shapes[i])) {
                firsts.push_back(i);
            }
        }
        firsts.push_back(shapes.size());
        std::vector<Grid> grids(firsts.size() - 1);
        tbb::parallel_for(std::size_t{0}, grids.size(), [&](std::size_t g) {
            GridFloor floor(inputs_, tables_.local(), shapes[firsts[g]]);
            for (std::size_t i = firsts[g]; i < firsts[g + 1] && !has_to_stop(); ++i) {
                grids[g].push_back({floor.of_any(space_, i), i, shapes[i]});
            }
            std::sort(grids[g].begin(), grids[g].end());
        });
        std::erase_if(grids, [](const Grid& grid) { return grid.empty(); });
        std::ranges::sort(grids, {},
                          [](const Grid& grid) { return std::pair(grid.front().bound_s, grid.front().number); });
        return grids;
    }

    /// Nothing fits: the memory of the plans of that shape whose weights and gradients, then micro-batches, are
    /// smallest.
    void find_smallest(const std::vector<Grid>& grids) {
        const Bounded* smallest = nullptr;
        std::pair<double, int> least{std::numeric_limits<double>::infinity(), 0};
        for (const Grid& grid : grids) {
            GridFloor floor(inputs_, tables_.local(), grid.front().plan);
            for (const Bounded& shape : grid) {
                const std::pair size{floor.memory_bytes(space_.plans_of(shape.number).front()),
                                     shape.plan.micro_batch_size};
                if (size < least) {
                    smallest = &shape;
                    least = size;
                }
            }
        }
        if (smallest == nullptr) {
            return;
        }
        GridMemory memory(inputs_, smallest->plan);
        for (const Candidate& plan : space_.plans_of(smallest->number)) {
            leaders_.add_unfit({.candidate = plan, .memory_peak_bytes = memory.peak_bytes(plan)});
        }
    }

    /// The lowest bound of the grids that were not gone through.
    [[nodiscard]] double least_left(const std::vector<Grid>& grids) {
        double least_s = std::numeric_limits<double>::infinity();
        for (const Grid& grid : grids) {
            if (!finished_.contains(grid.front().number)) {
                least_s = std::min(least_s, grid.front().bound_s);
            }
        }
        return least_s;
    }

    bool has_to_stop() {
        if (!is_cut_ && options_.is_cut && options_.is_cut()) {
            is_cut_ = true;
        }
        return is_cut_;
    }
    [[nodiscard]] bool may_lead(double bound_s) const {
        return options_.exhaustive || bound_s <= std::min(leaders_.cutoff_s(), options_.most_s);
    }

    /// For each number of stages, of the grids with the lowest bounds, without interleaving: plays the best plan that
    /// recomputes nothing and the best that recomputes everything. Climbs from the best of them.
    void find_a_cutoff(const std::vector<Grid>& grids) {
        constexpr std::size_t kGridsEach = 6, kClimbs = 4;
        constexpr int kQuickPasses = 2048;  // of all stages: what is played in milliseconds
        std::vector<const Bounded*> firsts;
        std::map<int, std::size_t> taken;
        for (const Grid& grid : grids) {
            const auto shape = std::ranges::find_if(grid, [](const Bounded& b) {
                return b.plan.virtual_stages == 1 && b.plan.pp * b.plan.micro_batches <= kQuickPasses;
            });
            if (shape != grid.end() && taken[shape->plan.pp]++ < kGridsEach) {
                firsts.push_back(&*shape);
            }
        }
        std::atomic<std::size_t> next = 0;  // in their order, whichever thread is free
        tbb::parallel_for(std::size_t{0}, firsts.size(), [&](std::size_t) { play_firsts(*firsts[next++]); });
        std::vector<EvaluatedPlan> starts;
        {
            const std::lock_guard lock(mutex_);
            starts = evaluated_;
        }
        std::sort(starts.begin(), starts.end(), is_better);
        std::set<int> stages;
        for (const EvaluatedPlan& start : starts) {
            if (stages.size() < kClimbs && stages.insert(start.candidate.pp).second) {
                climb(start);
            }
        }
    }

    void play_firsts(const Bounded& shape) {
        constexpr std::array<std::uint8_t, 2> kRecomputes{0, kRecomputeAll};
        GridFloor floor(inputs_, tables_.local(), shape.plan);
        std::vector<Bounded> plans = plans_of(shape, floor);
        std::sort(plans.begin(), plans.end());
        for (const std::uint8_t recompute : kRecomputes) {
            const auto found = std::ranges::find(plans, recompute, [](const Bounded& b) { return b.plan.recompute; });
            if (found != plans.end() && found->bound_s <= options_.most_s && !has_to_stop()) {
                evaluate_alone(*found);
            }
        }
    }

    /// From a plan to the best of those that differ in one field, as long as one is better.
    void climb(EvaluatedPlan best) {
        for (bool is_better_found = true; is_better_found && !has_to_stop();) {
            const std::vector<std::pair<Candidate, std::uint64_t>> around = space_.neighbours_of(best.candidate);
            tbb::parallel_for(std::size_t{0}, around.size(), [&](std::size_t i) {
                const auto& [plan, number] = around[i];
                const double floor_s = GridFloor(inputs_, tables_.local(), plan).of(plan);
                if (floor_s <= to_seconds(best.step) && !has_to_stop()) {
                    evaluate_alone({floor_s, number, plan});
                }
            });
            is_better_found = false;
            const std::lock_guard lock(mutex_);
            for (const EvaluatedPlan& plan : evaluated_) {
                const bool is_near =
                    std::ranges::find(around, plan.index, [](const auto& pair) { return pair.second; }) != around.end();
                if (is_near && is_better(plan, best)) {
                    best = plan;
                    is_better_found = true;
                }
            }
        }
    }

    void evaluate_alone(const Bounded& plan) {
        GridLenses grid(inputs_, tables_.local(), plan.plan);
        Bounded bounded = plan;
        bounded.bound_s = std::max(plan.bound_s, grid.bound.of(plan.plan));
        if (may_lead(bounded.bound_s)) {
            evaluate(bounded, grid);
        }
    }

    /// Of a shape, with their floors: those whose weights and gradients fit.
    [[nodiscard]] std::vector<Bounded> plans_of(const Bounded& shape, GridFloor& floor) const {
        std::vector<Bounded> plans;
        std::uint64_t number = space_.first_plan(shape.number);
        for (const Candidate& plan : space_.plans_of(shape.number)) {
            if (options_.exhaustive || floor.memory_bytes(plan) <= inputs_.machine.tile.hbm_bytes) {
                plans.push_back({floor.of(plan), number, plan});
            }
            ++number;
        }
        return plans;
    }

    void evaluate(const Grid& grid) {
        std::vector<Bounded> left;
        std::optional<GridFloor> floor;
        std::optional<GridLenses> lenses;
        for (const Bounded& shape : grid) {
            if (!may_lead(shape.bound_s) || has_to_stop()) {
                break;
            }
            if (!floor) {
                floor.emplace(inputs_, tables_.local(), shape.plan);
            }
            std::vector<Bounded> plans = plans_of(shape, *floor);
            too_large_ += space_.first_plan(shape.number + 1) - space_.first_plan(shape.number) - plans.size();
            for (Bounded& plan : plans) {
                if (!may_lead(plan.bound_s)) {
                    continue;
                }
                if (!lenses) {
                    lenses.emplace(inputs_, tables_.local(), shape.plan);
                }
                plan.bound_s = std::max(plan.bound_s, lenses->bound.of(plan.plan));
                if (may_lead(plan.bound_s)) {
                    left.push_back(plan);
                }
            }
        }
        std::sort(left.begin(), left.end());
        for (const Bounded& plan : left) {
            if (!may_lead(plan.bound_s) || has_to_stop()) {
                break;
            }
            evaluate(plan, *lenses);
        }
        note_done(grid);
    }

    /// Memory first, which takes least, then the bound by way of all passes.
    void evaluate(const Bounded& bounded, GridLenses& grid) {
        {
            const std::lock_guard lock(mutex_);
            if (!taken_.insert(bounded.number).second) {
                return;
            }
        }
        EvaluatedPlan plan;
        plan.candidate = bounded.plan;
        plan.index = bounded.number;
        const double capacity = inputs_.machine.tile.hbm_bytes;
        plan.memory_peak_bytes =
            grid.memory.peak_bytes(plan.candidate, std::max(capacity, leaders_.least_unfit_bytes()));
        const bool fits = plan.memory_peak_bytes <= capacity;
        if (!fits) {
            ++pruned_memory_;
        }
        plan.bound_s = fits || leaders_.may_be_unfit(bounded.bound_s)
                           ? std::max(bounded.bound_s, grid.bound.of_passes(plan.candidate))
                           : bounded.bound_s;
        if (!fits) {
            return leaders_.add_unfit(plan);
        }
        if (may_lead(plan.bound_s)) {
            play(plan, grid.bound.network());
        }
    }

    /// As far as it may be among the best.
    void play(EvaluatedPlan plan, network::Network& network) {
        const models::Inputs& own = inputs_with(plan.candidate);
        predict::SimulatedStep step = predict::prepare_step(own, {});
        const Picoseconds most = std::min(leaders_.cutoff(), to_picoseconds_up(options_.most_s));
        if (!simulate_within(step, own, network, options_.exhaustive ? kNoCutoff : most)) {
            return;
        }
        plan.step = step.step;
        plan.losses = step.losses;
        if (to_seconds(plan.step) < plan.bound_s) {
            throw std::logic_error("plan " + std::to_string(plan.index) + " of the space takes " +
                                   std::to_string(to_seconds(plan.step)) + " s, less than its bound " +
                                   std::to_string(plan.bound_s) + " s");
        }
        leaders_.add(plan);
        const std::lock_guard lock(mutex_);
        evaluated_.push_back(plan);
    }

    /// The inputs with a plan; valid until the thread asks again.
    const models::Inputs& inputs_with(const Candidate& candidate) {
        models::Inputs& own = own_inputs_.local();
        own.plan = plan_of(candidate, inputs_.plan);
        return own;
    }

    void note_done(const Grid& grid) {
        if (!is_cut_) {
            const std::lock_guard lock(mutex_);
            finished_.insert(grid.front().number);
        }
        for (const Bounded& shape : grid) {
            done_ += space_.first_plan(shape.number + 1) - space_.first_plan(shape.number);
        }
        if (options_.progress) {
            const std::unique_lock lock(progress_mutex_, std::try_to_lock);
            if (lock) {
                options_.progress({done_, space_.size(), leaders_.best_s()});
            }
        }
    }

    /// What is shared must change nothing: some plans again, each with a network of its own.
    std::uint64_t check_some() {
        std::ranges::sort(evaluated_, {}, &EvaluatedPlan::index);
        Rng rng(options_.seed);
        std::set<std::size_t> chosen;
        while (chosen.size() < std::min(options_.checks, evaluated_.size())) {
            chosen.insert(rng.below(evaluated_.size()));
        }
        const std::vector<std::size_t> list(chosen.begin(), chosen.end());
        tbb::parallel_for(std::size_t{0}, list.size(), [&](std::size_t i) {
            const EvaluatedPlan& plan = evaluated_[list[i]];
            const Picoseconds found = predict::simulate_step(inputs_with(plan.candidate), {}, false).step;
            if (found != plan.step) {
                throw std::logic_error("plan " + std::to_string(plan.index) + " of the space takes " +
                                       std::to_string(found) + " ps by itself, " + std::to_string(plan.step) +
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
    Leaders leaders_;
    std::mutex mutex_, progress_mutex_;
    std::set<std::uint64_t> finished_;  ///< grids, by their first shape
    std::set<std::uint64_t> taken_;     ///< looked at: played, or found too large
    std::vector<EvaluatedPlan> evaluated_;
    std::atomic<std::uint64_t> pruned_memory_ = 0;  ///< by exact memory
    std::atomic<std::uint64_t> too_large_ = 0;      ///< by weights and gradients alone
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<bool> is_cut_ = false;
};

}  // namespace

SearchResult search_plans(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options) {
    return Search(inputs, request, options).run();
}

}  // namespace auspex::search
