/// @file One pass over the events.
#include "workflows/endure/course.hpp"

#include <cmath>

namespace auspex::workflows {
namespace {

using Event = launch::RunEvent;
using Kind = launch::RunEvent::Kind;

class CourseReader {
 public:
    explicit CourseReader(Course& course) : course_(course) {}

    void take(const Event& event) {
        RecoveryTimes* const recovery = course_.recoveries.empty() || !std::isnan(course_.recoveries.back().stepped_s)
                                            ? nullptr
                                            : &course_.recoveries.back();
        switch (event.kind) {
            case Kind::kLaunched: launch(event, recovery); break;
            case Kind::kStarted:
                (recovery != nullptr ? recovery->started_s : course_.first_started_s) = event.at_s;
                break;
            case Kind::kStep: begin_step(event, recovery); break;
            case Kind::kDone: done_ = event.number + 1; break;
            case Kind::kSaved: saves_ = true, course_.saved_s = event.at_s; break;
            case Kind::kEnded:
                if (recovery != nullptr) {
                    recovery->ended_s = event.at_s;
                }
                break;
        }
    }
    void take(const Kill& kill) { course_.recoveries.push_back({kill.at_s}); }

 private:
    void launch(const Event& event, RecoveryTimes* recovery) {
        if (recovery != nullptr) {
            recovery->launched_s = event.at_s;
        }
        steps_ = 0;
        saves_ = saved_before_ = false;
    }
    void begin_step(const Event& event, RecoveryTimes* recovery) {
        if (steps_ > 0) {
            course_.intervals.push_back({event.at_s - last_s_, steps_ - 1, saves_, saved_before_});
        } else {
            course_.lost_steps += done_ - event.number;
            done_ = event.number;
        }
        if (recovery != nullptr && !std::isnan(recovery->launched_s)) {  // else a last step of those that are left
            recovery->stepped_s = event.at_s;
            recovery->loaded = event.number > 0;
        } else if (std::isnan(course_.first_step_s)) {
            course_.first_step_s = event.at_s;
        }
        saved_before_ = saves_;
        saves_ = false;
        last_s_ = event.at_s;
        ++steps_;
    }

    Course& course_;
    int steps_ = 0;  ///< begun since the launch
    int done_ = 0;
    bool saves_ = false, saved_before_ = false;
    double last_s_ = 0;
};

}  // namespace

Course course_of(std::span<const Event> events, std::span<const Kill> kills, double begun_s, double over_s) {
    Course course;
    course.begun_s = begun_s, course.over_s = over_s;
    CourseReader reader(course);
    std::size_t next = 0;
    for (const Event& event : events) {
        for (; next < kills.size() && kills[next].at_s <= event.at_s; ++next) {
            reader.take(kills[next]);
        }
        reader.take(event);
    }
    return course;
}

double mean_recovery_s(const Course& course) {
    double sum = 0;
    for (std::size_t i = 0; i < course.recoveries.size(); ++i) {
        const RecoveryTimes& one = course.recoveries[i];
        const double end_s = !std::isnan(one.stepped_s)         ? one.stepped_s
                             : i + 1 < course.recoveries.size() ? course.recoveries[i + 1].killed_s
                                                                : one.killed_s;
        sum += end_s - one.killed_s;
    }
    return course.recoveries.empty() ? 0 : sum / static_cast<double>(course.recoveries.size());
}

}  // namespace auspex::workflows
