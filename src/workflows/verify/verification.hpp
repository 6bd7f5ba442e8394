#pragma once
/// @file A verification from start to end: layouts against one rank, then kills and restarts.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/training/executor_report.hpp"
#include "workflows/verify/layouts.hpp"
#include "workflows/verify/request.hpp"

namespace auspex::workflows {

/// What somebody who looks on is told, as it comes; all are called.
struct VerifyWatch {
    std::function<void()> begins_layouts;  ///< before the first layout is compared, behind the run on one rank
    std::function<void(const report::LayoutCheck&)> layout;
    std::function<void(const std::string&)> left_out;  ///< the layout or model, and why
    std::function<void()> begins_recoveries;
    std::function<void(const report::RecoveryCheck&)> recovery;
    std::function<void(std::size_t done, std::size_t all)> progress;  ///< in checks
};

/// The layouts that the request asks for.
[[nodiscard]] std::vector<VerifyLayout> wanted_layouts(const VerifyRequest& request);

/// Throws InputError where the request's model and data do not fit, std::runtime_error where a run that nothing happens
/// to fails, Interrupted (launch/train/child_run.hpp).
[[nodiscard]] report::ExecutorReport verify(const VerifyRequest& request, const VerifyWatch& watch);

}  // namespace auspex::workflows
