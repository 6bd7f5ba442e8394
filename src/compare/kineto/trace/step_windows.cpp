/// @file Marks of steps, and the device's work between them.
#include "compare/kineto/trace/step_windows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "base/number_text.hpp"

namespace auspex::kineto {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

StepWindow whole_trace(const Trace& trace) {
    StepWindow window{-1, kNever, -kNever, -kNever, kNever};
    const auto include = [&window](const auto& event) {
        window.start = std::min(window.start, event.start);
        window.end = std::max(window.end, event.end);
    };
    std::for_each(trace.device_events.begin(), trace.device_events.end(), include);
    if (trace.device_events.empty()) {
        std::for_each(trace.host_ops.begin(), trace.host_ops.end(), include);
    }
    return window;
}

/// The marks to go by: those of the host, unless only the device has them. A number that stands twice counts once.
std::vector<StepMark> marks_of(const Trace& trace) {
    const bool has_host_marks =
        std::any_of(trace.steps.begin(), trace.steps.end(), [](const StepMark& mark) { return !mark.is_on_device; });
    std::map<std::int64_t, StepMark> marks;
    for (const StepMark& mark : trace.steps) {
        if (mark.is_on_device != has_host_marks) {
            marks.try_emplace(mark.number, mark);
        }
    }
    std::vector<StepMark> list;
    for (const auto& [number, mark] : marks) {
        list.push_back(mark);
    }
    return list;
}

/// Of device events, by the time at which they were launched (or began, where that is not told).
std::vector<StepWindow> windows_on_device(const Trace& trace, const std::vector<StepMark>& marks) {
    const std::vector<std::uint32_t> launches = launches_of(trace);
    std::vector<StepWindow> windows;
    for (const StepMark& mark : marks) {
        StepWindow window{mark.number, kNever, -kNever, mark.start, mark.end};
        for (std::size_t i = 0; i < trace.device_events.size(); ++i) {
            const DeviceEvent& event = trace.device_events[i];
            const std::int64_t at =
                launches[i] != kNone && !mark.is_on_device ? trace.launches[launches[i]].start : event.start;
            if (at >= mark.start && at < mark.end) {
                window.start = std::min(window.start, event.start);
                window.end = std::max(window.end, event.end);
            }
        }
        if (window.start < kNever) {
            windows.push_back(window);
        }
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
        StepWindow& window = windows[i];
        const bool has_next =
            i + 1 < windows.size() && windows[i + 1].number == window.number + 1 && windows[i + 1].start > window.start;
        window.end =
            has_next ? windows[i + 1].start : std::max(window.end, window.start + window.host_end - window.host_start);
    }
    return windows;
}

double mean_length(const std::vector<std::map<std::int64_t, StepWindow>>& by_number, std::int64_t number) {
    double sum = 0;
    for (const auto& windows : by_number) {
        sum += static_cast<double>(windows.at(number).length());
    }
    return sum / static_cast<double>(by_number.size());
}

/// The clock of predictions holds it, and something happened in it.
void require_length(const Trace& trace, const StepWindow& window) {
    constexpr std::int64_t kLongest = 86'400'000'000'000;  // a day
    if (window.length() <= 0 || window.length() > kLongest) {
        throw InputError(trace.file, "found a step that lasts " +
                                         six_digits(static_cast<double>(window.length()) * 1e-9) +
                                         " s; expected more than 0 and at most a day: are its times in microseconds?");
    }
}

std::string numbers_text(const std::map<std::int64_t, StepWindow>& windows) {
    constexpr std::size_t kMost = 12;
    std::string text;
    std::size_t count = 0;
    for (const auto& [number, window] : windows) {
        if (++count > kMost) {
            return text + ", …";
        }
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    }
    return text;
}

}  // namespace

std::vector<std::uint32_t> launches_of(const Trace& trace) {
    std::unordered_map<std::int64_t, std::uint32_t> by_correlation;
    by_correlation.reserve(trace.launches.size());
    for (std::size_t i = 0; i < trace.launches.size(); ++i) {
        if (trace.launches[i].correlation > 0) {
            by_correlation.try_emplace(trace.launches[i].correlation, static_cast<std::uint32_t>(i));
        }
    }
    std::vector<std::uint32_t> launches;
    launches.reserve(trace.device_events.size());
    for (const DeviceEvent& event : trace.device_events) {
        const auto found = by_correlation.find(event.correlation);
        launches.push_back(found == by_correlation.end() ? kNone : found->second);
    }
    return launches;
}

std::vector<StepWindow> step_windows(const Trace& trace) {
    const std::vector<StepMark> marks = marks_of(trace);
    if (marks.empty()) {
        return {whole_trace(trace)};
    }
    std::vector<StepWindow> windows;
    if (!trace.device_events.empty()) {
        windows = windows_on_device(trace, marks);
    } else {
        for (const StepMark& mark : marks) {
            if (mark.end > mark.start) {
                windows.push_back({mark.number, mark.start, mark.end, mark.start, mark.end});
            }
        }
    }
    if (windows.empty()) {
        throw InputError(trace.file, "found " + std::to_string(marks.size()) +
                                         " marks of steps (ProfilerStep#N), in none of which anything runs; expected a "
                                         "trace whose steps were recorded");
    }
    return windows;
}

std::vector<StepWindow> choose_steps(const std::vector<Trace>& traces, std::optional<std::int64_t> wanted) {
    std::vector<std::map<std::int64_t, StepWindow>> by_number;
    std::map<std::int64_t, std::size_t> count;
    for (const Trace& trace : traces) {
        auto& windows = by_number.emplace_back();
        for (const StepWindow& window : step_windows(trace)) {
            windows.emplace(window.number, window);
            ++count[window.number];
        }
        if (wanted && windows.count(*wanted) == 0) {
            throw InputError("--step " + std::to_string(*wanted),
                             "found no such step in " + trace.file +
                                 (windows.begin()->first < 0 ? ", which has no marks of steps (ProfilerStep#N)"
                                                             : ", which has " + numbers_text(windows)) +
                                 "; expected one of its steps");
        }
    }
    std::vector<std::pair<double, std::int64_t>> common;
    for (const auto& [number, files] : count) {
        if (files == traces.size()) {
            common.push_back({mean_length(by_number, number), number});
        }
    }
    if (common.empty()) {
        throw InputError(traces.back().file, "found the steps " + numbers_text(by_number.back()) + ", but " +
                                                 traces.front().file + " has " + numbers_text(by_number.front()) +
                                                 "; expected a step that all ranks have traced");
    }
    std::sort(common.begin(), common.end());
    const std::int64_t number = wanted.value_or(common[(common.size() - 1) / 2].second);
    std::vector<StepWindow> chosen;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        chosen.push_back(by_number[i].at(number));
        require_length(traces[i], chosen.back());
    }
    return chosen;
}

}  // namespace auspex::kineto
