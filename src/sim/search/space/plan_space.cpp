/// @file Loops over the fields of a plan.
#include "sim/search/space/plan_space.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "sim/search/space/unbound.hpp"

namespace auspex::search {
namespace {

constexpr int kMaxMicroBatch = 32, kMaxContextParallel = 64;
constexpr int kMinSlice = 4096;  // tokens of a sequence that context parallelism leaves a rank

std::vector<int> divisors(int number, int most) {
    std::vector<int> found;
    for (int d = 1; d <= std::min(number, most); ++d) {
        if (number % d == 0) {
            found.push_back(d);
        }
    }
    return found;
}

std::uint8_t overlap_mask(bool tp, bool ep, bool dp, bool pp) {
    return static_cast<std::uint8_t>((tp ? kOverlapTp : 0) | (ep ? kOverlapEp : 0) | (dp ? kOverlapDp : 0) |
                                     (pp ? kOverlapPp : 0));
}

/// Of a mask, from none to all of it.
std::vector<std::uint8_t> subsets(std::uint8_t mask) {
    std::vector<std::uint8_t> found;
    for (unsigned set = 0; set <= mask; ++set) {
        if ((set & ~unsigned{mask}) == 0) {
            found.push_back(static_cast<std::uint8_t>(set));
        }
    }
    return found;
}

/// What tells shapes apart; dp and the number of micro-batches follow from it.
std::array<int, 10> key_of(const Candidate& c) {
    return {c.pp,
            c.tp,
            c.etp,
            c.ep,
            c.cp,
            c.rank_order,
            c.micro_batch_size,
            static_cast<int>(c.schedule),
            c.virtual_stages,
            static_cast<int>(c.stages)};
}

/// How many of the choices that make no shape differ; of recompute and overlap each module and stream counts.
int choices_that_differ(const Candidate& a, const Candidate& b) {
    return (a.optimizer != b.optimizer ? 1 : 0) + (a.dispatch != b.dispatch ? 1 : 0) +
           (a.expert_kernels != b.expert_kernels ? 1 : 0) +
           std::popcount(static_cast<unsigned>(a.recompute ^ b.recompute)) +
           std::popcount(static_cast<unsigned>(a.overlap ^ b.overlap)) +
           (a.sequence_parallel != b.sequence_parallel ? 1 : 0);
}

constexpr std::array kOptimizers{models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
                                 models::OptimizerSharding::kEpAware, models::OptimizerSharding::kZero2,
                                 models::OptimizerSharding::kFsdp};
constexpr std::array kDispatches{models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll,
                                 models::Dispatch::kHierarchical};
constexpr std::array kKernels{models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped,
                              models::ExpertKernels::kFused};

/// 1f1b first: of schedules that take the same time it is the one that is told.
constexpr std::array kSchedules = [] {
    auto kinds = models::kScheduleKinds;
    std::swap(kinds[0], kinds[1]);
    return kinds;
}();

/// Of `all`, what the stack has words for.
template <class Choice, std::size_t Size>
std::vector<Choice> offered(bool is_free, Choice fixed, bool what_if, const std::vector<std::string>& words,
                            const std::array<Choice, Size>& all) {
    if (!is_free) {
        return {fixed};
    }
    std::vector<Choice> found;
    std::ranges::copy_if(all, std::back_inserter(found), [&](Choice choice) {
        return what_if || std::ranges::find(words, to_string(choice)) != words.end();
    });
    return found;
}

}  // namespace

PlanSpace::PlanSpace(const models::Inputs& inputs, const SpaceRequest& request) : inputs_(inputs), request_(request) {
    const models::Plan& base = inputs.plan;
    const models::Workload& model = inputs.workload;
    const models::Stack& stack = inputs.stack;
    const auto choices = [&](const char* field, auto fixed, const std::vector<std::string>& words, const auto& all) {
        return offered(is_free(field), fixed, request.what_if, words, all);
    };
    optimizers_ = choices("optimizer", base.optimizer, stack.offers_optimizers, kOptimizers);
    // A reference has its weights whole; shards that are gathered are cast then, and are no copies in 8 bits alone.
    if (is_free("optimizer") && (model.objective == models::Objective::kDpo || base.fp8_weights_only)) {
        std::erase(optimizers_, models::OptimizerSharding::kFsdp);
        if (optimizers_.empty()) {
            throw InputError("stack " + stack.name,
                             "found optimizer \"fsdp\" alone on offer; expected another for " +
                                 std::string(base.fp8_weights_only ? "a plan with fp8_weights \"only\""
                                                                   : "a workload with objective \"dpo\""));
        }
    }
    using enum models::OptimizerSharding;
    if (model.num_experts == 0 && std::ranges::count(optimizers_, kSharded) > 0) {  // then both are the same plan
        std::erase(optimizers_, base.optimizer == kEpAware ? kSharded : kEpAware);
    }
    dispatches_ = choices("dispatch", base.dispatch, stack.offers_dispatches, kDispatches);
    kernels_ = choices("expert_kernels", base.expert_kernels, stack.offers_expert_kernels, kKernels);
    std::ranges::copy_if(optimizers_, std::back_inserter(once_a_step_),
                         [](models::OptimizerSharding kind) { return !shards_gradients(kind); });
    schedules_ = choices("schedule", base.schedule, stack.offers_schedules, kSchedules);
    const int heads = std::gcd(model.heads, model.kv_heads), experts = std::max(1, model.num_experts);
    for (const int pp : values("pp", base.pp, divisors(request.tiles, model.layers))) {
        for (const int tp : values("tp", base.tp, divisors(heads, heads))) {
            for (const int etp : expert_tensor_parallel(tp)) {
                for (const int ep : values("ep", base.ep, divisors(experts, experts))) {
                    for (const int cp : values("cp", base.cp, context_parallel())) {
                        add_grid({.ep = ep, .etp = etp, .tp = tp, .cp = cp, .pp = pp});
                    }
                }
            }
        }
    }
    std::erase_if(rejected_, [](const auto& entry) { return entry.second == 0; });
    first_plan_.push_back(0);
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
        first_plan_.push_back(first_plan_.back() + count_of(shape));
        shape_of_.emplace(key_of(shapes_[shape]), shape);
    }
}

