/// @file Multi-token prediction, a router's bias and capacity of experts in programs and in memory.
#include <gtest/gtest.h>

#include <map>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/program/gradient_buckets.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// A toy with a change of its model and its plan.
template <class Change>
Case toy_case(const char* model, const char* plan_name, Change&& change) {
    Case c{workload(model), plan(plan_name), stack("bare")};
    change(c);
    c.plan = resolve_plan(c.plan, c.workload, 0);
    return c;
}

/// Of a stage in a step.
template <class Count>
double sum_over(const Case& c, int stage, Count&& count) {
    const Program program = build_program(c.workload, c.plan, c.stack, layout_of(c.plan));
    double sum = 0;
    for (const BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
        for (const Operation& op : program.operations_of(program.blocks[use.block])) {
            sum += count(program, op);
        }
    }
    return sum;
}

double calls_of(const Case& c, int stage, OpKind kind, Phase phase) {
    return sum_over(c, stage, [&](const Program&, const Operation& op) {
        return op.kind == kind && op.phase == phase && op.comm == CommKind::kNone ? 1 : 0;
    });
}

Case predicting(int modules, models::ScheduleKind schedule = models::ScheduleKind::k1f1b) {
    return toy_case("toy-moe", "toy-pp2-ep2", [&](Case& c) {
        c.workload.mtp_layers = modules;
        c.plan.schedule = schedule;
    });
}

