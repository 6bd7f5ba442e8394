/// @file Who sends which part to whom, round by round.
#include "schedule/rounds/rounds.hpp"

#include "models/layout.hpp"

namespace auspex::schedule {
namespace {

/// Receives from every other member, in order, and sends to each, from the next one on, so that not all send to the
/// same one at once.
template <class Incoming, class Outgoing>
Round exchange_with_all(std::size_t members, std::size_t place, Incoming incoming, Outgoing outgoing) {
    Round round;
    for (std::size_t i = 0; i < members; ++i) {
        if (i != place) {
            round.receives.push_back({i, incoming(i)});
        }
    }
    for (std::size_t step = 1; step < members; ++step) {
        const std::size_t to = (place + step) % members;
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

Rounds reduce_scatter_rounds(std::size_t members, std::size_t place) {
    if (members == 1) {
        return {};
    }
    return {adding(exchange_with_all(
                       members, place, [place](std::size_t) { return place; }, [](std::size_t to) { return to; }),
                   place)};
}

Rounds all_reduce_rounds(std::size_t members, std::size_t place, double bytes, double gathered_bytes) {
    if (members == 1) {
        return {};
    }
    if (bytes <= gathered_bytes) {
        const auto all = [](std::size_t) { return kAllParts; };
        return {adding(exchange_with_all(members, place, all, all), kAllParts)};
    }
    Rounds rounds = reduce_scatter_rounds(members, place);
    rounds.push_back(exchange_with_all(
        members, place, [](std::size_t from) { return from; }, [place](std::size_t) { return place; }));
    return rounds;
}

Rounds all_gather_rounds(std::size_t members, std::size_t place) {
    Rounds rounds;
    const std::size_t next = (place + 1) % members, previous = (place + members - 1) % members;
    for (std::size_t i = 1; i < members; ++i) {
        Round round;
        round.receives = {{previous, (place + members - i) % members}};
        round.sends = {{next, (place + members + 1 - i) % members}};
        rounds.push_back(round);
    }
    return rounds;
}

Rounds all_to_all_rounds(std::size_t members, std::size_t place) {
    const auto part = [](std::size_t i) { return i; };
    Round round = exchange_with_all(members, place, part, part);
    round.copies_own_part = true;
    return {round};
}

Rounds barrier_rounds(std::size_t members, std::size_t place) {
    Rounds rounds;
    for (std::size_t distance = 1; distance < members; distance *= 2) {
        Round round;
        round.receives = {{(place + members - distance) % members, kAllParts}};
        round.sends = {{(place + distance) % members, kAllParts}};
        rounds.push_back(round);
    }
    return rounds;
}

std::vector<std::size_t> even_parts(std::size_t elements, std::size_t members, std::size_t together) {
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i <= members; ++i) {
        offsets.push_back(models::shard_begin(elements / together, i, members) * together);
    }
    return offsets;
}

}  // namespace auspex::schedule
