#pragma once
/// @file A step written as traces, and read again by the schema alone.
#include <map>
#include <string>
#include <vector>

#include "chakra_cases.hpp"
#include "chakra_files.hpp"
#include "workflows/chakra/export_traces.hpp"

namespace auspex::testing_chakra {

struct Exported {
    workflows::ChakraExported said;
    std::vector<FileTrace> traces;
    std::map<std::string, std::vector<int>> groups;
};

inline Exported exported(const models::Inputs& inputs, int tiles = 0) {
    const Folder folder("chakra-export");
    Exported found;
    found.said = workflows::export_chakra(inputs, {.folder = folder.path(), .tiles = tiles, .generator = "test"});
    found.traces = read_folder(folder.path(), found.said.ranks);
    found.groups = read_groups(folder.path());
    return found;
}

}  // namespace auspex::testing_chakra
