/// @file Loops over the fields of a plan.
#include "sim/search/plan_space.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "base/error.hpp"

namespace auspex::search {
namespace {

constexpr int kMaxMicroBatch = 32, kMaxVirtualStages = 8, kMaxContextParallel = 64;

const std::set<std::string>& fields() {
    static const std::set<std::string> kFields{
        "dp", "ep", "etp", "tp", "cp", "pp", "virtual_stages", "micro_batch_size", "micro_batches"};
    return kFields;
}

int value_of(const Candidate& c, const std::string& field) {
    return field == "dp"                 ? c.dp
           : field == "ep"               ? c.ep
           : field == "etp"              ? c.etp
           : field == "tp"               ? c.tp
           : field == "cp"               ? c.cp
           : field == "pp"               ? c.pp
           : field == "virtual_stages"   ? c.virtual_stages
           : field == "micro_batch_size" ? c.micro_batch_size
                                         : c.micro_batches;
}

bool holds(const Constraint& constraint, const Candidate& candidate) {
    const int found = value_of(candidate, constraint.field), value = constraint.value;
    return constraint.comparison == "<="   ? found <= value
           : constraint.comparison == "<"  ? found < value
           : constraint.comparison == ">=" ? found >= value
           : constraint.comparison == ">"  ? found > value
                                           : found == value;
}

std::vector<int> divisors(int number, int most) {
    std::vector<int> found;
    for (int d = 1; d <= std::min(number, most); ++d) {
        if (number % d == 0) {
            found.push_back(d);
        }
    }
    return found;
}

class Enumeration {
 public:
    Enumeration(const models::Inputs& inputs, const SpaceRequest& request)
        : inputs_(inputs), base_(inputs.plan), model_(inputs.workload), request_(request) {
        using models::Dispatch, models::ExpertKernels, models::OptimizerSharding;
        const models::Stack& stack = inputs.stack;
        optimizers_ = offered("optimizer", base_.optimizer, stack.offers_optimizers,
                              {OptimizerSharding::kReplicated, OptimizerSharding::kSharded, OptimizerSharding::kEpAware,
                               OptimizerSharding::kFsdp});
        dispatches_ = offered("dispatch", base_.dispatch, stack.offers_dispatches,
                              {Dispatch::kAllGatherReduceScatter, Dispatch::kAllToAll});
        kernels_ = offered("expert_kernels", base_.expert_kernels, stack.offers_expert_kernels,
                           {ExpertKernels::kLoop, ExpertKernels::kGrouped, ExpertKernels::kFused});
    }

    PlanSpace run() {
        for (const int pp : values("pp", base_.pp, divisors(request_.tiles, model_.layers))) {
            for (const int tp : values("tp", base_.tp, divisors(std::gcd(model_.heads, model_.kv_heads), 1 << 20))) {
                for (const int etp : expert_tensor_parallel(tp)) {
                    for (const int ep : values("ep", base_.ep, divisors(std::max(1, model_.num_experts), 1 << 20))) {
                        for (const int cp : values("cp", base_.cp, context_parallel())) {
                            add_grid({.ep = ep, .etp = etp, .tp = tp, .cp = cp, .pp = pp});
                        }
                    }
                }
            }
        }
        return std::move(space_);
    }

 private:
    [[nodiscard]] bool is_free(const std::string& field) const {
        return std::ranges::find(request_.fixed, field) == request_.fixed.end();
    }
    [[nodiscard]] std::vector<int> values(const char* field, int fixed, std::vector<int> free) const {
        return is_free(field) ? free : std::vector{fixed};
    }
    template <class Choice>
    [[nodiscard]] std::vector<Choice> offered(const char* field, Choice fixed, const std::vector<std::string>& words,
                                              std::initializer_list<Choice> all) const {
        if (!is_free(field)) {
            return {fixed};
        }
        std::vector<Choice> found;
        std::ranges::copy_if(all, std::back_inserter(found), [&](Choice choice) {
            return request_.what_if || std::ranges::find(words, to_string(choice)) != words.end();
        });
        return found;
    }
    [[nodiscard]] std::vector<int> expert_tensor_parallel(int tp) const {
        if (model_.num_experts == 0) {
            return {tp};
        }
        if (!is_free("etp")) {
            return {base_.etp_given ? base_.etp : tp};
        }
        std::vector<int> found{tp};
        if (tp > 1) {
            found.push_back(1);
        }
        std::erase_if(found, [&](int etp) { return model_.expert_size % etp != 0; });
        return found;
    }
    [[nodiscard]] std::vector<int> context_parallel() const {
        std::vector<int> found;
        for (int cp = 1; cp <= kMaxContextParallel && model_.sequence_length % cp == 0; cp *= 2) {
            found.push_back(cp);
        }
        return found;
    }

