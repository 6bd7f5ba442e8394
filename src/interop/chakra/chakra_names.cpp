/// @file Words of the schema.
#include <array>

#include "interop/chakra/chakra_node.hpp"

namespace auspex::interop {

const char* to_string(ChakraNodeType type) {
    static constexpr std::array<const char*, kChakraNodeTypes> kNames{
        "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
        "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
    return kNames[static_cast<std::size_t>(type)];
}

const char* to_string(ChakraCollective collective) {
    static constexpr std::array<const char*, kChakraCollectives> kNames{
        "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
        "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
    return kNames[static_cast<std::size_t>(collective)];
}

}  // namespace auspex::interop
