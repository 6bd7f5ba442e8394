/// @file What is refused: requests, damaged blends, sources that changed.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "blend_fixture.hpp"
#include "exec/blend/blend_layout.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;
using testing_blend::bytes_of;
using testing_blend::message_of;
using testing_blend::no_progress;

class BlendFaults : public testing::Test, protected testing_blend::BlendFolder {
 protected:
    /// "" if it is refused with all of these words, in one line, by one rank and by three, and leaves nothing.
    [[nodiscard]] static std::string fault_of(const BlendRequest& request, const std::vector<std::string>& words) {
        std::string fault;
        for (const int ranks : {1, 3}) {
            const std::string said = message_of<InputError>([&] { built_by(ranks, request); });
            for (const std::string& word : words) {
                fault += said.find(word) == std::string::npos ? "no \"" + word + "\" in: " + said + "\n" : "";
            }
            fault += said.find('\n') != std::string::npos ? "several lines: " + said + "\n" : "";
        }
        return fault + (fs::exists(request.file + ".partial") ? "FILE.partial is left\n" : "");
    }
    [[nodiscard]] std::string open_fault(const std::vector<std::string>& words) const {
        const std::string said = message_of<InputError>([&] { Blend::open(path("a.blend")).check_digests(); });
        std::string fault;
        for (const std::string& word : words) {
            fault += said.find(word) == std::string::npos ? "no \"" + word + "\" in: " + said + "\n" : "";
        }
        return fault;
    }
    void write_blend(const std::string& bytes) const { file_fixture::write_bytes(path("a.blend"), bytes); }
};

TEST_F(BlendFaults, weights_that_are_none) {
    BlendRequest request = request_of({20, 30}, {1, 1}, 10);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double weight : {0.0, -0.5, std::nan(""), kInfinity, 1e-310}) {
        request.sources[1].weight = weight;
        EXPECT_EQ(fault_of(request, {"--source", "source-1", "found the weight", "above 0"}), "");
    }
    request.sources[0].weight = request.sources[1].weight = 1.5e308;
    EXPECT_EQ(fault_of(request, {"--source", "sum is too large"}), "");
}

TEST_F(BlendFaults, sources_that_do_not_go_together) {
    BlendRequest request = request_of({20}, {1}, 10);
    request.sources.push_back({path("nowhere"), 1});
    EXPECT_EQ(fault_of(request, {path("nowhere"), "no dataset.json"}), "");
    request.sources[1].folder = path("source-0") + "/../source-0/";
    EXPECT_EQ(fault_of(request, {"--source", "twice"}), "");
    request.sources[1].folder = make_source(1, 20, 3);
    EXPECT_EQ(fault_of(request, {"source-1", "found sequences of 3 tokens", "expected 2"}), "");
    request.sources[1].folder = make_source(2, 20, kLength, 2000);
    EXPECT_EQ(fault_of(request, {"source-2", "found the tokenizer megatron with 2000", "with 1000"}), "");
}

TEST_F(BlendFaults, more_than_a_blend_can_have) {
    BlendRequest request = request_of({20, 30}, {1, 1}, kMaxBlendSequences + 1);
    EXPECT_EQ(fault_of(request, {"--sequences", "1099511627777", "at most 1099511627776"}), "");
    request.sequences = 0, request.tokens = 2 * kMaxBlendSequences + 1;
    EXPECT_EQ(fault_of(request, {"--tokens", "2199023255553 tokens", "at most 1099511627776 sequences"}), "");
    request.tokens = 2 * kMaxBlendSequences;  // 11 TB
    EXPECT_EQ(fault_of(request, {"a.blend", "bytes of free space; expected 10996"}), "");
}

TEST_F(BlendFaults, places_that_cannot_be_written) {
    BlendRequest request = request_of({20, 30}, {1, 1}, 10);
    request.file = path("no/such/folder");
    EXPECT_EQ(fault_of(request, {"no/such/folder", "cannot be written to"}), "");
    request.file = path("a.blend");
    write_blend("precious");
    EXPECT_EQ(fault_of(request, {"a.blend", "found something there already"}), "");
    EXPECT_EQ(bytes_of(request.file), "precious");
}

TEST_F(BlendFaults, every_changed_or_missing_byte_is_found) {
    build_blend(request_of({20, 30}, {1, 2}, 40), no_progress);
    const std::string whole = bytes_of(path("a.blend"));
    EXPECT_EQ(message_of<InputError>([&] { Blend::open(path("a.blend")).check_digests(); }), "no such exception");
    for (std::size_t i = 0; i < whole.size(); i += 7) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        write_blend(changed);
        EXPECT_EQ(open_fault({"a.blend", "found", "expected a blend"}), "") << "byte " << i;
    }
    for (std::size_t length = 0; length < whole.size(); length += 11) {
        write_blend(whole.substr(0, length));
        EXPECT_EQ(open_fault({"a.blend", "found", "expected a blend"}), "") << length << " bytes";
    }
    write_blend(whole + "x");
    EXPECT_EQ(open_fault({"a.blend", "do not end with"}), "") << "a byte more";
}

// A block that is damaged does not get into a step: it is compared when it is first read.
TEST_F(BlendFaults, a_damaged_block_is_never_read_from) {
    build_blend(request_of({20, 30}, {1, 2}, 70'000), no_progress);
    std::string bytes = bytes_of(path("a.blend"));
    bytes[static_cast<std::size_t>(BlendLayout{70'000}.begin_of(1)) + 5] ^= 4;
    write_blend(bytes);
    const Blend blend = Blend::open(path("a.blend"));
    std::vector<std::int32_t> tokens;
    blend.append_sequence(65'535, tokens);
    EXPECT_NE(message_of<InputError>([&] { blend.append_sequence(65'536, tokens); }).find("found block 1 with SHA-256"),
              std::string::npos);
}

TEST_F(BlendFaults, sources_that_are_gone_or_others) {
    build_blend(request_of({20, 30}, {1, 2}, 40), no_progress);
    fs::rename(path("source-1"), path("kept"));
    EXPECT_EQ(open_fault({"a.blend", "found no dataset in " + path("source-1"), "expected it where it was"}), "");
    fs::remove(path("source-1-tokens.bin"));
    fs::remove(path("source-1-tokens.idx"));
    make_source(1, 31);
    EXPECT_EQ(open_fault({"a.blend", "found another dataset in " + path("source-1"), "(31 rows", "expected 30 rows"}),
              "");
    fs::remove_all(path("source-1"));
    fs::rename(path("kept"), path("source-1"));
    EXPECT_EQ(message_of<InputError>([&] { Blend::open(path("a.blend")).check_digests(); }), "no such exception");
    std::fstream(path("source-1/shard-00000.bin"), std::ios::in | std::ios::out).put('\7');
    EXPECT_EQ(open_fault({"shard-00000.bin", "SHA-256"}), "");
}

}  // namespace
}  // namespace auspex::exec
