/// @file Unrolling by group, and who can meet whom on a link.
#include "sim/engine/cost_transfers.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "models/routing.hpp"
#include "schedule/program/block_builder.hpp"
#include "schedule/step_length.hpp"
#include "sim/network/use/expected_noise.hpp"

namespace auspex::engine {
namespace {

/// Solo rate of a pattern, and the slowed link that bounds it if there is one.
struct Bound {
    double rate;
    std::uint32_t link = kNone;
};

Bound slowed_bound(const network::Network& network, network::PatternId pattern, std::span<const double> factors) {
    Bound bound{network.solo_rate(pattern)};
    if (!factors.empty()) {
        for (const network::LinkLoad& on : network.loads(pattern)) {
            const double rate = slowed_capacity(network.fabric(), on.link, factors) / on.load;
            if (factors[on.link] < 1 && rate < bound.rate) {
                bound = {rate, on.link};
            }
        }
    }
    return bound;
}

}  // namespace

bool is_shard(const schedule::Operation& op) {
    return op.stream == schedule::Stream::kDp &&
           (op.comm == schedule::CommKind::kReduceScatter || op.comm == schedule::CommKind::kAllGather);
}

double slowed_capacity(const network::Fabric& fabric, std::uint32_t link, std::span<const double> factors) {
    return fabric.capacity_bytes_per_s(link) * (factors.empty() ? 1 : factors[link]);
}

double slowed_solo_rate(const network::Network& network, network::PatternId pattern, std::span<const double> factors) {
    return slowed_bound(network, pattern, factors).rate;
}

std::uint32_t slowed_bottleneck(const network::Network& network, network::PatternId pattern,
                                std::span<const double> factors) {
    return slowed_bound(network, pattern, factors).link;
}

TransferCosts::TransferCosts(const schedule::Program& program, const models::Machine& machine,
                             const models::Stack& stack, const models::Layout& layout, network::Network& network,
                             const models::RoutingLoad& load, Grain grain, std::span<const double> link_factors)
    : program_(program),
      machine_(machine),
      stack_(stack),
      layout_(layout),
      network_(network),
      load_(load),
      grain_(grain),
      link_factors_(link_factors),
      serial_(!program.overlap_tp && !program.overlap_ep && !program.overlap_dp && !program.overlap_cp &&
              !program.offloads) {}

std::uint32_t TransferCosts::index_of(const schedule::Operation& op, int stage) {
    const auto key =
        std::make_tuple(op.comm, op.group, stage, op.stream, op.bytes, op.repeat, scale_of(op), shares_of(op));
    const auto [found, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(transfers_.size()));
    if (is_new) {
        transfers_.push_back(unroll(op, stage));
        uses_.push_back({op.comm, op.group, stage, op.stream});
    }
    return found->second;
}

CostedTransfer TransferCosts::unroll(const schedule::Operation& op, int stage) {
    CostedTransfer out;
    if (grain_ == Grain::kStages || is_world(op)) {
        append(out, op, stage, network::kAllSiblings);
        return out;
    }
    const auto groups = static_cast<int>(network_.sibling_count(op.group, stage));
    for (int member = 0; member < groups; ++member) {
        append(out, op, stage, member);
    }
    return out;
}

/// Of rows by node no more than all tokens of the group reach the busiest rank.
double TransferCosts::scale_of(const schedule::Operation& op) const {
    const double heaviest = op.routed ? load_.heaviest_rank_of(op.layer) : 1;
    if (!op.routed || !network::moves_rows(op.comm)) {
        return heaviest;
    }
    const int ranks = group_size(layout_, op.group);
    return std::min(heaviest, ranks / mean_parts_reached(load_.spread, ranks));
}

int TransferCosts::shares_of(const schedule::Operation& op) {
    if (!op.routed || load_.is_even() || load_.heaviest_rank_of(op.layer) == 1) {
        return 0;
    }
    const auto [found, is_new] = shares_.try_emplace(load_.layers.empty() ? 0 : op.layer, 0);
    if (is_new) {
        found->second = network_.number_of_shares(load_.by_rank_of(op.layer));
    }
    return found->second;
}

void TransferCosts::append(CostedTransfer& out, const schedule::Operation& op, int stage, int member) {
    const double scale = scale_of(op);
    const network::Transfer transfer =
        network_.unroll(op.comm, op.group, stage, op.bytes, scale, member, shares_of(op));
    CostedTransfer::Member& costed = out.members.emplace_back();
    costed.phase_begin = static_cast<std::uint32_t>(out.phases.size());
    const double longer = is_shard(op) && transfer.leaves_node ? 1 / stack_.shard_efficiency : 1;
    for (network::TransferPhase phase : transfer.phases) {
        phase.latency_s *= op.repeat;
        phase.reduction_s *= op.repeat;
        phase.bytes *= op.repeat * longer;
        out.phases.push_back(phase);
    }
    costed.phase_end = static_cast<std::uint32_t>(out.phases.size());
    costed.solo_time = solo_time(std::span(out.phases).subspan(costed.phase_begin));
    if (costed.solo_time >= kLongestTime) {
        schedule::refuse_long_step(schedule::operation_name(operation_name_index(op.kind, op.phase)) + " of stage " +
                                   std::to_string(stage));
    }
    note_slow_links(costed, std::span(out.phases).subspan(costed.phase_begin));
    if (op.routed && load_.heaviest_rank_of(op.layer) > 1) {
        costed.imbalance = std::max<Picoseconds>(0, costed.solo_time - even_time(op, stage, member));
    }
    costed.jitter = network::jitter_of_rounds(machine_.noise, transfer.rounds, transfer.leaves_node);
}

Picoseconds TransferCosts::solo_time(std::span<const network::TransferPhase> phases) const {
    Picoseconds time = 0;
    for (const network::TransferPhase& phase : phases) {
        time = sum_of_times(time, to_picoseconds(phase.latency_s));
        time = sum_of_times(time, to_picoseconds_up(phase.bytes / solo_rate(phase.pattern)));
    }
    return time;
}

void TransferCosts::note_slow_links(CostedTransfer::Member& member,
                                    std::span<const network::TransferPhase> phases) const {
    Picoseconds most = 0;
    for (const network::TransferPhase& phase : phases) {
        const std::uint32_t link = slowed_bottleneck(network_, phase.pattern, link_factors_);
        if (link != kNone) {
            const Picoseconds added = to_picoseconds_up(phase.bytes / solo_rate(phase.pattern)) -
                                      to_picoseconds_up(phase.bytes / network_.solo_rate(phase.pattern));
            member.slow_link_time += added;
            if (added > most) {
                most = added;
                member.slow_link = link;
            }
        }
    }
}

Picoseconds TransferCosts::even_time(const schedule::Operation& op, int stage, int member) {
    if (!even_) {
        even_.emplace(machine_, stack_, layout_);
        models::RoutingLoad even;
        even.spread = load_.spread;
        even_->set_routing(even);
    }
    return even_->solo_duration(even_->unroll(op.comm, op.group, stage, op.bytes, 1, member), op.repeat);
}

void TransferCosts::decide_sharing() {
    if (grain_ == Grain::kStages) {
        decide_by_stage();
    } else {
        decide_by_link();
    }
}

void TransferCosts::decide_by_stage() {
    std::vector<std::vector<network::PatternId>> by_stage(program_.roles.size());
    std::set<std::tuple<int, network::PatternId, schedule::Stream>>
        streams;  // kinds of groups with the same ranks have the same patterns
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
        if (uses_[t].group != models::GroupKind::kWorld) {
            auto& list = by_stage[static_cast<std::size_t>(uses_[t].stage)];
            for (const network::TransferPhase& phase : transfers_[t].phases) {
                list.push_back(phase.pattern);
                streams.emplace(uses_[t].stage, phase.pattern, uses_[t].stream);
            }
        }
    }
    for (auto& list : by_stage) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    const auto is_on_other_stream = [&](const Use& use, network::PatternId pattern) {
        const auto first = streams.lower_bound({use.stage, pattern, schedule::Stream::kCompute});
        const auto end = streams.lower_bound({use.stage, pattern + 1, schedule::Stream::kCompute});
        return std::any_of(first, end, [&](const auto& user) {
            const schedule::Stream other = std::get<schedule::Stream>(user);
            return other != use.stream && (!serial_ || other == schedule::Stream::kPp);
        });
    };
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
        const Use& use = uses_[t];
        const auto meets_others = [&](const network::TransferPhase& phase) {
            for (std::size_t other = 0; other < by_stage.size(); ++other) {
                const bool own = static_cast<int>(other) == use.stage;
                const bool blocks = own && serial_ && !program_.overlap_pp;
                if (!blocks && (!network_.is_disjoint(phase.pattern, by_stage[other]) ||
                                (own && is_on_other_stream(use, phase.pattern)))) {
                    return true;
                }
            }
            return false;
        };
        const bool can_meet = program_.roles.size() == 1 ? !serial_
                                                         : use.stream == schedule::Stream::kPp ||
                                                               std::any_of(transfers_[t].phases.begin(),
                                                                           transfers_[t].phases.end(), meets_others);
        transfers_[t].members.front().shares_links =
            use.group != models::GroupKind::kWorld && !transfers_[t].phases.empty() && can_meet;
    }
}

