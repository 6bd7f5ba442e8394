/// @file Bounds of all plans in parallel, then grids in the order of their best bound.
#include "sim/search/plan_search.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
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

#include "base/error.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/bounded_grids.hpp"
#include "sim/search/bounds/grid_lenses.hpp"
#include "sim/search/leaders.hpp"
#include "sim/search/left_plans.hpp"
#include "sim/search/recomputed.hpp"
#include "sim/search/search_board.hpp"
#include "sim/search/state/state_keeper.hpp"

namespace auspex::search {
namespace {

using Clock = std::chrono::steady_clock;

class Search {
 public:
    Search(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options)
        : inputs_(inputs),
          options_(options),
          own_inputs_(inputs),
          tables_([&inputs] { return LayerCostTable(inputs); }),
          space_(inputs, request),
          board_(space_, options.top, [this] { on_news(); }) {}

    SearchResult run() {
        restore();
        keep_now();
        const std::vector<Grid> grids = bounded_grids(
            inputs_, space_, [this]() -> LayerCostTable& { return tables_.local(); }, [this] { return has_to_stop(); });
        const bool helps = options_.parts != nullptr && options_.parts->helps();
        if (!helps && !board_.has_first_plans()) {
            find_a_cutoff(grids);
        }
        OwnParts own_parts;
        go_through(grids, options_.parts != nullptr ? *options_.parts : own_parts);
        if (helps) {
            return {};
        }
        keep_now();
        if (board_.best_s() == 0 && !is_cut_ && std::isinf(options_.most_s)) {
            find_smallest(grids);
        }
        SearchResult result;
        result.space = space_.size();
        result.rejected = space_.rejected();
        result.filter = space_.filter_name();
        board_.fill(result, options_.exhaustive);
        const LeftPlans left = left_plans(board_, space_, grids, limit_s());
        result.untried = left.untried;
        result.was_cut = left.untried > 0;
        result.pruned_bound = result.space - result.pruned_memory - result.evaluated - result.untried;
        result.capacity_bytes = inputs_.machine.tile.hbm_bytes;
        result.least_bound_left_s = left.least_bound_s;
        result.decided_below_s = result.was_cut ? std::min(limit_s(), left.least_bound_s) : limit_s();
        result.played = board_.played();
        if (!result.was_cut) {
            result.checked = check_some();
        }
        result.elapsed_s = elapsed_s();
        return result;
    }

 private:
    [[nodiscard]] double elapsed_s() const {
        return elapsed_before_s_ + std::chrono::duration<double>(Clock::now() - begin_).count();
    }

    /// Takes over what was found before, if this program plays the best of it as the one did that found it.
    void restore() {
        if (options_.from == nullptr) {
            return;
        }
        board_.absorb(*options_.from, options_.from_name);
        elapsed_before_s_ = options_.from->elapsed_s;
        if (const auto found = disagreement(inputs_, board_.best())) {
            throw InputError(options_.from_name, "found a plan with a step of " + std::to_string(found->plan.step) +
                                                     " ps that takes " + std::to_string(found->alone) +
                                                     " ps here; expected a checkpoint of this program");
        }
    }

    void go_through(const std::vector<Grid>& grids, PartSource& source) {
        std::vector<OpenPart> open;
        std::map<std::uint64_t, const Grid*> grid_of;
        for (const Grid& grid : grids) {
            const OpenPart part = part_of(grid, space_);
            grid_of.emplace(part.part, &grid);
            if (!board_.is_finished(part.part)) {
                open.push_back(part);
            }
        }
        const PartTurn turn(source, board_, open);
        const auto go_on = [&] {
            const std::optional<std::uint64_t> part = source.next();
            if (part) {
                evaluate(*grid_of.at(*part));
                source.finish(*part);
            }
            return part.has_value();
        };
        // Grids are taken in the order of their best bounds, whichever thread is free.
        tbb::parallel_for(std::size_t{0}, open.size(), [&](std::size_t) { static_cast<void>(go_on()); });
        while (go_on()) {  // what another process left
        }
    }

    /// Nothing fits: the memory of the plans of the smallest shape.
    void find_smallest(const std::vector<Grid>& grids) {
        if (const auto smallest = smallest_shape(inputs_, space_, grids, tables_.local())) {
            GridMemory memory(inputs_, tables_.local(), smallest->plan);
            for (const Candidate& plan : space_.plans_of(smallest->number)) {
                board_.add_smallest({.candidate = plan, .memory_peak_bytes = memory.peak_bytes(plan)});
            }
        }
    }

