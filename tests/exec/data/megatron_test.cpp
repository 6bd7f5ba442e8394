/// @file Megatron's files: rows go there and come back, bytes are Megatron's, damage is refused.
#include "exec/data/megatron.hpp"

#include <gtest/gtest.h>

#include "data_fixture.hpp"

namespace auspex::exec {
namespace {

using file_fixture::bytes_of;
using namespace testing_data;

class MegatronFiles : public testing::Test, protected DataFolder {};

TEST_F(MegatronFiles, rows_go_to_megatron_and_come_back) {
    static_cast<void>(prepare_bytes());
    const Dataset dataset = Dataset::open(path("data"));
    export_megatron(dataset, path("m"));
    const MegatronDataset megatron(path("m"));
    EXPECT_EQ(megatron.sequences(), dataset.sequences());
    EXPECT_EQ(megatron.documents(), dataset.sequences());
    EXPECT_EQ(megatron.token_bytes(), 2);
    const std::vector<Tokens> rows = rows_of(dataset);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Tokens sequence;
        megatron.append_sequence(static_cast<std::int64_t>(i), 257, sequence);
        ASSERT_EQ(sequence, rows[i]);
    }
    PrepareRequest back = request("back");
    back.inputs.clear();
    back.megatron = path("m");
    back.vocabulary = 257;
    const DatasetInfo info = prepare(back);
    EXPECT_EQ(info.rows, dataset.sequences());
    EXPECT_EQ(info.dropped_tokens, 0);
    EXPECT_FALSE(info.end_of_document.has_value());
    const std::vector<std::int64_t> order = shuffled(info.rows, 1);
    const std::vector<Tokens> shuffled_again = rows_of(Dataset::open(path("back")));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(shuffled_again[i], rows[static_cast<std::size_t>(order[i])]);
    }
}

TEST_F(MegatronFiles, megatron_files_have_the_bytes_that_megatron_writes) {
    MegatronWriter writer(path("m"), 4);
    writer.add_sequence({70'000, 1});
    writer.add_sequence({2});
    writer.commit();
    const auto u64 = [](int low) { return std::string(1, static_cast<char>(low)) + std::string(7, '\0'); };
    const auto i32 = [](int low) { return std::string(1, static_cast<char>(low)) + std::string(3, '\0'); };
    const std::string expected = std::string("MMIDIDX\0\0", 9) + u64(1) + '\x04' + u64(2) + u64(3) + i32(2) + i32(1) +
                                 u64(0) + u64(8) + u64(0) + u64(1) + u64(2);
    EXPECT_EQ(bytes_of(path("m.idx")), expected);
    EXPECT_EQ(bytes_of(path("m.bin")), std::string("\x70\x11\x01\0", 4) + i32(1) + i32(2));
    const MegatronDataset megatron(path("m"));
    Tokens tokens;
    megatron.append_sequence(0, 70'001, tokens);
    EXPECT_EQ(tokens, (Tokens{70'000, 1}));
    EXPECT_EQ(fault_of_message(message_of<InputError>([&] { megatron.append_sequence(0, 70'000, tokens); }),
                               "m.bin: found token 70000 at place 0 of sequence 0; expected 0 to 69999"),
              "");
}

TEST_F(MegatronFiles, damaged_megatron_files_are_refused) {
    MegatronWriter writer(path("m"), 2);
    writer.add_sequence({5, 6, 7});
    writer.add_sequence({8});
    writer.commit();
    const std::string index = bytes_of(path("m.idx"));
    const std::string tokens = bytes_of(path("m.bin"));
    const auto error = [&](const std::string& changed) {
        write_file(path("m.idx"), changed);
        return message_of<InputError>([&] { MegatronDataset dataset(path("m")); });
    };
    const auto with = [&](std::size_t at, char byte) {
        std::string changed = index;
        changed[at] = byte;
        return changed;
    };
    for (std::size_t length = 0; length < index.size(); ++length) {
        EXPECT_EQ(fault_of_message(error(index.substr(0, length)), "m.idx: found "), "");
    }
    EXPECT_EQ(fault_of_message(error(index + "x"), "found 1 bytes behind the index"), "");
    EXPECT_EQ(fault_of_message(error(with(0, 'X')), "does not begin with MMIDIDX"), "");
    EXPECT_EQ(fault_of_message(error(with(9, 2)), "found version 2"), "");
    EXPECT_EQ(fault_of_message(error(with(17, 6)), "found tokens of type 6"), "");
    EXPECT_EQ(fault_of_message(error(with(25, '\x7f')), "ends too early"), "");
    EXPECT_EQ(fault_of_message(error(with(34, 2)), "found sequence 1 of 1 tokens at byte 6"), "");
    EXPECT_EQ(
        fault_of_message(error(with(50, 2)), "found sequence 1 of 1 tokens at byte 2; expected sequences one behind"),
        "");
    EXPECT_EQ(fault_of_message(error(with(58, 1)), "found document 0 at sequence 1"), "");
    EXPECT_EQ(fault_of_message(error(with(74, 1)), "found document 2 at sequence 1"), "");
    EXPECT_EQ(error(index), "no such exception");
    write_file(path("m.bin"), tokens.substr(1));
    EXPECT_EQ(fault_of_message(error(index), "m.bin: found 7 bytes; expected 8"), "");
}

}  // namespace
}  // namespace auspex::exec
