/// @file Changes as what --set takes, with what they give.
#include "cli/output/advice_output.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/text/text_list.hpp"
#include "base/units.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/output/prediction_output.hpp"
#include "interop/frameworks/frameworks.hpp"
#include "models/overlap.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

/// A plan's members as --set takes them: words without quotes.
std::vector<std::pair<std::string, std::string>> members_of(const models::Plan& plan) {
    std::ostringstream text;
    {
        JsonWriter json(text, JsonLayout::kOneLine);
        json.begin_object();
        write_plan(json, plan);
        json.end_object();
    }
    const JsonDocument document = JsonDocument::parse(text.str(), "plan");
    std::vector<std::pair<std::string, std::string>> members;
    for (const std::string& key : document.root().keys()) {
        const JsonValue value = document.root().at(key);
        members.emplace_back(key, value.is_string() ? value.as_string() : value.dump());
    }
    return members;
}

/// `stack.can_overlap=["dp"]`, where a plan overlaps streams that the stack cannot, which is refused without it.
std::vector<std::string> overlap_set(const models::Plan& plan, const models::Stack& stack) {
    std::vector<std::string> words;
    bool is_lacking = false;
    for (const models::OverlapStream& stream : models::kOverlapStreams) {
        const bool wanted = plan.*stream.is_wanted, can = stack.*stream.can;
        is_lacking = is_lacking || (wanted && !can);
        if (wanted || can) {
            words.push_back("\"" + std::string(stream.word) + "\"");
        }
    }
    return is_lacking ? std::vector{"stack.can_overlap=[" + joined(words, ",") + "]"} : std::vector<std::string>{};
}

/// What a member is without which the plan is written, of those that a change takes away.
constexpr std::array<std::pair<const char*, const char*>, 5> kUnwritten{{{"virtual_stages", "1"},
                                                                         {"stages", "even"},
                                                                         {"fp8", "none"},
                                                                         {"fp8_weights", "copies"},
                                                                         {"optimizer_states", "fp32"}}};

/// "plan.recompute=[]": of each member that is another, of those that files need not have and `base` has not, and of
/// those that `base` alone has.
std::vector<std::string> sets_of(const models::Plan& plan, const models::Plan& base, const models::Stack& stack) {
    const auto before = members_of(base), after = members_of(plan);
    std::vector<std::string> sets;
    for (const auto& member : after) {
        if (std::ranges::find(before, member) == before.end()) {
            sets.push_back("plan." + member.first + "=" + member.second);
        }
    }
    for (const auto& [key, value] : kUnwritten) {
        const auto has_key = [key = std::string(key)](const auto& member) { return member.first == key; };
        if (std::ranges::any_of(before, has_key) && std::ranges::none_of(after, has_key)) {
            sets.push_back(std::string("plan.") + key + "=" + value);
        }
    }
    std::ranges::move(overlap_set(plan, stack), std::back_inserter(sets));
    return sets;
}

models::Plan plan_as_is(const predict::Prediction& prediction, const models::Inputs& inputs) {
    models::Plan plan = inputs.plan;
    plan.dp = prediction.dp;
    return plan;
}

std::string remark_on(const search::HelpfulPlan& change, const predict::Prediction& prediction,
                      const models::Inputs& inputs) {
    std::vector<std::string> reasons;
    if (change.changes_results) {
        reasons.emplace_back("changes what is computed");
    }
    if (!change.lacking.empty()) {
        reasons.push_back("stack " + inputs.stack.name + " does not offer " + change.lacking);
    }
    if (!change.refused.empty()) {
        reasons.push_back("auspex emit --format " + inputs.stack.emit_format + " does not write " + change.refused);
    }
    if (!change.fits) {
        reasons.push_back("does not fit: " + format_quantity(change.memory_peak_bytes, Dimension::kBytes) + " of " +
                          format_quantity(prediction.memory.capacity_bytes, Dimension::kBytes));
    }
    return joined(reasons, "; ");
}

std::string better_words(const search::HelpfulConstant& better) {
    const Constant& constant = better.constant;
    return constant.path + " " + format_quantity(constant.value, constant.dimension) + " -> " +
           format_quantity(constant.value * better.factor, constant.dimension);
}

void write_change(JsonWriter& json, const search::HelpfulPlan& change, const models::Plan& before,
                  const models::Stack& stack) {
    json.begin_object().member("field", change.field).key("set").begin_array();
    for (const std::string& set : sets_of(change.plan, before, stack)) {
        json.value(set);
    }
    json.end_array().member("step_time_s", change.step_time_s).member("mfu", change.mfu);
    json.member("gain", change.gain).member("memory_peak_bytes", whole(change.memory_peak_bytes));
    json.member("fits", change.fits).member("stack_lacks", change.lacking);
    json.member("emit_refuses", change.refused).member("changes_results", change.changes_results).end_object();
}

template <typename Row>
void keep_first(std::vector<Row>& rows, int most) {
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(most)));
}

void print_rows(std::ostream& out, const std::vector<report::AdviceRow>& rows, bool with_memory) {
    constexpr std::size_t kWidth = 66;
    for (const report::AdviceRow& row : rows) {
        out << "  " << left(row.change, kWidth) << right(duration(row.step_time_s), 10) << right(percent(row.mfu), 9)
            << right(report::gain_text(row.gain), 10);
        if (with_memory) {
            out << right(format_quantity(row.memory_bytes, Dimension::kBytes), 11);
        }
        out << "\n" << (row.remark.empty() ? "" : "    " + row.remark + "\n");
    }
}

}  // namespace

