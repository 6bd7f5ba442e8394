/// @file List scheduling of F, B and W.
#include "schedule/orders/auto_orders.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.hpp"
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kAlike = 1e-9;  ///< of times whose passes take about 1

/// How a rank chooses.
struct Habits {
    double least_gap;  ///< idle time, in lengths of W, from which on W fills it
    double delay;      ///< how much of an F the first B of a rank may have to wait for one
    bool takes_turns;  ///< behind a B an F goes before another B that could begin, too
};
constexpr std::array kHabits = [] {
    std::array<Habits, 16> all{};
    std::size_t next = 0;
    for (const double least_gap : {0.05, 0.2, 0.6, 1.0}) {
        for (const double delay : {0.0, 0.6}) {
            for (const bool takes_turns : {false, true}) {
                all[next++] = {least_gap, delay, takes_turns};
            }
        }
    }
    return all;
}();

struct Choice {
    double begin = kNever;
    PassKind kind = PassKind::kForward;
};

struct RankState {
    double free = 0;
    int forward = 0, input = 0, weight = 0;     ///< passes that have run
    std::vector<double> arrived, arrived_back;  ///< when the next passes' operands are there
    std::vector<StagePass> passes;
    Choice next;
};

class ListSchedule {
 public:
    ListSchedule(int ranks, int micro_batches, const models::AutoOrder& lengths, const Habits& habits)
        : ranks_(ranks), micro_batches_(micro_batches), l_(lengths), habits_(habits) {
        states_.resize(static_cast<std::size_t>(ranks));
        for (RankState& state : states_) {
            state.arrived.assign(static_cast<std::size_t>(micro_batches), kNever);
            state.arrived_back = state.arrived;
            state.passes.reserve(3 * static_cast<std::size_t>(micro_batches));
        }
        std::ranges::fill(states_.front().arrived, 0.0);
    }

    [[nodiscard]] PipelineOrder run() {
        for (int rank = 0; rank < ranks_; ++rank) {
            choose(rank);
        }
        for (int left = 3 * micro_batches_ * ranks_; left > 0; --left) {
            const auto first =
                std::ranges::min_element(states_, {}, [](const RankState& state) { return state.next.begin; });
            AUSPEX_CHECK(first->next.begin < kNever, "a rank can go on");
            run_next(static_cast<int>(first - states_.begin()));
        }
        PipelineOrder order = empty_order(ranks_, ranks_, micro_batches_);
        for (std::size_t rank = 0; rank < states_.size(); ++rank) {
            order.ranks[rank] = std::move(states_[rank].passes);
        }
        return order;
    }

 private:
    [[nodiscard]] RankState& at(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] static double time_of(const std::vector<double>& times, int micro_batch) {
        return times[static_cast<std::size_t>(micro_batch)];
    }
    [[nodiscard]] bool has_room(const RankState& state) const {
        const double held = state.forward - state.input + l_.kept_for_weights * (state.input - state.weight);
        return held + 1 <= l_.in_flight + kAlike;
    }

    /// When the next forward pass may begin: not where it would make the first B wait too long, which comes this early
    /// if nothing holds it up.
    [[nodiscard]] double begin_of_forward(int rank, const RankState& state) const {
        const double begin = std::max(state.free, time_of(state.arrived, state.forward));
        if (state.forward == 0 || state.input > 0) {
            return begin;
        }
        const double below = ranks_ - 1 - rank;
        const double first_back = ranks_ * l_.forward + (ranks_ - 1) * l_.send + below * (l_.input + l_.send);
        const bool holds_up =
            begin < first_back && begin + l_.forward > first_back + habits_.delay * l_.forward + kAlike;
        return holds_up ? first_back + kAlike : begin;
    }

    void choose(int rank) {
        RankState& state = at(rank);
        const bool has_forward = state.forward < micro_batches_, fits = has_room(state);
        Choice back, forward;
        if (state.input < state.forward) {
            back = {std::max(state.free, time_of(state.arrived_back, state.input)), PassKind::kBackwardInput};
        }
        if (has_forward && fits) {
            forward = {begin_of_forward(rank, state), PassKind::kForward};
        }
        const double soonest = std::min(back.begin, forward.begin);
        if (state.weight < state.input) {
            const bool is_stuck = has_forward && !fits && time_of(state.arrived, state.forward) < kNever;
            if (soonest - state.free >= habits_.least_gap * l_.weight || (is_stuck && soonest > state.free)) {
                state.next = {state.free, PassKind::kBackwardWeight};
                return;
            }
        }
        const bool after_back = !state.passes.empty() && state.passes.back().kind == PassKind::kBackwardInput;
        const bool forward_first =
            forward.begin < back.begin || (habits_.takes_turns && after_back && forward.begin <= back.begin + kAlike);
        state.next = forward_first ? forward : back;
    }

    void run_next(int rank) {
        RankState& state = at(rank);
        const Choice choice = state.next;
        switch (choice.kind) {
            case PassKind::kForward:
                state.free = choice.begin + l_.forward;
                hand_on(rank, rank + 1, state.forward);
                add(state, choice.kind, rank, state.forward++);
                break;
            case PassKind::kBackwardInput:
                state.free = choice.begin + l_.input;
                hand_back(rank, state.input);
                add(state, choice.kind, rank, state.input++);
                break;
            default: state.free = choice.begin + l_.weight; add(state, choice.kind, rank, state.weight++);
        }
        choose(rank);
    }

