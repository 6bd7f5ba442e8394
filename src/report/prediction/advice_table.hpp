#pragma once
/// @file What would help a step, as tables.
#include <string>
#include <vector>

namespace auspex::report {

/// A change of one thing, in words.
struct AdviceRow {
    std::string change;  ///< "plan.recompute=[]", what --set takes; a constant with its values
    double step_time_s = 0, mfu = 0, gain = 0;
    double memory_bytes = 0;  ///< of changes of the plan
    std::string remark = {};  ///< what is in the way, or to know; may be empty
};

struct AdviceRows {
    std::vector<AdviceRow> plans;  ///< those that can be had, most gain first
    std::vector<AdviceRow> not_to_be_had;
    std::vector<AdviceRow> one_after_another;  ///< each on top of those before
    std::vector<AdviceRow> constants;          ///< most gain first
    std::vector<std::string> without_gain;     ///< fields of the plan
    std::string not_tried = {};                ///< and why; may be empty
    int tried = 0;
    bool fits = true;  ///< the plan as it is
};

/// "12.3 %", with its sign; a shorter step is a gain.
[[nodiscard]] std::string gain_text(double gain);

/// Three tables at most, and what gains nothing; "" where there is nothing at all.
[[nodiscard]] std::string advice_section(const AdviceRows& advice);

}  // namespace auspex::report
