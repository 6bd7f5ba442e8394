#pragma once
/// @file Calls of every kind on every group, on made-up data, and what they bring: for one transport against another.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "base/rng.hpp"
#include "exec/kernels/scalar.hpp"
#include "exec/transport/communicator.hpp"
#include "exec/transport/reduction.hpp"
#include "models/layout.hpp"
#include "models/plan.hpp"

namespace auspex::testing_exec {

/// A plan of the grid alone.
inline models::Layout grid(int pp, int dp, int ep, int tp) {
    models::Plan plan;
    plan.name = plan.file = "grid";
    plan.pp = pp, plan.dp = dp, plan.ep = ep, plan.tp = tp, plan.etp = tp;
    return rank_grid(plan, pp * dp * ep * tp);
}

inline constexpr std::array<models::GroupKind, 8> kGroupsOfRank{
    models::GroupKind::kTp,      models::GroupKind::kEp,           models::GroupKind::kExpertDp,
    models::GroupKind::kDenseDp, models::GroupKind::kDenseDpOuter, models::GroupKind::kDenseDpInner,
    models::GroupKind::kStage,   models::GroupKind::kWorld};

/// Elements that rank r brings to case number `salt`; every rank can make those of every other.
inline std::vector<std::byte> elements_of(int rank, std::uint64_t salt, std::size_t count, exec::ElementType type) {
    Rng rng(salt * 1000 + static_cast<std::uint64_t>(rank));
    std::vector<std::byte> data(count * element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) {
        const double value = rng.normal() * 3;
        std::byte* const at = data.data() + i * element_bytes(type);
        const auto put = [at](auto element) { std::memcpy(at, &element, sizeof(element)); };
        switch (type) {
            case exec::ElementType::kBf16: put(exec::stored<exec::Bf16>(value)); break;
            case exec::ElementType::kFloat: put(exec::stored<float>(value)); break;
            case exec::ElementType::kDouble: put(value); break;
            case exec::ElementType::kInt64: put(static_cast<std::int64_t>(value * 1e6)); break;
        }
    }
    return data;
}

/// Uneven parts of `count` elements: part i weighs i + 1, the first is empty.
inline std::vector<std::size_t> uneven_offsets(std::size_t count, std::size_t parts) {
    std::vector<std::size_t> offsets{0, 0};
    for (std::size_t i = 1; i < parts; ++i) {
        offsets.push_back(i + 1 == parts ? count : std::min(count, offsets.back() + count * i / (parts * parts)));
    }
    offsets.back() = count;
    return offsets;
}

/// Everything that this rank got, one after another.
class Journal {
 public:
    void add(const void* data, std::size_t bytes) {
        const auto* const first = static_cast<const std::byte*>(data);
        bytes_.insert(bytes_.end(), first, first + bytes);
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
    std::vector<std::byte> bytes_;
};

inline void add_collectives(exec::Communicator& communicator, models::GroupKind kind, std::size_t count,
                            exec::ElementType type, std::uint64_t salt, Journal& journal) {
    const int rank = communicator.world_rank();
    const auto members = static_cast<std::size_t>(communicator.size(kind));
    const auto mine = static_cast<std::size_t>(communicator.group_rank(kind));
    const std::size_t element = element_bytes(type);
    for (const exec::ReduceOp op : {exec::ReduceOp::kSum, exec::ReduceOp::kMax, exec::ReduceOp::kLogSumExp}) {
        if (op == exec::ReduceOp::kLogSumExp && type == exec::ElementType::kInt64) {
            continue;
        }
        const std::size_t whole = count * elements_per_item(op);
        std::vector<std::byte> data = elements_of(rank, salt, whole, type);
        communicator.all_reduce(kind, data.data(), whole, type, op);
        journal.add(data.data(), data.size());
    }
    const std::vector<std::size_t> offsets = uneven_offsets(count, members);
    std::vector<std::byte> data = elements_of(rank, salt + 1, count, type);
    communicator.reduce_scatter(kind, data.data(), offsets, type);
    journal.add(data.data() + offsets[mine] * element, (offsets[mine + 1] - offsets[mine]) * element);
    communicator.all_gather(kind, data.data(), offsets, type);
    journal.add(data.data(), data.size());
    communicator.broadcast(kind, static_cast<int>(members) - 1, data.data(), data.size() / 2);
    journal.add(data.data(), data.size());
}

/// Collectives begun, and others of the same group made before their end.
inline void add_pending(exec::Communicator& communicator, models::GroupKind kind, std::size_t count, std::uint64_t salt,
                        Journal& journal) {
    const auto members = static_cast<std::size_t>(communicator.size(kind));
    const auto mine = static_cast<std::size_t>(communicator.group_rank(kind));
    const std::vector<std::size_t> offsets = uneven_offsets(count, members);
    constexpr auto kType = exec::ElementType::kFloat;
    std::vector<std::byte> data = elements_of(communicator.world_rank(), salt, count, kType);
    const auto go_on = [&](std::unique_ptr<exec::PendingCollective> begun, std::uint64_t more) {
        add_collectives(communicator, kind, 100, kType, more, journal);
        if (more % 2 == 0) {
            while (!begun->advance()) {
                std::this_thread::yield();
            }
        }
        begun->finish();
    };
    go_on(communicator.begin_reduce_scatter(kind, data.data(), offsets, kType), salt + 1);
    journal.add(data.data() + offsets[mine] * sizeof(float), (offsets[mine + 1] - offsets[mine]) * sizeof(float));
    go_on(communicator.begin_all_gather(kind, data.data(), offsets, kType), salt + 2);
    journal.add(data.data(), data.size());
    go_on(communicator.begin_all_reduce(kind, data.data(), count, kType, exec::ReduceOp::kSum), salt + 3);
    journal.add(data.data(), data.size());
}

/// Bytes that member `from` sends to member `to`; some parts are empty.
inline std::size_t part_bytes(std::size_t from, std::size_t to, std::size_t scale) {
    return (from * 7 + to * 3) % 5 * scale;
}

inline void add_all_to_all(exec::Communicator& communicator, models::GroupKind kind, std::size_t scale,
                           Journal& journal) {
    const auto members = static_cast<std::size_t>(communicator.size(kind));
    const auto mine = static_cast<std::size_t>(communicator.group_rank(kind));
    std::vector<std::size_t> leave, arrive;
    for (std::size_t i = 0; i < members; ++i) {
        leave.push_back(part_bytes(mine, i, scale));
        arrive.push_back(part_bytes(i, mine, scale));
    }
    const std::vector<std::byte> send =
        elements_of(communicator.world_rank(), scale + 5,
                    std::accumulate(leave.begin(), leave.end(), std::size_t{0}) / 2 + 1, exec::ElementType::kBf16);
    std::vector<std::byte> received(std::accumulate(arrive.begin(), arrive.end(), std::size_t{0}));
    communicator.all_to_all(kind, send.data(), leave, received.data(), arrive);
    journal.add(received.data(), received.size());
    const std::vector<std::size_t> sizes = communicator.all_to_all_begin(kind, send.data(), leave);
    journal.add(sizes.data(), sizes.size() * sizeof(std::size_t));
    std::fill(received.begin(), received.end(), std::byte{0});
    communicator.take_received(received.data());
    journal.add(received.data(), received.size());
}

inline void add_shift(exec::Communicator& communicator, models::GroupKind kind, std::size_t count, Journal& journal) {
    const std::vector<std::byte> send = elements_of(communicator.world_rank(), 80, count, exec::ElementType::kFloat);
    std::vector<std::byte> received = send;
    if (communicator.size(kind) > 1) {
        std::fill(received.begin(), received.end(), std::byte{0});
    }
    communicator.shift(kind, send.data(), received.data(), send.size());
    journal.add(received.data(), received.size());
}

/// A message forward and one backward between stages, in two parts each, and bytes from everyone to rank 0.
inline void add_messages(exec::Communicator& communicator, std::size_t count, Journal& journal) {
    const int rank = communicator.world_rank();
    for (const int tag : {7, 3}) {
        for (const models::GroupKind direction : {models::GroupKind::kNextStage, models::GroupKind::kPreviousStage}) {
            const std::vector<std::byte> first = elements_of(rank, 50, count, exec::ElementType::kFloat);
            const std::vector<std::byte> second =
                elements_of(rank, static_cast<std::uint64_t>(60 + tag), count / 2, exec::ElementType::kBf16);
            const std::array<std::span<const std::byte>, 2> parts{first, second};
            communicator.send(direction, parts, tag);
        }
    }
    std::vector<std::byte> message(count * 4 + count / 2 * 2);
    communicator.expect(models::GroupKind::kNextStage, message.size(), 7);
    communicator.expect(models::GroupKind::kPreviousStage, message.size(), 3);
    communicator.advance_expected();
    for (const int tag : {3, 7}) {
        for (const models::GroupKind direction : {models::GroupKind::kPreviousStage, models::GroupKind::kNextStage}) {
            communicator.receive(direction, message, tag);
            journal.add(message.data(), message.size());
        }
    }
    communicator.send_bytes(0,
                            elements_of(rank, 70, count + static_cast<std::size_t>(rank), exec::ElementType::kFloat));
    for (int other = 0; rank == 0 && other < communicator.world_size(); ++other) {
        const std::vector<std::byte> bytes = communicator.receive_bytes(other);
        journal.add(bytes.data(), bytes.size());
    }
}

inline std::vector<std::byte> run_all_cases(exec::Communicator& communicator) {
    Journal journal;
    std::uint64_t salt = 1;
    for (const models::GroupKind kind : kGroupsOfRank) {
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{37}, std::size_t{5001}}) {
            for (const exec::ElementType type : {exec::ElementType::kBf16, exec::ElementType::kFloat,
                                                 exec::ElementType::kDouble, exec::ElementType::kInt64}) {
                add_collectives(communicator, kind, count, type, salt += 2, journal);
            }
        }
        for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{9001}}) {
            add_pending(communicator, kind, count, salt += 4, journal);
        }
        add_all_to_all(communicator, kind, 6, journal);
        add_all_to_all(communicator, kind, 1000, journal);
        add_shift(communicator, kind, 0, journal);
        add_shift(communicator, kind, 3001, journal);
        communicator.barrier(kind);
    }
    add_messages(communicator, 10, journal);
    add_messages(communicator, 9001, journal);
    return journal.bytes();
}

}  // namespace auspex::testing_exec
