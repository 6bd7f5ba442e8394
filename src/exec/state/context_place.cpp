/// @file Rows of queries and keys by position.
#include "exec/state/context_place.hpp"

#include <algorithm>
#include <utility>

namespace auspex::exec {
namespace {

struct PlacedRow {
    std::uint32_t position, row;
};

/// Of a sequence's tokens on `count` ranks of cp from `first` on, each with `tokens` rows of all sequences.
std::vector<PlacedRow> rows_by_position(int sequence, int cp, std::size_t first, std::size_t count,
                                        std::size_t tokens) {
    std::vector<PlacedRow> rows;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t row = i * tokens;
        for (const std::int64_t position :
             models::tokens_of(models::dealt_positions(sequence, cp, static_cast<int>(first + i)))) {
            rows.push_back({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(row++)});
        }
    }
    std::ranges::sort(rows, {}, &PlacedRow::position);
    return rows;
}

AttendedRows attended(const std::vector<PlacedRow>& queries, const std::vector<PlacedRow>& keys, std::size_t next,
                      int window) {
    AttendedRows rows;
    rows.next_queries = rows.next_keys = next;
    for (const PlacedRow& query : queries) {
        rows.queries.push_back(query.row);
        const auto keys_up_to = [&](std::int64_t position) {
            const auto end = std::ranges::upper_bound(keys, position, {},
                                                      [](const PlacedRow& key) { return std::int64_t{key.position}; });
            return static_cast<std::uint32_t>(end - keys.begin());
        };
        rows.visible.push_back(keys_up_to(query.position));
        if (window > 0) {
            rows.passed.push_back(keys_up_to(std::int64_t{query.position} - window));
        }
    }
    for (const PlacedRow& key : keys) {
        rows.keys.push_back(key.row);
    }
    return rows;
}

}  // namespace

ContextPlace context_place(const models::Workload& workload, const models::Plan& plan, const RankShapes& shapes,
                           int cp_index) {
    const models::ContextSplit split = context_split(plan);
    ContextPlace place;
    place.cp = static_cast<std::size_t>(plan.cp), place.index = static_cast<std::size_t>(cp_index);
    place.runs = models::dealt_positions(workload.sequence_length, plan.cp, cp_index);
    if (plan.cp == 1) {
        return place;
    }
    place.all_to_all = static_cast<std::size_t>(split.all_to_all), place.ring = static_cast<std::size_t>(split.ring);
    for (const std::int64_t position : models::tokens_of(place.runs)) {
        place.positions.push_back(static_cast<std::uint32_t>(position));
    }
    const auto rows = [&](std::size_t first, std::size_t count) {
        return rows_by_position(workload.sequence_length, plan.cp, first, count, shapes.t);
    };
    const std::size_t next = place.positions.size();
    if (place.gathers()) {
        place.parts = {attended(rows(place.index, 1), rows(0, place.cp), next, workload.window)};
        return place;
    }
    const std::size_t in_ring = place.index / place.all_to_all;
    const std::vector<PlacedRow> queries = rows(in_ring * place.all_to_all, place.all_to_all);
    for (std::size_t j = 0; j < place.ring; ++j) {
        const std::size_t from = (in_ring + place.ring - j) % place.ring;
        place.parts.push_back(
            attended(queries, rows(from * place.all_to_all, place.all_to_all), next, workload.window));
    }
    return place;
}

}  // namespace auspex::exec
