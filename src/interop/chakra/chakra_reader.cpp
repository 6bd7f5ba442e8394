/// @file Bytes to Chakra nodes.
#include "interop/chakra/chakra_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/protobuf/protobuf_reader.hpp"
#include "interop/chakra/chakra_fields.hpp"

namespace auspex::interop {
namespace {

namespace fields = chakra_fields;

/// What an attribute says, of whatever kind its value is.
struct Attribute {
    std::string name;
    std::optional<std::int64_t> integer;  ///< also of a whole floating-point number
    std::optional<std::string> text;
    std::string shown;  ///< for messages
};

std::int64_t zigzag(std::uint64_t value) { return static_cast<std::int64_t>(value >> 1U ^ (~(value & 1U) + 1)); }

void take_floating(Attribute& attribute, double value) {
    attribute.shown = std::to_string(value);
    constexpr double kLargest = 9e15;  // whole numbers up to here are exact
    if (std::abs(value) < kLargest && value == std::floor(value)) {
        attribute.integer = static_cast<std::int64_t>(value);
    }
}

void take_integer(Attribute& attribute, std::int64_t value) {
    attribute.integer = value;
    attribute.shown = std::to_string(value);
}

/// Lists and values of unknown kind leave both empty.
void take_value(Attribute& attribute, const ProtobufField& field) {
    const bool is_number = field.type == WireType::kVarint;
    switch (field.number) {
        case fields::kDoubleValue:
            field.type == WireType::kFixed64 ? take_floating(attribute, field.as_double()) : void();
            return;
        case fields::kFloatValue:
            field.type == WireType::kFixed32 ? take_floating(attribute, double{field.as_float()}) : void();
            return;
        case fields::kInt32Value:
        case fields::kInt64Value:
        case fields::kUint32Value:
        case fields::kUint64Value:
        case fields::kBoolValue:
            is_number ? take_integer(attribute, static_cast<std::int64_t>(field.value)) : void();
            return;
        case fields::kSint32Value:
        case fields::kSint64Value: is_number ? take_integer(attribute, zigzag(field.value)) : void(); return;
        case fields::kFixed32Value:
        case fields::kSfixed32Value:
            field.type == WireType::kFixed32
                ? take_integer(attribute, static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value)))
                : void();
            return;
        case fields::kFixed64Value:
        case fields::kSfixed64Value:
            field.type == WireType::kFixed64 ? take_integer(attribute, static_cast<std::int64_t>(field.value)) : void();
            return;
        case fields::kStringValue:
        case fields::kBytesValue:
            if (field.type == WireType::kBytes) {
                attribute.text = std::string(field.bytes);
                attribute.shown = printable(field.bytes);
            }
            return;
        default: attribute.shown = "a list"; return;
    }
}

Attribute decode_attribute(std::string_view message, const std::string& place) {
    Attribute attribute;
    ProtobufReader reader(message, place);
    ProtobufField field;
    while (reader.next(field)) {
        if (field.number == fields::kAttrName) {
            reader.require(field, WireType::kBytes, "name");
            attribute.name = std::string(field.bytes);
        } else if (field.number > fields::kAttrComment && field.number <= fields::kLastValue) {
            take_value(attribute, field);
        }
    }
    return attribute;
}

std::int64_t integer_of(const Attribute& attribute, std::int64_t low, std::int64_t high, const std::string& place) {
    if (!attribute.integer || *attribute.integer < low || *attribute.integer > high) {
        throw InputError(place, attribute.name + ": found " +
                                    (attribute.shown.empty() ? "no value" : "\"" + attribute.shown + "\"") +
                                    "; expected a whole number from " + std::to_string(low) + " to " +
                                    std::to_string(high));
    }
    return *attribute.integer;
}

/// True if the attribute is one that something is done with.
bool take(ChakraNode& node, const Attribute& attribute, const std::string& place) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 60U, kLargestRank = 100'000'000;
    const auto integer = [&](std::int64_t low, std::int64_t high) { return integer_of(attribute, low, high, place); };
    const std::string& name = attribute.name;
    if (name == "is_cpu_op") {
        node.is_cpu_op = integer(0, 1) == 1;
    } else if (name == "num_ops") {
        node.num_ops = integer(0, kLargest);
    } else if (name == "tensor_size") {
        node.tensor_size = static_cast<std::uint64_t>(integer(0, kLargest));
    } else if (name == "comm_type") {
        node.comm_type = static_cast<ChakraCollective>(integer(0, std::int64_t{kChakraCollectives} - 1));
    } else if (name == "comm_size") {
        node.comm_size = integer(0, kLargest);
    } else if (name == "comm_src") {
        node.comm_src = integer(0, kLargestRank);
    } else if (name == "comm_dst") {
        node.comm_dst = integer(0, kLargestRank);
    } else if (name == "comm_tag") {
        node.comm_tag = integer(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::uint32_t>::max());
    } else if (name == "pg_name") {
        node.pg_name = attribute.text ? *attribute.text : std::to_string(integer(0, kLargestRank));
    } else if (name == "auspex_order_dep") {
        node.order_dep = static_cast<std::uint64_t>(integer(0, std::numeric_limits<std::int64_t>::max()));
    } else if (name == "auspex_stands_for") {
        node.stands_for = attribute.text.value_or("");
    } else {
        return name == "comm_priority" || name == "tensor_loc";  // ASTRA-sim reads these; neither costs anything here
    }
    return true;
}

