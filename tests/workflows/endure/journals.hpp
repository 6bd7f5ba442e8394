#pragma once
/// @file Journals of runs that never were.
#include <vector>

#include "workflows/endure/course.hpp"

namespace auspex::workflows::testing_endure {

using Kind = launch::RunEvent::Kind;

/// One that goes on at the pace of its numbers.
class JournalBuilder {
 public:
    double now_s = 100;
    std::vector<launch::RunEvent> events;

    void note(Kind kind, int number = 0) { events.push_back({kind, number, now_s}); }
    /// Launched, the process there after 0.1 s, ready 0.3 s later.
    void launch() {
        note(Kind::kLaunched);
        now_s += 0.1;
        note(Kind::kStarted);
        now_s += 0.3;
    }
    /// Steps [first, last) of 10 ms, the first one after a launch 50 ms longer if `is_cold`, a checkpoint of 20 ms
    /// behind every `every` of them (0: none).
    void steps(int first, int last, int every, bool is_cold) {
        for (int step = first; step < last; ++step) {
            note(Kind::kStep, step);
            now_s += 0.01 + (is_cold && step == first ? 0.05 : 0);
            note(Kind::kDone, step);
            if (every > 0 && (step + 1) % every == 0) {
                now_s += 0.02;
                note(Kind::kSaved, step + 1);
            }
        }
    }
    /// mpirun is gone 40 ms after now.
    void end() {
        now_s += 0.04;
        note(Kind::kEnded);
        now_s += 0.01;
    }
};

}  // namespace auspex::workflows::testing_endure
