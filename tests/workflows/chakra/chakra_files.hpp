#pragma once
/// @file Chakra traces read by the schema alone, with none of the writer's code; and a folder to put them in.
#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../base/wire_fields.hpp"
#include "base/json.hpp"

namespace auspex::testing_chakra {

/// An attribute: which of the values of the schema it has, by field number, and what that is.
struct FileAttribute {
    std::uint64_t value_field = 0;
    std::int64_t number = 0;
    std::string text;
};
struct FileNode {
    std::uint64_t id = 0, type = 0, duration_micros = 0;
    std::string name;
    std::vector<std::uint64_t> ctrl_deps, data_deps;
    std::map<std::string, FileAttribute> attributes;
    [[nodiscard]] std::int64_t number(const std::string& attribute) const { return attributes.at(attribute).number; }
    [[nodiscard]] std::vector<std::uint64_t> deps() const {
        std::vector<std::uint64_t> all = ctrl_deps;
        all.insert(all.end(), data_deps.begin(), data_deps.end());
        return all;
    }
};
struct FileTrace {
    std::string version;
    std::map<std::string, std::string> metadata;
    std::vector<FileNode> nodes;
};

// NodeType and CollectiveCommType
constexpr std::uint64_t kComp = 4, kSendNode = 5, kRecvNode = 6, kCollNode = 7;
constexpr std::int64_t kAllReduceType = 0, kAllGatherType = 2, kBroadcastType = 5, kAllToAllType = 6,
                       kReduceScatterType = 7;

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline FileTrace read_trace(const std::string& bytes) {
    using testing_wire::all_of;
    using testing_wire::fields_of;
    using testing_wire::one_of;
    FileTrace trace;
    bool is_first = true;
    const auto attribute_of = [](const std::string& message, std::string& name) {
        FileAttribute attribute;
        for (const auto& field : fields_of(message)) {
            if (field.number == 1) {
                name = field.bytes;
            } else if (field.number != 2) {
                attribute = {field.number, static_cast<std::int64_t>(field.value), field.bytes};
            }
        }
        return attribute;
    };
    for (std::size_t at = 0; at < bytes.size(); is_first = false) {
        const std::uint64_t size = testing_wire::varint_at(bytes, at);
        if (size > bytes.size() - at) {
            throw std::runtime_error("a message beyond the end");
        }
        const auto fields = fields_of(bytes.substr(at, size));
        at += size;
        std::string name;
        if (is_first) {
            trace.version = one_of(fields, 1).bytes;
            for (const auto& field : all_of(fields, 2)) {
                const FileAttribute attribute = attribute_of(field.bytes, name);
                trace.metadata[name] = attribute.text;
            }
            continue;
        }
        FileNode& node = trace.nodes.emplace_back();
        node.id = one_of(fields, 1).value;
        node.name = one_of(fields, 2).bytes;
        node.type = one_of(fields, 3).value;
        node.duration_micros = one_of(fields, 7).value;
        for (const auto& [number, list] : {std::pair(4, &node.ctrl_deps), std::pair(5, &node.data_deps)}) {
            const std::string packed = one_of(fields, static_cast<std::uint64_t>(number)).bytes;
            for (std::size_t i = 0; i < packed.size();) {
                list->push_back(testing_wire::varint_at(packed, i));
            }
        }
        for (const auto& field : all_of(fields, 10)) {
            const FileAttribute attribute = attribute_of(field.bytes, name);
            node.attributes[name] = attribute;
        }
    }
    return trace;
}

inline std::vector<FileTrace> read_folder(const std::string& folder, int ranks) {
    std::vector<FileTrace> traces;
    for (int rank = 0; rank < ranks; ++rank) {
        traces.push_back(
            read_trace(bytes_of(std::filesystem::path(folder) / ("trace." + std::to_string(rank) + ".et"))));
    }
    return traces;
}

/// Ranks by pg_name.
inline std::map<std::string, std::vector<int>> read_groups(const std::string& folder) {
    std::map<std::string, std::vector<int>> groups;
    const JsonDocument document = JsonDocument::load(folder + "/comm_groups.json");
    for (const std::string& key : document.root().keys()) {
        for (const JsonValue& rank : document.root().at(key).elements()) {
            groups[key].push_back(static_cast<int>(rank.as_integer(0, 1 << 20)));
        }
    }
    return groups;
}

class Folder {
 public:
    explicit Folder(const std::string& name)
        : path_(
              (std::filesystem::temp_directory_path() / ("auspex-" + name + "-" + std::to_string(getpid()))).string()) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(std::filesystem::path(path_) / name, std::ios::binary) << text;
    }

 private:
    std::string path_;
};

}  // namespace auspex::testing_chakra
