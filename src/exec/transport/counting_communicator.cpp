/// @file Counts calls and their bytes, and passes them on.
#include "exec/transport/counting_communicator.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

std::size_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::kBf16: return 2;
        case ElementType::kFloat: return 4;
        case ElementType::kDouble:
        case ElementType::kInt64: return 8;
    }
    return 0;
}

std::size_t whole_bytes(std::span<const std::size_t> offsets, ElementType type) {
    return (offsets.back() - offsets.front()) * bytes_of(type);
}

std::size_t sum(std::span<const std::size_t> parts) {
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0});
}

}  // namespace

OperationCount& OperationCount::operator+=(const OperationCount& more) {
    operations += more.operations;
    messages += more.messages;
    bytes += more.bytes;
    return *this;
}

void CountingCommunicator::begin(const schedule::Operation& op) {
    AUSPEX_CHECK(!op_, "operations run one after another");
    op_ = op;
    count_ = {};
}

OperationCount CountingCommunicator::end() {
    AUSPEX_CHECK(op_.has_value(), "an operation that ends has begun");
    const std::uint64_t once = op_->comm == schedule::CommKind::kNone ? 1 : std::min<std::uint64_t>(count_.messages, 1);
    count_.operations = op_->repeat > 1 ? count_.messages : once;
    op_.reset();
    return count_;
}

void CountingCommunicator::count(schedule::CommKind kind, models::GroupKind group, std::size_t bytes) {
    if (!op_) {
        return;
    }
    AUSPEX_CHECK(kind == op_->comm && group == op_->group, "an operation makes calls of its kind over its group");
    ++count_.messages;
    count_.bytes += static_cast<double>(bytes);
}

void CountingCommunicator::all_reduce(models::GroupKind group, void* data, std::size_t elements, ElementType type,
                                      ReduceOp op) {
    count(schedule::CommKind::kAllReduce, group, elements * bytes_of(type));
    real_.all_reduce(group, data, elements, type, op);
}

void CountingCommunicator::reduce_scatter(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                                          ElementType type) {
    count(schedule::CommKind::kReduceScatter, group, whole_bytes(offsets, type));
    real_.reduce_scatter(group, data, offsets, type);
}

void CountingCommunicator::all_gather(models::GroupKind group, void* data, std::span<const std::size_t> offsets,
                                      ElementType type) {
    count(schedule::CommKind::kAllGather, group, whole_bytes(offsets, type));
    real_.all_gather(group, data, offsets, type);
}

std::unique_ptr<PendingCollective> CountingCommunicator::begin_all_reduce(models::GroupKind group, void* data,
                                                                          std::size_t elements, ElementType type,
                                                                          ReduceOp op) {
    count(schedule::CommKind::kAllReduce, group, elements * bytes_of(type));
    return real_.begin_all_reduce(group, data, elements, type, op);
}

std::unique_ptr<PendingCollective> CountingCommunicator::begin_reduce_scatter(models::GroupKind group, void* data,
                                                                              std::span<const std::size_t> offsets,
                                                                              ElementType type) {
    count(schedule::CommKind::kReduceScatter, group, whole_bytes(offsets, type));
    return real_.begin_reduce_scatter(group, data, offsets, type);
}

std::unique_ptr<PendingCollective> CountingCommunicator::begin_all_gather(models::GroupKind group, void* data,
                                                                          std::span<const std::size_t> offsets,
                                                                          ElementType type) {
    count(schedule::CommKind::kAllGather, group, whole_bytes(offsets, type));
    return real_.begin_all_gather(group, data, offsets, type);
}

void CountingCommunicator::all_to_all(models::GroupKind group, const void* send,
                                      std::span<const std::size_t> send_bytes, void* receive,
                                      std::span<const std::size_t> receive_bytes) {
    count(schedule::CommKind::kAllToAll, group, sum(send_bytes));
    real_.all_to_all(group, send, send_bytes, receive, receive_bytes);
}

void CountingCommunicator::shift(models::GroupKind group, const void* send, void* receive, std::size_t bytes) {
    shifts_ += {1, 1, static_cast<double>(bytes)};
    real_.shift(group, send, receive, bytes);
}

std::vector<std::size_t> CountingCommunicator::all_to_all_begin(models::GroupKind group, const void* send,
                                                                std::span<const std::size_t> send_bytes) {
    count(schedule::CommKind::kAllToAll, group, sum(send_bytes));
    return real_.all_to_all_begin(group, send, send_bytes);
}

void CountingCommunicator::broadcast(models::GroupKind group, int root, void* data, std::size_t bytes) {
    count(schedule::CommKind::kBroadcast, group, bytes);
    real_.broadcast(group, root, data, bytes);
}

void CountingCommunicator::barrier(models::GroupKind group) {
    count(schedule::CommKind::kBarrier, group, 0);
    real_.barrier(group);
}

void CountingCommunicator::send(models::GroupKind direction, std::span<const std::span<const std::byte>> parts,
                                int tag) {
    std::size_t bytes = 0;
    for (const std::span<const std::byte> part : parts) {
        bytes += part.size();
    }
    count(schedule::CommKind::kSend, direction, bytes);
    real_.send(direction, parts, tag);
}

void CountingCommunicator::receive(models::GroupKind direction, std::span<std::byte> data, int tag) {
    if (op_ && !is_exchange(*op_)) {  // there it is what comes back for what was sent
        count(schedule::CommKind::kReceive, direction, 0);
    }
    real_.receive(direction, data, tag);
}

void CountingCommunicator::send_bytes(int rank, std::span<const std::byte> data) {
    AUSPEX_CHECK(!op_, "no operation of a program sends to any rank");
    real_.send_bytes(rank, data);
}

std::vector<std::byte> CountingCommunicator::receive_bytes(int rank) {
    AUSPEX_CHECK(!op_, "no operation of a program receives from any rank");
    return real_.receive_bytes(rank);
}

}  // namespace auspex::exec
