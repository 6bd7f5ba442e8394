/// @file Chakra traces of other versions, compressed, damaged and hostile: read, or refused by file, node and value.
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>

#include "../../sim/step_fixture.hpp"
#include "base/error.hpp"
#include "chakra_files.hpp"
#include "interop/chakra/chakra_writer.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex::workflows {
namespace {

using interop::ChakraCollective;
using interop::ChakraEncoder;
using interop::ChakraMetadata;
using interop::ChakraNode;
using interop::ChakraNodeType;
using testing_chakra::Folder;

ChakraNode compute_node(std::uint64_t id, std::uint64_t micros, std::vector<std::uint64_t> deps = {}) {
    ChakraNode node;
    node.id = id;
    node.type = ChakraNodeType::kCompute;
    node.duration_micros = micros;
    node.data_deps = std::move(deps);
    return node;
}
ChakraNode collective_node(std::uint64_t id, const std::string& group, std::vector<std::uint64_t> deps = {}) {
    ChakraNode node;
    node.id = id;
    node.type = ChakraNodeType::kCollective;
    node.comm_type = ChakraCollective::kAllReduce;
    node.comm_size = 1'000'000;
    node.pg_name = group;
    node.data_deps = std::move(deps);
    return node;
}

std::string file_of(const std::vector<ChakraNode>& nodes, const std::string& version = "1.0.0") {
    ChakraEncoder encoder;
    ChakraMetadata metadata;
    metadata.version = version;
    encoder.add(metadata);
    for (const ChakraNode& node : nodes) {
        encoder.add(node);
    }
    return encoder.bytes;
}

PlayedTraces played(const Folder& folder, const std::function<void(ChakraImport&)>& change = {}) {
    static const models::Machine kMachine = testing_plans::machine();
    static const models::Stack kStack = testing_plans::stack("optimus");
    ChakraImport request{.folder = folder.path()};
    if (change) {
        change(request);
    }
    return play_traces(request, kMachine, kStack);
}

/// What two ranks say, the second as it is given.
std::string refusal_of(const std::string& second, const std::string& groups = "") {
    const Folder folder("chakra-hostile");
    folder.write("trace.0.et", file_of({compute_node(1, 10), collective_node(2, "", {1})}));
    folder.write("trace.1.et", second);
    if (!groups.empty()) {
        folder.write("comm_groups.json", groups);
    }
    try {
        static_cast<void>(played(folder));
    } catch (const InputError& error) {
        std::string message = error.what();
        const std::size_t path = message.find(folder.path());
        EXPECT_NE(path, std::string::npos) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        return message.replace(path, folder.path().size(), "DIR");
    }
    return "";
}
std::string refusal_of(const std::vector<ChakraNode>& second, const std::string& groups = "") {
    return refusal_of(file_of(second), groups);
}

TEST(ChakraHostile, good_files_are_played) {
    EXPECT_EQ(refusal_of({compute_node(1, 10), collective_node(2, "", {1})}), "");
    EXPECT_EQ(refusal_of({compute_node(1, 10), collective_node(2, "0", {1})}), "");  // "" and "0" are all ranks
}

TEST(ChakraHostile, versions_and_gzip) {
    for (const char* version : {"0.0.4", "1.0.0", "0.0.1-something"}) {
        const Folder folder("chakra-version");
        folder.write("trace.0.et", file_of({compute_node(1, 10), collective_node(2, "", {1})}, version));
        const std::string plain = file_of({compute_node(1, 20), collective_node(2, "", {1})}, version);
        gzFile const file = gzopen((folder.path() + "/trace.1.et").c_str(), "wb");
        gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
        gzclose(file);
        const PlayedTraces result = played(folder);
        EXPECT_EQ(result.version, version);
        EXPECT_GT(result.result.step, to_picoseconds(20e-6));
        EXPECT_EQ(result.notes.empty(), version != std::string("0.0.1-something"));
    }
}

/// Packed by proto3, one by one by others; integers of any kind.
TEST(ChakraHostile, other_encodings_of_the_same) {
    const auto integer = [](const char* name, std::uint32_t field, std::uint64_t value) {
        return ProtobufWriter().bytes(1, name).varint(field, value);
    };
    ProtobufWriter node;
    node.varint(1, 2).varint(3, 7).varint(5, 1);                        // id, COMM_COLL, one dependency, not packed
    node.message(10, integer("comm_type", 13, 0));                      // uint64
    node.message(10, integer("comm_size", 15, 2'000'000));              // sint64, zigzag: 1,000,000
    node.message(10, integer("pg_name", 7, 0));                         // a number instead of a text
    node.message(10, ProtobufWriter().bytes(1, "new").bytes(29, "x"));  // an attribute that is not known
    node.varint(99, 1);                                                 // a field that is not known
    ProtobufWriter length;
    length.append_varint(node.view().size());
    const std::string second = file_of({compute_node(1, 10)}) + std::string(length.view()) + std::string(node.view());
    EXPECT_EQ(refusal_of(second), "");
}

TEST(ChakraHostile, names_file_node_and_value) {
    EXPECT_NE(
        refusal_of({compute_node(1, 10), compute_node(1, 10)}).find("DIR/trace.1.et: node id 1: found the id twice"),
        std::string::npos);
    EXPECT_NE(
        refusal_of({compute_node(1, 10, {7})}).find("node id 1: found a dependency on id 7; expected the id of a"),
        std::string::npos);
    EXPECT_NE(refusal_of({compute_node(1, 10, {2}), compute_node(2, 10, {1})}).find("in a circle of 2 nodes"),
              std::string::npos);
    EXPECT_NE(
        refusal_of({collective_node(1, "5")}).find("node id 1: pg_name: found \"5\"; expected one of the 0 groups"),
        std::string::npos);
    EXPECT_NE(refusal_of({compute_node(1, 10)}).find("found no collective of group \"0\"; expected those that rank 0"),
              std::string::npos);
    ChakraNode gather = collective_node(2, "");
    gather.comm_type = ChakraCollective::kGather;
    EXPECT_NE(refusal_of({gather}).find("node id 2: comm_type: found GATHER; expected ALL_REDUCE"), std::string::npos);
    ChakraNode without = collective_node(2, "");
    without.comm_size.reset();
    EXPECT_NE(refusal_of({without}).find("(id 2): found COMM_COLL_NODE without comm_size"), std::string::npos);
    ChakraNode send = compute_node(3, 0);
    send.type = ChakraNodeType::kSend;
    send.comm_size = 10;
    send.comm_src = 1;
    send.comm_dst = 9;
    EXPECT_NE(refusal_of({send}).find("node id 3: comm_dst: found 9; expected another rank than 1, below 2"),
              std::string::npos);
    send.comm_dst = 0;
    EXPECT_NE(refusal_of({collective_node(2, ""), send}).find("found a send with tag 0 without its receive"),
              std::string::npos);
    ChakraNode invalid = compute_node(4, 0);
    invalid.type = ChakraNodeType::kInvalid;
    EXPECT_NE(refusal_of({invalid}).find("(id 4): type: found 0; expected 1 (METADATA) to 7 (COMM_COLL)"),
              std::string::npos);
    EXPECT_NE(refusal_of({collective_node(1, "1")}, R"({"1": [0, 1, 2]})").find("expected ranks below 2"),
              std::string::npos);
    EXPECT_NE(refusal_of({collective_node(1, "1")}, R"({"1": [0, 0]})").find("each rank once"), std::string::npos);
}

TEST(ChakraHostile, sizes_are_not_believed) {
    const std::string good = file_of({compute_node(1, 10), collective_node(2, "", {1})});
    // A length of 2^63, one of 17 MiB, one without an end.
    EXPECT_NE(refusal_of(good + std::string(9, '\x80') + "\x01").find("found a length of 9223372036854775808 bytes"),
              std::string::npos);
    EXPECT_NE(refusal_of(good + "\x80\x80\x80\x09").find("found a length of 18874368 bytes; expected at most 16777216"),
              std::string::npos);
    EXPECT_NE(refusal_of(good + std::string(12, '\xff')).find("found no length"), std::string::npos);
    EXPECT_NE(refusal_of(good + "\x7f" + "abc").find("found 3 bytes at the end of the file; expected 127"),
              std::string::npos);
    EXPECT_NE(refusal_of(std::string()).find("found an empty file"), std::string::npos);
}

TEST(ChakraHostile, every_cut_of_a_file_is_refused) {
    const std::string good = file_of({compute_node(1, 10), collective_node(2, "", {1}), compute_node(3, 5, {2})});
    for (std::size_t length = 0; length < good.size(); ++length) {
        static_cast<void>(refusal_of(good.substr(0, length)));  // an InputError of one line, or an earlier end
    }
}

TEST(ChakraHostile, a_damaged_gzip_file_is_refused) {
    const Folder folder("chakra-gzip");
    const std::string plain = file_of({compute_node(1, 20), collective_node(2, "", {1})});
    const std::string name = folder.path() + "/trace.0.et";
    gzFile const file = gzopen(name.c_str(), "wb");
    gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
    gzclose(file);
    std::string bytes = testing_chakra::bytes_of(name);
    folder.write("trace.0.et", bytes.substr(0, bytes.size() - 12));
    try {
        static_cast<void>(played(folder));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("a gzip file that ends too early"), std::string::npos)
            << error.what();
    }
}

