/// @file Rounds as messages of bytes, with the sums of exec/transport/reduction.hpp.
#include "exec/transport/round_communicator.hpp"

#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/transport/reduction.hpp"

namespace auspex::exec {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0) {
        std::memcpy(to, from, bytes);
    }
}

std::vector<std::size_t> running_sums(std::span<const std::size_t> parts) {
    std::vector<std::size_t> offsets(parts.size() + 1, 0);
    std::partial_sum(parts.begin(), parts.end(), offsets.begin() + 1);
    return offsets;
}

}  // namespace

/// What a collective works on in place: elements, cut into parts.
struct RoundCommunicator::Data {
    std::byte* data;
    std::span<const std::size_t> offsets;  ///< in elements
    ElementType type;
    ReduceOp op = ReduceOp::kSum;

    [[nodiscard]] std::size_t begin(std::size_t part) const { return part == schedule::kAllParts ? 0 : offsets[part]; }
    [[nodiscard]] std::size_t end(std::size_t part) const {
        return part == schedule::kAllParts ? offsets.back() : offsets[part + 1];
    }
    [[nodiscard]] std::size_t elements(std::size_t part) const { return end(part) - begin(part); }
    [[nodiscard]] std::size_t bytes(std::size_t part) const { return elements(part) * element_bytes(type); }
    [[nodiscard]] std::byte* at(std::size_t part) const { return data + begin(part) * element_bytes(type); }
    void add_sends(const schedule::Round& round, RoundExchange& messages) const {
        for (const schedule::RoundMessage& message : round.sends) {
            messages.sends.push_back({message.peer, at(message.part), bytes(message.part)});
        }
    }
};

void RoundCommunicator::run(models::GroupKind kind, const schedule::Rounds& rounds, const Data& data) {
    for (const schedule::Round& round : rounds) {
        if (round.adds) {
            run_sum(kind, round, data);
            continue;
        }
        RoundExchange messages;
        for (const schedule::RoundMessage& message : round.receives) {
            messages.receives.push_back({message.peer, data.at(message.part), data.bytes(message.part)});
        }
        data.add_sends(round, messages);
        exchange(kind, messages);
    }
}

/// What others send lies beside this rank's own until all of it is there.
void RoundCommunicator::run_sum(models::GroupKind kind, const schedule::Round& round, const Data& data) {
    const std::size_t bytes = data.bytes(round.sum);
    std::byte* other = scratch(round.receives.size() * bytes);
    std::vector<const void*> parts(members(kind));
    parts[mine(kind)] = data.at(round.sum);
    RoundExchange messages;
    for (const schedule::RoundMessage& message : round.receives) {
        parts[message.peer] = other;
        messages.receives.push_back({message.peer, other, bytes});
        other += bytes;
    }
    data.add_sends(round, messages);
    exchange(kind, messages);
    reduce_parts(parts, data.at(round.sum), data.elements(round.sum), data.type, data.op);
}

void RoundCommunicator::all_reduce(models::GroupKind kind, void* data, std::size_t count, ElementType type,
                                   ReduceOp op) {
    if (members(kind) == 1 || count == 0) {
        return;
    }
    const std::vector<std::size_t> offsets = schedule::even_parts(count, members(kind), elements_per_item(op));
    run(kind,
        schedule::all_reduce_rounds(members(kind), mine(kind), static_cast<double>(count * element_bytes(type)),
                                    static_cast<double>(gathered_bytes_)),
        {static_cast<std::byte*>(data), offsets, type, op});
}

void RoundCommunicator::reduce_scatter(models::GroupKind kind, void* data, std::span<const std::size_t> offsets,
                                       ElementType type) {
    run(kind, schedule::reduce_scatter_rounds(members(kind), mine(kind)),
        {static_cast<std::byte*>(data), offsets, type});
}

void RoundCommunicator::all_gather(models::GroupKind kind, void* data, std::span<const std::size_t> offsets,
                                   ElementType type) {
    run(kind, schedule::all_gather_rounds(members(kind), mine(kind)), {static_cast<std::byte*>(data), offsets, type});
}

void RoundCommunicator::all_to_all(models::GroupKind kind, const void* send, std::span<const std::size_t> send_bytes,
                                   void* receive, std::span<const std::size_t> receive_bytes) {
    const std::size_t own = mine(kind);
    AUSPEX_CHECK(send_bytes[own] == receive_bytes[own], "an all-to-all brings what its receiver expects");
    const std::vector<std::size_t> leaves = running_sums(send_bytes), arrives = running_sums(receive_bytes);
    const auto* const from = static_cast<const std::byte*>(send);
    auto* const to = static_cast<std::byte*>(receive);
    for (const schedule::Round& round : schedule::all_to_all_rounds(members(kind), own)) {
        RoundExchange messages;
        for (const schedule::RoundMessage& message : round.receives) {
            messages.receives.push_back({message.peer, to + arrives[message.part], receive_bytes[message.part]});
        }
        for (const schedule::RoundMessage& message : round.sends) {
            messages.sends.push_back({message.peer, from + leaves[message.part], send_bytes[message.part]});
        }
        if (round.copies_own_part) {
            messages.own = {from + leaves[own], send_bytes[own]};
            messages.own_to = to + arrives[own];
        }
        exchange(kind, messages);
    }
}

std::vector<std::size_t> RoundCommunicator::all_to_all_begin(models::GroupKind kind, const void* send,
                                                             std::span<const std::size_t> send_bytes) {
    const std::vector<std::size_t> leaves = running_sums(send_bytes);
    const auto* const from = static_cast<const std::byte*>(send);
    std::vector<std::byte>& received = received_.emplace_back();
    std::vector<std::size_t> sizes;
    for (const schedule::Round& round : schedule::all_to_all_rounds(members(kind), mine(kind))) {
        RoundExchange messages;
        for (const schedule::RoundMessage& message : round.sends) {
            messages.sends.push_back({message.peer, from + leaves[message.part], send_bytes[message.part]});
        }
        if (round.copies_own_part) {
            messages.own = {from + leaves[mine(kind)], send_bytes[mine(kind)]};
            record_call("copy_own_part", 1, messages.own.size());
        }
        sizes = exchange_unsized(kind, messages, received);
    }
    hold(received.size());
    return sizes;
}

void RoundCommunicator::take_received(void* receive) {
    AUSPEX_CHECK(!received_.empty(), "all_to_all_begin comes before take_received");
    record_call("copy", 1, received_.front().size());
    copy_bytes(static_cast<std::byte*>(receive), received_.front().data(), received_.front().size());
    release(received_.front().size());
    received_.pop_front();
}

void RoundCommunicator::copy_own_part(const RoundExchange& round) {
    record_call("copy_own_part", 1, round.own.size());
    copy_bytes(round.own_to, round.own.data(), round.own.size());
}

std::vector<std::byte> RoundCommunicator::joined(std::span<const std::span<const std::byte>> parts) {
    std::vector<std::byte> message;
    for (const std::span<const std::byte> part : parts) {
        record_call("copy", 1, part.size());
        message.insert(message.end(), part.begin(), part.end());
    }
    return message;
}

std::byte* RoundCommunicator::scratch(std::size_t bytes) {
    const std::size_t before = scratch_.size();
    std::byte* const data = scratch_.of(bytes);
    hold(scratch_.size() - before);
    return data;
}

}  // namespace auspex::exec
