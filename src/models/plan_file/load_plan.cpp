/// @file Reads plans/*.json and checks what the file alone can tell.
#include "models/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/flag_words.hpp"
#include "models/plan_file/read_auto_order.hpp"
#include "models/plan_file/read_placement.hpp"
#include "models/plan_file/read_sharding.hpp"
#include "models/routing/trace.hpp"

namespace auspex::models {

namespace {

constexpr std::int64_t kMaxDegree = 16'777'216;
constexpr std::int64_t kMaxBatches = 1'000'000;
constexpr std::int64_t kMaxLayers = 100'000;

int read_int_or(const JsonValue& root, std::string_view key, int fallback, std::int64_t low, std::int64_t high) {
    const auto value = root.find(key);
    return value ? static_cast<int>(value->as_integer(low, high)) : fallback;
}

void read_grid(const JsonValue& root, Plan& plan) {
    bool given = false;
    for (const std::string_view key : {"dp", "ep", "etp", "tp", "pp", "cp"}) {
        given = given || root.find(key).has_value();
    }
    if (!given) {
        root.fail("the grid: at least one of the keys dp, ep, etp, tp, pp, cp");
    }
    plan.dp = read_int_or(root, "dp", 0, 0, kMaxDegree);
    plan.ep = read_int_or(root, "ep", 1, 1, kMaxDegree);
    plan.tp = read_int_or(root, "tp", 1, 1, kMaxDegree);
    plan.pp = read_int_or(root, "pp", 1, 1, kMaxDegree);
    plan.cp = read_int_or(root, "cp", 1, 1, kMaxDegree);
    plan.etp_given = root.find("etp").has_value();
    plan.etp = read_int_or(root, "etp", plan.tp, 1, kMaxDegree);
}

void read_context(const JsonValue& root, Plan& plan) {
    if (const auto value = root.find("context_parallel")) {
        plan.context = static_cast<ContextParallel>(value->as_one_of(kContextParallelWords));
    }
    if (const auto value = root.find("context_all_to_all")) {
        const bool has_windows = plan.context == ContextParallel::kWindows;
        if (plan.context != ContextParallel::kTwoLevel && !has_windows) {
            value->fail("no such key unless \"context_parallel\" is \"two-level\" or \"windows\"");
        }
        plan.context_all_to_all = static_cast<int>(value->as_integer(has_windows ? 1 : 2, kMaxDegree));
    }
}

void read_schedule(const JsonValue& root, Plan& plan) {
    plan.micro_batch_size = read_int_or(root, "micro_batch_size", 1, 1, kMaxBatches);
    plan.micro_batches = read_int_or(root, "micro_batches", 1, 1, kMaxBatches);
    if (const auto value = root.find("sequence_parallel")) {
        plan.sequence_parallel = value->as_bool();
    }
    read_context(root, plan);
    if (const auto value = root.find("schedule")) {
        plan.schedule = kScheduleKinds.at(value->as_one_of(schedule_words()));
    }
    plan.virtual_stages = read_int_or(root, "virtual_stages", is_v_shaped(plan.schedule) ? 2 : 1, 1, kMaxBatches);
    if (const auto value = root.find("post_validation")) {
        plan.post_validation = value->as_bool();
    }
    const PlanMisfit misfit = misfit_of(plan.schedule, {plan.pp, plan.micro_batches, plan.virtual_stages});
    if (misfit.field == "virtual_stages") {  // what else does not fit may be changed by others before it is resolved
        throw InputError(root.where() + ".virtual_stages", misfit.why);
    }
}

/// A word, or the layers of each virtual stage.
void read_stages(const JsonValue& root, Plan& plan) {
    const auto value = root.find("stages");
    if (!value) {
        return;
    }
    if (!value->is_array()) {
        plan.stages =
            kNamedDeals.at(word_of(*value,
                                   {to_string(kNamedDeals[0]), to_string(kNamedDeals[1]), to_string(kNamedDeals[2]),
                                    to_string(kNamedDeals[3]), to_string(kNamedDeals[4])},
                                   "the layers of each stage, such as [3, 4, 4, 3]"));
        return;
    }
    plan.stages = StageDeal::kList;
    for (const JsonValue& layers : value->elements()) {
        plan.stage_layers.push_back(static_cast<int>(layers.as_integer(0, kMaxLayers)));
    }
    const bool are_twice = has_stages_twice(plan.schedule);
    const auto stages = std::int64_t{plan.pp} * (are_twice ? 1 : plan.virtual_stages);
    if (static_cast<std::int64_t>(plan.stage_layers.size()) != stages) {
        value->fail(std::string("a number of layers for each of pp ") + (are_twice ? "" : "* virtual_stages ") + "= " +
                    std::to_string(stages) + " stages, in their order");
    }
}

void read_precision(const JsonValue& root, Plan& plan) {
    if (const auto value = root.find("precision")) {
        const bool is_fp32 = word_of(*value, {"bf16", "fp32"},
                                     "for products in 8 or 4 bits the key \"fp8\" (--set plan.fp8=tensorwise)") == 1;
        plan.precision = is_fp32 ? "fp32" : "bf16";
        plan.weight_bytes = is_fp32 ? 4 : 2;
    }
    if (const auto value = root.find("fp8")) {
        plan.fp8 = static_cast<Fp8>(value->as_one_of(kFp8Words));
        if (plan.fp8 != Fp8::kNone && plan.weight_bytes != 2) {
            value->fail("\"none\" with precision fp32");
        }
    }
    if (const auto value = root.find("fp8_weights")) {
        plan.fp8_weights_only = value->as_one_of({"copies", "only"}) == 1;
        if (plan.fp8_weights_only && plan.fp8 == Fp8::kNone) {
            value->fail("\"copies\" without fp8");
        }
    }
    if (const auto value = root.find("optimizer_states")) {
        plan.bf16_states = value->as_one_of({"fp32", "bf16"}) == 1;
        if (plan.bf16_states && plan.weight_bytes != 2) {
            value->fail("\"fp32\" with precision fp32");
        }
    }
    plan.gradient_bytes = plan.weight_bytes;
    if (const auto value = root.find("gradient_dtype")) {
        plan.gradient_bytes = value->as_one_of({"bf16", "fp32"}) == 1 ? 4 : 2;
    }
}

void read_recomputation(const JsonValue& root, Plan& plan) {
    if (const auto value = root.find("recompute")) {
        plan.recompute = read_recompute(*value);
    }
    if (const auto value = root.find("recompute_layers")) {
        if (plan.recompute == Recompute{}) {
            value->fail("no such key where \"recompute\" names nothing");
        }
        plan.recompute_layers = static_cast<int>(value->as_integer(1, kMaxLayers));
    }
}

void read_choices(const JsonValue& root, Plan& plan) {
    if (const auto value = root.find("dispatch")) {
        constexpr Dispatch kKinds[] = {Dispatch::kAllGatherReduceScatter, Dispatch::kAllToAll, Dispatch::kHierarchical};
        plan.dispatch = kKinds[value->as_one_of({"allgather-reducescatter", "alltoall", "hierarchical-alltoall"})];
    }
    if (const auto value = root.find("expert_kernels")) {
        constexpr ExpertKernels kKinds[] = {ExpertKernels::kLoop, ExpertKernels::kGrouped, ExpertKernels::kFused};
        plan.expert_kernels = kKinds[value->as_one_of({"loop", "grouped", "fused"})];
    }
    read_recomputation(root, plan);
    plan.offload_layers = read_int_or(root, "offload_layers", 0, 0, kMaxLayers);
    if (const auto list = root.find("overlap")) {
        set_flags(*list, {"tp", "ep", "dp", "pp"},
                  {&plan.overlap_tp, &plan.overlap_ep, &plan.overlap_dp, &plan.overlap_pp});
    }
}

void read_trace_file(const JsonValue& file, Plan& plan) {
    const std::string name = file.as_string();
    if (name.empty() ||
        std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
        file.fail("a file name without control characters, relative to the plan's folder");
    }
    plan.routing.trace_file = (std::filesystem::path(plan.file).parent_path() / name).string();
    Trace trace = read_trace(plan.routing.trace_file);
    plan.routing.trace_shares = std::move(trace.shares);
    plan.routing.layer_shares = std::move(trace.layer_shares);
    plan.routing.record = std::move(trace.record);
}

void read_routing(const JsonValue& root, Plan& plan) {
    const auto value = root.find("routing");
    if (!value) {
        return;
    }
    const std::string expected = "\"uniform\", \"learned\", {\"zipf\": s}, {\"dirichlet\": a} or {\"trace\": \"file\"}";
    if (value->is_string() && (value->as_string() == "uniform" || value->as_string() == "learned")) {
        plan.routing.kind =
            value->as_string() == "learned" ? RoutingDistribution::kLearned : RoutingDistribution::kUniform;
        return;
    }
    if (!value->is_object()) {
        value->fail(expected);
    }
    value->allow_only({"zipf", "dirichlet", "trace", "alike_layers"});
    const auto zipf = value->find("zipf");
    const auto dirichlet = value->find("dirichlet");
    const auto trace = value->find("trace");
    if (zipf.has_value() + dirichlet.has_value() + trace.has_value() != 1) {
        value->fail(expected);
    }
    const auto alike = value->find("alike_layers");
    plan.routing.alike_layers = alike && alike->as_bool();
    if (zipf) {
        plan.routing.kind = RoutingDistribution::kZipf;
        plan.routing.parameter = zipf->as_number(0, 10);
    } else if (dirichlet) {
        plan.routing.kind = RoutingDistribution::kDirichlet;
        plan.routing.parameter = dirichlet->as_number(0.001, 1e6);
    } else {
        plan.routing.kind = RoutingDistribution::kTrace;
        read_trace_file(*trace, plan);
    }
}

void read_rank_order(const JsonValue& root, Plan& plan) {
    const auto value = root.find("rank_order");
    if (!value) {
        return;
    }
    if (!value->is_array() || value->elements().size() != plan.rank_order.size()) {
        value->fail(
            "the four axes dp, pp, ep, tp in some order, slowest first, tp last, such as [\"pp\", \"dp\", \"ep\", "
            "\"tp\"]");
    }
    const std::vector<JsonValue> elements = value->elements();
    constexpr Axis kAxes[] = {Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp};
    std::set<Axis> seen;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        plan.rank_order[i] = kAxes[elements[i].as_one_of({"dp", "pp", "ep", "tp"})];
        if (!seen.insert(plan.rank_order[i]).second) {
            elements[i].fail("each of dp, pp, ep, tp once");
        }
    }
    if (plan.rank_order.back() != Axis::kTp) {
        value->fail(
            "tp last (fastest): the tp ranks that split a dense matrix and the etp ranks that split an expert are both "
            "cut from "
            "consecutive ranks");
    }
}

}  // namespace

