#pragma once
/// @file A rank that has two stages, or one stage twice, and counts its passes through each.
#include <algorithm>
#include <array>
#include <deque>

#include "schedule/orders/pipeline_pass.hpp"

namespace auspex::schedule {

/// Appends the next pass of a kind. `Place` says stage and micro-batch of the n-th pass of side 0 or 1.
template <class Place>
class TwoStageWriter {
 public:
    TwoStageWriter(std::vector<StagePass>& list, Place place) : list_(list), place_(place) {}

    void forward(std::size_t side) { add(PassKind::kForward, side, forwards_[side]++); }
    void backward(std::size_t side) { add(PassKind::kBackward, side, backwards_[side]++); }
    /// The gradient of the input; that of the weights is put off.
    void input(std::size_t side) {
        add(PassKind::kBackwardInput, side, backwards_[side]++);
        put_off_.push_back(list_.back());
    }
    /// Of what was put off, the first.
    void weight() { weight_at(put_off_.begin()); }
    /// Of what was put off of a side, the first; false where there is none.
    bool weight(std::size_t side) {
        const auto found = std::ranges::find(put_off_, place_(side, 0).stage, &StagePass::stage);
        if (found == put_off_.end()) {
            return false;
        }
        weight_at(found);
        return true;
    }
    /// A forward pass beside a backward pass.
    void pair(std::size_t forward_side, std::size_t backward_side) {
        forward(forward_side);
        list_.back().beside_next = true;
        backward(backward_side);
    }
    [[nodiscard]] int forwards(std::size_t side) const { return forwards_[side]; }

 private:
    void add(PassKind kind, std::size_t side, int number) {
        StagePass pass = place_(side, number);
        pass.kind = kind;
        list_.push_back(pass);
    }
    void weight_at(std::deque<StagePass>::iterator found) {
        list_.push_back({PassKind::kBackwardWeight, found->stage, found->micro_batch});
        put_off_.erase(found);
    }

    std::vector<StagePass>& list_;
    Place place_;
    std::array<int, 2> forwards_{}, backwards_{};
    std::deque<StagePass> put_off_;
};

/// Of a rank with the stages r and 2 p - 1 - r, those of a V.
[[nodiscard]] inline auto v_writer(std::vector<StagePass>& list, int rank, int ranks) {
    return TwoStageWriter(list, [rank, ranks](std::size_t side, int number) {
        return StagePass{PassKind::kForward, side == 0 ? rank : 2 * ranks - 1 - rank, number};
    });
}

}  // namespace auspex::schedule