    static void add(RankState& state, PassKind kind, int rank, int micro_batch) {
        state.passes.push_back({kind, rank, micro_batch, false});
    }
    void hand_on(int rank, int to, int micro_batch) {
        const double end = at(rank).free;
        if (to == ranks_) {
            at(rank).arrived_back[static_cast<std::size_t>(micro_batch)] = end;
            return;
        }
        at(to).arrived[static_cast<std::size_t>(micro_batch)] = end + l_.send;
        choose(to);
    }
    void hand_back(int rank, int micro_batch) {
        if (rank > 0) {
            at(rank - 1).arrived_back[static_cast<std::size_t>(micro_batch)] = at(rank).free + l_.send;
            choose(rank - 1);
        }
    }

    int ranks_, micro_batches_;
    const models::AutoOrder& l_;
    Habits habits_;
    std::vector<RankState> states_;
};

/// Micro-batches that a rank holds at most.
double most_held(const PipelineOrder& order, double kept_for_weights) {
    double most = 0;
    for (const std::vector<StagePass>& passes : order.ranks) {
        double held = 0;
        for (const StagePass& pass : passes) {
            held += pass.kind == PassKind::kForward         ? 1
                    : pass.kind == PassKind::kBackwardInput ? kept_for_weights - 1
                                                            : -kept_for_weights;
            most = std::max(most, held);
        }
    }
    return most;
}

/// The longest span of a rank of an order that waits for nothing but its messages.
double longest_span(const PipelineOrder& order, const models::AutoOrder& l) {
    const std::size_t ranks = order.ranks.size(), count = static_cast<std::size_t>(order.micro_batches);
    std::vector<std::vector<double>> arrived(ranks, std::vector<double>(count, kNever)), arrived_back = arrived;
    std::ranges::fill(arrived.front(), 0.0);
    std::vector<std::size_t> next(ranks, 0);
    std::vector<double> free(ranks, 0), begun(ranks, kNever);
    for (bool moves = true; moves;) {
        moves = false;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (; next[rank] < order.ranks[rank].size(); ++next[rank], moves = true) {
                const StagePass& pass = order.ranks[rank][next[rank]];
                const auto i = static_cast<std::size_t>(pass.micro_batch);
                const bool forward = pass.kind == PassKind::kForward, back = pass.kind == PassKind::kBackwardInput;
                const double ready = forward ? arrived[rank][i] : back ? arrived_back[rank][i] : 0;
                if (ready == kNever) {
                    break;
                }
                const double begin = std::max(free[rank], ready);
                begun[rank] = std::min(begun[rank], begin);
                free[rank] = begin + (forward ? l.forward : back ? l.input : l.weight);
                if (forward) {
                    (rank + 1 < ranks ? arrived[rank + 1] : arrived_back[rank])[i] =
                        free[rank] + (rank + 1 < ranks ? l.send : 0);
                } else if (back && rank > 0) {
                    arrived_back[rank - 1][i] = free[rank] + l.send;
                }
            }
        }
    }
    double longest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        longest = std::max(longest, free[rank] - begun[rank]);
    }
    return longest;
}

PipelineOrder handmade_order(int ranks, int micro_batches, int lag) {
    PipelineOrder order = empty_order(ranks, ranks, micro_batches);
    for (int rank = 0; rank < ranks; ++rank) {
        order.ranks[static_cast<std::size_t>(rank)] = zero_bubble_passes(rank, ranks, micro_batches, lag);
    }
    return order;
}

PipelineOrder best_order(int ranks, int micro_batches, models::AutoOrder lengths) {
    if (lengths.forward == 0) {
        lengths.forward = lengths.input = lengths.weight = 1;
    }
    if (lengths.in_flight == 0) {
        lengths.in_flight = 2 * ranks;
    }
    const double mean = (lengths.forward + lengths.input + lengths.weight) / 3;
    for (double* const length : {&lengths.forward, &lengths.input, &lengths.weight, &lengths.send}) {
        *length /= mean;
    }
    PipelineOrder best;
    double shortest = kNever;
    const auto consider = [&](PipelineOrder order) {
        if (const double span = longest_span(order, lengths); span < shortest - kAlike) {
            shortest = span;
            best = std::move(order);
        }
    };
    for (const Habits& habits : kHabits) {
        consider(ListSchedule(ranks, micro_batches, lengths, habits).run());
    }
    for (const int lag : {1, 2}) {  // zb-h1, zb-h2
        PipelineOrder handmade = handmade_order(ranks, micro_batches, lag);
        if (most_held(handmade, lengths.kept_for_weights) <= lengths.in_flight + kAlike) {
            consider(std::move(handmade));
        }
    }
    return best;
}

}  // namespace

std::shared_ptr<const PipelineOrder> zb_auto_order(int ranks, int micro_batches, const models::AutoOrder& lengths) {
    using Key = std::tuple<int, int, double, double, double, double, int, double>;
    static std::mutex mutex;
    static std::map<Key, std::shared_ptr<const PipelineOrder>> known;
    constexpr std::size_t kMostKept = 64;
    const Key key{ranks,          micro_batches, lengths.forward,   lengths.input,
                  lengths.weight, lengths.send,  lengths.in_flight, lengths.kept_for_weights};
    const std::scoped_lock lock(mutex);
    if (known.size() >= kMostKept && !known.contains(key)) {
        known.clear();
    }
    std::shared_ptr<const PipelineOrder>& order = known[key];
    if (!order) {
        order = std::make_shared<const PipelineOrder>(best_order(ranks, micro_batches, lengths));
    }
    return order;
}

}  // namespace auspex::schedule
