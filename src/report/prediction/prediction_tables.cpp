/// @file Tables of a step.
#include "report/prediction/prediction_tables.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/waterfall.hpp"

namespace auspex::report {
namespace {

Cell seconds(double value) { return number_of(duration(value), value); }
Cell share(double value, int decimals = 1) { return number_of(percent(value, decimals), 100 * value); }

std::string bounds_table(const predict::Prediction& prediction) {
    if (prediction.bound_by.empty()) {
        return "";
    }
    TableRows rows{{{"bound by"}, main_column(number("time", "of such operations"))}};
    for (const predict::BoundShare& bound : prediction.bound_by) {
        rows.push_back({{bound.limit}, seconds(bound.seconds)});
    }
    return html_table(rows,
                      "What operations are bound by: the arithmetic or the memory of a tile, launches of kernels, the "
                      "latency of messages, or the kind of link that sets their rate.");
}

}  // namespace

std::string waterfall_table(const predict::Prediction& prediction) {
    if (prediction.waterfall.empty()) {
        return "";
    }
    TableRows rows{{{"cause"},
                    main_column(number("adds", "time")),
                    number("share of the step"),
                    main_column(number("MFU", "without those below"))}};
    for (const predict::WaterfallRow& row : prediction.waterfall) {
        rows.push_back({{waterfall_words(row.cause, prediction)},
                        seconds(row.seconds),
                        share(row.seconds / prediction.step_time_s),
                        number(percent(row.mfu))});
    }
    return html_table(rows, "From the peak to MFU.", {.is_sorted = true});
}

std::string losses_table(const predict::Prediction& prediction) {
    TableRows rows{{{"part"}, main_column(number("time")), main_column(number("share")), {"what it is"}}};
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const auto which = static_cast<schedule::Loss>(loss);
        const double time_s = to_seconds(prediction.losses[loss]);
        if (prediction.losses[loss] != 0) {
            rows.push_back({{readable(which), "part", {}, static_cast<int>(loss)},
                            seconds(time_s),
                            share(time_s / prediction.step_time_s),
                            {meaning_of(which)}});
        }
    }
    rows.push_back({{"whole step", "whole"}, seconds(prediction.step_time_s), number("100 %"), {}});
    return html_table(rows, "The parts of the step, as a mean over all of the job; they add up to it exactly.");
}

std::string operations_table(const predict::Prediction& prediction, const std::string& process) {
    if (prediction.operations_by_time.empty()) {
        return "";
    }
    TableRows rows{{{"operation"},
                    main_column(number("time", "in the step")),
                    main_column(number("share")),
                    number("times"),
                    number("time of one"),
                    {"bound by"}}};
    for (const predict::OperationShare& one : prediction.operations_by_time) {
        rows.push_back({{one.name, "path"},
                        seconds(one.seconds),
                        share(one.seconds / prediction.step_time_s, 2),
                        number_of(six_digits(one.count), one.count),
                        one.count > 0 ? seconds(one.seconds / one.count) : number(""),
                        {one.bound_by}});
    }
    return html_table(rows, "Operations, the mean over all of the job.",
                      {.row_name = "operations", .filter_example = "attention, or share>=1", .is_tall = true}) +
           html_paragraph(
               "Times are those on a stream of a " + process +
                   ": operations of different streams run beside each other, so their sum is not the step. In "
                   "the filter times are seconds.",
               "note") +
           bounds_table(prediction);
}

std::string memory_table(const predict::MemoryReport& memory) {
    auto labels = memory.by_label;
    std::ranges::stable_sort(labels, [](const auto& a, const auto& b) { return a.second > b.second; });
    TableRows rows{{{"label"}, main_column(number("bytes")), number("share of the peak")}};
    for (const auto& [label, bytes] : labels) {
        if (bytes > 0) {
            rows.push_back({{label},
                            number_of(format_quantity(bytes, Dimension::kBytes), bytes),
                            share(bytes / memory.peak_bytes)});
        }
    }
    rows.push_back({{"all", "whole"}, number(format_quantity(memory.peak_bytes, Dimension::kBytes)), number("100 %")});
    return html_table(rows, "What fills the fullest stage " + std::to_string(memory.heaviest_stage) + " at its peak.");
}

std::string links_table(const predict::Prediction& prediction) {
    if (prediction.link_use.empty()) {
        return "";
    }
    TableRows rows{{{"kind of links"},
                    main_column(number("busiest", "of its capacity")),
                    number("mean", "of those used"),
                    number("bytes"),
                    {"which one"}}};
    for (const engine::LinkUse& use : prediction.link_use) {
        rows.push_back({{use.kind},
                        share(use.busiest_share),
                        share(use.mean_share),
                        number_of(format_quantity(use.bytes, Dimension::kBytes), use.bytes),
                        {use.busiest}});
    }
    return html_table(rows, "How full the links are over the step.") +
           html_paragraph(
               "Traffic of a pair of dragonfly groups (global) or of switches of a group (local) is measured against "
               "its "
               "direct links: what is above 100 % has to detour.",
               "note");
}

std::string samples_section(const predict::Prediction& prediction) {
    if (!prediction.unfolded) {
        return "";
    }
    const predict::UnfoldedReport& u = *prediction.unfolded;
    std::string out = html_paragraph(
        counted(static_cast<double>(u.samples_s.size()), "sample") + " from seed " + std::to_string(u.seed) + ": " +
        duration(u.min_s) + " to " + duration(u.max_s) + ", median " + duration(u.p50_s) + ", mean " +
        duration(u.mean_s) + "; this page is of the median one. The folded lens says " +
        duration(u.folded_step_time_s) + ": off by " + signed_percent(u.folded_error) + ".");
    if (!u.slow.empty()) {
        TableRows rows{{{"slow by request"}, number("speed", "of the usual"), main_column(number("adds to the step"))}};
        for (const engine::SlowRequest& request : u.slow) {
            rows.push_back({{request.name}, number(significant(request.factor)), seconds(request.added_s)});
        }
        out += html_table(rows, "Slow parts: the step less that of the same draw with the part at its normal speed.");
    }
    if (!u.slowest.empty()) {
        TableRows rows{{number("rank"), number("node"), number("stage"), number("speed"),
                        main_column(number("waited for")), number("share of all such waiting")}};
        for (const engine::SlowTile& tile : u.slowest) {
            rows.push_back({number(std::to_string(tile.rank)), number(std::to_string(tile.node)),
                            number(std::to_string(tile.stage)), number(significant(tile.speed)), seconds(tile.waited_s),
                            share(tile.share, 2)});
        }
        out += html_table(rows,
                          "Slowest tiles: how long the others in their groups waited for their compute (mean over "
                          "tiles).");
    }
    if (!u.slowest_links.empty()) {
        TableRows rows{{{"link"}, number("capacity", "of the usual"), main_column(number("added"))}};
        for (const engine::SlowLink& link : u.slowest_links) {
            rows.push_back({{link.name}, number(significant(link.factor)), seconds(link.added_s)});
        }
        out += html_table(rows, "Slow links: what they added to transfers and to waits for these (mean over tiles).");
    }
    return out;
}

}  // namespace auspex::report
