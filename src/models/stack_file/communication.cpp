/// @file Joins a stack and the sections of its library.
#include "models/stack_file/communication.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "models/stack_file/library_beside.hpp"

namespace auspex::models {
namespace {

constexpr std::string_view kOtherwise = "otherwise";  ///< of architectures that are not named
constexpr std::array<std::string_view, 3> kSections{"transport", "collectives", "environment"};

bool is_section(std::string_view key) { return std::ranges::find(kSections, key) != kSections.end(); }

/// "rccl/slingshot"; no entry: the one that the library uses.
struct Choice {
    std::string library, entry;
};

Choice read_text(const JsonValue& key) {
    constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const std::string text = key.as_string();
    const std::size_t slash = text.find('/');
    Choice choice{text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 1)};
    const auto is_name = [&](const std::string& name) {
        return !name.empty() && name.front() != '.' && name.find_first_not_of(kOfNames) == std::string::npos;
    };
    if (!is_name(choice.library) || (slash != std::string::npos && !is_name(choice.entry))) {
        key.fail(
            "the name of a stack that has a transport, \"rccl\", alone or with an entry of it, \"rccl/slingshot\"");
    }
    return choice;
}

/// The text, or of an object the one of the architecture, after all of them are checked.
JsonValue text_for(const JsonValue& key, std::string_view architecture) {
    if (!key.is_object()) {
        return key;
    }
    std::vector<std::string_view> words{kOtherwise};
    words.insert(words.end(), kArchitectures.begin(), kArchitectures.end());
    key.allow_only(words);
    for (const std::string& name : key.keys()) {
        if (name != "comment") {
            static_cast<void>(read_text(key.at(name)));
        }
    }
    const JsonValue otherwise = key.at(kOtherwise);
    const auto own = architecture.empty() ? std::nullopt : key.find(architecture);
    return own ? *own : otherwise;
}

/// Members of an object as text, each with a comma behind it.
std::string members(const JsonValue& object, const std::function<bool(const std::string& key)>& wanted) {
    std::string text;
    for (const std::string& key : object.keys()) {
        text += wanted(key) ? json_quote(key) + ":" + object.at(key).dump() + "," : "";
    }
    return text;
}

}  // namespace

JsonDocument with_communication(const JsonDocument& stack, std::string_view architecture, OwnCommunication own,
                                const LibraryLoader& load) {
    const JsonValue root = stack.root();
    const auto whole_key = root.is_object() ? root.find(kCommunicationKey) : std::nullopt;
    if (!whole_key) {
        return stack;
    }
    const JsonValue key = text_for(*whole_key, architecture);
    const Choice choice = read_text(key);
    for (const std::string_view section : kSections) {
        if (const auto present = root.find(section); present && own == OwnCommunication::kRefused) {
            throw InputError(present->where(), "found this section beside \"communication\": " + key.excerpt() +
                                                   "; expected one of the two");
        }
    }
    const JsonDocument library = load(choice.library);
    const Stack read = load_stack(library);
    if (!read.library.empty()) {
        key.fail("a stack with a transport of its own, which " + library.name() + " leaves to " +
                 json_quote(read.library));
    }
    const std::vector<std::string>& entries = read.transport_names;
    if (!choice.entry.empty() && std::ranges::find(entries, choice.entry) == entries.end()) {
        std::string list = choice.library;
        for (const std::string& entry : entries) {
            list += ", " + choice.library + "/" + entry;
        }
        key.fail("one of " + list);
    }
    std::string text =
        "{" + members(root, [](const std::string& name) { return name != kCommunicationKey && !is_section(name); }) +
        members(library.root(), is_section);
    text.back() = '}';
    JsonDocument whole = stack.joined(text, library);
    whole.set("transport.library", json_quote(choice.library));
    whole.set("transport.measured_on", library.root().at("measured_on").dump());
    if (!choice.entry.empty()) {
        whole.set("transport.use", json_quote(choice.entry));
    }
    return whole;
}

JsonDocument with_communication(const JsonDocument& stack, std::string_view architecture) {
    return with_communication(stack, architecture, OwnCommunication::kRefused, [&stack](const std::string& name) {
        std::optional<JsonDocument> library = library_beside(stack.name(), name);
        if (!library) {
            throw InputError(stack.name() + ": $." + kCommunicationKey,
                             "found " + json_quote(name) + ", and no " + name + ".json in the same folder");
        }
        return std::move(*library);
    });
}

std::vector<std::string> libraries_of(const JsonDocument& stack) {
    std::vector<std::string> libraries;
    const auto add = [&libraries](const JsonValue& choice) {
        const std::string library = read_text(choice).library;
        if (std::ranges::find(libraries, library) == libraries.end()) {
            libraries.push_back(library);
        }
    };
    const auto key = stack.root().find(kCommunicationKey);
    if (key && !key->is_object()) {
        add(*key);
    } else if (key) {
        add(key->at(kOtherwise));
        for (const std::string_view architecture : kArchitectures) {
            if (const auto own = key->find(architecture)) {
                add(*own);
            }
        }
    }
    return libraries;
}

std::string communication_name(const Stack& stack) {
    return (stack.library.empty() ? stack.name : stack.library) +
           (stack.transport_name.empty() ? "" : "/" + stack.transport_name);
}

std::string architecture_note(const Machine& machine, const Stack& stack) {
    if (machine.cpu.cores == 0 && machine.tile.architecture.empty()) {
        return "machine " + machine.name + " has no tile.architecture: what stack " + stack.name +
               " has for one alone, a library or a part of its release, is left out";
    }
    return stack.release_on.empty() ? ""
                                    : "release " + stack.release + " of stack " + stack.name +
                                          " is as its file has it on " + stack.release_on;
}

std::string communication_note(const std::string& machine, const Stack& stack) {
    const std::string& measured_on = stack.transport_measured_on;
    if (stack.library.empty() || measured_on == machine) {
        return "";
    }
    return "communication is that of " + communication_name(stack) +
           (measured_on == "none" ? ", measured on no machine here" : ", with constants of " + measured_on);
}

}  // namespace auspex::models