    bool reject_if(bool condition, const char* reason) {
        space_.rejected[reason] += condition ? 1 : 0;
        return condition;
    }

    void add_grid(Candidate c) {
        const std::int64_t replica = std::int64_t{c.pp} * c.ep * c.etp;
        if (reject_if(request_.tiles % replica != 0, "tiles are no multiple of pp * ep * etp")) {
            return;
        }
        c.dp = static_cast<int>(request_.tiles / replica);
        const int stage_ranks = request_.tiles / c.pp;
        if (reject_if(stage_ranks % (c.tp * c.cp) != 0, "a stage's ranks are no multiple of tp * cp")) {
            return;
        }
        const int data_parallel = stage_ranks / (c.tp * c.cp);
        if (reject_if(request_.global_batch % data_parallel != 0,
                      "the global batch is no multiple of data_parallel = tiles / (pp * tp * cp)")) {
            return;
        }
        const int rank_batch = request_.global_batch / data_parallel;
        for (const int size :
             values("micro_batch_size", base_.micro_batch_size, divisors(rank_batch, kMaxMicroBatch))) {
            if (reject_if(rank_batch % size != 0, "a rank's batch is no multiple of micro_batch_size")) {
                continue;
            }
            c.micro_batch_size = size;
            c.micro_batches = rank_batch / size;
            add_schedules(c);
        }
    }

    void add_schedules(Candidate c) {
        const bool is_free_schedule = is_free("schedule") && is_free("virtual_stages");
        if (!is_free_schedule) {
            c.schedule = base_.schedule;
            c.virtual_stages = base_.virtual_stages;
            const bool fits = c.schedule != models::ScheduleKind::kInterleaved1f1b ||
                              (c.pp > 1 && c.micro_batches % c.pp == 0 && c.pp * c.virtual_stages <= model_.layers);
            if (!reject_if(!fits, "interleaved-1f1b needs pp > 1, micro_batches a multiple of pp, and enough layers")) {
                add_choices(c);
            }
            return;
        }
        add_choices(c);
        if (c.pp == 1) {
            return;
        }
        c.schedule = models::ScheduleKind::kGpipe;
        add_choices(c);
        if (reject_if(c.micro_batches % c.pp != 0, "interleaved-1f1b needs micro_batches a multiple of pp")) {
            return;
        }
        c.schedule = models::ScheduleKind::kInterleaved1f1b;
        for (c.virtual_stages = 2; c.virtual_stages <= kMaxVirtualStages && c.virtual_stages * c.pp <= model_.layers;
             ++c.virtual_stages) {
            add_choices(c);
        }
    }

    [[nodiscard]] std::uint8_t overlappable(const Candidate& c) const {
        const models::Stack& stack = inputs_.stack;
        return static_cast<std::uint8_t>((stack.can_overlap_tp && c.tp > 1 ? 1 : 0) |
                                         (stack.can_overlap_ep && c.ep > 1 ? 2 : 0) |
                                         (stack.can_overlap_dp && request_.tiles / c.pp > c.tp ? 4 : 0) |
                                         (stack.can_overlap_pp && c.pp > 1 ? 8 : 0));
    }

    void add_choices(Candidate c) {
        const bool has_experts = model_.num_experts > 0;
        const std::uint8_t can = overlappable(c);
        const std::uint8_t base_recompute = static_cast<std::uint8_t>(
            (base_.recompute_norm ? 1 : 0) | (base_.recompute_attention ? 2 : 0) | (base_.recompute_expert ? 4 : 0));
        const std::uint8_t base_overlap =
            static_cast<std::uint8_t>((base_.overlap_tp ? 1 : 0) | (base_.overlap_ep ? 2 : 0) |
                                      (base_.overlap_dp ? 4 : 0) | (base_.overlap_pp ? 8 : 0));
        for (const models::OptimizerSharding optimizer : optimizers_) {
            c.optimizer = optimizer;
            for (std::size_t d = 0; d < (has_experts && c.ep > 1 ? dispatches_.size() : 1); ++d) {
                c.dispatch = dispatches_.empty() ? base_.dispatch : dispatches_[d];
                for (std::size_t k = 0; k < (has_experts ? kernels_.size() : 1); ++k) {
                    c.expert_kernels = kernels_.empty() ? base_.expert_kernels : kernels_[k];
                    for (std::uint8_t recompute = 0; recompute < 8; ++recompute) {
                        if (!is_free("recompute") && recompute != base_recompute) {
                            continue;
                        }
                        c.recompute = recompute;
                        for (std::uint8_t overlap = 0; overlap < 16; ++overlap) {
                            if ((overlap & ~can) != 0 || (!is_free("overlap") && overlap != (base_overlap & can))) {
                                continue;
                            }
                            c.overlap = overlap;
                            add_orders(c);
                        }
                    }
                }
            }
        }
    }