bool PlanSpace::is_free(const std::string& field) const {
    return std::ranges::find(request_.fixed, field) == request_.fixed.end();
}

std::vector<int> PlanSpace::values(const char* field, int fixed, std::vector<int> free) const {
    return is_free(field) ? free : std::vector{fixed};
}

std::vector<int> PlanSpace::expert_tensor_parallel(int tp) const {
    if (inputs_.workload.num_experts == 0) {
        return {tp};
    }
    if (!is_free("etp")) {
        return {inputs_.plan.etp_given ? inputs_.plan.etp : tp};
    }
    std::vector<int> found{tp};
    if (tp > 1) {
        found.push_back(1);
    }
    std::erase_if(found, [&](int etp) { return inputs_.workload.expert_size % etp != 0; });
    return found;
}

std::vector<int> PlanSpace::context_parallel() const {
    std::vector<int> found;
    for (int cp = 1; cp <= kMaxContextParallel && inputs_.workload.sequence_length % cp == 0; cp *= 2) {
        if (cp > 1 && inputs_.workload.sequence_length / cp < kMinSlice) {
            break;
        }
        found.push_back(cp);
    }
    return found;
}

bool PlanSpace::reject_if(bool condition, const char* reason) {
    rejected_[reason] += condition ? 1 : 0;
    return condition;
}

