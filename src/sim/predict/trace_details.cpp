/// @file Details of a timeline: messages matched, bytes over time.
#include "sim/predict/trace_details.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "schedule/program/program.hpp"

namespace auspex::predict {
namespace {

/// Direction, boundary, micro-batch, and the index of both ranks in their stages.
using MessageKey = std::tuple<bool, int, int, int>;

class Details {
 public:
    Details(const models::Inputs& inputs, const SimulatedStep& step, const schedule::Timeline& timeline,
            const engine::RecordedOperations& recorded, const std::vector<TracedRole>& roles)
        : inputs_(inputs), step_(step), timeline_(timeline), recorded_(recorded), roles_(roles) {}

    void name_groups(TraceDetails& details) const {
        for (const schedule::Operation& op : step_.program.operations) {
            const bool communicates = op.comm != schedule::CommKind::kNone;
            details.groups.emplace_back(communicates ? schedule::to_string(op.group) : "");
        }
    }

    void match_messages(TraceDetails& details) const {
        std::map<MessageKey, std::uint32_t> sends;
        for (std::uint32_t i = 0; i < timeline_.spans.size(); ++i) {
            const schedule::Operation& op = step_.program.operations[recorded_.of_spans[i]];
            if (op.comm == schedule::CommKind::kSend && op.message >= 0) {
                sends.emplace(key_of(timeline_.spans[i], op), i);
            }
        }
        const auto receive = [&](const std::vector<schedule::Span>& spans,
                                 const std::vector<std::uint32_t>& operations) {
            for (std::size_t i = 0; i < spans.size(); ++i) {
                const schedule::Operation& op = step_.program.operations[operations[i]];
                const auto sent =
                    op.comm == schedule::CommKind::kReceive ? sends.find(key_of(spans[i], op)) : sends.end();
                if (sent != sends.end()) {
                    details.messages.push_back({sent->second, spans[i].track, spans[i].end});
                }
            }
        };
        receive(timeline_.spans, recorded_.of_spans);
        receive(recorded_.instants, recorded_.of_instants);
    }

    /// The sum, and each label that changes over the step.
    void count_memory(TraceDetails& details) const {
        std::map<int, schedule::StageCourse> courses;
        for (std::size_t role = 0; role < roles_.size(); ++role) {
            const int stage = roles_[role].stage;
            if (!courses.contains(stage)) {
                courses.emplace(stage, course_of(inputs_, step_, stage));
            }
            const schedule::StageCourse& course = courses.at(stage);
            const auto track = static_cast<std::uint32_t>(role * schedule::kStreamCount);
            const StageMemoryCourse timed = timed_course(inputs_, step_, stage, timeline_, track, course);
            add_memory(timed, course.memory, static_cast<int>(role), details);
        }
    }

    void count_links(TraceDetails& details) const {
        std::vector<std::map<Picoseconds, double>> changes(network::kLinkKinds);
        for (std::size_t i = 0; i < timeline_.spans.size(); ++i) {
            const schedule::Span& span = timeline_.spans[i];
            const auto& bytes = details.operations[recorded_.of_spans[i]].link_bytes;
            for (std::size_t kind = 0; kind < network::kLinkKinds; ++kind) {
                if (bytes[kind] > 0) {
                    const double rate = bytes[kind] / to_seconds(span.end - span.start);
                    changes[kind][span.start] += rate;
                    changes[kind][span.end] -= rate;
                }
            }
        }
        for (std::size_t kind = 0; kind < network::kLinkKinds; ++kind) {
            if (changes[kind].empty()) {
                continue;
            }
            TraceCounter counter{to_string(static_cast<network::LinkKind>(kind)), true, -1, {{0, 0.0}}};
            double rate = 0, largest = 0;
            for (const auto& [at, change] : changes[kind]) {
                rate += change;
                largest = std::max(largest, rate);
                constexpr double kRounding = 1e-9;
                rate = rate < largest * kRounding ? 0 : rate;  // what is left of sums that cancel
                counter.values.emplace_back(at, rate);
            }
            details.counters.push_back(std::move(counter));
        }
    }

 private:
    [[nodiscard]] MessageKey key_of(const schedule::Span& span, const schedule::Operation& op) const {
        const bool backward =
            op.kind == schedule::OpKind::kSendBackward || op.kind == schedule::OpKind::kReceiveBackward;
        return {backward, op.message, span.micro_batch, roles_[span.track / schedule::kStreamCount].index};
    }

    void add_memory(const StageMemoryCourse& timed, const schedule::StageMemory& memory, int role,
                    TraceDetails& details) const {
        const std::size_t labels = memory.by_label.size();
        for (std::size_t label = 0; label <= labels; ++label) {
            const auto amount = [&](const std::vector<double>& bytes) {
                double sum = 0;
                for (std::size_t l = 0; l < labels; ++l) {
                    sum += label == labels || l == label ? bytes[l] : 0;
                }
                return sum;
            };
            const std::vector<double>& always = timed.passes.back().behind;
            TraceCounter counter{
                label == labels ? "memory" : "memory: " + memory.by_label[label].first, false, role, {}};
            counter.values.emplace_back(0, amount(always));
            bool varies = label == labels;
            for (const TimedPass& pass : timed.passes) {
                counter.values.emplace_back(to_picoseconds(pass.begin_s), amount(pass.at_peak));
                counter.values.emplace_back(to_picoseconds(pass.end_s), amount(pass.behind));
                varies = varies || amount(pass.at_peak) != amount(always);
            }
            if (varies) {
                details.counters.push_back(std::move(counter));
            }
        }
    }

    const models::Inputs& inputs_;
    const SimulatedStep& step_;
    const schedule::Timeline& timeline_;
    const engine::RecordedOperations& recorded_;
    const std::vector<TracedRole>& roles_;
};

}  // namespace

TraceDetails trace_details(const models::Inputs& inputs, const SimulatedStep& step, const schedule::Timeline& timeline,
                           const engine::RecordedOperations& recorded, const std::vector<TracedRole>& roles,
                           bool is_folded) {
    TraceDetails details;
    details.operations = step.facts;
    details.operation_of_span = recorded.of_spans;
    const Details find(inputs, step, timeline, recorded, roles);
    find.name_groups(details);
    find.match_messages(details);
    find.count_memory(details);
    if (is_folded) {
        find.count_links(details);
    }
    return details;
}

}  // namespace auspex::predict
