/// @file Residuals of cases by constants, and the file with those that fit.
#include "workflows/validate/fit_constants.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/text/closest_word.hpp"
#include "base/text/text_list.hpp"
#include "compare/fit/machine_edit.hpp"
#include "compare/fit/prior_fit.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"
#include "workflows/validate/case_files.hpp"
#include "workflows/validate/fitted_file.hpp"

namespace auspex::workflows {

namespace {

constexpr double kDeviationOfSources = 0.05;  ///< what runs of one source are off together: predictions of published
                                              ///< runs are 5 to 6 % off in the mean

using evaluate::PublishedRun;
using evaluate::ValidatedRun;

/// Those of the file; the others are counted.
std::vector<PublishedRun> cases_of_file(const FitConstantsRequest& request, const evaluate::RunNames& names,
                                        std::vector<PublishedRun> runs, int& others) {
    const auto is_other = [&](const PublishedRun& run) {
        if (!run.unreadable.empty()) {
            return false;
        }
        if (request.stack.empty()) {
            const auto hardware = hardware_of(names, run);
            return !hardware || hardware->machine != request.machine;
        }
        const auto framework = framework_of(names, run);
        return !framework || framework->stack != request.stack;
    };
    others += static_cast<int>(std::erase_if(runs, is_other));
    return runs;
}

const Constant* find_constant(const ValidatedRun& one, const std::string& path) {
    const auto found = std::ranges::find(one.constants, path, &Constant::path);
    return found == one.constants.end() ? nullptr : &*found;
}

/// Of the file, as predictions read them.
std::vector<std::string> names_of_constants(const std::vector<ValidatedRun>& runs, const std::string& role) {
    std::set<std::string> names;
    for (const ValidatedRun& one : runs) {
        for (const Constant& constant : one.constants) {
            if (constant.path.starts_with(role + ".")) {
                names.insert(constant.path);
            }
        }
    }
    return {names.begin(), names.end()};
}

/// Constants that settings of a case itself give, such as those of its GPU, are not the file's.
void drop_own_constants(std::vector<ValidatedRun>& runs, const std::vector<std::string>& overrides) {
    for (ValidatedRun& one : runs) {
        std::erase_if(one.constants, [&](const Constant& constant) {
            const auto sets = [&](const std::string& text) { return text.starts_with(constant.path + "="); };
            return std::ranges::count_if(one.settings, sets) > std::ranges::count_if(overrides, sets);
        });
    }
}

/// As the runs that read it have it. Throws InputError.
Constant constant_of(const std::vector<ValidatedRun>& runs, const std::string& role, const std::string& path) {
    const auto reads = [&path](const ValidatedRun& one) { return find_constant(one, path) != nullptr; };
    const auto reader = std::ranges::find_if(runs, reads);
    if (reader == runs.end()) {
        const std::vector<std::string> known = names_of_constants(runs, role);
        throw InputError("--fit", "found " + json_quote(path) +
                                      ", which no prediction of these cases reads; expected "
                                      "some of " +
                                      joined(known, ", ") + did_you_mean(path, known));
    }
    const Constant constant = *find_constant(*reader, path);
    if (constant.value <= 0) {
        throw InputError("--fit", "found " + path + ", which is " + json_number(constant.value) +
                                      "; expected a constant above 0, of which the logarithm is fitted: --set " + path +
                                      "=VALUE gives it one to start from");
    }
    if (constant.relative_uncertainty <= 0) {
        throw InputError("--fit", "found " + path + ", whose uncertainty is 0; expected one that is not known exactly");
    }
    return constant;
}

/// Predicted cases by source and id, and the part of each: halves alternate within a source.
struct DealtCases {
    std::vector<CaseOfFit> cases;
    std::vector<int> parts;          ///< of each case
    std::vector<std::string> names;  ///< of parts
};

DealtCases deal(std::vector<ValidatedRun> runs, HoldBack hold_back) {
    std::ranges::sort(runs, {}, [](const ValidatedRun& one) { return std::pair(one.run.source_key, one.run.id); });
    std::map<std::string, int> of_source;
    DealtCases dealt;
    if (hold_back != HoldBack::kSources) {
        dealt.names = {"the first half", "the second half"};
    }
    for (ValidatedRun& one : runs) {
        const int before = of_source[one.run.source_key]++;
        if (hold_back == HoldBack::kSources && before == 0) {
            dealt.names.push_back("source " + name_of_source(one.run));
        }
        dealt.parts.push_back(hold_back == HoldBack::kSources ? static_cast<int>(dealt.names.size()) - 1 : before % 2);
        const double step = one.predicted_s;
        dealt.cases.push_back({std::move(one), step, hold_back == HoldBack::kHalf && dealt.parts.back() == 1});
    }
    return dealt;
}

/// With fewer the fit is the case.
void require_cases(std::ptrdiff_t fitted, const std::string& without) {
    if (fitted < 2) {
        throw InputError("--cases", "found " + counted(static_cast<double>(fitted), "case") + " to fit constants to" +
                                        without +
                                        "; expected two at least, beside those held back (--hold-back "
                                        "none: none are)");
    }
}

class CaseFit {
 public:
    CaseFit(const RunPredictor& predictor, ConstantsFit& fit) : predictor_(predictor), fit_(fit) {
        constexpr double kFurthest = 10;
        for (const FittedConstant& one : fit_.constants) {
            const Constant& constant = one.before;
            priors_.push_back({constant.value, constant.relative_uncertainty,
                               std::max(constant.low, constant.value / kFurthest),
                               std::min(constant.high, constant.value * kFurthest)});
        }
    }

