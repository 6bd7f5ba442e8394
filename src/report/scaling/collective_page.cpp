/// @file The page of a collective over many sizes.
#include <algorithm>

#include "base/units.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::report {
namespace {

std::string rate_text(double bytes_per_s) { return significant(bytes_per_s / 1e9); }

const network::CollectiveResult& fastest_point(const CollectiveSweep& sweep) {
    return *std::ranges::max_element(sweep.points, {}, &network::CollectiveResult::bus_bytes_per_s);
}

/// How many times as long as the fastest algorithm the chosen one takes, at worst.
double worst_choice(const CollectiveSweep& sweep) {
    double worst = 1;
    for (const network::CollectiveResult& point : sweep.points) {
        worst = std::max(worst, point.time_s / point.alternatives.front().time_s);
    }
    return worst;
}

std::string sizes_table(const CollectiveSweep& sweep) {
    TableRows rows{{number("size"),
                    main_column(number("time")),
                    number("algorithm bandwidth", "GB/s"),
                    main_column(number("bus bandwidth", "GB/s")),
                    {"algorithm"},
                    {"bound by"},
                    {"fastest of all"},
                    number("its time")}};
    for (const network::CollectiveResult& point : sweep.points) {
        const network::CollectiveTime& fastest = point.alternatives.front();
        rows.push_back({number_of(size_text(point.bytes), point.bytes),
                        number_of(duration(point.time_s), point.time_s),
                        number(rate_text(point.bytes_per_s)),
                        number(rate_text(point.bus_bytes_per_s)),
                        {choice_text(point.choice)},
                        {point.bottleneck},
                        {choice_text(fastest.choice)},
                        number_of(duration(fastest.time_s), fastest.time_s)});
    }
    return html_table(rows, "Sizes, as chosen and as fast as could be.") +
           html_paragraph(
               "Bus bandwidth is that of nccl-tests: bytes over time, times 2 (n - 1)/n for an all-reduce, "
               "(n - 1)/n for reduce-scatter, all-gather and all-to-all, 1 for a broadcast.",
               "note");
}

std::string algorithms_table(const CollectiveSweep& sweep) {
    TableRows rows{{number("size"),
                    main_column({"algorithm"}),
                    number("levels"),
                    main_column(number("time")),
                    number("times the fastest"),
                    {"chosen"}}};
    for (const network::CollectiveResult& point : sweep.points) {
        for (const network::CollectiveTime& time : point.alternatives) {
            rows.push_back({number_of(size_text(point.bytes), point.bytes),
                            {to_string(time.choice.algorithm)},
                            number(std::to_string(time.choice.levels)),
                            number_of(duration(time.time_s), time.time_s),
                            number(significant(time.time_s / point.alternatives.front().time_s)),
                            {time.choice == point.choice ? "chosen" : ""}});
        }
    }
    return html_table(rows, "Every algorithm at every size.",
                      {.row_name = "times", .filter_example = "ring levels=2", .is_tall = true});
}

}  // namespace

std::string sweep_headline(const CollectiveSweep& sweep) {
    const network::CollectiveResult& best = fastest_point(sweep);
    std::string out = job_text(sweep) + " on " + counted(sweep.nodes, "node") + " of " + sweep.machine + ": up to " +
                      rate_text(best.bus_bytes_per_s) + " GB/s bus bandwidth (" + size_text(best.bytes) + " in " +
                      duration(best.time_s) + ")";
    const double worst = worst_choice(sweep);
    if (sweep.by_rule) {
        out += worst > kMuchSlower
                   ? "; the stack's rules take up to " + significant(worst, 2) + " times as long as the fastest"
                   : "; the stack's rules are never more than " + percent(worst - 1, 0) + " behind the fastest";
    }
    return out;
}

std::string render_sweep_html(const CollectiveSweep& sweep) {
    const network::CollectiveResult &first_point = sweep.points.front(), &last = sweep.points.back();
    const network::CollectiveResult& best = fastest_point(sweep);
    FirstScreen first;
    first.title = title_of(sweep);
    first.kind = title_of(sweep);
    first.headline = sweep_headline(sweep);
    first.cards = {
        {rate_text(best.bus_bytes_per_s) + " GB/s", "bus bandwidth at best, " + size_text(best.bytes)},
        {duration(first_point.time_s), "for " + size_text(first_point.bytes)},
        {duration(last.time_s), "for " + size_text(last.bytes) + ", bound by " + last.bottleneck},
        {choice_text(last.choice), "for " + size_text(last.bytes)},
        {significant(worst_choice(sweep), 3) + " times", "the fastest algorithm's time, at worst, as chosen"},
        {thousands(sweep.ranks) + " ranks", "on " + counted(sweep.nodes, "node")}};
    first.figure = html_figure(picture_of([&](double width) { return sweep_chart(sweep, width); }, kColumnPicture),
                               {"Time and bus bandwidth against size",
                                "Both axes are logarithmic. Thick: what is chosen, named where it changes. Thin: every "
                                "algorithm over the number of levels that is fastest at each size.",
                                source_line(sweep.command, sweep.inputs)});
    return html_page(first,
                     {{"sizes", "Sizes", sizes_table(sweep)},
                      {"algorithms", "Algorithms", algorithms_table(sweep)},
                      {"notes", "What to know", sweep.notes.empty() ? "" : html_list(sweep.notes)},
                      {"provenance", "Provenance", html_provenance(sweep.command, sweep.inputs, sweep.overrides)}});
}

}  // namespace auspex::report