    bool has_to_stop() {
        if (!is_cut_ && options_.is_cut && options_.is_cut()) {
            is_cut_ = true;
        }
        return is_cut_;
    }
    [[nodiscard]] double limit_s() const {
        return options_.exhaustive ? std::numeric_limits<double>::infinity()
                                   : std::min(board_.cutoff_s(), options_.most_s);
    }
    [[nodiscard]] bool may_lead(double bound_s) const { return bound_s <= limit_s(); }

    /// For each number of stages, of the grids with the lowest bounds, without interleaving: plays the best plan that
    /// recomputes nothing and the best that recomputes everything. Climbs from the best of them.
    void find_a_cutoff(const std::vector<Grid>& grids) {
        if (!options_.exhaustive) {
            play_first_plans(grids);
        }
        if (!has_to_stop()) {
            board_.note_first_plans();
        }
    }
    void play_first_plans(const std::vector<Grid>& grids) {
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
        std::vector<EvaluatedPlan> starts = board_.played();
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
            const auto found = std::ranges::find_if(
                plans, [&](const Bounded& b) { return b.plan.recompute == recompute && space_.passes(b.plan); });
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
                GridFloor floor(inputs_, tables_.local(), plan);
                const bool may_be_it = floor.memory_bytes(plan) <= inputs_.machine.tile.hbm_bytes &&
                                       floor.of(plan) <= to_seconds(best.step);
                if (may_be_it && !has_to_stop() && space_.passes(plan)) {
                    evaluate_alone({floor.of(plan), number, plan});
                }
            });
            is_better_found = false;
            for (const EvaluatedPlan& plan : board_.played()) {
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
        if (!board_.take(plan.number)) {
            return;
        }
        GridLenses lenses(inputs_, tables_.local(), plan.plan);
        if (may_fit(plan, lenses)) {
            play(plan, lenses);
        }
    }

    /// Of a shape, with their floors: those whose weights and gradients fit.
    [[nodiscard]] std::vector<Bounded> plans_of(const Bounded& shape, GridFloor& floor) const {
        const double all = std::numeric_limits<double>::infinity();
        return bounded_plans(space_, shape, floor, options_.exhaustive ? all : inputs_.machine.tile.hbm_bytes);
    }

    void evaluate(const Grid& grid) {
        std::uint64_t too_large = 0;
        std::vector<Bounded> left;
        std::optional<GridLenses> lenses;
        for (const Bounded& shape : grid) {
            if (!may_lead(shape.bound_s) || has_to_stop()) {
                break;
            }
            if (!lenses) {
                lenses.emplace(inputs_, tables_.local(), shape.plan);
            }
            std::vector<Bounded> plans = plans_of(shape, lenses->floor);
            too_large += space_.first_plan(shape.number + 1) - space_.first_plan(shape.number) - plans.size();
            for (Bounded& plan : plans) {
                if (!may_lead(plan.bound_s) || !board_.take(plan.number) || !may_fit(plan, *lenses)) {
                    continue;
                }
                plan.bound_s = lenses->raised(plan.bound_s, plan.plan, limit_s());
                if (may_lead(plan.bound_s) && space_.passes(plan.plan)) {
                    left.push_back(plan);
                }
            }
        }
        std::sort(left.begin(), left.end());
        for (const Bounded& plan : left) {
            if (!may_lead(plan.bound_s) || has_to_stop()) {
                break;
            }
            play(plan, *lenses);
        }
        note_done(grid, too_large);
    }

    /// By the floor of its memory.
    bool may_fit(const Bounded& plan, GridLenses& lenses) {
        const double floor_bytes = lenses.memory.floor_bytes(plan.plan);
        const bool may = options_.exhaustive || floor_bytes <= inputs_.machine.tile.hbm_bytes;
        if (!may) {
            note_unfit(plan, floor_bytes, lenses);
        }
        return may;
    }

