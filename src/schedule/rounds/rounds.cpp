/// @file Who sends which part to whom, round by round.
#include "schedule/rounds/rounds.hpp"

#include "models/layout.hpp"

namespace auspex::schedule {
namespace {

/// Receives from every other member, in order, and sends to each, from the next one on, so that not all send to the
/// same one at once.
template <class Incoming, class Outgoing>
Round exchange_with_all(std::size_t members, std::size_t group_rank, Incoming incoming, Outgoing outgoing) {
    Round round;
    for (std::size_t i = 0; i < members; ++i) {
        if (i != group_rank) {
            round.receives.push_back({i, incoming(i)});
        }
    }
    for (std::size_t step = 1; step < members; ++step) {
        const std::size_t to = (group_rank + step) % members;
        round.sends.push_back({to, outgoing(to)});
    }
    return round;
}

Round adding(Round round, std::size_t sum) {
    round.adds = true;
    round.sum = sum;
    return round;
}

}  // namespace

Rounds reduce_scatter_rounds(std::size_t members, std::size_t group_rank) {
    if (members == 1) {
        return {};
    }
    return {adding(
        exchange_with_all(
            members, group_rank, [group_rank](std::size_t) { return group_rank; }, [](std::size_t to) { return to; }),
        group_rank)};
}

Rounds all_reduce_rounds(std::size_t members, std::size_t group_rank, double bytes, double gathered_bytes) {
    if (members == 1) {
        return {};
    }
    if (bytes <= gathered_bytes) {
        const auto all = [](std::size_t) { return kAllParts; };
        return {adding(exchange_with_all(members, group_rank, all, all), kAllParts)};
    }
    Rounds rounds = reduce_scatter_rounds(members, group_rank);
    rounds.push_back(exchange_with_all(
        members, group_rank, [](std::size_t from) { return from; }, [group_rank](std::size_t) { return group_rank; }));
    return rounds;
}

Rounds all_gather_rounds(std::size_t members, std::size_t group_rank) {
    Rounds rounds;
    const std::size_t next = (group_rank + 1) % members, previous = (group_rank + members - 1) % members;
    for (std::size_t i = 1; i < members; ++i) {
        Round round;
        round.receives = {{previous, (group_rank + members - i) % members}};
        round.sends = {{next, (group_rank + members + 1 - i) % members}};
        rounds.push_back(round);
    }
    return rounds;
}

Rounds all_to_all_rounds(std::size_t members, std::size_t group_rank) {
    const auto part = [](std::size_t i) { return i; };
    Round round = exchange_with_all(members, group_rank, part, part);
    round.copies_own_part = true;
    return {round};
}

Rounds shift_rounds(std::size_t members, std::size_t group_rank) {
    if (members == 1) {
        return {};
    }
    Round round;
    round.receives = {{(group_rank + members - 1) % members, kAllParts}};
    round.sends = {{(group_rank + 1) % members, kAllParts}};
    return {round};
}

Rounds barrier_rounds(std::size_t members, std::size_t group_rank) {
    Rounds rounds;
    for (std::size_t distance = 1; distance < members; distance *= 2) {
        Round round;
        round.receives = {{(group_rank + members - distance) % members, kAllParts}};
        round.sends = {{(group_rank + distance) % members, kAllParts}};
        rounds.push_back(round);
    }
    return rounds;
}

std::vector<std::size_t> even_parts(std::size_t elements, std::size_t members, std::size_t elements_per_item) {
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i <= members; ++i) {
        offsets.push_back(models::shard_begin(elements / elements_per_item, i, members) * elements_per_item);
    }
    return offsets;
}

}  // namespace auspex::schedule
