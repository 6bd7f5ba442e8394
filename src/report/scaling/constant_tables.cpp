/// @file Tables of constants.
#include "report/scaling/constant_tables.hpp"

#include <cmath>

#include "base/units.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {

std::string top_constants_table(const predict::Prediction& prediction, const std::string& where) {
    if (prediction.top_constants.empty()) {
        return "";
    }
    TableRows rows{{{"constant"},
                    number("value"),
                    {"kind"},
                    number("elasticity"),
                    number("uncertainty"),
                    main_column(number("moves the step by")),
                    {"source", "source"}}};
    for (const predict::ConstantSensitivity& sensitivity : prediction.top_constants) {
        const Constant& c = sensitivity.constant;
        const double moves = std::abs(sensitivity.elasticity) * c.relative_uncertainty;
        rows.push_back({{c.path, "path"},
                        number_of(format_quantity(c.value, c.dimension), c.value),
                        {to_string(c.kind)},
                        number_of(signed_significant(sensitivity.elasticity, 2), sensitivity.elasticity),
                        number_of("±" + percent(c.relative_uncertainty), 100 * c.relative_uncertainty),
                        number_of("±" + significant(moves * 100, 2) + " %", 100 * moves),
                        {c.source, "source"}});
    }
    return html_table(rows,
                      "The constants of machine and software that move the step time most, " + where +
                          ". Elasticity: percent of step time per percent of the constant.",
                      {.row_name = "constants", .filter_example = "transport, or kind=assumed"});
}

std::string all_constants_table(const std::vector<Constant>& constants) {
    TableRows rows{{{"constant"}, main_column(number("value")), {"kind"}, number("uncertainty"), {"source", "source"}}};
    for (const Constant& c : constants) {
        rows.push_back({{c.path, "path"},
                        number_of(format_quantity(c.value, c.dimension), c.value),
                        {to_string(c.kind)},
                        number_of("±" + percent(c.relative_uncertainty), 100 * c.relative_uncertainty),
                        {c.source, "source"}});
    }
    return html_details("All constants with their sources",
                        html_table(rows, "All constants of machine and software.", {.row_name = "constants"}));
}

}  // namespace auspex::report
