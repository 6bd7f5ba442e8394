#pragma once
/// @file What ranks that are threads share: groups that meet, and mailboxes.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "exec/transport/communicator.hpp"

namespace auspex::exec::threads {

inline std::size_t index_of(models::GroupKind kind) { return static_cast<std::size_t>(kind); }
inline std::size_t index_of(int rank) { return static_cast<std::size_t>(rank); }

struct Group {
    std::vector<int> ranks;
    std::vector<void*> member_buffers;  ///< by group rank: the data that a member lends the others during a collective
    std::size_t arrived = 0, left = 0;
    std::uint64_t barriers_entered = 0, barriers_left = 0;
    std::condition_variable changed;
};

/// (from, to, kind of message, tag); of a collective's message the tag is the kind of group and the
/// channel.
using Address = std::tuple<int, int, int, int>;
enum MessageKind { kForward, kBackward, kPlain, kCollective };

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
    [[nodiscard]] bool has_mail(const Address& address) const {
        const auto box = mail.find(address);
        return box != mail.end() && !box->second.empty();
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
class BarrierScope {
 public:
    BarrierScope(Hub& hub, Group& group, std::size_t group_rank, void* shown) : hub_(hub), group_(group) {
        std::unique_lock lock(hub_.mutex);
        const auto somebody_is_gone = [this] {
            return hub_.failed || std::any_of(group_.ranks.begin(), group_.ranks.end(),
                                              [this](int rank) { return hub_.has_left[index_of(rank)]; });
        };
        if (somebody_is_gone()) {
            throw CommunicationError("another rank is gone");
        }
        group_.member_buffers[group_rank] = shown;
        const std::uint64_t mine = group_.barriers_entered;
        if (++group_.arrived == group_.ranks.size()) {
            group_.arrived = 0;
            ++group_.barriers_entered;
            group_.changed.notify_all();
            return;
        }
        group_.changed.wait(lock, [&] { return group_.barriers_entered != mine || somebody_is_gone(); });
        if (group_.barriers_entered == mine) {
            throw CommunicationError("another rank is gone");
        }
    }
    ~BarrierScope() {
        std::unique_lock lock(hub_.mutex);
        const std::uint64_t mine = group_.barriers_left;
        if (++group_.left == group_.ranks.size()) {
            group_.left = 0;
            ++group_.barriers_left;
            group_.changed.notify_all();
            return;
        }
        group_.changed.wait(lock, [&] { return group_.barriers_left != mine; });
    }
    BarrierScope(const BarrierScope&) = delete;
    BarrierScope& operator=(const BarrierScope&) = delete;

 private:
    Hub& hub_;
    Group& group_;
};

}  // namespace auspex::exec::threads
