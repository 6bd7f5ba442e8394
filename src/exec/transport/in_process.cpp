/// @file Threads that meet in groups and leave messages in mailboxes.
#include "exec/transport/in_process.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "exec/transport/reduction.hpp"

namespace auspex {
namespace {

constexpr std::size_t kGroupKinds = static_cast<std::size_t>(GroupKind::kPreviousStage) + 1;

std::size_t index_of(GroupKind kind) { return static_cast<std::size_t>(kind); }
std::size_t index_of(int rank) { return static_cast<std::size_t>(rank); }

/// What a member shows the others of its group while they meet.
struct Shown {
    void* data = nullptr;
    const void* send = nullptr;
    std::span<const std::size_t> bytes;
};

struct Group {
    std::vector<int> ranks;
    std::vector<Shown> shown;  ///< by place
    std::size_t arrived = 0, left = 0;
    std::uint64_t meetings_begun = 0, meetings_ended = 0;
    std::condition_variable changed;
};

/// (from, to, kind of message, tag).
using Address = std::tuple<int, int, int, int>;
enum MessageKind { kForward, kBackward, kPlain };

/// All that the threads share; one lock for all of it, held for moments only.
struct Hub {
    std::mutex mutex;
    bool failed = false;         ///< some rank has thrown
    std::vector<bool> has_left;  ///< by rank: its body has returned
    std::deque<Group> groups;    ///< stay where they are
    std::map<Address, std::deque<std::vector<std::byte>>> mail;
    std::deque<std::condition_variable> mail_came;    ///< by receiver
    std::vector<std::size_t> held_bytes, peak_bytes;  ///< copies of messages, by sender

    explicit Hub(int ranks)
        : has_left(index_of(ranks)),
          mail_came(index_of(ranks)),
          held_bytes(index_of(ranks)),
          peak_bytes(index_of(ranks)) {}

    void wake_all() {
        for (Group& group : groups) {
            group.changed.notify_all();
        }
        for (std::condition_variable& came : mail_came) {
            came.notify_all();
        }
    }
    void fail() {
        const std::lock_guard lock(mutex);
        failed = true;
        wake_all();
    }
    void leave(int rank) {
        const std::lock_guard lock(mutex);
        has_left[index_of(rank)] = true;
        wake_all();
    }
    /// With the lock.
    void hold(int rank, std::size_t bytes) {
        held_bytes[index_of(rank)] += bytes;
        peak_bytes[index_of(rank)] = std::max(peak_bytes[index_of(rank)], held_bytes[index_of(rank)]);
    }
};

/// All members of a group at once: from construction to destruction each may read what the others show. Beginning
/// throws if some member will never come; ending never fails, as those who began together do nothing but copy and
/// compute, and nobody's memory may go while another still reads it.
class Meeting {
 public:
    Meeting(Hub& hub, Group& group, std::size_t place, const Shown& shown) : hub_(hub), group_(group) {
        std::unique_lock lock(hub_.mutex);
        const auto somebody_is_gone = [this] {
            return hub_.failed || std::any_of(group_.ranks.begin(), group_.ranks.end(),
                                              [this](int rank) { return hub_.has_left[index_of(rank)]; });
        };
        if (somebody_is_gone()) {
            throw CommunicationError("another rank is gone");
        }
        group_.shown[place] = shown;
        const std::uint64_t mine = group_.meetings_begun;
        if (++group_.arrived == group_.ranks.size()) {
            group_.arrived = 0;
            ++group_.meetings_begun;
            group_.changed.notify_all();
            return;
        }
        group_.changed.wait(lock, [&] { return group_.meetings_begun != mine || somebody_is_gone(); });
        if (group_.meetings_begun == mine) {
            throw CommunicationError("another rank is gone");
        }
    }
    ~Meeting() {
        std::unique_lock lock(hub_.mutex);
        const std::uint64_t mine = group_.meetings_ended;
        if (++group_.left == group_.ranks.size()) {
            group_.left = 0;
            ++group_.meetings_ended;
            group_.changed.notify_all();
            return;
        }
        group_.changed.wait(lock, [&] { return group_.meetings_ended != mine; });
    }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

 private:
    Hub& hub_;
    Group& group_;
};

class InProcessCommunicator : public Communicator {
 public:
    InProcessCommunicator(Hub& hub, int rank, int ranks) : hub_(hub), rank_(rank), ranks_(ranks) {}

    void join(GroupKind kind, Group& group) {
        const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank_) - group.ranks.begin();
        groups_[index_of(kind)] = &group;
        places_[index_of(kind)] = static_cast<std::size_t>(place);
    }
    void set_neighbours(int next, int previous) { next_ = next, previous_ = previous; }

