/// @file What a core does divided by how slow it was; memory left alone.
#include "compare/fit/cost_models/full_speed.hpp"

#include <algorithm>

#include "base/statistics/quantiles.hpp"
#include "models/core_speed.hpp"

namespace auspex::fit {
namespace {

bool is_of_core(const models::Measurement& row) {
    return row.kind == "message" || row.kind == "collective" || (row.kind == "kernel" && row.where == "cache") ||
           (row.kind == "host" && (row.name == "pass" || row.name == "turn"));
}

double typical_probe_s(const std::vector<models::Measurement>& rows, double full_speed_s) {
    std::vector<double> probes_s;
    for (const models::Measurement& row : rows) {
        if (models::probe_beside_s(row) > 0 && !models::is_slowed(row, full_speed_s)) {
            probes_s.push_back(models::probe_beside_s(row));
        }
    }
    return probes_s.empty() ? full_speed_s : median(probes_s);
}

}  // namespace

std::vector<models::Measurement> at_full_speed(std::vector<models::Measurement> rows) {
    const double full_speed_s = models::full_speed_probe_s(rows), typical_s = typical_probe_s(rows, full_speed_s);
    std::vector<models::Measurement*> slowed_from_memory;
    for (models::Measurement& row : rows) {
        if (!models::is_slowed(row, full_speed_s) || models::probe_beside_s(row) <= 0) {
            continue;
        }
        if (is_of_core(row)) {
            row.seconds *= typical_s / models::probe_beside_s(row);
        } else if (row.kind == "kernel") {
            slowed_from_memory.push_back(&row);
        }
    }
    for (models::Measurement* const row : slowed_from_memory) {
        if (const models::Measurement* const cached = row_from_cache(rows, *row)) {
            const double slow = models::probe_beside_s(*row) / typical_s;
            row->seconds = std::max(cached->seconds, row->seconds - (slow - 1) * cached->seconds);
        }
    }
    return rows;
}

const models::Measurement* row_from_cache(const std::vector<models::Measurement>& rows,
                                          const models::Measurement& from_memory) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const models::Measurement& row) {
        return row.kind == "kernel" && row.where == "cache" && row.active == 1 && row.name == from_memory.name &&
               row.precision == from_memory.precision && row.rows == from_memory.rows &&
               row.columns == from_memory.columns && row.depth == from_memory.depth && row.groups == from_memory.groups;
    });
    return same == rows.end() ? nullptr : &*same;
}

}  // namespace auspex::fit
