/// @file The flags of `auspex calibrate`: their texts and their values.
#include "cli/flags/command_meanings.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.hpp"
#include "cli/flags/flag_numbers.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/flag_values.hpp"
#include "workflows/calibrate/request.hpp"

namespace auspex::cli {
namespace {

double parse_budget(const std::string& text) {
    constexpr double kMin = 5, kMax = 86'400;
    return parse_number("budget-s", text, kMin, kMax, "seconds from 5 to 86400");
}

std::string parse_precision(const std::string& text) {
    if (text != "fp32" && text != "bf16" && text != "fp32,bf16" && text != "bf16,fp32") {
        throw InputError("--precision", "found \"" + text + "\"; expected fp32, bf16 or fp32,bf16");
    }
    return text;
}

/// "stack.kernels.launch,stack.kernels.issue", all of one role.
std::vector<std::string> parse_constants(const std::string& text) {
    std::vector<std::string> constants;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const bool is_path = word.starts_with("stack.") || word.starts_with("machine.");
        if (!is_path || word.find_first_of(" \t=") != std::string::npos || word.ends_with('.')) {
            throw InputError("--fit", "found \"" + word +
                                          "\"; expected paths of constants with commas between them, such as "
                                          "stack.kernels.gemm_efficiency or machine.tile.gemm_ceiling");
        }
        if (std::ranges::find(constants, word) != constants.end()) {
            throw InputError("--fit", "found \"" + word + "\" twice; expected each constant once");
        }
        constants.push_back(word);
    }
    return constants;
}

std::string parse_hold_back(const std::string& text) {
    static constexpr std::array<const char*, 4> kWords{"half", "halves", "sources", "none"};
    if (std::ranges::find(kWords, text) == kWords.end()) {
        throw InputError("--hold-back", "found \"" + text + "\"; expected half, halves, sources or none");
    }
    return text;
}

}  // namespace

FlagText calibrate_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kCalibrateOut: return {"out", "FILE.json", "machine file to write (default machines/local.json)"};
        case Flag::kMeasurements:
            return {"measurements", "FILE.csv",
                    "what is measured, row by row; rows that are there are not measured again (default: beside --out)"};
        case Flag::kFresh: return {"fresh", nullptr, "measure everything again"};
        case Flag::kPrecision: return {"precision", "WORD,WORD", "of kernels: fp32, bf16 (default both)"};
        case Flag::kBudget:
            return {"budget-s", "S", "seconds to spend on measuring, about" + by_default(workflows::kDefaultBudget_s)};
        case Flag::kReport: return {"report", "DIR", "write residuals and constants there: index.html"};
        case Flag::kFrom:
            return {"from", "FILE.csv",
                    "instead of measuring: rows of another machine, which replace constants of --machine; a file, or "
                    "the name of one in machines/measurements/",
                    "measurements"};
        case Flag::kFit:
            return {"fit", "ROLE.PATH,...",
                    "with --cases: constants to fit to training runs, such as stack.kernels.gemm_efficiency; from "
                    "their values, as far as their uncertainties allow"};
        case Flag::kHoldBack:
            return {"hold-back", "WORD",
                    "of --cases: half (default), every second case of each source, which then judge the fit; halves, "
                    "sources: each half, or source, in turn; none"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

bool is_calibrate_flag(Flag flag) { return flag >= Flag::kCalibrateOut && flag <= Flag::kHoldBack; }

void store_calibrate_flag(Options& options, Flag flag, const std::string& text) {
    CalibrateFlags& calibrate = options.calibrate;
    switch (flag) {
        case Flag::kCalibrateOut: options.out = text; return;
        case Flag::kMeasurements: calibrate.measurements = text; return;
        case Flag::kFresh: calibrate.fresh = true; return;
        case Flag::kPrecision: calibrate.precision = parse_precision(text); return;
        case Flag::kBudget: calibrate.budget_s = parse_budget(text); return;
        case Flag::kReport: calibrate.report = text; return;
        case Flag::kFrom: calibrate.from = text; return;
        case Flag::kFit: calibrate.fit = parse_constants(text); return;
        case Flag::kHoldBack: calibrate.hold_back = parse_hold_back(text); return;
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

std::vector<FlagMeaning> calibrate_meanings() {
    return {{Flag::kMaxRanks, "measure messages and sharing with up to N ranks, at least 2" +
                                  by_default(workflows::CalibrateRequest().max_ranks)},
            {Flag::kCalibrateOut,
             "machine file to write (default machines/local.json); with --cases the machine or stack (default none)"},
            {Flag::kCases,
             "instead of measuring: training runs, your own or published, files or folders, to which --fit is fitted"},
            {Flag::kMachine,
             "with --from: the machine whose constants are replaced, or the name of its file; with --cases: the name "
             "of the machine whose cases and constants are meant, or --stack"},
            {Flag::kSet, "with --cases: override a field of machines or stacks; may be repeated"},
            {Flag::kHostfile, "hosts for mpirun: messages between them are measured too"}};
}

}  // namespace auspex::cli
