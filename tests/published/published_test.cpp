/// @file Predictions against what others have measured and published. The numbers and their sources are in the JSON
/// files of this folder, and of that which commands show beside predictions, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "published_cases.hpp"
#include "sim/network/collective/collective_run.hpp"
#include "sim/predict/predict.hpp"

namespace auspex {
namespace {

using namespace testing_steps;
using namespace testing_published;

constexpr const char* kShown = "machines/published/training";  // what auspex scale and ablate draw

TEST(Published, agpt_70b_step_time_follows_the_number_of_micro_batches_with_one_constant_ratio) {
    const JsonDocument document = cases("agpt-70b-bubble");
    const JsonValue root = document.root();
    models::Inputs inputs = inputs_of(root, root.at("workload").as_string(), root.at("plan").as_string());
    double smallest = 1e9, largest = 0;
    for (const JsonValue& row : root.at("rows").elements()) {
        inputs.plan.micro_batches = integer(row, "micro_batches");
        const predict::Prediction p = predict::predict(inputs, plain_options(integer(root, "tiles"))).prediction;
        const double measured_s = p.global_batch / number(row, "samples_per_s");
        const double ratio = p.step_time_s / measured_s;
        EXPECT_NEAR(ratio, 1, number(root, "each_within")) << inputs.plan.micro_batches << " micro-batches";
        smallest = std::min(smallest, ratio);
        largest = std::max(largest, ratio);
    }
    EXPECT_LE(largest / smallest, number(root, "largest_over_smallest_ratio"));
}

TEST(Published,
     mula_220b_weak_scaling_efficiency_is_97_percent_at_768_tiles_and_about_90_beyond_with_even_and_skewed_routing) {
    const JsonDocument document = cases("mula-220b-weak-scaling", kShown);
    const JsonValue root = document.root();
    JsonDocument plan = testing_plans::document("plans", root.at("plan").as_string());
    for (const JsonValue& routing : root.at("routing").elements()) {
        plan.set("routing", routing.excerpt());
        models::Inputs inputs = inputs_of(root, root.at("workload").as_string(), root.at("plan").as_string());
        inputs.plan = models::load_plan(plan);
        inputs.plan.dp = 0;
        const double reference_s = step_s(inputs, integer(root, "reference_tiles"));
        double before = 1;
        for (const JsonValue& row : root.at("rows").elements()) {
            const int tiles = integer(row, "tiles");
            const double efficiency = reference_s / step_s(inputs, tiles);
            const auto range = row.at("allowed").elements();
            EXPECT_GE(efficiency, range[0].as_number(0, 1)) << tiles << " tiles, routing " << routing.excerpt();
            EXPECT_LE(efficiency, range[1].as_number(0, 1)) << tiles << " tiles, routing " << routing.excerpt();
            EXPECT_LE(efficiency, before + 1e-3) << tiles << " tiles, routing " << routing.excerpt();
            before = efficiency;
        }
    }
}

struct ScalingRow {
    int tiles;
    double measured, predicted;  ///< tokens/s a tile
};

ScalingRow scaling_row(const JsonValue& row, const models::Inputs& inputs) {
    const int tiles = integer(row, "tiles");
    return {tiles, number(row, "tokens_per_s_per_tile"),
            predict::predict(inputs, plain_options(tiles)).prediction.tokens_per_s_per_tile};
}

/// The row of a series that its efficiencies are relative to.
ScalingRow reference_row(const JsonValue& series, const models::Inputs& inputs) {
    for (const JsonValue& row : series.at("rows").elements()) {
        if (integer(row, "tiles") == integer(series, "reference_tiles")) {
            return scaling_row(row, inputs);
        }
    }
    ADD_FAILURE() << series.at("name").as_string() << " has no row of its reference";
    return {1, 1, 1};
}

/// With the release and the optimizer states of what was measured.
models::Inputs inputs_of_release(const JsonValue& root, const JsonValue& group) {
    using testing_plans::document;
    JsonDocument stack = testing_plans::file("stacks", root.at("stack").as_string());
    stack.set("releases.use", group.at("release").as_string());
    JsonDocument plan = document("plans", group.at("plan").as_string());
    if (const auto states = group.find("optimizer_states")) {
        plan.set("optimizer_states", states->as_string());
    }
    return models::load_inputs(document("machines", root.at("machine").as_string()), std::move(stack),
                               document("workloads", group.at("workload").as_string()), std::move(plan));
}

/// Rows that come out within the tolerance, references and known misses left out.
struct RowsWithin {
    int all = 0, verified = 0;  ///< verified: those that gave no constant
};

/// Predicts a series and prints it as docs/weak-scaling-aurora.md shows it.
void expect_series(const JsonValue& root, const JsonValue& series, RowsWithin& rows) {
    const std::string name = series.at("name").as_string();
    models::Inputs inputs = inputs_of_release(root, series);
    inputs.plan.dp = 0;
    inputs.plan.micro_batch_size = integer(series, "micro_batch_size");
    inputs.plan.micro_batches = integer(series, "micro_batches");
    EXPECT_EQ(series.at("url").as_string().rfind("https://", 0), 0U) << name;
    const ScalingRow reference = reference_row(series, inputs);
    const double within = number(root, "efficiency_within");
    std::printf("%s\n| nodes | measured | predicted | efficiency | predicted | points |\n", name.c_str());
    for (const JsonValue& row : series.at("rows").elements()) {
        const ScalingRow r = scaling_row(row, inputs);
        const std::string what = name + ", " + std::to_string(r.tiles) + " tiles";
        const double measured = r.measured / reference.measured, predicted = r.predicted / reference.predicted;
        const bool is_fitted = row.at("fitted").as_bool();
        std::printf("| %d | %.0f | %.0f | %.1f | %.1f | %+.1f |%s\n", r.tiles / inputs.machine.node.tiles, r.measured,
                    r.predicted, 100 * measured, 100 * predicted, 100 * (predicted - measured),
                    is_fitted ? " fitted" : "");
        EXPECT_NEAR(r.predicted / r.measured, 1, number(root, "level_within")) << what;
        if (const auto miss = row.find("known_miss")) {
            const auto between = miss->at("between").elements();
            EXPECT_FALSE(miss->at("reason").as_string().empty()) << what;
            EXPECT_GE(predicted, between[0].as_number(0, 2)) << what << ", a known miss, has changed";
            EXPECT_LE(predicted, between[1].as_number(0, 2)) << what << ", a known miss, has changed";
            continue;
        }
        EXPECT_NEAR(predicted, measured, within) << what;
        const bool is_within = r.tiles != reference.tiles && std::abs(predicted - measured) <= within;
        rows.all += is_within, rows.verified += is_within && !is_fitted;
    }
}

TEST(Published, agpt_weak_scaling_efficiency_from_1_to_512_nodes_within_5_points_but_for_the_rows_that_say_so) {
    const JsonDocument document = cases("agpt-weak-scaling", kShown);
    const JsonValue root = document.root();
    RowsWithin rows;
    for (const JsonValue& series : root.at("series").elements()) {
        expect_series(root, series, rows);
    }
    EXPECT_GE(rows.all, integer(root, "rows_within"));
    EXPECT_GE(rows.verified, integer(root, "verified_rows"));
}

TEST(Published, agpt_30b_with_tensor_parallelism_over_1_2_and_4_tiles) {
    const JsonDocument document = cases("agpt-weak-scaling", kShown);
    const JsonValue group = document.root().at("tensor_parallel");
    models::Inputs inputs = inputs_of_release(document.root(), group);
    inputs.plan.micro_batch_size = inputs.plan.micro_batches = 1;
    for (const JsonValue& row : group.at("rows").elements()) {
        inputs.plan.tp = integer(row, "tp");
        inputs.plan.dp = integer(group, "tiles") / inputs.plan.tp;
        const double predicted =
            predict::predict(inputs, plain_options(integer(group, "tiles"))).prediction.tokens_per_s_per_tile;
        EXPECT_NEAR(predicted / number(row, "tokens_per_s_per_tile"), 1, number(group, "within"))
            << "tp " << inputs.plan.tp;
    }
}

/// Compares one speed-up of a row with the tolerance that the file gives for its kind.
void expect_speedup(const JsonValue& root, const JsonValue& row, const char* kind, double predicted) {
    const auto published = row.find(kind);
    if (!published) {
        return;
    }
    const double value = published->as_number(0.5, 100);
    const std::string what = row.at("model").as_string() + " " + row.at("variant").as_string() + " " + kind;
    const auto miss = row.find("known_miss");
    if (miss && miss->at("of").as_string() == kind) {
        const auto between = miss->at("between").elements();
        EXPECT_FALSE(miss->at("reason").as_string().empty());
        EXPECT_GE(predicted, between[0].as_number(0, 100)) << what << ", a known miss, has changed";
        EXPECT_LE(predicted, between[1].as_number(0, 100)) << what << ", a known miss, has changed";
        return;
    }
    const JsonValue small = root.at("small");
    const double share = number(root, std::string_view(kind) == "training" ? "training_within" : "component_within");
    const double allowed = value < number(small, "below") ? number(small, "within") : share * value;
    EXPECT_NEAR(predicted, value, allowed) << what;
}

TEST(Published, speed_ups_of_fused_experts_and_of_the_ep_aware_optimizer_are_those_of_table_3) {
    const JsonDocument document = cases("mula-ablation", kShown);
    const JsonValue root = document.root();
    int compared = 0;
    for (const JsonValue& row : root.at("rows").elements()) {
        const std::string model = row.at("model").as_string();
        for (const predict::AblationRow& ablation :
             predict::ablate(inputs_of(root, model, model), integer(root, "tiles"))) {
            if (ablation.name == row.at("variant").as_string()) {
                expect_speedup(root, row, "forward_backward", ablation.speedup_forward_backward);
                expect_speedup(root, row, "optimizer", ablation.speedup_optimizer);
                expect_speedup(root, row, "training", ablation.speedup_training);
                ++compared;
            }
        }
    }
    EXPECT_EQ(compared, 8);
}

struct CollectiveRow {
    std::string name, transport;
    bool fitted;
    double measured_s, predicted_s;
    [[nodiscard]] double error() const { return predicted_s / measured_s - 1; }
};

int integer_or(const JsonValue& row, std::string_view key, int otherwise) {
    return row.find(key) ? integer(row, key) : otherwise;
}

network::CollectiveJob job_of(const JsonValue& row) {
    network::CollectiveJob job;
    job.ranks = integer(row, "ranks");
    job.group_size = integer_or(row, "groups_of", job.ranks);
    job.stride = integer_or(row, "stride", 1);
    job.alone = row.find("alone").has_value();
    return job;
}

double predicted_s(const JsonValue& row, const models::Machine& machine, const models::Stack& stack, double bytes) {
    const network::CollectiveJob job = job_of(row);
    const models::Layout layout = layout_of_job(job, machine);
    network::Network network(machine, stack, layout);
    network::AlgorithmChoice choice = network::choice_by_rule(stack.all_reduce, bytes, form_of_job(network, layout));
    for (const models::CollectiveAlgorithm algorithm : network::algorithms_of(schedule::CommKind::kAllReduce)) {
        if (row.find("algorithm") && row.at("algorithm").as_string() == to_string(algorithm)) {
            choice = {algorithm, integer(row, "levels")};
        }
    }
    const int member = job.alone ? 0 : network::kAllSiblings;
    if (job.alone) {
        network.let_groups_act_alone();
    }
    return network.solo_time_s(
        network.unroll_as(choice, schedule::CommKind::kAllReduce, network::kJobGroups, 0, bytes, 1, member));
}

std::vector<CollectiveRow> collective_rows(const JsonValue& root) {
    const models::Machine machine = testing_plans::machine(root.at("machine").as_string());
    std::vector<CollectiveRow> rows;
    for (const JsonValue& row : root.at("rows").elements()) {
        JsonDocument stack = testing_plans::document("stacks", root.at("stack").as_string());
        stack.set("transport.use", row.at("transport").as_string());
        EXPECT_FALSE(row.at("source").as_string().empty());
        const double bytes = row.at("bytes").as_quantity(Dimension::kBytes, 1, 1e12);
        rows.push_back({row.at("name").as_string(), row.at("transport").as_string(), row.at("fitted").as_bool(),
                        row.at("time").as_quantity(Dimension::kSeconds, 1e-9, 1e3),
                        predicted_s(row, machine, models::load_stack(stack), bytes)});
    }
    return rows;
}

/// As docs/collectives.md shows it.
void print_rows(const std::vector<CollectiveRow>& rows, bool fitted) {
    std::printf("| %s | transport | measured ms | predicted ms | error |\n", fitted ? "fitted" : "verified");
    for (const CollectiveRow& row : rows) {
        if (row.fitted == fitted) {
            std::printf("| %s | %s | %.4g | %.4g | %+.0f %% |\n", row.name.c_str(), row.transport.c_str(),
                        1e3 * row.measured_s, 1e3 * row.predicted_s, 100 * row.error());
        }
    }
}

TEST(Published, all_reduces_on_aurora_from_one_node_to_8192) {
    const JsonDocument document = cases("aurora-collectives");
    const JsonValue root = document.root();
    const std::vector<CollectiveRow> rows = collective_rows(root);
    print_rows(rows, false);
    print_rows(rows, true);
    for (const JsonValue& rule : root.at("each_within").elements()) {
        const std::string name = rule.at("name").as_string();
        int matched = 0;
        for (const CollectiveRow& row : rows) {
            if (row.name.starts_with(name)) {
                EXPECT_LE(std::abs(row.error()), rule.at("error").as_number(0, 1)) << row.name;
                ++matched;
            }
        }
        EXPECT_GE(matched, 1) << name;
    }
    const JsonValue mean = root.at("verified_mean_error");
    double sum = 0, count = 0;
    for (const CollectiveRow& row : rows) {
        if (!row.fitted && row.transport == mean.at("transport").as_string()) {
            sum += std::abs(row.error());
            count += 1;
        }
    }
    EXPECT_GE(count, 10);
    EXPECT_LT(sum / count, mean.at("below").as_number(0, 1));
}

/// Ten layouts of two models, five each: as MFU the order of all is the measured one, and folded attention and expert
/// groups gain over coupled ones what was measured, within some points.
TEST(Published, moe_layouts_come_in_the_measured_order_folded_before_coupled_before_the_rest) {
    const JsonDocument document = cases("moe-layouts");
    const JsonValue root = document.root();
    for (const JsonValue& group : root.at("groups").elements()) {
        const std::string workload = group.at("workload").as_string();
        models::Inputs inputs = inputs_of(root, workload, workload);
        std::vector<std::pair<double, double>> measured_and_predicted;
        for (const JsonValue& layout : group.at("layouts").elements()) {
            JsonDocument plan = testing_plans::document("plans", workload);
            for (const std::string& field : layout.at("set").keys()) {
                plan.set(field, layout.at("set").at(field).as_string());
            }
            inputs.plan = models::load_plan(plan);
            const int tiles = integer(group, "tiles");
            measured_and_predicted.emplace_back(number(layout, "mfu_percent"),
                                                100 * predict::predict(inputs, plain_options(tiles)).prediction.mfu);
        }
        std::ranges::sort(measured_and_predicted, std::greater());
        for (std::size_t i = 1; i < measured_and_predicted.size(); ++i) {
            EXPECT_GT(measured_and_predicted[i - 1].second, measured_and_predicted[i].second)
                << workload << ": " << measured_and_predicted[i].first << " % measured";
        }
        const auto [folded, coupled] = std::pair(measured_and_predicted[0], measured_and_predicted[1]);
        EXPECT_NEAR(folded.second / coupled.second, folded.first / coupled.first,
                    number(root, "folded_over_coupled_within"))
            << workload;
    }
}

/// Samples a second of `schedule` over those of 1f1b, less 1, in percent.
double gain_over_1f1b(models::Inputs inputs, models::ScheduleKind schedule) {
    const auto seconds = [&inputs](models::ScheduleKind kind, bool post_validation) {
        inputs.plan.schedule = kind;
        inputs.plan.post_validation = post_validation;
        return predict::predict(inputs, plain_options(inputs.plan.pp)).prediction.step_time_s;
    };
    return 100 * (seconds(models::ScheduleKind::k1f1b, false) / seconds(schedule, true) - 1);
}

/// Two models, three numbers of micro-batches: gains of weight gradients apart, with the memory of 1F1B and twice of
/// it.
TEST(Published, zero_bubble_schedules_gain_over_1f1b_what_their_authors_measured_within_points) {
    const JsonDocument document = cases("zero-bubble");
    const JsonValue root = document.root();
    for (const JsonValue& model : root.at("models").elements()) {
        models::Inputs inputs = inputs_of(root, "gpt3-175b", "gpt3-175b");
        models::Workload& w = inputs.workload;
        w.layers = integer(model, "layers"), w.heads = w.kv_heads = integer(model, "heads");
        w.hidden_size = integer(model, "hidden_size");
        w.head_size = w.value_head_size = w.hidden_size / w.heads;
        w.intermediate_size = 4 * w.hidden_size;
        w.sequence_length = 1024;
        w.tied_embeddings = false;  // post-validation lets no two stages wait for each other
        models::Plan& p = inputs.plan;
        p = models::Plan{};
        p.dp = 1, p.pp = 8, p.gradient_bytes = 4, p.micro_batch_size = integer(model, "micro_batch_size");
        p.stages = models::StageDeal::kWithBoth;
        p.optimizer = models::OptimizerSharding::kReplicated;
        for (const JsonValue& run : model.at("runs").elements()) {
            p.micro_batches = integer(run, "micro_batches");
            const auto measured = [&run](const char* word) {
                return 100 * (number(run, word) / number(run, "1f1b") - 1);
            };
            const std::string where = model.at("name").as_string() + ", " + std::to_string(p.micro_batches);
            EXPECT_NEAR(gain_over_1f1b(inputs, models::ScheduleKind::kZbH1), measured("zb-1p"),
                        number(root, "gain_within_points"))
                << where;
            EXPECT_NEAR(gain_over_1f1b(inputs, models::ScheduleKind::kZbH2), measured("zb-2p"),
                        number(model, "zb_2p_within_points"))
                << where;
        }
    }
}

}  // namespace
}  // namespace auspex
