/// @file Reads stacks/*.json: kernels, pipeline, optimizer, transport, collective rules, processes, what may overlap.
#include "models/stack.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/jobs/launch_settings.hpp"
#include "models/pipeline/schedule_kind.hpp"

namespace auspex::models {
namespace {

constexpr const char* kRole = "stack";
constexpr double kMaxOverhead = 10.0;  // seconds; software costs above it are slips of a unit
constexpr double kMinFraction = 0.01;
constexpr double kMaxBytes = 1e15;

double read_time(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kSeconds, 0, kMaxOverhead, kRole, stack.constants);
}

double read_time_or_none(const JsonValue& section, std::string_view key, Stack& stack) {
    return section.find(key) ? read_time(section, key, stack) : 0;
}

double read_fraction(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kNone, kMinFraction, 1, kRole, stack.constants);
}

double read_size(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kBytes, 0, kMaxBytes, kRole, stack.constants);
}

/// False where there is no such key.
bool read_flag(const JsonValue& section, std::string_view key) {
    const auto value = section.find(key);
    return value && value->as_bool();
}

int read_count(const JsonValue& section, std::string_view key, std::int64_t low) {
    return static_cast<int>(section.at(key).as_integer(low, 1000));
}

void read_counts(const JsonValue& section, KernelCounts& counts) {
    section.allow_only({"norm", "qk_norm", "rope", "residual", "activation", "router_topk", "cross_entropy",
                        "embedding", "gradient_accumulation", "attention", "optimizer"});
    counts.norm = read_count(section, "norm", 1);
    counts.qk_norm = read_count(section, "qk_norm", 1);
    counts.rope = read_count(section, "rope", 1);
    counts.residual = read_count(section, "residual", 1);
    counts.activation = read_count(section, "activation", 1);
    counts.router_topk = read_count(section, "router_topk", 1);
    counts.cross_entropy = read_count(section, "cross_entropy", 1);
    counts.embedding = read_count(section, "embedding", 1);
    counts.gradient_accumulation = read_count(section, "gradient_accumulation", 0);
    counts.attention = read_count(section, "attention", 1);
    counts.optimizer = read_count(section, "optimizer", 1);
}

void read_kernels(const JsonValue& section, Stack& stack) {
    section.allow_only({"launch", "issue", "host_sync", "backward_launch_ratio", "gemm_efficiency",
                        "attention_efficiency", "step_host", "counts", "keeps", "cross_entropy_copies"});
    stack.launch_s = read_time(section, "launch", stack);
    stack.issue_s = read_time_or_none(section, "issue", stack);
    stack.host_sync_s = read_time(section, "host_sync", stack);
    stack.backward_launch_ratio =
        read_constant(section, "backward_launch_ratio", Dimension::kNone, 0.1, 10, kRole, stack.constants);
    stack.gemm_efficiency = read_fraction(section, "gemm_efficiency", stack);
    if (section.find("attention_efficiency")) {
        stack.attention_efficiency = read_fraction(section, "attention_efficiency", stack);
    }
    stack.step_host_s = read_time(section, "step_host", stack);
    read_counts(section.at("counts"), stack.kernels);
    if (section.find("cross_entropy_copies")) {
        stack.cross_entropy_copies = read_count(section, "cross_entropy_copies", 0);
    }
    if (const auto keeps = section.find("keeps")) {
        const std::array<bool*, 2> flags{&stack.keeps_rotated, &stack.keeps_activation};
        for (const JsonValue& word : keeps->elements()) {
            bool& flag = *flags.at(word.as_one_of({"rotated", "activation"}));
            if (flag) {
                word.fail("each of rotated, activation at most once");
            }
            flag = true;
        }
    }
}

void read_pipeline(const JsonValue& section, Stack& stack) {
    section.allow_only({"blocking_sends", "sync_after_pass", "router_logits_travel"});
    stack.blocking_sends = section.at("blocking_sends").as_bool();
    stack.sync_after_pass = section.at("sync_after_pass").as_bool();
    stack.router_logits_travel = section.at("router_logits_travel").as_bool();
}

