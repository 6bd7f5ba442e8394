/// @file Orders of two stages a rank in the shape of a V: zbv, v-half, v-min.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "schedule/orders/orders.hpp"
#include "schedule/orders/two_stage_writer.hpp"

namespace auspex::schedule {
namespace {

constexpr int kSlots = 6;  // a micro-batch's passes on a rank: forward, input and weight of two stages

/// Slots of micro-batch 0 by rank, in the order in which it passes: forward down and up, backward down and up.
using BlockSlots = std::array<std::vector<int>, 4>;

/// `waits`: slots that it rests at each turn.
BlockSlots slots_of(int ranks, VBlock block, const std::array<int, 3>& waits) {
    BlockSlots slots;
    int at = 0;
    for (std::size_t leg = 0; leg < slots.size(); ++leg) {
        const bool is_down = leg % 2 == 0;
        slots[leg].resize(static_cast<std::size_t>(ranks));
        for (int i = 0; i < ranks; ++i) {
            slots[leg][static_cast<std::size_t>(is_down ? i : ranks - 1 - i)] = at;
            at += i + 1 < ranks ? (is_down ? block.down : block.up) : 1;
        }
        at += leg < waits.size() ? waits[leg] : 0;
    }
    return slots;
}

bool are_apart(const BlockSlots& slots, int ranks) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
        std::array<bool, kSlots> taken{};
        for (const std::vector<int>& leg : slots) {
            bool& slot = taken[static_cast<std::size_t>(leg[rank] % kSlots)];
            if (slot) {
                return false;
            }
            slot = true;
        }
    }
    return true;
}

/// Slots for which a rank holds activations of a micro-batch, the largest over ranks.
int longest_life(const BlockSlots& slots, int ranks) {
    int longest = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
        longest = std::max(longest, slots[3][rank] - slots[0][rank] + slots[2][rank] - slots[1][rank]);
    }
    return longest;
}

/// The waits at turns with which no two passes of a rank want one slot, whatever the micro-batches: those that hold
/// activations for the shortest time, then the shortest.
BlockSlots block_that_repeats(int ranks, VBlock block) {
    std::optional<BlockSlots> best;
    std::pair<int, int> least{std::numeric_limits<int>::max(), 0};
    for (int i = 0; i < kSlots * kSlots * kSlots; ++i) {
        const std::array<int, 3> waits{i % kSlots, i / kSlots % kSlots, i / kSlots / kSlots};
        BlockSlots slots = slots_of(ranks, block, waits);
        const std::pair cost{longest_life(slots, ranks), waits[0] + waits[1] + waits[2]};
        if (cost < least && are_apart(slots, ranks)) {
            least = cost;
            best = std::move(slots);
        }
    }
    AUSPEX_CHECK(best.has_value(), "a block of a V has waits with which it repeats");
    return *best;
}

/// The first slot from `from` on that is free in each repeat; it is taken then.
int take_free_slot(int from, std::array<bool, kSlots>& taken) {
    while (taken[static_cast<std::size_t>(from % kSlots)]) {
        ++from;
    }
    taken[static_cast<std::size_t>(from % kSlots)] = true;
    return from;
}

}  // namespace

std::vector<StagePass> zbv_passes(int rank, int ranks, int micro_batches) {
    std::vector<StagePass> list;
    auto writer = v_writer(list, rank, ranks);
    const auto times = [](int count, const auto& what) {
        for (int i = 0; i < count; ++i) {
            what();
        }
    };
    const auto input_and_weight = [&](std::size_t side) {
        writer.input(side);
        writer.weight(side);
    };
    times(2 * (ranks - rank) - 1, [&] { writer.forward(0); });
    times(rank, [&] {
        writer.forward(1);
        writer.forward(0);
    });
    times(ranks - rank, [&] {
        writer.forward(1);
        input_and_weight(1);
    });
    while (writer.forwards(1) < micro_batches) {
        if (writer.forwards(0) < micro_batches) {
            writer.forward(0);
        }
        input_and_weight(0);
        writer.forward(1);
        input_and_weight(1);
    }
    times(rank, [&] {
        writer.input(0);
        writer.input(1);
    });
    times(ranks - rank, [&] {
        writer.input(0);
        writer.weight(0);
    });
    for (const std::size_t side : {1U, 0U}) {
        while (writer.weight(side)) {
        }
    }
    return list;
}

std::vector<StagePass> v_block_passes(int rank, int ranks, int micro_batches, VBlock block) {
    struct Timed {
        int slot;
        StagePass pass;
    };
    const BlockSlots slots = block_that_repeats(ranks, block);
    const auto at = static_cast<std::size_t>(rank);
    const int first = rank, second = 2 * ranks - 1 - rank;
    std::array<bool, kSlots> taken{};
    for (const std::vector<int>& leg : slots) {
        taken[static_cast<std::size_t>(leg[at] % kSlots)] = true;
    }
    const int weight_of_second = take_free_slot(slots[2][at] + 1, taken);
    const int weight_of_first = take_free_slot(slots[3][at] + 1, taken);
    std::vector<Timed> timed;
    for (int i = 0; i < micro_batches; ++i) {
        const int repeat = kSlots * i;
        timed.push_back({slots[0][at] + repeat, {PassKind::kForward, first, i}});
        timed.push_back({slots[1][at] + repeat, {PassKind::kForward, second, i}});
        timed.push_back({slots[2][at] + repeat, {PassKind::kBackwardInput, second, i}});
        timed.push_back({slots[3][at] + repeat, {PassKind::kBackwardInput, first, i}});
        timed.push_back({weight_of_second + repeat, {PassKind::kBackwardWeight, second, i}});
        timed.push_back({weight_of_first + repeat, {PassKind::kBackwardWeight, first, i}});
    }
    std::ranges::sort(timed, {}, &Timed::slot);
    std::vector<StagePass> list;
    std::ranges::transform(timed, std::back_inserter(list), &Timed::pass);
    return list;
}

}  // namespace auspex::schedule
