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

namespace {

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

/// "stack.kernels.gemm_efficiency, stack.kernels.launch": of the file, as predictions read them.
std::string names_of_constants(const std::vector<ValidatedRun>& runs, const std::string& role) {
    std::set<std::string> names;
    for (const ValidatedRun& one : runs) {
        for (const Constant& constant : one.constants) {
            if (constant.path.starts_with(role + ".")) {
                names.insert(constant.path);
            }
        }
    }
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

/// As the first run that reads it has it. Throws InputError.
Constant constant_of(const std::vector<ValidatedRun>& runs, const std::string& role, const std::string& path) {
    const auto reads = [&path](const ValidatedRun& one) { return find_constant(one, path) != nullptr; };
    const auto reader = std::ranges::find_if(runs, reads);
    if (reader == runs.end()) {
        throw InputError("--fit", "found " + json_quote(path) +
                                      ", which no prediction of these cases reads; expected " + "some of " +
                                      names_of_constants(runs, role));
    }
    const Constant constant = *find_constant(*reader, path);
    if (constant.value <= 0) {
        throw InputError("--fit", "found " + path + ", which is " + json_number(constant.value) +
                                      "; expected a constant above 0: its logarithm is fitted");
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
        constexpr double kFurthest = 10, kLeastSigma = 0.005;
        std::vector<fit::PriorConstant> priors;
        for (const FittedConstant& one : fit_.constants) {
            const Constant& constant = one.before;
            priors.push_back({constant.value, std::max(kLeastSigma, constant.relative_uncertainty),
                              std::max(constant.low, constant.value / kFurthest),
                              std::min(constant.high, constant.value * kFurthest)});
        }
        std::set<std::string> sources;
        for (const CaseOfFit& one : fit_.cases) {
            if (!one.is_held_back) {
                sources.insert(one.run.run.source_key);
            }
        }
        const fit::PriorFit found = fit::fit_from_priors(
            priors, [this](std::span<const double> values) { return residuals(values); },
            static_cast<double>(sources.size()));
        std::vector<double> values;
        for (std::size_t k = 0; k < found.constants.size(); ++k) {
            fit_.constants[k].value = found.constants[k].value;
            fit_.constants[k].uncertainty = found.constants[k].sigma;
            values.push_back(found.constants[k].value);
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

/// "fitted with auspex calibrate to 3 cases of Megatron-LM (a, b, c)"
std::string source_of(const ConstantsFit& fit) {
    std::map<std::string, std::string> ids;
    int n = 0;
    for (const CaseOfFit& one : fit.cases) {
        if (!one.is_held_back) {
            std::string& list = ids[one.run.run.source_key];
            list += (list.empty() ? "" : ", ") + one.run.run.id;
            ++n;
        }
    }
    std::string text = "fitted by auspex calibrate to " + counted(n, "published run");
    for (const auto& [source, list] : ids) {
        text += (source == ids.begin()->first ? ": " : "; ") + source + " (" + list + ")";
    }
    return text;
}

void write_constants(ConstantsFit& fit) {
    const std::string source = source_of(fit);
    for (const FittedConstant& one : fit.constants) {
        const std::string path = one.before.path.substr(one.before.path.find('.') + 1);
        fit::replace_constant(fit.file, path, one.before.dimension, one.value, source, ConstantKind::kFitted,
                              one.uncertainty);
    }
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
    std::vector<PublishedRun> runs = cases_of_file(request, names, load_cases(request.cases, files), fit.others);
    predictor.check_files(runs);
    std::vector<ValidatedRun> all = predicted(predictor, std::move(runs));
    const auto mapped = std::ranges::stable_partition(all, &std::string::empty, &ValidatedRun::why_unmapped);
    std::ranges::move(mapped, std::back_inserter(fit.unmapped));
    all.erase(mapped.begin(), mapped.end());
    if (all.empty()) {
        const std::string why = fit.unmapped.empty() ? "" : "; " + fit.unmapped.front().why_unmapped;
        throw InputError("--cases", "found no case of " + role + " " + request.machine + request.stack +
                                        " that can be predicted; expected two at least" + why);
    }
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

}  // namespace auspex::workflows