    [[nodiscard]] int world_rank() const override { return rank_; }
    [[nodiscard]] int world_size() const override { return ranks_; }
    [[nodiscard]] int size(GroupKind group) const override { return static_cast<int>(members(group)); }
    [[nodiscard]] int place(GroupKind group) const override { return static_cast<int>(places_[index_of(group)]); }

    void all_reduce(GroupKind kind, void* data, std::size_t count, ElementType type, ReduceOp op) override {
        const std::size_t n = members(kind), mine = places_[index_of(kind)];
        if (n == 1) {
            return;
        }
        const Meeting meeting = meet(kind, {data, nullptr, {}});
        // Each member joins its share of the elements and hands the result to all: nobody else touches that share.
        const std::size_t together = elements_together(op);
        const std::size_t begin = shard_begin(count / together, mine, n) * together;
        const std::size_t end = shard_begin(count / together, mine + 1, n) * together;
        const std::size_t from = begin * element_bytes(type), bytes = (end - begin) * element_bytes(type);
        reduce_parts(parts_at(kind, from), byte_at(data, from), end - begin, type, op);
        for (const Shown& other : group(kind).shown) {
            copy(byte_at(other.data, from), byte_at(data, from), other.data == data ? 0 : bytes);
        }
    }

    void reduce_scatter(GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) override {
        const std::size_t mine = places_[index_of(kind)];
        if (members(kind) == 1) {
            return;
        }
        const Meeting meeting = meet(kind, {data, nullptr, {}});
        const std::size_t from = offsets[mine] * element_bytes(type);
        reduce_parts(parts_at(kind, from), byte_at(data, from), offsets[mine + 1] - offsets[mine], type,
                     ReduceOp::kSum);
    }

    void all_gather(GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) override {
        if (members(kind) == 1) {
            return;
        }
        const Meeting meeting = meet(kind, {data, nullptr, {}});
        for (std::size_t i = 0; i < members(kind); ++i) {
            const std::size_t from = offsets[i] * element_bytes(type);
            const std::size_t bytes = (offsets[i + 1] - offsets[i]) * element_bytes(type);
            copy(byte_at(data, from), byte_at(group(kind).shown[i].data, from),
                 i == places_[index_of(kind)] ? 0 : bytes);
        }
    }

    void all_to_all(GroupKind kind, const void* send, std::span<const std::size_t> send_bytes, void* receive,
                    std::span<const std::size_t> receive_bytes) override {
        const Meeting meeting = meet(kind, {nullptr, send, send_bytes});
        std::size_t at = 0;
        for (std::size_t i = 0; i < members(kind); ++i) {
            const auto [part, bytes] = part_from(kind, i);
            AUSPEX_CHECK(bytes == receive_bytes[i], "an all-to-all brings what its receiver expects");
            copy(byte_at(receive, at), part, bytes);
            at += bytes;
        }
    }

    std::vector<std::size_t> all_to_all_begin(GroupKind kind, const void* send,
                                              std::span<const std::size_t> send_bytes) override {
        const Meeting meeting = meet(kind, {nullptr, send, send_bytes});
        std::vector<std::size_t> sizes;
        std::vector<std::byte> received;
        for (std::size_t i = 0; i < members(kind); ++i) {
            const auto [part, bytes] = part_from(kind, i);
            received.insert(received.end(), part, part + bytes);
            sizes.push_back(bytes);
        }
        const std::lock_guard lock(hub_.mutex);
        hub_.hold(rank_, received.size());
        received_.push_back(std::move(received));
        return sizes;
    }

    void take_received(void* receive) override {
        AUSPEX_CHECK(!received_.empty(), "all_to_all_begin comes before take_received");
        copy(static_cast<std::byte*>(receive), received_.front().data(), received_.front().size());
        const std::lock_guard lock(hub_.mutex);
        hub_.held_bytes[index_of(rank_)] -= received_.front().size();
        received_.pop_front();
    }

    void broadcast(GroupKind kind, int root_place, void* data, std::size_t bytes) override {
        if (members(kind) == 1) {
            return;
        }
        const Meeting meeting = meet(kind, {data, nullptr, {}});
        void* const source = group(kind).shown[index_of(root_place)].data;
        copy(byte_at(data, 0), byte_at(source, 0), source == data ? 0 : bytes);
    }

    void barrier(GroupKind kind) override { const Meeting meeting = meet(kind, {}); }

    void send(GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) override {
        std::vector<std::byte> message;
        for (const std::span<const std::byte> part : parts) {
            message.insert(message.end(), part.begin(), part.end());
        }
        const bool forward = direction == GroupKind::kNextStage;
        post({rank_, forward ? next_ : previous_, forward ? kForward : kBackward, tag}, std::move(message));
    }

