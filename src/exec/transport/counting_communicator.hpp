#pragma once
/// @file A communicator that counts what an operation asks of the real one.
#include <cstdint>
#include <optional>
#include <utility>

#include "exec/transport/communicator.hpp"
#include "schedule/program/program.hpp"

namespace auspex::exec {

/// Of one kind of operation, executed by this rank.
struct OperationCount {
    std::uint64_t operations = 0;  ///< repeats counted each; a communication is one that made a call
    std::uint64_t messages = 0;    ///< calls of the communicator
    double bytes = 0;  ///< of the calls' arguments, counted as in schedule/program/communication.hpp; a receive: 0
    OperationCount& operator+=(const OperationCount& more);
};

/// Passes every call on, and counts those made between begin and end, from their arguments alone. The program is not
/// asked: that both agree is for others to compare.
class CountingCommunicator final : public Communicator {
 public:
    explicit CountingCommunicator(Communicator& real) : real_(real) {}

    /// Calls are the operation's from here to end, and must be of its kind and over its group.
    void begin(const schedule::Operation& op);
    /// What the operation did: one communication if it made a call, each of its calls one if it is a repeated one, and
    /// one operation if it is none.
    [[nodiscard]] OperationCount end();
    /// Shifts since this was asked last, each an operation: parts of a ring are passed on between the kernels of
    /// another operation than the program's.
    [[nodiscard]] OperationCount take_shifts() { return std::exchange(shifts_, {}); }

    [[nodiscard]] int world_rank() const override { return real_.world_rank(); }
    [[nodiscard]] int world_size() const override { return real_.world_size(); }
    [[nodiscard]] int size(models::GroupKind group) const override { return real_.size(group); }
    [[nodiscard]] int group_rank(models::GroupKind group) const override { return real_.group_rank(group); }
    void all_reduce(models::GroupKind group, void* data, std::size_t count, ElementType type, ReduceOp op) override;
    void reduce_scatter(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                        ElementType type) override;
    void all_gather(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                    ElementType type) override;
    std::unique_ptr<PendingCollective> begin_all_reduce(models::GroupKind group, void* data, std::size_t count,
                                                        ElementType type, ReduceOp op) override;
    std::unique_ptr<PendingCollective> begin_reduce_scatter(models::GroupKind group, void* data,
                                                            std::span<const std::size_t> offsets,
                                                            ElementType type) override;
    std::unique_ptr<PendingCollective> begin_all_gather(models::GroupKind group, void* data,
                                                        std::span<const std::size_t> offsets,
                                                        ElementType type) override;
    void all_to_all(models::GroupKind group, const void* send, std::span<const std::size_t> send_bytes, void* receive,
                    std::span<const std::size_t> receive_bytes) override;
    void shift(models::GroupKind group, const void* send, void* receive, std::size_t bytes) override;
    std::vector<std::size_t> all_to_all_begin(models::GroupKind group, const void* send,
                                              std::span<const std::size_t> send_bytes) override;
    void take_received(void* receive) override { real_.take_received(receive); }
    void broadcast(models::GroupKind group, int root, void* data, std::size_t bytes) override;
    void barrier(models::GroupKind group) override;
    void send(models::GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) override;
    void receive(models::GroupKind direction, std::span<std::byte> data, int tag) override;
    void expect(models::GroupKind direction, std::size_t bytes, int tag) override {
        real_.expect(direction, bytes, tag);
    }
    void advance_expected() override { real_.advance_expected(); }
    void send_bytes(int rank, std::span<const std::byte> data) override;
    std::vector<std::byte> receive_bytes(int rank) override;
    [[nodiscard]] std::size_t peak_transport_bytes() const override { return real_.peak_transport_bytes(); }

 private:
    void count(schedule::CommKind kind, models::GroupKind group, std::size_t bytes);

    Communicator& real_;
    std::optional<schedule::Operation> op_;  ///< that is being executed
    OperationCount count_;                   ///< of it
    OperationCount shifts_;
};

}  // namespace auspex::exec
