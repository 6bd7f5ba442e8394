/// @file Reads stacks/*.json: kernels, pipeline, optimizer, transport, collective rules, processes, what may overlap.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/flag_words.hpp"
#include "models/jobs/launch_settings.hpp"
#include "models/pipeline/schedule_kind.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/stack_file/communication.hpp"
#include "models/stack_file/read_kernels.hpp"
#include "models/stack_file/stack_values.hpp"

namespace auspex::models {
namespace {

std::string read_text(const JsonValue& parent, std::string_view key) {
    const JsonValue value = parent.at(key);
    std::string text = value.as_string();
    if (text.empty()) {
        value.fail("a text that is not empty");
    }
    return text;
}

void read_pipeline(const JsonValue& section, Stack& stack) {
    section.allow_only({"blocking_sends", "sync_after_pass", "router_logits_travel", "scatters_messages"});
    stack.blocking_sends = section.at("blocking_sends").as_bool();
    stack.sync_after_pass = section.at("sync_after_pass").as_bool();
    stack.router_logits_travel = section.at("router_logits_travel").as_bool();
    if (const auto scatters = section.find("scatters_messages")) {
        stack.scatters_messages = scatters->as_bool();
    }
}

void read_optimizer(const JsonValue& section, Stack& stack) {
    section.allow_only({"reduction", "bucket", "barriers_per_step", "world_all_reduces_per_step", "loss_terms",
                        "check_gradients", "gradient_buckets", "reduce_scatter_overlaps", "fragmentation",
                        "per_parameter_ep_all_reduce", "gathers_in_forward", "fsdp"});
    stack.reduction =
        section.at("reduction").as_one_of({"flat", "bucketed"}) == 0 ? Reduction::kFlat : Reduction::kBucketed;
    if (stack.reduction == Reduction::kBucketed) {
        stack.bucket_bytes =
            read_constant(section, "bucket", Dimension::kBytes, 1, kMaxStackBytes, kStackRole, stack.constants);
    } else if (const auto bucket = section.find("bucket")) {
        bucket->fail("no such key with \"reduction\": \"flat\"; it belongs to \"bucketed\"");
    }
    stack.barriers_per_step = read_count(section, "barriers_per_step", 0);
    if (section.find("loss_terms")) {
        stack.loss_terms = read_count(section, "loss_terms", 1);
    }
    stack.check_gradients = read_flag(section, "check_gradients");
    stack.gradient_buckets = read_flag(section, "gradient_buckets");
    const auto overlaps = section.find("reduce_scatter_overlaps");
    stack.reduce_scatter_overlaps = !overlaps || overlaps->as_bool();
    stack.gathers_in_forward = read_flag(section, "gathers_in_forward");
    if (section.find("fragmentation")) {
        stack.fragmentation =
            read_constant(section, "fragmentation", Dimension::kNone, 0, 1, kStackRole, stack.constants);
    }
    if (const auto fsdp = section.find("fsdp")) {
        set_flags(*fsdp, {"casts_shards", "frees_gradients", "keeps_last_unit", "shards_by_expert", "root_has_ends"},
                  {&stack.casts_shards, &stack.frees_gradients, &stack.keeps_last_unit, &stack.shards_by_expert,
                   &stack.root_has_ends});
    }
    // With the check one all-reduce is of flags and another of the loss.
    stack.world_all_reduces_per_step = read_count(section, "world_all_reduces_per_step", stack.check_gradients ? 2 : 0);
    stack.per_parameter_ep_all_reduce = section.at("per_parameter_ep_all_reduce").as_bool();
}

/// Reads one entry into the transport fields of `stack`, and its constants after those that are there.
void read_transport_entry(const JsonValue& entry, Stack& stack) {
    entry.allow_only({"date",
                      "staging",
                      "rank_bandwidth",
                      "rank_window",
                      "scale_up_efficiency",
                      "scale_out_efficiency",
                      "scale_up_message",
                      "scale_out_message",
                      "next_message",
                      "eager_message",
                      "eager",
                      "tree_chunk",
                      "reduction_bandwidth",
                      "reduction_step",
                      "host_reduction",
                      "collective_launch",
                      "collective_issue",
                      "collective_check",
                      "shard_efficiency",
                      "compute_share",
                      "messages",
                      "node_paths"});
    check_date(entry.at("date"));
    stack.transport_date = entry.at("date").as_string();
    stack.staging = entry.at("staging").as_one_of({"pipelined", "whole"}) == 0 ? Staging::kPipelined : Staging::kWhole;
    stack.rank_bytes_per_s =
        read_constant(entry, "rank_bandwidth", Dimension::kBytesPerSecond, 1e5, 1e16, kStackRole, stack.constants);
    if (entry.find("rank_window")) {
        stack.rank_window_bytes =
            read_constant(entry, "rank_window", Dimension::kBytes, 1024, 1e12, kStackRole, stack.constants);
    }
    stack.scale_up_efficiency = read_fraction(entry, "scale_up_efficiency", stack);
    constexpr double kLeastOfLinks = 0.001;  // TCP over fast NICs reaches less than a hundredth
    stack.scale_out_efficiency =
        read_constant(entry, "scale_out_efficiency", Dimension::kNone, kLeastOfLinks, 1, kStackRole, stack.constants);
    if (entry.find("shard_efficiency")) {
        stack.shard_efficiency = read_fraction(entry, "shard_efficiency", stack);
    }
    if (entry.find("compute_share")) {
        constexpr double kMostOfCompute = 0.9;
        stack.compute_share =
            read_constant(entry, "compute_share", Dimension::kNone, 0, kMostOfCompute, kStackRole, stack.constants);
    }
    stack.scale_up_message_s = read_time(entry, "scale_up_message", stack);
    stack.scale_out_message_s = read_time(entry, "scale_out_message", stack);
    if (entry.find("next_message")) {
        stack.next_message_s = read_time(entry, "next_message", stack);
    }
    stack.eager_message_s = read_time(entry, "eager_message", stack);
    stack.eager_bytes = read_size(entry, "eager", stack);
    if (const auto messages = entry.find("messages")) {
        stack.messages = read_message_rules(*messages, kStackRole, kMaxOverhead, stack.constants);
    }
    if (const auto paths = entry.find("node_paths")) {
        stack.node_paths = read_node_path_rules(*paths);
    }
    if (entry.find("tree_chunk")) {
        stack.tree_chunk_bytes =
            read_constant(entry, "tree_chunk", Dimension::kBytes, 1024, 1e12, kStackRole, stack.constants);
    }
    if (entry.find("reduction_bandwidth")) {
        stack.reduction_bytes_per_s = read_constant(entry, "reduction_bandwidth", Dimension::kBytesPerSecond, 1e6, 1e18,
                                                    kStackRole, stack.constants);
    }
    stack.reduction_step_s = read_time(entry, "reduction_step", stack);
    stack.host_reduction_bytes = read_size(entry, "host_reduction", stack);
    stack.collective_launch_s = read_time(entry, "collective_launch", stack);
    stack.collective_issue_s = read_time_or_none(entry, "collective_issue", stack);
    stack.collective_check_s = read_time_or_none(entry, "collective_check", stack);
}

/// Every entry is checked, whichever is in use.
void read_transport(const JsonValue& section, Stack& stack) {
    section.allow_only({"use", "entries", "library", "measured_on"});
    if (section.find("library")) {
        stack.library = read_text(section, "library");
    }
    stack.transport_measured_on = section.find("measured_on") ? read_text(section, "measured_on") : stack.measured_on;
    const DatedEntry entry = entry_in_use(section, stack.transport_names, [](const JsonValue& one) {
        Stack unused;
        read_transport_entry(one, unused);
    });
    stack.transport_name = entry.name;
    read_transport_entry(entry.value, stack);
}

void read_collectives(const JsonValue& section, Stack& stack) {
    section.allow_only({"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"});
    stack.all_reduce = read_rules(
        section, "all_reduce",
        {"auto", "ring", "recursive-doubling", "rabenseifner", "direct", "double-binary-tree", "multi-ring"});
    stack.reduce_scatter =
        read_rules(section, "reduce_scatter", {"auto", "ring", "recursive-doubling", "direct", "multi-ring"});
    stack.all_gather =
        read_rules(section, "all_gather", {"auto", "ring", "recursive-doubling", "direct", "bruck", "multi-ring"});
    stack.all_to_all = read_rules(section, "all_to_all", {"auto", "direct", "pairwise", "bruck"});
    stack.broadcast =
        read_rules(section, "broadcast", {"auto", "ring", "direct", "recursive-doubling", "double-binary-tree"});
}

void read_processes(const JsonValue& section, Stack& stack) {
    section.allow_only({"waiting", "binding", "gathered_all_reduce", "eager_near", "eager_far", "at_once_near"});
    stack.has_processes = true;
    stack.waits_by_yielding = section.at("waiting").as_one_of({"yield", "spin"}) == 0;
    stack.binds_ranks = section.at("binding").as_one_of({"core", "none"}) == 0;
    stack.gathered_all_reduce_bytes = read_size(section, "gathered_all_reduce", stack);
    stack.eager_intra_node_bytes = read_size(section, "eager_near", stack);
    stack.eager_inter_node_bytes = read_size(section, "eager_far", stack);
    stack.buffered_intra_node_bytes = read_size(section, "at_once_near", stack);
}

/// A list of words, each at most once.
std::vector<std::string> read_words(const JsonValue& parent, std::string_view key,
                                    std::span<const std::string_view> words) {
    std::vector<std::string> found;
    for (const JsonValue& word : parent.at(key).elements()) {
        static_cast<void>(word.as_one_of(words));
        if (std::find(found.begin(), found.end(), word.as_string()) != found.end()) {
            word.fail("each word at most once");
        }
        found.push_back(word.as_string());
    }
    return found;
}

constexpr std::array<std::string_view, 3> kExpertKernelWords{"loop", "grouped", "fused"};
constexpr std::array<std::string_view, 5> kOptimizerWords{"replicated", "sharded", "ep-aware", "zero-2", "fsdp"};
constexpr std::array<std::string_view, 3> kDispatchWords{"allgather-reducescatter", "alltoall",
                                                         "hierarchical-alltoall"};

void read_offers(const JsonValue& section, Stack& stack) {
    section.allow_only({"expert_kernels", "optimizers", "dispatches", "schedules", "fp8"});
    stack.offers_expert_kernels = read_words(section, "expert_kernels", kExpertKernelWords);
    stack.offers_optimizers = read_words(section, "optimizers", kOptimizerWords);
    stack.offers_dispatches = read_words(section, "dispatches", kDispatchWords);
    stack.offers_schedules = {"gpipe", "1f1b", "interleaved-1f1b"};
    if (section.find("schedules")) {
        stack.offers_schedules = read_words(section, "schedules", schedule_words());
    }
    if (section.find("fp8")) {
        stack.offers_fp8 = read_words(section, "fp8", std::span(kFp8Words).subspan(1));  // "none" is no recipe
    }
}

Stack load_stack_on(const JsonDocument& document, std::string_view architecture) {
    const JsonValue root = document.root();
    if (root.is_object() && root.find(kCommunicationKey)) {
        return load_stack_on(with_communication(document, architecture), architecture);
    }
    root.allow_only({"name", "description", "kernels", "pipeline", "optimizer", "transport", "collectives", "processes",
                     "can_overlap", "tp_beside_products", "measured_on", "offers", "emit_format", "environment",
                     "releases", "startup"});
    Stack stack;
    stack.file = document.name();
    stack.name = read_text(root, "name");
    stack.measured_on = read_text(root, "measured_on");
    if (root.find("description")) {
        static_cast<void>(read_text(root, "description"));
    }
    const std::optional<JsonValue> release = release_in_use(root, architecture, stack);
    read_kernels(root.at("kernels"), release ? release->find("kernels") : std::nullopt, stack);
    read_pipeline(root.at("pipeline"), stack);
    read_optimizer(root.at("optimizer"), stack);
    read_transport(root.at("transport"), stack);
    read_collectives(root.at("collectives"), stack);
    if (const auto processes = root.find("processes")) {
        read_processes(*processes, stack);
    }
    read_can_overlap(root, release, stack);
    stack.startup = read_stack_startup(root.find("startup"), release ? release->find("startup") : std::nullopt);
    if (const auto pieces = root.find("tp_beside_products")) {
        stack.tp_beside_products = pieces->as_bool();
    }
    read_offers(root.at("offers"), stack);
    if (const auto format = root.find("emit_format")) {
        static_cast<void>(format->as_one_of({"megatron-lm", "optimus", "torchtitan", "deepspeed"}));
        stack.emit_format = format->as_string();
    }
    if (const auto environment = root.find("environment")) {
        static_cast<void>(read_environment(*environment));  // for those who write scripts
    }
    return stack;
}

}  // namespace

Stack load_stack(const JsonDocument& document) { return load_stack_on(document, ""); }

Stack load_stack(const JsonDocument& document, const Machine& machine) {
    Stack stack = load_stack_on(document, machine.tile.architecture);
    if (!stack.attention_kernels.empty() && attention_kernel(machine.tile, stack).name != kUnfusedAttention) {
        stack.kernels.attention = 1;
    }
    return stack;
}

}  // namespace auspex::models
