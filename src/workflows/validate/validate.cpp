/// @file All cases predicted and judged, and what fitted constants are worth.
#include "workflows/validate/validate.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/runs/run_groups.hpp"
#include "compare/evaluate/runs/run_spread.hpp"
#include "launch/input_files.hpp"
#include "workflows/validate/case_files.hpp"
#include "workflows/validate/run_predictor.hpp"

namespace auspex::workflows {
namespace {

/// Errors of verified runs without the constant: with `without`, PATH=VALUE, in its place. `runs` have predictions.
evaluate::ConstantAblation ablation_of(const RunPredictor& predictor, const evaluate::RunNames::Fitted& fitted,
                                       const std::string& without, const std::vector<evaluate::ValidatedRun>& runs) {
    const std::string path = without.substr(0, without.find('='));
    evaluate::ConstantAblation ablation{fitted.stack, fitted.machine, path, without, {}, {}, 0, 0};
    const auto has_it = [&](const evaluate::ValidatedRun& one) {
        const bool is_of_file = fitted.stack.empty() ? one.machine == fitted.machine : one.stack == fitted.stack;
        return is_of_file && std::ranges::find(one.constants, path, &Constant::path) != one.constants.end();
    };
    std::vector<evaluate::ValidatedRun> changed = runs;
    tbb::parallel_for(std::size_t{0}, changed.size(), [&](std::size_t i) {
        evaluate::ValidatedRun& one = changed[i];
        if (one.why_unmapped.empty() && one.is_verified() && has_it(one)) {
            one.predicted_s = predictor.step_with(runs[i], {without});
        }
    });
    const auto some = [&](const std::vector<evaluate::ValidatedRun>& from) {
        std::vector<const evaluate::ValidatedRun*> found = evaluate::verified(from);
        std::erase_if(found, [&](const evaluate::ValidatedRun* one) { return !has_it(*one); });
        return evaluate::summary_of(found);
    };
    ablation.with_it = some(runs), ablation.without_it = some(changed);
    ablation.all_mape = evaluate::summary_of(evaluate::verified(runs)).mape;
    ablation.all_mape_without = evaluate::summary_of(evaluate::verified(changed)).mape;
    return ablation;
}

/// Of each constant once, whatever the number of entries that have it.
void add_ablations(const RunPredictor& predictor, ValidatedRuns& all) {
    std::set<std::string> done;
    for (const evaluate::RunNames::Fitted& fitted : all.names.fitted) {
        for (const std::string& without : fitted.without) {
            if (!done.insert(fitted.stack + "\n" + fitted.machine + "\n" + without).second) {
                continue;
            }
            evaluate::ConstantAblation ablation = ablation_of(predictor, fitted, without, all.runs);
            if (ablation.with_it.errors.n > 0) {
                all.ablations.push_back(std::move(ablation));
            }
        }
    }
}

/// A report or spreads without one prediction are none. Throws InputError with the reasons of the first cases.
void require_a_prediction(const std::vector<evaluate::ValidatedRun>& runs) {
    constexpr std::size_t kSaid = 3;
    std::string reasons;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].why_unmapped.empty()) {
            return;
        }
        reasons += i < kSaid ? (i > 0 ? "; " : "") + runs[i].why_unmapped : "";
    }
    const std::string more = runs.size() > kSaid ? "; and " + std::to_string(runs.size() - kSaid) + " more" : "";
    throw InputError("--cases", "found " + std::to_string(runs.size()) +
                                    (runs.size() == 1 ? " case that cannot be predicted"
                                                      : " cases, none of which can be predicted") +
                                    "; expected one at least that can be; " + reasons + more);
}

/// Of machines and stacks that cases have, and of libraries that their settings name.
void add_files(const ValidateRequest& request, ValidatedRuns& all) {
    const auto before = static_cast<std::ptrdiff_t>(all.files.size());
    for (const evaluate::ValidatedRun& one : all.runs) {
        if (one.why_unmapped.empty()) {
            const JsonDocument machine = launch::load_document("machine", place_of(one.machine, request.machines), {});
            report::add_sources(all.files, "machine", machine);
            report::add_sources(all.files, "stack",
                                launch::load_stack_document(place_of(one.stack, request.stacks), one.settings,
                                                            models::load_machine(machine)));
        }
    }
    std::ranges::stable_sort(all.files.begin() + before, all.files.end(), {},
                             [](const report::InputFile& one) { return std::pair(one.role, one.file); });
}

}  // namespace

ValidatedRuns validate(const ValidateRequest& request) {
    ValidatedRuns all;
    all.names = load_names(all.files);
    const RunPredictor predictor(all.names, request.machines, request.stacks, request.overrides);
    std::vector<evaluate::PublishedRun> runs = load_cases(request.cases, all.files);
    predictor.check_files(runs);
    all.runs = predicted(predictor, std::move(runs));
    if (request.for_files) {
        require_a_prediction(all.runs);
    }
    evaluate::judge_intervals(all.runs, launch::published_spreads());
    if (request.ablate) {
        add_ablations(predictor, all);
    }
    add_files(request, all);
    return all;
}

}  // namespace auspex::workflows
