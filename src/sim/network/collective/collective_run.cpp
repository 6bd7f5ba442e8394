/// @file Lays a collective's groups on a machine and times it phase by phase.
#include "sim/network/collective/collective_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace auspex::network {
namespace {

Transfer unroll(Network& network, const CollectiveJob& job, AlgorithmChoice choice, double bytes) {
    const double heaviest = job.shares.empty() ? 1 : job.shares.front();
    return network.unroll_as(choice, job.comm, kJobGroups, 0, bytes, heaviest, job.alone ? 0 : kAllSiblings);
}

CollectivePhase phase_of(const Network& network, const TransferPhase& phase) {
    const double rate = network.solo_rate(phase.pattern), flow_s = phase.bytes / rate;
    const double latency_s = phase.latency_s - phase.reduction_s;
    const char* bottleneck = to_string(network.fabric().kind(network.bottleneck(phase.pattern)));
    if (std::max(latency_s, phase.reduction_s) > flow_s) {
        bottleneck = latency_s >= phase.reduction_s ? "latency" : "reduction";
    }
    return {phase.what, phase.rounds, latency_s, phase.reduction_s, phase.bytes, rate, phase.latency_s + flow_s,
            bottleneck};
}

/// Many short phases may outweigh the longest one.
std::string bottleneck_of(const std::vector<CollectivePhase>& phases) {
    std::vector<std::pair<std::string, double>> sums;
    for (const CollectivePhase& phase : phases) {
        const auto known =
            std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == phase.bottleneck; });
        (known != sums.end() ? *known : sums.emplace_back(phase.bottleneck, 0)).second += phase.time_s;
    }
    const auto largest =
        std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return largest == sums.end() ? "" : largest->first;
}

bool is_large_exchange(const CollectiveJob& job, AlgorithmChoice choice, const GroupForm& form) {
    const bool exchanges =
        choice.algorithm == models::CollectiveAlgorithm::kPairwise ||
        (choice.algorithm == models::CollectiveAlgorithm::kDirect && job.comm != schedule::CommKind::kBroadcast);
    const int members = choice.levels == 1 ? form.ranks : choice.levels == 2 ? form.nodes : form.blocks;
    return exchanges && members > kMaxMembersOfExchange;
}

/// `chosen` is among them whatever it is; kAuto, which has to know them all, leaves none out.
std::vector<CollectiveTime> alternatives_to(Network& network, const models::Layout& layout, const CollectiveJob& job,
                                            AlgorithmChoice chosen, double bytes) {
    const GroupForm form = form_of_job(network, layout);
    std::vector<CollectiveTime> found;
    for (const AlgorithmChoice candidate : candidates(job.comm, form, 0)) {
        if (candidate == chosen || chosen.algorithm == models::CollectiveAlgorithm::kAuto ||
            !is_large_exchange(job, candidate, form)) {
            found.push_back({candidate, network.solo_time_s(unroll(network, job, candidate, bytes))});
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const CollectiveTime& a, const CollectiveTime& b) { return a.time_s < b.time_s; });
    return found;
}

}  // namespace

std::string bottleneck_of(const Network& network, const Transfer& transfer) {
    std::vector<CollectivePhase> phases;
    for (const TransferPhase& phase : transfer.phases) {
        phases.push_back(phase_of(network, phase));
    }
    return bottleneck_of(phases);
}

std::vector<double> zipf_shares(int count, double exponent) {
    std::vector<double> shares;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        shares.push_back(std::pow(i + 1.0, -exponent));
        sum += shares.back();
    }
    for (double& share : shares) {
        share *= count / sum;
    }
    return shares;
}

models::Layout layout_of_job(const CollectiveJob& job, const models::Machine& machine) {
    const int block = job.group_size * job.stride;
    AUSPEX_CHECK(block > 0 && job.ranks > 0 && job.ranks % block == 0, "groups divide the ranks");
    models::Plan plan;
    plan.file = "placement of the collective";
    plan.dp = job.ranks / block;
    plan.ep = job.group_size;
    plan.etp = job.stride;
    plan.placement = job.placement;
    plan.placement_nodes = job.placement_nodes;
    plan.placement_seed = job.placement_seed;
    return make_layout(plan, machine, job.ranks);
}

GroupForm form_of_job(const Network& network, const models::Layout& layout) {
    return form_of(flatten(groups_of(layout, kJobGroups, 0)), network.fabric());
}

double bus_factor(schedule::CommKind comm, int n) {
    const double others = (n - 1.0) / n;
    switch (comm) {
        case schedule::CommKind::kAllReduce: return 2 * others;
        case schedule::CommKind::kReduceScatter:
        case schedule::CommKind::kAllGather:
        case schedule::CommKind::kAllToAll: return others;
        case schedule::CommKind::kBroadcast: return 1;
        default: return 0;
    }
}

CollectiveResult time_collective(Network& network, const models::Layout& layout, const CollectiveJob& job,
                                 AlgorithmChoice choice, double bytes) {
    CollectiveResult result;
    network.set_routing_shares(job.shares);
    if (job.alone) {
        network.let_groups_act_alone();
    }
    result.bytes = bytes;
    const bool chooses = choice.algorithm == models::CollectiveAlgorithm::kAuto;
    Transfer transfer = chooses ? Transfer{} : unroll(network, job, choice, bytes);
    result.alternatives = alternatives_to(network, layout, job, transfer.choice, bytes);
    if (chooses) {
        const std::vector<AlgorithmChoice> allowed = candidates(job.comm, form_of_job(network, layout), choice.levels);
        const auto fastest =
            std::find_if(result.alternatives.begin(), result.alternatives.end(), [&](const CollectiveTime& time) {
                return std::find(allowed.begin(), allowed.end(), time.choice) != allowed.end();
            });
        AUSPEX_CHECK(fastest != result.alternatives.end(), "the candidates of all levels hold those of one");
        transfer = unroll(network, job, fastest->choice, bytes);
    }
    result.choice = transfer.choice;
    result.time_s = network.solo_time_s(transfer);
    for (const TransferPhase& phase : transfer.phases) {
        result.phases.push_back(phase_of(network, phase));
    }
    result.bottleneck = bottleneck_of(result.phases);
    if (result.time_s > 0) {
        result.bytes_per_s = bytes / result.time_s;
        result.bus_bytes_per_s = result.bytes_per_s * bus_factor(job.comm, job.group_size);
    }
    return result;
}

}  // namespace auspex::network
