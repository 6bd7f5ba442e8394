/// @file Floors of all shapes, plays for the cells of one pair, and cells of all pairs from both.
#include "sim/search/answers/plan_map.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <map>
#include <optional>

#include "sim/search/bounds/step_bound.hpp"
#include "sim/search/leaders.hpp"
#include "sim/search/played_plan.hpp"
#include "sim/search/space/grids.hpp"

namespace auspex::search {
namespace {

constexpr double kNoPlan_s = std::numeric_limits<double>::infinity();
/// Of a cell that is gone through.
constexpr std::size_t kShapesTried = 12, kPlansPlayed = 4, kPlansTooLarge = 8;
constexpr int kQuickPasses = 2048;  // of all stages: what is played in milliseconds

struct Field {
    const char* name;
    int (*value)(const Candidate&);
};
constexpr std::array<Field, 10> kFields{{{"pp", [](const Candidate& c) { return c.pp; }},
                                         {"ep", [](const Candidate& c) { return c.ep; }},
                                         {"tp", [](const Candidate& c) { return c.tp; }},
                                         {"etp", [](const Candidate& c) { return c.etp; }},
                                         {"cp", [](const Candidate& c) { return c.cp; }},

                                         {"micro_batch_size", [](const Candidate& c) { return c.micro_batch_size; }},
                                         {"schedule", [](const Candidate& c) { return static_cast<int>(c.schedule); }},
                                         {"virtual_stages", [](const Candidate& c) { return c.virtual_stages; }},
                                         {"rank_order", [](const Candidate& c) { return int{c.rank_order}; }},
                                         {"stages", [](const Candidate& c) { return static_cast<int>(c.stages); }}}};

std::string label_of(const char* field, int value) {
    const std::string name = field;
    return name == "schedule"     ? to_string(static_cast<models::ScheduleKind>(value))
           : name == "stages"     ? to_string(static_cast<models::StageDeal>(value))
           : name == "rank_order" ? (value == 0 ? "dp-first" : "pp-first")
                                  : std::to_string(value);
}

/// What is known of a shape.
struct ShapeState {
    double floor_s = 0;
    bool may_fit = false;  ///< weights and gradients of a plan of it
    std::optional<EvaluatedPlan> best;
};

/// Fields that vary, and where each shape stands on them.
struct Axes {
    std::vector<MapAxis> axes;
    std::vector<Field> fields;

    explicit Axes(const std::vector<Candidate>& shapes) {
        for (const Field& field : kFields) {
            MapAxis axis{field.name, {}, {}};
            for (const Candidate& shape : shapes) {
                axis.values.push_back(field.value(shape));
            }
            std::ranges::sort(axis.values);
            axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
            if (axis.values.size() > 1) {
                for (const int value : axis.values) {
                    axis.labels.push_back(label_of(field.name, value));
                }
                axes.push_back(std::move(axis));
                fields.push_back(field);
            }
        }
    }
    [[nodiscard]] std::size_t place(std::size_t axis, const Candidate& shape) const {
        const std::vector<int>& values = axes[axis].values;
        return static_cast<std::size_t>(std::ranges::lower_bound(values, fields[axis].value(shape)) - values.begin());
    }
};

class Mapping {
 public:
    Mapping(const models::Inputs& inputs, const SpaceRequest& request, const SearchResult& result,
            const std::function<bool()>& is_cut)
        : inputs_(inputs),
          result_(result),
          is_cut_(is_cut),
          space_(inputs, request),
          tables_([&inputs] { return LayerCostTable(inputs); }),
          axes_(space_.shapes()),
          states_(space_.shapes().size()) {}

    PlanMap run() {
        PlanMap map;
        map.axes = axes_.axes;
        if (axes_.axes.size() < 2) {
            return map;
        }
        find_floors();
        for (const EvaluatedPlan& plan : result_.played) {
            take(plan);
        }
        try_cells();
        map.played = played_;
        for (std::size_t rows = 0; rows < axes_.axes.size(); ++rows) {
            for (std::size_t columns = rows + 1; columns < axes_.axes.size(); ++columns) {
                map.pairs.push_back({rows, columns, cells_of(rows, columns)});
            }
        }
        return map;
    }

 private:
    using ShapesOfCell = std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>>;

    void find_floors() {
        const std::vector<std::size_t> firsts = first_shapes_of_grids(space_);
        tbb::parallel_for(std::size_t{0}, firsts.size() - 1, [&](std::size_t g) {
            GridFloor floor(inputs_, tables_.local(), space_.shapes()[firsts[g]]);
            for (std::size_t shape = firsts[g]; shape < firsts[g + 1]; ++shape) {
                const std::vector<Candidate> plans = space_.plans_of(shape);
                states_[shape].floor_s = floor.of_any(space_, shape);
                states_[shape].may_fit = std::ranges::any_of(plans, [&](const Candidate& plan) {
                    return floor.memory_bytes(plan) <= inputs_.machine.tile.hbm_bytes;
                });
            }
        });
    }

    void take(const EvaluatedPlan& plan) {
        std::optional<EvaluatedPlan>& best = states_[shape_of_plan(space_, plan.index)].best;
        if (!best || is_better(plan, *best)) {
            best = plan;
        }
    }

    [[nodiscard]] ShapesOfCell shapes_by_cell(std::size_t rows, std::size_t columns) const {
        ShapesOfCell cells;
        for (std::size_t shape = 0; shape < states_.size(); ++shape) {
            const Candidate& like = space_.shapes()[shape];
            cells[{axes_.place(rows, like), axes_.place(columns, like)}].push_back(shape);
        }
        return cells;
    }

