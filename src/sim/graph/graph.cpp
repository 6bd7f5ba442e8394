/// @file Edges of a graph, and what has to hold between ranks.
#include "sim/graph/graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"

namespace auspex::graph {
namespace {

std::string place_of(const RankProgram& program, const GraphNode& node) {
    return program.file + ": node id " + std::to_string(node.id);
}

/// Ids of the nodes that are in a circle, or behind one.
[[noreturn]] void refuse_circle(const RankProgram& program, const std::vector<std::vector<std::uint32_t>>& before,
                                const std::vector<std::uint32_t>& left) {
    constexpr std::size_t kShown = 8;
    std::uint32_t at = 0;
    while (left[at] == 0) {
        ++at;
    }
    const auto unfinished_before = [&](std::uint32_t node) {
        return *std::find_if(before[node].begin(), before[node].end(), [&](std::uint32_t on) { return left[on] > 0; });
    };
    for (std::size_t i = 0; i < before.size(); ++i) {  // by now it is in the circle itself
        at = unfinished_before(at);
    }
    const std::uint32_t first = at;
    std::string ids = std::to_string(program.nodes[at].id);
    std::size_t shown = 1;
    do {
        at = unfinished_before(at);
        ids += ++shown <= kShown ? " waits for " + std::to_string(program.nodes[at].id) : "";
    } while (at != first);
    throw InputError(place_of(program, program.nodes[first]),
                     "found dependencies in a circle of " + std::to_string(shown - 1) + " nodes: " + ids +
                         (shown > kShown ? " …" : "") + "; expected nodes that can be done one after the other");
}

/// The collectives of one of a program's groups.
std::vector<const GraphNode*> collectives_of(const RankProgram& program, std::uint32_t place) {
    std::vector<const GraphNode*> found;
    for (const GraphNode& node : program.nodes) {
        if (node.kind == NodeKind::kCollective && node.place == place) {
            found.push_back(&node);
        }
    }
    return found;
}

std::string words_of(const GraphNode& node) {
    return std::string(to_string(node.comm)) + " of " + std::to_string(static_cast<std::int64_t>(node.bytes)) +
           " bytes";
}

void require_same_collectives(const GraphJob& job, std::size_t group, int rank, std::uint32_t place, int other,
                              std::uint32_t other_place) {
    const RankProgram &program = job.program_of(rank), &second = job.program_of(other);
    const std::vector<const GraphNode*> a = collectives_of(program, place), b = collectives_of(second, other_place);
    const std::string of_group = " of group \"" + job.group_names[group] + "\"";
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i]->comm != b[i]->comm || a[i]->bytes != b[i]->bytes) {
            throw InputError(place_of(second, *b[i]), "found " + words_of(*b[i]) + " as collective number " +
                                                          std::to_string(i) + of_group + "; expected " +
                                                          words_of(*a[i]) + ", as rank " + std::to_string(rank) +
                                                          " has it (" + place_of(program, *a[i]) + ")");
        }
    }
    if (a.size() != b.size()) {
        throw InputError(second.file, "found " + std::to_string(b.size()) + " collectives" + of_group + "; expected " +
                                          std::to_string(a.size()) + ", as rank " + std::to_string(rank) + " has them");
    }
}

void check_groups(const GraphJob& job) {
    constexpr std::uint32_t kNowhere = ~0U;
    std::vector<std::vector<std::pair<int, std::uint32_t>>> users(job.groups.size());
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
        const RankPlace& place = job.ranks[rank];
        for (std::uint32_t p = 0; p < place.groups.size(); ++p) {
            users[place.groups[p]].emplace_back(static_cast<int>(rank), p);
        }
    }
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> known;
    for (std::size_t group = 0; group < job.groups.size(); ++group) {
        if (users[group].empty()) {
            continue;
        }
        std::map<int, std::uint32_t> place_of_rank(users[group].begin(), users[group].end());
        const std::string of_group = "group \"" + job.group_names[group] + "\"";
        const auto [first, first_place] = users[group].front();
        for (const int rank : job.groups[group]) {
            const auto found = place_of_rank.find(rank);
            const std::uint32_t place = found == place_of_rank.end() ? kNowhere : found->second;
            if (place == kNowhere) {
                throw InputError(job.program_of(rank).file, "found no collective of " + of_group +
                                                                "; expected those that rank " + std::to_string(first) +
                                                                " has, for rank " + std::to_string(rank) + " is in it");
            }
            const auto key = std::make_tuple(job.ranks[static_cast<std::size_t>(first)].program, first_place,
                                             job.ranks[static_cast<std::size_t>(rank)].program, place);
            if (known.insert(key).second) {
                require_same_collectives(job, group, first, first_place, rank, place);
            }
        }
        const std::set<int> members(job.groups[group].begin(), job.groups[group].end());
        for (const auto& [rank, place] : users[group]) {
            if (!members.contains(rank)) {
                throw InputError(job.program_of(rank).file,
                                 "found collectives of " + of_group + " on rank " + std::to_string(rank) +
                                     ", which is not in it; expected " + "groups of which the rank is a member");
            }
        }
    }
}

