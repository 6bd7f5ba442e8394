#pragma once
/// @file What a rank asks of the other ranks. Implementations: threads of one process (exec/transport/in_process.hpp)
/// and Open MPI (exec/mpi/mpi_communicator.hpp).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/layout.hpp"

namespace auspex::exec {

enum class ElementType : std::uint8_t { kBf16, kFloat, kDouble, kInt64 };
enum class ReduceOp : std::uint8_t {
    kSum,
    kMax,
    kLogSumExp  ///< triples (m, s, x): maximum m with sum s of exp(. - m), joined; x added up
};

/// Another rank is gone, or the transport failed.
class CommunicationError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A collective that was begun and not waited for. It goes on only in these calls; destroyed before its end it leaves
/// the group's other members without it. Throws CommunicationError when another rank is gone.
class PendingCollective {
 public:
    PendingCollective() = default;
    PendingCollective(const PendingCollective&) = delete;
    PendingCollective& operator=(const PendingCollective&) = delete;
    virtual ~PendingCollective() = default;
    /// Goes on as far as it can without waiting; true once it has ended.
    [[nodiscard]] virtual bool advance() = 0;
    /// Waits for its end.
    virtual void finish() = 0;
};

/// Sums are taken in rank order of the group, in double, and rounded once, so that every rank of a group gets the same
/// bits, run after run, whatever the transport. Every member of a group calls the same functions in the same order.
/// Groups are those of groups_of(layout, kind, stage); a group of one rank returns at once.
/// Throws CommunicationError when another rank is gone.
class Communicator {
 public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int world_rank() const = 0;
    [[nodiscard]] virtual int world_size() const = 0;
    /// Size of this rank's group of the kind, and its own index in it (all but
    /// pairs).
    [[nodiscard]] virtual int size(models::GroupKind group) const = 0;
    [[nodiscard]] virtual int group_rank(models::GroupKind group) const = 0;

    /// In place, `count` elements; for kLogSumExp count is three times the number of triples.
    virtual void all_reduce(models::GroupKind group, void* data, std::size_t count, ElementType type, ReduceOp op) = 0;
    /// In place: member i's elements [offsets[i], offsets[i + 1]) become the sums; the others are left as they happen
    /// to be. offsets has size(group) + 1 entries, the same on every member.
    virtual void reduce_scatter(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                                ElementType type) = 0;
    /// In place: member i brings its elements [offsets[i], offsets[i + 1]); afterwards everyone has all.
    virtual void all_gather(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                            ElementType type) = 0;
    /// The same, begun and not waited for: nobody touches the data before its end, and `offsets` are copied. A rank has
    /// at most one of them under way; other calls may be made meanwhile, over the same groups, too.
    [[nodiscard]] virtual std::unique_ptr<PendingCollective> begin_all_reduce(models::GroupKind group, void* data,
                                                                              std::size_t count, ElementType type,
                                                                              ReduceOp op) = 0;
    [[nodiscard]] virtual std::unique_ptr<PendingCollective> begin_reduce_scatter(models::GroupKind group, void* data,
                                                                                  std::span<const std::size_t> offsets,
                                                                                  ElementType type) = 0;
    [[nodiscard]] virtual std::unique_ptr<PendingCollective> begin_all_gather(models::GroupKind group, void* data,
                                                                              std::span<const std::size_t> offsets,
                                                                              ElementType type) = 0;
    /// Bytes for every member from `send`, one part after another, send_bytes[i] for member i. Received parts land in
    /// `receive` in the members' order; receive_bytes[i] from member i.
    virtual void all_to_all(models::GroupKind group, const void* send, std::span<const std::size_t> send_bytes,
                            void* receive, std::span<const std::size_t> receive_bytes) = 0;
    /// All bytes to the next member of the group, the last's to the first; those of the member before land in
    /// `receive`.
    virtual void shift(models::GroupKind group, const void* send, void* receive, std::size_t bytes) = 0;
    /// An all-to-all where receivers do not know how much will come: returns received bytes by member, and keeps what
    /// came (memory of the transport) until take_received copies it out.
    virtual std::vector<std::size_t> all_to_all_begin(models::GroupKind group, const void* send,
                                                      std::span<const std::size_t> send_bytes) = 0;
    virtual void take_received(void* receive) = 0;
    virtual void broadcast(models::GroupKind group, int root, void* data, std::size_t bytes) = 0;
    virtual void barrier(models::GroupKind group) = 0;

    /// Messages between stages' counterparts: to the next (kNextStage) or previous (kPreviousStage) stage, wrapping
    /// round, or to stage pp - 1 - s (kMirrorStage). Never blocks: the parts are copied, one after another, into memory
    /// of the transport. `tag` tells messages of one direction apart.
    virtual void send(models::GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) = 0;
    /// From the stage in that direction; blocks until the message is there. Its length must be `data`'s.
    virtual void receive(models::GroupKind direction, std::span<std::byte> data, int tag) = 0;

    /// Says that `receive` will ask for this message of so many bytes: it may come before, into memory of the
    /// transport, whenever this rank makes a call.
    virtual void expect(models::GroupKind direction, std::size_t bytes, int tag) = 0;
    /// Lets expected messages go on coming; does not wait.
    virtual void advance_expected() = 0;

    /// Between any two ranks, for what no program speaks of: reports, traces, recorded routing.
    virtual void send_bytes(int rank, std::span<const std::byte> data) = 0;
    virtual std::vector<std::byte> receive_bytes(int rank) = 0;
    /// Most memory that the transport held in copies of messages, and now.
    [[nodiscard]] virtual std::size_t peak_transport_bytes() const = 0;
};

}  // namespace auspex::exec
