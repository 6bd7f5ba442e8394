/// @file Which tensors a rank holds, and the weights that a run begins with.
#include "exec/state/parameters.hpp"

#include <gtest/gtest.h>

#include <set>

#include "../state_fixture.hpp"

namespace auspex::state_fixture {
namespace {

std::vector<exec::RankCoordinates> places_of(const exec::RunInputs& run) {
    std::vector<exec::RankCoordinates> places;
    for (int rank = 0; rank < run.layout.tiles; ++rank) {
        places.push_back(exec::rank_coordinates(run.layout, rank));
    }
    return places;
}

/// sizes = stage_parameters(stage), and tensors follow one another without a gap.
void expect_counts(const exec::RunInputs& run) {
    for (const exec::RankCoordinates& coordinates : places_of(run)) {
        const exec::ParameterTable table = parameter_table(run.workload, run.plan, coordinates);
        const schedule::StageParameters expected =
            schedule::stage_parameters(run.workload, run.plan, coordinates.stage);
        EXPECT_EQ(static_cast<double>(table.dense_size), expected.dense) << words_of(run.plan);
        EXPECT_EQ(static_cast<double>(table.experts_size), expected.experts) << words_of(run.plan);
        double summed = 0;
        std::size_t next = 0;
        for (const exec::Parameter& p : table.dense) {
            EXPECT_EQ(p.offset, next) << p.name;
            next += p.size;
            summed += p.summed_over_tp ? static_cast<double>(p.size) : 0;
        }
        EXPECT_EQ(next, table.dense_size);
        EXPECT_EQ(summed, expected.summed_over_tp) << words_of(run.plan);
    }
}

TEST(Parameters, every_stage_holds_as_many_as_the_schedule_counts) {
    for (models::Plan plan : layouts()) {
        for (const bool sliced : {false, true}) {
            plan.sequence_parallel = sliced;
            expect_counts(run_inputs(every_tensor_model(), plan));
        }
        if (plan.ep == 1) {
            expect_counts(run_inputs(dense_model(), plan));
        }
    }
    models::Workload tied = mixture_model();
    tied.tied_embeddings = true;
    expect_counts(run_inputs(tied, plan_of(1, 1, 2, 2, models::OptimizerSharding::kSharded)));
    expect_counts(run_inputs(tied, plan_of(2, 1, 2, 2, models::OptimizerSharding::kSharded)));
    for (const bool sliced : {false, true}) {
        models::Plan split = plan_of(2, 1, 1, 2, models::OptimizerSharding::kSharded);
        split.sequence_parallel = sliced;
        expect_counts(run_inputs(exec_fixture::gpt_model(), split));
    }
    models::Workload plain = dense_model();
    plain.norm = models::NormKind::kNonParametric;
    expect_counts(run_inputs(plain, plan_of(2, 1, 1, 2, models::OptimizerSharding::kSharded)));
    for (const int q_rank : {0, 6}) {
        models::Plan split = plan_of(2, 1, 2, 2, models::OptimizerSharding::kEpAware);
        expect_counts(run_inputs(latent(shared_model(), q_rank), split));
        split.sequence_parallel = true;
        expect_counts(run_inputs(latent(shared_model(), q_rank), split));
    }
    models::Plan chunks = plan_of(2, 1, 1, 1, models::OptimizerSharding::kSharded);
    chunks.schedule = models::ScheduleKind::kInterleaved1f1b, chunks.virtual_stages = 2;
    models::Workload deep = dense_model();
    deep.layers = 5;
    expect_counts(run_inputs(deep, chunks));
}

TEST(Parameters, tensors_have_the_names_and_shapes_of_olmoe) {
    const exec::ParameterTable model = exec::whole_model(every_tensor_model());
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const exec::Parameter* p : all_tensors(model)) {
        shapes[p->name] = p->shape;
    }
    using Shape = std::vector<std::int64_t>;
    EXPECT_EQ(shapes["model.embed_tokens.weight"], (Shape{20, 8}));
    EXPECT_EQ(shapes["model.layers.0.mlp.down_proj.weight"], (Shape{8, 12}));
    EXPECT_EQ(shapes["model.layers.1.self_attn.q_proj.weight"], (Shape{16, 8}));
    EXPECT_EQ(shapes["model.layers.1.self_attn.k_norm.weight"], (Shape{8}));
    EXPECT_EQ(shapes["model.layers.1.self_attn.o_proj.weight"], (Shape{8, 16}));
    EXPECT_EQ(shapes["model.layers.2.mlp.gate.weight"], (Shape{4, 8}));
    EXPECT_EQ(shapes["model.layers.2.mlp.experts.3.down_proj.weight"], (Shape{8, 6}));
    EXPECT_EQ(shapes["model.norm.weight"], (Shape{8}));
    EXPECT_EQ(shapes["lm_head.weight"], (Shape{20, 8}));
    // 3 outside the layers; 8 in each layer's dense part with a dense feed-forward 3, with a router 1 more; 4 experts.
    EXPECT_EQ(shapes.size(), 3U + 3 * 8 + 3 + 2 * (1 + 4 * 3));
}

TEST(Parameters, tensors_that_olmoe_has_not_have_the_names_and_shapes_of_deepseek) {
    const exec::ParameterTable model = exec::whole_model(latent(shared_model(), 6));
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const exec::Parameter* p : all_tensors(model)) {
        shapes[p->name] = p->shape;
    }
    using Shape = std::vector<std::int64_t>;
    EXPECT_EQ(shapes["model.layers.1.mlp.shared_experts.gate_proj.weight"], (Shape{12, 8}));
    EXPECT_EQ(shapes["model.layers.1.mlp.shared_experts.down_proj.weight"], (Shape{8, 12}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.q_a_proj.weight"], (Shape{6, 8}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.q_a_layernorm.weight"], (Shape{6}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.q_b_proj.weight"], (Shape{4 * (4 + 2), 6}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.kv_a_proj_with_mqa.weight"], (Shape{5 + 2, 8}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.kv_a_layernorm.weight"], (Shape{5}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.kv_b_proj.weight"], (Shape{4 * (4 + 3), 5}));
    EXPECT_EQ(shapes["model.layers.0.self_attn.o_proj.weight"], (Shape{8, 4 * 3}));
    EXPECT_FALSE(shapes.contains("model.layers.0.self_attn.q_proj.weight"));
    EXPECT_TRUE(
        exec::whole_model(latent(dense_model(), 0)).dense.at(2).name.ends_with("layers.0.self_attn.q_proj.weight"));
}