    /// To all that are not held back.
    void run() {
        std::vector<std::size_t> fitted, all;
        for (std::size_t i = 0; i < fit_.cases.size(); ++i) {
            all.push_back(i);
            if (!fit_.cases[i].is_held_back) {
                fitted.push_back(i);
            }
        }
        require_cases(std::ssize(fitted), "");
        Found found = fit_to(fitted);
        fit_.constants = std::move(found.constants);
        for (std::size_t n = 0; n < fitted.size(); ++n) {
            fit_.cases[fitted[n]].weight = found.weights[n];
        }
        const std::vector<double> steps = steps_with(values_of(fit_.constants), all);
        for (const std::size_t i : all) {
            fit_.cases[i].predicted_s = steps[i];
        }
    }

    /// To all but each part, which it then predicts.
    void run_in_turn(const DealtCases& dealt) {
        for (std::size_t part = 0; part < dealt.names.size(); ++part) {
            std::vector<std::size_t> inside, outside;
            for (std::size_t i = 0; i < dealt.parts.size(); ++i) {
                (dealt.parts[i] == static_cast<int>(part) ? inside : outside).push_back(i);
            }
            require_cases(std::ssize(outside), " without " + dealt.names[part]);
            const std::vector<double> values = values_of(fit_to(outside).constants);
            const std::vector<double> steps = steps_with(values, inside);
            for (std::size_t n = 0; n < inside.size(); ++n) {
                fit_.cases[inside[n]].in_turn_s = steps[n];
            }
            fit_.in_turn.push_back({dealt.names[part], values});
        }
    }

 private:
    struct Found {
        std::vector<FittedConstant> constants;
        std::vector<double> weights;  ///< of the cases
    };

    [[nodiscard]] static std::vector<double> values_of(const std::vector<FittedConstant>& constants) {
        std::vector<double> values;
        std::ranges::transform(constants, std::back_inserter(values), &FittedConstant::value);
        return values;
    }

    Found fit_to(const std::vector<std::size_t>& members) {
        std::set<std::string> sources;
        for (const std::size_t i : members) {
            sources.insert(fit_.cases[i].run.run.source_key);
        }
        const auto residuals = [&](std::span<const double> values) {
            std::vector<double> steps = steps_with(values, members);
            for (std::size_t n = 0; n < members.size(); ++n) {
                steps[n] = std::log(steps[n] / fit_.cases[members[n]].run.measured.seconds);
            }
            return steps;
        };
        const fit::PriorFit found =
            fit::fit_from_priors(priors_, residuals, {static_cast<double>(sources.size()), kDeviationOfSources});
        Found taken{{}, found.weights};
        for (std::size_t k = 0; k < found.constants.size(); ++k) {
            constexpr double kClose = 1e-6;
            const Constant& before = fit_.constants[k].before;
            const double value = found.constants[k].value;
            FittedConstant fitted{before, value, found.constants[k].sigma};
            fitted.is_at_limit = value <= priors_[k].low * (1 + kClose) || value >= priors_[k].high * (1 - kClose);
            taken.constants.push_back(
                fitted.is_told() ? fitted : FittedConstant{before, before.value, before.relative_uncertainty});
        }
        return taken;
    }

