/// @file Residuals of cases by constants, and the file with those that fit.
#include "workflows/validate/fit_constants.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
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

namespace auspex::workflows {

double FittedConstant::told() const {
    const double share = uncertainty / before.relative_uncertainty;
    return std::max(0.0, 1 - share * share);
}

double FittedConstant::moved() const { return std::abs(std::log(value / before.value)) / before.relative_uncertainty; }

std::string name_of_source(const evaluate::PublishedRun& run) {
    return run.source_key.empty() ? run.source : run.source_key;
}

namespace {

constexpr double kLeastTold = 0.05;           ///< of constants that are changed
constexpr double kDeviationOfSources = 0.05;  ///< what runs of one source are off together: predictions of published
                                              ///< runs are 5 to 6 % off in the mean

using evaluate::PublishedRun;
using evaluate::ValidatedRun;

/// Those of the file; the others are counted.
std::vector<PublishedRun> cases_of_file(const FitConstantsRequest& request, const evaluate::RunNames& names,
                                        std::vector<PublishedRun> runs, int& others) {
    const auto is_other = [&](const PublishedRun& run) {
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

/// Predicted cases by source and id, every second of a source held back.
std::vector<CaseOfFit> cases_of(std::vector<ValidatedRun> runs, bool holds_back) {
    std::ranges::sort(runs, {}, [](const ValidatedRun& one) { return std::pair(one.run.source_key, one.run.id); });
    std::map<std::string, int> of_source;
    std::vector<CaseOfFit> cases;
    for (ValidatedRun& one : runs) {
        const bool is_second = of_source[one.run.source_key]++ % 2 == 1;
        const double step = one.predicted_s;
        cases.push_back({std::move(one), step, holds_back && is_second});
    }
    return cases;
}

/// With fewer the fit is the case.
void require_cases(const std::vector<CaseOfFit>& cases) {
    const auto fitted = std::ranges::count(cases, false, &CaseOfFit::is_held_back);
    if (fitted < 2) {
        throw InputError("--cases", "found " + counted(static_cast<double>(fitted), "case") +
                                        " to fit constants to; expected two at least, beside those held back "
                                        "(--hold-back none: none are)");
    }
}

class CaseFit {
 public:
    CaseFit(const RunPredictor& predictor, ConstantsFit& fit) : predictor_(predictor), fit_(fit) {}

    void run() {
        constexpr double kFurthest = 10;
        std::vector<fit::PriorConstant> priors;
        for (const FittedConstant& one : fit_.constants) {
            const Constant& constant = one.before;
            priors.push_back({constant.value, constant.relative_uncertainty,
                              std::max(constant.low, constant.value / kFurthest),
                              std::min(constant.high, constant.value * kFurthest)});
        }
        std::set<std::string> sources;
        for (const CaseOfFit& one : fit_.cases) {
            if (!one.is_held_back) {
                sources.insert(one.run.run.source_key);
            }
        }
        const fit::PriorFit found =
            fit::fit_from_priors(priors, [this](std::span<const double> values) { return residuals(values); },
                                 {static_cast<double>(sources.size()), kDeviationOfSources});
        std::vector<double> values;
        for (std::size_t k = 0; k < found.constants.size(); ++k) {
            constexpr double kClose = 1e-6;
            const double value = found.constants[k].value;
            FittedConstant fitted{fit_.constants[k].before, value, found.constants[k].sigma};
            fitted.is_at_limit = value <= priors[k].low * (1 + kClose) || value >= priors[k].high * (1 - kClose);
            if (fitted.told() >= kLeastTold) {
                fit_.constants[k] = fitted;
            }
            values.push_back(fit_.constants[k].value);
        }
        auto weight = found.weights.begin();
        for (CaseOfFit& one : fit_.cases) {
            one.weight = one.is_held_back ? 0 : *weight++;
        }
        predict_with(values, true);
    }

 private:
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

    void predict_with(std::span<const double> values, bool also_held_back) {
        tbb::parallel_for(std::size_t{0}, fit_.cases.size(), [&](std::size_t i) {
            CaseOfFit& one = fit_.cases[i];
            if (!one.is_held_back || also_held_back) {
                one.predicted_s = predictor_.step_with(one.run, settings_of(one.run, values));
            }
        });
        ++evaluations_;
        progress_.show(evaluations_, std::max(evaluations_, kUsualEvaluations));
    }

    [[nodiscard]] std::vector<double> residuals(std::span<const double> values) {
        predict_with(values, false);
        std::vector<double> residuals;
        for (const CaseOfFit& one : fit_.cases) {
            if (!one.is_held_back) {
                residuals.push_back(std::log(one.predicted_s / one.run.measured.seconds));
            }
        }
        return residuals;
    }

    static constexpr std::size_t kUsualEvaluations = 40;
    const RunPredictor& predictor_;
    ConstantsFit& fit_;
    launch::ProgressLine progress_{"predictions of all cases"};
    std::size_t evaluations_ = 0;
};

/// "fitted by auspex calibrate to 3 training runs: Megatron-LM (a, b, c)"
std::string source_of(const ConstantsFit& fit) {
    std::map<std::string, std::string> ids;
    int n = 0;
    for (const CaseOfFit& one : fit.cases) {
        if (!one.is_held_back) {
            std::string& list = ids[name_of_source(one.run.run)];
            list += (list.empty() ? "" : ", ") + one.run.run.id;
            ++n;
        }
    }
    std::string text = "fitted by auspex calibrate to " + counted(n, "training run");
    for (const auto& [source, list] : ids) {
        text += (source == ids.begin()->first ? ": " : "; ") + source + " (" + list + ")";
    }
    return text;
}

void write_constants(ConstantsFit& fit) {
    const std::string source = source_of(fit);
    for (const FittedConstant& one : fit.constants) {
        if (one.told() < kLeastTold) {
            continue;
        }
        const std::string path = one.before.path.substr(one.before.path.find('.') + 1);
        fit::replace_constant(fit.file, path, one.before.dimension, one.value, source, ConstantKind::kFitted,
                              one.uncertainty);
    }
}

/// Those of the file that can be predicted; the others are in `fit`. Throws InputError where there is none.
std::vector<ValidatedRun> predicted_of_file(const FitConstantsRequest& request, const evaluate::RunNames& names,
                                            const RunPredictor& predictor, ConstantsFit& fit) {
    std::vector<report::InputFile> files;
    std::vector<PublishedRun> runs = cases_of_file(request, names, load_cases(request.cases, files), fit.others);
    predictor.check_files(runs);
    std::vector<ValidatedRun> all = predicted(predictor, std::move(runs));
    drop_own_constants(all, request.overrides);
    const auto unmapped = std::ranges::stable_partition(all, &std::string::empty, &ValidatedRun::why_unmapped);
    std::ranges::move(unmapped, std::back_inserter(fit.unmapped));
    all.erase(unmapped.begin(), unmapped.end());
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
    const std::string place =
        request.stack.empty() ? place_of(request.machine, request.machines) : place_of(request.stack, request.stacks);
    ConstantsFit fit{{}, {}, 0, {}, launch::load_document(role, place, request.overrides)};
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
    fit.cases = cases_of(std::move(all), request.holds_back);
    require_cases(fit.cases);
    CaseFit(predictor, fit).run();
    write_constants(fit);
    return fit;
}

PartOfFit part_of_fit(const ConstantsFit& fit, bool is_held_back) {
    std::vector<ValidatedRun> before, after;
    for (const CaseOfFit& one : fit.cases) {
        if (one.is_held_back == is_held_back) {
            before.push_back(one.run);
            after.push_back(one.run);
            after.back().predicted_s = one.predicted_s;
        }
    }
    const auto summary = [](const std::vector<ValidatedRun>& runs) {
        std::vector<const ValidatedRun*> all;
        std::ranges::transform(runs, std::back_inserter(all), [](const ValidatedRun& one) { return &one; });
        return evaluate::summary_of(all);
    };
    return {summary(before), summary(after)};
}

}  // namespace auspex::workflows