/// By link, the lanes of ranks that all its users have in common. A rank runs one communication of a lane at a time.
struct TransferCosts::Sets {
    static constexpr std::uint32_t kUnused = kNone - 1;
    struct Common {
        std::uint32_t set = kUnused;  ///< kNone: no common lane
    };
    network::SparseLinks<Common> common;
    std::vector<std::vector<int>> sets;
    std::unordered_map<std::uint64_t, std::uint32_t> intersections;

    std::uint32_t add(std::vector<int> ranks, std::size_t lane) {
        for (int& rank : ranks) {
            rank = rank * static_cast<int>(schedule::kStreamCount) + static_cast<int>(lane);
        }
        std::sort(ranks.begin(), ranks.end());
        sets.push_back(std::move(ranks));
        return static_cast<std::uint32_t>(sets.size() - 1);
    }
    /// `set` kNone: no rank waits for the end.
    void use(std::uint32_t link, std::uint32_t set) {
        std::uint32_t& now = common[link].set;
        if (now == kUnused || set == kNone) {
            now = set;
        } else if (now != kNone && now != set) {
            now = intersect(now, set);
        }
    }
    std::uint32_t intersect(std::uint32_t a, std::uint32_t b) {
        const auto [found, is_new] = intersections.try_emplace(std::uint64_t{a} << 32U | b, kNone);
        if (is_new) {
            std::vector<int> both;
            std::set_intersection(sets[a].begin(), sets[a].end(), sets[b].begin(), sets[b].end(),
                                  std::back_inserter(both));
            if (both.size() == sets[a].size()) {
                found->second = a;
            } else if (!both.empty()) {
                sets.push_back(std::move(both));
                found->second = static_cast<std::uint32_t>(sets.size() - 1);
            }
        }
        return found->second;
    }
};

