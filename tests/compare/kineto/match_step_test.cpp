#include "compare/kineto/match/match_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compare/kineto/account/step_account.hpp"
#include "made_up_trace.hpp"

namespace auspex::kineto {
namespace {

using schedule::Phase;

/// Small steps that are put together kernel by kernel.
class MatchStep : public testing::Test {
 protected:
    explicit MatchStep(const char* workload = "toy-dense", const char* plan = "toy-pp2-dp2")
        : inputs_(testing_traces::inputs_of("dgx-h100", "bare", workload, plan)),
          played_(testing_traces::played(inputs_)),
          rank_(predicted_rank(inputs_, played_, 0)) {}

    /// The product of a slot, in the pass that it is in.
    [[nodiscard]] MeasuredKernel kernel_of(const Slot& slot) const {
        MeasuredKernel kernel;
        kernel.work = slot.is_product()                             ? Work::kGemm
                      : slot.type == models::KernelType::kAttention ? Work::kAttention
                                                                    : Work::kElementwise;
        kernel.product = slot.is_product() ? slot.product : Product{};
        kernel.pass = slot.pass;
        return kernel;
    }

    /// Products of all slots, one after another, 10 us each.
    [[nodiscard]] MeasuredStep products() const {
        MeasuredStep step;
        for (const Slot& slot : rank_.slots) {
            if (slot.is_product()) {
                step.kernels.push_back(kernel_of(slot));
            }
        }
        time(step);
        return step;
    }

    static void time(MeasuredStep& step) {
        Picoseconds at = 0;
        for (MeasuredKernel& kernel : step.kernels) {
            kernel.start = at;
            at = kernel.end = at + 10'000'000;
        }
        step.length = at;
    }

    [[nodiscard]] std::size_t matched(const MeasuredStep& step) const {
        const StepMatch match = match_step(step, rank_, inputs_.workload);
        std::set<std::uint32_t> slots;
        std::size_t count = 0;
        for (const std::uint32_t slot : match.slot) {
            count += slot == kNone ? 0 : 1;
            slots.insert(slot);
        }
        slots.erase(kNone);
        EXPECT_EQ(slots.size(), count) << "a product is matched twice";
        return count;
    }