void read_optimizer(const JsonValue& section, Stack& stack) {
    section.allow_only({"reduction", "bucket", "barriers_per_step", "world_all_reduces_per_step", "loss_terms",
                        "check_gradients", "gradient_buckets", "reduce_scatter_overlaps", "fragmentation",
                        "per_parameter_ep_all_reduce"});
    stack.reduction =
        section.at("reduction").as_one_of({"flat", "bucketed"}) == 0 ? Reduction::kFlat : Reduction::kBucketed;
    if (stack.reduction == Reduction::kBucketed) {
        stack.bucket_bytes = read_constant(section, "bucket", Dimension::kBytes, 1, kMaxBytes, kRole, stack.constants);
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
    if (section.find("fragmentation")) {
        stack.fragmentation = read_constant(section, "fragmentation", Dimension::kNone, 0, 1, kRole, stack.constants);
    }
    // With the check one all-reduce is of flags and another of the loss.
    stack.world_all_reduces_per_step = read_count(section, "world_all_reduces_per_step", stack.check_gradients ? 2 : 0);
    stack.per_parameter_ep_all_reduce = section.at("per_parameter_ep_all_reduce").as_bool();
}

/// "YYYY-MM".
void check_date(const JsonValue& value) {
    const std::string date = value.as_string();
    const auto is_digit = [&date](std::size_t at) { return date[at] >= '0' && date[at] <= '9'; };
    const bool shaped = date.size() == 7 && is_digit(0) && is_digit(1) && is_digit(2) && is_digit(3) &&
                        date[4] == '-' && is_digit(5) && is_digit(6);
    if (!shaped || date.substr(5) < "01" || date.substr(5) > "12") {
        value.fail("a year and a month, such as \"2025-03\"");
    }
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
        read_constant(entry, "rank_bandwidth", Dimension::kBytesPerSecond, 1e5, 1e16, kRole, stack.constants);
    if (entry.find("rank_window")) {
        stack.rank_window_bytes =
            read_constant(entry, "rank_window", Dimension::kBytes, 1024, 1e12, kRole, stack.constants);
    }
    stack.scale_up_efficiency = read_fraction(entry, "scale_up_efficiency", stack);
    stack.scale_out_efficiency = read_fraction(entry, "scale_out_efficiency", stack);
    if (entry.find("shard_efficiency")) {
        stack.shard_efficiency = read_fraction(entry, "shard_efficiency", stack);
    }
    if (entry.find("compute_share")) {
        constexpr double kMostOfCompute = 0.9;
        stack.compute_share =
            read_constant(entry, "compute_share", Dimension::kNone, 0, kMostOfCompute, kRole, stack.constants);
    }
    stack.scale_up_message_s = read_time(entry, "scale_up_message", stack);
    stack.scale_out_message_s = read_time(entry, "scale_out_message", stack);
    if (entry.find("next_message")) {
        stack.next_message_s = read_time(entry, "next_message", stack);
    }
    stack.eager_message_s = read_time(entry, "eager_message", stack);
    stack.eager_bytes = read_size(entry, "eager", stack);
    if (const auto messages = entry.find("messages")) {
        stack.messages = read_message_rules(*messages, kRole, kMaxOverhead, stack.constants);
    }
    if (const auto paths = entry.find("node_paths")) {
        stack.node_paths = read_node_path_rules(*paths);
    }
    if (entry.find("tree_chunk")) {
        stack.tree_chunk_bytes =
            read_constant(entry, "tree_chunk", Dimension::kBytes, 1024, 1e12, kRole, stack.constants);
    }
    if (entry.find("reduction_bandwidth")) {
        stack.reduction_bytes_per_s =
            read_constant(entry, "reduction_bandwidth", Dimension::kBytesPerSecond, 1e6, 1e18, kRole, stack.constants);
    }
    stack.reduction_step_s = read_time(entry, "reduction_step", stack);
    stack.host_reduction_bytes = read_size(entry, "host_reduction", stack);
    stack.collective_launch_s = read_time(entry, "collective_launch", stack);
    stack.collective_issue_s = read_time_or_none(entry, "collective_issue", stack);
    stack.collective_check_s = read_time_or_none(entry, "collective_check", stack);
}

/// Names are part of a constant's path, where a dot separates.
void check_entry_name(const JsonValue& entries, const std::string& name) {
    const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!good) {
        throw InputError(entries.where(),
                         "found the name " + json_quote(name) + "; expected names of letters, digits and \"-\"");
    }
}