    /// Goes through the cells of the first pair of which the best step is not known yet.
    void try_cells() {
        std::vector<std::vector<std::size_t>> cells;
        for (auto& [place, shapes] : shapes_by_cell(0, 1)) {
            if (cell_of(place, shapes).knowledge != CellKnowledge::kExact) {
                cells.push_back(std::move(shapes));
            }
        }
        std::vector<std::vector<EvaluatedPlan>> found(cells.size());
        tbb::parallel_for(std::size_t{0}, cells.size(), [&](std::size_t i) { found[i] = try_cell(cells[i]); });
        for (const std::vector<EvaluatedPlan>& plans : found) {
            played_ += plans.size();
            std::ranges::for_each(plans, [this](const EvaluatedPlan& plan) { take(plan); });
        }
    }

    /// Plans of the shapes with the lowest floors, with their bounds, the lowest first.
    [[nodiscard]] std::vector<EvaluatedPlan> lowest_of(std::vector<std::size_t> shapes) {
        std::erase_if(shapes, [this](std::size_t shape) {
            const Candidate& like = space_.shapes()[shape];
            return !states_[shape].may_fit || like.pp * like.virtual_stages * like.micro_batches > kQuickPasses;
        });
        std::ranges::sort(shapes, {}, [this](std::size_t shape) { return std::pair(states_[shape].floor_s, shape); });
        shapes.resize(std::min(shapes.size(), kShapesTried));
        std::vector<EvaluatedPlan> plans;
        for (const std::size_t shape : shapes) {
            GridFloor floor(inputs_, tables_.local(), space_.shapes()[shape]);
            std::uint64_t number = space_.first_plan(shape);
            for (const Candidate& plan : space_.plans_of(shape)) {
                if (floor.memory_bytes(plan) <= inputs_.machine.tile.hbm_bytes) {
                    plans.push_back({.candidate = plan, .index = number, .bound_s = floor.of(plan)});
                }
                ++number;
            }
        }
        std::ranges::sort(plans, has_lower_bound);
        return plans;
    }

    [[nodiscard]] std::vector<EvaluatedPlan> try_cell(const std::vector<std::size_t>& shapes) {
        std::vector<EvaluatedPlan> played, too_large;
        std::list<std::pair<Candidate, GridPlayer>> players;  // by a plan of their grid
        double best_s = kNoPlan_s;
        for (const EvaluatedPlan& plan : lowest_of(shapes)) {
            if (played.size() >= kPlansPlayed || too_large.size() >= kPlansTooLarge || plan.bound_s >= best_s ||
                is_cut_()) {
                break;
            }
            // Recomputing less does not make it fit.
            const bool is_hopeless = std::ranges::any_of(too_large, [&](const EvaluatedPlan& other) {
                return shape_of_plan(space_, other.index) == shape_of_plan(space_, plan.index) &&
                       other.candidate.optimizer == plan.candidate.optimizer &&
                       (plan.candidate.recompute & ~other.candidate.recompute) == 0;
            });
            if (is_hopeless || !space_.passes(plan.candidate)) {
                continue;
            }
            auto player = std::ranges::find_if(
                players, [&](const auto& one) { return are_of_one_grid(one.first, plan.candidate); });
            if (player == players.end()) {
                player = players.emplace(players.end(), plan.candidate, inputs_);
            }
            EvaluatedPlan found = player->second.play(plan, true);
            if (found.step > 0) {
                best_s = std::min(best_s, to_seconds(found.step));
            }
            (found.step > 0 ? played : too_large).push_back(std::move(found));
        }
        return played;
    }

    [[nodiscard]] MapCell cell_of(std::pair<std::size_t, std::size_t> place,
                                  const std::vector<std::size_t>& shapes) const {
        MapCell cell{place.first, place.second, CellKnowledge::kTooLarge, {}, kNoPlan_s};
        bool has_best = false;
        for (const std::size_t shape : shapes) {
            const ShapeState& state = states_[shape];
            if (state.best && (!has_best || is_better(*state.best, cell.best))) {
                cell.best = *state.best;
                has_best = true;
            }
            if (state.may_fit) {
                cell.least_s = std::min(cell.least_s, std::max(state.floor_s, result_.decided_below_s));
            }
        }
        if (has_best) {
            cell.knowledge =
                to_seconds(cell.best.step) <= cell.least_s ? CellKnowledge::kExact : CellKnowledge::kPlayed;
        } else if (cell.least_s < kNoPlan_s) {
            cell.knowledge = CellKnowledge::kBounded;
        }
        return cell;
    }

    [[nodiscard]] std::vector<MapCell> cells_of(std::size_t rows, std::size_t columns) const {
        std::vector<MapCell> cells;
        for (const auto& [place, shapes] : shapes_by_cell(rows, columns)) {
            cells.push_back(cell_of(place, shapes));
        }
        return cells;
    }

    const models::Inputs& inputs_;
    const SearchResult& result_;
    const std::function<bool()>& is_cut_;
    PlanSpace space_;
    tbb::enumerable_thread_specific<LayerCostTable> tables_;
    Axes axes_;
    std::vector<ShapeState> states_;
    std::uint64_t played_ = 0;
};

}  // namespace

PlanMap map_plans(const models::Inputs& inputs, const SpaceRequest& request, const SearchResult& result,
                  const std::function<bool()>& is_cut) {
    return Mapping(inputs, request, result, is_cut).run();
}

}  // namespace auspex::search
