#pragma once
/// @file When a supervised run did what: a file in its folder, that others follow while the run goes on.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/run_folder.hpp"

namespace auspex::launch {

/// `at_s` is the monotonic clock of the host that says so, in seconds: comparable between processes of one host.
struct RunEvent {
    enum class Kind : std::uint8_t {
        kLaunched,  ///< mpirun is about to be started
        kStarted,   ///< rank 0's process runs, before MPI
        kStep,      ///< rank 0 begins step `number`
        kDone,      ///< step `number` is done
        kSaved,     ///< a checkpoint after `number` steps is whole
        kEnded,     ///< mpirun and its ranks are gone
    };
    Kind kind = Kind::kLaunched;
    int number = 0;
    double at_s = 0;
};

/// The monotonic clock, in seconds.
[[nodiscard]] double monotonic_s();

/// DIR/journal: "SECONDS WORD NUMBER", a line an event. Where it cannot be written nothing is said: no run depends on
/// it.
class RunJournal {
 public:
    explicit RunJournal(const RunFolder& folder);
    ~RunJournal();
    RunJournal(const RunJournal&) = delete;
    RunJournal& operator=(const RunJournal&) = delete;
    void note(RunEvent::Kind kind, int number = 0) const;

 private:
    int file_;
};

/// Follows a journal; what was written before its folder was removed can still be read afterwards.
class JournalReader {
 public:
    JournalReader() = default;
    ~JournalReader();
    JournalReader(const JournalReader&) = delete;
    JournalReader& operator=(const JournalReader&) = delete;

    /// Does nothing once one is open.
    void open(const RunFolder& folder);
    [[nodiscard]] bool is_open() const { return file_ >= 0; }
    /// What was written since the last call.
    [[nodiscard]] std::vector<RunEvent> take();

 private:
    int file_ = -1;
    std::string rest_;  ///< a line whose end is not written yet
};

/// A line of a journal; none: it is no such line.
[[nodiscard]] std::optional<RunEvent> parse_event(std::string_view line);
/// The line, with its end.
[[nodiscard]] std::string event_line(const RunEvent& event);

}  // namespace auspex::launch
