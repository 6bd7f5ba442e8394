/// @file Steps as Chakra traces, read by the schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "exported_traces.hpp"
#include "workflows/chakra/export_traces.hpp"

namespace auspex::workflows {
namespace {

using testing_chakra::cases;
using testing_chakra::Exported;
using testing_chakra::exported;
using testing_chakra::FileNode;
using testing_chakra::FileTrace;
using testing_chakra::Folder;
using testing_steps::shipped_inputs;

/// Ids once, dependencies that are there and point back: no circle.
TEST(ChakraExport, every_dependency_is_an_earlier_node) {
    for (const models::Inputs& inputs : cases()) {
        for (const FileTrace& trace : exported(inputs).traces) {
            EXPECT_EQ(trace.version, "1.0.0");
            std::set<std::uint64_t> earlier;
            for (const FileNode& node : trace.nodes) {
                for (const std::uint64_t on : node.deps()) {
                    EXPECT_TRUE(earlier.contains(on));
                }
                EXPECT_TRUE(earlier.insert(node.id).second);
            }
            EXPECT_FALSE(trace.nodes.empty());
        }
    }
}

/// Types of values as ASTRA-sim's two readers want them: by field number of AttributeProto.
TEST(ChakraExport, attributes_have_the_types_that_readers_expect) {
    constexpr std::uint64_t kInt32 = 7, kInt64 = 9, kUint64 = 13, kBool = 27, kString = 29;
    const std::map<std::string, std::uint64_t> types{
        {"is_cpu_op", kBool},  {"num_ops", kInt64},           {"tensor_size", kUint64},
        {"comm_type", kInt64}, {"comm_size", kInt64},         {"comm_priority", kInt32},
        {"comm_src", kInt32},  {"comm_dst", kInt32},          {"comm_tag", kInt32},
        {"pg_name", kString},  {"auspex_order_dep", kUint64}, {"auspex_stands_for", kString}};
    std::set<std::string> seen;
    for (const models::Inputs& inputs : cases()) {
        for (const FileTrace& trace : exported(inputs).traces) {
            for (const FileNode& node : trace.nodes) {
                EXPECT_EQ(node.number("is_cpu_op"), 0) << "said, not left out";
                for (const auto& [name, attribute] : node.attributes) {
                    ASSERT_TRUE(types.contains(name)) << name;
                    EXPECT_EQ(attribute.value_field, types.at(name)) << name;
                    seen.insert(name);
                }
            }
        }
    }
    EXPECT_EQ(seen.size(), types.size());
}

/// Source, destination and tag name a message once on each side, with the same bytes.
TEST(ChakraExport, sends_and_receives_pair_up) {
    std::size_t messages = 0;
    for (const models::Inputs& inputs : cases()) {
        std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> sent, received;
        const Exported found = exported(inputs);
        for (std::size_t rank = 0; rank < found.traces.size(); ++rank) {
            for (const FileNode& node : found.traces[rank].nodes) {
                if (node.type == testing_chakra::kSendNode || node.type == testing_chakra::kRecvNode) {
                    const bool sends = node.type == testing_chakra::kSendNode;
                    EXPECT_EQ(node.number(sends ? "comm_src" : "comm_dst"), static_cast<std::int64_t>(rank));
                    auto& side = sends ? sent : received;
                    EXPECT_TRUE(side.emplace(std::tuple(node.number("comm_src"), node.number("comm_dst"),
                                                        node.number("comm_tag")),
                                             node.number("comm_size"))
                                    .second);
                }
            }
        }
        EXPECT_EQ(sent, received);
        messages += sent.size();
    }
    EXPECT_GT(messages, 100U);
}

/// Else ranks would meet for different ones and wait forever.
TEST(ChakraExport, members_of_a_group_have_the_same_collectives_in_the_same_order) {
    for (const models::Inputs& inputs : cases()) {
        const Exported found = exported(inputs);
        std::map<std::string, std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>>> by_group;
        for (std::size_t rank = 0; rank < found.traces.size(); ++rank) {
            for (const FileNode& node : found.traces[rank].nodes) {
                if (node.type == testing_chakra::kCollNode) {
                    by_group[node.attributes.at("pg_name").text][static_cast<int>(rank)].emplace_back(
                        node.number("comm_type"), node.number("comm_size"));
                }
            }
        }
        for (const auto& [name, ranks] : by_group) {
            std::set<int> members, users;
            for (const auto& [rank, collectives] : ranks) {
                EXPECT_EQ(collectives, ranks.begin()->second) << "group " << name;
                users.insert(rank);
            }
            if (name == "0") {
                EXPECT_EQ(users.size(), found.traces.size());
            } else {
                members.insert(found.groups.at(name).begin(), found.groups.at(name).end());
                EXPECT_EQ(users, members) << "group " << name;
                EXPECT_GT(members.size(), 1U);
            }
        }
    }
}

/// A job of one rank has nobody to meet.
TEST(ChakraExport, collectives_of_one_rank_are_left_out) {
    models::Inputs inputs = shipped_inputs("toy-dp4", "toy-dense");
    inputs.plan.dp = 0;
    const Exported found = exported(inputs, 1);
    ASSERT_EQ(found.traces.size(), 1U);
    EXPECT_TRUE(found.groups.empty());
    for (const FileNode& node : found.traces.front().nodes) {
        EXPECT_EQ(node.type, testing_chakra::kComp);
    }
}

/// FLOP of each rank are those of its stage, but for 1 where an operation has none; bytes of collectives and messages
/// those of its operations, of an all-gather a rank's part, a byte rounded up each.
TEST(ChakraExport, work_is_that_of_the_program) {
    for (const models::Inputs& inputs : cases()) {
        const Exported found = exported(inputs);
        const predict::SimulatedStep step = predict::prepare_step(inputs, {});
        for (const schedule::Role& role : step.program.roles) {
            double bytes = 0, communications = 0;
            for (const schedule::BlockUse& use : role.order) {
                for (const schedule::Operation& op : step.program.operations_of(step.program.blocks[use.block])) {
                    const bool gathers = op.comm == schedule::CommKind::kAllGather;
                    bytes += op.bytes * op.repeat / (gathers ? group_size(step.layout, op.group) : 1);
                    communications += op.comm != schedule::CommKind::kNone ? op.repeat : 0;
                }
            }
            const schedule::ProgramTotals totals = totals_of(step.program, role);
            const FileTrace& trace = found.traces[static_cast<std::size_t>(step.layout.rank(role.stage, 0))];
            double flop = 0, file_bytes = 0;
            std::size_t without_flop = 0;
            for (const FileNode& node : trace.nodes) {
                if (node.type == testing_chakra::kComp) {
                    flop += static_cast<double>(node.number("num_ops"));
                    without_flop += node.number("num_ops") == 1 ? 1U : 0U;
                    EXPECT_GE(node.number("tensor_size"), 1);
                } else if (node.type != testing_chakra::kRecvNode &&
                           (!node.attributes.contains("auspex_stands_for") ||
                            node.attributes.at("auspex_stands_for").text != "barrier")) {
                    file_bytes += static_cast<double>(node.number("comm_size"));
                }
            }
            flop -= static_cast<double>(without_flop);
            const double all = totals.useful_flop + totals.recompute_flop;
            EXPECT_NEAR(flop, all, static_cast<double>(trace.nodes.size()) + all * 1e-12);
            EXPECT_NEAR(file_bytes, bytes, communications + 1);
        }
    }
}

/// Of one rank the microseconds that are cut off an operation are added to the next: less than one is lost in all.
TEST(ChakraExport, microseconds_are_carried_on) {
    const models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    const predict::SimulatedStep step =
        predict::simulate_step(inputs, {.sensitivity = false, .trace_details = true}, false);
    const Exported found = exported(inputs);
    for (const schedule::Role& role : step.program.roles) {
        double seconds = 0;
        for (const schedule::BlockUse& use : role.order) {
            const schedule::Block& block = step.program.blocks[use.block];
            for (std::uint32_t op = block.op_begin; op < block.op_end; ++op) {
                const bool computes = step.program.operations[op].comm == schedule::CommKind::kNone;
                seconds += computes ? step.facts[op].seconds : 0;
            }
        }
        std::uint64_t micros = 0;
        for (const FileNode& node : found.traces[static_cast<std::size_t>(step.layout.rank(role.stage, 0))].nodes) {
            micros += node.duration_micros;
        }
        EXPECT_NEAR(static_cast<double>(micros), seconds * 1e6, 1.001);
        EXPECT_LE(static_cast<double>(micros), seconds * 1e6 + 0.001);
    }
}

/// An operation comes behind its dependencies, behind what was before it on its stream, and behind the streams that it
/// joins: in the file there is a way to each of them.
TEST(ChakraExport, keeps_the_order_of_the_program) {
    std::size_t joins = 0, repeats = 0;
    for (const models::Inputs& inputs : cases()) {
        const Exported found = exported(inputs);
        const predict::SimulatedStep step = predict::prepare_step(inputs, {});
        const schedule::Program& program = step.program;
        for (const schedule::Role& role : program.roles) {
            const FileTrace& trace = found.traces[static_cast<std::size_t>(step.layout.rank(role.stage, 0))];
            std::vector<std::set<std::size_t>> before(trace.nodes.size());  // all ways back, by index
            for (std::size_t n = 0; n < trace.nodes.size(); ++n) {
                for (const std::uint64_t on : trace.nodes[n].deps()) {
                    before[n].insert(on - 1);
                    before[n].insert(before[on - 1].begin(), before[on - 1].end());
                }
            }
            std::map<schedule::Stream, std::size_t> last;  // node that ends the last operation of a stream
            std::size_t next = 0;
            for (const schedule::BlockUse& use : role.order) {
                std::vector<std::size_t> end_of_op;
                for (const schedule::Operation& op : program.operations_of(program.blocks[use.block])) {
                    const std::size_t begin = next;
                    next += op.comm == schedule::CommKind::kNone ? 1U : static_cast<std::size_t>(op.repeat);
                    next += op.comm == schedule::CommKind::kSend && op.message < 0 ? 1U : 0U;
                    ASSERT_LE(next, trace.nodes.size());
                    for (std::size_t n = begin + 1; n < next; ++n) {
                        EXPECT_TRUE(before[n].contains(n - 1));
                        ++repeats;
                    }
                    for (const std::uint32_t on : program.dependencies_of(op)) {
                        EXPECT_TRUE(before[begin].contains(end_of_op[on]));
                    }
                    for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
                        const auto kind = static_cast<schedule::Stream>(stream);
                        const bool joined = ((op.joins >> stream) & 1U) != 0;
                        if ((joined || kind == op.stream) && last.contains(kind)) {
                            EXPECT_TRUE(before[begin].contains(last.at(kind)));
                            joins += joined && kind != op.stream ? 1U : 0U;
                        }
                    }
                    last[op.stream] = next - 1;
                    end_of_op.push_back(next - 1);
                }
            }
            EXPECT_EQ(next, trace.nodes.size());
        }
    }
    EXPECT_GT(joins, 0U);
    EXPECT_GT(repeats, 0U);
}

TEST(ChakraExport, refuses_what_would_fill_a_disk_and_a_folder_with_traces) {
    const models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    const Folder folder("chakra-refused");
    ChakraExport request{.folder = folder.path(), .most_bytes = 1e5};
    try {
        static_cast<void>(export_chakra(inputs, request));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("in 4 files; expected at most 100 KB: give --chakra-limit"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    request.most_bytes = 1e9;
    static_cast<void>(export_chakra(inputs, request));
    EXPECT_THROW(static_cast<void>(export_chakra(inputs, request)), InputError);
}

/// What is estimated is what is written.
TEST(ChakraExport, says_what_it_wrote) {
    const models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    const Folder folder("chakra-said");
    const ChakraExported said = export_chakra(inputs, {.folder = folder.path()});
    double bytes = 0;
    std::uint64_t nodes = 0;
    for (const FileTrace& trace : testing_chakra::read_folder(folder.path(), 4)) {
        nodes += trace.nodes.size();
    }
    for (int rank = 0; rank < 4; ++rank) {
        bytes +=
            static_cast<double>(std::filesystem::file_size(folder.path() + "/trace." + std::to_string(rank) + ".et"));
    }
    EXPECT_EQ(said.files, 4U);
    EXPECT_EQ(said.bytes, bytes);
    EXPECT_EQ(said.nodes, nodes);
}

}  // namespace
}  // namespace auspex::workflows
