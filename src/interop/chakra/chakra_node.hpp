#pragma once
/// @file What a file of a Chakra execution trace holds, as plain data.
/// Source: mlcommons/chakra, schema/protobuf/et_def.proto (package ChakraProtoMsg), commit 21585d8f of 2026-05-20;
/// which attributes ASTRA-sim reads: astra-sim/astra-sim, Workload.cc and feeder_v3.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auspex::interop {

/// NodeType of the schema, with its numbers.
enum class ChakraNodeType : std::uint8_t {
    kInvalid = 0,
    kMetadata = 1,
    kMemoryLoad = 2,
    kMemoryStore = 3,
    kCompute = 4,
    kSend = 5,
    kReceive = 6,
    kCollective = 7
};
inline constexpr std::uint64_t kChakraNodeTypes = 8;
/// "COMM_COLL_NODE"
[[nodiscard]] const char* to_string(ChakraNodeType type);

/// CollectiveCommType of the schema, with its numbers.
enum class ChakraCollective : std::uint8_t {
    kAllReduce = 0,
    kReduce = 1,
    kAllGather = 2,
    kGather = 3,
    kScatter = 4,
    kBroadcast = 5,
    kAllToAll = 6,
    kReduceScatter = 7,
    kReduceScatterBlock = 8,
    kBarrier = 9
};
inline constexpr std::uint64_t kChakraCollectives = 10;
/// "ALL_REDUCE"
[[nodiscard]] const char* to_string(ChakraCollective collective);

/// One node. What its type does not have is not written; what a file does not say is not there.
struct ChakraNode {
    std::uint64_t id = 0;
    std::string name;
    ChakraNodeType type = ChakraNodeType::kInvalid;
    std::vector<std::uint64_t> ctrl_deps, data_deps;
    std::uint64_t start_micros = 0, duration_micros = 0;
    bool is_cpu_op = false;
    std::optional<std::int64_t> num_ops;       ///< FLOP
    std::optional<std::uint64_t> tensor_size;  ///< bytes to and from memory
    std::optional<ChakraCollective> comm_type;
    /// Bytes of a rank. Of an all-gather what it gives, of the others its whole buffer; of a message all of it.
    std::optional<std::int64_t> comm_size;
    std::optional<std::int64_t> comm_src, comm_dst;
    std::int64_t comm_tag = 0, comm_priority = 0;
    std::string pg_name;  ///< key of the groups' file; "" or "0": all ranks
    /// Auspex's own, which other readers pass over: the one of ctrl_deps that only keeps collectives in order for those
    /// that have one at a time, and what a node is that has no type of its own.
    std::optional<std::uint64_t> order_dep;
    std::string stands_for;
    /// Read: attributes that nothing is done with. Never written.
    std::vector<std::string> unread;
};

/// GlobalMetadata: the first message of a file.
struct ChakraMetadata {
    std::string version = "1.0.0";
    std::vector<std::pair<std::string, std::string>> texts;  ///< attributes, as texts
};

}  // namespace auspex::interop
