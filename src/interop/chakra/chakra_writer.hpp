#pragma once
/// @file Chakra traces out: messages, each behind its length.
#include <string>

#include "base/protobuf/protobuf_writer.hpp"
#include "interop/chakra/chakra_node.hpp"

namespace auspex::interop {

/// Puts messages behind one another as they stand in a file. Types of attributes are those that ASTRA-sim's old and new
/// reader both take right: num_ops, comm_type and comm_size int64, tensor_size uint64, comm_src, comm_dst, comm_tag and
/// comm_priority int32, is_cpu_op bool (always there), pg_name string (astra-sim#224).
class ChakraEncoder {
 public:
    /// The messages so far. Cleared by the caller, in portions.
    std::string bytes;
    void add(const ChakraMetadata& metadata);
    void add(const ChakraNode& node);

 private:
    void add_message();
    void integer(const char* name, std::uint32_t value_field, std::int64_t value);
    void text(std::uint32_t field, const std::string& name, const std::string& value);

    ProtobufWriter message_, attribute_, length_;
};

}  // namespace auspex::interop
