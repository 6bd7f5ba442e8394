/// @file Fields of plans as words.
#include "cli/output/plan_output.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/text/text_list.hpp"

namespace auspex::cli {
namespace {

using Words = std::vector<std::string>;

/// Those words of which the condition holds.
Words chosen(std::initializer_list<std::pair<bool, const char*>> choices) {
    Words words;
    for (const auto& [holds, word] : choices) {
        if (holds) {
            words.emplace_back(word);
        }
    }
    return words;
}

Words recomputed(const models::Plan& p) {
    Words words;
    for (const auto& [word, part] : models::kRecomputeWords) {
        if (p.recompute.*part) {
            words.emplace_back(word);
        }
    }
    return words;
}

Words overlapped(const models::Plan& p) {
    return chosen({{p.overlap_tp, "tp"}, {p.overlap_ep, "ep"}, {p.overlap_dp, "dp"}, {p.overlap_pp, "pp"}});
}

void write_list(JsonWriter& json, const char* key, const Words& words) {
    json.key(key).begin_array();
    for (const std::string& word : words) {
        json.value(word);
    }
    json.end_array();
}

void write_routing(JsonWriter& json, const models::Routing& routing) {
    using models::RoutingDistribution;
    json.key("routing");
    switch (routing.kind) {
        case RoutingDistribution::kUniform: json.value("uniform"); return;
        case RoutingDistribution::kLearned: json.value("learned"); return;
        case RoutingDistribution::kZipf: json.begin_object().member("zipf", routing.parameter); break;
        case RoutingDistribution::kDirichlet: json.begin_object().member("dirichlet", routing.parameter); break;
        case RoutingDistribution::kTrace: json.begin_object().member("trace", routing.trace_file); break;
    }
    if (routing.alike_layers) {
        json.member("alike_layers", true);
    }
    json.end_object();
}

void write_placement(JsonWriter& json, const models::Plan& p) {
    if (p.placement == models::PlacementKind::kList) {
        json.key("placement").begin_array();
        for (const int node : p.placement_nodes) {
            json.value(node);
        }
        json.end_array();
        return;
    }
    json.member("placement", to_string(p.placement));
    if (models::draws_nodes(p.placement)) {
        json.member("placement_seed", p.placement_seed);
    }
    if (p.placement == models::PlacementKind::kScheduled) {
        json.member("placement_free", p.placement_free);
    }
}

std::string words_or_nothing(const Words& words) { return words.empty() ? "nothing" : joined(words, "+"); }

/// The word of the deal, or the layers that the plan lists.
std::string stages_text(const models::Plan& p) {
    Words layers;
    if (p.stages == models::StageDeal::kList) {
        for (const int own : p.stage_layers) {
            layers.push_back(std::to_string(own));
        }
        return joined(layers, "+");
    }
    return to_string(p.stages);
}

/// Nothing where they are even, as they are where nothing is said.
void write_stages(JsonWriter& json, const models::Plan& p) {
    if (p.stages == models::StageDeal::kList) {
        json.key("stages").begin_array();
        for (const int own : p.stage_layers) {
            json.value(own);
        }
        json.end_array();
    } else if (p.stages != models::StageDeal::kEven) {
        json.member("stages", to_string(p.stages));
    }
}

std::string recompute_text(const models::Plan& p) {
    return words_or_nothing(recomputed(p)) +
           (p.recompute_layers > 0 ? " of " + std::to_string(p.recompute_layers) + " layers a stage" : "");
}

/// Of the fields that a search varies.
std::vector<std::pair<const char*, std::string>> fields_of(const models::Plan& p) {
    return {{"pp", std::to_string(p.pp)},
            {"tp", std::to_string(p.tp)},
            {"etp", std::to_string(p.etp_given ? p.etp : p.tp)},
            {"ep", std::to_string(p.ep)},
            {"cp", std::to_string(p.cp)},
            {"micro_batch_size", std::to_string(p.micro_batch_size)},
            {"schedule", to_string(p.schedule)},
            {"virtual_stages", std::to_string(p.virtual_stages)},
            {"stages", stages_text(p)},
            {"recompute", recompute_text(p)},
            {"offload_layers", std::to_string(p.offload_layers)},
            {"optimizer", to_string(p.optimizer)},
            {"dispatch", to_string(p.dispatch)},
            {"expert_kernels", to_string(p.expert_kernels)},
            {"overlap", words_or_nothing(overlapped(p))},
            {"sequence_parallel", p.sequence_parallel ? "yes" : "no"},
            {"rank_order", p.rank_order.front() == models::Axis::kPp ? "pp first" : "dp first"}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> plan_fields(const models::Plan& plan) {
    std::vector<std::pair<std::string, std::string>> fields{{"dp", std::to_string(plan.dp)},
                                                            {"micro_batches", std::to_string(plan.micro_batches)}};
    for (const auto& [name, value] : fields_of(plan)) {
        fields.emplace_back(name, value);
    }
    return fields;
}

std::vector<PlanDifference> plan_differences(const models::Plan& plan, const models::Plan& base) {
    const auto fields = fields_of(plan), others = fields_of(base);
    std::vector<PlanDifference> found;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].second != others[i].second) {
            found.push_back({fields[i].first, fields[i].second, others[i].second});
        }
    }
    return found;
}

std::string differences_line(const models::Plan& plan, const models::Plan& base) {
    std::string text;
    for (const PlanDifference& one : plan_differences(plan, base)) {
        text += (text.empty() ? "" : ", ") + one.field + " " + one.value + " (not " + one.base + ")";
    }
    return text.empty() ? "the same plan" : text;
}

void write_auto_order(JsonWriter& json, const models::Plan& p) {
    const models::AutoOrder& order = p.auto_order;
    if (p.schedule != models::ScheduleKind::kZbAuto) {
        return;
    }
    json.key("zb_auto").begin_object();
    if (order.forward > 0) {
        json.member("F", order.forward).member("B", order.input).member("W", order.weight).member("send", order.send);
    }
    if (order.in_flight > 0) {
        json.member("in_flight", order.in_flight);
    }
    json.member("kept_for_weights", order.kept_for_weights).end_object();
}

void write_plan(JsonWriter& json, const models::Plan& p) {
    json.member("dp", p.dp).member("ep", p.ep);
    if (p.etp != p.tp) {
        json.member("etp", p.etp);
    }
    json.member("tp", p.tp).member("pp", p.pp).member("cp", p.cp);
    if (p.context != models::ContextParallel::kAllGather) {
        json.member("context_parallel", to_string(p.context));
    }
    if (p.context == models::ContextParallel::kTwoLevel || p.context == models::ContextParallel::kWindows) {
        json.member("context_all_to_all", p.context_all_to_all);
    }
    if (p.virtual_stages > 1) {
        json.member("virtual_stages", p.virtual_stages);
    }
    write_stages(json, p);
    json.member("sequence_parallel", p.sequence_parallel).member("micro_batch_size", p.micro_batch_size);
    json.member("micro_batches", p.micro_batches).member("schedule", to_string(p.schedule));
    write_auto_order(json, p);
    write_list(json, "recompute", recomputed(p));
    if (p.recompute_layers > 0) {
        json.member("recompute_layers", p.recompute_layers);
    }
    if (p.offload_layers > 0) {
        json.member("offload_layers", p.offload_layers);
    }
    json.member("precision", p.precision);
    if (p.fp8 != models::Fp8::kNone) {
        json.member("fp8", to_string(p.fp8));
    }
    if (p.fp8_weights_only) {
        json.member("fp8_weights", "only");
    }
    if (p.bf16_states) {
        json.member("optimizer_states", "bf16");
    }
    if (p.post_validation) {
        json.member("post_validation", true);
    }
    json.member("gradient_dtype", p.gradient_bytes == sizeof(float) ? "fp32" : "bf16");
    json.member("optimizer", to_string(p.optimizer));
    if (p.shard_replicas > 1) {
        json.member("shard_replicas", p.shard_replicas);
    }
    if (!p.reshard_after_forward) {
        json.member("reshard_after_forward", false);
    } else if (p.reshard_ranks > 0) {
        json.member("reshard_after_forward", p.reshard_ranks);
    }
    if (p.prefetch != models::Plan{}.prefetch) {
        json.member("prefetch", p.prefetch);
    }
    json.member("dispatch", to_string(p.dispatch));
    json.member("expert_kernels", to_string(p.expert_kernels));
    write_list(json, "overlap", overlapped(p));
    static constexpr std::array<const char*, 4> kAxes{"dp", "pp", "ep", "tp"};
    Words order;
    for (const models::Axis axis : p.rank_order) {
        order.emplace_back(kAxes.at(static_cast<std::size_t>(axis)));
    }
    write_list(json, "rank_order", order);
    write_routing(json, p.routing);
    write_placement(json, p);
}

std::string plan_line(const models::Plan& p, bool has_experts) {
    const auto field = [](const char* name, int value) {
        return std::string(name) + " " + std::to_string(value) + " ";
    };
    std::string text = field("pp", p.pp) + field("dp", p.dp);
    if (has_experts) {
        text += field("ep", p.ep) + (p.etp != p.tp ? field("etp", p.etp) : "");
    }
    text += field("tp", p.tp) + (p.cp > 1 ? field("cp", p.cp) : "") + (p.sequence_parallel ? "sp " : "");
    text += "| " + std::string(to_string(p.schedule)) +
            (p.virtual_stages > 1 ? " of " + std::to_string(p.virtual_stages) : "") + ", " +
            std::to_string(p.micro_batches) + " x " + std::to_string(p.micro_batch_size);
    if (p.stages != models::StageDeal::kEven) {
        text += " | stages " + stages_text(p);
    }
    text += " | recompute " + (recomputed(p).empty() ? "nothing" : joined(recomputed(p), "+"));
    text += std::string(" | ") + to_string(p.optimizer);
    if (has_experts) {
        text += std::string(", ") + (p.ep > 1 ? to_string(p.dispatch) + std::string(", ") : "") +
                to_string(p.expert_kernels);
    }
    if (!overlapped(p).empty()) {
        text += " | overlap " + joined(overlapped(p), "+");
    }
    if (p.rank_order.front() == models::Axis::kPp) {
        text += " | stages apart";
    }
    return text;
}

}  // namespace auspex::cli
