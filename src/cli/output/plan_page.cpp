/// @file From what a search has found to what its page shows.
#include "cli/output/plan_page.hpp"

#include <algorithm>
#include <set>

#include "base/number_text.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/plan_output.hpp"

namespace auspex::cli {
namespace {

/// Rows, each plan once.
class RowList {
 public:
    RowList(const models::Inputs& inputs, report::PlanPage& page) : inputs_(inputs), page_(page) {}

    void add(const search::EvaluatedPlan& plan, const std::string& name, const std::string& why,
             std::optional<double> probability = {}) {
        if (!known_.insert(plan.index).second) {
            return;
        }
        report::PlanRow row{name, why, to_seconds(plan.step), plan.memory_peak_bytes, probability, {}};
        page_.field_names.clear();
        for (auto& [field, value] : plan_fields(plan_of(plan.candidate, inputs_.plan))) {
            page_.field_names.push_back(field);
            std::ranges::replace(value, ' ', '-');  // terms of the filter end at spaces
            row.fields.push_back(std::move(value));
        }
        page_.rows.push_back(std::move(row));
    }

 private:
    const models::Inputs& inputs_;
    report::PlanPage& page_;
    std::set<std::uint64_t> known_;
};

void add_rows(RowList& rows, const report::PlanPage& page) {
    for (std::size_t i = 0; i < page.ranked.size(); ++i) {
        rows.add(page.ranked[i].evaluated, std::to_string(i + 1), {}, page.choice.probability_best[i]);
    }
    if (page.given && page.given->why_not.empty()) {
        rows.add(page.given->ranked.evaluated, "given", {});
    }
    for (const search::EvaluatedPlan& plan : page.result.pareto) {
        rows.add(plan, {}, "front");
    }
    if (page.map.pairs.empty()) {
        return;
    }
    for (const search::MapCell& cell : page.map.pairs.front().cells) {
        if (cell.knowledge == search::CellKnowledge::kExact || cell.knowledge == search::CellKnowledge::kPlayed) {
            rows.add(cell.best, {}, "of its cell");
        }
    }
}

}  // namespace

report::PlanPage plan_page_of(const models::Inputs& inputs, const Options& options, const FoundPlans& found,
                              const search::PlanMap& map) {
    const bool has_experts = inputs.workload.num_experts > 0;
    report::PlanPage page;
    page.title = inputs.workload.name + " on " + thousands(options.tiles.front()) + " tiles of " + inputs.machine.name +
                 " with " + inputs.stack.name + ": the layout";
    page.subject =
        inputs.workload.name + " on " + thousands(options.tiles.front()) + " tiles of " + inputs.machine.name;
    page.command = options.command_line;
    page.inputs = files_of(inputs);
    page.overrides = overrides_in_words(options);
    page.result = found.result;
    page.ranked = found.ranked;
    page.choice = found.choice;
    page.room = found.room;
    for (const search::RankedPlan& one : found.ranked) {
        page.ranked_lines.push_back(plan_line(one.plan, has_experts));
    }
    page.best_line = page.ranked_lines.front();
    page.shut_out = found.shut_out;
    page.given = found.given;
    page.finish = found.finish;
    if (page.given && page.given->why_not.empty()) {
        page.given_line = differences_line(page.given->ranked.plan, page.ranked.front().plan);
    }
    page.map = map;
    RowList rows(inputs, page);
    add_rows(rows, page);
    return page;
}

}  // namespace auspex::cli
