#pragma once
/// @file What would help a step: changes of one thing at a time, with the step that each makes.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/time.hpp"
#include "sim/predict/prediction.hpp"
#include "sim/search/advice/plan_changes.hpp"

namespace auspex::search {

/// A changed plan, played.
struct HelpfulPlan : PlanChange {
    Picoseconds step = 0;
    double bound_s = 0;  ///< it takes no less; 0: not known
    double step_time_s = 0, mfu = 0;
    double gain = 0;  ///< tokens per second over those of the plan as it is, less 1
    double memory_peak_bytes = 0;
    bool fits = false;
    [[nodiscard]] bool can_be_had() const { return fits && lacking.empty() && refused.empty(); }
};

/// A constant of machine or stack twice as good, or as good as its file may have it, and the step that it makes.
struct HelpfulConstant {
    Constant constant;  ///< with its value as it is
    double factor = 1;  ///< on the value
    double step_time_s = 0, mfu = 0, gain = 0;
};

struct Advice {
    /// Of each field the best change of each of these: it fits, and the stack and the filter have it; it fits; the two
    /// have it; neither. A worse kind is listed only where it gains more than the better ones. Of changes of results
    /// all that can be had. First those that can be had; within each, most gain first.
    std::vector<HelpfulPlan> plans;
    /// The best change that can be had and leaves results as they are, the best one on top of it, and so on, while each
    /// gains a hundredth and the step takes no more than 200,000 events: at most six. Steps, MFU and gains are of all
    /// so far.
    std::vector<HelpfulPlan> one_after_another;
    std::vector<HelpfulConstant> constants;  ///< most gain first
    std::vector<std::string> without_gain;   ///< fields of which no change is listed
    std::string not_tried;  ///< what of the schedules the number of micro-batches rules out; may be empty
    int tried = 0;          ///< changes of the plan
    double elapsed_s = 0;
};

/// Of a predicted step, by its folded lens; constants are those of the prediction's top_constants that the step leans
/// on most. Changes that gain less than a thousandth are left out; of a plan that does not fit those that make it fit
/// are not. Runs on all cores; the result does not depend on how many. Not for a machine of CPU cores.
[[nodiscard]] Advice advise(const models::Inputs& inputs, const predict::Prediction& prediction,
                            const PlanFilter& filter = {});

}  // namespace auspex::search
