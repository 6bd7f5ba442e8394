#pragma once
/// @file Other programs as children: their arguments, and what becomes of signals that this program gets meanwhile.
#include <array>
#include <csignal>
#include <string>
#include <vector>

namespace auspex::launch {

/// SIGINT, SIGTERM, SIGHUP: how users and systems ask a program to end.
inline constexpr std::array<int, 3> kEndSignals{SIGINT, SIGTERM, SIGHUP};

/// While one lives, in any thread, kEndSignals do not end this program but are noted, those left alone that it was told
/// to ignore. Held around everything that has to be cleaned up after.
class SignalsCaught {
 public:
    SignalsCaught();
    ~SignalsCaught();
    SignalsCaught(const SignalsCaught&) = delete;
    SignalsCaught& operator=(const SignalsCaught&) = delete;
};

/// The last signal noted, or 0.
[[nodiscard]] int caught_signal();
/// The same, and forgets it.
[[nodiscard]] int take_caught_signal();

/// While one lives, kEndSignals wait: between fork and exec a child would note them, and nobody would look.
class SignalsBlocked {
 public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    /// In the child: signals do what they do to a program that knows nothing of them, those that have waited too.
    void restore_in_child() const;

 private:
    sigset_t before_{};
};

/// For exec(3): pointers into `words`, and the null pointer behind the last.
[[nodiscard]] std::vector<char*> argv_of(std::vector<std::string>& words);

/// Is there a program of this name that execvp(3) would find?
[[nodiscard]] bool is_in_path(const char* program);

/// What a child said at last, in one line: of its lines the last five that are neither empty nor rulers, with " / "
/// between them.
[[nodiscard]] std::string last_lines(const std::vector<std::string>& lines);

}  // namespace auspex::launch