TEST(Parameters, slots_point_at_fused_neighbours) {
    const exec::RunInputs run =
        run_inputs(every_tensor_model(), plan_of(1, 1, 2, 2, models::OptimizerSharding::kSharded));
    const exec::RankCoordinates coordinates = exec::rank_coordinates(run.layout, 3);
    const exec::ParameterTable table = parameter_table(run.workload, run.plan, coordinates);
    const auto offset_of = [&](const std::string& name) {
        for (const exec::Parameter* p : all_tensors(table)) {
            if (p->name == "model.layers." + name + ".weight") {
                return p->offset;
            }
        }
        return exec::LayerSlots::kNone;
    };
    const std::size_t h = 8, q = 8, kv = 4, inner = 3;
    const exec::LayerSlots &dense = table.layers[0], &moe = table.layers[2];
    EXPECT_EQ(dense.qkv, offset_of("0.self_attn.q_proj"));
    EXPECT_EQ(dense.qkv + q * h, offset_of("0.self_attn.k_proj"));
    EXPECT_EQ(dense.qkv + (q + kv) * h, offset_of("0.self_attn.v_proj"));
    EXPECT_EQ(dense.gate_up + 6 * h, offset_of("0.mlp.up_proj"));
    EXPECT_EQ(dense.experts, exec::LayerSlots::kNone);
    EXPECT_EQ(moe.gate_up, exec::LayerSlots::kNone);
    EXPECT_EQ(moe.router, offset_of("2.mlp.gate"));
    // Experts 2 and 3 are local: ep place 1 of 2.
    EXPECT_EQ(moe.experts + moe.expert_stride, offset_of("2.mlp.experts.3.gate_proj"));
    EXPECT_EQ(moe.experts + inner * h, offset_of("2.mlp.experts.2.up_proj"));
    EXPECT_EQ(moe.experts + 2 * inner * h, offset_of("2.mlp.experts.2.down_proj"));
    EXPECT_EQ(moe.expert_stride, 3 * inner * h);
}

template <class P>
FloatTensors initial_weights(const models::Plan& plan) {
    FloatTensors tensors;
    const exec::RunInputs run = run_inputs(every_tensor_model(), plan);
    on_ranks<P>(run, [&](exec::Rank<P>& rank) { collect(rank, exec::StateKind::kWeight, tensors); });
    return tensors;
}

