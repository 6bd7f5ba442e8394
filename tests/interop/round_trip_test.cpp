/// @file For every framework: what is written of a random plan is read back as the same plan, or it is not written, and
/// the field that stands against it is named.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "../schedule/plan_fixture.hpp"
#include "base/rng.hpp"
#include "interop_fixture.hpp"

namespace auspex::interop {
namespace {

using models::Axis;
using testing_interop::Case;
using testing_interop::difference;

struct Bounds {
    const char* format;
    int least;  ///< accepted of the draws: a test of refusals alone would test nothing
};

/// A seeded plan, most of whose fields are as the framework wants them, so that the others are tried, too.
models::Plan steered(models::Plan plan, const std::string& format, Rng& rng) {
    const auto mostly = [&rng] { return rng.below(8) > 0; };
    const auto half = [&rng] { return rng.below(2) == 0; };
    plan.gradient_bytes = half() ? 2 : 4;
    plan.routing.kind = half() ? models::RoutingDistribution::kUniform : models::RoutingDistribution::kLearned;
    if (mostly()) {
        plan.recompute.norm = plan.recompute.attention = plan.recompute.expert;
    }
    if (format != "megatron-lm" && mostly()) {
        plan.overlap_tp = plan.overlap_ep = plan.overlap_dp = plan.overlap_pp = false;
    }
    if (format == "optimus") {
        plan.cp = mostly() ? 1 : plan.cp;
        plan.etp = mostly() ? plan.tp : plan.etp;
        plan.rank_order = {Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp};
        plan.dispatch = mostly() ? models::Dispatch::kAllGatherReduceScatter : plan.dispatch;
    } else if (mostly()) {
        plan.rank_order = {Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp};
        plan.dispatch = models::Dispatch::kAllToAll;
    }
    if (format == "torchtitan") {
        plan.gradient_bytes = mostly() ? 4 : 2;
        plan.etp = mostly() ? 1 : plan.etp;
        plan.expert_kernels = mostly() ? models::ExpertKernels::kGrouped : plan.expert_kernels;
        plan.optimizer = mostly() ? models::OptimizerSharding::kFsdp : models::OptimizerSharding::kReplicated;
        plan.overlap_dp = plan.optimizer == models::OptimizerSharding::kFsdp;
        plan.stages = half() ? models::StageDeal::kEven : models::StageDeal::kWithBoth;
        if (plan.pp > 1 && half()) {
            plan.schedule = half() ? models::ScheduleKind::kZbv : models::ScheduleKind::kDualPipeV;
            plan.virtual_stages = 2;
            plan.micro_batches = std::max(plan.micro_batches, 2 * plan.pp);
        }
    }
    if (format == "deepspeed") {
        plan.cp = 1;
        plan.etp = plan.tp;
        plan.schedule = models::ScheduleKind::k1f1b;
        plan.virtual_stages = 1;
        plan.pp = half() ? 1 : plan.pp;
        plan.expert_kernels = models::ExpertKernels::kLoop;
        plan.routing.kind = models::RoutingDistribution::kLearned;
    }
    plan.bf16_states = plan.weight_bytes == 2 && rng.below(16) == 0;
    plan.stage_layers.clear();
    if (plan.optimizer != models::OptimizerSharding::kFsdp) {
        plan.reshard_after_forward = true, plan.prefetch = 1;
    } else if (rng.below(8) == 0 && plan.dp % 2 == 0 && (plan.dp * plan.ep * plan.etp / plan.tp) % 2 == 0 &&
               plan.reshard_after_forward && plan.shard_replicas == 1) {
        plan.reshard_ranks = 2;
    }
    plan.prefetch = mostly() ? 1 : plan.prefetch;
    plan.shard_replicas = shards_in_groups(plan.optimizer) ? plan.shard_replicas : 1;
    if (rng.below(6) == 0) {
        plan.offload_layers = 1 + static_cast<int>(rng.below(2));
        plan.recompute = mostly() ? models::Recompute{} : plan.recompute;
        plan.recompute_layers = 0;
    }
    return plan;
}

class RoundTrip : public testing::TestWithParam<Bounds> {};

TEST_P(RoundTrip, of_random_plans) {
    const std::string format = GetParam().format;
    std::map<std::string, int> refused;
    int accepted = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        Rng rng(seed);
        const testing_plans::Case drawn = testing_plans::random_case(seed);
        Case one{drawn.workload, steered(drawn.plan, format, rng)};
        if (format != "megatron-lm" && seed % 4 != 0) {  // which alone has words for all of them
            one.workload.mtp_layers = 0, one.workload.router_bias = false;
            one.workload.capacity_factor = 0, one.workload.pad_to_capacity = false;
        }
        if (one.workload.num_experts == 0) {
            one.plan.ep = 1, one.plan.etp = one.plan.tp;
        }
        try {
            one.plan = resolve_plan(one.plan, one.workload, 0);
        } catch (const InputError&) {
            continue;  // steered to a plan of no job
        }
        Emission emission;
        try {
            emission = testing_interop::emission_of(one, format.c_str());
        } catch (const InputError& error) {
            const std::string message = error.what();
            const std::size_t field = message.find("$.");
            ASSERT_NE(field, std::string::npos) << message;
            ASSERT_NE(message.find(": found"), std::string::npos) << message;
            ASSERT_NE(message.find("; expected"), std::string::npos) << message;
            ++refused[message.substr(field, message.find(':', field) - field)];
            continue;
        }
        ++accepted;
        const std::string text = emission_text(emission);
        const int ranks = format == "megatron-lm" ? tiles_of(one.plan) : 0;  // its arguments do not say it
        const models::Plan back = testing_interop::parsed(text, format.c_str(), one.workload, ranks);
        ASSERT_EQ(difference(back, one.plan, one.workload), "") << "seed " << seed << "\n" << text;
    }
    RecordProperty("accepted", accepted);
    EXPECT_GE(accepted, GetParam().least) << testing::PrintToString(refused);
}

INSTANTIATE_TEST_SUITE_P(Frameworks, RoundTrip,
                         testing::Values(Bounds{"megatron-lm", 60}, Bounds{"optimus", 40}, Bounds{"torchtitan", 60},
                                         Bounds{"deepspeed", 40}),
                         [](const testing::TestParamInfo<Bounds>& one) {
                             std::string name = one.param.format;
                             std::erase(name, '-');
                             return name;
                         });

// The settings in a script of either batch system are the same, and so is the plan that is read from it.
TEST(RoundTripOfJobs, settings_in_a_script_are_read_back) {
    const std::array<std::pair<const char*, Case>, 5> cases{
        {{"megatron-lm", testing_interop::case_of("mixtral-8x22b", "mixtral-8x22b")},
         {"optimus", testing_interop::case_of("mula-220b-a10b", "mula-220b-a10b")},
         {"torchtitan", testing_interop::case_of("agpt-20b", "agpt-20b")},
         {"deepspeed", testing_interop::case_of("agpt-70b", "agpt-70b")},
         {"deepspeed", testing_interop::case_of("mixtral-8x7b", "mixtral-8x7b",
                                                {{"pp", "1"},
                                                 {"tp", "1"},
                                                 {"etp", "1"},
                                                 {"ep", "8"},
                                                 {"dp", "2"},
                                                 {"recompute", "[]"},
                                                 {"optimizer", "ep-aware"},
                                                 {"expert_kernels", "loop"},
                                                 {"routing", "learned"},
                                                 {"overlap", R"(["dp"])"},
                                                 {"schedule", "1f1b"}})}}};
    for (const auto& [format, one] : cases) {
        const Job job = testing_interop::job_of(one, format, 12);
        for (const models::BatchSystem system : {models::BatchSystem::kPbs, models::BatchSystem::kSlurm}) {
            const std::string script = job_script(job, system);
            EXPECT_EQ(difference(testing_interop::parsed(script, format, one.workload), one.plan, one.workload), "")
                << script;
        }
    }
}

}  // namespace
}  // namespace auspex::interop
