/// @file Chakra traces issued as ASTRA-sim issues them: all ranks end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "exported_traces.hpp"

namespace auspex::workflows {
namespace {

using testing_chakra::cases;
using testing_chakra::Exported;
using testing_chakra::exported;
using testing_chakra::FileNode;

/// ASTRA-sim's feeder: a rank issues free nodes by rising id, one COMP and one send or collective at a time; a receive
/// holds nothing. A COMP takes longer on one rank than on another. True if all ranks end.
bool ends_by_astra_sims_rule(const Exported& found) {
    struct Rank {
        std::map<std::uint64_t, std::set<std::uint64_t>> open;  ///< node: what it waits for
        std::map<std::uint64_t, std::vector<std::uint64_t>> children;
        std::map<std::uint64_t, const FileNode*> nodes;
        std::set<std::uint64_t> free_nodes;
        const FileNode *computing = nullptr, *communicating = nullptr;
        std::size_t rounds_left = 0;  ///< of what it computes
    };
    std::vector<Rank> ranks(found.traces.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        for (const FileNode& node : found.traces[r].nodes) {
            ranks[r].nodes[node.id] = &node;
            std::set<std::uint64_t>& on = ranks[r].open[node.id];
            for (const std::uint64_t id : node.deps()) {
                on.insert(id);
                ranks[r].children[id].push_back(node.id);
            }
            if (on.empty()) {
                ranks[r].free_nodes.insert(node.id);
            }
        }
    }
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> messages;
    std::map<std::string, std::set<std::size_t>> waiting;  // group: ranks whose one communication is a collective of it
    const auto finish = [&](std::size_t r, std::uint64_t id) {
        for (const std::uint64_t child : ranks[r].children[id]) {
            ranks[r].open[child].erase(id);
            if (ranks[r].open[child].empty()) {
                ranks[r].free_nodes.insert(child);
            }
        }
        ranks[r].nodes.erase(id);
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            Rank& rank = ranks[r];
            if (rank.computing != nullptr) {
                moved = true;
                if (rank.rounds_left-- == 0) {
                    finish(r, std::exchange(rank.computing, nullptr)->id);
                }
            }
            const std::vector<std::uint64_t> free_nodes(rank.free_nodes.begin(), rank.free_nodes.end());
            for (const std::uint64_t id : free_nodes) {
                const FileNode& node = *rank.nodes.at(id);
                if (node.type == testing_chakra::kComp && rank.computing == nullptr) {
                    rank.computing = &node;
                    rank.rounds_left = (r * 7 + id * 5) % 11;
                } else if (node.type == testing_chakra::kRecvNode) {
                    int& there = messages[{node.number("comm_src"), node.number("comm_dst"), node.number("comm_tag")}];
                    if (there == 0) {
                        continue;
                    }
                    --there;
                    rank.free_nodes.erase(id);
                    finish(r, id);
                    moved = true;
                    continue;
                } else if (node.type == testing_chakra::kSendNode && rank.communicating == nullptr) {
                    ++messages[{node.number("comm_src"), node.number("comm_dst"), node.number("comm_tag")}];
                    rank.free_nodes.erase(id);
                    finish(r, id);
                    moved = true;
                    continue;
                } else if (node.type == testing_chakra::kCollNode && rank.communicating == nullptr) {
                    rank.communicating = &node;
                    waiting[node.attributes.at("pg_name").text].insert(r);
                } else {
                    continue;
                }
                rank.free_nodes.erase(id);
                moved = true;
            }
        }
        for (auto& [group, there] : waiting) {
            const std::size_t members = group == "0" ? ranks.size() : found.groups.at(group).size();
            if (there.size() == members) {
                for (const std::size_t r : there) {
                    finish(r, std::exchange(ranks[r].communicating, nullptr)->id);
                }
                there.clear();
                moved = true;
            }
        }
    }
    return std::all_of(ranks.begin(), ranks.end(), [](const Rank& rank) { return rank.nodes.empty(); });
}

TEST(ChakraExport, ends_with_one_communication_a_rank_at_a_time) {
    for (const models::Inputs& inputs : cases()) {
        EXPECT_TRUE(ends_by_astra_sims_rule(exported(inputs))) << inputs.plan.name;
    }
}

}  // namespace
}  // namespace auspex::workflows
