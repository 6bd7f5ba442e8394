/// @file Patterns by key, transfers out of algorithms, and rates of sets of patterns, each found once.
#include "sim/network.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "sim/collective_phases.hpp"
#include "sim/flow_fold.hpp"
#include "sim/flow_pattern.hpp"
#include "sim/max_min.hpp"
#include "sim/node_paths.hpp"

namespace auspex {
namespace {

using Ids = std::vector<PatternId>;

/// Finds a set by its span, so that looking up allocates nothing.
struct ByContent {
    using is_transparent = void;
    bool operator()(std::span<const PatternId> a, std::span<const PatternId> b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

/// A pattern of more flows than this is not taken apart when it shares links: it gets the rate that all flows of the
/// set could have at once, which is the least that max-min fairness may give it, and the others share what it leaves.
constexpr std::uint64_t kMostFlowsApart = 4000;

/// Rates closer than this are one rate after sums in another order.
constexpr double kTie = 1e-12;

bool is_collective(CommKind comm) {
    return comm != CommKind::kSend && comm != CommKind::kReceive && comm != CommKind::kNone;
}

std::span<const AlgorithmRule> rules_of(const Stack& stack, CommKind comm) {
    switch (comm) {
        case CommKind::kAllReduce: return stack.all_reduce;
        case CommKind::kReduceScatter: return stack.reduce_scatter;
        case CommKind::kAllGather: return stack.all_gather;
        case CommKind::kAllToAll: return stack.all_to_all;
        case CommKind::kBroadcast: return stack.broadcast;
        default: return {};
    }
}

}  // namespace

struct Network::Impl {
    /// Groups of a kind in a stage at one level, and how they lie.
    struct PlacedGroups {
        GroupSet groups;
        GroupForm form;
        PatternKey same_as{};  ///< kind, stage and level under which the very same ranks were met first
    };

    Impl(const Machine& machine, const Stack& given_stack, const Layout& given_layout)
        : layout(given_layout),
          stack(given_stack),
          fabric(machine, stack, layout),
          builder(fabric, stack.scale_up_message_s, stack.scale_out_message_s),
          outer_message{stack.scale_out_message_s + machine.node.nic_latency_s,
                        std::min(transport_bytes_per_s(machine.node, stack),
                                 machine.node.nic_bytes_per_s * stack.scale_out_efficiency)} {
        total.assign(fabric.link_count(), 0);
    }

    const PlacedGroups& groups_at(GroupKind kind, int stage, Level level);
    PatternId pattern_id(const PatternKey& asked);
    PatternKey first_with(const GroupSet& groups, const PatternKey& place);
    Transfer play(CommKind comm, CollectiveAlgorithm algorithm, GroupKind group, int stage, double bytes, double scale);
    CollectiveAlgorithm fastest(CommKind comm, GroupKind group, double bytes, double scale);
    [[nodiscard]] double solo_time_s(const Transfer& transfer) const;

    bool do_overlap(PatternId a, PatternId b);
    const std::vector<double>& rates_of_sorted(std::span<const PatternId> set);
    std::vector<double> solve(std::span<const PatternId> set);
    std::vector<double> solve_connected(std::span<const PatternId> set);
    std::vector<double> solve_apart(std::span<const PatternId> set, std::span<const double> at_once);

    Layout layout;
    Stack stack;
    Fabric fabric;
    PatternBuilder builder;
    MessageCost outer_message;
    std::vector<double> total;  ///< by link, scratch: zero between calls

    std::map<std::tuple<GroupKind, int, Level>, PlacedGroups> placed;
    std::map<std::uint64_t, PatternKey> first_by_hash;
    std::map<PatternKey, PatternId> id_of_key;
    std::vector<FlowPattern> patterns;
    std::map<std::tuple<CommKind, GroupKind, double, double>, CollectiveAlgorithm> chosen;

