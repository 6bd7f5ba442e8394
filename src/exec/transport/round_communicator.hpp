#pragma once
/// @file Collectives run round by round (schedule/rounds) over what every transport can do: move bytes between members.
#include <array>
#include <deque>

#include "exec/transport/communicator.hpp"
#include "exec/transport/growing_buffer.hpp"
#include "schedule/rounds/rounds.hpp"

namespace auspex::exec {

/// Up to here an all-reduce sends everyone's data to everyone, where the stack does not say it.
inline constexpr std::size_t kSmallAllReduce = 4096;

/// Messages of one round, of one member of a group; peers are group ranks.
struct RoundExchange {
    struct Incoming {
        std::size_t from = 0;
        std::byte* data = nullptr;
        std::size_t bytes = 0;
    };
    struct Outgoing {
        std::size_t to = 0;
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<Incoming> receives;
    std::vector<Outgoing> sends;
    std::span<const std::byte> own;  ///< this member's part for itself
    std::byte* own_to = nullptr;
};

/// Messages of different channels between the same ranks do not meet.
enum class Channel : std::uint8_t {
    kCalls,  ///< of what is waited for where it is called
    kBeside  ///< of what was begun
};
inline constexpr std::size_t kChannels = 2;

/// Messages of a round under way.
class PendingExchange {
 public:
    PendingExchange() = default;
    PendingExchange(const PendingExchange&) = delete;
    PendingExchange& operator=(const PendingExchange&) = delete;
    virtual ~PendingExchange() = default;
    /// Does not wait.
    [[nodiscard]] virtual bool has_ended() = 0;
    virtual void wait() = 0;
};

class RoundCommunicator : public Communicator {
 public:
    /// All-reduces up to `gathered_bytes` send all data to all members.
    explicit RoundCommunicator(std::size_t gathered_bytes) : gathered_bytes_(gathered_bytes) {}

    void all_reduce(models::GroupKind kind, void* data, std::size_t count, ElementType type, ReduceOp op) final;
    void reduce_scatter(models::GroupKind kind, void* data, std::span<const std::size_t> offsets,
                        ElementType type) final;
    void all_gather(models::GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) final;
    std::unique_ptr<PendingCollective> begin_all_reduce(models::GroupKind kind, void* data, std::size_t count,
                                                        ElementType type, ReduceOp op) final;
    std::unique_ptr<PendingCollective> begin_reduce_scatter(models::GroupKind kind, void* data,
                                                            std::span<const std::size_t> offsets,
                                                            ElementType type) final;
    std::unique_ptr<PendingCollective> begin_all_gather(models::GroupKind kind, void* data,
                                                        std::span<const std::size_t> offsets, ElementType type) final;
    void all_to_all(models::GroupKind kind, const void* send, std::span<const std::size_t> send_bytes, void* receive,
                    std::span<const std::size_t> receive_bytes) final;
    void shift(models::GroupKind kind, const void* send, void* receive, std::size_t bytes) final;
    std::vector<std::size_t> all_to_all_begin(models::GroupKind kind, const void* send,
                                              std::span<const std::size_t> send_bytes) final;
    void take_received(void* receive) final;

 protected:
    /// Begins all receives, then all sends, and copies the own part (copy_own_part). Messages without bytes are not
    /// sent.
    [[nodiscard]] virtual std::unique_ptr<PendingExchange> begin_exchange(models::GroupKind kind, Channel channel,
                                                                          const RoundExchange& round) = 0;
    /// Sends, also what has no bytes; appends the next message of member `from` to `received`, in the
    /// order of members, this member's own part among them. Returns the lengths by member.
    virtual std::vector<std::size_t> exchange_unsized(models::GroupKind kind, const RoundExchange& round,
                                                      std::vector<std::byte>& received) = 0;
    /// Memory of the transport taken, or given back.
    virtual void hold(std::size_t bytes) = 0;
    virtual void release(std::size_t bytes) = 0;

    static void copy_own_part(const RoundExchange& round);
    /// The parts of a message, one after another: the transport's copy of it.
    [[nodiscard]] static std::vector<std::byte> joined(std::span<const std::span<const std::byte>> parts);

 private:
    class Collective;
    [[nodiscard]] std::size_t members(models::GroupKind kind) const { return static_cast<std::size_t>(size(kind)); }
    [[nodiscard]] std::size_t mine(models::GroupKind kind) const { return static_cast<std::size_t>(group_rank(kind)); }
    [[nodiscard]] std::unique_ptr<Collective> all_reduce_on(Channel channel, models::GroupKind kind, void* data,
                                                            std::size_t count, ElementType type, ReduceOp op);
    [[nodiscard]] std::unique_ptr<Collective> reduce_scatter_on(Channel channel, models::GroupKind kind, void* data,
                                                                std::span<const std::size_t> offsets, ElementType type);
    [[nodiscard]] std::unique_ptr<Collective> all_gather_on(Channel channel, models::GroupKind kind, void* data,
                                                            std::span<const std::size_t> offsets, ElementType type);
    std::byte* scratch(Channel channel, std::size_t bytes);

    std::size_t gathered_bytes_;
    std::deque<std::vector<std::byte>> received_;   ///< between all_to_all_begin and take_received
    std::array<GrowingBuffer, kChannels> scratch_;  ///< what a round adds up
};

}  // namespace auspex::exec
