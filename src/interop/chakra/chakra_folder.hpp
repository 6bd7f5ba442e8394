#pragma once
/// @file Folders of Chakra traces: which file is of which rank, and who belongs to a process group.
#include <map>
#include <string>
#include <vector>

namespace auspex::interop {

/// The names of a folder that Auspex writes.
inline constexpr const char* kChakraPrefix = "trace";
inline constexpr const char* kChakraGroupsFile = "comm_groups.json";
inline constexpr const char* kChakraRolesFile = "roles.json";

/// The ranks that one file is of. It is written as the first of them has it; where several have it, the others have
/// names of groups and numbers of peers of their own in its place.
struct ChakraRole {
    std::string file;  ///< with its folder
    std::vector<int> ranks;
    std::map<std::string, std::vector<std::string>> groups;  ///< by pg_name in the file: that of each of `ranks`
    std::map<int, std::vector<int>> peers;                   ///< by rank in the file: that of each of `ranks`
};

struct ChakraFolder {
    int ranks = 0;
    std::vector<ChakraRole> roles;                   ///< every rank is in one
    std::map<std::string, std::vector<int>> groups;  ///< ASTRA-sim's comm-group file: ranks by pg_name
};

/// Files `PREFIX.RANK.et` (or `.et.gz`) for ranks from 0 on, or roles.json and the files that it names. Groups: those
/// of `groups_file`, else of comm_groups.json, else of the only other JSON file that is there, else none. Throws
/// InputError that names folder and file for a gap, for two prefixes, for a rank that is not there.
[[nodiscard]] ChakraFolder open_chakra_folder(const std::string& folder, const std::string& groups_file);

/// The text of ASTRA-sim's comm-group file.
[[nodiscard]] std::string chakra_groups_text(const std::map<std::string, std::vector<int>>& groups);
/// The text of roles.json; names of files without their folder.
[[nodiscard]] std::string chakra_roles_text(const std::vector<ChakraRole>& roles);

}  // namespace auspex::interop