TEST(Parameters, all_layouts_begin_with_the_same_model_and_own_every_element_once) {
    const FloatTensors single = initial_weights<exec::Fp32>(single_plan());
    const FloatTensors single_masters = initial_weights<exec::Bf16Precision>(single_plan());
    EXPECT_EQ(single, single_masters);  // masters are not rounded
    for (const models::Plan& plan : layouts()) {
        EXPECT_EQ(initial_weights<exec::Fp32>(plan), single) << words_of(plan);
        EXPECT_EQ(initial_weights<exec::Bf16Precision>(plan), single) << words_of(plan);
    }
}

TEST(Parameters, bf16_weights_are_the_masters_rounded_on_every_replica) {
    const FloatTensors single = initial_weights<exec::Fp32>(single_plan());
    const exec::RunInputs run =
        run_inputs(every_tensor_model(), plan_of(1, 2, 2, 2, models::OptimizerSharding::kEpAware));
    on_ranks<exec::Bf16Precision>(run, [&](exec::Rank<exec::Bf16Precision>& rank) {
        int different = 0;
        for_each_element(rank.table,
                         [&](bool is_expert, std::size_t flat, std::size_t whole, const exec::Parameter& p) {
                             const exec::Bf16 weight = (is_expert ? rank.weights.experts : rank.weights.dense)[flat];
                             different += weight.bits != exec::stored<exec::Bf16>(single.at(p.name)[whole]).bits;
                         });
        EXPECT_EQ(different, 0);
    });
}

TEST(Parameters, weights_are_normal_and_cut_at_three_deviations) {
    models::Workload w = dense_model();
    w.vocab_size = 20'000;
    exec::RunInputs run = run_inputs(w, single_plan());
    run.training.initial_deviation = 0.02;
    on_ranks<exec::Fp32>(run, [](exec::Rank<exec::Fp32>& rank) {
        const auto values = rank.weights.dense.span().subspan(rank.table.embedding, 160'000);
        double sum = 0, squares = 0, largest = 0;
        for (const float x : values) {
            sum += x, squares += double{x} * x, largest = std::max(largest, std::abs(double{x}));
        }
        const double n = static_cast<double>(values.size());
        // A normal cut at 3 deviations has variance 1 - 2 * 3 phi(3) / (2 Phi(3) - 1) = 0.97334.
        EXPECT_NEAR(sum / n, 0, 4 * 0.02 / std::sqrt(n));
        EXPECT_NEAR(squares / n, 0.97334 * 0.02 * 0.02, 0.02 * 0.02 * 0.02);
        EXPECT_LE(largest, 0.0600001);
        EXPECT_GT(largest, 0.058);
        EXPECT_EQ(rank.weights.dense[rank.table.final_norm], 1.0F);
        EXPECT_TRUE(std::ranges::all_of(rank.weights.dense_gradient.span(), [](float g) { return g == 0; }));
    });
}

TEST(Parameters, another_seed_is_another_model_and_tensors_differ) {
    exec::RunInputs run = run_inputs(dense_model(), single_plan());
    std::set<float> first;
    for (const std::uint64_t seed : {1U, 2U}) {
        run.seed = seed;
        on_ranks<exec::Fp32>(run, [&](exec::Rank<exec::Fp32>& rank) {
            first.insert(rank.weights.dense[rank.table.embedding]);
            first.insert(rank.weights.dense[rank.table.lm_head]);
        });
    }
    EXPECT_EQ(first.size(), 4U);
}

TEST(Parameters, memory_is_labelled) {
    // bf16 weights 2 bytes, fp32 gradients 4; of the shard alone master weights 4 and two moments 8.
    const exec::RunInputs run =
        run_inputs(every_tensor_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded));
    on_ranks<exec::Bf16WithFp32Gradients>(run, [](exec::Rank<exec::Bf16WithFp32Gradients>& rank) {
        const std::size_t all = rank.table.dense_size + rank.table.experts_size;
        const std::size_t shard = rank.optimizer->dense.size() + rank.optimizer->experts.size();
        const schedule::LabelBytes& live = rank.arena->live();
        EXPECT_EQ(live[static_cast<std::size_t>(schedule::MemoryLabel::kWeights)], 2 * all);
        EXPECT_EQ(live[static_cast<std::size_t>(schedule::MemoryLabel::kGradients)], 4 * all);
        EXPECT_EQ(live[static_cast<std::size_t>(schedule::MemoryLabel::kMasterWeights)], 4 * shard);
        EXPECT_EQ(live[static_cast<std::size_t>(schedule::MemoryLabel::kMoments)], 8 * shard);
    });
}

}  // namespace
}  // namespace auspex::state_fixture