[[noreturn]] void fail_unknown_entry(const JsonValue& use, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + json_quote(name);
    }
    use.fail("the name of an entry: " + list);
}

/// Every entry is checked, whichever is in use.
void read_transport(const JsonValue& section, Stack& stack) {
    section.allow_only({"use", "entries"});
    const JsonValue use = section.at("use");
    const std::string wanted = use.as_string();
    const JsonValue entries = section.at("entries");
    for (const std::string& name : entries.keys()) {
        if (name == "comment" || name.starts_with("$")) {
            continue;
        }
        check_entry_name(entries, name);
        stack.transport_names.push_back(name);
        if (name == wanted) {
            read_transport_entry(entries.at(name), stack);
            stack.transport_name = name;
        } else {
            Stack unused;
            read_transport_entry(entries.at(name), unused);
        }
    }
    if (stack.transport_names.empty()) {
        entries.fail("at least one entry");
    }
    if (stack.transport_name.empty()) {
        fail_unknown_entry(use, stack.transport_names);
    }
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

void read_can_overlap(const JsonValue& list, Stack& stack) {
    const std::array<bool*, 4> flags{&stack.can_overlap_tp, &stack.can_overlap_ep, &stack.can_overlap_dp,
                                     &stack.can_overlap_pp};
    for (const JsonValue& word : list.elements()) {
        bool& flag = *flags.at(word.as_one_of({"tp", "ep", "dp", "pp"}));
        if (flag) {
            word.fail("each of tp, ep, dp, pp at most once");
        }
        flag = true;
    }
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
    section.allow_only({"expert_kernels", "optimizers", "dispatches", "schedules"});
    stack.offers_expert_kernels = read_words(section, "expert_kernels", kExpertKernelWords);
    stack.offers_optimizers = read_words(section, "optimizers", kOptimizerWords);
    stack.offers_dispatches = read_words(section, "dispatches", kDispatchWords);
    stack.offers_schedules = {"gpipe", "1f1b", "interleaved-1f1b"};
    if (section.find("schedules")) {
        stack.offers_schedules = read_words(section, "schedules", schedule_words());
    }
}

std::string read_text(const JsonValue& parent, std::string_view key) {
    const JsonValue value = parent.at(key);
    std::string text = value.as_string();
    if (text.empty()) {
        value.fail("a text that is not empty");
    }
    return text;
}

}  // namespace

Stack load_stack(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"name", "description", "kernels", "pipeline", "optimizer", "transport", "collectives", "processes",
                     "can_overlap", "tp_beside_products", "measured_on", "offers", "emit_format", "environment"});
    Stack stack;
    stack.file = document.name();
    stack.name = read_text(root, "name");
    if (root.find("description")) {
        static_cast<void>(read_text(root, "description"));
    }
    read_kernels(root.at("kernels"), stack);
    read_pipeline(root.at("pipeline"), stack);
    read_optimizer(root.at("optimizer"), stack);
    read_transport(root.at("transport"), stack);
    read_collectives(root.at("collectives"), stack);
    if (const auto processes = root.find("processes")) {
        read_processes(*processes, stack);
    }
    read_can_overlap(root.at("can_overlap"), stack);
    if (const auto pieces = root.find("tp_beside_products")) {
        stack.tp_beside_products = pieces->as_bool();
    }
    stack.measured_on = read_text(root, "measured_on");
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

}  // namespace auspex::models