    models::Inputs inputs_;
    predict::SimulatedStep played_;
    PredictedRank rank_;
};

TEST_F(MatchStep, every_product_finds_its_own) {
    const MeasuredStep step = products();
    ASSERT_GT(step.kernels.size(), 50U);
    const StepMatch match = match_step(step, rank_, inputs_.workload);
    std::size_t i = 0;
    for (std::uint32_t slot = 0; slot < rank_.slots.size(); ++slot) {
        if (rank_.slots[slot].is_product()) {
            EXPECT_EQ(match.slot[i++], slot);
        }
    }
}

TEST_F(MatchStep, weight_gradients_may_come_before_input_gradients) {
    MeasuredStep step = products();
    // PyTorch's nodes make the gradient of the second factor first.
    for (std::size_t i = 0; i + 1 < step.kernels.size(); ++i) {
        if (step.kernels[i].pass == Pass::kBackward && step.kernels[i + 1].pass == Pass::kBackward) {
            std::swap(step.kernels[i], step.kernels[i + 1]);
            ++i;
        }
    }
    time(step);
    EXPECT_EQ(matched(step), step.kernels.size());
}

TEST_F(MatchStep, rows_and_columns_may_be_exchanged) {
    MeasuredStep step = products();
    for (MeasuredKernel& kernel : step.kernels) {
        std::swap(kernel.product.m, kernel.product.n);
    }
    EXPECT_EQ(matched(step), step.kernels.size());
}

TEST_F(MatchStep, a_product_of_another_shape_matches_nothing) {
    MeasuredStep step = products();
    step.kernels[7].product.n *= 3;
    step.kernels[20].product.k *= 5;
    EXPECT_EQ(matched(step), step.kernels.size() - 2);
}

TEST_F(MatchStep, kernels_that_were_recorded_twice_match_once) {
    MeasuredStep step = products();
    const std::size_t all = step.kernels.size();
    step.kernels.insert(step.kernels.begin() + 5, step.kernels[4]);
    step.kernels.insert(step.kernels.begin() + 30, step.kernels[29]);
    time(step);
    EXPECT_EQ(matched(step), all);
}

TEST_F(MatchStep, a_trace_that_is_cut_off_matches_as_far_as_it_goes) {
    MeasuredStep step = products();
    step.kernels.resize(step.kernels.size() / 3);
    EXPECT_EQ(matched(step), step.kernels.size());
}

TEST_F(MatchStep, queries_keys_and_values_may_be_apart) {
    MeasuredStep step;
    for (const Slot& slot : rank_.slots) {
        if (!slot.is_product()) {
            continue;
        }
        // toy-dense: hidden 64, 4 heads of 16: three widths of 64 of the fused 192; gate and up 256 each of 512.
        MeasuredKernel kernel = kernel_of(slot);
        double& width = played_.program.operations[slot.operation].phase == Phase::kBackwardInput ? kernel.product.k
                                                                                                  : kernel.product.n;
        const int parts = slot.kind == schedule::OpKind::kQkvProjection      ? 3
                          : slot.kind == schedule::OpKind::kGateUpProjection ? 2
                                                                             : 1;
        width /= parts;
        step.kernels.insert(step.kernels.end(), static_cast<std::size_t>(parts), kernel);
    }
    time(step);
    const std::set<std::string> parted =
        part_products(rank_, played_.program, inputs_.workload, played_.plan, step.kernels);
    EXPECT_EQ(parted, (std::set<std::string>{"gate_up_projection", "qkv_projection"}));
    EXPECT_EQ(matched(step), step.kernels.size());
}

TEST_F(MatchStep, buckets_of_gradients_are_matched_by_their_sum) {
    MeasuredStep step;
    double bytes = 0;
    for (const ExpectedMessage& message : rank_.messages) {
        bytes += message.comm == schedule::CommKind::kReduceScatter ? message.bytes : 0;
    }
    ASSERT_GT(bytes, 0);
    for (int i = 0; i < 7; ++i) {
        MeasuredKernel kernel;
        kernel.work = Work::kCommunication;
        kernel.comm = schedule::CommKind::kReduceScatter;
        kernel.group_size = 2;
        kernel.bytes = bytes / 7;
        step.kernels.push_back(kernel);
    }
    time(step);
    StepMatch match = match_step(step, rank_, inputs_.workload);
    EXPECT_EQ(std::count(match.message.begin(), match.message.end(), kNone), 0);
    EXPECT_EQ(std::count(match.by_sum.begin(), match.by_sum.end(), 1), 7);
    for (MeasuredKernel& kernel : step.kernels) {
        kernel.bytes *= 2;  // twice the bytes in sum: something else
    }
    match = match_step(step, rank_, inputs_.workload);
    EXPECT_EQ(std::count(match.message.begin(), match.message.end(), kNone), 7);
}

TEST_F(MatchStep, an_idle_device_waits_for_the_host_until_it_launches) {
    MeasuredStep step;
    step.has_device = step.has_launches = true;
    const Slot* product = nullptr;
    for (const Slot& slot : rank_.slots) {
        product = product == nullptr && slot.is_product() ? &slot : product;
    }
    // [0, 10) us a product, [10, 40) idle, launched at 32 us, [40, 50) the next; the step ends at 57 us.
    MeasuredKernel kernel = kernel_of(*product);
    kernel.is_launch_known = true;
    kernel.start = 0, kernel.end = 10'000'000, kernel.launched = 0;
    step.kernels.push_back(kernel);
    kernel.start = 40'000'000, kernel.end = 50'000'000, kernel.launched = 32'000'000;
    step.kernels.push_back(kernel);
    step.length = 57'000'000;
    const SpentTimes times = measured_times(step, rank_, match_step(step, rank_, inputs_.workload), played_.program);
    const auto at = [&times](Spent spent) { return times[static_cast<std::size_t>(spent)]; };
    EXPECT_EQ(at(Spent::kHost), 22'000'000 + 7'000'000);  // 10 to 32, and 50 to 57 us
    EXPECT_EQ(at(Spent::kLaunch), 8'000'000);             // 32 to 40
    EXPECT_EQ(at(Spent::kUseful) + at(Spent::kOtherKernels), 20'000'000);
}

TEST_F(MatchStep, communication_counts_where_nothing_hides_it) {
    MeasuredStep step;
    step.has_device = true;
    MeasuredKernel kernel;
    kernel.work = Work::kOther;
    kernel.start = 0, kernel.end = 10'000'000;
    step.kernels.push_back(kernel);
    kernel.work = Work::kCommunication;
    kernel.comm = schedule::CommKind::kReduceScatter;
    kernel.group_size = 2;
    kernel.start = 4'000'000, kernel.end = 25'000'000;
    for (const ExpectedMessage& message : rank_.messages) {
        kernel.bytes = message.comm == kernel.comm ? message.bytes : kernel.bytes;
    }
    step.kernels.push_back(kernel);
    step.length = 25'000'000;
    const SpentTimes times = measured_times(step, rank_, match_step(step, rank_, inputs_.workload), played_.program);
    EXPECT_EQ(times[static_cast<std::size_t>(Spent::kOtherKernels)], 10'000'000);
    EXPECT_EQ(times[static_cast<std::size_t>(Spent::kExposedDp)], 15'000'000);  // 10 to 25 us
}

}  // namespace
}  // namespace auspex::kineto
