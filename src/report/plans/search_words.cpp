/// @file Counts and bounds of a search.
#include "report/plans/search_words.hpp"

#include "base/number_text.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

std::string count(std::uint64_t number) { return thousands(static_cast<double>(number)); }

}  // namespace

std::string counts_clause(const search::SearchResult& result) {
    return count(result.pruned_bound) + " cannot be among the best by their bounds" +
           (result.filter.empty() ? "" : " or are refused by " + result.filter) + ", " + count(result.pruned_memory) +
           " looked at do not fit, " + count(result.evaluated) + " were simulated" +
           (result.checked > 0 ? ", " + count(result.checked) + " of them twice" : "") +
           (result.untried > 0 ? ", " + count(result.untried) + " were left untried" : "");
}

std::string cut_sentence(const search::SearchResult& result) {
    const double best_s = to_seconds(result.best.front().step);
    const std::string ended =
        "The search was ended early, with " + counted(static_cast<double>(result.untried), "plan") + " left untried";
    if (result.knows_fastest()) {
        return ended + ": none of them is faster than the fastest found, but some may be among the next.";
    }
    if (result.least_bound_left_s == 0) {
        return ended + ", before it knew what each plan takes at the least: there may be faster ones.";
    }
    return ended + ": there may be faster ones among them, but none that takes less than " +
           duration(result.least_bound_left_s) + ", " + percent(1 - result.least_bound_left_s / best_s) +
           " below the fastest found.";
}

std::string decided_words(const search::SearchResult& result) {
    if (!result.was_cut) {
        return "The search decides about plans up to its last ranked step";
    }
    return result.decided_below_s > 0
               ? "The search was ended early and has decided about plans up to " + duration(result.decided_below_s)
               : "The search was ended early, before it had decided about all plans up to any step";
}

}  // namespace auspex::report
