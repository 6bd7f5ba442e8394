#pragma once
/// @file Messages of any length between processes under MPI, for programs that must not wait for one another.
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace auspex::exec {

/// One thread of the process uses it, between construction and destruction of an MpiSession. What MPI says of a process
/// that is gone is passed over: its messages are lost.
class MpiMailbox {
 public:
    MpiMailbox();
    ~MpiMailbox();
    MpiMailbox(const MpiMailbox&) = delete;
    MpiMailbox& operator=(const MpiMailbox&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    /// Does not wait. Throws CommunicationError for a message that MPI cannot count (2 GiB).
    void send(int to, std::string bytes);
    /// The next message that has come, with its sender.
    [[nodiscard]] std::optional<std::pair<int, std::string>> receive();

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace auspex::exec
