/// @file Patterns by key, transfers out of algorithms, and rates of sets of patterns, each found once.
#include "sim/network/collective/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "sim/network/collective/job_groups.hpp"
#include "sim/network/collective/link_classes.hpp"
#include "sim/network/collective/round_costs.hpp"

namespace auspex::network {
namespace {

using Ids = std::vector<PatternId>;

/// Finds a set by its span, so that looking up allocates nothing.
struct ByContent {
    using is_transparent = void;
    bool operator()(std::span<const PatternId> a, std::span<const PatternId> b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

bool is_collective(schedule::CommKind comm) {
    return comm != schedule::CommKind::kSend && comm != schedule::CommKind::kReceive &&
           comm != schedule::CommKind::kNone && !is_host_copy(comm);
}

/// Every message of an all-to-all goes from its first sender to its last receiver, whose share it is.
bool goes_straight(AlgorithmChoice choice) {
    return choice.levels == 1 && (choice.algorithm == models::CollectiveAlgorithm::kDirect ||
                                  choice.algorithm == models::CollectiveAlgorithm::kPairwise);
}

/// A library chooses by size and by the shape of the group, not by where a stage lies: the first stage decides for
/// all. What is listed has no stages.
int deciding_stage(models::GroupKind group, int stage) { return group == kListedGroups ? stage : 0; }

}  // namespace

struct Network::Impl {
    /// What is asked for; everything of a pattern but the round.
    struct Asked {
        schedule::CommKind comm;
        models::GroupKind group;
        int stage;
        double bytes, scale;
        int member, shares;
        auto operator<=>(const Asked&) const = default;
    };

    Impl(const models::Machine& machine, const models::Stack& given_stack, const models::Layout& given_layout,
         const Impl* given_model)
        : layout(given_layout),
          stack(given_stack),
          fabric(machine, stack, layout),
          model(given_model != nullptr && fabric.routes_as(given_model->fabric) ? given_model : nullptr),
          groups(layout, fabric, model == nullptr ? nullptr : &model->groups),
          builder(fabric),
          tiles_per_card(machine.node.tiles_per_card),
          costs(machine, stack, fabric) {}

    const FlowPattern* of_model(const PatternKey& key) const;
    FlowPattern build(const PatternKey& key);
    PatternId pattern_id(const PatternKey& asked);
    PatternKey first_of(const PatternKey& asked);
    PatternId built(const PatternKey& key);
    HostUse host_use(const Asked& asked);
    bool is_on_every_card(const Asked& asked);
    Transfer play(const Asked& asked, AlgorithmChoice choice);
    AlgorithmChoice fastest(Asked asked, int levels);
    [[nodiscard]] double solo_time_s(const Transfer& transfer) const;

    const LinkClasses& link_classes();
    std::vector<double> solve(std::span<const PatternId> set);

    models::Layout layout;
    models::Stack stack;
    Fabric fabric;
    const Impl* model;  ///< null: none
    JobGroups groups;
    PatternBuilder builder;
    int tiles_per_card;
    bool groups_act_together = true;
    RoundCosts costs;
    std::vector<std::vector<double>> shares;  ///< lists, number 1 is the first
    int usual_shares = 0;                     ///< of those that ask for none
    models::TokenSpread spread;

    std::map<PatternKey, PatternId> id_of_asked, id_of_key;
    std::vector<FlowPattern> patterns;
    Ids asked_for;  ///< all that may be active at once: every kind of group may, even on the same ranks
    std::map<std::tuple<schedule::CommKind, models::GroupKind, int, double, double, int, int>, AlgorithmChoice> chosen;

