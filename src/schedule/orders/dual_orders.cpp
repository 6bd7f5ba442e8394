/// @file Orders in which forward passes run beside backward ones: dualpipe and dualpipev.
#include <algorithm>

#include "schedule/orders/orders.hpp"
#include "schedule/orders/two_stage_writer.hpp"

namespace auspex::schedule {
namespace {

/// One rank: `place` of `ends` from the end where both ways meet, with so many passes of each side.
template <class Writer>
void write_rank(Writer& writer, int place, int ends, int passes) {
    const int inner = ends - place - 1;  // ranks between it and the meeting
    for (int i = 0; i < 2 * inner; ++i) {
        writer.forward(0);
    }
    for (int i = 0; i <= place; ++i) {
        writer.forward(0);
        writer.forward(1);
    }
    for (int i = 0; i < inner; ++i) {
        writer.input(1);
        writer.weight();
        writer.forward(1);
    }
    for (int i = 0; i < passes - 2 * ends + place + 1; ++i) {
        if (i == 0 && inner == 0) {  // its backward pass waits for its own forward pass: side by side they gain nothing
            writer.forward(0);
            writer.backward(1);
        } else {
            writer.pair(0, 1);
        }
        writer.pair(1, 0);
    }
    for (int i = 0; i < inner; ++i) {
        writer.backward(1);
        writer.pair(1, 0);
    }
    // In the second half of these, weights wait for what would be a bubble.
    const int half = (place + 1) / 2;
    for (int i = 0; i <= place; ++i) {
        const bool is_late = i > half || (i == half && place % 2 == 1);
        is_late ? writer.input(1) : writer.backward(1);
        i >= half ? writer.input(0) : writer.backward(0);
    }
    for (int i = 0; i < inner; ++i) {
        writer.weight();
        writer.input(0);
    }
    for (int i = 0; i <= place; ++i) {
        writer.weight();
    }
}

}  // namespace

std::vector<StagePass> dualpipev_passes(int rank, int ranks, int micro_batches) {
    std::vector<StagePass> list;
    auto writer = v_writer(list, rank, ranks);
    write_rank(writer, rank, ranks, micro_batches);
    return list;
}

std::vector<StagePass> dualpipe_passes(int rank, int ranks, int micro_batches) {
    std::vector<StagePass> list;
    const int half = micro_batches / 2, mirror = ranks - 1 - rank;
    const bool is_upper = rank >= ranks / 2;
    // Side 0 is the way that begins at the nearer end. The second half of the micro-batches goes the other way.
    TwoStageWriter writer(list, [&](std::size_t side, int number) {
        const bool is_back = (side == 1) != is_upper;
        return StagePass{PassKind::kForward, is_back ? mirror : rank, number + (is_back ? half : 0)};
    });
    write_rank(writer, std::min(rank, mirror), ranks / 2, half);
    return list;
}

}  // namespace auspex::schedule