    void add_orders(Candidate c) {
        const bool may_slice = c.tp > 1 && model_.sequence_length / c.cp % c.tp == 0;
        for (const bool slices : {false, true}) {
            if (is_free("sequence_parallel") ? slices && !may_slice : slices != base_.sequence_parallel) {
                continue;
            }
            if (slices && !may_slice && c.tp > 1) {
                continue;
            }
            c.sequence_parallel = slices;
            for (c.rank_order = 0; c.rank_order < kRankOrders.size(); ++c.rank_order) {
                if (c.rank_order > 0 && (c.pp == 1 || c.dp == 1 || !is_free("rank_order"))) {
                    break;
                }
                if (std::ranges::all_of(request_.where, [&](const Constraint& w) { return holds(w, c); })) {
                    space_.candidates.push_back(c);
                } else {
                    ++space_.rejected["--where"];
                }
            }
        }
    }

    const models::Inputs& inputs_;
    const models::Plan& base_;
    const models::Workload& model_;
    const SpaceRequest& request_;
    std::vector<models::OptimizerSharding> optimizers_;
    std::vector<models::Dispatch> dispatches_;
    std::vector<models::ExpertKernels> kernels_;
    PlanSpace space_;
};

}  // namespace

models::Plan plan_of(const Candidate& c, const models::Plan& base) {
    models::Plan plan = base;
    plan.dp = c.dp, plan.ep = c.ep, plan.etp = c.etp, plan.tp = c.tp, plan.cp = c.cp, plan.pp = c.pp;
    plan.etp_given = c.etp != c.tp;
    plan.virtual_stages = c.virtual_stages;
    plan.micro_batch_size = c.micro_batch_size;
    plan.micro_batches = c.micro_batches;
    plan.schedule = c.schedule;
    plan.optimizer = c.optimizer;
    plan.dispatch = c.dispatch;
    plan.expert_kernels = c.expert_kernels;
    plan.recompute_norm = (c.recompute & 1) != 0;
    plan.recompute_attention = (c.recompute & 2) != 0;
    plan.recompute_expert = (c.recompute & 4) != 0;
    plan.overlap_tp = (c.overlap & 1) != 0;
    plan.overlap_ep = (c.overlap & 2) != 0;
    plan.overlap_dp = (c.overlap & 4) != 0;
    plan.overlap_pp = (c.overlap & 8) != 0;
    plan.sequence_parallel = c.sequence_parallel;
    if (c.rank_order > 0) {
        plan.rank_order = kRankOrders[c.rank_order];
    }
    return plan;
}

std::vector<Constraint> read_constraints(const std::string& flag, const std::string& text) {
    std::vector<Constraint> constraints;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const std::size_t at = part.find_first_of("<>="), behind = part.find_first_not_of("<>=", at);
        Constraint constraint;
        if (at != std::string::npos && behind != std::string::npos) {
            constraint.field = part.substr(0, at);
            constraint.comparison = part.substr(at, behind - at);
            const auto [stop, error] =
                std::from_chars(part.data() + behind, part.data() + part.size(), constraint.value);
            static const std::set<std::string> kComparisons{"<=", "<", ">=", ">", "="};
            if (error == std::errc() && stop == part.data() + part.size() && fields().contains(constraint.field) &&
                kComparisons.contains(constraint.comparison)) {
                constraints.push_back(constraint);
                begin = end + 1;
                continue;
            }
        }
        throw InputError(flag,
                         "found \"" + part +
                             "\"; expected FIELD<=N, FIELD<N, FIELD>=N, FIELD>N or FIELD=N with a field of dp, ep, "
                             "etp, tp, cp, pp, virtual_stages, micro_batch_size, micro_batches, and commas between");
    }
    return constraints;
}

PlanSpace plan_space(const models::Inputs& inputs, const SpaceRequest& request) {
    PlanSpace space = Enumeration(inputs, request).run();
    std::erase_if(space.rejected, [](const auto& entry) { return entry.second == 0; });
    return space;
}

}  // namespace auspex::search
