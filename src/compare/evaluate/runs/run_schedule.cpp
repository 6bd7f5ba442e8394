/// @file Words of schedules, and how layers are dealt to stages.
#include "compare/evaluate/runs/run_schedule.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"
#include "models/pipeline/schedule_kind.hpp"

namespace auspex::evaluate {
namespace {

using models::ScheduleKind;

/// Letters and digits of words, the longer ones first.
constexpr std::array<std::pair<std::string_view, ScheduleKind>, 13> kOrders{{{"dualpipev", ScheduleKind::kDualPipeV},
                                                                             {"dualpipe", ScheduleKind::kDualPipe},
                                                                             {"zbv", ScheduleKind::kZbv},
                                                                             {"zerobubblev", ScheduleKind::kZbv},
                                                                             {"zbh2", ScheduleKind::kZbH2},
                                                                             {"zb2p", ScheduleKind::kZbAuto},
                                                                             {"zbauto", ScheduleKind::kZbAuto},
                                                                             {"zb", ScheduleKind::kZbH1},
                                                                             {"zerobubble", ScheduleKind::kZbH1},
                                                                             {"vhalf", ScheduleKind::kVHalf},
                                                                             {"vmin", ScheduleKind::kVMin},
                                                                             {"afab", ScheduleKind::kGpipe},
                                                                             {"gpipe", ScheduleKind::kGpipe}}};

std::string letters_of(const PublishedRun& run) {
    std::string letters;
    for (const std::string& word : words_in(run.plan.schedule)) {
        std::ranges::copy_if(word, std::back_inserter(letters), [](char c) { return c != '_'; });
    }
    return letters;
}

/// "non-interleaved 1F1B", "without interleaving", "1F1B (interleaving off)".
bool denies_interleaving(const PublishedRun& run) { return said_of(run.plan.schedule, "interleav") == Said::kDenied; }

bool is_interleaved(const PublishedRun& run, const std::string& letters) {
    return (says(run.plan.schedule, "interleav") || letters.starts_with("int") || has(letters, "int1f1b")) &&
           !denies_interleaving(run);
}

/// Layers of equal stages, or with embedding and head counted as layers where only that divides them; empty: neither.
std::string equal_stages(int layers, int stages) {
    return layers % stages == 0         ? "even"
           : (layers + 2) % stages == 0 ? "even-with-both"
           : (layers + 1) % stages == 0 ? "even-with-head"
                                        : "";
}

std::string deal_of(const PublishedRun& run, int stages) {
    const std::string equal = equal_stages(run.model.layers, stages);
    return equal.empty() ? "by-cost" : equal;
}

/// As the words say: "interleaved (vpp 2)", "VPP=4", "2 virtual stages", "2 model chunks"; else "v=4"; 0: they do not.
int stated_virtual_stages(const PublishedRun& run) {
    const std::vector<std::string> words = words_in(run.plan.schedule);
    const auto word_at = [&](std::size_t i) { return i < words.size() ? std::string_view(words[i]) : ""; };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word.starts_with("vpp")) {
            constexpr std::size_t kName = 3;
            return number_in(word.substr(kName)).value_or(number_from(words, i + 1).value_or(0));
        }
        const bool is_model_chunk = word.ends_with("model_chunks") || (word == "model" && word_at(i + 1) == "chunks");
        if (word == "virtual" || is_model_chunk) {
            const std::optional<int> before = i > 0 ? number_in(words[i - 1]) : std::nullopt;
            return before ? *before : number_from(words, i + 1).value_or(0);
        }
        const bool is_of_rank = word == "chunks" && word_at(i + 1) == "per" && i > 0;
        if (is_of_rank && number_in(words[i - 1])) {
            return *number_in(words[i - 1]);
        }
    }
    static const std::regex v("(^|[^a-z0-9])v ?= ?([0-9]{1,3})($|[^a-z0-9.])");
    std::smatch found;
    const std::string text = lower_case(run.plan.schedule);
    return std::regex_search(text, found, v) ? std::stoi(found.str(2)) : 0;
}