    LinkClasses classes;
    bool are_classes_current = true;  ///< of all patterns
    std::map<Ids, std::vector<double>, ByContent> remembered;
    Ids last_active, sorted;
    std::vector<double> answer;
};

/// Null: it has none.
const FlowPattern* Network::Impl::of_model(const PatternKey& key) const {
    const auto list = static_cast<std::size_t>(key.shares);
    if (model == nullptr ||
        (list > 0 && (list > model->shares.size() || model->shares[list - 1] != shares[list - 1]))) {
        return nullptr;
    }
    const auto found = model->id_of_key.find(key);
    return found == model->id_of_key.end() ? nullptr : &model->patterns[found->second];
}

FlowPattern Network::Impl::build(const PatternKey& key) {
    if (const RegularGroups* const regular = groups.regular(key);
        regular != nullptr && builder.can_build(key, *regular)) {
        return builder.build(key, *regular);
    }
    return builder.build(key, groups.of(key),
                         key.shares != 0 ? std::span<const double>(shares[static_cast<std::size_t>(key.shares - 1)])
                                         : std::span<const double>());
}

PatternId Network::Impl::pattern_id(const PatternKey& asked) {
    if (const auto found = id_of_asked.find(asked); found != id_of_asked.end()) {
        return found->second;
    }
    const PatternId id = built(first_of(asked));
    asked_for.push_back(id);
    are_classes_current = false;
    id_of_asked.emplace(asked, id);
    return id;
}

/// The key under which a pattern of the same flows was or will be made first.
PatternKey Network::Impl::first_of(const PatternKey& asked) {
    PatternKey key = groups.first_with_those_of(asked);
    key.shape = asked.shape;
    key.distance = asked.distance;
    key.shares = asked.shares;
    key.by_host = asked.by_host;
    return key;
}

PatternId Network::Impl::built(const PatternKey& key) {
    if (const auto found = id_of_key.find(key); found != id_of_key.end()) {
        return found->second;
    }
    const FlowPattern* const known = of_model(key);
    FlowPattern pattern = known != nullptr ? builder.adapt(*known) : build(key);
    if (key.member != kAllSiblings && meets_in_host(pattern) && groups_act_together) {
        PatternKey asked = key;
        asked.member = kAllSiblings;
        if (const PatternKey all = first_of(asked); all != key) {
            builder.wait_as_all(patterns[built(all)], pattern);
        }
    }
    const auto id = static_cast<PatternId>(patterns.size());
    patterns.push_back(std::move(pattern));
    id_of_key.emplace(key, id);
    return id;
}

HostUse Network::Impl::host_use(const Asked& asked) {
    if (!fabric.has_ways_by_host()) {
        return {};
    }
    HostUse use{.staging = stack.staging == models::Staging::kWhole};
    const GroupForm& form = groups.form(asked.group, asked.stage);
    if (!stack.node_paths.empty() && form.nodes == 1 && is_collective(asked.comm)) {
        const bool every_card = is_on_every_card(asked);
        const auto rule = std::find_if(stack.node_paths.begin(), stack.node_paths.end(), [&](const auto& one) {
            return form.ranks <= one.max_ranks && (every_card || !one.every_card);
        });
        use.messages = rule != stack.node_paths.end() && rule->by_host;
    }
    return use;
}

/// The first group, in one node, stands for its siblings. Of groups that act alone each has the job's cards.
bool Network::Impl::is_on_every_card(const Asked& asked) {
    std::set<int> cards;
    for (const int rank : groups.first(asked.group, asked.stage)) {
        cards.insert(rank % fabric.tiles_per_node() / tiles_per_card);
    }
    return !groups_act_together || static_cast<int>(cards.size()) * tiles_per_card == fabric.tiles_per_node();
}

Transfer Network::Impl::play(const Asked& asked, AlgorithmChoice choice) {
    const GroupForm& form = groups.form(asked.group, asked.stage);
    const CollectivePhases phases =
        phases_of(asked.comm, choice, form, asked.bytes, host_use(asked), stack.tree_chunk_bytes, spread);
    const bool uneven =
        asked.comm == schedule::CommKind::kAllToAll && asked.shares != 0 &&
        shares[static_cast<std::size_t>(asked.shares - 1)].size() == static_cast<std::size_t>(form.ranks) &&
        goes_straight(phases.choice);
    Transfer transfer;
    transfer.choice = phases.choice;
    for (const CollectiveStep& step : phases.steps) {
        const bool by_share = uneven && !is_host_work(step.shape);
        const double scale = by_share ? 1 : asked.scale;
        const bool by_host = step.level == Level::kByHost;
        const PatternId id = pattern_id({asked.group, asked.stage, by_host ? Level::kFlat : step.level, step.shape,
                                         step.distance, asked.member, by_share ? asked.shares : 0, by_host});
        const FlowPattern& pattern = patterns[id];
        const double sent = step.bytes * step.rounds;
        const bool at_host = is_host_work(step.shape);
        // Half of the ranks that a set of pairs names are senders.
        const double senders = static_cast<double>(pattern.ranks) / (step.shape == StepShape::kPairs ? 2 : 1);
        const double carried = step.bytes * (step.rounds - step.idle_rounds);
        transfer.bytes_sent += at_host ? 0 : carried * pattern.flows / senders;
        transfer.rounds += at_host && step.shape != StepShape::kInHost ? 0 : step.rounds;
        transfer.leaves_node = transfer.leaves_node || pattern.leaves_node;
        const bool goes_on = !transfer.phases.empty() && transfer.phases.back().pattern == id &&
                             transfer.phases.back().what == step.what;
        TransferPhase& phase =
            goes_on ? transfer.phases.back()
                    : transfer.phases.emplace_back(TransferPhase{.pattern = id, .rounds = 0, .what = step.what});
        const double adds_s = costs.reduction_s(step, pattern) * step.rounds;
        phase.latency_s += costs.messages_s(asked.comm, form, step, scale, pattern) + adds_s;
        phase.reduction_s += adds_s;
        phase.bytes += sent * scale;
        phase.rounds += step.rounds;
    }
    if (!transfer.phases.empty() && is_collective(asked.comm)) {
        transfer.phases.front().latency_s += stack.collective_launch_s;
    }
    return transfer;
}

AlgorithmChoice Network::Impl::fastest(Asked asked, int levels) {
    asked.stage = deciding_stage(asked.group, asked.stage);
    asked.member = kAllSiblings;
    const auto [found, is_new] = chosen.try_emplace(
        std::tuple(asked.comm, asked.group, asked.stage, asked.bytes, asked.scale, asked.shares, levels));
    if (is_new) {
        double least_s = std::numeric_limits<double>::infinity();
        for (const AlgorithmChoice candidate : candidates(asked.comm, groups.form(asked.group, asked.stage), levels)) {
            const double time_s = solo_time_s(play(asked, candidate));
            if (time_s < least_s) {
                least_s = time_s;
                found->second = candidate;
            }
        }
    }
    return found->second;
}

double Network::Impl::solo_time_s(const Transfer& transfer) const {
    double time_s = 0;
    for (const TransferPhase& phase : transfer.phases) {
        time_s += phase.latency_s + phase.bytes / patterns[phase.pattern].solo_rate;
    }
    return time_s;
}

const LinkClasses& Network::Impl::link_classes() {
    if (!are_classes_current) {
        are_classes_current = true;
        classes.build(patterns, asked_for, fabric);
    }
    return classes;
}

std::vector<double> Network::Impl::solve(std::span<const PatternId> set) {
    if (set.size() == 1) {
        return {patterns[set.front()].solo_rate};
    }
    link_classes();
    return classes.rates(set);
}

Network::Network(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout)
    : impl_(std::make_unique<Impl>(machine, stack, layout, nullptr)) {}
Network::Network(const models::Machine& machine, const models::Stack& stack, const models::Layout& layout,
                 const Network& model)
    : impl_(std::make_unique<Impl>(machine, stack, layout, model.impl_.get())) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;

void Network::let_groups_act_alone() {
    AUSPEX_CHECK(impl_->patterns.empty() || !impl_->groups_act_together, "who acts together is said before patterns");
    impl_->groups_act_together = false;
}

int Network::number_of_shares(const std::vector<double>& shares) {
    const auto number = static_cast<std::size_t>(std::ranges::find(impl_->shares, shares) - impl_->shares.begin()) + 1;
    impl_->shares.resize(std::max(impl_->shares.size(), number), shares);
    return static_cast<int>(number);
}

void Network::set_routing_shares(const std::vector<double>& shares) {
    impl_->usual_shares = shares.empty() ? 0 : number_of_shares(shares);
}

void Network::set_routing(const models::RoutingLoad& load) {
    set_routing_shares(load.uneven_shares());
    impl_->spread = load.spread;
    impl_->builder.set_token_spread(load.spread);
}

void Network::be_model() {
    AUSPEX_CHECK(impl_->patterns.empty(), "a model is one before patterns are made");
    impl_->builder.keep_direct();
}

void Network::list_all_links() {
    AUSPEX_CHECK(impl_->patterns.empty() && impl_->model == nullptr, "links are listed before patterns are made");
    impl_->groups.list_all();
}

int Network::list_groups(const std::vector<std::vector<int>>& siblings, bool pairs) {
    return impl_->groups.list(flatten(siblings), pairs);
}

Transfer Network::unroll(schedule::CommKind comm, models::GroupKind group, int stage, double bytes, double scale,
                         int member, int shares) {
    const std::span<const models::AlgorithmRule> rules = collective_rules(impl_->stack, comm);
    const AlgorithmChoice choice =
        rules.empty() ? AlgorithmChoice{models::CollectiveAlgorithm::kAuto, 0}
                      : choice_by_rule(rules, bytes, impl_->groups.form(group, deciding_stage(group, stage)));
    return unroll_as(choice, comm, group, stage, bytes, scale, member, shares);
}

Transfer Network::unroll_as(AlgorithmChoice choice, schedule::CommKind comm, models::GroupKind group, int stage,
                            double bytes, double scale, int member, int shares) {
    AUSPEX_CHECK(bytes >= 0 && scale > 0, "bytes are not negative");
    if (comm == schedule::CommKind::kNone || comm == schedule::CommKind::kReceive) {
        return {};
    }
    if (group == models::GroupKind::kWorld) {
        stage = 0;
    }
    if (impl_->groups.form(group, stage).ranks == 1 && !is_host_copy(comm)) {
        return {};
    }
    const Impl::Asked asked{
        comm, group, stage, bytes, scale, member, shares == kUsualShares ? impl_->usual_shares : shares};
    if (comm == schedule::CommKind::kBarrier || has_one_way(comm)) {
        choice = {models::CollectiveAlgorithm::kDirect, 1};
    } else if (choice.algorithm == models::CollectiveAlgorithm::kAuto) {
        choice = impl_->fastest(asked, choice.levels);
    }
    return impl_->play(asked, choice);
}

std::span<const double> Network::rates(std::span<const PatternId> active) {
    Impl& n = *impl_;
    if (std::equal(active.begin(), active.end(), n.last_active.begin(), n.last_active.end())) {
        return n.answer;
    }
    n.last_active.assign(active.begin(), active.end());
    n.sorted.assign(active.begin(), active.end());
    std::sort(n.sorted.begin(), n.sorted.end());
    auto known = n.remembered.find(std::span<const PatternId>(n.sorted));
    if (known == n.remembered.end()) {
        known = n.remembered.emplace(n.sorted, n.solve(n.sorted)).first;
    }
    const std::vector<double>& of_sorted = known->second;
    n.answer.clear();
    for (const PatternId id : active) {
        const auto index = std::lower_bound(n.sorted.begin(), n.sorted.end(), id) - n.sorted.begin();
        n.answer.push_back(of_sorted[static_cast<std::size_t>(index)]);
    }
    return n.answer;
}

double Network::solo_rate(PatternId pattern) const { return impl_->patterns[pattern].solo_rate; }

double Network::solo_time_s(const Transfer& transfer) const { return impl_->solo_time_s(transfer); }

Picoseconds Network::solo_duration(const Transfer& transfer, int repeat) const {
    Picoseconds duration = 0;
    for (const TransferPhase& phase : transfer.phases) {
        const double flow_s = phase.bytes * repeat / impl_->patterns[phase.pattern].solo_rate;
        duration = sum_of_times(duration, to_picoseconds(phase.latency_s * repeat));
        duration = sum_of_times(duration, to_picoseconds_up(flow_s));
    }
    return duration;
}

bool Network::can_slow(PatternId a, PatternId b) const { return impl_->link_classes().can_slow(a, b); }

bool Network::is_disjoint(PatternId pattern, std::span<const PatternId> others) const {
    return std::none_of(others.begin(), others.end(),
                        [&](PatternId other) { return other != pattern && can_slow(pattern, other); });
}

const PatternLoads& Network::loads(PatternId pattern) const { return impl_->patterns[pattern].loads; }
std::uint32_t Network::bottleneck(PatternId pattern) const { return impl_->patterns[pattern].bottleneck; }
std::size_t Network::sibling_count(models::GroupKind group, int stage) { return impl_->groups.count(group, stage); }
const Fabric& Network::fabric() const { return impl_->fabric; }
std::size_t Network::pattern_count() const { return impl_->patterns.size(); }

}  // namespace auspex::network