void PlanSpace::add_grid(Candidate c) {
    const std::int64_t replica = std::int64_t{c.pp} * c.ep * c.etp;
    if (reject_if(request_.tiles % replica != 0, "tiles are no multiple of pp * ep * etp")) {
        return;
    }
    c.dp = static_cast<int>(request_.tiles / replica);
    const int stage_ranks = request_.tiles / c.pp;
    const models::Workload& model = inputs_.workload;
    if (reject_if(!context_misfit(inputs_.plan.context, c.cp, inputs_.plan.context_all_to_all, model.heads / c.tp,
                                  model.kv_heads / c.tp, model.sequence_length)
                       .field.empty(),
                  "cp does not fit context_parallel")) {
        return;
    }
    const models::ContextSplit split = context_split(inputs_.plan.context, c.cp, inputs_.plan.context_all_to_all);
    const bool has_image = model.image.is_given();
    if (reject_if((has_image && (split.ring > 1 || !window_grid(model.image, split.windows))) ||
                      (!has_image && inputs_.plan.context == models::ContextParallel::kWindows),
                  "cp does not fit the windows of the image")) {
        return;
    }
    if (reject_if(stage_ranks % (c.tp * c.cp) != 0, "a stage's ranks are no multiple of tp * cp")) {
        return;
    }
    const int data_parallel = stage_ranks / (c.tp * c.cp);
    if (reject_if(request_.global_batch % data_parallel != 0,
                  "the global batch is no multiple of data_parallel = tiles / (pp * tp * cp)")) {
        return;
    }
    const int rank_batch = request_.global_batch / data_parallel;
    const bool has_orders = c.pp > 1 && c.dp > 1 && is_free("rank_order") && inputs_.plan.rank_order == kRankOrders[0];
    for (c.rank_order = 0; c.rank_order < (has_orders ? kRankOrders.size() : 1); ++c.rank_order) {
        for (const int size :
             values("micro_batch_size", inputs_.plan.micro_batch_size, divisors(rank_batch, kMaxMicroBatch))) {
            const bool cuts_pairs = model.objective == models::Objective::kDpo && size % 2 != 0;
            if (!reject_if(rank_batch % size != 0, "a rank's batch is no multiple of micro_batch_size") &&
                !reject_if(cuts_pairs, "micro_batch_size cuts a pair of sequences")) {
                c.micro_batch_size = size;
                c.micro_batches = rank_batch / size;
                add_schedules(c);
            }
        }
    }
}

bool PlanSpace::passes(const Candidate& plan) const {
    const auto& refuses = request_.filter.refuses;
    const auto own = [&] { return resolve_plan(plan_of(plan, inputs_.plan), inputs_.workload, request_.tiles); };
    return !refuses || refuses(inputs_.machine, inputs_.workload, own()).empty();
}

void PlanSpace::add_shape(const Candidate& c) {
    if (!std::ranges::all_of(request_.where, [&](const Constraint& w) { return holds(w, c); })) {
        ++rejected_["--where"];
    } else if (inputs_.machine.cpu.cores == 0) {
        shapes_.push_back(c);
    } else {
        add_if_bound(c);
    }
}

void PlanSpace::add_if_bound(Candidate c) {
    std::vector<models::OptimizerSharding> bound;
    for (const models::OptimizerSharding optimizer : has_stages_twice(c.schedule) ? once_a_step_ : optimizers_) {
        c.optimizer = optimizer;
        Candidate most = c;  // a shape has every set of overlaps with each of its optimizers: all have to run
        for (const std::uint8_t overlap : overlaps(c)) {
            most.overlap |= shards_gradients(optimizer) ? overlap : std::uint8_t{0};
        }
        if (const std::string why = why_unbound(inputs_, most); !why.empty()) {
            ++rejected_["the trainer does not run it: " + why];
        } else {
            bound.push_back(optimizer);
        }
    }
    if (!bound.empty()) {
        c.optimizer = bound.front();
        shapes_.push_back(c);
        bound_optimizers_.push_back(std::move(bound));
    }
}

std::uint8_t PlanSpace::overlappable(const Candidate& c) const {
    const models::Stack& stack = inputs_.stack;
    return overlap_mask(stack.can_overlap_tp && c.tp > 1, stack.can_overlap_ep && c.ep > 1,
                        stack.can_overlap_dp && request_.tiles / c.pp > c.tp, stack.can_overlap_pp && c.pp > 1);
}

std::uint8_t PlanSpace::distinct_overlap(const Candidate& c) const {
    if (inputs_.stack.blocking_sends || !inputs_.stack.can_overlap_pp || !is_free("overlap")) {
        return c.overlap;
    }
    const auto without = static_cast<std::uint8_t>(c.overlap & ~kOverlapPp);
    return c.virtual_stages > 1 && c.pp > 1 ? without | kOverlapPp : without;
}

std::vector<std::uint8_t> PlanSpace::recomputes() const {
    const std::uint8_t given = recompute_mask(inputs_.plan);
    if (!is_free("recompute")) {
        return {given};
    }
    std::vector<std::uint8_t> masks = subsets(kRecomputeAll);
    if (given == kRecomputeAsGiven) {
        masks.push_back(given);
    }
    return masks;
}

