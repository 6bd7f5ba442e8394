#pragma once
/// @file Stacks that leave communication to a library, whose own stack file has it: "communication": "rccl".
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {

/// The key that names the library.
inline constexpr const char* kCommunicationKey = "communication";

/// The stack file of a library, by its name. Throws InputError where there is none.
using LibraryLoader = std::function<JsonDocument(const std::string& name)>;
/// What a stack does with a library where it has sections of its own, too.
enum class OwnCommunication { kRefused, kReplaced };

/// A stack in full: where its "communication" names a library, "NAME" or "NAME/ENTRY", or an object has one for tiles
/// of the architecture (Tile::architecture; empty: nothing is known of them), the stack without this key and
/// with the sections transport, collectives and environment of that library's file, transport.use being ENTRY, and in
/// transport the library's name and where it was measured; any other stack as it is. Throws InputError for other texts,
/// entries that the library has not, own sections beside the key (unless they are to be replaced), a library that
/// leaves communication to another, and, naming the library's file, for what load_stack refuses of it.
[[nodiscard]] JsonDocument with_communication(const JsonDocument& stack, std::string_view architecture,
                                              OwnCommunication own, const LibraryLoader& load);
/// The same with the library's file in the stack's folder, and own sections beside the key refused.
[[nodiscard]] JsonDocument with_communication(const JsonDocument& stack, std::string_view architecture = {});

/// All that a stack's file names, on tiles of any architecture: each once, that of architectures not named first; none
/// where it has sections of its own.
[[nodiscard]] std::vector<std::string> libraries_of(const JsonDocument& stack);
/// "rccl/slingshot": the library, or the stack that has its own, and the transport's entry in use where it has several.
[[nodiscard]] std::string communication_name(const Stack& stack);
/// Of a stack whose release is another on the machine's tiles, and of a machine of accelerators that does not say what
/// they are, so that the stack is taken as it is elsewhere. Else empty.
[[nodiscard]] std::string architecture_note(const Machine& machine, const Stack& stack);
/// Of a stack whose library was not measured on this machine: which one it is, and where from. Else empty.
[[nodiscard]] std::string communication_note(const std::string& machine, const Stack& stack);

}  // namespace auspex::models
