/// @file The plan's number, the plans with lower bounds, and a draw of them.
#include "sim/search/answers/given_plan.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "base/rng.hpp"
#include "base/statistics/distributions.hpp"
#include "sim/search/bounds/grid_lenses.hpp"
#include "sim/search/played_plan.hpp"
#include "sim/search/space/grids.hpp"

namespace auspex::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

using Numbered = std::pair<Candidate, std::uint64_t>;

/// What a search varies: all fields of the candidate but those that follow, the ones that make a shape first.
constexpr std::size_t kShapeFields = 9;
std::array<std::pair<const char*, int>, kShapeFields + 6> fields_of(const Candidate& c) {
    return {{{"pp", c.pp},
             {"tp", c.tp},
             {"etp", c.etp},
             {"ep", c.ep},
             {"cp", c.cp},
             {"micro_batch_size", c.micro_batch_size},
             {"schedule", static_cast<int>(c.schedule)},
             {"virtual_stages", c.virtual_stages},
             {"stages", static_cast<int>(c.stages)},
             {"optimizer", static_cast<int>(c.optimizer)},
             {"dispatch", static_cast<int>(c.dispatch)},
             {"expert_kernels", static_cast<int>(c.expert_kernels)},
             {"recompute", c.recompute},
             {"overlap", c.overlap},
             {"sequence_parallel", static_cast<int>(c.sequence_parallel)}}};
}

/// Without dp and number of micro-batches. Rank order 0 is the plan's own.
Candidate candidate_of(const PlanSpace& space, const models::Plan& p) {
    const auto bits = [](std::initializer_list<bool> flags) {
        unsigned mask = 0, bit = 1;
        for (const bool flag : flags) {
            mask |= flag ? bit : 0U;
            bit *= 2;
        }
        return static_cast<std::uint8_t>(mask);
    };
    Candidate c;
    c.ep = p.ep, c.etp = p.etp_given ? p.etp : p.tp, c.tp = p.tp, c.cp = p.cp, c.pp = p.pp;
    c.virtual_stages = p.virtual_stages;
    c.micro_batch_size = p.micro_batch_size;
    c.schedule = p.schedule;
    c.stages = space.deal_of(p);
    c.optimizer = p.optimizer;
    c.dispatch = p.dispatch;
    c.expert_kernels = p.expert_kernels;
    c.recompute = recompute_mask(p);
    c.overlap = bits({p.overlap_tp, p.overlap_ep, p.overlap_dp, p.overlap_pp});
    c.overlap = space.distinct_overlap(c);
    c.sequence_parallel = p.sequence_parallel;
    return c;
}

/// The plan, or the field that keeps the most alike from being it.
std::pair<std::optional<Numbered>, std::string> find_plan(const PlanSpace& space, const models::Plan& plan) {
    const auto wanted = fields_of(candidate_of(space, plan));
    std::size_t most_alike = 0;
    for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
        const auto alike = [&](const Candidate& c, std::size_t fields) {
            const auto found = fields_of(c);
            const auto end = found.begin() + static_cast<std::ptrdiff_t>(fields);
            return static_cast<std::size_t>(std::mismatch(found.begin(), end, wanted.begin()).first - found.begin());
        };
        const Candidate& like = space.shapes()[shape];
        const std::size_t of_shape = like.rank_order == 0 ? alike(like, kShapeFields) : 0;
        most_alike = std::max(most_alike, of_shape);
        if (of_shape < kShapeFields) {
            continue;
        }
        std::uint64_t number = space.first_plan(shape);
        for (const Candidate& c : space.plans_of(shape)) {
            const std::size_t equal = alike(c, wanted.size());
            if (equal == wanted.size()) {
                return {Numbered{c, number}, {}};
            }
            most_alike = std::max(most_alike, equal);
            ++number;
        }
    }
    return {std::nullopt, wanted[most_alike].first};
}

/// Plans whose bounds are below a step: numbers of those that a search has decided, and of the others.
struct BelowStep {
    std::vector<std::uint64_t> decided, undecided;
};

BelowStep plans_below(const models::Inputs& inputs, const PlanSpace& space, double step_s, double decided_below_s) {
    const std::vector<Candidate>& shapes = space.shapes();
    tbb::enumerable_thread_specific<LayerCostTable> tables([&inputs] { return LayerCostTable(inputs); });
    const std::vector<std::size_t> firsts = first_shapes_of_grids(space);
    std::vector<BelowStep> by_grid(firsts.size() - 1);
    tbb::parallel_for(std::size_t{0}, by_grid.size(), [&](std::size_t g) {
        GridLenses lenses(inputs, tables.local(), shapes[firsts[g]]);
        GridFloor& floor = lenses.floor;
        for (std::size_t shape = firsts[g]; shape < firsts[g + 1]; ++shape) {
            const std::vector<Candidate> plans = space.plans_of(shape);
            if (floor.of_any(space, shape) >= step_s) {
                continue;
            }
            for (std::size_t i = 0; i < plans.size(); ++i) {
                if (floor.memory_bytes(plans[i]) > inputs.machine.tile.hbm_bytes || floor.of(plans[i]) >= step_s) {
                    continue;
                }
                const double bound_s = lenses.raised(floor.of(plans[i]), plans[i], step_s);
                if (bound_s < step_s) {
                    (bound_s <= decided_below_s ? by_grid[g].decided : by_grid[g].undecided)
                        .push_back(space.first_plan(shape) + i);
                }
            }
        }
    });
    BelowStep all;
    for (const BelowStep& one : by_grid) {
        std::ranges::copy(one.decided, std::back_inserter(all.decided));
        std::ranges::copy(one.undecided, std::back_inserter(all.undecided));
    }
    return all;
}

