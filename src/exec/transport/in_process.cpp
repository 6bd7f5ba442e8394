/// @file Threads that meet in groups and leave messages in mailboxes.
#include "exec/transport/in_process.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/transport/in_process_hub.hpp"

namespace auspex::exec {
namespace {

using threads::Address, threads::BarrierScope, threads::Group, threads::Hub, threads::index_of, models::kGroupKinds;
using threads::kBackward, threads::kCollective, threads::kForward, threads::kPlain;

class InProcessCommunicator : public RoundCommunicator {
 public:
    InProcessCommunicator(Hub& hub, int rank, int ranks, const InProcessOptions& options)
        : RoundCommunicator(options.gathered_all_reduce_bytes),
          hub_(hub),
          rank_(rank),
          ranks_(ranks),
          options_(options) {}

    void join(models::GroupKind kind, Group& group) {
        const auto index = std::find(group.ranks.begin(), group.ranks.end(), rank_) - group.ranks.begin();
        groups_[index_of(kind)] = &group;
        group_ranks_[index_of(kind)] = static_cast<std::size_t>(index);
    }
    void set_counterparts(int next, int previous, int mirror) { next_ = next, previous_ = previous, mirror_ = mirror; }

    [[nodiscard]] int world_rank() const override { return rank_; }
    [[nodiscard]] int world_size() const override { return ranks_; }
    [[nodiscard]] int size(models::GroupKind group) const override { return static_cast<int>(members(group)); }
    [[nodiscard]] int group_rank(models::GroupKind group) const override {
        return static_cast<int>(group_ranks_[index_of(group)]);
    }

    void broadcast(models::GroupKind kind, int root, void* data, std::size_t bytes) override {
        if (members(kind) == 1) {
            return;
        }
        const BarrierScope meeting = enter_barrier(kind, data);
        const void* const source = group(kind).member_buffers[index_of(root)];
        if (source != data && bytes > 0) {
            std::memcpy(data, source, bytes);
        }
    }

    void barrier(models::GroupKind kind) override { const BarrierScope meeting = enter_barrier(kind, nullptr); }

    void send(models::GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) override {
        const bool forward = direction == models::GroupKind::kNextStage;
        std::vector<std::byte> message = joined(parts);
        hold(message.size());
        post({rank_, counterpart(direction), forward ? kForward : kBackward, tag}, std::move(message));
    }

    void receive(models::GroupKind direction, std::span<std::byte> data, int tag) override {
        const Address address = address_of(direction, tag);
        if (expected_.erase(address) > 0) {
            record_call("copy", 1, data.size());
        }
        take(collect_held(address), data);
    }

    /// Mail comes by itself.
    void expect(models::GroupKind direction, std::size_t /*bytes*/, int tag) override {
        expected_.insert(address_of(direction, tag));
    }
    void advance_expected() override {}

    void send_bytes(int rank, std::span<const std::byte> data) override {
        hold(data.size());
        post({rank_, rank, kPlain, 0}, {data.begin(), data.end()});
    }
    std::vector<std::byte> receive_bytes(int rank) override { return collect_held({rank, rank_, kPlain, 0}); }

    [[nodiscard]] std::size_t peak_transport_bytes() const override {
        const std::lock_guard lock(hub_.mutex);
        return hub_.peak_bytes[index_of(rank_)];
    }

 protected:
    std::unique_ptr<PendingExchange> begin_exchange(models::GroupKind kind, Channel channel,
                                                    const RoundExchange& round) override {
        for (const RoundExchange::Outgoing& message : round.sends) {
            if (message.bytes > 0) {
                post(address_to(kind, message.to, channel), {message.data, message.data + message.bytes});
            }
        }
        copy_own_part(round);
        return std::make_unique<Exchange>(*this, kind, channel, round.receives);
    }

