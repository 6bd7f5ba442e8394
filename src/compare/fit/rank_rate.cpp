/// @file From the rate of one rank to rank_bandwidth.
#include "compare/fit/rank_rate.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::fit {
namespace {

/// A rank that moves so much of what its NIC lets through has no limit of its own that would show.
constexpr double kAsFast = 0.95;

std::string in_words(double bytes_per_s) { return format_quantity(bytes_per_s, Dimension::kBytesPerSecond); }

/// Empty where the copies are all there is.
std::optional<FittedNumber> without_copies(const models::Machine& machine, const models::Stack& stack,
                                           const FittedNumber& rate) {
    if (stack.staging != models::Staging::kWhole) {
        return rate;
    }
    const double copies_s = 2 / machine.node.pcie_bytes_per_s;  // of a byte: to the host, and from the other host
    if (1 / rate.high <= copies_s) {
        return std::nullopt;
    }
    const auto rest_of = [copies_s](double bytes_per_s) { return 1 / (1 / bytes_per_s - copies_s); };
    return FittedNumber{{rest_of(rate.value), rest_of(rate.low), rest_of(rate.high)}, rate.kind, rate.how};
}

const Constant& rank_bandwidth_of(const models::Stack& stack) {
    const std::string path = "stack.transport.entries." + stack.transport_name + ".rank_bandwidth";
    const auto found = std::find_if(stack.constants.begin(), stack.constants.end(),
                                    [&](const Constant& constant) { return constant.path == path; });
    AUSPEX_CHECK(found != stack.constants.end(), "every transport has a rank_bandwidth");
    return *found;
}

}  // namespace

RankAdvice advice_of_rank(const models::Machine& machine, const models::Stack& stack,
                          const std::vector<models::Measurement>& rows, const FittedNumber& rate) {
    const double nic = machine.node.nic_bytes_per_s * stack.scale_out_efficiency;
    const std::string head = "one rank moves " + in_words(rate.value) + " between nodes; ";
    const std::string of_nic = "node.nic.bandwidth x scale_out_efficiency, " + in_words(nic);
    if (machine.node.nic_attachment != models::NicAttachment::kHost) {
        return {head + "NICs hang on the device, and the stack " + stack.name + " lets it have " + of_nic, {}};
    }
    const Constant& was = rank_bandwidth_of(stack);
    const std::string stays = was.path + " is " + in_words(was.value) + " and stays, for stacks are not written";
    const std::optional<FittedNumber> own = without_copies(machine, stack, rate);
    if (!own || own->value >= kAsFast * nic) {
        return {head + "that is as fast as its way (" + of_nic + "), and does not tell rank_bandwidth: " + stays, {}};
    }
    Constant now = was;
    now.value = own->value;
    now.kind = own->kind;
    now.source = sources_of(rows);
    const std::string rest = stack.staging == models::Staging::kWhole
                                 ? "without its copies to the host and back " + in_words(own->value) + "; "
                                 : "";
    return {head + rest + stays + "; to predict with what was measured: --set '" + was.path + "=" +
                in_words(own->value) + "'",
            ConstantChange{was, now, own->interval(), rows_in_words(rows), ""}};
}

}  // namespace auspex::fit
