#pragma once
/// @file Chakra traces in: one file, message by message.
#include <functional>
#include <string>
#include <string_view>

#include "interop/chakra/chakra_node.hpp"

namespace auspex::interop {

/// A message of a file is at most so long: with inputs and outputs of PyTorch's operators some are a few MiB.
inline constexpr std::size_t kLongestChakraMessage = std::size_t{16} << 20U;

/// Reads a file, plain or compressed with gzip: visit(metadata) once, then visit(node) for each node, in order. A node
/// lives as long as the call. No more is in memory than the longest message. A schema of any version is read: fields
/// that are not known are passed over. Throws InputError, naming the file, the message and what was found, for a file
/// that cannot be read, is cut off or damaged, and for a node without id, type or what its type needs.
void read_chakra_file(const std::string& file, const std::function<void(const ChakraMetadata&)>& visit_metadata,
                      const std::function<void(ChakraNode&)>& visit_node);

/// One message. `place` names it in errors.
[[nodiscard]] ChakraMetadata decode_chakra_metadata(std::string_view message, const std::string& place);
/// Replaces `node`.
void decode_chakra_node(std::string_view message, const std::string& place, ChakraNode& node);

}  // namespace auspex::interop