    std::vector<std::vector<signed char>> overlaps;  ///< [larger id][smaller id]: -1 not yet known
    std::map<Ids, std::vector<double>, ByContent> remembered;
    Ids last_active, sorted;
    std::vector<double> answer;
    std::size_t solved = 0;
};

/// Kinds of groups often coincide (experts' replicas and the outer level of dense ones): then they share their
/// patterns.
PatternKey Network::Impl::first_with(const GroupSet& groups, const PatternKey& place) {
    std::uint64_t hash = groups.count();
    for (const int rank : groups.ranks) {
        hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(rank);
    }
    const PatternKey& first = first_by_hash.try_emplace(hash, place).first->second;
    if (first == place) {
        return place;
    }
    const GroupSet& known = placed.at({first.group, first.stage, first.level}).groups;
    return known.ranks == groups.ranks && known.begin == groups.begin ? first : place;
}

const Network::Impl::PlacedGroups& Network::Impl::groups_at(GroupKind kind, int stage, Level level) {
    const auto key = std::tuple(kind, stage, level);
    if (const auto found = placed.find(key); found != placed.end()) {
        return found->second;
    }
    PlacedGroups made;
    if (level == Level::kFlat) {
        made.groups = flatten(groups_of(layout, kind, stage));
        made.form = form_of(made.groups, fabric.tiles_per_node());
    } else {
        const PlacedGroups& whole = groups_at(kind, stage, Level::kFlat);
        made.groups = subgroups(whole.groups, level, fabric.tiles_per_node());
        made.form = whole.form;
    }
    made.same_as = first_with(made.groups, {kind, stage, level, StepShape::kShift, 1});
    return placed.emplace(key, std::move(made)).first->second;
}

PatternId Network::Impl::pattern_id(const PatternKey& asked) {
    PatternKey key = groups_at(asked.group, asked.stage, asked.level).same_as;
    key.shape = asked.shape;
    key.distance = asked.distance;
    const auto [found, is_new] = id_of_key.try_emplace(key, static_cast<PatternId>(patterns.size()));
    if (is_new) {
        patterns.push_back(builder.build(key, groups_at(key.group, key.stage, key.level).groups));
        overlaps.emplace_back(patterns.size(), static_cast<signed char>(-1));
    }
    return found->second;
}

Transfer Network::Impl::play(CommKind comm, CollectiveAlgorithm algorithm, GroupKind group, int stage, double bytes,
                             double scale) {
    const GroupForm form = groups_at(group, stage, Level::kFlat).form;
    const CollectivePhases phases = phases_of(comm, algorithm, form, bytes, outer_message);
    Transfer transfer;
    transfer.algorithm = phases.algorithm;
    for (const Step& step : phases.steps) {
        const PatternId id = pattern_id({group, stage, step.level, step.shape, step.distance});
        const FlowPattern& pattern = patterns[id];
        const double sent = step.bytes * step.rounds;
        // Half of the ranks that a set of pairs names are senders.
        const double senders = static_cast<double>(pattern.ranks) / (step.shape == StepShape::kPairs ? 2 : 1);
        transfer.bytes_sent += sent * static_cast<double>(pattern.flows) / senders;
        transfer.rounds += step.rounds;
        transfer.leaves_node = transfer.leaves_node || pattern.leaves_node;
        if (!transfer.phases.empty() && transfer.phases.back().pattern == id) {
            transfer.phases.back().latency_s += pattern.alpha_s * step.rounds;
            transfer.phases.back().bytes += sent * scale;
        } else {
            transfer.phases.push_back({pattern.alpha_s * step.rounds, sent * scale, id});
        }
    }
    if (!transfer.phases.empty() && is_collective(comm)) {
        transfer.phases.front().latency_s += stack.collective_launch_s;
    }
    return transfer;
}

/// A library chooses by size and by the shape of the group, not by the place of a stage: the first stage decides for
/// all.
CollectiveAlgorithm Network::Impl::fastest(CommKind comm, GroupKind group, double bytes, double scale) {
    const auto [found, is_new] = chosen.try_emplace(std::tuple(comm, group, bytes, scale), CollectiveAlgorithm::kRing);
    if (is_new) {
        double least_s = std::numeric_limits<double>::infinity();
        for (const CollectiveAlgorithm candidate : candidates(comm, groups_at(group, 0, Level::kFlat).form)) {
            const double time_s = solo_time_s(play(comm, candidate, group, 0, bytes, scale));
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

bool Network::Impl::do_overlap(PatternId a, PatternId b) {
    signed char& known = overlaps[std::max(a, b)][std::min(a, b)];
    if (known < 0) {
        known = overlap(patterns[a], patterns[b]) ? 1 : 0;
    }
    return known != 0;
}

const std::vector<double>& Network::Impl::rates_of_sorted(std::span<const PatternId> set) {
    if (const auto found = remembered.find(set); found != remembered.end()) {
        return found->second;
    }
    return remembered.emplace(Ids(set.begin(), set.end()), solve(set)).first->second;
}

/// Splits the set into parts that share no link; a part is remembered by itself, for it comes again beside other parts.
std::vector<double> Network::Impl::solve(std::span<const PatternId> set) {
    std::vector<double> rates(set.size(), 0);
    std::vector<char> done(set.size(), 0);
    for (std::size_t first = 0; first < set.size(); ++first) {
        if (done[first] != 0) {
            continue;
        }
        std::vector<std::size_t> part{first};
        done[first] = 1;
        for (std::size_t next = 0; next < part.size(); ++next) {
            for (std::size_t i = first + 1; i < set.size(); ++i) {
                if (done[i] == 0 && do_overlap(set[part[next]], set[i])) {
                    done[i] = 1;
                    part.push_back(i);
                }
            }
        }
        std::sort(part.begin(), part.end());
        Ids members;
        for (const std::size_t i : part) {
            members.push_back(set[i]);
        }
        const std::vector<double> found =
            part.size() == set.size() ? solve_connected(members) : rates_of_sorted(members);
        for (std::size_t i = 0; i < part.size(); ++i) {
            rates[part[i]] = found[i];
        }
    }
    return rates;
}

/// Every flow can have the rate at which no link of its pattern overflows if all flows of the set have it ("at once").
/// That is what max-min gives when it is the least in the set, for then such a link fills first, and when it is the
/// solo rate, for no company makes a pattern faster. Otherwise flows have to be told apart.
std::vector<double> Network::Impl::solve_connected(std::span<const PatternId> set) {
    if (set.size() == 1) {
        return {patterns[set.front()].solo_rate};
    }
    ++solved;
    for (const PatternId id : set) {
        for (const LinkLoad& on : patterns[id].loads) {
            total[on.link] += on.load;
        }
    }
    const std::span<const double> capacities = fabric.capacities_bytes_per_s();
    std::vector<double> at_once;
    for (const PatternId id : set) {
        double rate = std::numeric_limits<double>::infinity();
        for (const LinkLoad& on : patterns[id].loads) {
            rate = std::min(rate, capacities[on.link] / total[on.link]);
        }
        at_once.push_back(rate);
    }
    for (const PatternId id : set) {
        for (const LinkLoad& on : patterns[id].loads) {
            total[on.link] = 0;
        }
    }
    const double least = *std::min_element(at_once.begin(), at_once.end());
    bool is_enough = true;
    for (std::size_t i = 0; i < set.size(); ++i) {
        is_enough =
            is_enough && (at_once[i] <= least * (1 + kTie) || at_once[i] >= patterns[set[i]].solo_rate * (1 - kTie));
    }
    return is_enough ? at_once : solve_apart(set, at_once);
}

std::vector<double> Network::Impl::solve_apart(std::span<const PatternId> set, std::span<const double> at_once) {
    FlowSet flows;
    std::vector<double> rates(set.size(), std::numeric_limits<double>::infinity());
    std::vector<double> left(fabric.capacities_bytes_per_s().begin(), fabric.capacities_bytes_per_s().end());
    for (std::size_t i = 0; i < set.size(); ++i) {
        const FlowPattern& pattern = patterns[set[i]];
        if (pattern.flows > kMostFlowsApart) {
            rates[i] = at_once[i];
            for (const LinkLoad& on : pattern.loads) {
                left[on.link] = std::max(0.0, left[on.link] - on.load * at_once[i]);
            }
        } else {
            const PatternKey& key = pattern.key;
            append_flows(fabric, key, groups_at(key.group, key.stage, key.level).groups, static_cast<std::uint32_t>(i),
                         flows);
        }
    }
    const FoldedFlows folded = fold(flows, left);
    const std::vector<double> class_rates = max_min_rates(folded.capacities, folded.classes);
    for (std::size_t f = 0; f < flows.count(); ++f) {
        double& rate = rates[flows.owner[f]];
        rate = std::min(rate, class_rates[folded.class_of_flow[f]]);
    }
    return rates;
}

Network::Network(const Machine& machine, const Stack& stack, const Layout& layout)
    : impl_(std::make_unique<Impl>(machine, stack, layout)) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;

Transfer Network::unroll(CommKind comm, GroupKind group, int stage, double bytes, double scale) {
    AUSPEX_CHECK(bytes >= 0 && scale > 0, "bytes are not negative");
    if (comm == CommKind::kNone || comm == CommKind::kReceive) {
        return {};
    }
    if (group == GroupKind::kWorld) {
        stage = 0;
    }
    if (impl_->groups_at(group, stage, Level::kFlat).form.ranks == 1) {
        return {};
    }
    CollectiveAlgorithm algorithm = algorithm_by_rule(rules_of(impl_->stack, comm), bytes);
    if (comm == CommKind::kSend || comm == CommKind::kBarrier) {
        algorithm = CollectiveAlgorithm::kDirect;
    } else if (algorithm == CollectiveAlgorithm::kAuto) {
        algorithm = impl_->fastest(comm, group, bytes, scale);
    }
    return impl_->play(comm, algorithm, group, stage, bytes, scale);
}

std::span<const double> Network::rates(std::span<const PatternId> active) {
    Impl& n = *impl_;
    if (std::equal(active.begin(), active.end(), n.last_active.begin(), n.last_active.end())) {
        return n.answer;
    }
    n.last_active.assign(active.begin(), active.end());
    n.sorted.assign(active.begin(), active.end());
    std::sort(n.sorted.begin(), n.sorted.end());
    const std::vector<double>& of_sorted = n.rates_of_sorted(n.sorted);
    n.answer.clear();
    for (const PatternId id : active) {
        const auto place = std::lower_bound(n.sorted.begin(), n.sorted.end(), id) - n.sorted.begin();
        n.answer.push_back(of_sorted[static_cast<std::size_t>(place)]);
    }
    return n.answer;
}

double Network::solo_rate(PatternId pattern) { return impl_->patterns[pattern].solo_rate; }

double Network::solo_time_s(const Transfer& transfer) { return impl_->solo_time_s(transfer); }

bool Network::is_disjoint(PatternId pattern, std::span<const PatternId> others) const {
    return std::none_of(others.begin(), others.end(),
                        [&](PatternId other) { return other != pattern && impl_->do_overlap(pattern, other); });
}

LinkKind Network::bottleneck(PatternId pattern) { return impl_->fabric.kind(impl_->patterns[pattern].bottleneck); }
const Fabric& Network::fabric() const { return impl_->fabric; }
std::size_t Network::pattern_count() const { return impl_->patterns.size(); }
std::size_t Network::sets_solved() const { return impl_->solved; }

}  // namespace auspex