    /// Of one that does not fit: its memory where it may be the least, its bound where it may be remembered.
    void note_unfit(const Bounded& bounded, double least_bytes, GridLenses& lenses) {
        EvaluatedPlan plan{.candidate = bounded.plan, .index = bounded.number, .bound_s = bounded.bound_s};
        const double smallest_bytes = board_.least_unfit_bytes();
        plan.memory_peak_bytes =
            least_bytes < smallest_bytes ? lenses.memory.peak_bytes(bounded.plan, smallest_bytes) : least_bytes;
        if (board_.may_be_unfit(plan.bound_s)) {
            plan.bound_s = lenses.raised(plan.bound_s, bounded.plan, 0);
        }
        if (board_.may_be_unfit(plan.bound_s)) {
            plan.bound_s = lenses.nearest(plan.bound_s, bounded.plan);
        }
        if (!board_.may_be_unfit(plan.bound_s) || space_.passes(bounded.plan)) {
            board_.add_unfit(plan);
        }
    }

    /// As far as it may be among the best, or as none known has less memory.
    void play(Bounded bounded, GridLenses& lenses) {
        bounded.bound_s = lenses.raised(bounded.bound_s, bounded.plan, limit_s());
        if (may_lead(bounded.bound_s)) {
            bounded.bound_s = lenses.nearest(bounded.bound_s, bounded.plan);
        }
        if (!may_lead(bounded.bound_s)) {
            return;
        }
        EvaluatedPlan plan{.candidate = bounded.plan, .index = bounded.number, .bound_s = bounded.bound_s};
        plan.memory_peak_bytes = lenses.memory.peak_bytes(plan.candidate);
        if (plan.memory_peak_bytes > inputs_.machine.tile.hbm_bytes) {
            return note_unfit(bounded, plan.memory_peak_bytes, lenses);
        }
        models::Inputs& own = own_inputs_.local();
        own.plan = plan_of(plan.candidate, inputs_.plan);
        predict::SimulatedStep step = predict::prepare_step(own, {});
        const Picoseconds most = to_picoseconds_up(std::min(board_.cutoff_s(), options_.most_s));
        const bool may_stop = !options_.exhaustive && board_.is_behind(most, plan.memory_peak_bytes, plan.bound_s);
        if (!lenses.simulate(step, own, may_stop ? most : kNoCutoff)) {
            return;
        }
        plan.step = step.step;
        plan.losses = step.losses;
        if (to_seconds(plan.step) < plan.bound_s) {
            throw std::logic_error("plan " + std::to_string(plan.index) + " of the space takes " +
                                   std::to_string(to_seconds(plan.step)) + " s, less than its bound " +
                                   std::to_string(plan.bound_s) + " s");
        }
        board_.add(plan);
    }

    void note_done(const Grid& grid, std::uint64_t too_large) {
        if (!has_to_stop()) {
            const OpenPart part = part_of(grid, space_);
            board_.finish({part.part, part.end_plan - part.first_plan, too_large});
        }
    }

    void on_news() {
        const std::unique_lock lock(news_mutex_, std::try_to_lock);
        if (!lock) {
            return;
        }
        if (options_.progress) {
            options_.progress({board_.plans_finished(), space_.size(), board_.best_s()});
        }
        keeper_.keep_if_due();
    }
    void keep_now() {
        const std::lock_guard lock(news_mutex_);
        keeper_.keep();
    }
    SearchState state() {
        SearchState state = board_.state();
        state.elapsed_s = elapsed_s();
        return state;
    }

    /// What is shared must change nothing: some plans again, each with a network of its own.
    std::uint64_t check_some() {
        const std::vector<EvaluatedPlan> list = some_of(board_.played(), options_.checks, options_.seed);
        if (const auto found = disagreement(inputs_, list)) {
            throw std::logic_error("plan " + std::to_string(found->plan.index) + " of the space takes " +
                                   std::to_string(found->alone) + " ps by itself, " + std::to_string(found->plan.step) +
                                   " ps within the search");
        }
        return list.size();
    }

    const models::Inputs& inputs_;
    const SearchOptions& options_;
    tbb::enumerable_thread_specific<models::Inputs> own_inputs_;
    tbb::enumerable_thread_specific<LayerCostTable> tables_;
    PlanSpace space_;
    SearchBoard board_;
    std::mutex news_mutex_;
    const Clock::time_point begin_ = Clock::now();
    StateKeeper keeper_{options_.keep, [this] { return state(); }};
    double elapsed_before_s_ = 0;
    std::atomic<bool> is_cut_ = false;
};

}  // namespace

SearchResult search_plans(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options) {
    std::optional<tbb::global_control> limit;
    if (options.threads > 0) {
        limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
    }
    return Search(inputs, request, options).run();
}

}  // namespace auspex::search