search::PlanFilter emitted_plans(const std::string& word, const std::string& name) {
    if (word.empty()) {
        return {};
    }
    return {name + " " + word,
            [&framework = interop::framework_named(word, name)](
                const models::Machine& machine, const models::Workload& workload, const models::Plan& plan) {
                return interop::refused_by(framework, workload, plan, machine.node.tiles);
            }};
}

int changes_wanted(const Options& options, const models::Machine& machine, int by_default) {
    const bool has_cores = machine.cpu.cores > 0;
    if (has_cores && options.predict.advice.value_or(0) > 0) {
        throw InputError("--advice", "found with machine " + machine.name +
                                         ", whose ranks are processes on CPU cores; expected a machine without a host "
                                         "section");
    }
    return options.predict.advice.value_or(has_cores || options.no_sensitivity ? 0 : by_default);
}

report::AdviceRows advice_rows(const search::Advice& advice, const predict::Prediction& prediction,
                               const models::Inputs& inputs, int most) {
    report::AdviceRows rows;
    rows.tried = advice.tried;
    rows.fits = prediction.memory.fits;
    rows.without_gain = advice.without_gain;
    rows.not_tried = advice.not_tried;
    const models::Plan base = plan_as_is(prediction, inputs);
    for (const search::HelpfulPlan& change : advice.plans) {
        (change.can_be_had() ? rows.plans : rows.not_to_be_had)
            .push_back({joined(sets_of(change.plan, base, inputs.stack), " "), change.step_time_s, change.mfu,
                        change.gain, change.memory_peak_bytes, remark_on(change, prediction, inputs)});
    }
    models::Plan before = base;
    for (const search::HelpfulPlan& change : advice.one_after_another) {
        rows.one_after_another.push_back({joined(sets_of(change.plan, before, inputs.stack), " "), change.step_time_s,
                                          change.mfu, change.gain, change.memory_peak_bytes});
        before = change.plan;
    }
    for (const search::HelpfulConstant& better : advice.constants) {
        rows.constants.push_back({better_words(better), better.step_time_s, better.mfu, better.gain});
    }
    keep_first(rows.plans, most);
    keep_first(rows.not_to_be_had, most);
    keep_first(rows.one_after_another, most);
    keep_first(rows.constants, most);
    return rows;
}

void write_advice(JsonWriter& json, const search::Advice& advice, const predict::Prediction& prediction,
                  const models::Inputs& inputs, int most) {
    const models::Plan base = plan_as_is(prediction, inputs);
    json.key("advice").begin_object().member("tried", advice.tried).member("elapsed_s", advice.elapsed_s);
    json.key("plan").begin_array();
    const auto limit = static_cast<std::size_t>(most);
    std::size_t had = 0, not_to_be_had = 0;
    for (const search::HelpfulPlan& change : advice.plans) {
        if ((change.can_be_had() ? had : not_to_be_had)++ < limit) {
            write_change(json, change, base, inputs.stack);
        }
    }
    json.end_array().key("one_after_another").begin_array();
    models::Plan before = base;
    for (std::size_t i = 0; i < std::min(limit, advice.one_after_another.size()); ++i) {
        write_change(json, advice.one_after_another[i], before, inputs.stack);
        before = advice.one_after_another[i].plan;
    }
    json.end_array().key("without_gain").begin_array();
    for (const std::string& field : advice.without_gain) {
        json.value(field);
    }
    json.end_array().member("not_tried", advice.not_tried).key("constants").begin_array();
    for (std::size_t i = 0; i < std::min(limit, advice.constants.size()); ++i) {
        const search::HelpfulConstant& better = advice.constants[i];
        json.begin_object().member("path", better.constant.path).member("value", better.constant.value);
        json.member("factor", better.factor).member("step_time_s", better.step_time_s);
        json.member("mfu", better.mfu).member("gain", better.gain).end_object();
    }
    json.end_array().end_object();
}

void print_advice(std::ostream& out, const report::AdviceRows& advice) {
    if (!advice.plans.empty()) {
        out << "\nWhat would help: one change of the plan at a time (--set 'LINE'), the step, MFU, tokens/s and memory "
               "that "
               "it "
               "gives\n";
        print_rows(out, advice.plans, true);
    } else {
        out << "\nNone of " << advice.tried << " single changes of the plan helps and can be had.\n";
    }
    if (!advice.not_to_be_had.empty()) {
        out << "Would help, but cannot be had as things are\n";
        print_rows(out, advice.not_to_be_had, true);
    }
    if (!advice.without_gain.empty()) {
        out << "No gain (" << advice.tried << " changes tried): " << joined(advice.without_gain, ", ") << "\n";
    }
    if (!advice.not_tried.empty()) {
        out << "Not tried: " << advice.not_tried << "\n";
    }
    if (advice.one_after_another.size() > 1) {
        out << "The best one, the best on top of it, and so on: each line with all those above it\n";
        print_rows(out, advice.one_after_another, true);
    }
    if (!advice.constants.empty()) {
        out << "\nWhat limits: one constant at a time twice as good, or as good as it can be\n";
        print_rows(out, advice.constants, false);
    }
}

std::string advice_line(const report::AdviceRows& advice, int tiles) {
    const std::string begin = "On " + thousands(tiles) + " tiles ";
    if (advice.plans.empty()) {
        return begin + "none of " + std::to_string(advice.tried) + " single changes of the plan helps and can be had.";
    }
    std::vector<std::string> changes;
    for (const report::AdviceRow& row : advice.plans) {
        changes.push_back(row.change + " (" + report::gain_text(row.gain) + (row.remark.empty() ? "" : ", ") +
                          row.remark + ")");
    }
    return begin + "would help, each by itself: " + joined(changes, "; ") + ". auspex predict says more.";
}

}  // namespace auspex::cli
