/// @file Slots with and without hosts, and the ranks that were on them.
#include "launch/train/slots.hpp"

#include <gtest/gtest.h>

#include "../../exec/file_fixture.hpp"
#include "base/error.hpp"

namespace auspex::launch {
namespace {

using file_fixture::bytes_of;
using file_fixture::message_of;
using file_fixture::TestFolder;
using file_fixture::write_bytes;
using Numbers = std::vector<int>;

TEST(Slots, ranks_sit_on_the_first_healthy_ones) {
    const TestFolder scratch;
    Slots slots("", 3, 2);
    EXPECT_EQ(slots.used(), (Numbers{0, 1, 2}));
    slots.leave_out(1);
    EXPECT_EQ(slots.used(), (Numbers{0, 2, 3}));
    EXPECT_EQ(slots.slots_of({1, 2}, RunFolder(scratch.path())), (Numbers{2, 3})) << "of the ranks as they sit now";
    EXPECT_TRUE(slots.are_enough_without(1));
    EXPECT_FALSE(slots.are_enough_without(2));
    EXPECT_EQ(slots.hostfile(RunFolder(scratch.path())), "");
}

TEST(Slots, a_ranks_slot_is_a_line_of_the_host_that_it_has_named) {
    const TestFolder scratch;
    const RunFolder folder(scratch.path());
    const std::string file = scratch.path() + "/hostfile";
    write_bytes(file, "n0 # the first\nn1.site\n\nn0\nn2\n");
    Slots slots(file, 3, 1);
    folder.write_status(0, {100, 0, "n1"});
    folder.write_status(1, {101, 0, "n0"});
    folder.write_status(2, {102, 0, "n0.site"});
    EXPECT_EQ(slots.slots_of({0}, folder), Numbers{1}) << "with or without its domain";
    EXPECT_EQ(slots.slots_of({1, 2}, folder), (Numbers{0, 2})) << "two ranks of a host are on two lines of it";
    EXPECT_EQ(slots.slots_of({3}, folder), Numbers{-1}) << "it has not said where it is";
    folder.write_status(2, {102, 0, "n2"});
    EXPECT_EQ(slots.slots_of({2}, folder), Numbers{-1}) << "that line is in reserve, and had no rank";
    slots.leave_out(0);
    EXPECT_EQ(slots.used(), (Numbers{1, 2, 3}));
    EXPECT_EQ(bytes_of(slots.hostfile(folder)), "n1.site\nn0\nn2\n");
}

TEST(Slots, hosts_of_other_domains_are_others) {
    const TestFolder scratch;
    const RunFolder folder(scratch.path());
    write_bytes(scratch.path() + "/hostfile", "n0.here\n10.0.0.1\n");
    const Slots slots(scratch.path() + "/hostfile", 2, 0);
    folder.write_status(0, {100, 0, "n0.there"});
    folder.write_status(1, {101, 0, "10"});
    EXPECT_EQ(slots.slots_of({0, 1}, folder), (Numbers{-1, -1}));
}

TEST(Slots, a_hostfile_has_a_line_for_every_rank_and_buffer_rank) {
    const TestFolder scratch;
    const std::string file = scratch.path() + "/hostfile";
    write_bytes(file, "a\nb\n");
    EXPECT_NE(message_of<InputError>([&] {
                  const Slots slots(file, 2, 1);
              }).find("found 2 lines; expected at least 3: ranks and buffer ranks"),
              std::string::npos);
    write_bytes(file, "a slots=1\nb slots=2\nc\n");
    EXPECT_NE(message_of<InputError>([&] {
                  const Slots slots(file, 2, 1);
              }).find("found \"b slots=2\"; expected a line for every slot"),
              std::string::npos);
}

TEST(Slots, of_each_host_are_its_lines_or_what_they_say) {
    const TestFolder scratch;
    const std::string file = scratch.path() + "/hostfile";
    write_bytes(file, "a\nb slots=3\na\n# c\nd\n");
    EXPECT_EQ(slots_by_host(file), (Numbers{2, 3, 1}));
    write_bytes(file, "a\nb\n");
    EXPECT_NE(message_of<InputError>([&] { static_cast<void>(slots_by_host(file)); }).find("found \"a\" once"),
              std::string::npos);
}

}  // namespace
}  // namespace auspex::launch
