/// @file Whether an order of passes can be run: every pass once, weights behind inputs, no rank waiting for ever.
#include <array>
#include <string>

#include "base/error.hpp"
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

constexpr int kNowhere = -1;

/// What is known of a micro-batch in a stage.
struct Visit {
    std::array<int, 4> rank{kNowhere, kNowhere, kNowhere, kNowhere};  ///< by PassKind
    bool went_forward = false, went_backward = false;                 ///< so far, when run
    [[nodiscard]] int& of(PassKind kind) { return rank[static_cast<std::size_t>(kind)]; }
};

class Checker {
 public:
    Checker(const PipelineOrder& order, const std::string& where)
        : order_(order),
          where_(where),
          visits_(static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.micro_batches)) {}

    void run() {
        find_places();
        check_visits();
        run_all();
    }

 private:
    [[nodiscard]] Visit& visit(int stage, int micro_batch) {
        return visits_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.micro_batches) +
                       static_cast<std::size_t>(micro_batch)];
    }

    void find_places() {
        for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
            for (const StagePass& pass : order_.ranks[rank]) {
                int& place = visit(pass.stage, pass.micro_batch).of(pass.kind);
                if (place != kNowhere) {
                    throw InputError(where_, "found " + text_of(pass) + " twice; expected every pass once");
                }
                place = static_cast<int>(rank);
            }
        }
    }

    void check_visits() {
        for (int stage = 0; stage < order_.stages; ++stage) {
            for (int i = 0; i < order_.micro_batches; ++i) {
                Visit& one = visit(stage, i);
                const int forward = one.of(PassKind::kForward), whole = one.of(PassKind::kBackward),
                          input = one.of(PassKind::kBackwardInput), weight = one.of(PassKind::kBackwardWeight);
                const std::string which = "stage " + std::to_string(stage) + ", micro-batch " + std::to_string(i);
                if (forward == kNowhere) {
                    throw InputError(where_, "found no forward pass of " + which + "; expected one");
                }
                const bool is_whole = whole == forward && input == kNowhere && weight == kNowhere;
                const bool is_split = whole == kNowhere && input == forward && weight == forward;
                if (!is_whole && !is_split) {
                    throw InputError(where_, "found the backward passes of " + which +
                                                 " neither whole (B) nor in both parts (I and W) on the rank of its "
                                                 "forward pass; expected one of these");
                }
            }
        }
    }

    /// Without times: as far as each rank gets.
    void run_all() {
        std::vector<std::size_t> next(order_.ranks.size(), 0);
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
                const std::vector<StagePass>& passes = order_.ranks[rank];
                while (next[rank] < passes.size()) {
                    const std::size_t ends = run_from(passes, next[rank]);
                    if (ends == next[rank]) {
                        break;
                    }
                    next[rank] = ends;
                    goes_on = true;
                }
            }
        }
        for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
            if (next[rank] < order_.ranks[rank].size()) {
                throw InputError(where_, "found rank " + std::to_string(rank) + " waiting for ever in front of " +
                                             text_of(order_.ranks[rank][next[rank]]) +
                                             "; expected an order in which what it needs comes first");
            }
        }
    }

    /// Behind the pass, or the pair, at `at`, or `at` if it has to wait.
    std::size_t run_from(const std::vector<StagePass>& passes, std::size_t at) {
        const std::size_t end = at + (passes[at].beside_next ? 2 : 1);
        for (std::size_t i = at; i < end; ++i) {
            if (!is_ready(passes[i])) {
                return at;
            }
        }
        for (std::size_t i = at; i < end; ++i) {
            Visit& one = visit(passes[i].stage, passes[i].micro_batch);
            (passes[i].kind == PassKind::kForward ? one.went_forward : one.went_backward) = true;
        }
        return end;
    }

    [[nodiscard]] bool is_ready(const StagePass& pass) {
        const Visit& own = visit(pass.stage, pass.micro_batch);
        switch (pass.kind) {
            case PassKind::kForward: return pass.stage == 0 || visit(pass.stage - 1, pass.micro_batch).went_forward;
            case PassKind::kBackwardWeight: return own.went_backward;
            default:
                return own.went_forward &&
                       (pass.stage == order_.stages - 1 || visit(pass.stage + 1, pass.micro_batch).went_backward);
        }
    }

    const PipelineOrder& order_;
    const std::string& where_;
    std::vector<Visit> visits_;
};

}  // namespace

void check_order(const PipelineOrder& order, const std::string& where) { Checker(order, where).run(); }

}  // namespace auspex::schedule
