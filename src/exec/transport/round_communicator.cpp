/// @file Rounds as messages of bytes, with the sums of exec/transport/reduction.hpp.
#include "exec/transport/round_communicator.hpp"

#include <cstring>
#include <numeric>
#include <utility>

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

/// One collective, round after round, on data in place that is cut into parts.
class RoundCommunicator::Collective final : public PendingCollective {
 public:
    struct Data {
        std::byte* data = nullptr;
        std::vector<std::size_t> offsets;  ///< in elements
        ElementType type = ElementType::kFloat;
        ReduceOp op = ReduceOp::kSum;

        [[nodiscard]] std::size_t begin(std::size_t part) const {
            return part == schedule::kAllParts ? 0 : offsets[part];
        }
        [[nodiscard]] std::size_t end(std::size_t part) const {
            return part == schedule::kAllParts ? offsets.back() : offsets[part + 1];
        }
        [[nodiscard]] std::size_t elements(std::size_t part) const { return end(part) - begin(part); }
        [[nodiscard]] std::size_t bytes(std::size_t part) const { return elements(part) * element_bytes(type); }
        [[nodiscard]] std::byte* at(std::size_t part) const { return data + begin(part) * element_bytes(type); }
    };

    Collective(RoundCommunicator& on, Channel channel, models::GroupKind kind, schedule::Rounds rounds, Data data)
        : on_(on), channel_(channel), kind_(kind), rounds_(std::move(rounds)), data_(std::move(data)) {
        begin_round();
    }

    [[nodiscard]] bool advance() override {
        while (messages_ && messages_->has_ended()) {
            end_round();
        }
        return !messages_;
    }

    void finish() override {
        while (messages_) {
            messages_->wait();
            end_round();
        }
    }

 private:
    /// What others send to be added up lies beside this rank's own until all of it is there.
    void begin_round() {
        if (next_ == rounds_.size()) {
            return;
        }
        const schedule::Round& round = rounds_[next_];
        RoundExchange messages;
        if (round.adds) {
            const std::size_t bytes = data_.bytes(round.sum);
            std::byte* other = on_.scratch(channel_, round.receives.size() * bytes);
            parts_.assign(on_.members(kind_), data_.at(round.sum));
            for (const schedule::RoundMessage& message : round.receives) {
                parts_[message.peer] = other;
                messages.receives.push_back({message.peer, other, bytes});
                other += bytes;
            }
        } else {
            for (const schedule::RoundMessage& message : round.receives) {
                messages.receives.push_back({message.peer, data_.at(message.part), data_.bytes(message.part)});
            }
        }
        for (const schedule::RoundMessage& message : round.sends) {
            messages.sends.push_back({message.peer, data_.at(message.part), data_.bytes(message.part)});
        }
        messages_ = on_.begin_exchange(kind_, channel_, messages);
    }

    void end_round() {
        const schedule::Round& round = rounds_[next_];
        messages_.reset();
        if (round.adds) {
            reduce_parts(parts_, data_.at(round.sum), data_.elements(round.sum), data_.type, data_.op);
        }
        ++next_;
        begin_round();
    }

    RoundCommunicator& on_;
    Channel channel_;
    models::GroupKind kind_;
    schedule::Rounds rounds_;
    Data data_;
    std::size_t next_ = 0;            ///< round
    std::vector<const void*> parts_;  ///< by member, where the round adds up
    std::unique_ptr<PendingExchange> messages_;
};

std::unique_ptr<RoundCommunicator::Collective> RoundCommunicator::all_reduce_on(Channel channel, models::GroupKind kind,
                                                                                void* data, std::size_t count,
                                                                                ElementType type, ReduceOp op) {
    const auto bytes = static_cast<double>(count * element_bytes(type));
    schedule::Rounds rounds;
    if (count > 0) {
        rounds = schedule::all_reduce_rounds(members(kind), mine(kind), bytes, static_cast<double>(gathered_bytes_));
    }
    return std::make_unique<Collective>(
        *this, channel, kind, std::move(rounds),
        Collective::Data{static_cast<std::byte*>(data),
                         schedule::even_parts(count, members(kind), elements_per_item(op)), type, op});
}

std::unique_ptr<RoundCommunicator::Collective> RoundCommunicator::reduce_scatter_on(
    Channel channel, models::GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) {
    return std::make_unique<Collective>(
        *this, channel, kind, schedule::reduce_scatter_rounds(members(kind), mine(kind)),
        Collective::Data{static_cast<std::byte*>(data), {offsets.begin(), offsets.end()}, type});
}

std::unique_ptr<RoundCommunicator::Collective> RoundCommunicator::all_gather_on(Channel channel, models::GroupKind kind,
                                                                                void* data,
                                                                                std::span<const std::size_t> offsets,
                                                                                ElementType type) {
    return std::make_unique<Collective>(
        *this, channel, kind, schedule::all_gather_rounds(members(kind), mine(kind)),
        Collective::Data{static_cast<std::byte*>(data), {offsets.begin(), offsets.end()}, type});
}

void RoundCommunicator::all_reduce(models::GroupKind kind, void* data, std::size_t count, ElementType type,
                                   ReduceOp op) {
    all_reduce_on(Channel::kCalls, kind, data, count, type, op)->finish();
}
std::unique_ptr<PendingCollective> RoundCommunicator::begin_all_reduce(models::GroupKind kind, void* data,
                                                                       std::size_t count, ElementType type,
                                                                       ReduceOp op) {
    return all_reduce_on(Channel::kBeside, kind, data, count, type, op);
}

void RoundCommunicator::reduce_scatter(models::GroupKind kind, void* data, std::span<const std::size_t> offsets,
                                       ElementType type) {
    reduce_scatter_on(Channel::kCalls, kind, data, offsets, type)->finish();
}
std::unique_ptr<PendingCollective> RoundCommunicator::begin_reduce_scatter(models::GroupKind kind, void* data,
                                                                           std::span<const std::size_t> offsets,
                                                                           ElementType type) {
    return reduce_scatter_on(Channel::kBeside, kind, data, offsets, type);
}

void RoundCommunicator::all_gather(models::GroupKind kind, void* data, std::span<const std::size_t> offsets,
                                   ElementType type) {
    all_gather_on(Channel::kCalls, kind, data, offsets, type)->finish();
}
std::unique_ptr<PendingCollective> RoundCommunicator::begin_all_gather(models::GroupKind kind, void* data,
                                                                       std::span<const std::size_t> offsets,
                                                                       ElementType type) {
    return all_gather_on(Channel::kBeside, kind, data, offsets, type);
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
        begin_exchange(kind, Channel::kCalls, messages)->wait();
    }
}

void RoundCommunicator::shift(models::GroupKind kind, const void* send, void* receive, std::size_t bytes) {
    for (const schedule::Round& round : schedule::shift_rounds(members(kind), mine(kind))) {
        RoundExchange messages;
        messages.receives.push_back({round.receives.front().peer, static_cast<std::byte*>(receive), bytes});
        messages.sends.push_back({round.sends.front().peer, static_cast<const std::byte*>(send), bytes});
        begin_exchange(kind, Channel::kCalls, messages)->wait();
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

std::byte* RoundCommunicator::scratch(Channel channel, std::size_t bytes) {
    GrowingBuffer& buffer = scratch_[static_cast<std::size_t>(channel)];
    const std::size_t before = buffer.size();
    std::byte* const data = buffer.of(bytes);
    hold(buffer.size() - before);
    return data;
}

}  // namespace auspex::exec