/// As many as the layers can be dealt to, at most the framework's; where none above 1 is among them, the fewest up to
/// four times as many (23 layers a stage). 1 where micro-batches are no multiple of pp.
int assumed_virtual_stages(const PublishedRun& run, int wanted, int micro_batches) {
    constexpr int kTimes = 4;
    const int most = run.model.layers / run.plan.pp;
    const auto is_equal = [&run](int stages) { return !equal_stages(run.model.layers, run.plan.pp * stages).empty(); };
    if (micro_batches % run.plan.pp != 0) {
        return 1;
    }
    for (int stages = std::min(wanted, most); stages > 1; --stages) {
        if (is_equal(stages)) {
            return stages;
        }
    }
    for (int stages = wanted + 1; stages <= std::min(kTimes * wanted, most); ++stages) {
        if (is_equal(stages)) {
            return stages;
        }
    }
    return 1;
}

int virtual_stages_of(const PublishedRun& run, const RunNames::Framework& framework, const std::string& letters,
                      int micro_batches, std::vector<std::string>& notes) {
    if (run.plan.virtual_stages > 0 || letters == "1f1b" || has(letters, "pipedream") || denies_interleaving(run)) {
        return std::max(1, run.plan.virtual_stages);
    }
    if (const int stated = stated_virtual_stages(run); stated > 0) {
        return stated;
    }
    const int least = is_interleaved(run, letters) ? 2 : 1, most = framework.most_virtual_stages;
    const int stages = most > 1 ? assumed_virtual_stages(run, most, micro_batches)
                       : equal_stages(run.model.layers, run.plan.pp * least).empty() ? 1
                                                                                     : least;
    notes.push_back(stages > 1 ? std::to_string(stages) + " virtual stages a rank are assumed"
                               : "1 virtual stage a rank is assumed");
    return stages;
}

/// Orders that Megatron-LM does not have: gradients of weights apart, or stages in a V.
RunSchedule named_order(const PublishedRun& run, ScheduleKind kind, int micro_batches) {
    RunSchedule schedule{models::to_string(kind), models::least_chunks(kind), "", {}};
    const models::PlanMisfit misfit = models::misfit_of(kind, {run.plan.pp, micro_batches, schedule.virtual_stages});
    if (!misfit.field.empty()) {
        refuse(run.id, "schedule " + json_quote(run.plan.schedule),
               "another, or numbers that it has an order for: " + misfit.field + ": " + misfit.why);
    }
    schedule.stages = deal_of(run, models::stages_of_model(kind, run.plan.pp, schedule.virtual_stages));
    schedule.notes.push_back("schedule " + json_quote(run.plan.schedule) + " is taken as " + schedule.word);
    return schedule;
}

}  // namespace

RunSchedule schedule_of(const PublishedRun& run, const RunNames::Framework& framework, int micro_batches) {
    if (run.plan.pp == 1) {
        RunSchedule schedule{"1f1b", 1, "", {}};
        if (run.plan.virtual_stages > 1) {
            schedule.notes.push_back("vpp " + std::to_string(run.plan.virtual_stages) +
                                     " is passed over: there is one stage");
        }
        return schedule;
    }
    const std::string letters = letters_of(run);
    const auto* const order = std::ranges::find_if(kOrders, [&](const auto& one) { return has(letters, one.first); });
    if (order != kOrders.end()) {
        return named_order(run, order->second, micro_batches);
    }
    RunSchedule schedule;
    schedule.virtual_stages = virtual_stages_of(run, framework, letters, micro_batches, schedule.notes);
    schedule.word = schedule.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
    schedule.stages = deal_of(run, run.plan.pp * schedule.virtual_stages);
    if (schedule.stages != "even") {
        schedule.notes.push_back("stages " + json_quote(schedule.stages) +
                                 " are assumed: " + std::to_string(run.model.layers) + " layers are no multiple of " +
                                 std::to_string(run.plan.pp * schedule.virtual_stages));
    }
    if (!is_unstated(run.plan.schedule) && !has(letters, "1f1b") && !is_interleaved(run, letters)) {
        schedule.notes.push_back("schedule " + json_quote(run.plan.schedule) + " is taken as " + schedule.word);
    }
    return schedule;
}

}  // namespace auspex::evaluate