TEST(Prediction, every_module_projects_runs_a_layer_and_the_head_once_more_in_each_pass) {
    for (const models::ScheduleKind schedule : {models::ScheduleKind::k1f1b, models::ScheduleKind::kZbH1}) {
        const Case none = predicting(0, schedule), two = predicting(2, schedule);
        const double passes = two.plan.micro_batches;
        EXPECT_EQ(calls_of(two, 0, OpKind::kPredictionInput, Phase::kForward), 0) << "they are of the last stage";
        for (const Phase phase : {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
            EXPECT_EQ(calls_of(two, 1, OpKind::kPredictionInput, phase), 2 * passes);
            EXPECT_EQ(calls_of(two, 1, OpKind::kLmHead, phase), 3 * passes);
            EXPECT_EQ(calls_of(two, 1, OpKind::kExpertComputation, phase) -
                          calls_of(none, 1, OpKind::kExpertComputation, phase),
                      2 * passes);
        }
        EXPECT_EQ(calls_of(two, 1, OpKind::kEmbedding, Phase::kForward), 2 * passes);
        EXPECT_EQ(calls_of(two, 1, OpKind::kEmbedding, Phase::kBackwardWeight), 2 * passes);
        EXPECT_EQ(calls_of(two, 1, OpKind::kCrossEntropy, Phase::kForward), 3 * passes);
    }
}

TEST(Prediction, norms_that_are_recomputed_are_made_again_for_its_projection) {
    Case c = predicting(1);
    c.plan.recompute.norm = true;
    EXPECT_EQ(calls_of(c, 1, OpKind::kPredictionInput, Phase::kRecompute), c.plan.micro_batches);
    c.plan.recompute.norm = false;
    EXPECT_EQ(calls_of(c, 1, OpKind::kPredictionInput, Phase::kRecompute), 0);
}

TEST(Prediction, the_table_of_embeddings_is_held_twice_and_its_gradients_exchanged_where_the_ends_are_on_two_stages) {
    const Case none = predicting(0), one = predicting(1);
    const double table = count_parameters(one.workload).embedding;
    EXPECT_EQ(tied_copy_parameters(none.workload, none.plan), 0);
    EXPECT_EQ(tied_copy_parameters(one.workload, one.plan), table);
    const double module = count_layer_parameters(one.workload, one.workload.layers).total();
    const auto all_of = [](const Case& c, int stage) {
        const StageParameters p = stage_parameters(c.workload, c.plan, stage);
        return p.dense + p.experts * c.plan.ep;
    };
    EXPECT_EQ(all_of(one, 1) - all_of(none, 1), module + table);
    EXPECT_EQ(all_of(one, 0), all_of(none, 0));
    for (const int stage : {0, 1}) {
        EXPECT_EQ(sum_over(one, stage,
                           [](const Program&, const Operation& op) {
                               return op.kind == OpKind::kTiedEmbeddingAllReduce ? op.bytes : 0;
                           }),
                  table * one.plan.gradient_bytes);
    }
    // Tied to the head the copy is there already; on one stage there is one table.
    Case tied = one;
    tied.workload.tied_embeddings = true;
    EXPECT_EQ(all_of(one, 1) - all_of(tied, 1), table);
    const Case on_one_stage = toy_case("toy-moe", "toy-ep2-dp2", [](Case& c) { c.workload.mtp_layers = 1; });
    EXPECT_EQ(tied_copy_parameters(on_one_stage.workload, on_one_stage.plan), 0);
}

TEST(Prediction, the_heads_gradient_is_complete_behind_all_modules) {
    const Case c = toy_case("toy-moe", "toy-pp2-ep2", [](Case& drawn) {
        drawn.workload.mtp_layers = 2;
        drawn.plan.optimizer = models::OptimizerSharding::kFsdp;
    });
    const LayerRange range = layers_of(c.workload, c.plan, 1);
    EXPECT_EQ(unit_of_layer(range, range.last - 1), 0);
    EXPECT_EQ(unit_of_layer(range, range.last - 2), 1);
    EXPECT_EQ(unit_of_head(range), 2);
    EXPECT_EQ(unit_of_layer(range, range.last - 3), 3);
    const Program program = build_program(c.workload, c.plan, c.stack, layout_of(c.plan));
    for (const Block& block : program.blocks) {
        if (block.kind != BlockKind::kBackward || block.chunk != 0) {
            continue;
        }
        std::ptrdiff_t last_head = -1, summed = -1, at = 0;
        bool has_module = false;
        for (const Operation& op : program.operations_of(block)) {
            last_head = op.kind == OpKind::kLmHead && op.phase == Phase::kBackwardWeight ? at : last_head;
            summed = op.kind == OpKind::kGradientReduceDense && op.unit == unit_of_head(range) ? at : summed;
            has_module = has_module || op.kind == OpKind::kPredictionInput;
            ++at;
        }
        if (has_module) {
            EXPECT_GT(summed, last_head);
        }
    }
}

/// Bytes of a label on a stage, the most at any time.
double label_of(const Case& c, int stage, const std::string& name) {
    const models::Layout layout = layout_of(c.plan);
    const Program program = build_program(c.workload, c.plan, c.stack, layout);
    static const models::Machine kAurora = machine();
    const StageMemory memory =
        stage_memory(c.workload, c.plan, c.stack, kAurora, layout, program, stage, routing_load(c.plan, c.workload));
    for (const auto& [key, bytes] : memory.peak_by_label) {
        if (key == name) {
            return bytes;
        }
    }
    return -1;
}

TEST(Prediction, a_module_keeps_its_embedding_two_norms_a_layer_and_what_a_head_keeps) {
    // Of a micro-batch: the embedding, the pair of norms and the input of the layer's two halves, whose inside is made
    // again; input and output of the final norm; fp32 logits and three numbers a token of the loss once more.
    const auto with = [](int modules) {
        return toy_case("toy-moe", "toy-ep2-dp2", [&](Case& c) {
            c.workload.mtp_layers = modules;
            c.plan.micro_batches = 1;
            c.plan.recompute.attention = c.plan.recompute.expert = true;
            c.plan.recompute.norm = false;
        });
    };
    const Case none = with(0), one = with(1), two = with(2);
    const double t = static_cast<double>(one.workload.sequence_length) * one.plan.micro_batch_size,
                 state = t * one.workload.hidden_size * 2;
    const double norms = 2 * state;  // of the two halves
    EXPECT_EQ(label_of(one, 0, "activations") - label_of(none, 0, "activations"),
              state + 2 * state + 2 * state + norms + 2 * state);
    EXPECT_EQ(label_of(two, 0, "activations") - label_of(one, 0, "activations"),
              label_of(one, 0, "activations") - label_of(none, 0, "activations"));
    // While the last cross entropy runs, the logits of all heads are there.
    EXPECT_EQ(label_of(two, 0, "logits") - label_of(one, 0, "logits"), t * (one.workload.vocab_size * 4 + 12));
}

TEST(RouterBias, counts_of_all_data_ranks_are_summed_once_a_step_and_nothing_is_trained) {
    for (const bool split_alike : {true, false}) {
        const auto with = [&](bool bias) {
            return toy_case("toy-moe", "toy-ep2-dp2", [&](Case& c) {
                c.workload.router_bias = bias;
                c.plan.tp = 2, c.plan.etp = split_alike ? 2 : 1, c.plan.etp_given = true;
            });
        };
        const Case c = with(true);
        const double numbers = static_cast<double>(c.workload.layers) * c.workload.num_experts;
        std::map<models::GroupKind, double> bytes;
        sum_over(c, 0, [&](const Program&, const Operation& op) {
            if (op.kind == OpKind::kRouterBiasUpdate && op.comm == CommKind::kAllReduce) {
                bytes[op.group] += op.bytes;
            }
            return 0;
        });
        const std::map<models::GroupKind, double> alike{{models::GroupKind::kDenseDp, numbers * 4}},
            apart{{models::GroupKind::kEp, numbers * 4}, {models::GroupKind::kExpertDp, numbers * 4}};
        EXPECT_EQ(bytes, split_alike ? alike : apart);
        EXPECT_EQ(calls_of(c, 0, OpKind::kRouterBiasUpdate, Phase::kOptimizer), 1);
        EXPECT_EQ(calls_of(with(false), 0, OpKind::kRouterBiasUpdate, Phase::kOptimizer), 0);
        EXPECT_EQ(stage_parameters(c.workload, c.plan, 0).dense,
                  stage_parameters(with(false).workload, c.plan, 0).dense);
        // A bias and a count an expert, fp32.
        EXPECT_EQ(label_of(c, 0, "weights") - label_of(with(false), 0, "weights"), numbers * 8);
    }
}

/// Products of experts: model FLOP and rows of the first.
std::pair<double, double> experts_of(const Case& c) {
    double flop = 0, rows = 0;
    sum_over(c, 0, [&](const Program& program, const Operation& op) {
        if (op.kind == OpKind::kExpertComputation && op.phase == Phase::kForward) {
            for (const models::Kernel& kernel : program.kernels_of(op)) {
                flop += kernel.flop * kernel.repeat;
                rows = kernel.type == models::KernelType::kGemm ? kernel.m * kernel.groups : rows;
            }
        }
        return 0;
    });
    return {flop, rows};
}

double sent_bytes(const Case& c) {
    return sum_over(c, 0, [](const Program&, const Operation& op) {
        return op.kind == OpKind::kTokenReturn && op.comm != CommKind::kNone ? op.bytes : 0;
    });
}

TEST(Capacity, cuts_rows_below_one_leaves_even_ones_above_and_pads_to_all_of_it) {
    const auto with = [](double capacity, bool pads) {
        return toy_case("toy-moe", "toy-ep2-dp2", [&](Case& c) {
            c.workload.capacity_factor = capacity, c.workload.pad_to_capacity = pads;
            c.plan.dispatch = models::Dispatch::kAllToAll;
        });
    };
    const Case all = with(0, false);
    const auto [flop, rows] = experts_of(all);
    EXPECT_EQ(rows, static_cast<double>(all.workload.sequence_length) * all.plan.micro_batch_size * all.workload.top_k);
    EXPECT_EQ(experts_of(with(1.5, false)), std::pair(flop, rows)) << "even routing drops nothing";
    EXPECT_EQ(experts_of(with(0.5, false)), std::pair(flop / 2, rows / 2));
    EXPECT_EQ(experts_of(with(1.5, true)), std::pair(flop, 1.5 * rows)) << "padding is no model FLOP";
    EXPECT_EQ(sent_bytes(with(0.5, false)), sent_bytes(all) / 2);
    EXPECT_EQ(sent_bytes(with(1.5, true)), sent_bytes(all) * 1.5);
    EXPECT_GT(label_of(with(1.5, true), 0, "activations"), label_of(all, 0, "activations"));
    EXPECT_LT(label_of(with(0.5, false), 0, "activations"), label_of(all, 0, "activations"));
}

TEST(Capacity, memory_of_uneven_layers_is_that_of_the_rank_with_most_rows_in_all_of_them) {
    // Two layers, each with all its load on another rank: over both a rank has as many rows as with even routing, which
    // is less than each layer's busiest.
    const auto with = [](std::vector<std::vector<double>> by_layer) {
        return toy_case("toy-moe", "toy-ep2-dp2", [&](Case& c) {
            c.workload.layers = 2;
            c.plan.dispatch = models::Dispatch::kAllToAll;
            c.plan.routing.kind = models::RoutingDistribution::kTrace;
            c.plan.routing.trace_shares.assign(static_cast<std::size_t>(c.workload.num_experts), 0);
            for (const std::vector<double>& of_rank : by_layer) {
                std::vector<double> shares;
                for (int i = 0; i < c.workload.num_experts; ++i) {
                    shares.push_back(of_rank[static_cast<std::size_t>(2 * i / c.workload.num_experts)]);
                    c.plan.routing.trace_shares[static_cast<std::size_t>(i)] += shares.back();
                }
                c.plan.routing.layer_shares.push_back(shares);
            }
        });
    };
    const double elsewhere = label_of(with({{0.9, 0.1}, {0.1, 0.9}}), 0, "activations"),
                 even = label_of(with({{0.5, 0.5}, {0.5, 0.5}}), 0, "activations"),
                 alike = label_of(with({{0.9, 0.1}, {0.9, 0.1}}), 0, "activations");
    EXPECT_NEAR(elsewhere, even, 2e-3 * even);  // rows are whole
    EXPECT_GT(alike, 1.05 * even);
}

}  // namespace
}  // namespace auspex::schedule
