/// @file Files of a folder of traces by their names, and the JSON files beside them.
#include "interop/chakra/chakra_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"

namespace auspex::interop {
namespace {

namespace fs = std::filesystem;
constexpr int kMostRanks = 4'000'000;

/// "trace.12.et" -> prefix "trace", rank 12; false for other names.
bool is_trace(const std::string& name, std::string& prefix, int& rank) {
    for (const std::string_view ending : {".et", ".et.gz"}) {
        const std::size_t end = name.size() - std::min(name.size(), ending.size());
        const std::size_t dot = end == 0 ? std::string::npos : name.rfind('.', end - 1);
        if (dot != std::string::npos && dot > 0 && std::string_view(name).substr(end) == ending) {
            const auto [last, status] = std::from_chars(name.data() + dot + 1, name.data() + end, rank);
            if (status == std::errc() && last == name.data() + end && rank >= 0) {
                prefix = name.substr(0, dot);
                return true;
            }
        }
    }
    return false;
}

std::vector<fs::path> files_of(const std::string& folder) {
    std::error_code status;
    if (!fs::is_directory(folder, status)) {
        throw InputError(folder, "found no such folder; expected one with the files of a Chakra trace, PREFIX.RANK.et");
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, status)) {
        files.push_back(entry.path());
    }
    if (status) {
        throw InputError(folder, "found a folder that cannot be read: " + status.message());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<ChakraRole> roles_by_name(const std::string& folder, const std::vector<fs::path>& files) {
    std::map<int, std::string> of_rank;
    std::set<std::string> prefixes;
    for (const fs::path& file : files) {
        std::string prefix;
        int rank = 0;
        if (!is_trace(file.filename().string(), prefix, rank)) {
            continue;
        }
        prefixes.insert(prefix);
        if (!of_rank.emplace(rank, file.string()).second) {
            throw InputError(folder, "found two files of rank " + std::to_string(rank) + ", " +
                                         fs::path(of_rank[rank]).filename().string() + " and " +
                                         file.filename().string() + "; expected one");
        }
    }
    if (of_rank.empty()) {
        throw InputError(folder, "found no file PREFIX.RANK.et; expected one for each rank, or roles.json");
    }
    if (prefixes.size() > 1) {
        throw InputError(folder, "found files of several traces, " + *prefixes.begin() + ".*.et and " +
                                     *prefixes.rbegin() + ".*.et; expected one trace in a folder");
    }
    std::vector<ChakraRole> roles;
    for (const auto& [rank, file] : of_rank) {
        if (rank != static_cast<int>(roles.size())) {
            throw InputError(folder, "found no file of rank " + std::to_string(roles.size()) + ", but one of rank " +
                                         std::to_string(rank) + "; expected all ranks from 0 on");
        }
        roles.push_back({file, {rank}, {}, {}});
    }
    return roles;
}

std::vector<int> ranks_in(const JsonValue& list) {
    std::vector<int> ranks;
    std::set<int> seen;
    for (const JsonValue& element : list.elements()) {
        ranks.push_back(static_cast<int>(element.as_integer(0, kMostRanks - 1)));
        if (!seen.insert(ranks.back()).second) {
            element.fail("each rank once");
        }
    }
    if (ranks.empty()) {
        list.fail("at least one rank");
    }
    return ranks;
}

template <class Value>
void require_count(const JsonValue& list, const std::vector<Value>& values, std::size_t count) {
    if (values.size() != count) {
        list.fail("an entry for each of the " + std::to_string(count) + " ranks of the role");
    }
}

std::vector<ChakraRole> roles_of_file(const std::string& folder, const std::string& file) {
    const JsonDocument document = JsonDocument::load(file);
    document.root().allow_only({"roles"});
    std::vector<ChakraRole> roles;
    for (const JsonValue& value : document.root().at("roles").elements()) {
        value.allow_only({"file", "ranks", "groups", "peers"});
        ChakraRole& role = roles.emplace_back();
        const std::string name = value.at("file").as_string();
        if (name.empty() || name.find('/') != std::string::npos) {
            value.at("file").fail("the name of a file in the same folder");
        }
        role.file = (fs::path(folder) / name).string();
        role.ranks = ranks_in(value.at("ranks"));
        const JsonValue groups = value.at("groups"), peers = value.at("peers");
        for (const std::string& key : groups.keys()) {
            for (const JsonValue& element : groups.at(key).elements()) {
                role.groups[key].push_back(element.as_string());
            }
            require_count(groups.at(key), role.groups[key], role.ranks.size());
        }
        for (const std::string& key : peers.keys()) {
            int peer = 0;
            const auto [last, status] = std::from_chars(key.data(), key.data() + key.size(), peer);
            if (status != std::errc() || last != key.data() + key.size()) {
                peers.at(key).fail("under the number of a rank");
            }
            for (const JsonValue& element : peers.at(key).elements()) {
                role.peers[peer].push_back(static_cast<int>(element.as_integer(0, kMostRanks - 1)));
            }
            require_count(peers.at(key), role.peers[peer], role.ranks.size());
        }
    }
    return roles;
}

/// Every rank from 0 on in one role. Returns how many there are.
int count_ranks(const std::vector<ChakraRole>& roles, const std::string& file) {
    std::set<int> all;
    std::size_t named = 0;
    for (const ChakraRole& role : roles) {
        all.insert(role.ranks.begin(), role.ranks.end());
        named += role.ranks.size();
    }
    if (all.empty() || named != all.size() || *all.rbegin() + 1 != static_cast<int>(all.size())) {
        throw InputError(file + ": $.roles", "found " + counted(static_cast<double>(named), "rank") +
                                                 ", some twice or not there; expected every rank from 0 on once");
    }
    return static_cast<int>(all.size());
}

std::string find_groups(const std::string& folder, const std::vector<fs::path>& files, const std::string& asked) {
    if (!asked.empty()) {
        return asked;
    }
    std::vector<std::string> others;
    for (const fs::path& file : files) {
        if (file.filename() == kChakraGroupsFile) {
            return file.string();
        }
        if (file.extension() == ".json" && file.filename() != kChakraRolesFile) {
            others.push_back(file.string());
        }
    }
    if (others.size() > 1) {
        throw InputError(folder, "found several JSON files, " + fs::path(others[0]).filename().string() + " and " +
                                     fs::path(others[1]).filename().string() +
                                     "; expected comm_groups.json, or the name of the file of groups behind "
                                     "--comm-groups");
    }
    return others.empty() ? "" : others.front();
}

}  // namespace

ChakraFolder open_chakra_folder(const std::string& folder, const std::string& groups_file) {
    const std::vector<fs::path> files = files_of(folder);
    ChakraFolder found;
    const std::string roles_file = (fs::path(folder) / kChakraRolesFile).string();
    std::error_code status;
    if (fs::exists(roles_file, status)) {
        found.roles = roles_of_file(folder, roles_file);
        found.ranks = count_ranks(found.roles, roles_file);
    } else {
        found.roles = roles_by_name(folder, files);
        found.ranks = static_cast<int>(found.roles.size());
    }
    const std::string groups = find_groups(folder, files, groups_file);
    if (groups.empty()) {
        return found;
    }
    const JsonDocument document = JsonDocument::load(groups);
    for (const std::string& key : document.root().keys()) {
        const JsonValue list = document.root().at(key);
        std::vector<int> ranks = ranks_in(list);
        if (*std::max_element(ranks.begin(), ranks.end()) >= found.ranks) {
            list.fail("ranks below " + std::to_string(found.ranks) + ", as many as there are files");
        }
        found.groups.emplace(key, std::move(ranks));
    }
    return found;
}

std::string chakra_groups_text(const std::map<std::string, std::vector<int>>& groups) {
    std::vector<const std::pair<const std::string, std::vector<int>>*> order;
    for (const auto& group : groups) {
        order.push_back(&group);
    }
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return a->first.size() != b->first.size() ? a->first.size() < b->first.size() : a->first < b->first;
    });
    std::string text = "{";
    for (const auto* group : order) {
        text += (text.size() > 1 ? ",\n " : "") + json_quote(group->first) + ": [";
        for (std::size_t i = 0; i < group->second.size(); ++i) {
            text += (i > 0 ? "," : "") + std::to_string(group->second[i]);
        }
        text += "]";
    }
    return text + "}\n";
}

std::string chakra_roles_text(const std::vector<ChakraRole>& roles) {
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().key("roles").begin_array();
        for (const ChakraRole& role : roles) {
            json.begin_object().member("file", fs::path(role.file).filename().string()).key("ranks").begin_array();
            for (const int rank : role.ranks) {
                json.value(rank);
            }
            json.end_array().key("groups").begin_object();
            for (const auto& [name, column] : role.groups) {
                json.key(name).begin_array();
                for (const std::string& own : column) {
                    json.value(own);
                }
                json.end_array();
            }
            json.end_object().key("peers").begin_object();
            for (const auto& [peer, column] : role.peers) {
                json.key(std::to_string(peer)).begin_array();
                for (const int own : column) {
                    json.value(own);
                }
                json.end_array();
            }
            json.end_object().end_object();
        }
        json.end_array().end_object();
    }
    return out.str();
}

}  // namespace auspex::interop
