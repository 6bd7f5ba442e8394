/// @file Refusals, and orders of ranks.
#include "interop/settings_writer.hpp"

#include <algorithm>
#include <vector>

namespace auspex::interop {
namespace {

using models::Axis;

int ranks_of(const models::Plan& plan, Axis axis) {
    switch (axis) {
        case Axis::kDp: return plan.dp;
        case Axis::kPp: return plan.pp;
        case Axis::kEp: return plan.ep;
        case Axis::kTp: break;
    }
    return std::max(plan.tp, plan.etp);
}

}  // namespace

void SettingsWriter::refuse(const char* field, const std::string& found, const std::string& expected) {
    faults_.emplace_back(plan_.file + ": $." + field,
                         "found " + found + "; expected " + expected + " with " + framework_);
}

Settings SettingsWriter::take() {
    if (!faults_.empty()) {
        throw PlanRefusal(std::move(faults_));
    }
    return std::move(settings_);
}

void SettingsWriter::require_no_overlap(const std::string& why, bool may_dp) {
    for (const auto& [is_asked, word] : {std::pair(plan_.overlap_dp && !may_dp, "\"dp\""),
                                         {plan_.overlap_tp, "\"tp\""},
                                         {plan_.overlap_ep, "\"ep\""},
                                         {plan_.overlap_pp, "\"pp\""}}) {
        require(!is_asked, "overlap", word, "no such word (--set 'plan.overlap=[]'): " + why + ",");
    }
}

void SettingsWriter::require_order(const std::array<Axis, 4>& slowest_first) {
    const std::string wanted = order_text(slowest_first);
    require(is_order(plan_, slowest_first), "rank_order", order_text(plan_.rank_order),
            wanted + " (--set 'plan.rank_order=" + wanted + "')");
}

bool is_order(const models::Plan& plan, const std::array<Axis, 4>& slowest_first) {
    std::vector<Axis> own, other;
    const auto has_ranks = [&plan](Axis axis) { return ranks_of(plan, axis) > 1; };
    std::ranges::copy_if(plan.rank_order, std::back_inserter(own), has_ranks);
    std::ranges::copy_if(slowest_first, std::back_inserter(other), has_ranks);
    return own == other;
}

std::string order_text(const std::array<Axis, 4>& slowest_first) {
    constexpr std::array kNames{"dp", "pp", "ep", "tp"};
    std::string text;
    for (const Axis axis : slowest_first) {
        text += (text.empty() ? "[\"" : ", \"") + std::string(kNames.at(static_cast<std::size_t>(axis))) + "\"";
    }
    return text + "]";
}

int data_parallel_of(const models::Plan& plan) { return plan.dp * plan.ep * plan.etp / (plan.tp * plan.cp); }

}  // namespace auspex::interop
