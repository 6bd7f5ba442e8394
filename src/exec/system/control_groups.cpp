/// @file /proc/self/cgroup says which group, /proc/self/mountinfo where its files are.
#include "exec/system/control_groups.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy of groups.
struct Hierarchy {
    std::string root;  ///< the group that its mount point shows
    std::string mount_point;
    std::string controllers;  ///< "cpu,cpuacct"; empty: version 2
};

bool has_word(std::string_view list, std::string_view word) {
    std::istringstream words{std::string(list)};
    for (std::string one; std::getline(words, one, ',');) {
        if (one == word) {
            return true;
        }
    }
    return false;
}

/// "\040" and the like, as mountinfo has spaces.
std::string unescaped(const std::string& text) {
    constexpr std::size_t kDigits = 3;
    constexpr int kOctal = 8;
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string digits = text.substr(i + 1, kDigits);
        const bool is_escape =
            text[i] == '\\' && digits.size() == kDigits && digits.find_first_not_of("01234567") == std::string::npos;
        plain += is_escape ? static_cast<char>(std::stoi(digits, nullptr, kOctal)) : text[i];
        i += is_escape ? kDigits : 0;
    }
    return plain;
}

/// Lines "id parent device root mount-point options … - type source super-options" (proc(5)) of groups.
std::vector<Hierarchy> hierarchies(const std::string& mountinfo) {
    std::vector<Hierarchy> found;
    std::ifstream file(mountinfo);
    for (std::string line; std::getline(file, line);) {
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos) {
            continue;
        }
        std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
        std::string skipped, root, mount_point, type, source, options;
        head >> skipped >> skipped >> skipped >> root >> mount_point;
        tail >> type >> source >> options;
        if (type == "cgroup" || type == "cgroup2") {
            found.push_back({unescaped(root), unescaped(mount_point), type == "cgroup" ? options : ""});
        }
    }
    return found;
}

/// The process's group in the hierarchy with this controller ("" for version 2), from lines "number:controllers:path".
std::string group_in(const std::string& cgroup, std::string_view controller) {
    std::ifstream file(cgroup);
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
            return line.substr(second + 1);
        }
    }
    return "";
}

/// The folders from the process's group up to the mount point. A group that is not below what the mount shows (a
/// container sees its own as the root) is the mount point itself.
std::vector<fs::path> folders_of(const Hierarchy& hierarchy, const std::string& group) {
    const fs::path relative = fs::path(group).lexically_relative(hierarchy.root);
    fs::path folder = hierarchy.mount_point;
    std::vector<fs::path> folders{folder};
    if (!relative.empty() && *relative.begin() != "..") {
        for (const fs::path& part : relative) {
            folder /= part;
            folders.push_back(folder);
        }
    }
    return folders;
}

/// The whole number in a file; 0 where there is none, or "max".
double number_in(const fs::path& file) {
    double number = 0;
    std::ifstream stream(file);
    return stream >> number ? number : 0;
}

void take(double& limit, double value) { limit = value > 0 ? std::min(limit, value) : limit; }

void take_memory(const fs::path& folder, bool is_version_2, GroupLimits& limits) {
    take(limits.memory_bytes, number_in(folder / (is_version_2 ? "memory.max" : "memory.limit_in_bytes")));
}

void take_cores(const fs::path& folder, bool is_version_2, GroupLimits& limits) {
    double quota_us = 0, period_us = 0;
    if (is_version_2) {
        std::ifstream file(folder / "cpu.max");
        file >> quota_us >> period_us;  // "max 100000" has no quota
    } else {
        quota_us = number_in(folder / "cpu.cfs_quota_us");
        period_us = number_in(folder / "cpu.cfs_period_us");
    }
    take(limits.cores, period_us > 0 ? quota_us / period_us : 0);
}

}  // namespace

GroupLimits group_limits(const std::string& process) {
    const std::string cgroup = process + "/cgroup";
    GroupLimits limits;
    for (const Hierarchy& hierarchy : hierarchies(process + "/mountinfo")) {
        const bool is_version_2 = hierarchy.controllers.empty();
        const auto visit = [&](std::string_view controller, auto take_limit) {
            if (is_version_2 || has_word(hierarchy.controllers, controller)) {
                for (const fs::path& folder : folders_of(hierarchy, group_in(cgroup, is_version_2 ? "" : controller))) {
                    take_limit(folder, is_version_2, limits);
                }
            }
        };
        visit("memory", take_memory);
        visit("cpu", take_cores);
    }
    // Version 1 says "no limit" by the largest multiple of a page.
    constexpr double kNoLimit = 9e18;
    if (limits.memory_bytes >= kNoLimit) {
        limits.memory_bytes = std::numeric_limits<double>::infinity();
    }
    return limits;
}

}  // namespace auspex::exec
