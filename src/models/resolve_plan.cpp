/// @file Checks a plan against the workload and the number of tiles, and fills in what follows from them.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "models/plan.hpp"

namespace auspex::models {

namespace {

[[noreturn]] void refuse(const Plan& plan, const std::string& field, const std::string& what) {
    throw InputError(plan.file + ": $." + field, what);
}

std::string text(std::int64_t value) { return std::to_string(value); }

/// "divisors of 240 up to 12: 1 2 3 4 5 6 8 10 12"
std::string divisors(std::int64_t number, std::int64_t tried) {
    const std::int64_t limit = std::min(number, std::max<std::int64_t>(12, tried));
    std::string list = "divisors of " + text(number) + " up to " + text(limit) + ":";
    for (std::int64_t divisor = 1; divisor <= limit; ++divisor) {
        list += number % divisor == 0 ? " " + text(divisor) : "";
    }
    return list;
}

void require_divides(const Plan& plan, const Workload& workload, const char* field, std::int64_t divisor,
                     const char* what, std::int64_t number) {
    if (number % divisor != 0) {
        refuse(plan, field,
               std::string(what) + " " + text(number) + " of " + workload.name + " is not divisible by " + field + " " +
                   text(divisor) + "; " + divisors(number, divisor));
    }
}

/// Degrees of a plan made in code have not been through load_plan.
void require_positive(const Plan& plan) {
    const std::pair<const char*, int> fields[] = {{"ep", plan.ep},
                                                  {"etp", plan.etp},
                                                  {"tp", plan.tp},
                                                  {"pp", plan.pp},
                                                  {"cp", plan.cp},
                                                  {"virtual_stages", plan.virtual_stages},
                                                  {"micro_batch_size", plan.micro_batch_size},
                                                  {"micro_batches", plan.micro_batches}};
    for (const auto& [field, value] : fields) {
        if (value < 1) {
            refuse(plan, field, "found " + text(value) + "; expected 1 or more");
        }
    }
    if (plan.dp < 0) {
        refuse(plan, "dp", "found " + text(plan.dp) + "; expected 1 or more, or no such key");
    }
}

/// The product, or kMaxTiles + 1 when it is larger than kMaxTiles.
std::int64_t product(std::initializer_list<int> factors) {
    std::int64_t result = 1;
    for (const int factor : factors) {
        result = std::min(result * factor, kMaxTiles + 1);
    }
    return result;
}

std::string tiles_per_replica_text(const Plan& plan) {
    return "pp " + text(plan.pp) + " * ep " + text(plan.ep) + " * etp " + text(plan.etp);
}

/// Fills in dp; afterwards tiles = pp * dp * ep * etp, which is returned.
std::int64_t resolve_dp(Plan& plan, std::int64_t tiles) {
    const std::int64_t replica = tiles_per_replica(plan);
    if (replica > kMaxTiles) {
        refuse(plan, "pp",
               tiles_per_replica_text(plan) + " is more than " + text(kMaxTiles) + " tiles; lower one of them");
    }
    if (tiles < 0 || tiles > kMaxTiles) {
        throw InputError("tiles", "found " + text(tiles) + "; expected 1 to " + text(kMaxTiles) +
                                      ", or 0 for what the plan's dp gives");
    }
    if (tiles == 0 && plan.dp == 0) {
        refuse(plan, "dp", "missing, and no number of tiles was given; give one of the two");
    }
    if (tiles > 0 && tiles % replica != 0) {
        const std::int64_t below = tiles / replica * replica;
        refuse(plan, "dp",
               text(tiles) + " tiles are not divisible by " + tiles_per_replica_text(plan) + " = " + text(replica) +
                   "; nearest numbers of tiles that are: " + (below > 0 ? text(below) + " and " : "") +
                   text(below + replica));
    }
    if (tiles > 0 && plan.dp > 0 && plan.dp != tiles / replica) {
        refuse(plan, "dp",
               "found " + text(plan.dp) + ", but " + text(tiles) + " tiles over " + tiles_per_replica_text(plan) +
                   " give dp " + text(tiles / replica) + "; leave dp out, or use " +
                   text(std::min(replica * plan.dp, kMaxTiles + 1)) + " tiles");
    }
    if (plan.dp == 0) {
        plan.dp = static_cast<int>(tiles / replica);
    }
    const std::int64_t all = replica * plan.dp;
    if (all > kMaxTiles) {
        refuse(plan, "dp",
               "found " + text(plan.dp) + ", with " + tiles_per_replica_text(plan) + " more than " + text(kMaxTiles) +
                   " tiles; at most " + text(kMaxTiles / replica));
    }
    return all;
}

/// The dense part lays its own grid over the ranks of a stage: N = tp * cp * data_parallel.
void check_dense_grid(const Plan& plan, std::int64_t stage_ranks) {
    const std::int64_t per_replica = product({plan.tp, plan.cp});
    if (per_replica > kMaxTiles || stage_ranks % per_replica != 0) {
        refuse(plan, plan.cp > 1 ? "cp" : "tp",
               "a stage's " + text(stage_ranks) + " ranks (dp " + text(plan.dp) + " * ep " + text(plan.ep) + " * etp " +
                   text(plan.etp) + ") are not divisible by tp " + text(plan.tp) + " * cp " + text(plan.cp) +
                   "; tp * cp must be one of the " + divisors(stage_ranks, std::min<std::int64_t>(per_replica, 64)));
    }
    const std::int64_t data_parallel = stage_ranks / per_replica;
    const std::int64_t rank_batch = std::int64_t{plan.micro_batch_size} * plan.micro_batches;
    constexpr std::int64_t kMaxBatch = std::numeric_limits<int>::max();
    if (rank_batch > kMaxBatch / data_parallel) {
        refuse(plan, "micro_batches",
               "micro_batch_size " + text(plan.micro_batch_size) + " * micro_batches " + text(plan.micro_batches) +
                   " * data_parallel " + text(data_parallel) + " is more than " + text(kMaxBatch) +
                   " sequences; lower one of them");
    }
}

/// Every group that states are sharded over is cut into as many: those of experts' replicas and those of the dense
/// part's, of which there may be fewer. Neighbours that have all weights between them lie in one such group.
void check_sharding(const Plan& plan, std::int64_t stage_ranks) {
    if (plan.shard_replicas < 1 || (plan.shard_replicas > 1 && !shards_in_groups(plan.optimizer))) {
        refuse(plan, "shard_replicas",
               "found " + text(plan.shard_replicas) + " with optimizer \"" + to_string(plan.optimizer) +
                   "\"; expected 1, or optimizer \"ep-aware\", \"zero-2\" or \"fsdp\"");
    }
    const std::int64_t dense = stage_ranks / plan.tp;
    if (plan.dp % plan.shard_replicas != 0 || dense % plan.shard_replicas != 0) {
        refuse(plan, "shard_replicas",
               "found " + text(plan.shard_replicas) + "; expected a divisor of dp " + text(plan.dp) +
                   " (replicas of an expert) and of " + text(dense) + " (replicas of the dense part): one of the " +
                   divisors(std::gcd(std::int64_t{plan.dp}, dense), plan.shard_replicas));
    }
    const std::int64_t of_expert = plan.dp / plan.shard_replicas, of_dense = dense / plan.shard_replicas;
    if (const int n = plan.reshard_ranks;
        n != 0 && (plan.optimizer != OptimizerSharding::kFsdp || n < 0 || std::gcd(of_expert, of_dense) % n != 0)) {
        refuse(plan, "reshard_after_forward",
               "found " + text(n) + " with optimizer \"" + to_string(plan.optimizer) +
                   "\"; expected true, or with \"fsdp\" a divisor of the " + text(of_dense) +
                   " ranks that shard the dense part and of the " + text(of_expert) + " that shard an expert");
    }
    if (plan.prefetch < 0) {
        refuse(plan, "prefetch", "found " + text(plan.prefetch) + "; expected 0 or more");
    }
}

/// The record must be of a model with the same experts and MoE layers; its batch is the trainer's to check.
void check_record(const Plan& plan, const Workload& workload) {
    if (!plan.routing.record) {
        return;
    }
    const RoutingRecord& record = *plan.routing.record;
    const int moe_layers = workload.moe_layers();
    const std::tuple<const char*, int, int> sizes[] = {{"num_experts", record.num_experts, workload.num_experts},
                                                       {"top_k", record.top_k, workload.top_k},
                                                       {"layers", record.layers, moe_layers}};
    for (const auto& [key, found, expected] : sizes) {
        if (found != expected) {
            throw InputError(
                plan.routing.trace_file + ": $.choices." + key,
                "found " + text(found) + "; expected " + text(expected) + ", as " + workload.name + " has");
        }
    }
}

void check_experts(const Plan& plan, const Workload& workload) {
    if (workload.num_experts == 0) {
        if (plan.ep != 1) {
            refuse(plan, "ep", "found " + text(plan.ep) + "; expected 1: " + workload.name + " has no experts");
        }
        if (plan.etp != plan.tp) {
            refuse(plan, "etp",
                   "found " + text(plan.etp) + "; expected tp (" + text(plan.tp) +
                       "), or no such key: " + workload.name + " has no experts to split");
        }
        if (is_skewed(plan.routing.kind)) {
            refuse(plan, "routing",
                   "found a skewed distribution; expected \"uniform\" or \"learned\": " + workload.name +
                       " has no experts");
        }
        return;
    }
    require_divides(plan, workload, "ep", plan.ep, "num_experts", workload.num_experts);
    require_divides(plan, workload, "etp", plan.etp, "expert_size", workload.expert_size);
    if (plan.routing.kind == RoutingDistribution::kTrace &&
        plan.routing.trace_shares.size() != static_cast<std::size_t>(workload.num_experts)) {
        throw InputError(plan.routing.trace_file + ": $.shares",
                         "found " + std::to_string(plan.routing.trace_shares.size()) + " shares; expected " +
                             text(workload.num_experts) + ", one per expert of " + workload.name);
    }
    check_record(plan, workload);
    const auto lists = static_cast<std::int64_t>(plan.routing.layer_shares.size());
    if (lists > 0 && lists != workload.moe_layers()) {
        throw InputError(plan.routing.trace_file + ": $.shares",
                         "found shares of " + text(lists) + " layers; expected " + text(workload.moe_layers()) +
                             ", one list per layer of " + workload.name + " that has experts, or one list for all");
    }
}

/// Listed ones, of which some may be 0.
void check_stage_layers(const Plan& plan, const Workload& workload) {
    const bool are_twice = has_stages_twice(plan.schedule);
    const std::int64_t stages = std::int64_t{plan.pp} * (are_twice ? 1 : plan.virtual_stages);
    if (static_cast<std::int64_t>(plan.stage_layers.size()) != stages) {
        refuse(plan, "stages",
               "found layers of " + text(static_cast<std::int64_t>(plan.stage_layers.size())) +
                   " stages; expected pp " + (are_twice ? "" : "* virtual_stages ") + "= " + text(stages));
    }
    const auto layers = std::accumulate(plan.stage_layers.begin(), plan.stage_layers.end(), std::int64_t{0});
    if (layers != workload.layers) {
        refuse(plan, "stages",
               "found " + text(layers) + " layers in all; expected " + text(workload.layers) + ", as " + workload.name +
                   " has");
    }
}

void check_stages(const Plan& plan, const Workload& workload) {
    const bool are_twice = has_stages_twice(plan.schedule);
    const std::int64_t chunks = std::int64_t{plan.pp} * (are_twice ? 1 : plan.virtual_stages);
    if (plan.stages == StageDeal::kList) {
        check_stage_layers(plan, workload);
    } else if (chunks > workload.layers) {
        const bool virtual_given = plan.virtual_stages > 1 && !are_twice;
        refuse(plan, "pp",
               workload.name + " has " + text(workload.layers) + " layers, fewer than pp " + text(plan.pp) +
                   (virtual_given ? " * virtual_stages " + text(plan.virtual_stages) : "") + "; at most " +
                   text(workload.layers) + (virtual_given ? " stages in all" : ""));
    }
    const PlanMisfit misfit = misfit_of(plan.schedule, {plan.pp, plan.micro_batches, plan.virtual_stages});
    if (!misfit.field.empty()) {
        refuse(plan, misfit.field, misfit.why);
    }
}

/// The first and the last stage would wait for each other's part of their table, which is what the update must not do.
void check_validation(const Plan& plan, const Workload& workload) {
    const bool is_on_two = plan.pp > 1 && !is_v_shaped(plan.schedule);
    if (plan.post_validation && is_on_two && (workload.tied_embeddings || workload.mtp_layers > 0)) {
        const std::string what = workload.tied_embeddings ? "tied embeddings" : "the embedding of prediction modules";
        const std::string key = workload.tied_embeddings ? "tied_embeddings false" : "mtp_layers 0";
        refuse(plan, "post_validation",
               "found true with " + what + " on the first and the last stage; expected false, or workload." + key);
    }
}

/// The sums of a stage that is there twice are exchanged once a step, whole or as shards of what all replicas share.
void check_copies(const Plan& plan) {
    if (!has_stages_twice(plan.schedule)) {
        return;
    }
    const std::string with = std::string(" with schedule \"") + to_string(plan.schedule) + "\"";
    if (shards_gradients(plan.optimizer)) {
        refuse(plan, "optimizer",
               std::string("found \"") + to_string(plan.optimizer) + "\"" + with +
                   ", which sums the gradients of both copies of a stage once a step; expected \"replicated\", "
                   "\"sharded\" or \"ep-aware\"");
    }
    if (plan.shard_replicas > 1) {
        refuse(plan, "shard_replicas", "found " + text(plan.shard_replicas) + with + "; expected 1");
    }
    if (plan.post_validation) {
        refuse(plan, "post_validation",
               "found true" + with + ", whose copies of a stage wait for one another; expected false");
    }
}

/// Ways that know of an image: keys and values gathered, heads exchanged, or windows dealt; and windows need one.
void check_image(const Plan& plan, const Workload& workload) {
    const std::string found = std::string("found \"") + to_string(plan.context) + "\"";
    if (!workload.image.is_given()) {
        if (plan.context == ContextParallel::kWindows) {
            refuse(plan, "context_parallel",
                   found + "; expected another word: " + workload.name + " has no workload.image");
        }
        return;
    }
    const ContextSplit split = context_split(plan);
    if (plan.cp > 1 && split.ring > 1) {
        refuse(
            plan, "context_parallel",
            found + " with the image of " + workload.name + "; expected \"windows\", \"all-to-all\" or \"all-gather\"");
    }
    if (!window_grid(workload.image, split.windows)) {
        const Image& image = workload.image;
        refuse(plan, "cp",
               "found " + text(plan.cp) + ", which are " + text(split.windows) +
                   " groups of windows; expected a number of groups that is a product of a divisor of the " +
                   text(image.rows / image.window_rows) + " rows and one of the " +
                   text(image.columns / image.window_columns) + " columns of windows of " + workload.name);
    }
}

/// A frozen copy's weights are there whole, and sequences come in pairs.
void check_objective(const Plan& plan, const Workload& workload) {
    if (workload.objective != Objective::kDpo) {
        return;
    }
    const std::string with = " with workload.objective \"dpo\" of " + workload.name;
    if (plan.optimizer == OptimizerSharding::kFsdp) {
        refuse(plan, "optimizer",
               "found \"fsdp\"" + with + ", whose reference has its weights whole; expected another word");
    }
    if (plan.micro_batch_size % 2 != 0) {
        refuse(plan, "micro_batch_size",
               "found " + text(plan.micro_batch_size) + with +
                   "; expected an even number: a chosen and a rejected sequence each");
    }
}

/// What the ranks of a tp or cp group split must come out whole.
void check_shapes(const Plan& plan, const Workload& workload) {
    require_divides(plan, workload, "tp", plan.tp, "heads", workload.heads);
    require_divides(plan, workload, "tp", plan.tp, "kv_heads", workload.kv_heads);
    if (workload.intermediate_size > 0) {
        require_divides(plan, workload, "tp", plan.tp, "intermediate_size", workload.intermediate_size);
    }
    if (workload.shared_experts > 0) {
        require_divides(plan, workload, "tp", plan.tp, "shared_experts * expert_size",
                        std::int64_t{workload.shared_experts} * workload.expert_size);
    }
    require_divides(plan, workload, "cp", plan.cp, "sequence_length", workload.sequence_length);
    const PlanMisfit misfit = context_misfit(plan.context, plan.cp, plan.context_all_to_all, workload.heads / plan.tp,
                                             workload.kv_heads / plan.tp, workload.sequence_length);
    if (!misfit.field.empty()) {
        refuse(plan, misfit.field, misfit.why);
    }
    check_image(plan, workload);
    if (plan.sequence_parallel) {
        require_divides(plan, workload, "tp", plan.tp, "sequence_parallel: sequence_length / cp",
                        workload.sequence_length / plan.cp);
    }
}

/// Parts that the model does not have cannot be recomputed by themselves.
void check_recompute(const Plan& plan, const Workload& workload) {
    const Recompute& r = plan.recompute;
    const bool projects_up = workload.attention == AttentionKind::kLatent && workload.q_rank > 0;
    if (r.latent_up && !projects_up) {
        refuse(plan, "recompute",
               "found \"latent_up\"; expected it with latent attention whose workload.q_rank is above 0");
    }
    if (r.latent_up && context_split(plan).all_to_all > 1) {
        refuse(plan, "recompute",
               "found \"latent_up\" where ranks of cp exchange heads; expected none, or context_parallel "
               "\"all-gather\" or \"ring\"");
    }
    if (r.shared_experts && workload.shared_experts == 0) {
        refuse(plan, "recompute", "found \"shared_experts\"; expected it with workload.shared_experts above 0");
    }
}

}  // namespace

std::int64_t tiles_per_replica(const Plan& plan) { return product({plan.pp, plan.ep, plan.etp}); }

int tiles_of(const Plan& plan) { return static_cast<int>(tiles_per_replica(plan) * plan.dp); }

Plan resolve_plan(const Plan& plan, const Workload& workload, int tiles) {
    Plan resolved = plan;
    if (!resolved.etp_given) {
        resolved.etp = resolved.tp;
    }
    require_positive(resolved);
    // The model's own limits come first: their messages name what to change; a wrong product of tiles often only
    // follows from them.
    check_shapes(resolved, workload);
    check_experts(resolved, workload);
    check_stages(resolved, workload);
    check_validation(resolved, workload);
    check_objective(resolved, workload);
    check_copies(resolved);
    check_recompute(resolved, workload);
    if (resolved.stages != StageDeal::kList && resolved.stages != StageDeal::kEven) {
        resolved.stage_layers = layers_dealt(workload, resolved.stages,
                                             stages_of_model(resolved.schedule, resolved.pp, resolved.virtual_stages));
    }
    if (resolved.schedule == ScheduleKind::kZbAuto) {
        resolved.auto_order = models::resolved(resolved.auto_order, workload, resolved.pp);
    }
    const std::int64_t all = resolve_dp(resolved, tiles);
    check_dense_grid(resolved, all / resolved.pp);
    check_sharding(resolved, all / resolved.pp);
    return resolved;
}

}  // namespace auspex::models
