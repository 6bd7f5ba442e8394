#pragma once
/// @file What is asked of a fit of constants to training runs, what comes of it, and its errors.
#include <cstdint>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/json.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::workflows {

/// Cases that have no part in the fit and judge it.
enum class HoldBack : std::uint8_t {
    kNone,
    kHalf,     ///< every second case of each source
    kHalves,   ///< none; beside the fit to all cases one for each half, by which the other half is predicted
    kSources,  ///< the same, one without each source, by which that source is predicted
};

struct FitConstantsRequest {
    std::vector<std::string> cases;      ///< as ValidateRequest has them
    std::string machines, stacks;        ///< folders in place of machines/ and stacks/; may be empty
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, of machine or stack
    std::string machine, stack;          ///< one of them: the name of the file whose constants are fitted
    std::vector<std::string> constants;  ///< paths as predictions have them: "stack.kernels.gemm_efficiency"
    HoldBack hold_back = HoldBack::kHalf;
};

/// One that was fitted.
struct FittedConstant {
    Constant before;
    double value = 0;
    double uncertainty = 0;    ///< one standard deviation over the value
    bool is_at_limit = false;  ///< of what the file may say, or ten times what it says
    /// What the cases know of it: 1 - (uncertainty / that before)^2.
    [[nodiscard]] double told() const;
    /// By a twentieth: with less it stays as it is.
    [[nodiscard]] bool is_told() const;
    /// |ln(value / before)| over the uncertainty before. Beyond some, the file's uncertainty is too small, or the cases
    /// are off for a reason that is none of the constant's.
    [[nodiscard]] double moved() const;
};

/// A case, before and after.
struct CaseOfFit {
    evaluate::ValidatedRun run;  ///< as predicted before
    double predicted_s = 0;      ///< with the fitted constants
    bool is_held_back = false;
    double weight = 0;     ///< of a case that was fitted to, 0 to 1: near 0 it is too far from the others to have a say
    double in_turn_s = 0;  ///< predicted by the fit of FitInTurn that had no part of it; 0: there is none

    [[nodiscard]] double error() const { return predicted_s / run.measured.seconds - 1; }
    [[nodiscard]] double error_in_turn() const { return in_turn_s / run.measured.seconds - 1; }
};

/// One of several fits, each to all cases but some.
struct FitInTurn {
    std::string without;         ///< "the first half", "source Megatron-LM"
    std::vector<double> values;  ///< of the constants, in their order
};

/// The case's key of it; of one without a key what it says.
[[nodiscard]] std::string name_of_source(const evaluate::PublishedRun& run);

struct ConstantsFit {
    std::vector<FittedConstant> constants;
    std::vector<CaseOfFit> cases;    ///< by source and id
    std::vector<FitInTurn> in_turn;  ///< with HoldBack::kHalves and kSources
    int others = 0;                  ///< cases of other files, or whose predictions do not read the constants
    std::vector<evaluate::ValidatedRun> unmapped;  ///< cases of the file that cannot be predicted
    JsonDocument file;                             ///< the machine or stack with the constants
};

/// Errors of the cases that were fitted to, or of those held back.
struct PartOfFit {
    evaluate::RunSummary before, after;
};
[[nodiscard]] PartOfFit part_of_fit(const ConstantsFit& fit, bool is_held_back);
/// Errors of all cases and, where there are several, of each machine's: before, with constants fitted to all of them,
/// and as they are predicted in turn.
struct InTurnErrors {
    std::string machine;  ///< empty: of all
    evaluate::RunSummary before, fitted, in_turn;
};
[[nodiscard]] std::vector<InTurnErrors> errors_in_turn(const ConstantsFit& fit);

}  // namespace auspex::workflows
