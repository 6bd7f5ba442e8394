/// @file A campaign of the pieces, played and as a closed form.
#include "workflows/endure/forecast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/statistics/quantiles.hpp"
#include "campaign/closed_forms.hpp"
#include "campaign/player.hpp"

namespace auspex::workflows {
namespace {

using campaign::Spent;

/// Sums over runs that were played.
struct Played {
    double elapsed_s = 0, kills = 0, lost_steps = 0, recovery_s = 0;

    void add(const campaign::Outcome& one, double warm_share) {
        const auto spent_s = [&one](Spent spent) {
            return campaign::to_seconds(one.spent[static_cast<std::size_t>(spent)]);
        };
        elapsed_s += one.is_finished ? campaign::to_seconds(one.elapsed) : std::numeric_limits<double>::infinity();
        kills += static_cast<double>(one.interruptions.front());
        lost_steps += static_cast<double>(one.lost_steps);
        recovery_s +=
            spent_s(Spent::kNodeWait) + spent_s(Spent::kInitialisation) + spent_s(Spent::kLoad) * (1 - warm_share);
    }
};

/// Of the stage that is booked as load, what is warm-up: steps that go on already.
double warm_share(const Pieces& pieces) {
    const double all_s = pieces.load.mean_s + pieces.warm_up.mean_s;
    return all_s > 0 ? pieces.warm_up.mean_s / all_s : 0;
}

/// `elapsed_s`: from first steps to last checkpoints.
double all_time_s(std::span<const EndureRun> runs, double elapsed_s) {
    for (const EndureRun& run : runs) {
        elapsed_s += run.pieces.begin.mean_s + run.pieces.end.mean_s;
    }
    return elapsed_s;
}

double goodput_of(std::span<const EndureRun> runs, double elapsed_s) {
    return work_s(runs) / all_time_s(runs, elapsed_s);
}

}  // namespace

campaign::Setting campaign_setting(const EndureSetting& setting, const EndureRun& run) {
    campaign::Setting played;
    played.steps = run.steps;
    played.step_s = run.pieces.step.mean_s;
    played.checkpoints.every_steps = setting.every;
    played.checkpoints.stall_s = run.pieces.stall.mean_s;
    played.recovery.initialise_s = run.pieces.initialise.mean_s;
    played.recovery.load_s = run.pieces.load.mean_s + run.pieces.warm_up.mean_s;
    campaign::FailureSource kill;
    kill.component = "rank", kill.cause = "kill -9";
    kill.mean_s = setting.mtbf_s;
    kill.nodes = 0;
    kill.outage_s = run.pieces.dead_s();
    played.failures = {kill};
    return played;
}

double work_s(std::span<const EndureRun> runs) {
    double sum = 0;
    for (const EndureRun& run : runs) {
        sum += run.steps * run.pieces.step.mean_s;
    }
    return sum;
}

double own_work_s(std::span<const EndureRun> runs) {
    double sum = 0;
    for (const EndureRun& run : runs) {
        sum += run.steps * run.own_step_s;
    }
    return sum;
}

Forecast forecast(const EndureSetting& setting, std::span<const EndureRun> runs, int samples, std::uint64_t seed) {
    std::vector<campaign::Setting> played;
    for (const EndureRun& run : runs) {
        played.push_back(campaign_setting(setting, run));
    }
    std::vector<double> goodputs;
    Played all;
    for (int i = 0; i < samples; ++i) {
        Played one;
        for (std::size_t run = 0; run < runs.size(); ++run) {
            one.add(play_sample(played[run], {seed, static_cast<std::uint64_t>(i) * runs.size() + run}),
                    warm_share(runs[run].pieces));
        }
        goodputs.push_back(goodput_of(runs, one.elapsed_s));
        all.elapsed_s += one.elapsed_s, all.kills += one.kills;
        all.lost_steps += one.lost_steps, all.recovery_s += one.recovery_s;
    }
    return {goodput_of(runs, all.elapsed_s / samples),     quantile(goodputs, 0.1), quantile(goodputs, 0.9),
            all_time_s(runs, all.elapsed_s / samples),     all.kills / samples,     all.lost_steps / samples,
            all.kills > 0 ? all.recovery_s / all.kills : 0};
}

Forecast replayed(const EndureSetting& setting, std::span<const EndureRun> runs) {
    Played all;
    for (const EndureRun& run : runs) {
        campaign::Setting played = campaign_setting(setting, run);
        played.failures.front().spacing = campaign::Spacing::kTrace;
        played.failures.front().times_s = run.kills_s;
        all.add(play_sample(played, {}), warm_share(run.pieces));
    }
    const double goodput = goodput_of(runs, all.elapsed_s);
    return {goodput,
            goodput,
            goodput,
            all_time_s(runs, all.elapsed_s),
            all.kills,
            all.lost_steps,
            all.kills > 0 ? all.recovery_s / all.kills : 0};
}

SegmentTimes segment_times(const Pieces& pieces, double mtbf_s, int steps) {
    const campaign::PoissonRun run{mtbf_s, pieces.stall.mean_s, pieces.rise_s()};
    const double exposed_s = segment_time_s(run, static_cast<double>(steps) * pieces.step.mean_s);
    return {exposed_s, (1 + pieces.dead_s() / mtbf_s) * exposed_s};
}

double closed_form_goodput(const EndureSetting& setting, std::span<const EndureRun> runs) {
    double elapsed_s = 0;
    for (const EndureRun& run : runs) {
        const int whole = run.steps / setting.every, rest = run.steps % setting.every;
        elapsed_s += whole * segment_times(run.pieces, setting.mtbf_s, setting.every).all_s +
                     (rest > 0 ? segment_times(run.pieces, setting.mtbf_s, rest).all_s : 0);
    }
    return goodput_of(runs, elapsed_s);
}

int steps_for_kills(const EndureSetting& setting, const Pieces& pieces, double kills) {
    constexpr double kMostSteps = 100'000;
    const double kills_of_segment = segment_times(pieces, setting.mtbf_s, setting.every).exposed_s / setting.mtbf_s;
    const double segments = std::max(std::round(kills / kills_of_segment), 1.0);
    return static_cast<int>(std::min(segments, std::max(kMostSteps / setting.every, 1.0))) * setting.every;
}

double best_interval_steps(const Pieces& pieces, double mtbf_s) {
    const campaign::PoissonRun run{mtbf_s, pieces.stall.mean_s, pieces.rise_s()};
    return std::max(exact_interval_s(run) / pieces.step.mean_s, 1.0);
}

}  // namespace auspex::workflows