    void receive(GroupKind direction, std::span<std::byte> data, int tag) override {
        const bool forward = direction == GroupKind::kPreviousStage;
        const std::vector<std::byte> message =
            collect({forward ? previous_ : next_, rank_, forward ? kForward : kBackward, tag});
        AUSPEX_CHECK(message.size() == data.size(), "a message has the length that its receiver expects");
        copy(data.data(), message.data(), message.size());
    }

    void send_bytes(int rank, std::span<const std::byte> data) override {
        post({rank_, rank, kPlain, 0}, {data.begin(), data.end()});
    }
    std::vector<std::byte> receive_bytes(int rank) override { return collect({rank, rank_, kPlain, 0}); }

    [[nodiscard]] std::size_t peak_transport_bytes() const override {
        const std::lock_guard lock(hub_.mutex);
        return hub_.peak_bytes[index_of(rank_)];
    }

 private:
    [[nodiscard]] Group& group(GroupKind kind) const { return *groups_[index_of(kind)]; }
    [[nodiscard]] std::size_t members(GroupKind kind) const { return group(kind).ranks.size(); }
    [[nodiscard]] Meeting meet(GroupKind kind, const Shown& shown) {
        return {hub_, group(kind), places_[index_of(kind)], shown};
    }
    static std::byte* byte_at(void* data, std::size_t offset) { return static_cast<std::byte*>(data) + offset; }
    static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
        if (bytes > 0) {
            std::memcpy(to, from, bytes);
        }
    }
    /// Everyone's data from a byte on, in rank order.
    [[nodiscard]] std::vector<const void*> parts_at(GroupKind kind, std::size_t offset) const {
        std::vector<const void*> parts;
        for (const Shown& shown : group(kind).shown) {
            parts.push_back(byte_at(shown.data, offset));
        }
        return parts;
    }
    /// What member i of an all-to-all sends here.
    [[nodiscard]] std::pair<const std::byte*, std::size_t> part_from(GroupKind kind, std::size_t i) const {
        const Shown& from = group(kind).shown[i];
        const std::size_t mine = places_[index_of(kind)];
        std::size_t at = 0;
        for (std::size_t j = 0; j < mine; ++j) {
            at += from.bytes[j];
        }
        return {static_cast<const std::byte*>(from.send) + at, from.bytes[mine]};
    }

    void post(const Address& address, std::vector<std::byte> message) {
        const std::lock_guard lock(hub_.mutex);
        hub_.hold(rank_, message.size());
        hub_.mail[address].push_back(std::move(message));
        hub_.mail_came[index_of(std::get<1>(address))].notify_one();
    }
    std::vector<std::byte> collect(const Address& address) {
        std::unique_lock lock(hub_.mutex);
        const int from = std::get<0>(address);
        const auto is_there = [&] {
            const auto box = hub_.mail.find(address);
            return box != hub_.mail.end() && !box->second.empty();
        };
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
        hub_.held_bytes[index_of(from)] -= message.size();
        return message;
    }

    Hub& hub_;
    int rank_, ranks_;
    int next_ = 0, previous_ = 0;
    std::array<Group*, kGroupKinds> groups_{};
    std::array<std::size_t, kGroupKinds> places_{};
    std::deque<std::vector<std::byte>> received_;  ///< between all_to_all_begin and take_received
};

using Communicators = std::deque<InProcessCommunicator>;

void join_groups(const Layout& layout, Hub& hub, Communicators& communicators) {
    const auto join = [&](GroupKind kind, int stage) {
        for (std::vector<int>& ranks : groups_of(layout, kind, stage)) {
            Group& group = hub.groups.emplace_back();
            group.shown.resize(ranks.size());
            group.ranks = std::move(ranks);
            for (const int rank : group.ranks) {
                communicators[index_of(rank)].join(kind, group);
            }
        }
    };
    for (std::size_t kind = 0; kind <= index_of(GroupKind::kStage); ++kind) {
        for (int stage = 0; stage < layout.pp; ++stage) {
            join(static_cast<GroupKind>(kind), stage);
        }
    }
    join(GroupKind::kWorld, 0);
    for (int stage = 0; stage < layout.pp; ++stage) {
        for (int n = 0; n < layout.stage_ranks; ++n) {
            communicators[index_of(layout.rank(stage, n))].set_neighbours(layout.rank(layout.next_stage(stage), n),
                                                                          layout.rank(layout.previous_stage(stage), n));
        }
    }
}

}  // namespace

void run_in_process(const Layout& layout, const std::function<void(Communicator&)>& body) {
    Hub hub(layout.tiles);
    Communicators communicators;
    for (int rank = 0; rank < layout.tiles; ++rank) {
        communicators.emplace_back(hub, rank, layout.tiles);
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

}  // namespace auspex