std::vector<std::uint8_t> PlanSpace::overlaps(const Candidate& c) const {
    const models::Plan& base = inputs_.plan;
    const std::uint8_t can = overlappable(c);
    if (!is_free("overlap")) {
        return {static_cast<std::uint8_t>(
            can & overlap_mask(base.overlap_tp, base.overlap_ep, base.overlap_dp, base.overlap_pp))};
    }
    std::vector<std::uint8_t> distinct;
    for (const std::uint8_t overlap : subsets(can)) {
        Candidate with = c;
        with.overlap = overlap;
        if (distinct_overlap(with) == overlap) {
            distinct.push_back(overlap);
        }
    }
    return distinct;
}

std::vector<bool> PlanSpace::sequence_parallels(const Candidate& c) const {
    const bool may_slice = c.tp > 1 && inputs_.workload.sequence_length / c.cp % c.tp == 0;
    if (!is_free("sequence_parallel")) {
        return {inputs_.plan.sequence_parallel && may_slice};
    }
    return may_slice ? std::vector{false, true} : std::vector{false};
}

const std::vector<models::OptimizerSharding>& PlanSpace::optimizers_of(std::size_t shape) const {
    return !bound_optimizers_.empty()                  ? bound_optimizers_[shape]
           : has_stages_twice(shapes_[shape].schedule) ? once_a_step_
                                                       : optimizers_;
}

std::uint64_t PlanSpace::count_of(std::size_t shape) const {
    const Candidate& c = shapes_[shape];
    const bool has_experts = inputs_.workload.num_experts > 0;
    return optimizers_of(shape).size() * (has_experts && c.ep > 1 ? dispatches_.size() : 1) *
           (has_experts ? kernels_.size() : 1) * recomputes().size() * overlaps(c).size() *
           sequence_parallels(c).size();
}

std::vector<std::pair<Candidate, std::uint64_t>> PlanSpace::neighbours_of(const Candidate& plan) const {
    std::vector<std::pair<Candidate, std::uint64_t>> found;
    const std::array<int, 10> own = key_of(plan);
    const auto add = [&](std::size_t shape, int allowed) {
        std::uint64_t number = first_plan_[shape];
        for (const Candidate& other : plans_of(shape)) {
            if (choices_that_differ(plan, other) <= allowed) {
                found.emplace_back(other, number);
            }
            ++number;
        }
    };
    for (const auto& [key, shape] : shape_of_) {
        int differ = 0;
        for (std::size_t field = 0; field < own.size(); ++field) {
            differ += key[field] != own[field] ? 1 : 0;
        }
        // etp follows tp where it is not 1, and virtual stages change the schedule's name.
        const bool splits_alike = plan.etp == plan.tp && key[1] == key[2];
        const bool interleaves = key[7] != own[7] && key[8] != own[8];
        differ -= (splits_alike && key[1] != own[1] ? 1 : 0) + (interleaves ? 1 : 0);
        if (differ <= 1) {
            add(shape, differ == 0 ? 1 : 0);
        }
    }
    return found;
}

std::vector<Candidate> PlanSpace::plans_of(std::size_t shape) const {
    Candidate c = shapes_[shape];
    const bool has_experts = inputs_.workload.num_experts > 0;
    const auto dispatches = has_experts && c.ep > 1 ? dispatches_ : std::vector{inputs_.plan.dispatch};
    const auto kernels = has_experts ? kernels_ : std::vector{inputs_.plan.expert_kernels};
    std::vector<Candidate> plans;
    for (const models::OptimizerSharding optimizer : optimizers_of(shape)) {
        c.optimizer = optimizer;
        for (const models::Dispatch dispatch : dispatches) {
            c.dispatch = dispatch;
            for (const models::ExpertKernels kernel : kernels) {
                c.expert_kernels = kernel;
                for (const std::uint8_t recompute : recomputes()) {
                    c.recompute = recompute;
                    for (const std::uint8_t overlap : overlaps(c)) {
                        c.overlap = overlap;
                        for (const bool slices : sequence_parallels(c)) {
                            c.sequence_parallel = slices;
                            plans.push_back(c);
                        }
                    }
                }
            }
        }
    }
    return plans;
}

}  // namespace auspex::search
