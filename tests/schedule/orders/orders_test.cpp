/// @file Orders of passes: complete, without deadlock, with the memory that the literature gives, and as torch's files.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "schedule/orders/order_csv.hpp"
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

std::vector<int> in_flight(const std::string& word, int ranks, int micro_batches, int virtual_stages = 1) {
    return passes_in_flight(make_order({word, ranks, micro_batches, virtual_stages}), HeldUntil::kInputGradient);
}

/// Calls use(order, request) for every order that there is of small numbers of ranks and micro-batches.
template <class Use>
void for_each_order(Use&& use) {
    for (const std::string& word : order_words()) {
        for (int ranks = 1; ranks <= 9; ++ranks) {
            for (int micro_batches = 1; micro_batches <= 24; ++micro_batches) {
                for (int chunks = 1; chunks <= 3; ++chunks) {
                    const OrderRequest request{word, ranks, micro_batches, chunks};
                    std::optional<PipelineOrder> order;
                    try {
                        order = make_order(request);
                    } catch (const InputError&) {
                        continue;  // numbers that it does not have
                    }
                    use(*order, request);
                }
            }
        }
    }
}

TEST(PipelineOrders, run_every_pass_once_and_never_wait_for_ever) {
    std::map<std::string, int> orders;
    for_each_order([&](const PipelineOrder& order, const OrderRequest& request) {
        SCOPED_TRACE(request.word + ", p " + std::to_string(request.ranks) + ", m " +
                     std::to_string(request.micro_batches));
        EXPECT_NO_THROW(check_order(order, request.word));
        ++orders[request.word];
    });
    for (const std::string& word : order_words()) {
        EXPECT_GT(orders[word], 20) << word;
    }
}

TEST(PipelineOrders, come_back_from_torchs_files) {
    for_each_order([&](const PipelineOrder& order, const OrderRequest& request) {
        const PipelineOrder again = read_order_csv(order_csv(order), request.word);
        EXPECT_EQ(again.ranks, order.ranks) << request.word;
        EXPECT_EQ(again.stages, order.stages);
        EXPECT_EQ(again.micro_batches, order.micro_batches);
    });
}

// p ranks, m micro-batches, in passes of a stage (two stages a rank: of half a rank's layers).
TEST(PipelineOrders, hold_the_activations_that_their_papers_say) {
    for (const int p : {2, 4, 8, 16}) {
        const int m = 4 * p;
        SCOPED_TRACE(p);
        for (int r = 0; r < p; ++r) {
            const auto rank = static_cast<std::size_t>(r);
            EXPECT_EQ(in_flight("gpipe", p, m)[rank], m);
            EXPECT_EQ(in_flight("1f1b", p, m)[rank], p - r);
            EXPECT_EQ(in_flight("interleaved-1f1b", p, m, 2)[rank], 2 * (p - r - 1) + p + 1);
            EXPECT_EQ(in_flight("zb-h1", p, m)[rank], p - r);
            EXPECT_EQ(in_flight("zb-h2", p, m)[rank], 2 * (p - r) - 1);
            EXPECT_EQ(in_flight("zbv", p, m)[rank], 2 * p);
            EXPECT_EQ(in_flight("dualpipe", p, m)[rank], p + 1);
            EXPECT_EQ(in_flight("dualpipev", p, m)[rank], 2 * p + 1);
            // Half and a third of 1f1b's 2 p, and what the turns cost.
            EXPECT_EQ(in_flight("v-half", p, m)[rank], p + 1);
            EXPECT_LE(in_flight("v-min", p, m)[rank], (2 * p + 2) / 3 + 2);
        }
    }
}

// What a rank holds is never more than zb-auto was given: whole micro-batches until the gradient of the input, then the
// share that waits for that of the weights. Times of any unit give the same order.
TEST(PipelineOrders, found_by_themselves_hold_no_more_than_they_may) {
    Rng rng(5);
    for (int draw = 0; draw < 300; ++draw) {
        const int ranks = 1 + static_cast<int>(rng.below(12)), m = 1 + static_cast<int>(rng.below(40));
        models::AutoOrder limits{0.2 + rng.uniform(),
                                 0.2 + rng.uniform(),
                                 0.1 + rng.uniform(),
                                 rng.uniform() / 4,
                                 1 + static_cast<int>(rng.below(30)),
                                 rng.uniform()};
        const PipelineOrder order = make_order({"zb-auto", ranks, m, 1, limits});
        EXPECT_NO_THROW(check_order(order, "zb-auto"));
        for (const std::vector<StagePass>& passes : order.ranks) {
            double held = 0;
            for (const StagePass& pass : passes) {
                held += pass.kind == PassKind::kForward         ? 1
                        : pass.kind == PassKind::kBackwardInput ? limits.kept_for_weights - 1
                                                                : -limits.kept_for_weights;
                EXPECT_LE(held, limits.in_flight + 1e-6);
            }
        }
        for (double* const length : {&limits.forward, &limits.input, &limits.weight, &limits.send}) {
            *length *= 1024;
        }
        EXPECT_EQ(make_order({"zb-auto", ranks, m, 1, limits}).ranks, order.ranks);
    }
}

TEST(PipelineOrders, refuse_numbers_that_they_do_not_have) {
    const auto fault = [](const OrderRequest& request) -> std::string {
        try {
            static_cast<void>(make_order(request));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(fault({"zbv", 4, 6}), "--micro-batches: found 6; expected at least 7 with zbv and pp 4");
    EXPECT_EQ(fault({"dualpipe", 3, 8}), "--pp: found 3; expected an even number with dualpipe");
    EXPECT_EQ(fault({"dualpipe", 4, 9}), "--micro-batches: found 9; expected an even number with dualpipe");
    EXPECT_EQ(fault({"interleaved-1f1b", 4, 8, 1}),
              "--virtual-stages: found 1; expected 2 or more with interleaved-1f1b");
    EXPECT_EQ(fault({"interleaved-1f1b", 4, 9, 2}),
              "--micro-batches: found 9; interleaved-1f1b needs a multiple of pp 4, such as 8");
    EXPECT_NE(fault({"zb-h3", 4, 8}).find("did you mean"), std::string::npos) << fault({"zb-h3", 4, 8});
}

TEST(PipelineOrders, of_files_are_refused_where_a_pass_is_missing_twice_or_waits_for_ever) {
    const auto fault = [](const std::string& text) -> std::string {
        try {
            static_cast<void>(read_order_csv(text, "order.csv"));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(fault("0F0,0F1,,0B0,0B1\n,1F0,1F1,1B0,1I1,1W1\n"), "");
    EXPECT_NE(fault("0F0,0B0\n1F0,1X0\n").find("order.csv, rank 1: found \"1X0\""), std::string::npos);
    EXPECT_NE(fault("0F0,0B0,0B0\n1F0,1B0\n").find("0B0 twice"), std::string::npos);
    EXPECT_NE(fault("0F0,0I0\n1F0,1B0\n").find("neither whole (B) nor in both parts"), std::string::npos);
    EXPECT_NE(fault("0F0,0I0,0W0\n1I0,1F0,1W0\n").find("rank 0 waiting for ever in front of 0I0"), std::string::npos);
    EXPECT_NE(fault("").find("found 0 passes"), std::string::npos);
    EXPECT_NE(fault("999999F999999,0B0\n").find("found 2 passes"), std::string::npos);
}

}  // namespace
}  // namespace auspex::schedule
