/// @file Lines appended and read.
#include "launch/train/run_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>

namespace auspex::launch {
namespace {

constexpr std::array<const char*, 6> kWords{"launched", "started", "step", "done", "saved", "ended"};

std::string journal_of(const RunFolder& folder) { return folder.path() + "/journal"; }

}  // namespace

double monotonic_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string event_line(const RunEvent& event) {
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.6f %s %d\n", event.at_s,
                                     kWords.at(static_cast<std::size_t>(event.kind)), event.number);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::optional<RunEvent> parse_event(std::string_view line) {
    std::istringstream in{std::string(line)};
    RunEvent event;
    std::string word;
    if (!(in >> event.at_s >> word >> event.number)) {
        return std::nullopt;
    }
    const auto* const found = std::ranges::find(kWords, word);
    if (found == kWords.end()) {
        return std::nullopt;
    }
    event.kind = static_cast<RunEvent::Kind>(found - kWords.begin());
    return event;
}

RunJournal::RunJournal(const RunFolder& folder) {
    constexpr int kMode = 0644;
    file_ = ::open(journal_of(folder).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
}

RunJournal::~RunJournal() {
    if (file_ >= 0) {
        close(file_);
    }
}

void RunJournal::note(RunEvent::Kind kind, int number) const {
    const std::string line = event_line({kind, number, monotonic_s()});
    if (file_ >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(file_, line.data(), line.size());
    }
}

JournalReader::~JournalReader() {
    if (file_ >= 0) {
        close(file_);
    }
}

void JournalReader::open(const RunFolder& folder) {
    if (file_ < 0) {
        file_ = ::open(journal_of(folder).c_str(), O_RDONLY | O_CLOEXEC);
    }
}

std::vector<RunEvent> JournalReader::take() {
    std::vector<RunEvent> events;
    std::array<char, 4096> buffer{};
    for (ssize_t count = 1; file_ >= 0 && count > 0;) {
        count = ::read(file_, buffer.data(), buffer.size());
        rest_.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
        if (const auto event = parse_event(std::string_view(rest_).substr(begin, end - begin))) {
            events.push_back(*event);
        }
        begin = end + 1;
    }
    rest_.erase(0, begin);
    return events;
}

}  // namespace auspex::launch
