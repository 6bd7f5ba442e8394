/// @file A collective on the terminal: sizes, phases, and what else could be played.
#include <sstream>

#include "base/units.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::report {
namespace {

/// "recursive-doubling, 2 levels: 309 us" where that is much faster than what is played.
std::string faster_text(const network::CollectiveResult& point) {
    const network::CollectiveTime& fastest = point.alternatives.front();
    return point.time_s > kMuchSlower * fastest.time_s ? choice_text(fastest.choice) + ": " + duration(fastest.time_s)
                                                       : "";
}

/// Parts of nanoseconds say nothing to a reader.
std::string part_text(double seconds) { return seconds > 0 && seconds < 0.5e-9 ? "< 1 ns" : duration(seconds); }

}  // namespace

std::string render_sweep_text(const CollectiveSweep& sweep) {
    std::vector<TextRow> rows{{"size", "time us", "algbw GB/s", "busbw GB/s", "algorithm", "bound by",
                               "fastest, where " + significant(kMuchSlower, 2) + " times faster"}};
    bool any_faster = false;
    for (const network::CollectiveResult& point : sweep.points) {
        rows.push_back({size_text(point.bytes), significant(point.time_s * 1e6, 4),
                        significant(point.bytes_per_s / 1e9), significant(point.bus_bytes_per_s / 1e9),
                        choice_text(point.choice), point.bottleneck, faster_text(point)});
        any_faster = any_faster || !rows.back().back().empty();
    }
    if (!any_faster) {
        for (TextRow& row : rows) {
            row.pop_back();
        }
    }
    return title_of(sweep) + "\n\n" + text_table(rows, {4, 5, 6});
}

std::string render_phases_text(const network::CollectiveResult& result) {
    std::vector<TextRow> rows{{"phase", "rounds", "latency", "reduction", "bytes a flow", "rate", "time", "bound by"}};
    for (const network::CollectivePhase& phase : result.phases) {
        rows.push_back({phase.what, thousands(phase.rounds), part_text(phase.latency_s), part_text(phase.reduction_s),
                        format_quantity(phase.bytes, Dimension::kBytes),
                        format_quantity(phase.rate_bytes_per_s, Dimension::kBytesPerSecond), duration(phase.time_s),
                        phase.bottleneck});
    }
    std::vector<TextRow> others{{"other algorithms", "time"}};
    for (const network::CollectiveTime& time : result.alternatives) {
        if (time.choice != result.choice) {
            others.push_back({choice_text(time.choice), duration(time.time_s)});
        }
    }
    return text_table(rows, {0, 7}) + (others.size() > 1 ? "\n" + text_table(others, {0}) : "");
}

}  // namespace auspex::report
