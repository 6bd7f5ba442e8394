#pragma once
/// @file What a search for layouts has found: a page to read, sort and filter.
#include <optional>
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"
#include "report/parts/picture.hpp"
#include "report/plans/plan_finish.hpp"
#include "sim/search/answers/choice.hpp"
#include "sim/search/answers/given_plan.hpp"
#include "sim/search/answers/memory_room.hpp"
#include "sim/search/answers/plan_map.hpp"
#include "sim/search/answers/shut_out.hpp"

namespace auspex::report {

/// A plan of the table.
struct PlanRow {
    std::string name;  ///< "1" the best; "given" that of --plan; else empty
    std::string why;   ///< else: why it is in the table
    double step_time_s = 0, memory_peak_bytes = 0;
    std::optional<double> probability_best;
    std::vector<std::string> fields;  ///< values of PlanPage::field_names
};

struct PlanPage {
    std::string title, command;
    std::string subject;  ///< "mula-7b-a1b on 24 tiles of aurora"
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    std::string best_line;  ///< its plan in a line
    search::SearchResult result;
    std::vector<search::RankedPlan> ranked;  ///< one at least
    search::Choice choice;                   ///< of `ranked`
    search::MemoryRoom room;                 ///< the same
    std::vector<std::string> ranked_lines;   ///< their plans in a line
    search::ShutOutPlans shut_out;
    std::optional<search::GivenPlan> given;
    std::optional<PlanFinishes> finish;  ///< of `ranked`, or of the first of them
    std::string given_line;              ///< how it differs from the best
    search::PlanMap map;
    std::vector<std::string> field_names;
    std::vector<PlanRow> rows;
};

/// Step against memory of the plans that were played, with their front and what a tile has, as inline SVG.
[[nodiscard]] std::string pareto_chart(const PlanPage& page, double width = kPagePicture);
/// Sections of the page.
[[nodiscard]] std::string plan_table_section(const PlanPage& page);
[[nodiscard]] std::string plan_map_section(const PlanPage& page);

/// "Fastest layout of mula-7b-a1b on 24 tiles of aurora: pp 2 dp 4, 1.25 s a step, 12.1 % MFU; a third of the step is
/// …"; with --plan, how far that is behind instead.
[[nodiscard]] std::string plan_headline(const PlanPage& page);
/// The answer in a sentence: plan, step, rate, what holds it up, and whether its lead is told apart.
[[nodiscard]] std::string answer_sentence(const PlanPage& page);
/// "; only 0.5 % of the memory stays free: it may not fit"; nothing where it leaves enough.
[[nodiscard]] std::string tight_clause(const search::MemoryRoom& room);
/// That predictions of memory are off by more than the best one leaves, and which plan leaves enough. Requires
/// room.is_tight().
[[nodiscard]] std::string room_sentence(const search::MemoryRoom& room);
/// Where the plan of --plan stands, in a sentence or two. Requires page.given.
[[nodiscard]] std::string given_sentence(const search::GivenPlan& given, std::uint64_t space);

/// The whole page; it loads nothing. Its state is in the address: #where=pp<=8&sort=memory:down&map=pp,ep.
[[nodiscard]] std::string render_plan_html(const PlanPage& page);

}  // namespace auspex::report
