/// @file Live bytes pass by pass: against the peaks, and against what recomputation takes away.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Courses {
    Case c;
    models::Layout layout;
    Program program;
    models::Machine aurora = machine();
    explicit Courses(Case the_case)
        : c(std::move(the_case)),
          layout(layout_of(c.plan)),
          program(build_program(c.workload, c.plan, c.stack, layout)) {}
    [[nodiscard]] StageCourse of(int stage) const {
        return stage_course(c.workload, c.plan, c.stack, aurora, layout, program, stage, {});
    }
    [[nodiscard]] StageMemory memory_of(int stage) const {
        return stage_memory(c.workload, c.plan, c.stack, aurora, layout, program, stage, {});
    }
};

double sum_of(const std::vector<double>& bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }

double of(const std::vector<std::pair<std::string, double>>& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
    return found->second;
}

TEST(StageCourse, most_of_all_passes_is_the_peak_and_kinds_of_activations_sum_to_their_label) {
    for (std::uint64_t seed = 4'100; seed < 4'160; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Courses courses(random_case(seed));
        for (int stage = 0; stage < courses.c.plan.pp; ++stage) {
            const StageCourse course = courses.of(stage);
            const StageMemory memory = courses.memory_of(stage);
            EXPECT_EQ(course.memory.peak_bytes, memory.peak_bytes);
            EXPECT_EQ(course.memory.by_label, memory.by_label);
            ASSERT_EQ(course.passes.size(), courses.program.roles[static_cast<std::size_t>(stage)].order.size());
            double most = 0;
            for (const PassBytes& pass : course.passes) {
                most = std::max(most, sum_of(pass.at_peak));
                EXPECT_LE(sum_of(pass.behind), sum_of(pass.at_peak));
            }
            EXPECT_EQ(most, memory.peak_bytes);
            // A step leaves what it found: weights, gradients, states, reserve.
            EXPECT_EQ(of(memory.by_label, "weights"), course.passes.back().behind.front());
            double kept = 0;
            for (const auto& [kind, bytes] : course.kept) {
                EXPECT_GE(bytes, 0) << kind;
                kept += bytes;
            }
            EXPECT_EQ(kept, of(memory.by_label, "activations"));
        }
    }
}

TEST(StageCourse, kinds_of_activations_are_what_recomputation_takes_away) {
    const models::Workload model = workload("mula-7b-a1b");
    models::Plan p = plan("mula-7b-a1b");
    p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
    const StageCourse nothing = Courses({model, resolve_plan(p, model, 0), stack("optimus")}).of(0);
    for (const char* kind : {"inputs", "norm", "attention", "expert"}) {
        EXPECT_GT(of(nothing.kept, kind), 0) << kind;
    }
    p.recompute.attention = true;
    const StageCourse attention = Courses({model, resolve_plan(p, model, 0), stack("optimus")}).of(0);
    EXPECT_EQ(of(attention.kept, "attention"), 0);
    p.recompute.norm = p.recompute.expert = true;
    const StageCourse all = Courses({model, resolve_plan(p, model, 0), stack("optimus")}).of(0);
    EXPECT_EQ(of(all.kept, "norm"), 0);
    EXPECT_EQ(of(all.kept, "expert"), 0);
    EXPECT_GT(of(all.kept, "inputs"), 0);
}

}  // namespace
}  // namespace auspex::schedule
