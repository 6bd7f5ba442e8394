/// @file The flags of `auspex calibrate`: their texts and their values.
#include "cli/flags/command_meanings.hpp"

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
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

bool is_calibrate_flag(Flag flag) { return flag >= Flag::kCalibrateOut && flag <= Flag::kFrom; }

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
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

std::vector<FlagMeaning> calibrate_meanings() {
    return {{Flag::kMaxRanks, "measure messages and sharing with up to N ranks, at least 2" +
                                  by_default(workflows::CalibrateRequest().max_ranks)},
            {Flag::kMachine, "with --from: the machine whose constants are replaced, or the name of its file"},
            {Flag::kHostfile, "hosts for mpirun: messages between them are measured too"}};
}

}  // namespace auspex::cli
