/// @file Differences and means.
#include "workflows/endure/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace auspex::workflows {
namespace {

double mean_of(std::span<const double> values) {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool is_plain(const StepInterval& one) { return one.since_start >= kWarmSteps && !one.saves && !one.after_save; }

/// Each checkpoint's interval and the one after it, less two plain ones.
void add_stalls(std::vector<double>& stalls, const Course& course, double step_s) {
    const std::vector<StepInterval>& all = course.intervals;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const bool is_alone =
            all[i].saves && !all[i].after_save && !all[i + 1].saves && all[i + 1].since_start == all[i].since_start + 1;
        if (is_alone && all[i].since_start >= kWarmSteps) {
            stalls.push_back(all[i].length_s + all[i + 1].length_s - 2 * step_s);
        }
    }
}

/// For each launch whose first steps were all without a checkpoint.
std::vector<double> warm_ups_of(const Course& course, double step_s) {
    std::vector<double> sums;
    const std::vector<StepInterval>& all = course.intervals;
    for (std::size_t i = 0; i + kWarmSteps <= all.size(); ++i) {
        double sum = 0;
        bool is_whole = true;
        for (int k = 0; k < kWarmSteps; ++k) {
            const StepInterval& one = all[i + static_cast<std::size_t>(k)];
            is_whole = is_whole && one.since_start == k && !one.saves;
            sum += one.length_s - step_s;
        }
        if (is_whole) {
            sums.push_back(sum);
        }
    }
    return sums;
}

void add_if_reached(std::vector<double>& to, double span_s) {
    if (!std::isnan(span_s)) {
        to.push_back(span_s);
    }
}

}  // namespace

Timing timing_of(std::span<const double> values) {
    Timing timing{mean_of(values), 0, static_cast<int>(values.size())};
    if (values.size() > 1) {
        double squares = 0;
        for (const double value : values) {
            squares += (value - timing.mean_s) * (value - timing.mean_s);
        }
        const auto count = static_cast<double>(values.size());
        timing.error_s = std::sqrt(squares / (count - 1) / count);
    }
    return timing;
}

double plain_step_s(const Course& course) {
    std::vector<double> lengths;
    for (const StepInterval& one : course.intervals) {
        if (is_plain(one)) {
            lengths.push_back(one.length_s);
        }
    }
    return mean_of(lengths);
}

void add(PieceSamples& samples, const Course& course) {
    for (const StepInterval& one : course.intervals) {
        if (is_plain(one)) {
            samples.step.push_back(one.length_s);
        }
    }
    const double step_s = plain_step_s(course);
    add_stalls(samples.stall, course, step_s);
    const std::vector<double> warm_ups = warm_ups_of(course, step_s);
    samples.warm_up.insert(samples.warm_up.end(), warm_ups.begin(), warm_ups.end());
    add_if_reached(samples.begin, course.first_step_s - course.begun_s + mean_of(warm_ups));
    add_if_reached(samples.end, course.over_s - course.saved_s);
    add_if_reached(samples.initialise, course.first_step_s - course.first_started_s);
    for (const RecoveryTimes& one : course.recoveries) {
        add_if_reached(samples.detection, one.ended_s - one.killed_s);
        add_if_reached(samples.relaunch, one.launched_s - one.ended_s);
        add_if_reached(samples.start, one.started_s - one.launched_s);
        if (one.loaded) {
            add_if_reached(samples.load, one.stepped_s - one.started_s);
        }
    }
}

void add(PieceSamples& samples, const PieceSamples& more) {
    for (const auto part : {&PieceSamples::step, &PieceSamples::stall, &PieceSamples::begin, &PieceSamples::end,
                            &PieceSamples::detection, &PieceSamples::relaunch, &PieceSamples::start,
                            &PieceSamples::initialise, &PieceSamples::load, &PieceSamples::warm_up}) {
        (samples.*part).insert((samples.*part).end(), (more.*part).begin(), (more.*part).end());
    }
}

Pieces pieces_of(const PieceSamples& samples) {
    Pieces pieces;
    pieces.step = timing_of(samples.step), pieces.stall = timing_of(samples.stall);
    pieces.begin = timing_of(samples.begin), pieces.end = timing_of(samples.end);
    pieces.detection = timing_of(samples.detection), pieces.relaunch = timing_of(samples.relaunch);
    pieces.start = timing_of(samples.start), pieces.initialise = timing_of(samples.initialise);
    pieces.load = timing_of(samples.load), pieces.warm_up = timing_of(samples.warm_up);
    pieces.stall.mean_s = std::max(pieces.stall.mean_s, 0.0);
    pieces.warm_up.mean_s = std::max(pieces.warm_up.mean_s, 0.0);
    if (pieces.load.count > 0) {
        pieces.load.mean_s = std::max(pieces.load.mean_s - pieces.initialise.mean_s, 0.0);
        pieces.load.error_s = std::hypot(pieces.load.error_s, pieces.initialise.error_s);
    }
    return pieces;
}

}  // namespace auspex::workflows
