#pragma once
/// @file Numbers of fields in et_def.proto: the writer's and the reader's one place for them.
#include <cstdint>

namespace auspex::interop::chakra_fields {

// message GlobalMetadata
inline constexpr std::uint32_t kVersion = 1, kMetadataAttr = 2;
// message Node
inline constexpr std::uint32_t kId = 1, kName = 2, kType = 3, kCtrlDeps = 4, kDataDeps = 5, kStart = 6, kDuration = 7,
                               kInputs = 8, kOutputs = 9, kAttr = 10;
// message AttributeProto: a name, a comment, and one of the values, from a double (3) to bytes (31); each is followed
// by a list of its kind.
inline constexpr std::uint32_t kAttrName = 1, kAttrComment = 2, kDoubleValue = 3, kFloatValue = 5, kInt32Value = 7,
                               kInt64Value = 9, kUint32Value = 11, kUint64Value = 13, kSint32Value = 15,
                               kSint64Value = 17, kFixed32Value = 19, kFixed64Value = 21, kSfixed32Value = 23,
                               kSfixed64Value = 25, kBoolValue = 27, kStringValue = 29, kBytesValue = 31,
                               kLastValue = 32;

}  // namespace auspex::interop::chakra_fields
