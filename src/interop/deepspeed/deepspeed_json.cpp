/// @file Keys of DeepSpeed's configuration.
#include "interop/deepspeed/deepspeed_json.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostSize = 1'000'000'000'000;

/// Beside those that are read: what changes no cost of a step, or less than is modelled.
constexpr std::string_view kKeysPassedOver[]{"steps_per_print",
                                             "wall_clock_breakdown",
                                             "memory_breakdown",
                                             "dump_state",
                                             "gradient_clipping",
                                             "scheduler",
                                             "flops_profiler",
                                             "tensorboard",
                                             "wandb",
                                             "csv_monitor",
                                             "comet",
                                             "comms_logger",
                                             "checkpoint",
                                             "zero_allow_untested_optimizer",
                                             "zero_force_ds_cpu_optimizer",
                                             "gradient_predivide_factor",
                                             "prescale_gradients"};
constexpr std::string_view kZeroPassedOver[]{"reduce_bucket_size",
                                             "allgather_bucket_size",
                                             "allgather_partitions",
                                             "contiguous_gradients",
                                             "round_robin_gradients",
                                             "sub_group_size",
                                             "stage3_prefetch_bucket_size",
                                             "stage3_max_live_parameters",
                                             "stage3_max_reuse_distance",
                                             "stage3_param_persistence_threshold",
                                             "stage3_gather_16bit_weights_on_model_save",
                                             "load_from_fp32_weights",
                                             "elastic_checkpoint",
                                             "ignore_unused_parameters"};

template <typename Names>
bool is_among(const Names& names, const std::string& key) {
    return std::ranges::find(names, key) != std::end(names);
}

/// Refuses "auto", which the Transformers library replaces when it starts.
std::optional<std::int64_t> count(const JsonValue& parent, std::string_view key) {
    const auto value = parent.find(key);
    if (value && value->is_string()) {
        value->fail("a whole number: what \"auto\" becomes is not in the file");
    }
    return value ? std::optional(value->as_integer(1, kMostSize)) : std::nullopt;
}

/// An object whose "enabled" is false, or none at all.
void require_off(const JsonValue& root, std::string_view key) {
    const auto section = root.find(key);
    const auto is_enabled = section && section->is_object() ? section->find("enabled") : std::nullopt;
    if (section && (!is_enabled || is_enabled->as_bool())) {
        section->fail("{\"enabled\": false}, or no such key: it is not modelled");
    }
}

void require_value(const JsonValue& section, std::string_view key, bool wanted, const char* why) {
    const auto value = section.find(key);
    if (value && value->as_bool() != wanted) {
        value->fail(std::string(wanted ? "true: " : "false: ") + why);
    }
}

/// Refuses a key that is neither in the list of those that are read nor passed over.
template <typename Names>
void require_known(const JsonValue& section, std::initializer_list<std::string_view> read, const Names& passed_over) {
    for (const std::string& key : section.keys()) {
        const bool is_comment = key == "comment" || key.starts_with("$");
        if (!is_comment && !is_among(passed_over, key) && std::ranges::find(read, key) == read.end()) {
            section.at(key).fail("no such key: it may change what a step costs and is not understood");
        }
    }
}

void read_zero(const JsonValue& section, DeepSpeedConfig& config) {
    require_known(
        section,
        {"stage", "overlap_comm", "reduce_scatter", "offload_optimizer", "offload_param", "zero_hpz_partition_size"},
        kZeroPassedOver);
    const JsonValue stage = section.at("stage");
    config.zero_stage = static_cast<int>(stage.as_integer(0, 3));
    if (const auto overlap = section.find("overlap_comm")) {
        config.overlaps = overlap->as_bool();
    } else {
        config.overlaps = config.zero_stage == 3;  // DeepSpeed's own default
    }
    require_value(section, "reduce_scatter", true, "gradients of sharded states are reduced where they belong");
    for (const char* key : {"offload_optimizer", "offload_param"}) {
        const auto offload = section.find(key);
        const auto device = offload && offload->is_object() ? offload->find("device") : std::nullopt;
        if (offload && (!device || device->as_string() != "none")) {
            offload->fail(
                "{\"device\": \"none\"}, or no such key: what lies elsewhere than on the device is not modelled");
        }
    }
    if (const auto secondary = section.find("zero_hpz_partition_size")) {
        const std::int64_t ranks = secondary->as_integer(1, kMostSize);
        config.hpz_ranks = ranks > 1 ? static_cast<int>(ranks) : 0;
        if (config.hpz_ranks > 0 && config.zero_stage != 3) {
            secondary->fail("1, or \"stage\": 3");
        }
    }
}

void read_precision(const JsonValue& root, DeepSpeedConfig& config) {
    require_off(root, "fp16");
    require_off(root, "amp");
    for (const char* key : {"bf16", "bfloat16"}) {
        if (const auto section = root.find(key)) {
            config.is_bf16 = section->at("enabled").as_bool();
        }
    }
    const auto note = [&config](const JsonValue& value) {
        const bool is_bf16 = value.as_one_of({"bf16", "fp32"}) == 0;
        if (config.has_bf16_gradients && *config.has_bf16_gradients != is_bf16) {
            value.fail("the same as data_types.grad_accum_dtype: gradients are stored and reduced in one type here");
        }
        config.has_bf16_gradients = is_bf16;
    };
    if (const auto types = root.find("data_types")) {
        types->allow_only({"grad_accum_dtype"});
        note(types->at("grad_accum_dtype"));
    }
    if (const auto type = root.find("communication_data_type")) {
        note(*type);
    }
}

void check_activations(const JsonValue& root) {
    const auto section = root.find("activation_checkpointing");
    if (!section) {
        return;
    }
    section->allow_only({"partition_activations", "cpu_checkpointing", "contiguous_memory_optimization",
                         "number_checkpoints", "synchronize_checkpoint_boundary", "profile"});
    require_value(*section, "partition_activations", false, "activations that are split over tp are no plan's");
    require_value(*section, "cpu_checkpointing", false, "what lies on the host is not modelled");
}

void check_optimizer(const JsonValue& root) {
    const auto optimizer = root.find("optimizer");
    const auto type = optimizer && optimizer->is_object() ? optimizer->find("type") : std::nullopt;
    if (type) {
        static_cast<void>(type->as_one_of({"Adam", "AdamW", "FusedAdam"}));
    }
}

}  // namespace

DeepSpeedConfig read_deepspeed_config(const JsonDocument& document) {
    const JsonValue root = document.root();
    require_known(root,
                  {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
                   "zero_optimization", "bf16", "bfloat16", "fp16", "amp", "data_types", "communication_data_type",
                   "activation_checkpointing", "optimizer"},
                  kKeysPassedOver);
    DeepSpeedConfig config;
    config.train_batch = count(root, "train_batch_size");
    config.micro_batch = count(root, "train_micro_batch_size_per_gpu");
    config.accumulation = count(root, "gradient_accumulation_steps");
    if (const auto zero = root.find("zero_optimization")) {
        read_zero(*zero, config);
    }
    read_precision(root, config);
    check_activations(root);
    check_optimizer(root);
    return config;
}

}  // namespace auspex::interop
