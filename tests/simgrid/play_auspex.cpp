/// @file Transfers in virtual time: latency, then bytes at the rate that the network gives to the set that flows.
#include <algorithm>
#include <limits>

#include "play.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::simgrid_check {
namespace {

struct Playing {
    Transfer transfer;
    std::size_t phase = 0;
    double latency_s = 0, bytes = 0;  ///< left of the phase
    [[nodiscard]] bool is_done() const { return phase == transfer.phases.size(); }
    [[nodiscard]] bool is_flowing() const { return !is_done() && latency_s <= 0; }
};

void begin_phase(Playing& playing) {
    if (!playing.is_done()) {
        playing.latency_s = playing.transfer.phases[playing.phase].latency_s;
        playing.bytes = playing.transfer.phases[playing.phase].bytes;
    }
}

/// Rates of all; 0 for those that are done or wait for latency.
std::vector<double> rates_of(Network& network, const std::vector<Playing>& all) {
    std::vector<PatternId> flowing;
    for (const Playing& playing : all) {
        if (playing.is_flowing()) {
            flowing.push_back(playing.transfer.phases[playing.phase].pattern);
        }
    }
    const std::span<const double> found = network.rates(flowing);
    auto next = found.begin();
    std::vector<double> rates;
    for (const Playing& playing : all) {
        rates.push_back(playing.is_flowing() ? *next++ : 0);
    }
    return rates;
}

/// Time until the phase's latency has passed or its bytes have flowed.
double left_s(const Playing& playing, double rate) {
    return playing.is_flowing() ? playing.bytes / rate : playing.latency_s;
}

void advance(Playing& playing, double rate, double seconds) {
    const bool ends = left_s(playing, rate) <= seconds;
    if (!playing.is_flowing()) {
        playing.latency_s = ends ? 0 : playing.latency_s - seconds;
    } else if (!ends) {
        playing.bytes -= rate * seconds;
    } else {
        ++playing.phase;
        begin_phase(playing);
    }
}

}  // namespace

std::vector<double> play_auspex(const Case& of) {
    Network network(of.machine, bare_stack(), of.layout);
    std::vector<Playing> all;
    for (const Collective& c : of.collectives) {
        all.push_back({network.unroll_as(c.choice, c.comm, c.group, c.stage, c.bytes)});
        begin_phase(all.back());
    }
    std::vector<double> ends_s(all.size(), 0);
    double now_s = 0;
    while (!std::all_of(all.begin(), all.end(), [](const Playing& playing) { return playing.is_done(); })) {
        const std::vector<double> rates = rates_of(network, all);
        double step_s = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < all.size(); ++i) {
            step_s = all[i].is_done() ? step_s : std::min(step_s, left_s(all[i], rates[i]));
        }
        now_s += step_s;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].is_done()) {
                advance(all[i], rates[i], step_s);
                ends_s[i] = now_s;
            }
        }
    }
    return ends_s;
}

}  // namespace auspex::simgrid_check
