/// @file Lines of progress, on a clock of the test's own.
#include "launch/progress_line.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace auspex::launch {
namespace {

struct Watched {
    std::ostringstream out;
    double seconds = 0;

    ProgressPlace place(bool is_terminal) {
        return {out, is_terminal, [this] {
                    const std::chrono::duration<double> since(seconds);
                    return std::chrono::steady_clock::time_point(
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(since));
                }};
    }
};

TEST(ProgressLine, a_file_gets_a_line_every_thirty_seconds_at_most) {
    Watched watched;
    ProgressLine line("plans decided", watched.place(false));
    for (watched.seconds = 0; watched.seconds < 100; watched.seconds += 1) {
        line.show(static_cast<std::size_t>(watched.seconds) * 100, 12000);
    }
    EXPECT_EQ(watched.out.str(),
              "plans decided: 3,000 of 12,000 after 30 s\nplans decided: 6,000 of 12,000 after 60 s\n"
              "plans decided: 9,000 of 12,000 after 90 s\n");
}

TEST(ProgressLine, a_file_gets_a_line_where_nothing_has_changed_and_none_of_short_runs) {
    Watched watched;
    {
        ProgressLine line("sizes searched", watched.place(false));
        line.show(1, 3);
        watched.seconds = 29;
        line.show(1, 3);
    }
    EXPECT_EQ(watched.out.str(), "");
    ProgressLine line("sizes searched", watched.place(false));
    watched.seconds += 40;
    line.show(1, 3);
    watched.seconds += 40;
    line.show(1, 3);
    EXPECT_EQ(watched.out.str(), "sizes searched: 1 of 3 after 40 s\nsizes searched: 1 of 3 after 80 s\n");
}

TEST(ProgressLine, a_terminal_gets_one_line_over_and_over_where_it_changes) {
    Watched watched;
    {
        ProgressLine line("sizes searched", watched.place(true));
        watched.seconds = 1.9;
        line.show(1, 3);
        watched.seconds = 2.1;
        line.show(1, 3);
        watched.seconds = 3;
        line.show(1, 3);
        line.show(2, 3);
    }
    EXPECT_EQ(watched.out.str(), "\rsizes searched: 1 of 3\rsizes searched: 2 of 3\n");
}

TEST(ProgressLine, has_a_note_behind_it_and_nothing_is_left_of_a_longer_line) {
    Watched watched;
    {
        ProgressLine line("plans decided", watched.place(true));
        watched.seconds = 3;
        line.show(0, 12000);
        watched.seconds = 4;
        line.show(0, 12000, "best so far 1.25 s");
        watched.seconds = 5;
        line.show(0, 12000, "best so far 1.25 s");
        line.show(12000, 12000, "best so far 1 s");
    }
    EXPECT_EQ(watched.out.str(),
              "\rplans decided: 0 of 12,000\rplans decided: 0 of 12,000, best so far 1.25 s"
              "\rplans decided: 12,000 of 12,000, best so far 1 s\n");
    watched.out.str("");
    ProgressLine line("plans decided", watched.place(true));
    watched.seconds = 8;
    line.show(1, 12000, "best so far 900 ms");
    watched.seconds = 9;
    line.show(1, 12000, "best so far 1 s");
    EXPECT_EQ(watched.out.str(),
              "\rplans decided: 1 of 12,000, best so far 900 ms\rplans decided: 1 of 12,000, best so far 1 s   ");
}

TEST(ProgressLine, of_a_file_has_the_note_behind_the_time) {
    Watched watched;
    ProgressLine line("plans decided", watched.place(false));
    watched.seconds = 30;
    line.show(3000, 12000, "best so far 1.25 s");
    EXPECT_EQ(watched.out.str(), "plans decided: 3,000 of 12,000 after 30 s, best so far 1.25 s\n");
}

}  // namespace
}  // namespace auspex::launch
