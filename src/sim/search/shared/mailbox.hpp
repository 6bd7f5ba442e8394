#pragma once
/// @file Messages between the processes of a search.
#include <optional>
#include <string>

namespace auspex::search {

struct Message {
    int from = 0;
    std::string bytes;
};

/// Implementations: exec::MpiMailbox through cli/worker, and threads in tests. One thread of a process calls it.
class Mailbox {
 public:
    Mailbox() = default;
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;
    virtual ~Mailbox() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// Does not wait; what is sent to a process that is gone is lost. Messages to one process stay in order.
    virtual void send(int to, std::string bytes) = 0;
    /// The next message, if one has come.
    [[nodiscard]] virtual std::optional<Message> receive() = 0;
};

}  // namespace auspex::search