/// What does not overlap blocks everything else of that kind: one lane for all.
std::size_t TransferCosts::lane_of(const Use& use) const {
    return overlaps(program_, use.stream) ? static_cast<std::size_t>(use.stream) : 0;
}

/// By link, load x solo rate summed over all patterns, in bytes/s: once for each lane in which it may be active.
network::SparseLinks<double> TransferCosts::wanted_by_link() const {
    network::SparseLinks<double> wanted(network_.fabric().link_count());
    std::vector<std::uint8_t> lanes(network_.pattern_count(), 0);
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
        const auto lane = static_cast<std::uint8_t>(1U << lane_of(uses_[t]));
        for (const network::TransferPhase& phase : transfers_[t].phases) {
            if ((lanes[phase.pattern] & lane) != 0) {
                continue;
            }
            lanes[phase.pattern] |= lane;
            const double rate = solo_rate(phase.pattern);
            for (const network::LinkLoad& on : network_.loads(phase.pattern)) {
                wanted[on.link] += on.load * rate;
            }
        }
    }
    return wanted;
}

void TransferCosts::note_links(Sets& sets, std::size_t t, const network::SparseLinks<double>& wanted) const {
    const CostedTransfer& transfer = transfers_[t];
    const bool is_async = uses_[t].stream == schedule::Stream::kPp && program_.overlap_pp;
    std::vector<std::vector<int>> groups = groups_of(layout_, uses_[t].group, uses_[t].stage);
    for (std::size_t m = 0; m < transfer.members.size(); ++m) {
        if (uses_[t].comm == schedule::CommKind::kSend) {
            groups[m].resize(1);  // the receiver does not wait
        }
        const std::uint32_t set = is_async ? kNone : sets.add(std::move(groups[m]), lane_of(uses_[t]));
        for (std::uint32_t p = transfer.members[m].phase_begin; p < transfer.members[m].phase_end; ++p) {
            for (const network::LinkLoad& on : network_.loads(transfer.phases[p].pattern)) {
                if (network::is_contended(wanted.at(on.link),
                                          slowed_capacity(network_.fabric(), on.link, link_factors_))) {
                    sets.use(on.link, set);
                }
            }
        }
    }
}

void TransferCosts::decide_by_link() {
    const network::SparseLinks<double> wanted = wanted_by_link();
    Sets sets{network::SparseLinks<Sets::Common>(network_.fabric().link_count()), {}, {}};
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
        if (uses_[t].group != models::GroupKind::kWorld) {
            note_links(sets, t, wanted);
        }
    }
    const auto is_met = [](const Sets::Common& common) { return common.set == kNone; };
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
        CostedTransfer& transfer = transfers_[t];
        for (CostedTransfer::Member& member : transfer.members) {
            const auto phases =
                std::span(transfer.phases).subspan(member.phase_begin, member.phase_end - member.phase_begin);
            const auto meets_others = [&](const network::TransferPhase& phase) {
                const network::PatternLoads& loads = network_.loads(phase.pattern);
                return std::any_of(loads.begin(), loads.end(),
                                   [&](const network::LinkLoad& on) { return is_met(sets.common.at(on.link)); });
            };
            member.shares_links =
                uses_[t].group != models::GroupKind::kWorld && !phases.empty() &&
                (uses_[t].stream == schedule::Stream::kPp || std::any_of(phases.begin(), phases.end(), meets_others));
        }
    }
    sets.common.drain([&](std::uint32_t link, const Sets::Common& common) {
        if (is_met(common)) {
            shared_links_.push_back(link);
        }
    });
}

}  // namespace auspex::engine