struct Halves {
    std::vector<const GraphNode*> sends, receives;
};

void check_messages(const GraphJob& job) {
    std::map<std::pair<int, int>, Halves> between;
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
        for (const GraphNode& node : job.program_of(static_cast<int>(rank)).nodes) {
            if (node.kind != NodeKind::kSend && node.kind != NodeKind::kReceive) {
                continue;
            }
            const int own = static_cast<int>(rank), peer = job.ranks[rank].peers[node.place];
            const bool sends = node.kind == NodeKind::kSend;
            Halves& halves = between[sends ? std::pair(own, peer) : std::pair(peer, own)];
            (sends ? halves.sends : halves.receives).push_back(&node);
        }
    }
    for (auto& [ends, halves] : between) {
        const auto by_tag = [](const GraphNode* a, const GraphNode* b) { return a->tag < b->tag; };
        std::stable_sort(halves.sends.begin(), halves.sends.end(), by_tag);
        std::stable_sort(halves.receives.begin(), halves.receives.end(), by_tag);
        const RankProgram &from = job.program_of(ends.first), &to = job.program_of(ends.second);
        const auto lonely = [](const std::string& place, const char* what, const char* other, const GraphNode& node,
                               const RankProgram& there) {
            throw InputError(place, std::string("found ") + what + " with tag " + std::to_string(node.tag) +
                                        " without its " + other + "; expected one in " + there.file);
        };
        for (std::size_t i = 0; i < std::max(halves.sends.size(), halves.receives.size()); ++i) {
            const GraphNode* const send = i < halves.sends.size() ? halves.sends[i] : nullptr;
            const GraphNode* const receive = i < halves.receives.size() ? halves.receives[i] : nullptr;
            if (receive == nullptr || (send != nullptr && send->tag < receive->tag)) {
                lonely(place_of(from, *send), "a send", "receive", *send, to);
            } else if (send == nullptr || receive->tag < send->tag) {
                lonely(place_of(to, *receive), "a receive", "send", *receive, from);
            } else if (send->bytes != receive->bytes) {
                throw InputError(place_of(to, *receive),
                                 "comm_size: found " + std::to_string(static_cast<std::int64_t>(receive->bytes)) +
                                     "; expected " + std::to_string(static_cast<std::int64_t>(send->bytes)) +
                                     ", as it is sent (" + place_of(from, *send) + ")");
            }
        }
    }
}

}  // namespace

void connect(RankProgram& program, const std::vector<std::vector<std::uint32_t>>& before) {
    AUSPEX_CHECK(before.size() == program.nodes.size(), "every node has its dependencies");
    std::map<std::uint32_t, std::uint32_t> collectives;  // by place
    for (std::size_t n = 0; n < before.size(); ++n) {
        GraphNode& node = program.nodes[n];
        node.dependencies = static_cast<std::uint32_t>(before[n].size());
        node.number = node.kind == NodeKind::kCollective ? collectives[node.place]++ : 0;
        for (const std::uint32_t on : before[n]) {
            ++program.nodes[on].child_end;
        }
    }
    std::uint32_t begin = 0;
    for (GraphNode& node : program.nodes) {
        const std::uint32_t children = node.child_end;
        node.child_begin = node.child_end = begin;
        begin += children;
    }
    program.children.resize(begin);
    for (std::uint32_t n = 0; n < before.size(); ++n) {
        for (const std::uint32_t on : before[n]) {
            program.children[program.nodes[on].child_end++] = n;
        }
    }
    std::vector<std::uint32_t> left, ready;
    for (std::uint32_t n = 0; n < before.size(); ++n) {
        left.push_back(program.nodes[n].dependencies);
        if (left.back() == 0) {
            ready.push_back(n);
        }
    }
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
        const GraphNode& node = program.nodes[ready[done]];
        for (std::uint32_t c = node.child_begin; c < node.child_end; ++c) {
            if (--left[program.children[c]] == 0) {
                ready.push_back(program.children[c]);
            }
        }
    }
    if (done < before.size()) {
        refuse_circle(program, before, left);
    }
}

void check_job(const GraphJob& job) {
    check_groups(job);
    check_messages(job);
}

std::uint64_t count_nodes(const GraphJob& job) {
    std::uint64_t nodes = 0;
    for (const RankPlace& rank : job.ranks) {
        nodes += job.programs[rank.program].nodes.size();
    }
    return nodes;
}

}  // namespace auspex::graph
