/// @file What a search says of the plans that it decided, and of those that it left.
#include "report/plans/search_words.hpp"

#include <gtest/gtest.h>

namespace auspex::report {
namespace {

/// 10,000 plans, the best of them takes 2 s.
search::SearchResult counts(std::uint64_t untried, double least_bound_left_s) {
    search::SearchResult result;
    result.space = 10'000, result.pruned_memory = 900, result.evaluated = 100, result.untried = untried;
    result.pruned_bound = result.space - result.pruned_memory - result.evaluated - untried;
    result.best = {{.candidate = {}, .step = to_picoseconds(2)}};
    result.was_cut = untried > 0;
    result.checked = result.was_cut ? 0 : 50;
    result.least_bound_left_s = least_bound_left_s;
    return result;
}

TEST(SearchWords, name_each_plan_once_and_what_was_left_untried_as_such) {
    EXPECT_EQ(counts_clause(counts(0, 0)),
              "9,000 cannot be among the best by their bounds, 900 looked at do not fit, 100 were simulated, 50 of "
              "them twice");
    EXPECT_EQ(counts_clause(counts(8'000, 1)),
              "1,000 cannot be among the best by their bounds, 900 looked at do not fit, 100 were simulated, 8,000 "
              "were left untried");
    search::SearchResult filtered = counts(0, 0);
    filtered.filter = "--format optimus";
    EXPECT_EQ(counts_clause(filtered).find("9,000 cannot be among the best by their bounds or are refused by --format "
                                           "optimus, 900 "),
              0U);
}

// 1 - 1.9 / 2 = 5 %.
TEST(SearchWords, say_of_a_search_that_was_cut_how_much_faster_a_plan_may_be) {
    EXPECT_EQ(cut_sentence(counts(8'000, 1.9)),
              "The search was ended early, with 8,000 plans left untried: there may be faster ones among them, but "
              "none that takes less than 1.90 s, 5.0 % below the fastest found.");
    EXPECT_EQ(cut_sentence(counts(8'000, 2)),
              "The search was ended early, with 8,000 plans left untried: none of them is faster than the fastest "
              "found, but some may be among the next.");
    EXPECT_EQ(cut_sentence(counts(8'000, 0)),
              "The search was ended early, with 8,000 plans left untried, before it knew what each plan takes at the "
              "least: there may be faster ones.");
}

TEST(SearchWords, say_up_to_which_step_plans_are_decided) {
    EXPECT_EQ(decided_words(counts(0, 0)), "The search decides about plans up to its last ranked step");
    search::SearchResult cut = counts(8'000, 1.9);
    cut.decided_below_s = 1.9;
    EXPECT_EQ(decided_words(cut), "The search was ended early and has decided about plans up to 1.90 s");
    cut.decided_below_s = 0;
    EXPECT_EQ(decided_words(cut), "The search was ended early, before it had decided about all plans up to any step");
}

}  // namespace
}  // namespace auspex::report
