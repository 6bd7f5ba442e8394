#pragma once
/// @file DeepSpeed's JSON as far as a plan needs it.
#include <cstdint>
#include <optional>

#include "base/json.hpp"

namespace auspex::interop {

struct DeepSpeedConfig {
    std::optional<std::int64_t> train_batch, micro_batch, accumulation;
    int zero_stage = 0;
    int hpz_ranks = 0;      ///< zero_hpz_partition_size above 1
    bool overlaps = false;  ///< reduction of gradients, behind no pipeline
    bool is_bf16 = false;
    std::optional<bool> has_bf16_gradients;  ///< none: as the precision and ZeRO make them
};

/// Throws InputError for keys that are not known, "auto", fp16, offloading, ZeRO 2 and above 3, and what else is not
/// modelled.
[[nodiscard]] DeepSpeedConfig read_deepspeed_config(const JsonDocument& document);

}  // namespace auspex::interop