/// Wilson's score interval, 90 %, of a share of which k of n drawn were; drawn without repetition out of `all`.
Interval share_interval(double k, double n, double all) {
    const double left = (all - n) / std::max(1.0, all - 1);  // finite population
    const double z2 = std::pow(normal_reach(0.9), 2) * left, share = k / n;
    const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    const double reach = std::sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n);
    return {std::max(0.0, middle - reach), std::min(1.0, middle + reach)};
}

/// Plans of one grid after the other, grids on all cores.
void play_all(const models::Inputs& inputs, std::vector<EvaluatedPlan>& plans) {
    std::ranges::sort(plans, {}, &EvaluatedPlan::index);
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (i == 0 || !are_of_one_grid(plans[i - 1].candidate, plans[i].candidate)) {
            firsts.push_back(i);
        }
    }
    tbb::parallel_for(std::size_t{0}, firsts.size(), [&](std::size_t g) {
        GridPlayer player(inputs);
        const std::size_t end = g + 1 < firsts.size() ? firsts[g + 1] : plans.size();
        for (std::size_t i = firsts[g]; i < end; ++i) {
            plans[i] = player.play(plans[i], true);
        }
    });
}

FasterPlans count_faster(const models::Inputs& inputs, const PlanSpace& space, const SearchResult& result,
                         const EvaluatedPlan& plan, std::size_t draws, std::uint64_t seed) {
    BelowStep below = plans_below(inputs, space, to_seconds(plan.step), result.decided_below_s);
    std::map<std::uint64_t, Picoseconds> steps;
    for (const EvaluatedPlan& one : result.played) {
        steps[one.index] = one.step;
    }
    if (to_seconds(plan.step) > result.decided_below_s) {  // some were left as soon as they could not be among the best
        const auto unknown = std::ranges::partition(below.decided, [&](std::uint64_t n) { return steps.contains(n); });
        below.undecided.insert(below.undecided.end(), unknown.begin(), unknown.end());
        below.decided.erase(unknown.begin(), unknown.end());
        std::ranges::sort(below.undecided);
    }
    const auto is_faster = [&](std::uint64_t number) {
        const auto found = steps.find(number);
        return found != steps.end() && found->second < plan.step;
    };
    FasterPlans faster;
    faster.at_least = static_cast<std::uint64_t>(std::ranges::count_if(below.decided, is_faster));
    std::vector<std::uint64_t>& left = below.undecided;
    faster.undecided = left.size();
    faster.drawn = std::min<std::uint64_t>(draws, left.size());
    Rng rng(seed);
    std::vector<EvaluatedPlan> drawn;
    for (std::uint64_t i = 0; i < faster.drawn; ++i) {
        std::swap(left[i], left[i + rng.below(left.size() - i)]);
        if (!steps.contains(left[i])) {
            drawn.push_back({.candidate = plan_numbered(space, left[i]), .index = left[i]});
        }
    }
    play_all(inputs, drawn);
    for (const EvaluatedPlan& one : drawn) {
        if (one.step > 0) {
            steps[one.index] = one.step;
        }
    }
    const auto found = static_cast<std::uint64_t>(
        std::count_if(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(faster.drawn), is_faster));
    const auto decided = static_cast<double>(faster.at_least), all = static_cast<double>(faster.undecided);
    faster.at_most = faster.at_least + faster.undecided - (faster.drawn - found);
    faster.at_least += found;
    faster.estimate = decided;
    faster.interval = {decided, decided};
    if (faster.drawn > 0) {
        const auto n = static_cast<double>(faster.drawn), k = static_cast<double>(found);
        const Interval share = share_interval(k, n, all);
        faster.estimate = decided + all * k / n;
        faster.interval.low = std::max(static_cast<double>(faster.at_least), decided + all * share.low);
        faster.interval.high = std::min(static_cast<double>(faster.at_most), decided + all * share.high);
    }
    return faster;
}

}  // namespace

GivenPlan place_given_plan(const models::Inputs& inputs, const SpaceRequest& request, const SearchResult& result,
                           const RankedPlan& best, std::size_t draws, std::uint64_t seed) {
    const PlanSpace space(inputs, request);
    GivenPlan given;
    const auto [found, missing] = find_plan(space, inputs.plan);
    if (!found) {
        given.why_not = "no plan of the space has its " + missing + " beside its other fields";
        return given;
    }
    EvaluatedPlan plan = play_alone(inputs, {.candidate = found->first, .index = found->second}, false);
    LayerCostTable table(inputs);
    GridLenses lenses(inputs, table, plan.candidate);
    plan.bound_s = lenses.raised(lenses.floor.of(plan.candidate), plan.candidate, kNever);
    given.excess_bytes = plan.memory_peak_bytes - inputs.machine.tile.hbm_bytes;
    given.ranked = ranked_plan(inputs, plan, best.prediction.run_tokens);
    judge(given.ranked, best);
    given.faster = count_faster(inputs, space, result, plan, draws, seed);
    return given;
}

}  // namespace auspex::search
