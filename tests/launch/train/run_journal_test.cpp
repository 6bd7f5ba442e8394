/// @file A run's journal, written and followed.
#include "launch/train/run_journal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "launch/new_folder.hpp"

namespace auspex::launch {
namespace {

TEST(RunJournal, a_line_reads_back) {
    const RunEvent event{RunEvent::Kind::kSaved, 128, 12345.678901};
    const auto read = parse_event(event_line(event));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, event.kind);
    EXPECT_EQ(read->number, 128);
    EXPECT_NEAR(read->at_s, event.at_s, 1e-6);
}

TEST(RunJournal, what_is_no_line_is_none) {
    for (const char* const line : {"", "12.5", "12.5 saved", "12.5 rested 3", "soon saved 3"}) {
        EXPECT_FALSE(parse_event(line)) << line;
    }
}

TEST(RunJournal, a_reader_follows_and_reads_on_when_the_folder_is_gone) {
    JournalReader reader;
    EXPECT_TRUE(reader.take().empty());
    {
        const NewFolder place(temporary_folder(), "auspex-journal-");
        const RunFolder folder(place.path());
        reader.open(folder);
        EXPECT_FALSE(reader.is_open());  // nobody has written yet
        const RunJournal journal(folder);
        journal.note(RunEvent::Kind::kLaunched);
        reader.open(folder);
        ASSERT_TRUE(reader.is_open());
        EXPECT_EQ(reader.take().size(), 1U);
        EXPECT_TRUE(reader.take().empty());
        std::ofstream(place.path() + "/journal", std::ios::app) << "1.5 step";  // half a line
        EXPECT_TRUE(reader.take().empty());
        std::ofstream(place.path() + "/journal", std::ios::app) << " 7\n";
        RunJournal(folder).note(RunEvent::Kind::kEnded);
    }
    const std::vector<RunEvent> rest = reader.take();
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0].kind, RunEvent::Kind::kStep);
    EXPECT_EQ(rest[0].number, 7);
    EXPECT_EQ(rest[1].kind, RunEvent::Kind::kEnded);
}

TEST(RunJournal, where_it_cannot_be_written_nothing_is_said) {
    const RunJournal journal(RunFolder("/nowhere"));
    journal.note(RunEvent::Kind::kStep, 1);
}

}  // namespace
}  // namespace auspex::launch