    /// Of the constants that the case's prediction reads: its file may not have the others.
    [[nodiscard]] std::vector<std::string> settings_of(const ValidatedRun& one, std::span<const double> values) const {
        std::vector<std::string> settings;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Constant& constant = fit_.constants[k].before;
            if (find_constant(one, constant.path) != nullptr) {
                settings.push_back(constant.path + "=" + fit::quantity_json(values[k], constant.dimension));
            }
        }
        return settings;
    }

    /// Of the cases, in their order.
    [[nodiscard]] std::vector<double> steps_with(std::span<const double> values,
                                                 const std::vector<std::size_t>& members) {
        std::vector<double> steps(members.size());
        tbb::parallel_for(std::size_t{0}, members.size(), [&](std::size_t n) {
            const ValidatedRun& run = fit_.cases[members[n]].run;
            steps[n] = predictor_.step_with(run, settings_of(run, values));
        });
        ++evaluations_;
        progress_.show(evaluations_, std::max(evaluations_, kUsualEvaluations));
        return steps;
    }

    static constexpr std::size_t kUsualEvaluations = 40;
    const RunPredictor& predictor_;
    ConstantsFit& fit_;
    std::vector<fit::PriorConstant> priors_;
    launch::ProgressLine progress_{"predictions of all cases"};
    std::size_t evaluations_ = 0;
};

/// Those of the file that can be predicted; the others are in `fit`. Throws InputError where there is none.
std::vector<ValidatedRun> predicted_of_file(const FitConstantsRequest& request, const evaluate::RunNames& names,
                                            const RunPredictor& predictor, ConstantsFit& fit) {
    std::vector<report::InputFile> files;
    std::vector<PublishedRun> runs = cases_of_file(request, names, load_cases(request.cases, files), fit.others);
    predictor.check_files(runs);
    std::vector<ValidatedRun> all = predicted(predictor, std::move(runs));
    drop_own_constants(all, request.overrides);
    const auto unmapped =
        std::stable_partition(all.begin(), all.end(), [](const ValidatedRun& one) { return one.why_unmapped.empty(); });
    std::move(unmapped, all.end(), std::back_inserter(fit.unmapped));
    all.erase(unmapped, all.end());
    if (all.empty()) {
        const std::string of = request.stack.empty() ? "machine " + request.machine : "stack " + request.stack;
        const std::string why = fit.unmapped.empty() ? "" : "; " + fit.unmapped.front().why_unmapped;
        throw InputError("--cases", "found no case of " + of + " that can be predicted; expected two at least" + why);
    }
    return all;
}

}  // namespace

ConstantsFit fit_constants(const FitConstantsRequest& request) {
    const std::string role = request.stack.empty() ? "machine" : "stack";
    ConstantsFit fit{{}, {}, {}, 0, {}, JsonDocument::parse("{}", "no file yet")};
    std::vector<report::InputFile> files;
    const evaluate::RunNames names = load_names(files);
    const RunPredictor predictor(names, request.machines, request.stacks, request.overrides);
    std::vector<ValidatedRun> all = predicted_of_file(request, names, predictor, fit);
    for (const std::string& path : request.constants) {
        const Constant constant = constant_of(all, role, path);
        fit.constants.push_back({constant, constant.value, constant.relative_uncertainty});
    }
    const auto reads_none = [&](const ValidatedRun& one) {
        return std::ranges::none_of(request.constants,
                                    [&](const std::string& path) { return find_constant(one, path) != nullptr; });
    };
    fit.others += static_cast<int>(std::erase_if(all, reads_none));
    fit.file = file_to_fit(request, all);
    DealtCases dealt = deal(std::move(all), request.hold_back);
    fit.cases = std::move(dealt.cases);
    CaseFit case_fit(predictor, fit);
    case_fit.run();
    if (request.hold_back == HoldBack::kHalves || request.hold_back == HoldBack::kSources) {
        case_fit.run_in_turn(dealt);
    }
    write_constants(fit);
    return fit;
}

}  // namespace auspex::workflows
