/// @file The map's data, for the script to draw.
#include <sstream>

#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/plans/plan_page.hpp"
#include "report/plans/search_words.hpp"

namespace auspex::report {
namespace {

/// Three digits, as a cell shows them.
void write_seconds(std::ostream& out, double seconds) {
    out << (seconds == 0 ? "0" : fixed(seconds, seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 4));
}

void write_pair(std::ostream& out, const search::MapOfPair& pair) {
    out << "[" << pair.rows << "," << pair.columns << ",[";
    const char* comma = "";
    for (const search::MapCell& cell : pair.cells) {
        const bool is_large = cell.knowledge == search::CellKnowledge::kTooLarge;
        out << comma << "[" << cell.row << "," << cell.column << "," << static_cast<int>(cell.knowledge) << ",";
        write_seconds(out, to_seconds(cell.best.step));
        out << ",";
        write_seconds(out, is_large ? 0 : cell.least_s);
        out << "]";
        comma = ",";
    }
    out << "]]";
}

/// Compact, for it is most of the page. Its texts are names of the program's own.
std::string map_data(const PlanPage& page) {
    std::ostringstream out;
    out << "{\"best\":";
    write_seconds(out, page.ranked.front().prediction.step_time_s);
    out << ",\"axes\":[";
    const char* comma = "";
    for (const search::MapAxis& axis : page.map.axes) {
        out << comma << "{\"name\":\"" << axis.name << "\",\"labels\":[";
        for (std::size_t i = 0; i < axis.labels.size(); ++i) {
            out << (i == 0 ? "\"" : ",\"") << axis.labels[i] << "\"";
        }
        out << "]}";
        comma = ",";
    }
    out << "],\"pairs\":[";
    comma = "";
    for (const search::MapOfPair& pair : page.map.pairs) {
        out << comma;
        write_pair(out, pair);
        comma = ",";
    }
    out << "]}";
    return out.str();
}

}  // namespace

std::string plan_map_section(const PlanPage& page) {
    const std::string data = "<script type=\"application/json\" id=\"map-data\">" + map_data(page) + "</script>\n";
    if (page.map.axes.size() < 2) {
        return html_paragraph("Fewer than two fields vary: there is nothing to map.") + data;
    }
    const std::string map =
        "<div class=\"controls\"><label>down <select id=\"rows\"></select></label><label>across <select "
        "id=\"columns\"></select></label></div>\n<noscript><p>The map is drawn by the page's script.</p></noscript>\n"
        "<div class=\"scroll\" id=\"map\" role=\"group\" aria-label=\"map of two fields\"></div>\n" +
        data;
    const std::string more = page.map.played == 0 ? ""
                                                  : "; beyond it, " + thousands(static_cast<double>(page.map.played)) +
                                                        " more plans were simulated for the first pair, " +
                                                        page.map.axes[0].name + " and " + page.map.axes[1].name;
    return map +
           html_paragraph(
               "Seconds of the fastest plan with such a pair of values; the deeper the colour the nearer to the best, "
               "pale from four times its step on. Bold: exact, no plan that fits is faster. ≤: the fastest that was "
               "simulated; another may be faster. ≥, dashed: no plan that was simulated fits, and none that does takes "
               "less. Hatched: weights and gradients alone do not fit. –: no plan has the pair. " +
                   decided_words(page.result) + more +
                   ". A touched cell shows its plans in the table, as far as they are in it.",
               "note");
}

}  // namespace auspex::report