TEST(ChakraHostile, folders) {
    const auto refused = [](const std::function<void(const Folder&)>& fill) -> std::string {
        const Folder folder("chakra-folder");
        fill(folder);
        try {
            static_cast<void>(played(folder));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const std::string good = file_of({compute_node(1, 10)});
    EXPECT_NE(refused([](const Folder&) {}).find("found no file PREFIX.RANK.et"), std::string::npos);
    EXPECT_NE(refused([&](const Folder& folder) {
                  folder.write("a.0.et", good);
                  folder.write("a.2.et", good);
              }).find("found no file of rank 1, but one of rank 2"),
              std::string::npos);
    EXPECT_NE(refused([&](const Folder& folder) {
                  folder.write("a.0.et", good);
                  folder.write("b.1.et", good);
              }).find("found files of several traces, a.*.et and b.*.et"),
              std::string::npos);
    EXPECT_NE(refused([&](const Folder& folder) {
                  folder.write("a.0.et", good);
                  folder.write("one.json", "{}");
                  folder.write("two.json", "{}");
              }).find("found several JSON files, one.json and two.json"),
              std::string::npos);
    EXPECT_NE(refused([&](const Folder& folder) {
                  folder.write("trace.0.et", good);
                  folder.write("roles.json",
                               R"({"roles": [{"file": "trace.0.et", "ranks": [0, 0], "groups": {}, "peers": {}}]})");
              }).find("each rank once"),
              std::string::npos);
    EXPECT_NE(refused([&](const Folder& folder) {
                  folder.write("trace.0.et", good);
                  folder.write("roles.json",
                               R"({"roles": [{"file": "../x.et", "ranks": [0], "groups": {}, "peers": {}}]})");
              }).find("the name of a file in the same folder"),
              std::string::npos);
}

}  // namespace
}  // namespace auspex::workflows
