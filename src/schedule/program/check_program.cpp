/// @file Checks that hold for every program, whatever generated it; sums over a program.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/// Number of the first block instance of each role in a graph whose vertices are passes.
struct PassGraph {
    Graph graph;
    std::vector<std::size_t> first;
};

struct MessageEnds {
    int sends = 0, receives = 0;
    std::size_t from = 0, to = 0;
};

std::string describe(bool backward, int boundary, int micro_batch) {
    return std::string(backward ? "backward" : "forward") + " message over boundary " + std::to_string(boundary) +
           " of micro-batch " + std::to_string(micro_batch);
}

/// Within a block operations may depend on earlier ones only: the order of the list is then a topological order.
void check_dependencies(const Program& program) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
        const auto ops = program.operations_of(program.blocks[b]);
        for (std::uint32_t i = 0; i < ops.size(); ++i) {
            for (const std::uint32_t dep : program.dependencies_of(ops[i])) {
                if (dep >= i) {
                    throw std::logic_error("block " + std::to_string(b) + ": operation " + std::to_string(i) + " (" +
                                           to_string(ops[i].kind) + ") depends on operation " + std::to_string(dep) +
                                           ", which does not come before it");
                }
            }
        }
    }
}

/// Passes of a role follow one another; a receive follows its send. A cycle among passes is a deadlock.
void check_messages_and_cycles(const Program& program) {
    PassGraph passes;
    std::size_t count = 0;
    for (const Role& role : program.roles) {
        passes.first.push_back(count);
        count += role.order.size();
    }
    passes.graph = Graph(count);
    std::map<std::tuple<bool, int, int>, MessageEnds> messages;
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
        const auto& order = program.roles[r].order;
        for (std::size_t u = 0; u < order.size(); ++u) {
            const std::size_t pass = passes.first[r] + u;
            if (u > 0) {
                boost::add_edge(pass - 1, pass, passes.graph);
            }
            for (const Operation& op : program.operations_of(program.blocks[order[u].block])) {
                if (op.message < 0) {
                    continue;
                }
                const bool backward = op.kind == OpKind::kSendBackward || op.kind == OpKind::kReceiveBackward;
                MessageEnds& ends = messages[{backward, op.message, order[u].micro_batch}];
                (op.comm == CommKind::kSend ? ends.sends : ends.receives) += 1;
                (op.comm == CommKind::kSend ? ends.from : ends.to) = pass;
            }
        }
    }
    for (const auto& [key, ends] : messages) {
        if (ends.sends != 1 || ends.receives != 1) {
            throw std::logic_error(describe(std::get<0>(key), std::get<1>(key), std::get<2>(key)) + ": " +
                                   std::to_string(ends.sends) + " sends and " + std::to_string(ends.receives) +
                                   " receives");
        }
        boost::add_edge(ends.from, ends.to, passes.graph);
    }
    std::vector<std::size_t> order;
    try {
        boost::topological_sort(passes.graph, std::back_inserter(order));
    } catch (const boost::not_a_dag&) {
        throw std::logic_error("the passes wait for one another in a circle: deadlock");
    }
}

/// Operations over all ranks come in one order, of one kind and size, in every role.
void check_world_operations(const Program& program) {
    std::vector<std::tuple<OpKind, double, Carries>> reference;
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
        std::vector<std::tuple<OpKind, double, Carries>> seen;
        for (const BlockUse& use : program.roles[r].order) {
            for (const Operation& op : program.operations_of(program.blocks[use.block])) {
                if (is_world(op)) {
                    seen.emplace_back(op.kind, op.bytes, op.carries);
                }
            }
        }
        if (r == 0) {
            reference = seen;
        } else if (seen != reference) {
            throw std::logic_error("stage " + std::to_string(program.roles[r].stage) +
                                   " does not run the same world operations as stage " +
                                   std::to_string(program.roles[0].stage));
        }
    }
}

/// Forward, then backward: whole, or inputs and then weights.
void check_passes(const Program& program) {
    const auto defect = [](const Role& role, const std::string& what) {
        throw std::logic_error("stage " + std::to_string(role.stage) + " " + what);
    };
    for (const Role& role : program.roles) {
        std::map<std::pair<int, int>, std::string> seen;
        for (const BlockUse& use : role.order) {
            const Block& block = program.blocks[use.block];
            if (block.kind != BlockKind::kOptimizer) {
                seen[{block.chunk, use.micro_batch}] += std::string(1, "FBIW"[static_cast<std::size_t>(block.kind)]);
            }
        }
        const std::size_t expected = static_cast<std::size_t>(program.shares_micro_batches ? 1 : program.chunks) *
                                     static_cast<std::size_t>(program.micro_batches);
        if (seen.size() != expected) {
            defect(role, "has " + std::to_string(seen.size()) + " micro-batches in its chunks, not " +
                             std::to_string(expected));
        }
        for (const auto& [pass, kinds] : seen) {
            if (kinds != "FB" && kinds != "FIW") {
                defect(role, "runs micro-batch " + std::to_string(pass.second) + " of chunk " +
                                 std::to_string(pass.first) + " as " + kinds + ", not FB or FIW");
            }
        }
    }
}

}  // namespace

void check_program(const Program& program) {
    check_dependencies(program);
    check_messages_and_cycles(program);
    check_world_operations(program);
    check_passes(program);
}

ProgramTotals totals_of(const Program& program, const Role& role) {
    ProgramTotals totals;
    for (const BlockUse& use : role.order) {
        const auto ops = program.operations_of(program.blocks[use.block]);
        totals.operations += ops.size();
        for (const Operation& op : ops) {
            for (const models::Kernel& kernel : program.kernels_of(op)) {
                (op.phase == Phase::kRecompute ? totals.recompute_flop : totals.useful_flop) +=
                    kernel.flop * kernel.repeat;
            }
        }
    }
    return totals;
}

}  // namespace auspex::schedule