    std::vector<std::size_t> exchange_unsized(models::GroupKind kind, const RoundExchange& round,
                                              std::vector<std::byte>& received) override {
        for (const RoundExchange::Outgoing& message : round.sends) {
            post(address_to(kind, message.to, Channel::kCalls), {message.data, message.data + message.bytes});
        }
        std::vector<std::size_t> sizes;
        for (std::size_t from = 0; from < members(kind); ++from) {
            const std::size_t before = received.size();
            if (from == group_ranks_[index_of(kind)]) {
                received.insert(received.end(), round.own.begin(), round.own.end());
            } else {
                const std::vector<std::byte> message = collect(address_from(kind, from, Channel::kCalls));
                received.insert(received.end(), message.begin(), message.end());
            }
            sizes.push_back(received.size() - before);
        }
        return sizes;
    }

    void hold(std::size_t bytes) override {
        const std::lock_guard lock(hub_.mutex);
        hub_.hold(rank_, bytes);
    }
    void release(std::size_t bytes) override {
        const std::lock_guard lock(hub_.mutex);
        hub_.held_bytes[index_of(rank_)] -= bytes;
    }

 private:
    [[nodiscard]] Group& group(models::GroupKind kind) const { return *groups_[index_of(kind)]; }
    [[nodiscard]] std::size_t members(models::GroupKind kind) const { return group(kind).ranks.size(); }
    [[nodiscard]] BarrierScope enter_barrier(models::GroupKind kind, void* shown) {
        return {hub_, group(kind), group_ranks_[index_of(kind)], shown};
    }
    [[nodiscard]] int counterpart(models::GroupKind direction) const {
        return direction == models::GroupKind::kNextStage       ? next_
               : direction == models::GroupKind::kPreviousStage ? previous_
                                                                : mirror_;
    }
    /// Of a message from the stage in that direction.
    [[nodiscard]] Address address_of(models::GroupKind direction, int tag) const {
        const bool forward = direction == models::GroupKind::kPreviousStage;
        return {counterpart(direction), rank_, forward ? kForward : kBackward, tag};
    }
    [[nodiscard]] static int tag_of(models::GroupKind kind, Channel channel) {
        return static_cast<int>(index_of(kind) * kChannels + static_cast<std::size_t>(channel));
    }
    [[nodiscard]] Address address_to(models::GroupKind kind, std::size_t member, Channel channel) const {
        return {rank_, group(kind).ranks[member], kCollective, tag_of(kind, channel)};
    }
    [[nodiscard]] Address address_from(models::GroupKind kind, std::size_t member, Channel channel) const {
        return {group(kind).ranks[member], rank_, kCollective, tag_of(kind, channel)};
    }

    /// What a round brings, taken in the order of its messages.
    class Exchange final : public PendingExchange {
     public:
        Exchange(InProcessCommunicator& on, models::GroupKind kind, Channel channel,
                 const std::vector<RoundExchange::Incoming>& receives)
            : on_(on) {
            for (const RoundExchange::Incoming& message : receives) {
                if (message.bytes > 0) {
                    left_.emplace_back(on.address_from(kind, message.from, channel),
                                       std::span(message.data, message.bytes));
                }
            }
        }
        [[nodiscard]] bool has_ended() override {
            while (!left_.empty() && on_.has_come(left_.front().first)) {
                take_first();
            }
            return left_.empty();
        }
        void wait() override {
            while (!left_.empty()) {
                take_first();
            }
        }

     private:
        void take_first() {
            take(on_.collect(left_.front().first), left_.front().second);
            left_.pop_front();
        }
        InProcessCommunicator& on_;
        std::deque<std::pair<Address, std::span<std::byte>>> left_;
    };

    static void take(const std::vector<std::byte>& message, std::span<std::byte> data) {
        AUSPEX_CHECK(message.size() == data.size(), "a message has the length that its receiver expects");
        if (!data.empty()) {
            std::memcpy(data.data(), message.data(), data.size());
        }
    }