Plan load_plan(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"source",
                     "dp",
                     "ep",
                     "etp",
                     "tp",
                     "pp",
                     "cp",
                     "context_parallel",
                     "context_all_to_all",
                     "virtual_stages",
                     "post_validation",
                     "sequence_parallel",
                     "micro_batch_size",
                     "micro_batches",
                     "schedule",
                     "zb_auto",
                     "stages",
                     "recompute",
                     "recompute_layers",
                     "offload_layers",
                     "precision",
                     "fp8",
                     "fp8_weights",
                     "optimizer_states",
                     "gradient_dtype",
                     "optimizer",
                     "shard_replicas",
                     "reshard_after_forward",
                     "prefetch",
                     "dispatch",
                     "expert_kernels",
                     "routing",
                     "overlap",
                     "rank_order",
                     "placement",
                     "placement_seed",
                     "placement_free"});
    if (const auto source = root.find("source"); source && source->as_string().empty()) {
        source->fail("where the layout comes from, not an empty string");
    }
    Plan plan;
    plan.file = document.name();
    plan.name = std::filesystem::path(document.name()).stem().string();
    read_grid(root, plan);
    read_schedule(root, plan);
    read_auto_order(root, plan);
    read_stages(root, plan);
    read_precision(root, plan);
    read_sharding(root, plan);
    if (plan.fp8_weights_only && plan.optimizer == OptimizerSharding::kFsdp) {
        root.at("fp8_weights").fail("\"copies\" with optimizer \"fsdp\", whose shards are cast as they are gathered");
    }
    read_choices(root, plan);
    read_routing(root, plan);
    read_rank_order(root, plan);
    read_placement(root, plan);
    return plan;
}

}  // namespace auspex::models
