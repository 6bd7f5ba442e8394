/// @file Chakra nodes to bytes.
#include "interop/chakra/chakra_writer.hpp"

#include "interop/chakra/chakra_fields.hpp"

namespace auspex::interop {

namespace fields = chakra_fields;

void ChakraEncoder::add(const ChakraMetadata& metadata) {
    message_.clear();
    message_.bytes(fields::kVersion, metadata.version);
    for (const auto& [name, value] : metadata.texts) {
        text(fields::kMetadataAttr, name, value);
    }
    add_message();
}

void ChakraEncoder::add(const ChakraNode& node) {
    message_.clear();
    message_.varint(fields::kId, node.id).bytes(fields::kName, node.name);
    message_.varint(fields::kType, static_cast<std::uint64_t>(node.type));
    const auto list = [&](std::uint32_t field, const std::vector<std::uint64_t>& ids) {
        if (!ids.empty()) {
            attribute_.clear();
            for (const std::uint64_t id : ids) {
                attribute_.append_varint(id);
            }
            message_.message(field, attribute_);
        }
    };
    list(fields::kCtrlDeps, node.ctrl_deps);
    list(fields::kDataDeps, node.data_deps);
    if (node.start_micros != 0) {
        message_.varint(fields::kStart, node.start_micros);
    }
    if (node.duration_micros != 0) {
        message_.varint(fields::kDuration, node.duration_micros);
    }
    integer("is_cpu_op", fields::kBoolValue, node.is_cpu_op ? 1 : 0);
    if (node.num_ops) {
        integer("num_ops", fields::kInt64Value, *node.num_ops);
    }
    if (node.tensor_size) {
        integer("tensor_size", fields::kUint64Value, static_cast<std::int64_t>(*node.tensor_size));
    }
    if (node.comm_type) {
        integer("comm_type", fields::kInt64Value, static_cast<std::int64_t>(*node.comm_type));
    }
    if (node.comm_size) {
        integer("comm_size", fields::kInt64Value, *node.comm_size);
        integer("comm_priority", fields::kInt32Value, node.comm_priority);
    }
    if (node.comm_src) {
        integer("comm_src", fields::kInt32Value, *node.comm_src);
    }
    if (node.comm_dst) {
        integer("comm_dst", fields::kInt32Value, *node.comm_dst);
        integer("comm_tag", fields::kInt32Value, node.comm_tag);
    }
    if (!node.pg_name.empty()) {
        text(fields::kAttr, "pg_name", node.pg_name);
    }
    if (node.order_dep) {
        integer("auspex_order_dep", fields::kUint64Value, static_cast<std::int64_t>(*node.order_dep));
    }
    if (!node.stands_for.empty()) {
        text(fields::kAttr, "auspex_stands_for", node.stands_for);
    }
    add_message();
}

void ChakraEncoder::add_message() {
    length_.clear();
    length_.append_varint(message_.view().size());
    bytes.append(length_.view()).append(message_.view());
}

void ChakraEncoder::integer(const char* name, std::uint32_t value_field, std::int64_t value) {
    attribute_.clear();
    attribute_.bytes(fields::kAttrName, name).signed_varint(value_field, value);
    message_.message(fields::kAttr, attribute_);
}

void ChakraEncoder::text(std::uint32_t field, const std::string& name, const std::string& value) {
    attribute_.clear();
    attribute_.bytes(fields::kAttrName, name).bytes(fields::kStringValue, value);
    message_.message(field, attribute_);
}

}  // namespace auspex::interop