    void post(const Address& address, std::vector<std::byte> message) {
        if (options_.on_message) {
            options_.on_message({rank_, std::get<1>(address), message.size()});
        }
        const std::lock_guard lock(hub_.mutex);
        hub_.mail[address].push_back(std::move(message));
        hub_.mail_came[index_of(std::get<1>(address))].notify_one();
    }
    /// True also where it will never come: collecting it then throws.
    [[nodiscard]] bool has_come(const Address& address) {
        const std::lock_guard lock(hub_.mutex);
        return hub_.has_mail(address) || hub_.failed || hub_.has_left[index_of(std::get<0>(address))];
    }
    std::vector<std::byte> collect(const Address& address) {
        std::unique_lock lock(hub_.mutex);
        const int from = std::get<0>(address);
        const auto is_there = [&] { return hub_.has_mail(address); };
        hub_.mail_came[index_of(rank_)].wait(
            lock, [&] { return is_there() || hub_.failed || hub_.has_left[index_of(from)]; });
        if (!is_there()) {
            throw CommunicationError("rank " + std::to_string(from) + " is gone");
        }
        const auto box = hub_.mail.find(address);
        std::vector<std::byte> message = std::move(box->second.front());
        box->second.pop_front();
        if (box->second.empty()) {
            hub_.mail.erase(box);
        }
        return message;
    }

    /// A message that its sender holds until now.
    std::vector<std::byte> collect_held(const Address& address) {
        std::vector<std::byte> message = collect(address);
        const std::lock_guard lock(hub_.mutex);
        hub_.held_bytes[index_of(std::get<0>(address))] -= message.size();
        return message;
    }

    Hub& hub_;
    int rank_, ranks_;
    const InProcessOptions& options_;
    int next_ = 0, previous_ = 0, mirror_ = 0;
    std::set<Address> expected_;
    std::array<Group*, kGroupKinds> groups_{};
    std::array<std::size_t, kGroupKinds> group_ranks_{};
};

using Communicators = std::deque<InProcessCommunicator>;

void join_groups(const models::Layout& layout, Hub& hub, Communicators& communicators) {
    const auto join = [&](models::GroupKind kind, int stage) {
        for (std::vector<int>& ranks : groups_of(layout, kind, stage)) {
            Group& group = hub.groups.emplace_back();
            group.member_buffers.resize(ranks.size());
            group.ranks = std::move(ranks);
            for (const int rank : group.ranks) {
                communicators[index_of(rank)].join(kind, group);
            }
        }
    };
    for (std::size_t kind = 0; kind <= index_of(models::GroupKind::kStage); ++kind) {
        for (int stage = 0; stage < layout.pp; ++stage) {
            join(static_cast<models::GroupKind>(kind), stage);
        }
    }
    join(models::GroupKind::kWorld, 0);
    for (int stage = 0; stage < layout.pp; ++stage) {
        for (int n = 0; n < layout.stage_ranks; ++n) {
            communicators[index_of(layout.rank(stage, n))].set_counterparts(
                layout.rank(layout.next_stage(stage), n), layout.rank(layout.previous_stage(stage), n),
                layout.rank(layout.other_stage(models::GroupKind::kMirrorStage, stage), n));
        }
    }
}

}  // namespace

void run_in_process(const models::Layout& layout, const std::function<void(Communicator&)>& body,
                    const InProcessOptions& options) {
    Hub hub(layout.tiles);
    Communicators communicators;
    for (int rank = 0; rank < layout.tiles; ++rank) {
        communicators.emplace_back(hub, rank, layout.tiles, options);
    }
    join_groups(layout, hub, communicators);
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (InProcessCommunicator& communicator : communicators) {
        threads.emplace_back([&] {
            try {
                body(communicator);
                hub.leave(communicator.world_rank());
            } catch (...) {
                {
                    const std::lock_guard lock(hub.mutex);
                    first = first ? first : std::current_exception();
                }
                hub.fail();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

}  // namespace auspex::exec
