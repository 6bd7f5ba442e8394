/// @file Words and keys of sharding.
#include "models/read_sharding.hpp"

#include <optional>

namespace auspex::models {
namespace {

constexpr std::int64_t kMaxReplicas = 16'777'216;
constexpr std::int64_t kMaxPrefetch = 1'000;
constexpr std::size_t kEpAware = 2, kFsdp = 4;  ///< words: from the first on all replicas shard as one group

}  // namespace

ShardingKeys read_sharding(const JsonValue& root) {
    ShardingKeys keys;
    if (const auto value = root.find("optimizer")) {
        keys.optimizer = value->as_one_of({"replicated", "sharded", "ep-aware", "zero-2", "fsdp"});
    }
    if (const auto value = root.find("shard_replicas")) {
        keys.shard_replicas = static_cast<int>(value->as_integer(1, kMaxReplicas));
        if (keys.shard_replicas > 1 && keys.optimizer < kEpAware) {
            value->fail("1, or \"optimizer\": \"ep-aware\", \"zero-2\" or \"fsdp\"");
        }
    }
    const auto find_of_fsdp = [&](const char* key) {
        auto value = root.find(key);
        if (value && keys.optimizer != kFsdp) {
            value->fail("no such key without \"optimizer\": \"fsdp\"");
        }
        return value;
    };
    if (const auto value = find_of_fsdp("reshard_after_forward")) {
        keys.reshard_after_forward = value->as_bool();
    }
    if (const auto value = find_of_fsdp("prefetch")) {
        keys.prefetch = static_cast<int>(value->as_integer(0, kMaxPrefetch));
    }
    return keys;
}

}  // namespace auspex::models
