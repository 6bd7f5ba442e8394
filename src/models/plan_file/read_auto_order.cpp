/// @file Lengths of passes, and how many micro-batches a rank may hold.
#include "models/plan_file/read_auto_order.hpp"

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr std::int64_t kMostInFlight = 1'000'000;
constexpr double kLeastLength = 1e-12, kMostLength = 1e12;

void read_lengths(const JsonValue& given, AutoOrder& order) {
    int found = 0;
    for (const auto& [key, length] : {std::pair("F", &order.forward), {"B", &order.input}, {"W", &order.weight}}) {
        if (const auto value = given.find(key)) {
            *length = value->as_number(kLeastLength, kMostLength);
            ++found;
        }
    }
    if (found != 0 && found != 3) {
        given.fail("F, B and W together, or none of them: lengths by the model's FLOP");
    }
    if (const auto value = given.find("send")) {
        if (found == 0) {
            value->fail("no such key without F, B and W, whose unit it has");
        }
        order.send = value->as_number(0, kMostLength);
    }
}

}  // namespace

void read_auto_order(const JsonValue& root, Plan& plan) {
    const auto given = root.find("zb_auto");
    if (!given) {
        return;
    }
    if (plan.schedule != ScheduleKind::kZbAuto) {
        given->fail("no such key unless \"schedule\" is \"zb-auto\"");
    }
    if (!given->is_object()) {
        given->fail("lengths of passes, such as {\"F\": 1, \"B\": 1, \"W\": 1}, or {} for those by the model's FLOP");
    }
    given->allow_only({"F", "B", "W", "send", "in_flight", "kept_for_weights"});
    AutoOrder& order = plan.auto_order;
    read_lengths(*given, order);
    if (const auto value = given->find("in_flight")) {
        order.in_flight = static_cast<int>(value->as_integer(1, kMostInFlight));
    }
    if (const auto value = given->find("kept_for_weights")) {
        order.kept_for_weights = value->as_number(0, 10);
    }
}

}  // namespace auspex::models
