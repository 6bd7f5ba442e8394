#pragma once
/// @file A measured step beside the prediction of its plan: plain data for cli and report.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "compare/kineto/account/step_account.hpp"
#include "schedule/timeline.hpp"

namespace auspex::kineto {

/// Name of a measured span that is no operation of the plan.
inline constexpr const char* kUnmatchedSpan = "unmatched";

/// One rank of the trace.
struct RankRow {
    int rank = 0, stage = 0;
    std::string file;
    std::int64_t step_number = -1;
    double measured_s = 0, predicted_s = 0;
    double kernel_s = 0;   ///< of all kernels and collectives in the step, summed
    double matched_s = 0;  ///< of those that match an operation
    [[nodiscard]] double coverage() const { return kernel_s > 0 ? matched_s / kernel_s : 0; }
};

/// Seconds by Spent, the mean over ranks.
using SpentSeconds = std::array<double, kSpentCount>;

/// An operation name, the mean over ranks. Kernel times: launches and waiting for the host are not in them.
struct OperationRow {
    std::string name;
    Spent spent = Spent::kUseful;
    bool communicates = false;
    double expected = 0, matched = 0;        ///< operations a step, and those with a kernel
    double kernels = 0, launches = 0;        ///< measured; of the stack file, of those that are matched
    double measured_s = 0, predicted_s = 0;  ///< of those that are matched
    double all_predicted_s = 0;              ///< of all
};

/// Kernels of one name that match no operation, the mean over ranks.
struct UnmatchedKernel {
    std::string name;  ///< as the trace has it
    std::string op;    ///< host operation that launched it; empty: not told
    std::string work;  ///< what it was taken for
    double count = 0, seconds = 0;
};

/// A constant, and the value with which its operations would take as long as they were measured to.
struct ExplainingConstant {
    std::string path;  ///< "stack.kernels.gemm_efficiency"
    Dimension dimension = Dimension::kNone;
    std::string operations;                  ///< "products", "all_gather of ep"
    double value = 0, explaining = 0;        ///< of the file; that would explain
    double count = 0;                        ///< operations behind it
    double spread = 0;                       ///< of measured over predicted, about their middle: relative, robust
    double measured_s = 0, predicted_s = 0;  ///< of these operations in a step, the mean over ranks
    std::optional<double> step_alone_s;      ///< predicted step with this constant changed, and nothing else
    std::string note;                        ///< why another constant than usual, and the like
};

struct RunDiff {
    std::string source;  ///< the trace's file or folder
    std::string device;  ///< as the trace names it
    int tiles = 0;
    std::vector<RankRow> ranks;
    double measured_s = 0, predicted_s = 0;  ///< of a step, the mean over ranks
    SpentSeconds measured{}, predicted{};
    std::vector<OperationRow> operations;       ///< most measured time first
    std::vector<UnmatchedKernel> kernels;       ///< most time first
    std::vector<ExplainingConstant> constants;  ///< most explained time first
    std::optional<double> explained_s;          ///< predicted step with all of them changed
    schedule::Timeline measured_timeline, predicted_timeline;
    std::vector<std::string> notes;
};

}  // namespace auspex::kineto
