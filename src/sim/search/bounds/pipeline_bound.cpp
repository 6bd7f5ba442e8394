/// @file Sums over stages; passes one after the other.
#include "sim/search/bounds/pipeline_bound.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "schedule/program/program.hpp"

namespace auspex::search {
namespace {

double sum_of(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

/// Goes through the passes of all stages in an order that messages allow.
class PassWalk {
 public:
    PassWalk(const Candidate& candidate, const BoundTerms& terms)
        : c_(candidate), plan_(plan_of_passes(candidate)), terms_(terms) {
        plan_.auto_order = terms.auto_order;
        for (int stage = 0; stage < c_.pp; ++stage) {
            stages_.push_back({schedule::PassOrder(plan_, stage)});
        }
        const std::size_t messages =
            static_cast<std::size_t>(c_.pp * c_.virtual_stages) * static_cast<std::size_t>(c_.micro_batches);
        arrived_.assign(messages, kNever);
        arrived_back_.assign(messages, kNever);
    }

    /// When each stage has ended its passes and sent its messages.
    std::vector<double> run() {
        std::vector<int> runnable;
        for (int stage = c_.pp; stage-- > 0;) {
            runnable.push_back(stage);
        }
        while (!runnable.empty()) {
            const int stage = runnable.back();
            runnable.pop_back();
            advance(stage, runnable);
        }
        std::vector<double> ends_s;
        for (const Stage& stage : stages_) {
            AUSPEX_CHECK(stage.next == stage.order.size(), "every pass has run");
            ends_s.push_back(std::max(stage.free_s, stage.sent_s));
        }
        return ends_s;
    }

 private:
    static constexpr double kNever = -1;
    struct Stage {
        schedule::PassOrder order;
        int next = 0;       ///< pass
        double free_s = 0;  ///< when the pass before has ended
        double sent_s = 0;  ///< when its last message has been sent
    };

    void advance(int stage, std::vector<int>& runnable) {
        Stage& own = stages_[static_cast<std::size_t>(stage)];
        for (; own.next < own.order.size(); ++own.next) {
            const schedule::Pass pass = own.order[own.next];
            const int v = schedule::virtual_stage_of(plan_, pass.chunk, stage);
            const bool forward = pass.is_forward(), is_apart = pass.kind == schedule::PassKind::kBackwardWeight;
            const bool is_first = schedule::is_first_part(plan_, v), is_last = schedule::is_last_part(plan_, v);
            const bool receives = !is_apart && !(forward ? is_first : is_last);
            double begin_s = own.free_s;
            if (receives) {
                const double message_s = (forward ? arrived_ : arrived_back_)[index_of(v, pass)];
                if (message_s == kNever) {
                    return;
                }
                begin_s = std::max(begin_s, message_s);
            }
            own.free_s = begin_s + times_of(pass.kind)[static_cast<std::size_t>(v)];
            if (!is_apart && !(forward ? is_last : is_first)) {
                send(own, pass, v, runnable);
            }
        }
    }

    void send(Stage& own, const schedule::Pass& pass, int v, std::vector<int>& runnable) {
        const bool forward = pass.is_forward();
        const int to = forward ? v + 1 : v - 1;
        const int there = schedule::stage_of(plan_, to);
        double& arrival_s = (forward ? arrived_ : arrived_back_)[index_of(to, pass)];
        if (there == schedule::stage_of(plan_, v)) {
            arrival_s = own.free_s;
            return;
        }
        const auto at = static_cast<std::size_t>(v);
        own.sent_s = std::max(own.free_s, own.sent_s) + (forward ? terms_.message_s[at] : terms_.back_s[at - 1]);
        own.free_s = terms_.blocks_messages ? own.sent_s : own.free_s;
        arrival_s = own.sent_s;
        runnable.push_back(there);
    }

    [[nodiscard]] std::span<const double> times_of(schedule::PassKind kind) const {
        switch (kind) {
            case schedule::PassKind::kForward: return terms_.forward_s;
            case schedule::PassKind::kBackwardInput: return terms_.input_s;
            case schedule::PassKind::kBackwardWeight: return terms_.weight_s;
            case schedule::PassKind::kBackward: break;
        }
        return terms_.backward_s;
    }

    [[nodiscard]] std::size_t index_of(int v, const schedule::Pass& pass) const {
        return static_cast<std::size_t>(v) * static_cast<std::size_t>(c_.micro_batches) +
               static_cast<std::size_t>(pass.micro_batch);
    }

    const Candidate& c_;
    models::Plan plan_;
    const BoundTerms& terms_;
    std::vector<Stage> stages_;
    std::vector<double> arrived_, arrived_back_;  ///< by virtual stage that receives, and micro-batch
};

}  // namespace

models::Plan plan_of_passes(const Candidate& c) {
    models::Plan plan;
    plan.pp = c.pp, plan.virtual_stages = c.virtual_stages, plan.micro_batches = c.micro_batches;
    plan.schedule = c.schedule;
    plan.ep = c.ep, plan.overlap_ep = (c.overlap & kOverlapEp) != 0;  // whether passes are paired
    return plan;
}

namespace {

/// Of the backward passes of a virtual stage, whole or in parts.
double least_backward_s(const BoundTerms& terms, std::size_t v) {
    return terms.input_s.empty() ? terms.backward_s[v]
                                 : std::min(terms.backward_s[v], terms.input_s[v] + terms.weight_s[v]);
}

/// Until the first micro-batch reaches a stage, from the nearer end where they begin at both.
double before_s(const models::Plan& plan, const BoundTerms& terms, int stage) {
    const bool comes_back = has_stages_twice(plan.schedule) && stage >= plan.pp / 2;
    const int first = comes_back ? plan.pp : 0, before = comes_back ? plan.pp - 1 - stage : stage;
    double sum_s = 0;
    for (int i = first; i < first + before; ++i) {
        const auto v = static_cast<std::size_t>(i);
        sum_s += terms.forward_s[v] + terms.message_s[v];
    }
    return sum_s;
}

}  // namespace

double bound_of(const Candidate& c, const BoundTerms& terms) {
    double behind_s = 0, largest_s = 0;
    const double first_optimizer_s = sum_of(terms.optimizer_s.front());
    const models::Plan plan = plan_of_passes(c);
    for (int stage = 0; stage < c.pp; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        double busy_s = 0, shards_s = 0, longest_shards_s = 0;
        for (int chunk = 0; chunk < c.virtual_stages; ++chunk) {
            const int number = schedule::virtual_stage_of(plan, chunk, stage);
            const auto v = static_cast<std::size_t>(number);
            const double next_s = schedule::is_last_part(plan, number) ? 0 : terms.message_s[v];
            const double back_s = schedule::is_first_part(plan, number) ? 0 : terms.back_s[v - 1];
            busy_s +=
                (terms.forward_s[v] + least_backward_s(terms, v) + (terms.blocks_messages ? next_s + back_s : 0)) *
                schedule::micro_batches_of(plan, chunk).count();
            if (!terms.shards_s.empty()) {
                shards_s += terms.shards_s[v] * schedule::micro_batches_of(plan, chunk).count();
                longest_shards_s = std::max(longest_shards_s, terms.shards_s[v]);
            }
        }
        if (terms.blocks_shards) {
            busy_s += std::max(0.0, shards_s - (c.pp > 1 ? 2 * longest_shards_s : 0));
        }
        // The message behind the last pass is one of those that blocked.
        const double counted_s = terms.blocks_messages && stage > 0 ? terms.back_s[s - 1] : 0;
        const double own_s = sum_of(terms.optimizer_s[s]);
        const double end_s =
            splits_backward(c.schedule) ? own_s : std::max(behind_s - counted_s + first_optimizer_s, own_s);
        largest_s = std::max(largest_s, shards_s);
        largest_s =
            std::max(largest_s, terms.is_among_others ? busy_s + own_s : before_s(plan, terms, stage) + busy_s + end_s);
        behind_s += terms.backward_s[s] + terms.back_s[s];
    }
    return largest_s * kBelow;
}

double bound_of_passes(const Candidate& c, const BoundTerms& terms) {
    // Passes that run beside one another do not begin and end one behind the other.
    if (terms.is_among_others || schedule::pairs_passes(plan_of_passes(c))) {
        return bound_of(c, terms);
    }
    std::vector<double> ends_s = PassWalk(c, terms).run();
    const std::size_t parts = terms.optimizer_s.front().size();
    for (std::size_t part = 0; part < parts; ++part) {
        double all_s = 0;
        for (std::size_t stage = 0; stage < ends_s.size(); ++stage) {
            all_s = std::max(all_s, ends_s[stage] + terms.optimizer_s[stage][part]);
        }
        ends_s.assign(ends_s.size(), all_s);
    }
    return std::max(ends_s.front() * kBelow, bound_of(c, terms));
}

}  // namespace auspex::search