/// Packed or one by one.
void take_ids(std::vector<std::uint64_t>& ids, const ProtobufField& field, const ProtobufReader& reader,
              const char* name) {
    if (field.type == WireType::kVarint) {
        ids.push_back(field.value);
        return;
    }
    reader.require(field, WireType::kBytes, name);
    std::string_view left = field.bytes;
    while (!left.empty()) {
        const std::optional<std::uint64_t> id = take_varint(left);
        if (!id) {
            reader.refuse(std::string("found ") + name + " with a number that is cut off or longer than 64 bits");
        }
        ids.push_back(*id);
    }
}

void require_parts(const ChakraNode& node, const std::string& place) {
    const auto require = [&](bool is_there, const char* what) {
        if (!is_there) {
            throw InputError(
                place, std::string("found ") + to_string(node.type) + " without " + what + "; expected that attribute");
        }
    };
    const bool sends = node.type == ChakraNodeType::kSend, receives = node.type == ChakraNodeType::kReceive;
    if (node.type == ChakraNodeType::kCollective) {
        require(node.comm_type.has_value(), "comm_type");
        require(node.comm_size.has_value() || *node.comm_type == ChakraCollective::kBarrier, "comm_size");
    } else if (sends || receives) {
        require(node.comm_size.has_value(), "comm_size");
        require(sends ? node.comm_dst.has_value() : node.comm_src.has_value(), sends ? "comm_dst" : "comm_src");
    }
}

}  // namespace

ChakraMetadata decode_chakra_metadata(std::string_view message, const std::string& place) {
    ChakraMetadata metadata;
    metadata.version.clear();
    ProtobufReader reader(message, place);
    ProtobufField field;
    while (reader.next(field)) {
        if (field.number == fields::kVersion) {
            reader.require(field, WireType::kBytes, "version");
            metadata.version = std::string(field.bytes);
        } else if (field.number == fields::kMetadataAttr) {
            reader.require(field, WireType::kBytes, "attr");
            const Attribute attribute = decode_attribute(field.bytes, place);
            metadata.texts.emplace_back(attribute.name, attribute.text.value_or(attribute.shown));
        }
    }
    return metadata;
}

void decode_chakra_node(std::string_view message, const std::string& place, ChakraNode& node) {
    node = ChakraNode();
    std::string where = place;
    std::uint64_t type = 0;
    ProtobufReader reader(message, place);
    ProtobufField field;
    const auto number = [&](const char* name) {
        reader.require(field, WireType::kVarint, name);
        return field.value;
    };
    while (reader.next(field)) {
        switch (field.number) {
            case fields::kId:
                node.id = number("id");
                where = place + " (id " + std::to_string(node.id) + ")";
                break;
            case fields::kName:
                reader.require(field, WireType::kBytes, "name");
                node.name = std::string(field.bytes);
                break;
            case fields::kType: type = number("type"); break;
            case fields::kCtrlDeps: take_ids(node.ctrl_deps, field, reader, "ctrl_deps"); break;
            case fields::kDataDeps: take_ids(node.data_deps, field, reader, "data_deps"); break;
            case fields::kStart: node.start_micros = number("start_time_micros"); break;
            case fields::kDuration: node.duration_micros = number("duration_micros"); break;
            case fields::kAttr: {
                reader.require(field, WireType::kBytes, "attr");
                Attribute attribute = decode_attribute(field.bytes, where);
                if (!take(node, attribute, where)) {
                    node.unread.push_back(std::move(attribute.name));
                }
                break;
            }
            default: break;
        }
    }
    if (type == 0 || type >= kChakraNodeTypes) {
        throw InputError(where, "type: found " + std::to_string(type) + "; expected 1 (METADATA) to 7 (COMM_COLL)");
    }
    node.type = static_cast<ChakraNodeType>(type);
    require_parts(node, where);
}

}  // namespace auspex::interop
