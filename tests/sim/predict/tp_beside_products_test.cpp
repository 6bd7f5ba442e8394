/// @file Tensor-parallel communication beside the products that it feeds or comes from.
#include <gtest/gtest.h>

#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;

constexpr double kUnlimited = 1e30;

/// Eight layers of Llama 3 70B on one DGX H100: tp 8, sequence parallel, four micro-batches; nothing slows a product.
models::Inputs llama() {
    using testing_plans::document;
    models::Inputs inputs = models::load_inputs(document("machines", "dgx-h100"), document("stacks", "bare"),
                                                document("workloads", "llama3-70b"), document("plans", "llama3-70b"));
    make_quiet(inputs);
    inputs.workload.layers = 8;
    models::Plan plan;
    plan.file = inputs.plan.file;
    plan.tp = plan.etp = 8, plan.etp_given = true, plan.sequence_parallel = true;
    plan.dp = 1, plan.micro_batches = 4;
    plan.overlap_tp = true;
    inputs.plan = plan;
    inputs.machine.tile.collective_compute_share = 0;
    inputs.stack.can_overlap_tp = true;
    return inputs;
}

double step_s(const models::Inputs& inputs) {
    return to_seconds(simulate_step(inputs, PredictOptions{.tiles = 8}, false).step);
}

models::Inputs beside(models::Inputs inputs) {
    inputs.stack.tp_beside_products = true;
    return inputs;
}

/// With switches of these many times the bandwidth.
models::Inputs with_links(models::Inputs inputs, double factor) {
    inputs.machine.node.switch_bytes_per_s *= factor;
    return inputs;
}

double exposed_s(const models::Inputs& inputs) {
    return step_s(inputs) - step_s(with_links(inputs, kUnlimited / inputs.machine.node.switch_bytes_per_s));
}

/// A gather of a forward pass is exposed whole unless it runs beside its product; then only what it takes longer is.
TEST(TpBesideProducts, communication_shorter_than_its_products_is_hidden_but_for_the_ends_of_the_model) {
    const models::Inputs plain = llama();
    const double without = exposed_s(plain), with = exposed_s(beside(plain));
    EXPECT_GT(without, 0);
    EXPECT_LT(with, 0.35 * without);  // embedding, head and the last scatter of a pass have no product beside them
    // Ten times the bandwidth: a tenth of what is left, or less where a product now hides it.
    EXPECT_LT(exposed_s(with_links(beside(plain), 10)), 0.13 * with);
}

/// max(product, communication): links so slow that communication is everything hide the products instead.
TEST(TpBesideProducts, communication_longer_than_its_products_hides_them) {
    const models::Inputs slow = with_links(llama(), 0.01);
    EXPECT_LT(step_s(beside(slow)), step_s(slow));
    EXPECT_GT(step_s(beside(slow)), exposed_s(slow) - step_s(with_links(slow, 1e6)));
}

TEST(TpBesideProducts, nothing_changes_where_tp_does_not_overlap) {
    models::Inputs blocking = llama();
    blocking.plan.overlap_tp = false;
    EXPECT_EQ(step_s(beside(blocking)), step_s(blocking));
}

}  // namespace
}  // namespace auspex::predict
