/// @file The text of programs: equal for equal programs, different for different ones, and as recorded for one toy
/// plan.
#include <gtest/gtest.h>

#include <set>

#include "../plan_fixture.hpp"
#include "base/input_text.hpp"
#include "schedule/inspection/text.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

std::string text_of(const Case& c) {
    return program_text(build_program(c.workload, c.plan, c.stack, layout_of(c.plan)));
}

TEST(ProgramText, is_equal_for_equal_inputs_and_differs_between_different_ones) {
    std::set<std::string> texts;
    for (std::uint64_t seed = 3'000; seed < 3'050; ++seed) {
        const std::string text = text_of(random_case(seed));
        EXPECT_EQ(text, text_of(random_case(seed)));
        texts.insert(text);
    }
    EXPECT_GE(texts.size(), 48U);
}

TEST(ProgramText, of_the_toy_plan_with_two_stages_and_two_expert_ranks_is_as_recorded) {
    // Recorded with: auspex program, on the same four inputs. A change here is a change of what every rank does.
    const models::Workload model = workload("toy-moe");
    const std::string text = text_of({model, resolve_plan(plan("toy-pp2-ep2"), model, 0), stack("optimus")});
    const std::string golden = read_input_file(kRoot + "/tests/golden/toy-pp2-ep2.txt");
    EXPECT_EQ(text, golden);
}

}  // namespace
}  // namespace auspex::schedule
