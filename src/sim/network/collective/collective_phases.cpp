/// @file Levels of a collective: what is done inside nodes and groups of nodes, and between them.
#include "sim/network/collective/collective_phases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/error.hpp"

namespace auspex::network {
namespace {

using Algorithm = models::CollectiveAlgorithm;

/// What the members of an inner level do before the levels outside it.
CollectiveSteps before_outer(schedule::CommKind comm, const SubgroupSize& s) {
    switch (comm) {
        case schedule::CommKind::kAllReduce:
        case schedule::CommKind::kReduceScatter: return direct(s, StepPurpose::kReduceScatter);
        case schedule::CommKind::kAllToAll: return direct(s, StepPurpose::kAllToAll);
        case schedule::CommKind::kBroadcast:
            return {{s.level, StepShape::kRootToAll, 0, s.bytes / s.n, 1, 0, text_of(StepPurpose::kScatter, s.level)}};
        case schedule::CommKind::kBarrier: return barrier(s);
        default: return {};
    }
}

CollectiveSteps after_outer(schedule::CommKind comm, const SubgroupSize& s) {
    const bool gathers = comm == schedule::CommKind::kAllReduce || comm == schedule::CommKind::kAllGather ||
                         comm == schedule::CommKind::kBroadcast;
    return gathers ? direct(s, StepPurpose::kAllGather) : CollectiveSteps{};
}

/// The same where all buffers of the node lie in host memory.
CollectiveSteps before_outer_in_host(schedule::CommKind comm, const SubgroupSize& s) {
    switch (comm) {
        case schedule::CommKind::kAllReduce:
        case schedule::CommKind::kReduceScatter:
            return {
                {s.level, StepShape::kInHost, 0, summing(s.n, s.bytes / s.n), 1, 0, "reduce-scatter in host memory"}};
        case schedule::CommKind::kAllToAll:
            return {{s.level, StepShape::kInHost, 0, 2 * s.bytes, 1, 0, "all-to-all in host memory"}};
        default: return {};
    }
}

/// `whole`: of the whole group. An all-to-all hands everything on at every level; the others work on the part that fell
/// to a rank further inside.
CollectiveSteps all_levels(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form, double bytes,
                           bool in_host, Level whole, double tree_chunk_bytes) {
    if (choice.levels == 1) {
        return outermost(comm, choice.algorithm, {whole, form.ranks, bytes, tree_chunk_bytes}, form.per_node);
    }
    std::vector<SubgroupSize> inner;
    const auto go_inside = [&](Level level, int n) {
        if (n > 1) {
            inner.push_back({level, n, bytes});
            bytes /= comm == schedule::CommKind::kAllToAll ? 1 : n;
        }
    };
    go_inside(whole == Level::kByHost ? whole : Level::kIntraNode, form.per_node);
    SubgroupSize outer{Level::kInterNode, form.nodes, bytes, tree_chunk_bytes};
    if (choice.levels == 3) {
        go_inside(Level::kIntraBlock, form.per_block);
        outer = {Level::kInterBlock, form.blocks, bytes, tree_chunk_bytes};
    }
    CollectiveSteps steps;
    const auto is_in_host = [&](const SubgroupSize& s) { return in_host && s.level == Level::kIntraNode; };
    for (const SubgroupSize& s : inner) {
        append(steps, is_in_host(s) ? before_outer_in_host(comm, s) : before_outer(comm, s));
    }
    if (outer.n > 1) {
        append(steps, outermost(comm, choice.algorithm, outer, 1));
    }
    for (auto s = inner.rbegin(); s != inner.rend(); ++s) {
        append(steps, is_in_host(*s) ? CollectiveSteps{} : after_outer(comm, *s));
    }
    return steps;
}

/// What a rank sends and receives that must pass through the host.
CollectiveSteps staged_by_host(schedule::CommKind comm, const GroupForm& form, double bytes,
                               const CollectiveSteps& steps) {
    double sent = bytes, received = bytes;
    if (comm == schedule::CommKind::kAllGather) {
        sent = bytes / form.ranks;
    } else if (comm == schedule::CommKind::kReduceScatter) {
        received = bytes / form.ranks;
    } else if (comm == schedule::CommKind::kAllToAll || moves_rows(comm)) {
        sent = received = bytes * (form.ranks - 1) / form.ranks;
    }
    CollectiveSteps all{{Level::kFlat, StepShape::kToHost, 0, sent, 1, 0, "copy to the host"}};
    append(all, steps);
    all.push_back({Level::kFlat, StepShape::kFromHost, 0, received, 1, 0, "copy from the host"});
    return all;
}

}  // namespace

CollectivePhases phases_of(schedule::CommKind comm, AlgorithmChoice choice, const GroupForm& form, double bytes,
                           HostUse host, double tree_chunk_bytes, const models::TokenSpread& spread) {
    AUSPEX_CHECK(choice.algorithm != Algorithm::kAuto, "the choice of an algorithm needs rates and is the caller's");
    AUSPEX_CHECK(choice.levels >= 1 && choice.levels <= 3, "a named algorithm runs over one to three levels");
    if (is_host_copy(comm)) {
        const bool leaves = comm == schedule::CommKind::kToHost;
        return {{Algorithm::kDirect, 1},
                {{Level::kFlat, leaves ? StepShape::kToHost : StepShape::kFromHost, 0, bytes, 1, 0,
                  leaves ? "copy to the host" : "copy from the host"}}};
    }
    if (form.ranks == 1 || comm == schedule::CommKind::kNone || comm == schedule::CommKind::kReceive) {
        return {choice, {}};
    }
    if (has_one_way(comm)) {
        choice = {Algorithm::kDirect, 1};
    } else if (comm == schedule::CommKind::kBarrier) {
        choice = {Algorithm::kRecursiveDoubling, 2};
    }
    CollectivePhases phases;
    phases.choice = played(comm, choice, form);
    const bool has_bytes = comm != schedule::CommKind::kBarrier,
               by_host = host.messages && form.nodes == 1 && has_bytes;
    const bool staged = host.staging && (form.nodes > 1 || by_host) && has_bytes;
    phases.steps = moves_rows(comm) ? row_exchange(comm, form, bytes, spread)
                                    : all_levels(comm, phases.choice, form, bytes, staged,
                                                 by_host ? Level::kByHost : Level::kFlat, tree_chunk_bytes);
    if (staged) {
        phases.steps = staged_by_host(comm, form, bytes, phases.steps);
    }
    return phases;
}

}  // namespace auspex::network
