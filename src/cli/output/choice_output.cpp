/// @file Probabilities, crossings, counts.
#include "cli/output/choice_output.hpp"

#include <iostream>

#include "base/number_text.hpp"

namespace auspex::cli {

void write_deciding_constants(JsonWriter& json, const search::Choice& choice) {
    json.key("deciding_constants").begin_array();
    for (const search::DecidingConstant& one : choice.constants) {
        json.begin_object().member("path", one.constant.path).member("factor", one.factor);
        json.member("deviations", one.deviations).member("leads_then", static_cast<int>(one.rival)).end_object();
    }
    json.end_array();
}

void write_faster(JsonWriter& json, const search::GivenPlan& given) {
    const search::FasterPlans& faster = given.faster;
    json.member("fits", given.excess_bytes <= 0).key("faster_plans").begin_object();
    json.member("estimate", faster.estimate).key("interval").begin_array();
    json.value(faster.interval.low).value(faster.interval.high).end_array();
    json.member("at_least", faster.at_least).member("at_most", faster.at_most);
    json.member("undecided", faster.undecided).member("drawn", faster.drawn).end_object();
}

void print_choice(const search::Choice& choice) {
    constexpr std::size_t kShown = 2;
    std::cout << "Of the plans below it is the fastest with a probability of "
              << percent(choice.probability_best.front(), 0);
    std::size_t shown = 0;
    for (const search::DecidingConstant& one : choice.constants) {
        if (shown < kShown) {
            std::cout << (shown == 0 ? "; another would be with " : ", or ") << one.constant.path << " "
                      << signed_percent(one.factor - 1) << " (" << significant(one.deviations, 2)
                      << " of its standard deviations: plan " << one.rival + 1 << ")";
            ++shown;
        }
    }
    std::cout << ".\n";
}

}  // namespace auspex::cli
